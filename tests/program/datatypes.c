/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes. */
#include <mpi.h>
static double m[10][10];
int main(int argc, char **argv)
{
    int rank, size, bytes;
    MPI_Datatype column, pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(10, 1, 10, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Type_contiguous_c(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_size(column, &bytes);
    if (rank == 0 && size > 1) {
        MPI_Send(m, 1, column, 1, 0, MPI_COMM_WORLD);
        MPI_Send(m, bytes / 8, pair, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(m, 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(m, bytes / 8, pair, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
