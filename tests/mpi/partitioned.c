/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication. Random pairs of requests: both sides divide the same amount in ways of
 * their own, with types of their own, and mark partitions in random order, round after round; what
 * arrives is checked partition by partition as it is said to be there. And: pairs match in the
 * order of their init calls, apart from messages; a partition arrives without the others; threads
 * mark partitions at once; MPI_PROC_NULL, self, intercommunicators, requests that were never
 * started; and what is refused.
 */
#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = XYLEM_SANITIZED ? 6 : 16, ROUNDS = 3, THREADS = 4, MOST = 48 };

/* ---- Random pairs ---- */

/* One side of a pair: `partitions` of `count` elements, each of `ints` ints and then `gap` ints
 * that are left alone. */
typedef struct {
    int partitions, count, ints, gap, peer, tag;
    int *buffer;
    int *order; /* of partitions */
    bool *seen;
    MPI_Datatype type;
    MPI_Request request;
} side_t;

/* The ways to write `units` as partitions * count * ints; the same on all ranks. */
static void divide(side_t *s, int units, unsigned *state)
{
    int parts, rest;

    do
        parts = 1 + (int)(next_random(state) % (unsigned)units);
    while (units % parts != 0);
    rest = units / parts;
    do
        s->ints = 1 + (int)(next_random(state) % (unsigned)rest);
    while (rest % s->ints != 0);
    s->partitions = parts;
    s->count = rest / s->ints;
    s->gap = (int)(next_random(state) % 3);
}

static void side_init(side_t *s, int scale)
{
    int elements = s->partitions * s->count;
    MPI_Datatype ints;

    s->ints *= scale;
    s->buffer = malloc((size_t)elements * (size_t)(s->ints + s->gap) * sizeof(int) + 1);
    s->order = malloc((size_t)s->partitions * sizeof(int));
    s->seen = malloc((size_t)s->partitions * sizeof(bool));
    for (int i = 0; i < s->partitions; i++)
        s->order[i] = i;
    MPI_Type_contiguous(s->ints, MPI_INT, &ints);
    MPI_Type_create_resized(ints, 0, (MPI_Aint)(s->ints + s->gap) * (MPI_Aint)sizeof(int),
                            &s->type);
    MPI_Type_commit(&s->type);
    MPI_Type_free(&ints);
}

static void side_free(side_t *s)
{
    MPI_Request_free(&s->request);
    CHECK(s->request == MPI_REQUEST_NULL);
    MPI_Type_free(&s->type);
    free(s->buffer);
    free(s->order);
    free(s->seen);
}

/* The n-th int of the data, which has a gap behind each element. */
static int *at(const side_t *s, int n)
{
    return &s->buffer[n / s->ints * (s->ints + s->gap) + n % s->ints];
}

static int value(int pair, int round, int from, int n)
{
    return pair * 7919 + round * 104729 + from * 31 + n;
}

static void shuffle(int *list, int n, unsigned *state)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(next_random(state) % (unsigned)(i + 1)), keep = list[i];

        list[i] = list[j];
        list[j] = keep;
    }
}

/* Some by MPI_Pready, some by a list, some by a range. */
static void mark(side_t *s, int pair, int round, int me, unsigned *state)
{
    int per = s->count * s->ints, i = 0;

    shuffle(s->order, s->partitions, state);
    while (i < s->partitions) {
        int left = s->partitions - i, some = 1 + (int)(next_random(state) % (unsigned)left);
        int low = s->order[i];

        if (next_random(state) % 2 == 0)
            some = 1;
        for (int k = i; k < i + some; k++)
            for (int n = s->order[k] * per; n < (s->order[k] + 1) * per; n++)
                *at(s, n) = value(pair, round, me, n);
        if (some > 1)
            MPI_Pready_list(some, s->order + i, s->request);
        else if (next_random(state) % 2 == 0)
            MPI_Pready_range(low, low, s->request);
        else
            MPI_Pready(low, s->request);
        i += some;
    }
}

/* A partition that is said to be there is there, and stays. */
static int look(side_t *s, int pair, int round)
{
    int per = s->count * s->ints, seen = 0, flag;

    for (int i = 0; i < s->partitions; i++) {
        MPI_Parrived(s->request, i, &flag);
        CHECK(flag || !s->seen[i]);
        s->seen[i] = flag;
        seen += flag;
        for (int n = i * per; flag && n < (i + 1) * per; n++)
            CHECK_EQUAL(*at(s, n), value(pair, round, s->peer, n));
    }
    return seen;
}

static void run_round(side_t *sends, side_t *receives, int round, int me, unsigned *state)
{
    MPI_Request all[2 * PAIRS];
    MPI_Status statuses[2 * PAIRS];
    int bytes;

    for (int p = 0; p < PAIRS; p++) {
        side_t *r = &receives[p];
        size_t ints = (size_t)(r->partitions * r->count) * (size_t)(r->ints + r->gap);

        for (size_t i = 0; i < ints; i++)
            r->buffer[i] = -1;
        memset(r->seen, 0, (size_t)r->partitions * sizeof(bool));
        all[p] = sends[p].request;
        all[PAIRS + p] = r->request;
    }
    if (next_random(state) % 2 == 0) {
        MPI_Startall(2 * PAIRS, all);
    } else {
        for (int i = 2 * PAIRS - 1; i >= 0; i--)
            MPI_Start(&all[i]);
    }
    for (int p = 0; p < PAIRS; p++) {
        mark(&sends[p], p, round, me, state);
        look(&receives[(p * 5 + 3) % PAIRS], (p * 5 + 3) % PAIRS, round);
    }
    if (next_random(state) % 2 == 0)
        for (int p = 0; p < PAIRS; p++)
            while (look(&receives[p], p, round) < receives[p].partitions)
                ;
    MPI_Waitall(2 * PAIRS, all, statuses);
    for (int p = 0; p < PAIRS; p++) {
        side_t *r = &receives[p];

        CHECK(all[p] == sends[p].request && all[PAIRS + p] == r->request);
        MPI_Get_count(&statuses[PAIRS + p], MPI_BYTE, &bytes);
        CHECK_EQUAL(bytes, r->partitions * r->count * r->ints * (int)sizeof(int));
        CHECK_EQUAL(statuses[PAIRS + p].MPI_SOURCE, r->peer);
        CHECK_EQUAL(statuses[PAIRS + p].MPI_TAG, r->tag);
        CHECK_EQUAL(look(r, p, round), r->partitions); /* inactive: there */
        for (int e = 0; e < r->partitions * r->count; e++)
            for (int g = 0; g < r->gap; g++)
                CHECK_EQUAL(r->buffer[e * (r->ints + r->gap) + r->ints + g], -1);
    }
}

/* Pair p goes from each rank to the one `step` further; tags repeat, so that order matters. */
static void random_pairs(int me, int size)
{
    side_t sends[PAIRS], receives[PAIRS];
    unsigned common = 17, own = (unsigned)me + 5;

    for (int p = 0; p < PAIRS; p++) {
        static const int units[] = {1, 12, 24, 36, MOST};
        int step = (int)(next_random(&common) % (unsigned)size);
        int n = units[next_random(&common) % 5];
        int scale = next_random(&common) % 4 == 0 ? 2000 : 1;
        side_t *s = &sends[p], *r = &receives[p];

        divide(s, n, &common);
        divide(r, n, &common);
        s->tag = r->tag = (int)(next_random(&common) % 2);
        s->peer = (me + step) % size;
        r->peer = (me + size - step) % size;
        side_init(s, scale);
        side_init(r, scale);
        if (next_random(&own) % 2 == 0) {
            MPI_Psend_init(s->buffer, s->partitions, s->count, s->type, s->peer, s->tag,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &s->request);
            MPI_Precv_init(r->buffer, r->partitions, r->count, r->type, r->peer, r->tag,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &r->request);
        } else {
            MPI_Precv_init(r->buffer, r->partitions, r->count, r->type, r->peer, r->tag,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &r->request);
            MPI_Psend_init(s->buffer, s->partitions, s->count, s->type, s->peer, s->tag,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &s->request);
        }
    }
    for (int round = 0; round < ROUNDS; round++)
        run_round(sends, receives, round, me, &own);
    for (int p = 0; p < PAIRS; p++) {
        side_free(&sends[p]);
        side_free(&receives[p]);
    }
}

/* ---- Order, and messages beside ---- */

/* A request that is freed without a start has taken its place in the order. Messages with the same
 * tag are not touched. */
static void order(int me, int size)
{
    int right = (me + 1) % size, left = (me + size - 1) % size;
    int out[3] = {100 + me, 200 + me, 300 + me}, in[3] = {0, 0, 0}, plain = 0, flag;
    MPI_Request s[3], r[3], message;

    MPI_Isend(&me, 1, MPI_INT, right, 9, MPI_COMM_WORLD, &message);
    for (int i = 0; i < 3; i++) {
        MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &s[i]);
        MPI_Precv_init(&in[i], 1, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]);
    }
    MPI_Request_free(&s[0]);
    MPI_Request_free(&r[0]);
    MPI_Start(&r[2]);
    MPI_Start(&r[1]);
    MPI_Start(&s[1]);
    MPI_Pready(0, s[1]);
    MPI_Start(&s[2]);
    MPI_Pready(0, s[2]);
    MPI_Waitall(2, &r[1], MPI_STATUSES_IGNORE);
    MPI_Waitall(2, &s[1], MPI_STATUSES_IGNORE);
    CHECK(in[0] == 0 && in[1] == 200 + left && in[2] == 300 + left);
    MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(&plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(plain == left);
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    for (int i = 1; i < 3; i++) {
        MPI_Request_free(&s[i]);
        MPI_Request_free(&r[i]);
    }
}

/* No other rank takes part: a few calls of MPI_Parrived find all that is marked. */
static int arrives(MPI_Request request, int partition)
{
    int flag = 0;

    for (int i = 0; i < 1000 && !flag; i++)
        MPI_Parrived(request, partition, &flag);
    return flag;
}

/* A rank that sends to itself sees a partition when it has marked it, and not before. */
static void to_itself(int me)
{
    enum { PARTS = 3 };
    static const int order[PARTS] = {1, 0, 2};
    int out[PARTS] = {0}, in[PARTS], flag;
    MPI_Request s, r;

    MPI_Psend_init(out, PARTS, 1, MPI_INT, me, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(in, PARTS, 1, MPI_INT, me, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < PARTS; i++)
            out[i] = 10 * round + i;
        MPI_Start(&r);
        MPI_Start(&s);
        for (int marked = 0; marked <= PARTS; marked++) {
            for (int k = 0; k < PARTS; k++) {
                CHECK_EQUAL(arrives(r, order[k]), k < marked);
                CHECK(k >= marked || in[order[k]] == out[order[k]]);
            }
            if (marked < PARTS)
                MPI_Pready(order[marked], s);
        }
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Parrived(r, 0, &flag); /* it is not active */
        CHECK(flag);
    }
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

/* Rank 0 marks partition 1 of 3 only, and the others when rank 1 has seen that one. */
static void alone(int me, int size)
{
    enum { PARTS = 3, N = 5000 };
    int *data = calloc(PARTS * N, sizeof(int)), flag = 0, other;
    MPI_Request request;

    if (size > 1 && me == 0) {
        for (int i = 0; i < PARTS * N; i++)
            data[i] = i;
        MPI_Psend_init(data, PARTS, N, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(1, request);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Pready(2, request);
        MPI_Pready(0, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (me == 1) {
        MPI_Precv_init(data, PARTS, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        while (!flag)
            MPI_Parrived(request, 1, &flag);
        for (int i = N; i < 2 * N; i++)
            CHECK_EQUAL(data[i], i);
        MPI_Parrived(request, 0, &flag);
        MPI_Parrived(request, 2, &other);
        CHECK(!flag && !other);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < PARTS * N; i++)
            CHECK_EQUAL(data[i], i);
        MPI_Request_free(&request);
    }
    free(data);
}

static void null_and_empty(int me)
{
    int data[4] = {1, 2, 3, 4}, flag = 0;
    MPI_Request s, r;
    MPI_Status status;

    MPI_Psend_init(data, 2, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(data, 2, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&s);
        MPI_Start(&r);
        MPI_Pready(1, s);
        MPI_Parrived(r, 1, &flag);
        CHECK(flag);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        MPI_Wait(&r, &status);
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    }
    MPI_Request_free(&s);
    MPI_Request_free(&r);
    /* No data, and no partitions, to oneself. */
    for (int n = 0; n < 3; n += 2) {
        MPI_Psend_init(NULL, n, 0, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
        MPI_Precv_init(NULL, 3, 0, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        MPI_Start(&r);
        MPI_Start(&s);
        if (n > 0)
            MPI_Pready_range(0, n - 1, s);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Request_free(&s);
        MPI_Request_free(&r);
    }
    MPI_Parrived(MPI_REQUEST_NULL, 0, &flag);
    CHECK(flag);
}

/* Less than the receive has room for: `ints` of the receiver's type make one element. */
static void shorter(int me, int size, int ints)
{
    enum { SENT = 12, ROOM = 24 };
    int out[SENT], in[ROOM], count, flag, parts = ROOM / ints;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Datatype type;

    MPI_Type_contiguous(ints, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Psend_init(out, 3, SENT / 3, MPI_INT, (me + 1) % size, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Precv_init(in, parts, 1, type, (me + size - 1) % size, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SENT; i++)
            out[i] = round * SENT + i;
        memset(in, -1, sizeof in);
        MPI_Startall(2, requests);
        MPI_Pready_range(0, 2, requests[0]);
        for (int i = parts - 1; i >= 0; i--)
            do
                MPI_Parrived(requests[1], i, &flag);
            while (!flag);
        MPI_Waitall(2, requests, statuses);
        MPI_Get_count(&statuses[1], MPI_INT, &count);
        CHECK_EQUAL(count, SENT);
        for (int i = 0; i < ROOM; i++)
            CHECK_EQUAL(in[i], i < SENT ? round * SENT + i : -1);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&type);
}

static void between_groups(int me, int size)
{
    MPI_Comm half, inter;
    MPI_Request s, r;
    int out = me, in = -1, peers, mine, peer;

    if (size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 4, &inter);
    MPI_Comm_remote_size(inter, &peers);
    MPI_Comm_rank(inter, &mine);
    peer = mine < peers ? mine : MPI_PROC_NULL;
    MPI_Psend_init(&out, 1, 1, MPI_INT, peer, 0, inter, MPI_INFO_NULL, &s);
    MPI_Precv_init(&in, 1, 1, MPI_INT, peer, 0, inter, MPI_INFO_NULL, &r);
    MPI_Start(&s);
    MPI_Start(&r);
    MPI_Pready(0, s);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    CHECK(in == (peer == MPI_PROC_NULL ? -1 : me ^ 1));
    MPI_Comm_free(&inter); /* the requests hold it */
    MPI_Request_free(&s);
    MPI_Request_free(&r);
    MPI_Comm_free(&half);
}

/* ---- What is refused ---- */

#define REFUSED(call, expected)                                                                    \
    do {                                                                                           \
        int error_class;                                                                           \
        MPI_Error_class(call, &error_class);                                                       \
        CHECK_EQUAL(error_class, expected);                                                        \
    } while (0)

static void refused(int me, int size)
{
    int data[8] = {0}, right = (me + 1) % size, left = (me + size - 1) % size, flag;
    MPI_Request s, r, plain;
    MPI_Info none = MPI_INFO_NULL;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    REFUSED(MPI_Precv_init(data, 2, 2, MPI_INT, MPI_ANY_SOURCE, 0, comm, none, &r), MPI_ERR_RANK);
    REFUSED(MPI_Precv_init(data, 2, 2, MPI_INT, left, MPI_ANY_TAG, comm, none, &r), MPI_ERR_TAG);
    REFUSED(MPI_Psend_init(data, 2, 2, MPI_INT, size, 0, comm, none, &s), MPI_ERR_RANK);
    REFUSED(MPI_Psend_init(data, -1, 2, MPI_INT, right, 0, comm, none, &s), MPI_ERR_ARG);
    REFUSED(MPI_Psend_init(data, 2, -2, MPI_INT, right, 0, comm, none, &s), MPI_ERR_COUNT);
    REFUSED(MPI_Psend_init(data, 1 << 30, (MPI_Count)1 << 40, MPI_INT, right, 0, comm, none, &s),
            MPI_ERR_COUNT);
    MPI_Psend_init(data, 4, 1, MPI_INT, right, 0, comm, none, &s);
    MPI_Precv_init(data + 4, 2, 2, MPI_INT, left, 0, comm, none, &r);
    REFUSED(MPI_Pready(0, s), MPI_ERR_REQUEST); /* not started */
    REFUSED(MPI_Pready(0, r), MPI_ERR_REQUEST);
    REFUSED(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    REFUSED(MPI_Parrived(s, 0, &flag), MPI_ERR_REQUEST);
    MPI_Startall(1, &s);
    MPI_Start(&r);
    REFUSED(MPI_Start(&s), MPI_ERR_REQUEST);
    REFUSED(MPI_Pready(4, s), MPI_ERR_ARG);
    REFUSED(MPI_Pready(-1, s), MPI_ERR_ARG);
    REFUSED(MPI_Pready_range(2, 1, s), MPI_ERR_ARG);
    REFUSED(MPI_Pready_range(2, 4, s), MPI_ERR_ARG);
    REFUSED(MPI_Pready_list(2, (int[]){0, 7}, s), MPI_ERR_ARG); /* and 0 was not marked */
    REFUSED(MPI_Parrived(r, 2, &flag), MPI_ERR_ARG);
    MPI_Pready_range(0, 2, s);
    REFUSED(MPI_Pready(1, s), MPI_ERR_ARG); /* twice */
    REFUSED(MPI_Request_free(&s), MPI_ERR_REQUEST);
    REFUSED(MPI_Request_free(&r), MPI_ERR_REQUEST);
    REFUSED(MPI_Cancel(&r), MPI_ERR_REQUEST);
    MPI_Barrier(comm); /* until here no receive is complete */
    MPI_Pready(3, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Irecv(data, 1, MPI_INT, left, 3, comm, &plain);
    REFUSED(MPI_Pready(0, plain), MPI_ERR_REQUEST);
    REFUSED(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
    MPI_Cancel(&plain);
    MPI_Wait(&plain, MPI_STATUS_IGNORE);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
    /* Amounts that differ: the receive fails, the send goes on. */
    MPI_Psend_init(data, 4, 1, MPI_INT, right, 0, comm, none, &s);
    MPI_Precv_init(data + 4, 3, 1, MPI_INT, left, 0, comm, none, &r);
    MPI_Start(&s);
    MPI_Start(&r);
    MPI_Pready_range(0, 3, s);
    REFUSED(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* ---- Threads ---- */

typedef struct {
    MPI_Request *send;
    long *data;
    int thread, parts, per, round;
} work_t;

static void *work(void *argument)
{
    const work_t *w = argument;

    for (int i = w->thread; i < w->parts; i += THREADS) {
        for (int n = i * w->per; n < (i + 1) * w->per; n++)
            w->data[n] = w->round * 1000L + n;
        MPI_Pready(i, *w->send);
    }
    return NULL;
}

static void threads(int me, int size)
{
    enum { PARTS = 24, PER = 40 };
    int right = (me + 1) % size, left = (me + size - 1) % size;
    long out[PARTS * PER] = {0}, in[PARTS * PER];
    pthread_t thread[THREADS];
    work_t w[THREADS];
    MPI_Request s, r;

    MPI_Psend_init(out, PARTS, PER, MPI_LONG, right, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(in, PARTS / 4, PER * 4, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Start(&r);
        MPI_Start(&s);
        for (int t = 0; t < THREADS; t++) {
            w[t] = (work_t){&s, out, t, PARTS, PER, round};
            pthread_create(&thread[t], NULL, work, &w[t]);
        }
        MPI_Wait(&s, MPI_STATUS_IGNORE); /* also while they mark */
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        for (int t = 0; t < THREADS; t++)
            pthread_join(thread[t], NULL);
        for (int n = 0; n < PARTS * PER; n++)
            CHECK_EQUAL(in[n], round * 1000L + n);
    }
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, level, me, size;

    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    random_pairs(me, size);
    order(me, size);
    to_itself(me);
    alone(me, size);
    null_and_empty(me);
    shorter(me, size, 2);
    shorter(me, size, 8); /* the sender's partitions are parts of elements */
    between_groups(me, size);
    refused(me, size);
    if (level == MPI_THREAD_MULTIPLE)
        threads(me, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
