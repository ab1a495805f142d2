/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices of a grid. */
#include <mpi.h>
static int x[16];
int main(int argc, char **argv)
{
    int size, dims[2] = {0, 0}, periods[2] = {0, 0}, keep[2], corner[2] = {0, 0}, root;
    MPI_Comm grid, rows;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    keep[0] = 0;
    keep[1] = 1;
    MPI_Cart_sub(grid, keep, &rows);
    MPI_Bcast(x, 16, MPI_INT, dims[1] - 1, rows);
    corner[1] = dims[1] - 1;
    MPI_Cart_rank(grid, corner, &root);
    MPI_Bcast(x, 4, MPI_INT, root, grid);
    MPI_Comm_free(&rows);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
