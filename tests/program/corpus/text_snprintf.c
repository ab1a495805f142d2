/* SPDX-License-Identifier: BSD-3-Clause */
/* The length that snprintf() returns, and the one that it cuts. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char small[8];
    int length = snprintf(small, sizeof(small), "%s-%05.2f|%x", "rank", 3.14159 * rank, 255 + rank);

    if (rank > 0) {
        MPI_Send(small, (int)strlen(small) + 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        MPI_Send(&length, length, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
    for (int i = 1; rank == 0 && i < size; i++) {
        char room[64];

        MPI_Recv(small, sizeof(small), MPI_CHAR, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(room, sizeof(room), MPI_BYTE, i, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
