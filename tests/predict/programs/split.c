/* SPDX-License-Identifier: BSD-3-Clause */
/* Halves of the processes, and rows and columns. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    double x = 0, y;
    MPI_Comm half, row;
    int half_rank, half_size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, -rank, &half);
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_size);
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, half);
    if (half_size > 1 && half_rank < 2)
        MPI_Sendrecv(&x, 1, MPI_DOUBLE, 1 - half_rank, 0, &y, 1, MPI_DOUBLE, 1 - half_rank, 0, half,
                     MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 0 ? MPI_UNDEFINED : rank % 3, 0, &row);
    if (row != MPI_COMM_NULL) {
        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, row);
        MPI_Comm_free(&row);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
