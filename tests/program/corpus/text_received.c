/* SPDX-License-Identifier: BSD-3-Clause */
/* The length of a word that was received. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char word[64];

    if (rank == 0)
        strcpy(word, "to be measured");
    MPI_Bcast(word, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Send(word, (int)strlen(word), MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(word, 64, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
