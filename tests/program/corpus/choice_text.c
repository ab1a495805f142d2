/* SPDX-License-Identifier: BSD-3-Clause */
/* A choice between two texts. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *word = rank % 2 ? "odd" : "even number";
    char room[20];

    MPI_Send(word, (int)strlen(word) + 1, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(room, 20, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%s of %s\n", room, rank == 0 ? "root" : "others");
    MPI_Finalize();
    return 0;
}
