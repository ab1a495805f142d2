/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With --comm-cores: nonblocking operations end while all ranks are in their own code. Each rank
 * starts one and then looks for the data, without a call of MPI, in its buffer or, as ranks share
 * their memory, in that of its neighbour.
 */
#include <mpi.h>
#include <stdbool.h>
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

/* Between the ranks with even and those with odd numbers, and started again. Ranks that share a
 * core come to a start together. */
static void check_groups(int rank, int size, int *in, int *out)
{
    bool is_odd = rank % 2 != 0;
    int there = is_odd ? (size + 1) / 2 : size / 2;
    MPI_Comm half, both;
    MPI_Request request;

    if (size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, is_odd, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !is_odd, 3, &both);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iallreduce(in, out, COUNT, MPI_INT, MPI_SUM, both, &request);
    await(out, there, "Iallreduce between groups");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(out, 0, COUNT * sizeof(*out));
    MPI_Bcast_init(is_odd ? out : in, COUNT, MPI_INT,
                   is_odd      ? 0
                   : rank == 0 ? MPI_ROOT
                               : MPI_PROC_NULL,
                   both, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&request);
        if (is_odd)
            await(out, 1, "persistent broadcast between groups");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        memset(out, 0, COUNT * sizeof(*out));
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
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
    check_groups(rank, size, in, out);
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
