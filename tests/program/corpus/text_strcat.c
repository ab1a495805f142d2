/* SPDX-License-Identifier: BSD-3-Clause */
/* A path made of parts. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char path[128] = "/data";

    strcat(path, "/run");
    for (int i = 0; i <= rank; i++)
        strcat(path, "/x");
    strncat(path, "0123456789", 3);
    MPI_Send(path, (int)strlen(path) + 1, MPI_CHAR, (rank + 1) % size, 7, MPI_COMM_WORLD);
    MPI_Recv(path, 128, MPI_CHAR, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
