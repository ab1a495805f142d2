/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are known: what --monitor must count. */
#include <mpi.h>

int main(int argc, char **argv)
{
    char out[1000] = {0}, in[1000];
    int rank, size;
    MPI_Comm twin;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* three messages of 100 bytes to the right */
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv(out, 100, MPI_CHAR, (rank + 1) % size, 0, in, 100, MPI_CHAR,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Pcontrol(1);
    /* in the second phase one of 7 bytes to the left, on another communicator */
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Sendrecv(out, 7, MPI_CHAR, (rank + size - 1) % size, 0, in, 7, MPI_CHAR, (rank + 1) % size,
                 0, twin, MPI_STATUS_IGNORE);
    /* and 1000 bytes from rank 1 to all */
    MPI_Bcast(out, 1000, MPI_CHAR, 1 % size, MPI_COMM_WORLD);
    /* and 10 bytes to each, where rank 1 keeps its own in place */
    MPI_Scatter(out, 10, MPI_CHAR, rank == 1 % size ? MPI_IN_PLACE : in, 10, MPI_CHAR, 1 % size,
                MPI_COMM_WORLD);
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}
