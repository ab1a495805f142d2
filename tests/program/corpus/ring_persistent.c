/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests in a time loop, restarted with pointers to both buffers. */
#include <mpi.h>
#include <string.h>

static double buf[2][500];

int main(int argc, char **argv)
{
    int r, p, len;
    MPI_Request rq[2][2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    len = 100 + r % 2 * 50;
    for (int b = 0; b < 2; b++) {
        MPI_Send_init(buf[b], len, MPI_DOUBLE, (r + 1 + b) % p, b, MPI_COMM_WORLD, &rq[b][0]);
        MPI_Recv_init(buf[1 - b], 500, MPI_DOUBLE, (r + 2 * p - 1 - b) % p, b, MPI_COMM_WORLD,
                      &rq[b][1]);
    }
    for (int step = 0; step < 7; step++) {
        MPI_Request *now = rq[step & 1];

        MPI_Startall(2, now);
        MPI_Waitall(2, now, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&rq[i / 2][i % 2]);
    MPI_Finalize();
    return 0;
}
