/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processor time of a call with and without --report, on two ranks of one core:
 *   query      MPI_Comm_rank, which does nothing else
 *   probe      MPI_Iprobe, which finds no message
 *   message    MPI_Send and MPI_Recv of 8 bytes, for each call
 *   answer     the same, with an answer to each message
 *   barrier    MPI_Barrier
 *   allreduce  MPI_Allreduce of 8 bytes
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int rank;
static char data[8];

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void query(void)
{
    int found;

    MPI_Comm_rank(MPI_COMM_WORLD, &found);
}

static void probe(void)
{
    int flag;

    if (rank == 0) /* who finds nothing lets the other run */
        MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void message(void)
{
    if (rank == 0)
        MPI_Send(data, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void answer(void)
{
    if (rank == 1)
        MPI_Recv(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(data, 8, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(data, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void)
{
    double mine = 1, sum;

    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const struct {
        void (*function)(void);
        int calls; /* of both ranks */
    } KINDS[] = {{query, 2}, {probe, 1}, {message, 2}, {answer, 4}, {barrier, 2}, {allreduce, 2}};
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    int only = argc > 2 ? atoi(argv[2]) : -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < (int)(sizeof KINDS / sizeof KINDS[0]); k++) {
        double start;

        if (only >= 0 && k != only)
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        start = cpu_now();
        for (long i = 0; i < n; i++)
            KINDS[k].function();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            printf("%.2f ", 1e9 * (cpu_now() - start) / (double)n / KINDS[k].calls);
    }
    if (rank == 0)
        printf("\n");
    MPI_Finalize();
    return 0;
}
