/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch with cases that fall through. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    int x = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0; i < 6; i++) {
        switch (i % 4) {
        case 0:
        case 1:
            MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
            break;
        case 2:
            MPI_Barrier(MPI_COMM_WORLD);
            /* fall through */
        default:
            MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        if (i == 4)
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
