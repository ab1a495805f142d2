/* SPDX-License-Identifier: BSD-3-Clause */
/* A greeting with the rank in it: its length depends on the rank. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char message[100];

    if (rank != 0) {
        sprintf(message, "Greetings from process %d of %d!", rank * 1000, size);
        MPI_Send(message, strlen(message) + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    } else {
        for (int q = 1; q < size; q++) {
            MPI_Recv(message, 100, MPI_CHAR, q, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%s\n", message);
        }
    }
    MPI_Finalize();
    return 0;
}
