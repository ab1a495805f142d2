/* SPDX-License-Identifier: BSD-3-Clause */
/* A transposition with MPI_Alltoallw and subarrays of different widths. */
#include <mpi.h>
#include <stdlib.h>

enum { N = 24 };

static int low(int i, int p)
{
    return i * N / p;
}

int main(int argc, char **argv)
{
    int rank, p;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int rows = low(rank + 1, p) - low(rank, p);
    double *a = malloc(rows * N * sizeof(double)), *b = malloc(rows * N * sizeof(double));
    int *ones = malloc(p * sizeof(int)), *zeros = calloc(p, sizeof(int)),
        *at = malloc(p * sizeof(int));
    MPI_Datatype *out = malloc(p * sizeof(*out)), *in = malloc(p * sizeof(*in));

    for (int i = 0; i < p; i++) {
        int width = low(i + 1, p) - low(i, p);
        int full[2] = {rows, N}, part[2] = {rows, width}, start[2] = {0, low(i, p)};

        MPI_Type_create_subarray(2, full, part, start, MPI_ORDER_C, MPI_DOUBLE, &out[i]);
        MPI_Type_commit(&out[i]);
        MPI_Type_contiguous(rows * width, MPI_DOUBLE, &in[i]);
        MPI_Type_commit(&in[i]);
        ones[i] = 1;
        at[i] = rows * low(i, p) * (int)sizeof(double);
    }
    MPI_Alltoallw(a, ones, zeros, out, b, ones, at, in, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++) {
        MPI_Type_free(&out[i]);
        MPI_Type_free(&in[i]);
    }
    MPI_Finalize();
    return 0;
}
