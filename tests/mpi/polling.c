/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that poll keep nothing from moving that they wait for: every way of polling, while other
 * ranks of the same core wait in MPI for a collective, for a message, or for a rank that polls as
 * well.
 *
 *   polling [WAY]
 */
#include "check.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 7 };

typedef struct {
    int rank, size;
    MPI_Comm half; /* every second rank */
} place_t;

/* ---- Ways to wait for a message from rank 0: each returns when it is there ---- */

static void by_iprobe(void)
{
    int flag = 0;

    while (!flag)
        MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_improbe(void)
{
    MPI_Message message;
    int flag = 0;

    while (!flag)
        MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void by_test(void)
{
    MPI_Request request;
    int flag = 0;

    MPI_Irecv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void by_testany(void)
{
    MPI_Request request;
    int flag = 0, index;

    MPI_Irecv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE);
}

static void by_testsome(void)
{
    MPI_Request request;
    int done = 0, index;

    MPI_Irecv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    while (done == 0)
        MPI_Testsome(1, &request, &done, &index, MPI_STATUSES_IGNORE);
}

static void by_testall(void)
{
    MPI_Request request;
    int flag = 0;

    MPI_Irecv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
}

static void by_get_status(void)
{
    MPI_Request request;
    int flag = 0;

    MPI_Irecv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* With something between the looks that is not MPI. */
static void by_sched_yield(void)
{
    int flag = 0;

    while (!flag) {
        for (int i = 0; i < 10; i++)
            sched_yield();
        MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ThreadSanitizer's own nanosleep stands before the one that lets other ranks run, and overlooks
 * what they do meanwhile. */
static void pause_shortly(void)
{
#ifdef __SANITIZE_THREAD__
    sched_yield();
#else
    nanosleep(&(struct timespec){0, 1000}, NULL);
#endif
}

static void by_nanosleep(void)
{
    int flag = 0;

    while (!flag) {
        pause_shortly();
        MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Blocking calls progress what was started before as well. */
static void by_probe(void)
{
    MPI_Probe(0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Two ranks that send each other messages are always ready. */
static void by_ping_pong(const place_t *p)
{
    enum { BALL = 8 };
    int partner = p->rank ^ 1, flag = 0, out, in = 0;

    if (partner == 0 || partner >= p->size) {
        by_iprobe();
        return;
    }
    while (!in) {
        if (!flag)
            MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        out = flag;
        MPI_Sendrecv(&out, 1, MPI_INT, partner, BALL, &in, 1, MPI_INT, partner, BALL,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        in = in && out;
    }
    MPI_Recv(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

typedef struct {
    const char *name;
    void (*wait)(void); /* NULL: ping-pong */
} way_t;

static const way_t ways[] = {{"iprobe", by_iprobe},
                             {"improbe", by_improbe},
                             {"test", by_test},
                             {"testany", by_testany},
                             {"testsome", by_testsome},
                             {"testall", by_testall},
                             {"get_status", by_get_status},
                             {"sched_yield", by_sched_yield},
                             {"nanosleep", by_nanosleep},
                             {"probe", by_probe},
                             {"ping_pong", NULL}};

static void wait_for_message(const place_t *p, const way_t *way)
{
    if (way->wait != NULL)
        way->wait();
    else
        by_ping_pong(p);
}

/* ---- What the ranks that do not poll are in meanwhile ---- */

/* Two collectives, of which the later one is waited for first. Half of the ranks poll after that,
 * the others still wait; rank 0 waits for both before it sends the message. */
static void reverse_order(const place_t *p, const way_t *way)
{
    MPI_Request requests[2];
    int one = 1, sums[2] = {0, 0}, half_size;

    MPI_Comm_size(p->half, &half_size);
    MPI_Iallreduce(&one, &sums[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&one, &sums[1], 1, MPI_INT, MPI_SUM, p->half, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK_EQUAL(sums[0], p->size);
    CHECK_EQUAL(sums[1], half_size);
    if (p->rank == 0)
        for (int r = 1; r < p->size; r++)
            MPI_Send(NULL, 0, MPI_INT, r, TAG, MPI_COMM_WORLD);
    else
        wait_for_message(p, way);
}

/* The collective is not waited for by those who poll: only polling can carry it on. */
static void started_before(const place_t *p, const way_t *way)
{
    MPI_Request request;
    int value = p->rank == p->size - 1 ? 42 : 0;

    MPI_Ibcast(&value, 1, MPI_INT, p->size - 1, MPI_COMM_WORLD, &request);
    if (p->rank == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int r = 1; r < p->size; r++)
            MPI_Send(NULL, 0, MPI_INT, r, TAG, MPI_COMM_WORLD);
    } else {
        wait_for_message(p, way);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK_EQUAL(value, 42);
}

/* Everyone tests one broadcast. */
static void test_loop(const place_t *p)
{
    MPI_Request request;
    int value = p->rank == 0 ? 43 : 0, flag = 0;

    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, 43);
}

int main(int argc, char **argv)
{
    place_t p;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.size);
    MPI_Comm_split(MPI_COMM_WORLD, p.rank % 2, p.rank, &p.half);
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
        if (argc < 2 || strcmp(argv[1], ways[w].name) == 0)
            for (int round = 0; round < 3; round++) {
                reverse_order(&p, &ways[w]);
                started_before(&p, &ways[w]);
                test_loop(&p);
            }
    MPI_Comm_free(&p.half);
    MPI_Finalize();
    return 0;
}
