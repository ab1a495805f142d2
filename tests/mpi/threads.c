/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of ranks that call MPI at the same time: messages by tag, several threads that wait for
 * different requests, matched probes, collectives and new communicators on communicators of their
 * own, requests that another thread completes, sessions. Every answer is checked; rank 0 prints
 * "passed".
 *
 *   threads [PART]     one part only: pingpong, waitany, probe, collectives, communicators,
 *                      handover, sessions
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 40, LARGE = 40000 };

static int rank, size;
static MPI_Comm comms[THREADS];

typedef void (*part_fn)(int thread);

typedef struct {
    part_fn part;
    int thread;
} start_t;

static void *begin(void *argument)
{
    const start_t *start = argument;

    start->part(start->thread);
    return NULL;
}

/* Thread 0 is the rank itself: it calls MPI beside the others. */
static void run(part_fn part)
{
    pthread_t threads[THREADS];
    start_t starts[THREADS];

    for (int t = 0; t < THREADS; t++)
        starts[t] = (start_t){part, t};
    for (int t = 1; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, begin, &starts[t]) == 0);
    part(0);
    for (int t = 1; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
}

/* Each thread with the same thread of the ranks before and after, small and large. */
static void pingpong(int thread)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *out = malloc(LARGE * sizeof(int)), *in = malloc(LARGE * sizeof(int));
    MPI_Request request;
    MPI_Status status;
    int count;

    for (int i = 0; i < ROUNDS; i++) {
        int n = i % 10 == 9 ? LARGE : 1 + i;

        for (int k = 0; k < n; k++)
            out[k] = rank * 1000003 + thread * 1009 + i * 31 + k;
        MPI_Isend(out, n, MPI_INT, right, thread, MPI_COMM_WORLD, &request);
        MPI_Recv(in, n, MPI_INT, left, thread, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == n && status.MPI_SOURCE == left && status.MPI_TAG == thread);
        for (int k = 0; k < n; k++)
            CHECK(in[k] == left * 1000003 + thread * 1009 + i * 31 + k);
    }
    free(out);
    free(in);
}

/* Several requests of each thread; any of them may be over first. */
static void waitany(int thread)
{
    enum { REQUESTS = 6 };
    int in[REQUESTS], out[REQUESTS];
    MPI_Request sends[REQUESTS], receives[REQUESTS];

    for (int i = 0; i < ROUNDS / 2; i++) {
        int seen = 0, peer = (rank + 1 + i) % size, from = (rank + size - (1 + i) % size) % size;

        for (int k = 0; k < REQUESTS; k++)
            MPI_Irecv(&in[k], 1, MPI_INT, from, 100 + thread * REQUESTS + k, MPI_COMM_WORLD,
                      &receives[k]);
        for (int k = REQUESTS - 1; k >= 0; k--) {
            out[k] = rank * 100 + thread * 10 + k;
            MPI_Issend(&out[k], 1, MPI_INT, peer, 100 + thread * REQUESTS + k, MPI_COMM_WORLD,
                       &sends[k]);
        }
        for (int k = 0; k < REQUESTS; k++) {
            int index;

            MPI_Waitany(REQUESTS, receives, &index, MPI_STATUS_IGNORE);
            CHECK(index >= 0 && index < REQUESTS && (seen >> index & 1) == 0);
            CHECK(in[index] == from * 100 + thread * 10 + index);
            seen |= 1 << index;
        }
        MPI_Waitall(REQUESTS, sends, MPI_STATUSES_IGNORE);
    }
}

/* All threads take from one stream of messages of any size: each message once. */
static atomic_int taken;
static atomic_llong sum;

static void probe(int thread)
{
    int right = (rank + 1) % size, total = THREADS * ROUNDS;
    int *data = malloc(ROUNDS * sizeof(int));

    for (int i = 0; i < ROUNDS; i++) {
        int n = 1 + (i * 7 + thread) % ROUNDS;

        for (int k = 0; k < n; k++)
            data[k] = n;
        MPI_Send(data, n, MPI_INT, right, 500, MPI_COMM_WORLD);
    }
    while (atomic_fetch_add(&taken, 1) < total) {
        MPI_Message message;
        MPI_Status status;
        int n;

        MPI_Mprobe(MPI_ANY_SOURCE, 500, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK(n >= 1 && n <= ROUNDS);
        MPI_Mrecv(data, n, MPI_INT, &message, MPI_STATUS_IGNORE);
        for (int k = 0; k < n; k++)
            CHECK(data[k] == n);
        atomic_fetch_add(&sum, n);
    }
    free(data);
}

static void probe_all(void)
{
    long long expected = 0;

    atomic_store(&taken, 0);
    atomic_store(&sum, 0);
    run(probe);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < ROUNDS; i++)
            expected += 1 + (i * 7 + t) % ROUNDS;
    CHECK(atomic_load(&sum) == expected);
}

static void collectives(int thread)
{
    MPI_Comm comm = comms[thread];
    MPI_Request request;

    for (int i = 0; i < ROUNDS / 2; i++) {
        int mine = rank + thread + i, all = -1, root = (thread + i) % size, value = mine;
        int *gathered = malloc((size_t)size * sizeof(int));

        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
        CHECK(all == size * (size - 1) / 2 + size * (thread + i));
        MPI_Bcast(&value, 1, MPI_INT, root, comm);
        CHECK(value == root + thread + i);
        MPI_Barrier(comm);
        MPI_Iallgather(&mine, 1, MPI_INT, gathered, 1, MPI_INT, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int r = 0; r < size; r++)
            CHECK(gathered[r] == r + thread + i);
        free(gathered);
    }
}

static void communicators(int thread)
{
    for (int i = 0; i < 5; i++) {
        MPI_Comm half, copy;
        int all = 0, mine = rank, members, sum_here = 0;

        MPI_Comm_split(comms[thread], rank % 2, rank, &half);
        MPI_Comm_dup(half, &copy);
        MPI_Comm_size(copy, &members);
        CHECK(members == (size + 1 - rank % 2) / 2);
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, copy);
        for (int r = rank % 2; r < size; r += 2)
            sum_here += r;
        CHECK(all == sum_here);
        MPI_Comm_free(&half);
        MPI_Comm_free(&copy);
    }
}

/* Thread t starts what thread t + 1 completes. */
static MPI_Request given[THREADS];
static int landed[THREADS];
static pthread_barrier_t meeting;

static void handover(int thread)
{
    int next = (thread + 1) % THREADS, right = (rank + 1) % size;

    for (int i = 0; i < ROUNDS / 5; i++) {
        int mine = rank + thread;

        MPI_Irecv(&landed[thread], 1, MPI_INT, MPI_ANY_SOURCE, 900 + thread, MPI_COMM_WORLD,
                  &given[thread]);
        pthread_barrier_wait(&meeting);
        MPI_Send(&mine, 1, MPI_INT, right, 900 + thread, MPI_COMM_WORLD);
        MPI_Wait(&given[next], MPI_STATUS_IGNORE);
        CHECK(given[next] == MPI_REQUEST_NULL);
        CHECK(landed[next] == (rank + size - 1) % size + next);
        pthread_barrier_wait(&meeting);
    }
}

static void levels(int provided)
{
    int level, flag;

    MPI_Query_thread(&level);
    CHECK(level == provided);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
}

static void *other_thread(void *level)
{
    int flag = 1, found;

    MPI_Is_thread_main(&flag);
    CHECK(!flag);
    MPI_Query_thread(&found);
    CHECK(found == *(int *)level);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Comm_rank(MPI_COMM_WORLD, &found);
    CHECK(found == rank);
    return NULL;
}

static int is_wanted(int argc, char **argv, const char *name)
{
    return argc < 2 || strcmp(argv[1], name) == 0;
}

/* Each thread has a session of its own, as a library that it calls would. */
static void sessions(int thread)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    MPI_Comm comm;
    char level[32], tag[32];
    int flag, mine = rank + thread, total;

    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Session_get_info(session, &info);
    MPI_Info_get(info, "thread_level", 31, level, &flag);
    CHECK(flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    snprintf(tag, sizeof tag, "thread %d", thread);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, comm);
    CHECK(total == size * (size - 1) / 2 + size * thread);
    MPI_Comm_free(&comm);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    levels(provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    CHECK(pthread_create(&thread, NULL, other_thread, &provided) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    pthread_barrier_init(&meeting, NULL, THREADS);
    if (is_wanted(argc, argv, "pingpong"))
        run(pingpong);
    if (is_wanted(argc, argv, "waitany"))
        run(waitany);
    if (is_wanted(argc, argv, "probe"))
        probe_all();
    if (is_wanted(argc, argv, "collectives"))
        run(collectives);
    if (is_wanted(argc, argv, "communicators"))
        run(communicators);
    if (is_wanted(argc, argv, "handover"))
        run(handover);
    if (is_wanted(argc, argv, "sessions"))
        run(sessions);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("passed\n");
    MPI_Finalize();
    return 0;
}
