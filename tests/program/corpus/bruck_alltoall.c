/* SPDX-License-Identifier: BSD-3-Clause */
/* Bruck's alltoall: blocks whose number has a bit set travel together. ranks: 3 5 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void bruck(const int *send, int *recv, int n, MPI_Comm comm)
{
    int rank, p;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &p);
    int *a = malloc(p * n * sizeof(int)), *out = malloc(p * n * sizeof(int)),
        *in = malloc(p * n * sizeof(int));
    for (int i = 0; i < p; i++)
        memcpy(a + i * n, send + (rank + i) % p * n, n * sizeof(int));
    for (int k = 1; k < p; k <<= 1) {
        int c = 0;
        for (int i = 0; i < p; i++)
            if (i & k)
                memcpy(out + c++ * n, a + i * n, n * sizeof(int));
        MPI_Sendrecv(out, c * n, MPI_INT, (rank + k) % p, k, in, c * n, MPI_INT, (rank - k + p) % p,
                     k, comm, MPI_STATUS_IGNORE);
        c = 0;
        for (int i = 0; i < p; i++)
            if (i & k)
                memcpy(a + i * n, in + c++ * n, n * sizeof(int));
    }
    for (int i = 0; i < p; i++)
        memcpy(recv + (rank - i + p) % p * n, a + i * n, n * sizeof(int));
    free(a), free(out), free(in);
}

int main(int argc, char **argv)
{
    int rank, size, *s, *r;
    char data[200];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    s = malloc(2 * size * sizeof(int));
    r = malloc(2 * size * sizeof(int));
    for (int i = 0; i < 2 * size; i++)
        s[i] = 10 * rank + i;
    bruck(s, r, 2, MPI_COMM_WORLD);
    MPI_Sendrecv(data, r[2 * size - 1], MPI_CHAR, (rank + 1) % size, 0, data + 100, 100, MPI_CHAR,
                 MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
