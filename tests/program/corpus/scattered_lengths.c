/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths of messages come by MPI_Scatterv and MPI_Alltoallv, some ranks get none. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, mine[4] = {1, 1, 1, 1}, *all = NULL, *counts, *at;
    char data[400], room[400];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = malloc(2 * size * sizeof(int));
    at = counts + size;
    for (int i = 0; i < size; i++) {
        counts[i] = i % 3;
        at[i] = i == 0 ? 5 : at[i - 1] + counts[i - 1] + 1;
    }
    if (rank == 1) {
        all = malloc((at[size - 1] + 4) * sizeof(int));
        for (int i = 0; i < at[size - 1] + 4; i++)
            all[i] = 10 * i;
    }
    MPI_Scatterv(all, counts, at, MPI_INT, mine, counts[rank], MPI_INT, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Sendrecv(data, mine[i], MPI_CHAR, (rank + 1) % size, i, room, 400, MPI_CHAR,
                     (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    short out[64], in[64];
    int sc[16], sd[16], rc[16], rd[16];
    for (int i = 0; i < size; i++) {
        sc[i] = (rank + i) % 2 + 1;
        rc[i] = (i + rank) % 2 + 1;
        sd[i] = 2 * (size - 1 - i);
        rd[i] = 3 * i;
        out[sd[i]] = out[sd[i] + 1] = (short)(rank * 7 + i);
    }
    MPI_Alltoallv(out, sc, sd, MPI_SHORT, in, rc, rd, MPI_SHORT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        MPI_Sendrecv(data, in[rd[i] + rc[i] - 1], MPI_CHAR, (rank + 1) % size, i, room, 400,
                     MPI_CHAR, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
