/* SPDX-License-Identifier: BSD-3-Clause */
/* A shift by an argument. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    static double data[3000], other[3000];
    int by;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    by = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 1; i < 4; i++)
        MPI_Sendrecv(data, 1000 * i, MPI_DOUBLE, (rank + by) % size, 0, other, 1000 * i, MPI_DOUBLE,
                     (rank + size - by % size) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
