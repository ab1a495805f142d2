/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch with fall-through and default. */
#include <mpi.h>
static double x[100];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int phase = 0; phase < 5; phase++)
        switch (phase) {
        case 0:
            MPI_Bcast(x, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            /* fall through */
        case 1:
        case 2:
            MPI_Bcast(x, 20, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
            break;
        case 3:
            if (rank == 0 && size > 1)
                MPI_Send(x, 7, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
            if (rank == 1)
                MPI_Recv(x, 7, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Barrier(MPI_COMM_WORLD);
        }
    MPI_Finalize();
    return 0;
}
