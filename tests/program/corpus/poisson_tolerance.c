/* SPDX-License-Identifier: BSD-3-Clause */
/* The residual decides when the iteration ends: nobody can know it from the source. expect: asked
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

int main(int argc, char **argv)
{
    int rank, size, iterations = 0;
    double *u, *v, diff, global = 1.0, tol = 1e-3;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    u = calloc(N * N, sizeof(double));
    v = calloc(N * N, sizeof(double));
    while (global > tol && iterations < 500) {
        MPI_Sendrecv(u, N, MPI_DOUBLE, (rank + 1) % size, 0, v, N, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        diff = 0;
        for (int i = N; i < N * (N - 1); i++) {
            double t = 0.25 * (u[i - 1] + u[i + 1] + u[i - N] + u[i + N] + 0.01);
            diff += (t - u[i]) * (t - u[i]);
            v[i] = t;
        }
        double *s = u;
        u = v;
        v = s;
        MPI_Allreduce(&diff, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        global = sqrt(global);
        iterations++;
    }
    MPI_Finalize();
    return 0;
}
