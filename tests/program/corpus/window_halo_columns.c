/* SPDX-License-Identifier: BSD-3-Clause */
/* A halo exchange of columns of a vector type by MPI_Put, and its norm by MPI_Accumulate. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#define N        20
#define AT(i, j) ((i) * (N + 2) + (j))

int main(int argc, char **argv)
{
    int rank, size, steps = argc > 1 ? atoi(argv[1]) : 5;
    double *u, *norm, part = 0;
    MPI_Win window, norms;
    MPI_Datatype column;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate((N + 2) * (N + 2) * sizeof(double), sizeof(double), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &u, &window);
    MPI_Win_allocate(sizeof(double), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &norm, &norms);
    MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < (N + 2) * (N + 2); i++)
        u[i] = rank + i;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int s = 0; s < steps; s++) {
        MPI_Win_fence(0, window);
        MPI_Put(&u[AT(1, 1)], 1, column, left, AT(1, N + 1), 1, column, window);
        MPI_Put(&u[AT(1, N)], 1, column, right, AT(1, 0), 1, column, window);
        MPI_Win_fence(0, window);
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++)
                u[AT(i, j)] =
                    0.25 * (u[AT(i - 1, j)] + u[AT(i + 1, j)] + u[AT(i, j - 1)] + u[AT(i, j + 1)]);
    }
    for (int i = 1; i <= N; i++)
        part += fabs(u[AT(i, i)]);
    *norm = 0;
    MPI_Win_fence(0, norms);
    MPI_Accumulate(&part, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, norms);
    MPI_Win_fence(0, norms);
    MPI_Type_free(&column);
    MPI_Win_free(&norms);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
