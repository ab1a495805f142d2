/* SPDX-License-Identifier: BSD-3-Clause */
/* Letters that a loop writes. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char line[80];
    int i;

    for (i = 0; i < 3 + rank; i++)
        line[i] = 'a' + i;
    line[i] = '\0';
    if (rank > 0)
        MPI_Send(line, strlen(line) + 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    for (i = 1; rank == 0 && i < size; i++)
        MPI_Recv(line, 80, MPI_CHAR, i, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
