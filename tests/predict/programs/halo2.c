/* SPDX-License-Identifier: BSD-3-Clause */
/* A halo on a grid of processes, with a column type. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static double cells[64 * 64];
    int dims[2] = {0, 0}, periods[2] = {1, 0}, up, down, left, right;
    MPI_Request requests[8];
    MPI_Datatype column;
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Type_vector(64, 1, 64, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int step = 0; step < 4; step++) {
        int n = 0;

        MPI_Irecv(cells, 64, MPI_DOUBLE, up, 0, grid, &requests[n++]);
        MPI_Irecv(cells + 63 * 64, 64, MPI_DOUBLE, down, 1, grid, &requests[n++]);
        MPI_Irecv(cells, 1, column, left, 2, grid, &requests[n++]);
        MPI_Irecv(cells + 63, 1, column, right, 3, grid, &requests[n++]);
        MPI_Isend(cells + 62 * 64, 64, MPI_DOUBLE, down, 0, grid, &requests[n++]);
        MPI_Isend(cells + 64, 64, MPI_DOUBLE, up, 1, grid, &requests[n++]);
        MPI_Isend(cells + 62, 1, column, right, 2, grid, &requests[n++]);
        MPI_Isend(cells + 1, 1, column, left, 3, grid, &requests[n++]);
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
