/* SPDX-License-Identifier: BSD-3-Clause */
/* Control flow inside of macros: a retry loop, a guard that leaves, and a goto over statements of
 * the same line. */
#include <mpi.h>
#include <stdio.h>

#define RETRY(times, call)                                                                         \
    do {                                                                                           \
        int tries_ = 0;                                                                            \
        again_##times : call;                                                                      \
        if (++tries_ < times)                                                                      \
            goto again_##times;                                                                    \
    } while (0)
#define GUARD(c, n)                                                                                \
    if (!(c))                                                                                      \
        goto leave;                                                                                \
    MPI_Bcast(x, n, MPI_CHAR, 0, MPI_COMM_WORLD);
#define UNLESS(c)                                                                                  \
    if (c) {                                                                                       \
    } else

static char x[128];

static int steps(int n)
{
    int done = 0;

    GUARD(n > 0, 10) GUARD(n > 1, 20) GUARD(n > 2, 30) done = n;
leave:
    return done;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    RETRY(3, MPI_Bcast(x, 5, MPI_CHAR, 1, MPI_COMM_WORLD));
    RETRY(2, MPI_Barrier(MPI_COMM_WORLD));
    int sum = steps(0) + steps(2) + steps(3);
    UNLESS(sum == 3) MPI_Bcast(x, 100, MPI_CHAR, 0, MPI_COMM_WORLD);
    UNLESS(rank != 0)
    for (int i = 1; i < size; i++)
        MPI_Send(x, sum, MPI_CHAR, i, 0, MPI_COMM_WORLD);
    if (rank)
        MPI_Recv(x, 128, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        UNLESS(0) puts("root");
    MPI_Finalize();
    return 0;
}
