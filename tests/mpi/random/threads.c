/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank that exchange messages, each with its own tag, all at the same time. The
 * communicator is theirs alone, so that they match nothing else of the step. Some have their data
 * in memory of a device, and some write it into one file and read it again.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

enum { THREADS_MOST = 3, ROUNDS_MOST = 4, ELEMENTS_MOST = 5000 };

typedef struct {
    int number, rounds, elements;
    bool is_blocking, is_on_device;
    MPI_File file; /* or MPI_FILE_NULL */
} work_t;

/* Elements of a thread, and where MPI finds them. */
typedef struct {
    uint64_t *host, *device;
} data_t;

static MPI_Comm common;
static bool is_allowed;

void threads_begin(int provided)
{
    is_allowed = provided == MPI_THREAD_MULTIPLE;
    MPI_Comm_dup(MPI_COMM_WORLD, &common);
}

void threads_end(void)
{
    MPI_Comm_free(&common);
}

static data_t data_of(const work_t *work)
{
    size_t bytes = (size_t)(work->elements + 1) * sizeof(uint64_t);
    data_t m = {.host = malloc(bytes)};

    if (m.host == NULL)
        fail("no memory for a thread");
    m.device = work->is_on_device ? device_alloc(bytes) : NULL;
    return m;
}

static void data_free(data_t *m)
{
    device_free(m->device);
    free(m->host);
}

static uint64_t *to_mpi(const data_t *m, int n)
{
    if (m->device == NULL)
        return m->host;
    device_copy(m->device, m->host, (size_t)n * sizeof(uint64_t));
    return m->device;
}

/* Take the data that MPI has put there. */
static void from_mpi(const data_t *m, int n)
{
    if (m->device != NULL)
        device_copy(m->host, m->device, (size_t)n * sizeof(uint64_t));
}

static void check(const work_t *work, const data_t *m, int from, int round, const char *what)
{
    from_mpi(m, work->elements);
    for (int i = 0; i < work->elements; i++)
        if (m->host[i] != value_of(from, rank, i + round))
            fail("thread %d: element %d of round %d is wrong in %s", work->number, i, round, what);
}

/* To the next rank and from the one before. */
static void exchange(const work_t *work, int round, data_t *sent, data_t *received)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int tag = step * THREADS_MOST + work->number, n = work->elements;
    uint64_t *out, *in;
    MPI_Request requests[2];

    for (int i = 0; i < n; i++) {
        sent->host[i] = value_of(rank, next, i + round);
        received->host[i] = 0;
    }
    out = to_mpi(sent, n);
    in = to_mpi(received, n);
    if (work->is_blocking) {
        MPI_Sendrecv(out, n, MPI_UINT64_T, next, tag, in, n, MPI_UINT64_T, previous, tag, common,
                     MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(in, n, MPI_UINT64_T, previous, tag, common, &requests[0]);
        MPI_Isend(out, n, MPI_UINT64_T, next, tag, common, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    check(work, received, previous, round, "a message");
}

/* Where this thread of a rank has its elements of a round. */
static MPI_Offset place_of(const work_t *work, int of, int round)
{
    int slot = (of * THREADS_MOST + work->number) * ROUNDS_MOST + round;

    return (MPI_Offset)slot * ELEMENTS_MOST * (MPI_Offset)sizeof(uint64_t);
}

/* Write the received data into the file and read it back. */
static void keep(const work_t *work, int round, const data_t *received, data_t *again)
{
    int previous = (rank + size - 1) % size, n = work->elements;
    MPI_Offset at = place_of(work, rank, round);
    uint64_t *out = to_mpi(received, n), *in = to_mpi(again, n);
    MPI_Request request;

    if (work->is_blocking) {
        MPI_File_write_at(work->file, at, out, n, MPI_UINT64_T, MPI_STATUS_IGNORE);
        MPI_File_read_at(work->file, at, in, n, MPI_UINT64_T, MPI_STATUS_IGNORE);
    } else {
        MPI_File_iwrite_at(work->file, at, out, n, MPI_UINT64_T, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_File_iread_at(work->file, at, in, n, MPI_UINT64_T, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check(work, again, previous, round, "a file");
}

static void *run(void *argument)
{
    const work_t *work = argument;
    data_t sent = data_of(work), received = data_of(work);

    for (int round = 0; round < work->rounds; round++) {
        exchange(work, round, &sent, &received);
        if (work->file != MPI_FILE_NULL)
            keep(work, round, &received, &sent);
    }
    data_free(&sent);
    data_free(&received);
    return NULL;
}

/* The rank itself is one of them. */
void step_threads(void)
{
    int threads = 1 + draw(&shared_random, THREADS_MOST);
    int rounds = 1 + draw(&shared_random, ROUNDS_MOST);
    bool has_file = chance(&shared_random, 50);
    MPI_File file = MPI_FILE_NULL;
    work_t work[THREADS_MOST];
    pthread_t others[THREADS_MOST];

    if (!is_allowed)
        return;
    if (has_file)
        file = file_open(common);
    for (int t = 0; t < threads; t++)
        work[t] = (work_t){t,
                           rounds,
                           draw_elements(&shared_random, ELEMENTS_MOST),
                           chance(&own_random, 50),
                           chance(&own_random, 40),
                           file};
    if (is_verbose)
        fprintf(stderr, "%d: step %d: %d threads\n", rank, step, threads);
    for (int t = 1; t < threads; t++)
        if (pthread_create(&others[t], NULL, run, &work[t]) != 0)
            fail("no thread");
    run(&work[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(others[t], NULL);
    if (has_file)
        MPI_File_close(&file);
}
