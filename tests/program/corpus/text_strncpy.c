/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of a word. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char word[50] = {0};

    strncpy(word, "hello world", 5);
    MPI_Bcast(word, (int)strlen(word) + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
