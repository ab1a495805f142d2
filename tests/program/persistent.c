/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests. */
#include <mpi.h>
static int out[50], in[50];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Request r[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Send_init(out, 50, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in, 50, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 5; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Finalize();
    return 0;
}
