/* SPDX-License-Identifier: BSD-3-Clause */
/* The size of a message is not known before it is there. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static int data[5000];
    MPI_Status status;
    int count;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    if (rank > 0) {
        MPI_Send(data, 100 * rank, MPI_INT, 0, rank, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < size; i++) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            MPI_Recv(data, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
