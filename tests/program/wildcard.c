/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 answers whoever comes first. */
#include <mpi.h>
static char data[512];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        MPI_Send(data, 16 * rank, MPI_CHAR, 0, rank, MPI_COMM_WORLD);
        MPI_Recv(data, 512, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 1; i < size; i++) {
            MPI_Recv(data, 512, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Send(data, status.MPI_TAG, MPI_CHAR, status.MPI_SOURCE, 9, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
