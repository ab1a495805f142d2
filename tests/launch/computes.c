/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 computes, without a call of MPI, until a nonblocking broadcast of rank 0 has come. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BYTES = 4 << 20, SECONDS = 50 };

static void compute_until(const volatile char *last, char value)
{
    time_t end = time(NULL) + SECONDS;

    while (*last != value)
        if (time(NULL) > end) {
            fprintf(stderr, "nothing has come while it computed\n");
            exit(3);
        }
}

int main(int argc, char **argv)
{
    char *data = calloc(BYTES, 1);
    MPI_Request request;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    data[BYTES - 1] = rank == 0 ? 7 : 0;
    MPI_Ibcast(data, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    if (rank == 1)
        compute_until(data + BYTES - 1, 7);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    free(data);
    return 0;
}
