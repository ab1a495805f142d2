/* SPDX-License-Identifier: BSD-3-Clause */
/* A message of unknown length, taken by its handle. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        int data[16] = {0};

        MPI_Send(data, rank, MPI_INT, 0, 5, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < size; i++) {
            MPI_Message message;
            MPI_Status status;
            int n, *data;

            MPI_Mprobe(i, 5, MPI_COMM_WORLD, &message, &status);
            MPI_Get_count(&status, MPI_INT, &n);
            data = malloc(n * sizeof(int));
            MPI_Mrecv(data, n, MPI_INT, &message, MPI_STATUS_IGNORE);
            MPI_Send(data, n, MPI_INT, i, 6, MPI_COMM_WORLD);
            free(data);
        }
    }
    if (rank > 0) {
        int back[16];

        MPI_Recv(back, 16, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
