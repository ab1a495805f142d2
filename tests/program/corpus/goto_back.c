/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop made of a label. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char data[64] = {0};
    int n = 1;

again:
    MPI_Bcast(data, n, MPI_CHAR, n % size, MPI_COMM_WORLD);
    n *= 3;
    if (n < 60)
        goto again;
    MPI_Finalize();
    return 0;
}
