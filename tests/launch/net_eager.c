/* SPDX-License-Identifier: BSD-3-Clause */
/* net_eager BYTES: two ranks send so much to each other before they receive, which works where it
 * is sent at once, and nowhere else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, bytes = argc > 1 ? atoi(argv[1]) : 0, wrong = 0;
    char *out = malloc((size_t)bytes + 1), *in = malloc((size_t)bytes + 1);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < bytes; i++)
        out[i] = (char)(i * 7 + rank);
    MPI_Send(out, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < bytes; i++)
        wrong += in[i] != (char)(i * 7 + 1 - rank);
    printf("rank %d: %d wrong\n", rank, wrong);
    free(in);
    free(out);
    MPI_Finalize();
    return wrong > 0;
}
