/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that a transport may give together with their announcement: received in other types, cut
 * short, taken back, met late and in another order, and never received. Two ranks. With `left` one
 * stays at the end, with `stuck` both ranks send before they receive.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 30000, MANY = 40 };

static int rank, data[MANY][COUNT], got[2 * COUNT];

static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    printf("rank %d: wrong: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(int k)
{
    for (int i = 0; i < COUNT; i++)
        data[k][i] = 1000 * k + i;
}

/* Every second place. */
static void scattered(void)
{
    MPI_Datatype type;
    int right = 1;

    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (rank == 0)
        MPI_Send(data[0], COUNT, MPI_INT, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(got, 1, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT && rank == 1; i++)
        right = right && got[2 * i] == i && got[2 * i + 1] == 0;
    check(right, "every second place");
    MPI_Type_free(&type);
}

static void cut_short(int room)
{
    int code, class = MPI_SUCCESS, right;

    memset(got, 0, sizeof(got));
    if (rank == 0) {
        MPI_Send(data[0], COUNT, MPI_INT, 1, 2, MPI_COMM_WORLD);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Recv(got, room, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Error_class(code, &class);
    right = class == MPI_ERR_TRUNCATE;
    for (int i = 0; i < 2 * COUNT; i++)
        right = right && got[i] == (i < room ? i : 0);
    check(right, "cut short");
}

/* Messages with an even number are received, the last one first; the others are taken back. */
static void many(int is_early)
{
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    int is_cancelled;

    if (rank == 0) {
        for (int k = 0; k < MANY; k++)
            MPI_Isend(data[k], COUNT, MPI_INT, 1, k, MPI_COMM_WORLD, &requests[k]);
        if (!is_early)
            MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 1; k < MANY; k += 2)
            MPI_Cancel(&requests[k]);
        MPI_Waitall(MANY, requests, statuses);
        for (int k = 0; k < MANY; k++) {
            MPI_Test_cancelled(&statuses[k], &is_cancelled);
            check(is_cancelled == k % 2, "taken back");
        }
    } else {
        if (!is_early)
            MPI_Barrier(MPI_COMM_WORLD);
        for (int k = MANY - 2; k >= 0; k -= 2) {
            MPI_Recv(got, COUNT, MPI_INT, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(memcmp(got, data[k], sizeof(data[k])) == 0, "in another order");
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < MANY; k++)
        fill(k);
    scattered();
    cut_short(100);
    cut_short(0);
    many(1);
    many(0);
    if (argc > 1 && strcmp(argv[1], "stuck") == 0) { /* both send first */
        MPI_Send(data[0], COUNT, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
        MPI_Recv(got, COUNT, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0 && argc > 1) { /* nobody receives it */
        MPI_Isend(data[0], COUNT, MPI_INT, 1, 99, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("early: all right\n");
    MPI_Finalize();
    return 0;
}
