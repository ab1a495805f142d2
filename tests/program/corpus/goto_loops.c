/* SPDX-License-Identifier: BSD-3-Clause */
/* Out of two loops at once, and a label in a loop. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char data[64] = {0};
    int i, j;

    for (i = 0; i < 4; i++) {
        for (j = 0; j < 4; j++) {
            if (i * j == 6)
                goto found;
            if (j == 2)
                goto next;
            MPI_Bcast(data, i + j + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
        }
        MPI_Bcast(data, 33, MPI_CHAR, 0, MPI_COMM_WORLD);
    next:
        MPI_Barrier(MPI_COMM_WORLD);
    }
found:
    MPI_Bcast(data, 10 * i + j, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
