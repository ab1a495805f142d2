/* SPDX-License-Identifier: BSD-3-Clause */
/* A word in memory from malloc(). */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *buffer = malloc(100);

    strcpy(buffer, "from the heap");
    MPI_Bcast(buffer, (int)strlen(buffer) + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    free(buffer);
    MPI_Finalize();
    return 0;
}
