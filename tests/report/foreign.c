/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose calls are known: for a profile under another MPI. The last rank is slow. */
#include <mpi.h>
#include <unistd.h>

enum { ROUNDS = 10, BYTES = 1000 };

int main(int argc, char **argv)
{
    char data[BYTES] = "";
    double sum = 1, all;
    MPI_Request request;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == size - 1)
            usleep(2000);
        if (rank == 0)
            MPI_Recv(data, BYTES, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE); /* receive */
        if (rank == size - 1)
            MPI_Send(data, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);         /* send */
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* together */
    }
    MPI_Irecv(data, BYTES, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Send(data, 1, MPI_CHAR, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* wait */
    MPI_Finalize();
    return 0;
}
