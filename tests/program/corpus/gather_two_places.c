/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts gathered at different places. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = 3 * rank + 1, counts[64];
    char data[256] = {0};

    if (rank == 0) {
        MPI_Gather(&mine, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 1; i < size; i++)
            MPI_Send(data, counts[i], MPI_CHAR, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Gather(&mine, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
        MPI_Recv(data, 256, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
