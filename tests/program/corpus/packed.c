/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters that are packed into one message. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char buffer[100];
    int n = 7, place = 0;
    double x = 0.5;

    if (rank == 0) {
        MPI_Pack(&n, 1, MPI_INT, buffer, 100, &place, MPI_COMM_WORLD);
        MPI_Pack(&x, 1, MPI_DOUBLE, buffer, 100, &place, MPI_COMM_WORLD);
    }
    MPI_Bcast(buffer, 100, MPI_PACKED, 0, MPI_COMM_WORLD);
    if (rank != 0) {
        MPI_Unpack(buffer, 100, &place, &n, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Unpack(buffer, 100, &place, &x, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
