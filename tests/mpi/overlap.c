/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With --comm-cores: nonblocking operations end while all ranks are in their own code. Each rank
 * starts one and then looks for the data, without a call of MPI, in its buffer or, as ranks share
 * their memory, in that of its neighbour.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1 << 18, DEADLINE = 100 /* seconds: a hang becomes a failure */ };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void await(const volatile int *at, int value, const char *what)
{
    double begin = now();

    for (int i = 0; i < COUNT; i++)
        while (at[i] != value)
            if (now() - begin > DEADLINE) {
                fprintf(stderr, "%s: no data while the ranks compute\n", what);
                exit(1);
            }
}

int main(int argc, char **argv)
{
    int *in = calloc(COUNT, sizeof(*in)), *out = calloc(COUNT, sizeof(*out));
    int rank, size, before;
    uintptr_t theirs = 0, ours = (uintptr_t)out;
    MPI_Request requests[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i++)
        in[i] = 1;
    MPI_Iallreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests);
    await(out, size, "Iallreduce");
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    memset(out, 0, COUNT * sizeof(*out));
    /* Where the rank before has its receive buffer, which it posts for us. */
    before = (rank + size - 1) % size;
    MPI_Sendrecv(&ours, sizeof(ours), MPI_BYTE, (rank + 1) % size, 0, &theirs, sizeof(theirs),
                 MPI_BYTE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(out, COUNT, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(in, COUNT, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[1]);
    await((const volatile int *)theirs, 1, "Isend");
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
