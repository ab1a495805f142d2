/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcasts along rows and columns of a grid. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static double block[2000];
    int dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2], keep[2] = {0, 1};
    MPI_Comm grid, row, column;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Cart_sub(grid, keep, &row);
    keep[0] = 1;
    keep[1] = 0;
    MPI_Cart_sub(grid, keep, &column);
    for (int k = 0; k < dims[0]; k++) {
        MPI_Bcast(block, 2000, MPI_DOUBLE, k % dims[1], row);
        MPI_Bcast(block, 1000 + coords[1], MPI_DOUBLE, k, column);
    }
    MPI_Finalize();
    return 0;
}
