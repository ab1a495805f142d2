/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for a trace: ten rounds of a ring of small ones, five large ones from the last rank to
 * the first in two tags, received in the other order and from any source, and one that is not
 * received. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 10, LARGE = 5, COUNT = 20000 };

int main(int argc, char **argv)
{
    static double large[LARGE][COUNT], small[2];
    MPI_Request requests[LARGE];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Sendrecv(&small[0], 1, MPI_DOUBLE, (rank + 1) % size, 1, &small[1], 1, MPI_DOUBLE,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == size - 1)
        for (int i = 0; i < LARGE; i++)
            MPI_Isend(large[i], COUNT, MPI_DOUBLE, 0, 2 + i % 2, MPI_COMM_WORLD, &requests[i]);
    if (rank == 0)
        for (int i = 0; i < LARGE; i++)
            MPI_Recv(large[0], COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, 2 + (i < LARGE / 2),
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == size - 1)
        MPI_Waitall(LARGE, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Send(small, 1, MPI_DOUBLE, size - 1, 99, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
