/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random traffic: everybody sends to anybody, in every mode, of every size, and receives in a way
 * of its own: receives posted before or after, with and without wildcards, probed, matched, tested.
 * Every rank knows the list of all messages of a round, so that content, source, tag, length and
 * the order of messages between two ranks can be checked.
 *
 *   traffic [ROUNDS [SEED]]
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { TAGS = 3, LARGEST = 100000, PER_RANK = 5 };

typedef struct {
    int from, to, tag, bytes;
    int order; /* how many went before from the same rank to the same rank with the same tag */
} message_t;

typedef struct {
    char *buffer;
    MPI_Request request;
} receive_t;

static int rank, size, messages;
static message_t *list;
static int *taken;    /* [size * TAGS]: how many messages were received from a rank with a tag */
static unsigned mine; /* random numbers of this rank alone */
static MPI_Comm comm;

static int random_bytes(unsigned *state)
{
    static const int limits[] = {1, 9, 100, 5000, 20000, LARGEST};

    return (int)(next_random(state) % (unsigned)limits[next_random(state) % 6]);
}

static void make_list(unsigned seed)
{
    int *sent = calloc((size_t)size * (size_t)size * TAGS, sizeof(int));

    CHECK(sent != NULL);
    for (int m = 0; m < messages; m++) {
        message_t *msg = &list[m];

        msg->from = (int)(next_random(&seed) % (unsigned)size);
        msg->to = (int)(next_random(&seed) % (unsigned)size);
        msg->tag = (int)(next_random(&seed) % TAGS);
        msg->bytes = random_bytes(&seed);
        msg->order = sent[(msg->from * size + msg->to) * TAGS + msg->tag]++;
    }
    free(sent);
}

static char content(const message_t *m, int i)
{
    return (char)(m->from * 31 + m->to * 17 + m->tag * 7 + m->order * 3 + i);
}

/* Message number `order` from a rank with a tag to this one. */
static const message_t *find(int from, int tag, int order)
{
    for (int m = 0; m < messages; m++)
        if (list[m].from == from && list[m].to == rank && list[m].tag == tag &&
            list[m].order == order)
            return &list[m];
    return NULL;
}

/* The message with this status must be the next of its kind. */
static void check_received(const char *buffer, const MPI_Status *status)
{
    int *order = &taken[status->MPI_SOURCE * TAGS + status->MPI_TAG], bytes;
    const message_t *m = find(status->MPI_SOURCE, status->MPI_TAG, (*order)++);

    CHECK(m != NULL);
    MPI_Get_count(status, MPI_BYTE, &bytes);
    CHECK_EQUAL(bytes, m->bytes);
    for (int i = 0; i < bytes; i += i < 64 ? 1 : 61)
        CHECK_EQUAL(buffer[i], content(m, i));
}

/* Sending: as bytes in a row, or as blocks of three with gaps of two. */
typedef struct {
    char *buffer;
    MPI_Request request;
    MPI_Datatype type;
    int is_persistent;
} send_t;

static void fill_send(const message_t *m, send_t *s)
{
    int has_gaps = m->bytes % 3 == 0 && next_random(&mine) % 2;

    s->buffer = malloc((size_t)m->bytes * 5 / 3 + 5);
    CHECK(s->buffer != NULL);
    if (has_gaps)
        MPI_Type_vector(m->bytes / 3, 3, 5, MPI_BYTE, &s->type);
    else
        MPI_Type_contiguous(m->bytes, MPI_BYTE, &s->type);
    MPI_Type_commit(&s->type);
    for (int i = 0; i < m->bytes; i++)
        s->buffer[has_gaps ? i / 3 * 5 + i % 3 : i] = content(m, i);
}

static void start_send(const message_t *m, send_t *s)
{
    int mode = (int)(next_random(&mine) % 5);

    fill_send(m, s);
    s->is_persistent = mode >= 3;
    if (mode == 0)
        MPI_Isend(s->buffer, 1, s->type, m->to, m->tag, comm, &s->request);
    else if (mode == 1)
        MPI_Issend(s->buffer, 1, s->type, m->to, m->tag, comm, &s->request);
    else if (mode == 2)
        MPI_Ibsend(s->buffer, 1, s->type, m->to, m->tag, comm, &s->request);
    else if (mode == 3)
        MPI_Send_init(s->buffer, 1, s->type, m->to, m->tag, comm, &s->request);
    else
        MPI_Ssend_init(s->buffer, 1, s->type, m->to, m->tag, comm, &s->request);
    if (s->is_persistent)
        MPI_Start(&s->request);
}

static int start_sends(send_t *sends)
{
    int n = 0;

    for (int m = 0; m < messages; m++)
        if (list[m].from == rank)
            start_send(&list[m], &sends[n++]);
    return n;
}

static void finish_sends(send_t *sends, int n)
{
    for (int i = 0; i < n; i++) {
        if (next_random(&mine) % 2) {
            MPI_Wait(&sends[i].request, MPI_STATUS_IGNORE);
        } else {
            int flag = 0;

            while (!flag)
                MPI_Test(&sends[i].request, &flag, MPI_STATUS_IGNORE);
        }
        if (sends[i].is_persistent)
            MPI_Request_free(&sends[i].request);
        CHECK(sends[i].request == MPI_REQUEST_NULL);
        MPI_Type_free(&sends[i].type);
        free(sends[i].buffer);
    }
}

/* Complete n requests in one of the ways there are, each with its own status. */
static void complete(MPI_Request *requests, MPI_Status *statuses, int n)
{
    int way = (int)(next_random(&mine) % 5), left = n, some, flag = 0, index;
    int *indices = malloc(((size_t)n + 1) * sizeof(int));
    MPI_Status *part = malloc(((size_t)n + 1) * sizeof(MPI_Status));

    while (left > 0 && way > 0) {
        if (way == 1 || way == 2) {
            (way == 1 ? MPI_Waitsome : MPI_Testsome)(n, requests, &some, indices, part);
            for (int i = 0; i < some; i++)
                statuses[indices[i]] = part[i];
            left -= some;
        } else if (way == 3) {
            MPI_Waitany(n, requests, &index, part);
            statuses[index] = part[0];
            left--;
        } else {
            MPI_Testall(n, requests, &flag, statuses);
            left = flag ? 0 : left;
        }
    }
    if (way == 0)
        MPI_Waitall(n, requests, statuses);
    for (int i = 0; i < n; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
    free(indices);
    free(part);
}

static int post_receives(receive_t *receives, int is_wild)
{
    int n = 0;

    for (int m = 0; m < messages; m++) {
        receive_t *r = &receives[n];

        if (list[m].to != rank)
            continue;
        r->buffer = malloc(is_wild ? LARGEST : (size_t)list[m].bytes + 1);
        CHECK(r->buffer != NULL);
        if (is_wild)
            MPI_Irecv(r->buffer, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r->request);
        else
            MPI_Irecv(r->buffer, list[m].bytes, MPI_BYTE, list[m].from, list[m].tag, comm,
                      &r->request);
        n++;
    }
    return n;
}

/* Receives that were posted in order were matched in order, whatever order they ended in. */
static void finish_receives(receive_t *receives, int n)
{
    MPI_Request *requests = malloc(((size_t)n + 1) * sizeof(MPI_Request));
    MPI_Status *statuses = malloc(((size_t)n + 1) * sizeof(MPI_Status));

    for (int i = 0; i < n; i++)
        requests[i] = receives[i].request;
    complete(requests, statuses, n);
    for (int i = 0; i < n; i++) {
        check_received(receives[i].buffer, &statuses[i]);
        free(receives[i].buffer);
    }
    free(requests);
    free(statuses);
}

static void receive_probed(char *buffer)
{
    MPI_Status status, received;
    int bytes;

    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Recv(buffer, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &received);
    check_received(buffer, &received);
}

static void receive_matched(char *buffer, int polls)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    int bytes, flag = 0;

    while (polls && !flag)
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
    if (!polls)
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (next_random(&mine) % 2) {
        MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, &status);
    } else {
        MPI_Imrecv(buffer, bytes, MPI_BYTE, &message, &request);
        MPI_Wait(&request, &status);
    }
    check_received(buffer, &status);
}

static void receive_one_by_one(int way)
{
    char *buffer = malloc(LARGEST);

    CHECK(buffer != NULL);
    for (int m = 0; m < messages; m++) {
        if (list[m].to != rank)
            continue;
        if (way == 0)
            receive_probed(buffer);
        else
            receive_matched(buffer, way == 1);
    }
    free(buffer);
}

static void run_round(send_t *sends, receive_t *receives)
{
    int way = (int)(next_random(&mine) % 7), n_sends, n = 0;

    memset(taken, 0, (size_t)size * TAGS * sizeof(int));
    if (way < 2)
        n = post_receives(receives, way);
    n_sends = start_sends(sends);
    if (way == 2 || way == 3)
        n = post_receives(receives, way - 2);
    if (way < 4)
        finish_receives(receives, n);
    else
        receive_one_by_one(way - 4);
    finish_sends(sends, n_sends);
    MPI_Barrier(comm); /* a wildcard must not meet a message of the next round */
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 12, bytes;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    send_t *sends;
    receive_t *receives;
    void *buffer;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mine = seed * 977 + (unsigned)rank * 131;
    messages = PER_RANK * size;
    list = malloc((size_t)messages * sizeof(message_t));
    taken = malloc((size_t)size * TAGS * sizeof(int));
    sends = malloc((size_t)messages * sizeof(send_t));
    receives = malloc((size_t)messages * sizeof(receive_t));
    bytes = 60 * (LARGEST + MPI_BSEND_OVERHEAD);
    buffer = malloc((size_t)bytes);
    CHECK(list && taken && sends && receives && buffer);
    MPI_Buffer_attach(buffer, bytes);
    for (int round = 0; round < rounds; round++) {
        make_list(seed + (unsigned)round * 7919);
        run_round(sends, receives);
    }
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
    free(list);
    free(taken);
    free(sends);
    free(receives);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
