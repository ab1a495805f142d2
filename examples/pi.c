/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pi: share a loop among the ranks, then add up their results.
 *
 *   mpicc -O2 pi.c -o pi && mpiexec -n 8 ./pi
 *
 * Pi is the integral of 4 / (1 + x^2) from 0 to 1: the sum of thin rectangles. Rank r takes the
 * rectangles r, r + size, r + 2 * size, ... MPI_Allreduce adds the parts and gives every rank the
 * sum; with MPI_Reduce only one rank would have it.
 *
 * The order of the additions depends on the number of ranks, and the last digits of floating-point
 * sums depend on the order. The result is therefore printed with fewer digits than it has.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long steps;
    int rank, size;
    double width, part = 0, pi;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = argc > 1 ? atol(argv[1]) : 2000000;
    width = 1.0 / (double)steps;

    for (long i = rank; i < steps; i += size) {
        double x = ((double)i + 0.5) * width;

        part += 4.0 / (1.0 + x * x) * width;
    }
    MPI_Allreduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

    if (rank == 0)
        printf("pi is about %.10f; the error is %s 1e-10\n", pi,
               fabs(pi - 3.14159265358979323846) < 1e-10 ? "below" : "above");
    MPI_Finalize();
    return 0;
}
