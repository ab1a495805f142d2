/* SPDX-License-Identifier: BSD-3-Clause */
/* Different sizes for every pair. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int send[size], receive[size], sent[size], received[size];
    char *out = calloc(100 * size, 1), *in = calloc(100 * size, 1);
    for (int r = 0; r < size; r++) {
        send[r] = (rank + 2 * r) % 7;
        receive[r] = (r + 2 * rank) % 7;
        sent[r] = received[r] = 100 * r;
    }
    MPI_Alltoallv(out, send, sent, MPI_CHAR, in, receive, received, MPI_CHAR, MPI_COMM_WORLD);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
