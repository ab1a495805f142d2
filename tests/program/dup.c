/* SPDX-License-Identifier: BSD-3-Clause */
/* A duplicate keeps messages apart. */
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, a = 1, b = 2;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_rank(other, &rank);
    MPI_Comm_size(other, &size);
    if (rank == 0 && size > 1) {
        MPI_Send(&a, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Send(&b, 1, MPI_INT, 1, 0, other);
    } else if (rank == 1) {
        MPI_Recv(&b, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
        MPI_Recv(&a, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
