/* SPDX-License-Identifier: BSD-3-Clause */
/* Jacobi in one dimension; a fixed number of sweeps. ranks: 3 4 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N           130
#define SWEEPS      12
#define UP          100
#define DOWN        101
#define FIRST(r, p) ((r)*N / (p))

int main(int argc, char **argv)
{
    int rank, size, lo, hi, rows;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lo = FIRST(rank, size);
    hi = FIRST(rank + 1, size);
    rows = hi - lo;

    double(*u)[N] = calloc(rows + 2, sizeof(*u));
    double(*v)[N] = calloc(rows + 2, sizeof(*v));
    const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    for (int it = 0; it < SWEEPS; ++it) {
        MPI_Request req[4];
        MPI_Irecv(u[0], N, MPI_DOUBLE, above, DOWN, MPI_COMM_WORLD, &req[0]);
        MPI_Irecv(u[rows + 1], N, MPI_DOUBLE, below, UP, MPI_COMM_WORLD, &req[1]);
        MPI_Isend(u[1], N, MPI_DOUBLE, above, UP, MPI_COMM_WORLD, &req[2]);
        MPI_Isend(u[rows], N, MPI_DOUBLE, below, DOWN, MPI_COMM_WORLD, &req[3]);
        MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
        for (int i = 1; i <= rows; i++)
            for (int j = 1; j < N - 1; j++)
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        double(*t)[N] = u;
        u = v;
        v = t;
    }
    double norm = 0, global;
    for (int i = 1; i <= rows; i++)
        norm += fabs(u[i][N / 2]);
    MPI_Allreduce(&norm, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%g\n", global);
    free(u);
    free(v);
    MPI_Finalize();
    return 0;
}
