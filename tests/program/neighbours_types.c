/* SPDX-License-Identifier: BSD-3-Clause */
/* The borders of a grid that ends at its edges, with a datatype for each side. ranks: 4 6 */
#include <mpi.h>

#define N 8

int main(int argc, char **argv)
{
    int rank, size, dims[2] = {0, 0}, periods[2] = {0, 1}, which;
    double field[N + 2][N + 2] = {{0}};
    MPI_Datatype row, column;
    MPI_Request requests[2];
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Type_contiguous(N, MPI_DOUBLE, &row);
    MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&row);
    MPI_Type_commit(&column);
    int counts[4] = {1, 1, 1, 1};
    MPI_Datatype types[4] = {row, row, column, column};
    MPI_Aint out[4] = {(N + 3) * sizeof(double), (N * (N + 2) + 1) * sizeof(double),
                       (N + 3) * sizeof(double), (N + 2 + N) * sizeof(double)};
    MPI_Aint in[4] = {sizeof(double), ((N + 1) * (N + 2) + 1) * sizeof(double),
                      (N + 2) * sizeof(double), (N + 2 + N + 1) * sizeof(double)};

    for (int step = 0; step < 3; step++) {
        MPI_Neighbor_alltoallw(field, counts, out, types, field, counts, in, types, grid);
        MPI_Ineighbor_alltoallw(field, counts, out, types, field, counts, in, types, grid,
                                &requests[0]);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
        for (int i = 0; i < 2; i++)
            MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&row);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
