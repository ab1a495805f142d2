/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-4 persistent collectives, started together. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, n = 0;
    static double x[300], y[300];
    MPI_Request r[3];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        n = 7;
    MPI_Bcast_init(&n, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Allreduce_init(x, y, 150, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(3, r);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        MPI_Bcast(x, n + i, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        n += rank == 1;
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&r[i]);
    MPI_Finalize();
    return 0;
}
