/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The halo exchange of predicted.c alone, for simulators.py: `xylem scan` follows calls by their
 * names.
 *
 *   simulated BYTES ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void halo(char *in, char *out, int bytes, int rank, int size, const int *dims)
{
    MPI_Request requests[8];
    int near[4];

    near[0] = (rank + dims[1]) % size;
    near[1] = (rank + size - dims[1]) % size;
    near[2] = rank / dims[1] * dims[1] + (rank + 1) % dims[1];
    near[3] = rank / dims[1] * dims[1] + (rank + dims[1] - 1) % dims[1];
    for (int i = 0; i < 4; i++)
        MPI_Irecv(out + i * bytes, bytes, MPI_BYTE, near[i ^ 1], i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 4; i++)
        MPI_Isend(in + i * bytes, bytes, MPI_BYTE, near[i], i, MPI_COMM_WORLD, &requests[4 + i]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, bytes = argc > 1 ? atoi(argv[1]) : 1024,
                    rounds = argc > 2 ? atoi(argv[2]) : 100;
    int dims[2] = {0, 0};
    char *in, *out;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    in = calloc(4, (size_t)bytes);
    out = calloc(4, (size_t)bytes);
    for (int i = 0; i < rounds; i++)
        halo(in, out, bytes, rank, size, dims);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
