/* SPDX-License-Identifier: BSD-3-Clause */
/* While and do loops, with break and ternary operators. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    int n = 40, steps = 0;
    char c = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    while (n != 1) {
        MPI_Bcast(&c, 1, MPI_CHAR, n % size, MPI_COMM_WORLD);
        n = n % 2 ? 3 * n + 1 : n / 2;
    }
    do {
        steps++;
        MPI_Barrier(MPI_COMM_WORLD);
        if (steps > 5)
            break;
    } while (1);
    MPI_Finalize();
    return 0;
}
