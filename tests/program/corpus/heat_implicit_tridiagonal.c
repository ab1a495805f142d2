/* SPDX-License-Identifier: BSD-3-Clause */
/* A pipelined Thomas algorithm: sweeps run from the first to the last rank and back. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define SYSTEMS 40
#define CHUNK   8

typedef struct {
    double c, d;
} pair;

int main(int argc, char **argv)
{
    int rank, size, first, last;
    static double a[SYSTEMS][16], x[SYSTEMS][16];
    pair carry[CHUNK];
    double back[CHUNK];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    first = rank == 0;
    last = rank == size - 1;
    for (int s = 0; s < SYSTEMS; s += CHUNK) {
        if (!first)
            MPI_Recv(carry, 2 * CHUNK, MPI_DOUBLE, rank - 1, s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            for (int k = 0; k < CHUNK; k++)
                carry[k] = (pair){0, 0};
        for (int k = 0; k < CHUNK; k++)
            for (int i = 0; i < 16; i++) {
                double m = 1 / (2 - carry[k].c);
                carry[k].c = m;
                carry[k].d = m * (a[s + k][i] + carry[k].d);
            }
        if (!last)
            MPI_Send(carry, 2 * CHUNK, MPI_DOUBLE, rank + 1, s, MPI_COMM_WORLD);
    }
    for (int s = SYSTEMS - CHUNK; s >= 0; s -= CHUNK) {
        if (!last)
            MPI_Recv(back, CHUNK, MPI_DOUBLE, rank + 1, 1000 + s, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int k = 0; k < CHUNK; k++)
            x[s + k][0] = last ? carry[k].d : back[k];
        if (!first)
            MPI_Send(back, CHUNK, MPI_DOUBLE, rank - 1, 1000 + s, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
