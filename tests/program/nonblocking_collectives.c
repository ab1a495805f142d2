/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that are started and waited for. */
#include <mpi.h>
static double a[256], b[256];
int main(int argc, char **argv)
{
    MPI_Request r[2];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        MPI_Ibcast(a, 256, MPI_DOUBLE, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Iallreduce(MPI_IN_PLACE, b, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
