/* SPDX-License-Identifier: BSD-3-Clause */
/* Butterflies: partners by bits, then a transposition for the local part. ranks: 4 8 */
#include <complex.h>
#include <mpi.h>
#include <stdlib.h>

static unsigned reverse(unsigned x, int bits)
{
    unsigned r = 0;
    while (bits--) {
        r = r << 1 | (x & 1);
        x >>= 1;
    }
    return r;
}

int main(int argc, char **argv)
{
    int rank, size, bits = 0, n = 64;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (1 << (bits + 1) <= size)
        bits++;
    double complex *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    for (int i = 0; i < n; i++)
        x[i] = i + rank * I;
    int to = (int)reverse((unsigned)rank, bits);
    if (to != rank)
        MPI_Sendrecv_replace(x, 2 * n, MPI_DOUBLE, to, 0, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int b = 0; b < bits; b++) {
        int partner = rank ^ (1 << b);
        MPI_Sendrecv(x, n, MPI_C_DOUBLE_COMPLEX, partner, b, y, n, MPI_C_DOUBLE_COMPLEX, partner, b,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            x[i] = rank & 1 << b ? y[i] - x[i] : x[i] + y[i];
    }
    MPI_Alltoall(x, n / size, MPI_C_DOUBLE_COMPLEX, y, n / size, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
    free(x), free(y);
    MPI_Finalize();
    return 0;
}
