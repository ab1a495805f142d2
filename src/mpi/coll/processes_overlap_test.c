/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks in several processes that compute: what comes from other processes is handled meanwhile. A
 * rank looks at the memory where the result has to appear, and calls MPI only when it is there.
 */
#include "testing/mpi_coll.h"

enum { N = 100000, SECONDS = 40 };

/* Where `data` gets `wanted`. */
static void await_one(const volatile int *data, int wanted)
{
    double end = xy_now() + SECONDS;

    while (*data != wanted)
        CHECK(xy_now() < end);
}

static volatile int *zeros(void)
{
    return calloc(N, sizeof(int));
}

static void await_int(const volatile int *data, int wanted)
{
    await_one(data, wanted);
    await_one(data + N - 1, wanted);
}

static void give_back(volatile int *data)
{
    free((void *)(uintptr_t)data);
}

static int *filled(int value)
{
    int *data = malloc(N * sizeof(int));

    for (int i = 0; i < N; i++)
        data[i] = value;
    return data;
}

static void *plain(volatile int *data)
{
    return (void *)(uintptr_t)data;
}

/* A large message is announced, pulled and given: the sender and the receiver compute. */
static void message(int rank, int size)
{
    volatile int *got = zeros(), here = 0;
    int *own = filled(rank + 1), other = size - 1 - rank, one = 1;
    MPI_Request q[4];

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(plain(got), N, MPI_INT, other, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(own, N, MPI_INT, other, 1, MPI_COMM_WORLD, &q[1]);
    await_int(got, other + 1);
    /* The other may still be computing when it has its own. */
    MPI_Irecv(plain(&here), 1, MPI_INT, other, 2, MPI_COMM_WORLD, &q[2]);
    MPI_Isend(&one, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &q[3]);
    await_one(&here, 1);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    give_back(got);
    free(own);
}

static void allreduce(int rank, int size)
{
    volatile int *got = zeros();
    int *own = filled(rank + 1);
    MPI_Request q;

    MPI_Iallreduce(own, plain(got), N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    await_int(got, size * (size + 1) / 2);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    give_back(got);
    free(own);
}

/* The operation is the program's own: only a rank's worker calls it. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    CHECK(mpi_self != NULL);
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* The vector has come when the message behind it is there. */
static void own_operation(int rank, int size)
{
    int own[] = {rank, 1}, sum[2], partner = size - 1 - rank;
    volatile int here = 0;
    MPI_Request q[2];
    MPI_Op op;

    MPI_Op_create(add, 1, &op);
    MPI_Irecv(plain(&here), 1, MPI_INT, partner, 3, MPI_COMM_WORLD, &q[0]);
    MPI_Iallreduce(own, sum, 2, MPI_INT, op, MPI_COMM_WORLD, &q[1]);
    MPI_Send(&size, 1, MPI_INT, partner, 3, MPI_COMM_WORLD);
    await_one(&here, size);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK(sum[0] == size * (size - 1) / 2 && sum[1] == size);
    MPI_Op_free(&op);
}

/* Ranks that compute pass on the data of the last rank. */
static void bcast(int rank, int size)
{
    volatile int *data = zeros();
    MPI_Request q;

    for (int i = 0; i < N && rank == size - 1; i++)
        data[i] = 7;
    MPI_Ibcast(plain(data), N, MPI_INT, size - 1, MPI_COMM_WORLD, &q);
    await_int(data, 7);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    give_back(data);
}

static void alltoall(int rank, int size)
{
    int n = N / size, *own = filled(rank + 1);
    volatile int *got = zeros();
    MPI_Request q;

    MPI_Ialltoall(own, n, MPI_INT, plain(got), n, MPI_INT, MPI_COMM_WORLD, &q);
    for (int r = 0; r < size; r++) {
        await_one(got + r * n, r + 1);
        await_one(got + r * n + n - 1, r + 1);
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    give_back(got);
    free(own);
}

/* No rank enters the next part before all have seen their results: it would do the work of others
 * in its calls. */
static void in_turn(int rank, int size)
{
    void (*const parts[])(int, int) = {allreduce, bcast, alltoall, message, own_operation};

    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < (size % 2 == 0 ? sizeof(parts) / sizeof(*parts) : 3); i++) {
            parts[i](rank, size);
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

/* A rank that shares its core yields to the others when it starts: all have started when one begins
 * to compute. */
static void collectives(int rank, int size)
{
    void (*const parts[])(int, int) = {allreduce, bcast, alltoall};

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        parts[i](rank, size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void test_thread(void **state)
{
    (void)state;
    run_processes(&(processes_t){.processes = 2, .ranks = 2, .workers = 1}, in_turn);
    run_processes(&(processes_t){.processes = 3, .ranks = 3, .workers = 1}, in_turn);
    run_processes(&(processes_t){.processes = 2, .ranks = 4, .workers = 2}, collectives);
}

static void test_communication_core(void **state)
{
    (void)state;
    run_processes(&(processes_t){.processes = 2, .ranks = 2, .workers = 1, .comm_workers = 1},
                  in_turn);
    run_processes(&(processes_t){.processes = 2, .ranks = 5, .workers = 2, .comm_workers = 1},
                  collectives);
}

static int errands;

static void count_errand(remote_errand_t *errand)
{
    (void)errand;
    errands++;
}

/* A look in the middle of long work handles what another thread has fetched for the worker. */
static void look(int rank, int size)
{
    (void)rank, (void)size;
    mpi_gate_go_inside(mpi_self); /* the thread of the network stays out */
    for (int i = 1; i <= 1000; i++) {
        remote_errand_t errand = {.run = count_errand};

        mpi_network_post(mpi_self->worker, &errand);
        mpi_network_look(mpi_self->worker);
        CHECK(errands == i);
    }
    mpi_gate_go_outside(mpi_self);
}

static void test_look(void **state)
{
    (void)state;
    run_processes(&(processes_t){.processes = 2, .ranks = 2, .workers = 1}, look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_look),
        cmocka_unit_test(test_thread),
        cmocka_unit_test(test_communication_core),
    };

#ifdef __SANITIZE_THREAD__
    return 0; /* looking at memory that others write is what these tests are about */
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
