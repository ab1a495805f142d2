/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids whose ranks may get other numbers: of all processes, of some, twice the same. */
#include <mpi.h>
static double out[4096], in[4096];
static void shift(MPI_Comm grid, int count)
{
    for (int d = 0; d < 2; d++) {
        int from, to;
        MPI_Cart_shift(grid, d, 1, &from, &to);
        MPI_Sendrecv(out, count, MPI_DOUBLE, to, d, in, 4096, MPI_DOUBLE, from, d, grid,
                     MPI_STATUS_IGNORE);
    }
}
int main(int argc, char **argv)
{
    int size, rank, dims[2] = {0, 0}, periods[2] = {1, 0};
    MPI_Comm grid, part;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    for (int i = 0; i < 2; i++) {
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
        MPI_Comm_rank(grid, &rank);
        shift(grid, 100 + 8 * rank);
        MPI_Comm_free(&grid);
    }
    dims[0] = size > 3 ? 2 : 1;
    dims[1] = size > 3 ? size / 4 : 1;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_rank(part, &rank);
        shift(part, 1000 + rank);
    }
    MPI_Finalize();
    return 0;
}
