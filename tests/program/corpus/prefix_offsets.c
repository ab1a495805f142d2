/* SPDX-License-Identifier: BSD-3-Clause */
/* Offsets by MPI_Exscan, then messages between owners of neighbouring pieces. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, n, count, offset = 0, total;
    char piece[1024];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    count = (me * 7 + 3) % 10;
    MPI_Exscan(&count, &offset, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        offset = 0;
    total = offset + count;
    MPI_Bcast(&total, 1, MPI_INT, n - 1, MPI_COMM_WORLD);
    for (int k = 0; k < total; k++) {
        int owner = k % n;
        if (k >= offset && k < offset + count && owner != me)
            MPI_Send(piece, k + 1, MPI_BYTE, owner, k, MPI_COMM_WORLD);
    }
    for (int k = me; k < total; k += n)
        if (k < offset || k >= offset + count)
            MPI_Recv(piece, sizeof piece, MPI_BYTE, MPI_ANY_SOURCE, k, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
