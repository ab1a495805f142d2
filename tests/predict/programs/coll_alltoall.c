/* SPDX-License-Identifier: BSD-3-Clause */
/* Alltoall. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static double data[5000], other[5000 * 16], more[5000 * 16];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int n = 1; n <= 4096; n *= 8)
        MPI_Alltoall(other, n / 8 + 1, MPI_DOUBLE, more, n / 8 + 1, MPI_DOUBLE, MPI_COMM_WORLD);
    (void)data, (void)other, (void)more;
    MPI_Finalize();
    return 0;
}
