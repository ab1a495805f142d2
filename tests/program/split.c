/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and columns of a grid by MPI_Comm_split. */
#include <mpi.h>
static double x[64];
int main(int argc, char **argv)
{
    int rank, size, width = 2, in_row;
    MPI_Comm row, column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank / width, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % width, -rank, &column);
    MPI_Comm_size(row, &in_row);
    MPI_Bcast(x, 8, MPI_DOUBLE, 0, row);
    for (int i = 0; i < 3; i++)
        MPI_Bcast(x, 8 * (i + 1), MPI_DOUBLE, 0, column);
    if (in_row == width)
        MPI_Barrier(row);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}
