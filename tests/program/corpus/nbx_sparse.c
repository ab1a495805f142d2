/* SPDX-License-Identifier: BSD-3-Clause */
/* A sparse exchange whose receivers do not know their senders: synchronous sends and a barrier. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, nsend, done = 0, barrier_active = 0;
    char out[8][64], in[512];
    MPI_Request sends[8], barrier = MPI_REQUEST_NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    nsend = 1 + rank % 2;
    for (int i = 0; i < nsend; i++)
        MPI_Issend(out[i], 10 + rank + i, MPI_CHAR, (rank + 1 + i) % size, 77, MPI_COMM_WORLD,
                   &sends[i]);
    while (!done) {
        int flag;
        MPI_Status st;

        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &st);
        if (flag) {
            int len;
            MPI_Get_count(&st, MPI_CHAR, &len);
            MPI_Recv(in, len, MPI_CHAR, st.MPI_SOURCE, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (barrier_active) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        } else {
            int all;
            MPI_Testall(nsend, sends, &all, MPI_STATUSES_IGNORE);
            if (all) {
                MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
                barrier_active = 1;
            }
        }
    }
    MPI_Finalize();
    return 0;
}
