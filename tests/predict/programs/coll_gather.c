/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static double data[5000], other[5000 * 16], more[5000 * 16];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int n = 1; n <= 4096; n *= 8)
        MPI_Gather(data, n, MPI_DOUBLE, other, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    (void)data, (void)other, (void)more;
    MPI_Finalize();
    return 0;
}
