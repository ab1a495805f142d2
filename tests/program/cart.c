/* SPDX-License-Identifier: BSD-3-Clause */
/* A periodic grid: dims, shifts and coordinates. */
#include <mpi.h>
static double out[32], in[32];
int main(int argc, char **argv)
{
    int size, rank, dims[2] = {0, 0}, periods[2] = {1, 0}, where[2];
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, where);
    for (int d = 0; d < 2; d++) {
        int from, to;
        MPI_Cart_shift(grid, d, 1, &from, &to);
        MPI_Sendrecv(out, 8 + 8 * where[d] % 16, MPI_DOUBLE, to, d, in, 32, MPI_DOUBLE, from, d,
                     grid, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
