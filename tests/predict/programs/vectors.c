/* SPDX-License-Identifier: BSD-3-Clause */
/* Gatherv and scatterv with counts by rank. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static int data[1000], all[16 * 1000];
    int counts[16], offsets[16];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0, at = 0; i < size; i++) {
        counts[i] = 10 * (i + 1);
        offsets[i] = at;
        at += counts[i];
    }
    MPI_Gatherv(data, counts[rank], MPI_INT, all, counts, offsets, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(all, counts, offsets, MPI_INT, data, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgatherv(data, counts[rank], MPI_INT, all, counts, offsets, MPI_INT, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
