/* SPDX-License-Identifier: BSD-3-Clause */
/* A word that is copied, sent by its length. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char word[50];

    strcpy(word, "hello world");
    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Send(word, (int)strlen(word) + 1, MPI_CHAR, i, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(word, 50, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
