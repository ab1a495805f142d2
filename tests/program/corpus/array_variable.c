/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays whose length is known at run time. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int counts[size], places[size], total = 0;

    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = total;
        total += counts[i];
    }
    double mine[counts[rank]], all[total];

    for (int i = 0; i < counts[rank]; i++)
        mine[i] = rank;
    MPI_Allgatherv(mine, counts[rank], MPI_DOUBLE, all, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
