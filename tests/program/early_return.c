/* SPDX-License-Identifier: BSD-3-Clause */
/* A function that returns early. */
#include <mpi.h>
static char data[1000];
static int exchange(int rank, int size, int step)
{
    int to = (rank + step) % size, from = (rank - step + size) % size;
    if (to == rank)
        return 0;
    if (step % 2 == 0)
        return -1;
    MPI_Sendrecv(data, 10 * step, MPI_CHAR, to, 0, data + 500, 10 * step, MPI_CHAR, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1;
}
int main(int argc, char **argv)
{
    int rank, size, done = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < size && step < 40; step++)
        if (exchange(rank, size, step) > 0)
            done++;
    for (int i = 0; i < done; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
