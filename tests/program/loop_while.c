/* SPDX-License-Identifier: BSD-3-Clause */
/* A while loop with break and continue. */
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, step = 0, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (1) {
        step++;
        if (step % 3 == 0)
            continue;
        if (step > 10)
            break;
        MPI_Bcast(&value, 1, MPI_INT, step % size, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
