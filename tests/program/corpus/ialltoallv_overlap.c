/* SPDX-License-Identifier: BSD-3-Clause */
/* Two nonblocking collectives at a time, waited for in another order. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int me, np;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    int *sc = malloc(np * sizeof(int)), *rc = malloc(np * sizeof(int));
    int *sd = malloc(np * sizeof(int)), *rd = malloc(np * sizeof(int));

    for (int i = 0; i < np; i++) {
        sc[i] = (me + i) % 3;
        sd[i] = i ? sd[i - 1] + sc[i - 1] : 0;
    }
    MPI_Request r[3];
    MPI_Ialltoall(sc, 1, MPI_INT, rc, 1, MPI_INT, MPI_COMM_WORLD, &r[0]);
    double x[64] = {0}, y[64], z = 1;
    MPI_Ibcast(&z, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    for (int i = 0, at = 0; i < np; at += rc[i++])
        rd[i] = at;
    MPI_Ialltoallv(x, sc, sd, MPI_DOUBLE, y, rc, rd, MPI_DOUBLE, MPI_COMM_WORLD, &r[2]);
    MPI_Waitall(2, r + 1, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
