/* SPDX-License-Identifier: BSD-3-Clause */
/* A halo in one dimension, nonblocking. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static float cells[2][4000];
    MPI_Request requests[4];
    int left, right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int step = 0; step < 10; step++) {
        MPI_Irecv(cells[0], 2000, MPI_FLOAT, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(cells[0] + 2000, 2000, MPI_FLOAT, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(cells[1], 2000, MPI_FLOAT, right, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(cells[1] + 2000, 2000, MPI_FLOAT, left, 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
