/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An approximate time of an algorithm: one pass over all messages.
 *
 * Each rank has a time of its own and continues until it needs a message that is not sent yet, or
 * another one is behind. A message costs what it costs in sim/job.h between two nodes: overheads,
 * latency, its bytes on the link out of the sender and on the link into the receiver, one message
 * after the other; large ones are asked for first. What the simulator knows beyond that (large
 * messages share links fairly, links further up, ranks of one core) is left out.
 */
#include <math.h>
#include <stdlib.h>

#include "dense/dense.h"
#include "dense/dense_tree.h"

enum { EAGER = 64 << 10, TAG = 1, TAG_EXCHANGE = 2, TAG_GROUPS = 3 };

typedef struct {
    int from, to, tag, before, next;
    int next_pending; /* large, of its sender */
    bool is_large;
    double bytes;
    double at;     /* it is there; large: the question for it is */
    double ready;  /* large: the sender answers from then on; < 0: not yet */
    double shared; /* large: bytes that leave until it has left; 0: it has the link alone */
} message_t;

typedef struct {
    double now;          /* its own time */
    double out, in;      /* when its links are free for small messages, and */
    double flow, inflow; /* ... for large ones: in the simulator they do not see each other */
    int op, step;        /* of an operation that has several */
    int first, last;     /* messages to it */
    int pending;         /* large ones of its own that it does not answer for yet */
    int unsent;          /* large ones that have not left */
    double sent;         /* ... when the last has */
    double due;          /* in the heap: when it continues */
    int place;           /* ... there; -1: it is not */
} rank_t;

typedef struct {
    const dense_record_t *record;
    double o, c, b, latency, alpha;
    rank_t *ranks;
    message_t *messages;
    int count, room, free;
    int *heap, waiting; /* ranks that may continue, the earliest first */
    dense_tree_t tree;  /* the last one */
    bool failed;
} pass_t;

/* ---- Ranks that may continue ---- */

static bool is_before(const pass_t *x, int a, int b)
{
    return x->ranks[a].due < x->ranks[b].due || (x->ranks[a].due == x->ranks[b].due && a < b);
}

static void put(pass_t *x, int at, int rank)
{
    x->heap[at] = rank;
    x->ranks[rank].place = at;
}

static void sift_up(pass_t *x, int at, int rank)
{
    for (; at > 0 && is_before(x, rank, x->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(x, at, x->heap[(at - 1) / 2]);
    put(x, at, rank);
}

/* Removes the rank with the least time from the heap and returns it. */
static int take_first(pass_t *x)
{
    int first = x->heap[0], rank = x->heap[--x->waiting], at = 0;

    for (int child; (child = 2 * at + 1) < x->waiting; at = child) {
        if (child + 1 < x->waiting && is_before(x, x->heap[child + 1], x->heap[child]))
            child++;
        if (!is_before(x, x->heap[child], rank))
            break;
        put(x, at, x->heap[child]);
    }
    if (x->waiting > 0)
        put(x, at, rank);
    x->ranks[first].place = -1;
    return first;
}

/* From then on, if it is not to continue earlier. */
static void wake(pass_t *x, int rank, double due)
{
    rank_t *r = &x->ranks[rank];

    due = fmax(due, r->now);
    if (r->place >= 0 && due >= r->due)
        return;
    r->due = due;
    sift_up(x, r->place >= 0 ? r->place : x->waiting++, rank);
}

/* ---- Messages ---- */

/* Returns the index of a free message; -1 without memory. */
static int message_new(pass_t *x)
{
    int i = x->free;

    if (i >= 0) {
        x->free = x->messages[i].next;
        return i;
    }
    if (x->count == x->room) {
        int room = 2 * x->room + 256;
        message_t *more = realloc(x->messages, (size_t)room * sizeof(*more));

        if (more == NULL) {
            x->failed = true;
            return -1;
        }
        x->messages = more;
        x->room = room;
    }
    return x->count++;
}

static void append(pass_t *x, int to, int i)
{
    rank_t *r = &x->ranks[to];

    x->messages[i].next = -1;
    x->messages[i].before = r->last;
    *(r->last >= 0 ? &x->messages[r->last].next : &r->first) = i;
    r->last = i;
    wake(x, to, x->messages[i].at);
}

static void remove_from(pass_t *x, rank_t *r, int i)
{
    const message_t *m = &x->messages[i];

    *(m->before >= 0 ? &x->messages[m->before].next : &r->first) = m->next;
    *(m->next >= 0 ? &x->messages[m->next].before : &r->last) = m->before;
    x->messages[i].next = x->free;
    x->free = i;
}

/* `answers`: it is in a call that waits, and answers at once for what is large. */
static void send(pass_t *x, int from, int to, int tag, double bytes, bool answers, double shared)
{
    rank_t *r = &x->ranks[from];
    message_t *m;
    int i = message_new(x);
    double leaves;

    if (i < 0)
        return;
    m = &x->messages[i];
    *m = (message_t){.from = from,
                     .to = to,
                     .tag = tag,
                     .bytes = bytes,
                     .shared = shared,
                     .is_large = bytes > EAGER};
    r->now += x->o + (m->is_large ? 0 : bytes * x->c);
    /* It keeps both links from when it leaves: later senders wait. */
    leaves = fmax(r->now, r->out);
    r->out = m->is_large ? r->out : leaves + bytes * x->b;
    leaves = fmax(leaves, x->ranks[to].in);
    m->at = leaves + x->latency;
    if (m->is_large) {
        m->ready = answers ? r->now : -1;
        m->next_pending = r->pending;
        r->pending = answers ? r->pending : i;
        r->unsent++;
    } else {
        x->ranks[to].in = leaves + bytes * x->b;
        m->at += bytes * x->b;
    }
    append(x, to, i);
}

/* Receives a message with rendezvous: both sides meet before its data flow. */
static void take_large(pass_t *x, rank_t *r, const message_t *m)
{
    rank_t *s = &x->ranks[m->from];
    double leaves;

    r->now = fmax(r->now, m->at) + x->o;
    leaves = fmax(fmax(r->now + x->latency, m->ready) + x->o, r->inflow - x->latency);
    if (m->shared > 0)
        s->flow = fmax(s->flow, leaves + m->shared * x->b);
    else
        s->flow = fmax(leaves, s->flow) + m->bytes * x->b;
    s->sent = fmax(s->sent, s->flow);
    r->inflow = s->flow + x->latency;
    r->now = r->inflow + x->o;
    if (--s->unsent == 0)
        wake(x, m->from, s->sent);
}

/* False: it is not there, or its sender does something else. */
static bool receive(pass_t *x, int to, int from, int tag)
{
    rank_t *r = &x->ranks[to];
    int i = r->first;

    while (i >= 0 && (x->messages[i].from != from || x->messages[i].tag != tag))
        i = x->messages[i].next;
    if (i < 0 || (x->messages[i].is_large && x->messages[i].ready < 0))
        return false;
    if (x->messages[i].is_large)
        take_large(x, r, &x->messages[i]);
    else
        r->now = fmax(r->now, x->messages[i].at) + x->o + x->messages[i].bytes * x->c;
    remove_from(x, r, i);
    return true;
}

/* It waits for all that it has sent; false: some have not left. */
static bool wait(pass_t *x, int rank)
{
    rank_t *r = &x->ranks[rank];

    for (; r->pending >= 0; r->pending = x->messages[r->pending].next_pending) {
        message_t *m = &x->messages[r->pending];

        m->ready = r->now;
        wake(x, m->to, m->at);
    }
    if (r->unsent > 0)
        return false;
    r->now = fmax(r->now, r->sent);
    return true;
}

/* Whether another rank is behind: it continues first. */
static bool gives_way(pass_t *x, int rank)
{
    if (x->waiting == 0 || x->ranks[x->heap[0]].due >= x->ranks[rank].now)
        return false;
    wake(x, rank, x->ranks[rank].now);
    return true;
}

/* ---- Operations; false: the rank stops here for now ---- */

static bool exchange(pass_t *x, int rank, const dense_op_t *op)
{
    rank_t *r = &x->ranks[rank];

    if (r->step == 0) {
        send(x, rank, op->peer, TAG_EXCHANGE, (double)op->bytes, true, 0);
        r->step = 1;
    }
    if (r->step == 1 && !receive(x, rank, op->source, TAG_EXCHANGE))
        return false;
    r->step = 2;
    return wait(x, rank);
}

static const dense_tree_t *tree_of(pass_t *x, double bytes, int count)
{
    if (x->tree.bytes != bytes || x->tree.count != count)
        x->tree = dense_tree(bytes, count, x->alpha, x->b);
    return &x->tree;
}

/* Advances the broadcast of a rank; returns false if it must wait. */
static bool bcast(pass_t *x, int rank, const dense_op_t *op)
{
    const dense_group_t *g = &x->record->groups[op->group];
    rank_t *r = &x->ranks[rank];
    const dense_tree_t *tree = tree_of(x, (double)op->bytes, g->count);
    int v = ((rank - g->first) / g->stride - op->peer + g->count) % g->count;
    dense_tree_step_t s;

    for (int before = r->step; dense_tree_step(tree, v, &r->step, &s); before = r->step) {
        int peer = g->first + (s.peer + op->peer) % g->count * g->stride;

        if (s.bytes == 0)
            continue;
        if (s.is_send) {
            send(x, rank, peer, TAG_GROUPS + op->group, s.bytes, true, s.shared);
            if (gives_way(x, rank))
                return false;
        } else if (!receive(x, rank, peer, TAG_GROUPS + op->group)) {
            r->step = before;
            return false;
        }
    }
    return wait(x, rank);
}

/* Performs an operation of a rank; returns false if it must wait. */
static bool take(pass_t *x, int rank, const dense_op_t *op)
{
    switch (op->kind) {
    case DENSE_COMPUTE:
        x->ranks[rank].now += op->seconds;
        return true;
    case DENSE_SEND:
        send(x, rank, op->peer, TAG, (double)op->bytes, false, 0);
        return true;
    case DENSE_RECEIVE:
        return receive(x, rank, op->peer, TAG);
    case DENSE_WAIT:
        return wait(x, rank);
    case DENSE_EXCHANGE:
        return exchange(x, rank, op);
    default:
        return bcast(x, rank, op);
    }
}

/* As long as no other rank is behind. */
static void go_on(pass_t *x, int rank)
{
    const dense_ops_t *of = &x->record->of[rank];
    rank_t *r = &x->ranks[rank];

    while (r->op < of->count && !x->failed && take(x, rank, &of->ops[r->op])) {
        r->op++;
        r->step = 0;
        if (gives_way(x, rank))
            return;
    }
}

static double end_of(const pass_t *x)
{
    double end = 0;

    for (int r = 0; r < x->record->ranks; r++)
        end = fmax(end, x->ranks[r].now);
    return x->failed ? 0 : end;
}

double dense_pass(const dense_record_t *record, const dense_place_t *place)
{
    size_t ranks = (size_t)record->ranks;
    pass_t x = {.record = record,
                .o = place->overhead,
                .c = place->copy,
                .b = place->per_byte,
                .latency = fmax(place->latency - 2 * place->overhead, 0),
                .alpha = place->latency,
                .ranks = calloc(ranks, sizeof(*x.ranks)),
                .heap = calloc(ranks, sizeof(*x.heap)),
                .free = -1};
    double seconds = 0;

    if (x.ranks != NULL && x.heap != NULL) {
        for (int r = 0; r < record->ranks; r++) {
            rank_t *rank = &x.ranks[r];

            rank->first = rank->last = rank->pending = rank->place = -1;
            wake(&x, r, 0);
        }
        while (x.waiting > 0)
            go_on(&x, take_first(&x));
        seconds = end_of(&x) + place->begin + record->agreements * place->agree;
    }
    free(x.messages);
    free(x.heap);
    free(x.ranks);
    return seconds;
}
