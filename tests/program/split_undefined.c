/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that are in no part of a split. */
#include <mpi.h>
static int x[10];
int main(int argc, char **argv)
{
    int rank, sub;
    MPI_Comm even;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 == 0 ? 1 : MPI_UNDEFINED, 0, &even);
    if (even != MPI_COMM_NULL) {
        MPI_Comm_rank(even, &sub);
        if (sub == 0)
            x[0] = 1;
        MPI_Bcast(x, 10, MPI_INT, 0, even);
        MPI_Comm_free(&even);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
