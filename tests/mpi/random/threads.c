/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank that exchange messages, each with its own tag, all at the same time. The
 * communicator is theirs alone, so that they match nothing else of the step.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

enum { THREADS_MOST = 3, ROUNDS_MOST = 4 };

typedef struct {
    int number, rounds, elements;
    bool is_blocking;
} work_t;

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

/* To the next rank and from the one before. */
static void exchange(const work_t *work, int round, uint64_t *out, uint64_t *in)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int tag = step * THREADS_MOST + work->number, n = work->elements;
    MPI_Request requests[2];

    for (int i = 0; i < n; i++) {
        out[i] = value_of(rank, next, i + round);
        in[i] = 0;
    }
    if (work->is_blocking) {
        MPI_Sendrecv(out, n, MPI_UINT64_T, next, tag, in, n, MPI_UINT64_T, previous, tag, common,
                     MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(in, n, MPI_UINT64_T, previous, tag, common, &requests[0]);
        MPI_Isend(out, n, MPI_UINT64_T, next, tag, common, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < n; i++)
        if (in[i] != value_of(previous, rank, i + round))
            fail("thread %d: element %d of round %d is wrong", work->number, i, round);
}

static void *run(void *argument)
{
    const work_t *work = argument;
    uint64_t *memory = malloc(2 * (size_t)(work->elements + 1) * sizeof(*memory));

    if (memory == NULL)
        fail("no memory for a thread");
    for (int round = 0; round < work->rounds; round++)
        exchange(work, round, memory, memory + work->elements + 1);
    free(memory);
    return NULL;
}

/* The rank itself is one of them. */
void step_threads(void)
{
    int threads = 1 + draw(&shared_random, THREADS_MOST);
    int rounds = 1 + draw(&shared_random, ROUNDS_MOST);
    work_t work[THREADS_MOST];
    pthread_t others[THREADS_MOST];

    for (int t = 0; t < threads; t++)
        work[t] = (work_t){t, rounds, draw_elements(&shared_random, 5000), chance(&own_random, 50)};
    if (!is_allowed)
        return;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: %d threads\n", rank, step, threads);
    for (int t = 1; t < threads; t++)
        if (pthread_create(&others[t], NULL, run, &work[t]) != 0)
            fail("no thread");
    run(&work[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(others[t], NULL);
}
