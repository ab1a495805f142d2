/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction whose other ranks give NULL for the result. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = rank + 1, sum = 0;
    char data[64] = {0};

    if (rank == 0)
        MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Reduce(&mine, NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Send(data, sum, MPI_CHAR, i, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(data, 64, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
