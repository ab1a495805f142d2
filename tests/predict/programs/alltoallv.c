/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that are exchanged first. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static char from[16 * 300], to[16 * 300];
    int send[16], receive[16], send_at[16], receive_at[16];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0; i < size; i++)
        send[i] = (rank * 7 + i * 3) % 300;
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        send_at[i] = 300 * i;
        receive_at[i] = i == 0 ? 0 : receive_at[i - 1] + receive[i - 1];
    }
    MPI_Alltoallv(from, send, send_at, MPI_CHAR, to, receive, receive_at, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
