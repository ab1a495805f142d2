/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between processes keep their order, whichever way each goes. */
#include "testing/mpi_coll.h"

/* Small ones and large ones for receives that wait: none overtakes another. */
static void mixed(int rank, int size)
{
    enum { MANY = 60, LARGE = 20000 };
    int *data = malloc((size_t)MANY * LARGE * sizeof(int));
    int *own = calloc(2 * LARGE, sizeof(int));
    MPI_Request requests[MANY];

    CHECK(data != NULL && own != NULL);
    for (int i = 0; i < MANY && rank == size - 1; i++)
        MPI_Irecv(data + (size_t)i * LARGE, LARGE, MPI_INT, 0, 4, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY && rank == 0; i++) {
        int *from = data + (size_t)i * LARGE;

        for (int k = 0; k < LARGE; k++)
            from[k] = i;
        MPI_Isend(from, i % 3 == 0 ? LARGE : i + 1, MPI_INT, size - 1, 4, MPI_COMM_WORLD,
                  &requests[i]);
    }
    if (rank == 0)
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY && rank == size - 1; i++) {
        MPI_Status status;
        int count;

        /* Meanwhile several come, which are then read together. */
        MPI_Sendrecv(own, LARGE, MPI_INT, rank, 5, own + LARGE, LARGE, MPI_INT, rank, 5,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[i], &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == (i % 3 == 0 ? LARGE : i + 1));
        CHECK(data[(size_t)i * LARGE] == i && data[(size_t)i * LARGE + (size_t)count - 1] == i);
    }
    free(own);
    free(data);
}

static void test_order(void **state)
{
    static const char *const nets[] = {"tcp", "shm"};

    (void)state;
    for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
        run_processes(&(processes_t){.processes = 2, .ranks = 2, .workers = 1, .net = nets[i]},
                      mixed);
        run_processes(&(processes_t){.processes = 3, .ranks = 6, .workers = 2, .net = nets[i]},
                      mixed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
