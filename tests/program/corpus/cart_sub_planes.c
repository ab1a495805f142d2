/* SPDX-License-Identifier: BSD-3-Clause */
/* Planes and lines of a cube of ranks. ranks: 8 12 */
#include <mpi.h>
#include <stdio.h>

static void on(MPI_Comm cube, int x, int y, int z, double *d, int n)
{
    int remain[3] = {x, y, z}, size, rank;
    MPI_Comm sub;

    MPI_Cart_sub(cube, remain, &sub);
    MPI_Comm_size(sub, &size);
    MPI_Comm_rank(sub, &rank);
    if (size > 1)
        MPI_Bcast(d, n * size, MPI_DOUBLE, size / 2, sub);
    if (rank == 0 && size > 2)
        MPI_Send(d, n, MPI_DOUBLE, size - 1, 0, sub);
    else if (rank == size - 1 && size > 2)
        MPI_Recv(d, n, MPI_DOUBLE, 0, 0, sub, MPI_STATUS_IGNORE);
    MPI_Comm_free(&sub);
}

int main(int argc, char **argv)
{
    int size, dims[3] = {2, 0, 0}, periods[3] = {1, 1, 1}, coords[3], me, got[3], p[3], nd;
    double d[400] = {0};
    MPI_Comm cube;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cube);
    MPI_Comm_rank(cube, &me);
    MPI_Cartdim_get(cube, &nd);
    MPI_Cart_get(cube, nd, got, p, coords);
    on(cube, 1, 1, 0, d, 5);
    on(cube, 0, 1, 1, d, 6);
    on(cube, 0, 0, 1, d, 7 + got[2]);
    int other;
    coords[1] = coords[1] + 1;
    MPI_Cart_rank(cube, coords, &other);
    MPI_Sendrecv_replace(d, 30, MPI_DOUBLE, other, 1, MPI_ANY_SOURCE, 1, cube, MPI_STATUS_IGNORE);
    MPI_Comm_free(&cube);
    MPI_Finalize();
    return 0;
}
