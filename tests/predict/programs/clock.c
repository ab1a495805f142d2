/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop until a time has passed. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    double begin;
    int x = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 20e-6)
        MPI_Sendrecv_replace(&x, 1, MPI_INT, rank ^ 1, 0, rank ^ 1, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
