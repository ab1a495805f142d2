/* SPDX-License-Identifier: BSD-3-Clause */
/* How often it communicates, how much, and whether at all depends on data, which no reader of the
 * source knows; a recorded run tells. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

enum { N = 1000 };

static void relax(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] *= 0.5;
}

int main(int argc, char **argv)
{
    double *x = calloc(N, sizeof(double)), *in = calloc(N, sizeof(double)), error = 1;
    int rank, size, large = 0, passes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        x[i] = 1 + (i * 37 + rank) % 100;
    while (error > 1e-2) {
        relax(x);
        error = fabs(x[7]) + fabs(x[N - 1]);
        MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    for (int i = 0; i < N; i++)
        large += x[i] > 1e-3;
    MPI_Sendrecv(x, large, MPI_DOUBLE, (rank + 1) % size, 0, in, N, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    passes = (int)(x[0] * 1e6) % 5 + 3;
    for (int p = 0; p < passes; p++)
        MPI_Send(x, 10, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD);
    passes = (int)(in[0] * 1e6) % 5 + 3;
    for (int p = 0; p < passes; p++)
        MPI_Recv(in, 10, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (x[3] > 2e-4)
        MPI_Barrier(MPI_COMM_SELF);
    MPI_Finalize();
    return 0;
}
