/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many objects and many requests:
 *
 *   objects objects      every rank makes 20 communicators, 20 windows and 100 datatypes and frees
 *                        them, three times: the process needs no more memory than after the first
 *   objects requests     a million requests of all ranks together are in flight at once
 *
 * The last line of rank 0 is the processor time that the whole job has used, in seconds.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"

enum { COMMS = 20, WINDOWS = 20, TYPES = 100, ROUNDS = 3, REQUESTS = 1000000, SLACK = 64 };

/* Every fourth communicator is of half of the ranks. */
static void make_comms(MPI_Comm comms[COMMS], int rank)
{
    for (int i = 0; i < COMMS; i++)
        if (i % 4 == 0)
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[i]);
        else
            MPI_Comm_dup(i % 4 == 1 ? MPI_COMM_SELF : MPI_COMM_WORLD, &comms[i]);
}

static void make_windows(MPI_Win windows[WINDOWS], const MPI_Comm comms[COMMS])
{
    for (int i = 0; i < WINDOWS; i++) {
        int *memory;

        MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, comms[i], &memory,
                         &windows[i]);
        memory[3] = i;
    }
}

static void make_types(MPI_Datatype types[TYPES])
{
    for (int i = 0; i < TYPES; i++) {
        if (i % 3 == 2)
            MPI_Type_contiguous(i, types[i - 1], &types[i]);
        else
            MPI_Type_vector(i + 1, 2, 5, MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
}

static void use(MPI_Win windows[WINDOWS], const MPI_Comm comms[COMMS])
{
    for (int i = 0; i < WINDOWS; i += 7) {
        int rank, size, value = i;

        MPI_Comm_rank(comms[i], &rank);
        MPI_Comm_size(comms[i], &size);
        MPI_Win_fence(0, windows[i]);
        MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, windows[i]);
        MPI_Win_fence(0, windows[i]);
    }
}

static void round_of_objects(int rank)
{
    MPI_Comm comms[COMMS];
    MPI_Win windows[WINDOWS];
    MPI_Datatype types[TYPES];

    make_comms(comms, rank);
    make_windows(windows, comms);
    make_types(types);
    use(windows, comms);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&types[i]);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&windows[i]);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
}

/* Bytes that the process has allocated; all ranks wait meanwhile. */
static double allocated(int rank)
{
    double bytes = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* the first one's data is there */
    if (rank == 0) {
        struct mallinfo2 info = mallinfo2();

        bytes = (double)info.uordblks + (double)info.hblkhd;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return bytes;
}

/* Nothing is left of a round: a leak of one object of every rank would be far more than SLACK bytes
 * for each. */
static void check_objects(int rank, int size)
{
    double before = 0, after;

    for (int i = 0; i < ROUNDS; i++) {
        round_of_objects(rank);
        if (i == 0)
            before = allocated(rank);
    }
    after = allocated(rank);
    if (rank == 0 && after > before + (double)SLACK * size + 65536)
        fprintf(stderr, "%.0f bytes are allocated after one round, %.0f after %d\n", before, after,
                ROUNDS);
    CHECK(rank > 0 || after <= before + (double)SLACK * size + 65536);
}

/* Half of them receives that wait for messages, half sends that wait for receives, with tags in
 * another order; then all are served. */
static void check_requests(int rank, int size)
{
    int n = REQUESTS / size / 2, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Request *requests = malloc(2 * (size_t)n * sizeof *requests);
    int *in = calloc((size_t)n, sizeof *in), *out = malloc((size_t)n * sizeof *out), flag, value;
    MPI_Comm other;

    CHECK(requests != NULL && in != NULL && out != NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int i = 0; i < n; i++) {
        out[i] = rank + i;
        MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Issend(&out[i], 1, MPI_INT, next, i, other, &requests[n + i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Testall(2 * n, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(!flag);
    for (int i = 0; i < n; i++) {
        int tag = (int)((long long)i * 7919 % n);

        value = rank + tag;
        MPI_Send(&value, 1, MPI_INT, next, tag, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, previous, tag, other, MPI_STATUS_IGNORE);
        CHECK_EQUAL(value, previous + tag);
    }
    MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK_EQUAL(in[i], previous + i);
    MPI_Comm_free(&other);
    free(requests);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    struct rusage used;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "requests") == 0)
        check_requests(rank, size);
    else
        check_objects(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    getrusage(RUSAGE_SELF, &used);
    if (rank == 0)
        printf("%.3f\n", (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
                             1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec));
    MPI_Finalize();
    return 0;
}
