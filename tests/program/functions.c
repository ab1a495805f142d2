/* SPDX-License-Identifier: BSD-3-Clause */
/* Results by value and through pointers. */
#include <mpi.h>
#include <stdlib.h>
static int square(int x)
{
    return x * x;
}
static void divide(int n, int parts, int *each, int *rest)
{
    *each = n / parts;
    *rest = n % parts;
}
static void world(int *rank, int *size)
{
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}
int main(int argc, char **argv)
{
    int rank, size, each, rest;
    double *x;
    MPI_Init(&argc, &argv);
    world(&rank, &size);
    divide(square(12), size, &each, &rest);
    x = malloc(sizeof(double) * (each + rest) * size);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : (void *)x, each, MPI_DOUBLE, x, each, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    if (rest > 0)
        MPI_Bcast(x, rest, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(x);
    MPI_Finalize();
    return 0;
}
