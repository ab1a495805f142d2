/* SPDX-License-Identifier: BSD-3-Clause */
/* A word that is copied byte by byte. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *from = "twelve bytes";
    char to[64];

    memcpy(to, from, strlen(from) + 1);
    MPI_Bcast(to, (int)strlen(to), MPI_CHAR, size - 1, MPI_COMM_WORLD);
    memset(to, 'x', 30);
    to[30] = '\0';
    MPI_Bcast(to, (int)strlen(to), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
