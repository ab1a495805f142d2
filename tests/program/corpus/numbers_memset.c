/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that memset() and memcpy() write. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int counts[8], copy[8];
    double data[64] = {0};

    memset(counts, 0, sizeof(counts));
    counts[2] = 7;
    counts[rank % 8] += 1;
    memcpy(copy, counts, sizeof(counts));
    MPI_Send(data, copy[2] + copy[1], MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(data, 64, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
