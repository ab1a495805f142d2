/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way to send, with sums that are known. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, sum, half, data[64] = {0}, in[64];
    MPI_Request request;
    MPI_Comm back;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* 3 x 40 bytes to the next, in a communicator of reversed order: the one before. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv(data, 10, MPI_INT, (size - rank) % size, 0, in, 10, MPI_INT,
                     (size - rank + size - 2) % size, 0, back, MPI_STATUS_IGNORE);
    MPI_Pcontrol(1); /* the second phase */
    /* 16 bytes to oneself's opposite, twice, by a persistent request. */
    half = (rank + size / 2) % size;
    MPI_Send_init(data, 4, MPI_INT, half, 1, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        MPI_Recv(in, 4, MPI_INT, (rank + size - size / 2) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(data, 8, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_free(&back);
    MPI_Finalize();
    return sum == size * (size - 1) / 2 ? 0 : 1;
}
