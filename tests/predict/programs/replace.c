/* SPDX-License-Identifier: BSD-3-Clause */
/* Sendrecv_replace, with MPI_PROC_NULL at the ends. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static long data[500];
    int left, right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv_replace(data, 500, MPI_LONG, right, 0, left, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
