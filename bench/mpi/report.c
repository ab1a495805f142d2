/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processor time of a call with and without --report:
 *   query    MPI_Comm_rank, which does nothing else
 *   self     MPI_Send and MPI_Recv of 8 bytes between two ranks of one core, for each call
 *   barrier  MPI_Barrier of two ranks of one core
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    double query, messages, barrier, start;
    int rank;
    char data[8] = "";

    MPI_Init(&argc, &argv);
    start = cpu_now();
    for (long i = 0; i < n; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    query = (cpu_now() - start) / (double)n;
    MPI_Barrier(MPI_COMM_WORLD);
    start = cpu_now();
    for (long i = 0; i < n; i++)
        if (rank == 0) {
            MPI_Send(data, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    messages = (cpu_now() - start) / (2 * (double)n);
    start = cpu_now();
    for (long i = 0; i < n / 4; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    barrier = (cpu_now() - start) / (2 * (double)(n / 4));
    if (rank == 0)
        printf("%.2f %.2f %.2f\n", 1e9 * query, 1e9 * messages, 1e9 * barrier);
    MPI_Finalize();
    return 0;
}
