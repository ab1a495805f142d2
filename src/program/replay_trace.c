/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A replay from a trace of a real run. A rank's steps are its calls, and behind each call what was
 * sent, received and started in it; its computation is in states of its row. Waits are put where
 * the recorded run shows that what is waited for had happened, so that all of them look back in
 * time:
 *
 *   what                       is waited for at the end of
 *   a receive                  the call in which it met its message; of a nonblocking call, the
 *                              next that waits or tests. It is started there; one that a wait
 *                              meets, by the first MPI_Irecv that is left
 *   a send, a nonblocking      its call, or the next one that waits or tests, whose successor came
 *   collective                 after the message was met, after all members had started
 *   a blocking collective      its call
 *
 * Sends that no such call exists for were eager, and are never waited for.
 */
#include <stdlib.h>
#include <string.h>

#include "program/replay_internal.h"

typedef struct {
    int32_t request;
    int64_t since; /* not before, ns */
} pending_t;

typedef struct {
    const xy_trace_log_t *log;
    xy_replay_t *replay;
    int64_t *met;     /* [messages + 1] when each was received */
    size_t *posts;    /* [steps] of an MPI_Irecv: the step that receives what it waits for; or 0 */
    int32_t *early;   /* [messages + 1] the request of such a receive + 1; 0: it is none */
    size_t *computed; /* states of computation, by rank, */
    size_t *first;    /* ... [procs + 1] where those of each begin */
    int32_t *comm_of; /* [steps] of collectives */
    int64_t *started; /* [steps] of collectives: when the last member did */
} reader_t;

/* One rank while it is read. */
typedef struct {
    const reader_t *r;
    xy_script_proc_t *p;
    size_t state;      /* the next of its computation */
    const char *call;  /* that it is in; NULL: none */
    uint32_t mark;     /* its step */
    xy_vec_t now;      /* of int32_t: waited for at the end of the call */
    xy_vec_t pending;  /* of pending_t */
    int64_t next_call; /* when the call behind this one began */
} rank_t;

/* ---- Which calls are what ---- */

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool only_starts(const char *name)
{
    bool is_other = begins(name, "MPI_Init") || begins(name, "MPI_Intercomm");

    return (begins(name, "MPI_I") && !is_other) || begins(name, "MPI_Start");
}

static bool completes(const char *name)
{
    return begins(name, "MPI_Wait") || begins(name, "MPI_Test") || begins(name, "MPI_Finalize");
}

/* ---- Operations ---- */

static xy_status_t add(rank_t *k, const xy_script_op_t *op, bool is_now, int64_t since)
{
    int32_t request = k->p->requests;
    xy_status_t st = xy_script_add(k->p, op);

    if (st != XY_OK)
        return st;
    if (is_now)
        return xy_vec_append(&k->now, &request);
    return xy_vec_append(&k->pending, &(pending_t){request, since});
}

/* The call is complete: what it waits for. */
static xy_status_t end_call(rank_t *k)
{
    pending_t *pending = k->pending.data;
    size_t kept = 0;
    xy_status_t st = XY_OK;

    if (k->call != NULL && completes(k->call)) {
        for (size_t i = 0; i < k->pending.count && st == XY_OK; i++)
            if (pending[i].since <= k->next_call)
                st = xy_vec_append(&k->now, &pending[i].request);
            else
                pending[kept++] = pending[i];
        k->pending.count = kept;
    }
    if (st == XY_OK)
        st = xy_script_add_wait(k->p, k->now.data, k->now.count, k->mark);
    k->now.count = 0;
    k->call = NULL;
    return st;
}

/* Add the rank's computation before `until`. */
static xy_status_t add_computation(rank_t *k, size_t last, int64_t until, size_t call)
{
    xy_script_op_t op = {.kind = XY_SCRIPT_COMPUTE, .mark = (uint32_t)call};

    for (; k->state < last; k->state++) {
        const xy_trace_state_t *s = &k->r->log->states[k->r->computed[k->state]];

        if (s->start >= until)
            break;
        op.seconds += 1e-9 * (double)(s->end - s->start);
    }
    if (!(op.seconds > 0))
        return XY_OK;
    k->r->replay->has_computation = true;
    return xy_script_add(k->p, &op);
}

/* Adds a sent or received message to the script of a rank; a receive posted early only adds its
 * request to the next wait. */
static xy_status_t add_message(rank_t *k, const xy_trace_step_t *s)
{
    bool is_sent = s->kind == XY_TRACE_STEP_SENT;
    int64_t met = k->r->met[s->message];
    bool is_later = k->call == NULL || only_starts(k->call);
    xy_script_op_t op = {.kind = is_sent ? XY_SCRIPT_SEND : XY_SCRIPT_RECEIVE,
                         .peer = (int32_t)s->peer,
                         .tag = (int32_t)s->message,
                         .mark = k->mark,
                         .bytes = s->bytes};

    if (s->message == 0) /* never received */
        return XY_OK;
    if (!is_sent && k->r->early[s->message] != 0) {
        int32_t request = k->r->early[s->message] - 1;

        return xy_vec_append(&k->now, &request);
    }
    if (is_sent && !is_later && met > k->next_call)
        is_later = true;
    return add(k, &op, !is_later, is_sent ? met : s->time);
}

/* A receive that this call starts and a later one meets. */
static xy_status_t post_early(rank_t *k, size_t call)
{
    const xy_trace_step_t *s = &k->r->log->steps[k->r->posts[call]];
    xy_script_op_t op = {.kind = XY_SCRIPT_RECEIVE,
                         .peer = (int32_t)s->peer,
                         .tag = (int32_t)s->message,
                         .mark = (uint32_t)call,
                         .bytes = s->bytes};

    if (k->r->posts[call] == 0)
        return XY_OK;
    k->r->early[s->message] = k->p->requests + 1;
    return xy_script_add(k->p, &op);
}

static bool has_blocks(xy_collective_t c)
{
    return c == XY_COLL_GATHERV || c == XY_COLL_SCATTERV || c == XY_COLL_ALLGATHERV ||
           c == XY_COLL_ALLTOALLV || c == XY_COLL_ALLTOALLW || c == XY_COLL_REDUCE_SCATTER;
}

/* Only the root knows the blocks of all; the others have their own alone. */
static bool knows_all(const xy_trace_step_t *s)
{
    bool is_rooted = s->collective == XY_COLL_GATHERV || s->collective == XY_COLL_SCATTERV;

    return !is_rooted || s->member == s->peer;
}

/* Adds a collective to the script of a rank, nonblocking if its call only starts it. */
static xy_status_t add_collective(rank_t *k, const xy_trace_step_t *s)
{
    size_t step = (size_t)(s - k->r->log->steps);
    xy_script_op_t op = {.kind = XY_SCRIPT_COLLECTIVE,
                         .peer = (int32_t)k->r->replay->script->colls.count,
                         .mark = k->mark};
    bool is_later = k->call != NULL && only_starts(k->call);
    xy_script_coll_t c = {.comm = k->r->comm_of[step],
                          .call = {.collective = (xy_collective_t)s->collective,
                                   .root = (int32_t)s->peer,
                                   .count = s->bytes,
                                   .element = s->element,
                                   .is_commutative = true,
                                   .is_nonblocking = is_later}};

    if (has_blocks(c.call.collective) && knows_all(s)) {
        c.share = s->bytes / s->members > 0 ? s->bytes / s->members : 1;
        c.call.count = 0;
    }
    if (xy_vec_append(&k->r->replay->script->colls, &c) != XY_OK)
        return XY_ENOMEM;
    return add(k, &op, !is_later, k->r->started[step]);
}

static int64_t next_call_after(const xy_trace_log_t *log, size_t step, size_t last)
{
    for (size_t i = step + 1; i < last; i++)
        if (log->steps[i].kind == XY_TRACE_STEP_CALL)
            return log->steps[i].time;
    return INT64_MAX;
}

/* Builds the script of one rank from its steps [begin, end) and the computation between them. */
static xy_status_t read_rank(const reader_t *r, uint32_t rank, size_t begin, size_t end)
{
    rank_t k = {.r = r,
                .p = &r->replay->script->proc[rank],
                .state = r->first[rank],
                .now = XY_VEC_INIT(int32_t),
                .pending = XY_VEC_INIT(pending_t),
                .next_call = INT64_MIN};
    size_t states = r->first[rank + 1];
    xy_status_t st = XY_OK;

    for (size_t i = begin; i < end && st == XY_OK; i++) {
        const xy_trace_step_t *s = &r->log->steps[i];

        if (s->kind == XY_TRACE_STEP_CALL) {
            st = end_call(&k);
            if (st == XY_OK)
                st = add_computation(&k, states, s->time, i);
            if (st == XY_OK)
                st = post_early(&k, i);
            k.call = r->log->labels[s->label];
            k.mark = (uint32_t)i;
            k.next_call = next_call_after(r->log, i, end);
        } else if (s->kind == XY_TRACE_STEP_COLLECTIVE) {
            st = add_collective(&k, s);
        } else {
            st = add_message(&k, s);
        }
    }
    if (st == XY_OK)
        st = end_call(&k);
    if (st == XY_OK)
        st = add_computation(&k, states, INT64_MAX, end - 1);
    xy_vec_cleanup(&k.now);
    xy_vec_cleanup(&k.pending);
    return st;
}

/* ---- Before ranks are read ---- */

static bool is_computation(const reader_t *r, const xy_trace_state_t *s)
{
    return r->log->kinds[s->kind].role == XY_TRACE_COMPUTE && s->id >= 0 &&
           s->id < r->replay->script->procs;
}

/* States of a rank are on one row, in the order of time. */
static xy_status_t find_computation(reader_t *r)
{
    size_t procs = (size_t)r->replay->script->procs;

    r->first = xy_calloc(procs + 2, sizeof(*r->first));
    r->computed = xy_calloc(r->log->state_count + 1, sizeof(*r->computed));
    if (r->first == NULL || r->computed == NULL)
        return XY_ENOMEM;
    for (size_t i = 0; i < r->log->state_count; i++)
        if (is_computation(r, &r->log->states[i]))
            r->first[r->log->states[i].id + 2]++;
    for (size_t p = 0; p < procs; p++)
        r->first[p + 2] += r->first[p + 1];
    for (size_t i = 0; i < r->log->state_count; i++)
        if (is_computation(r, &r->log->states[i]))
            r->computed[r->first[r->log->states[i].id + 1]++] = i;
    return XY_OK;
}

/* Match the messages that waits have received with the MPI_Irecv that started them: the first that
 * is left, of those that met nothing themselves. Receives of one wait are alike, so it does not
 * matter which is which. */
static xy_status_t find_posts(const reader_t *r)
{
    const xy_trace_log_t *log = r->log;
    xy_vec_t open = XY_VEC_INIT(size_t);
    const char *call = "";
    size_t first = 0;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < log->step_count && st == XY_OK; i++) {
        const xy_trace_step_t *s = &log->steps[i];
        bool is_post = strcmp(call, "MPI_Irecv") == 0;

        if (i == 0 || s->rank != log->steps[i - 1].rank)
            first = open.count = 0;
        if (s->kind == XY_TRACE_STEP_CALL) {
            call = log->labels[s->label];
            if (strcmp(call, "MPI_Irecv") == 0)
                st = xy_vec_append(&open, &i);
        } else if (s->kind == XY_TRACE_STEP_RECEIVED && is_post && open.count > first) {
            open.count--;
        } else if (s->kind == XY_TRACE_STEP_RECEIVED && completes(call) && s->message > 0 &&
                   open.count > first) {
            r->posts[XY_VEC_AT(&open, size_t, first)] = i;
            first++;
        }
    }
    xy_vec_cleanup(&open);
    return st;
}

static xy_status_t find_messages(reader_t *r)
{
    r->met = xy_calloc(r->log->message_count + 1, sizeof(*r->met));
    r->early = xy_calloc(r->log->message_count + 1, sizeof(*r->early));
    r->posts = xy_calloc(r->log->step_count + 1, sizeof(*r->posts));
    if (r->met == NULL || r->early == NULL || r->posts == NULL)
        return XY_ENOMEM;
    for (size_t i = 0; i < r->log->step_count; i++)
        if (r->log->steps[i].kind == XY_TRACE_STEP_RECEIVED)
            r->met[r->log->steps[i].message] = r->log->steps[i].time;
    return find_posts(r);
}

/* ---- Communicators: the steps of one collective, found by sorting ---- */

/* The n-th of a member is the n-th of all members. */
typedef struct {
    const xy_trace_step_t *step;
    size_t number;
} part_t;

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_parts(const void *a, const void *b)
{
    const part_t *x = a, *y = b;
    const xy_trace_step_t *s = x->step, *t = y->step;
    int c = compare_numbers(s->context, t->context);

    c = c != 0 ? c : compare_numbers(s->first, t->first);
    c = c != 0 ? c : compare_numbers(s->members, t->members);
    c = c != 0 ? c : compare_numbers(x->number, y->number);
    c = c != 0 ? c : compare_numbers(s->member, t->member);
    return c != 0 ? c : compare_numbers(s->order, t->order);
}

static bool is_same_comm(const xy_trace_step_t *s, const xy_trace_step_t *t)
{
    return s->context == t->context && s->first == t->first && s->members == t->members;
}

static xy_status_t fail_members(const reader_t *r, const xy_trace_step_t *s)
{
    return xy_fail(XY_EINVAL,
                   "%s: a collective of %u ranks (rank %u is one) lacks some of them; the trace is "
                   "incomplete: record it again",
                   r->log->path, s->members, s->rank);
}

/* The parts of one collective, one of each member; the first of a communicator adds it. */
static xy_status_t add_parts(reader_t *r, const part_t *parts, size_t count, bool is_first)
{
    const xy_trace_step_t *s = parts[0].step;
    int64_t last = INT64_MIN;

    if (count != s->members || s->members > (uint32_t)r->replay->script->procs)
        return fail_members(r, s);
    for (size_t i = 0; i < count; i++) {
        const xy_trace_step_t *t = parts[i].step;

        if (t->member != i || t->collective != s->collective || t->collective >= XY_COLL_COUNT ||
            t->element == 0 || t->bytes > UINT64_C(1) << 50 || t->element > UINT64_C(1) << 12)
            return fail_members(r, s);
        last = t->time > last ? t->time : last;
    }
    if (is_first) {
        xy_script_comm_t comm = {.count = (int32_t)count,
                                 .procs = xy_calloc(count, sizeof(*comm.procs))};

        if (comm.procs == NULL || xy_vec_append(&r->replay->script->comms, &comm) != XY_OK) {
            xy_free(comm.procs);
            return XY_ENOMEM;
        }
        for (size_t i = 0; i < count; i++)
            comm.procs[i] = (int32_t)parts[i].step->rank;
    }
    for (size_t i = 0; i < count; i++) {
        size_t step = (size_t)(parts[i].step - r->log->steps);

        r->comm_of[step] = (int32_t)r->replay->script->comms.count - 1;
        r->started[step] = last;
    }
    return XY_OK;
}

/* Joins the ranks' parts of each collective: sorted neighbours with equal communicator and
 * number. */
static xy_status_t join_parts(reader_t *r, const part_t *parts, size_t count)
{
    xy_status_t st = XY_OK;
    size_t i = 0, n;

    for (; i < count && st == XY_OK; i += n) {
        const xy_trace_step_t *s = parts[i].step;

        for (n = 1; i + n < count && is_same_comm(s, parts[i + n].step) &&
                    parts[i + n].number == parts[i].number;)
            n++;
        st = add_parts(r, &parts[i], n, i == 0 || !is_same_comm(s, parts[i - 1].step));
    }
    return st;
}

/* A rank's steps are together: its collectives of one communicator are counted there. */
static size_t number_of(xy_hash_t *counts, const xy_trace_step_t *s)
{
    uint64_t key = ((uint64_t)s->context << 32 | s->first) * UINT64_C(0x9e3779b97f4a7c15) ^
                   ((uint64_t)s->members << 32 | s->rank) * UINT64_C(0xbf58476d1ce4e5b9);
    size_t n = (size_t)(uintptr_t)xy_hash_get(counts, key);

    if (xy_hash_set(counts, key, (void *)(uintptr_t)(n + 1)) != XY_OK)
        return SIZE_MAX;
    return n;
}

/* Finds the communicator and the start of every recorded collective by matching the parts of its
 * ranks. */
static xy_status_t find_comms(reader_t *r)
{
    const xy_trace_log_t *log = r->log;
    part_t *parts = xy_calloc(log->step_count + 1, sizeof(*parts));
    xy_hash_t counts;
    size_t count = 0;
    xy_status_t st = XY_OK;

    xy_hash_init(&counts, XY_HASH_U64);
    r->comm_of = xy_calloc(log->step_count + 1, sizeof(*r->comm_of));
    r->started = xy_calloc(log->step_count + 1, sizeof(*r->started));
    if (parts == NULL || r->comm_of == NULL || r->started == NULL)
        st = XY_ENOMEM;
    for (size_t i = 0; i < log->step_count && st == XY_OK; i++)
        if (log->steps[i].kind == XY_TRACE_STEP_COLLECTIVE) {
            parts[count] = (part_t){&log->steps[i], number_of(&counts, &log->steps[i])};
            st = parts[count++].number == SIZE_MAX ? XY_ENOMEM : XY_OK;
        }
    if (st == XY_OK) {
        if (count > 0)
            qsort(parts, count, sizeof(*parts), compare_parts);
        st = join_parts(r, parts, count);
    }
    xy_hash_cleanup(&counts);
    xy_free(parts);
    return st;
}

/* ---- All of it ---- */

/* Sets *procs_p to the number of ranks; fails for ranks and peers without calls. */
static xy_status_t count_ranks(const xy_trace_log_t *log, int32_t *procs_p)
{
    uint32_t ranks = 0;

    for (size_t i = 0; i < log->step_count; i++)
        if (i == 0 || log->steps[i].rank != log->steps[i - 1].rank) {
            if (log->steps[i].rank != ranks)
                return xy_fail(XY_EINVAL, "%s: rank %u made no call; the trace is incomplete",
                               log->path, ranks);
            ranks++;
        }
    for (size_t i = 0; i < log->step_count; i++)
        if ((log->steps[i].kind == XY_TRACE_STEP_SENT ||
             log->steps[i].kind == XY_TRACE_STEP_RECEIVED) &&
            log->steps[i].peer >= ranks)
            return xy_fail(XY_EINVAL, "%s: rank %u made no call; the trace is incomplete",
                           log->path, log->steps[i].peer);
    if (ranks == 0)
        return xy_fail(XY_EINVAL,
                       "%s has no calls of ranks; record a run with 'mpiexec --trace', or use "
                       "'xylem predict --place' for a prediction",
                       log->path);
    *procs_p = (int32_t)ranks;
    return XY_OK;
}

/* Builds the scripts of all ranks, whose steps are adjacent in the log. */
static xy_status_t read_ranks(const reader_t *r)
{
    const xy_trace_log_t *log = r->log;
    xy_status_t st = XY_OK;
    size_t begin = 0, end;

    for (; begin < log->step_count && st == XY_OK; begin = end) {
        for (end = begin + 1;
             end < log->step_count && log->steps[end].rank == log->steps[begin].rank;)
            end++;
        st = read_rank(r, log->steps[begin].rank, begin, end);
    }
    return st;
}

xy_status_t xy_replay_from_trace(const xy_trace_log_t *log, xy_replay_t **replay_p)
{
    reader_t r = {.log = log};
    int32_t procs = 0;
    xy_status_t st = count_ranks(log, &procs);

    if (st != XY_OK)
        return st;
    r.replay = replay_new(procs);
    st = r.replay != NULL ? find_computation(&r) : XY_ENOMEM;
    if (st == XY_OK)
        st = find_messages(&r);
    if (st == XY_OK)
        st = find_comms(&r);
    if (st == XY_OK)
        st = read_ranks(&r);
    xy_free(r.met);
    xy_free(r.early);
    xy_free(r.posts);
    xy_free(r.computed);
    xy_free(r.first);
    xy_free(r.comm_of);
    xy_free(r.started);
    if (st == XY_OK) {
        *replay_p = r.replay;
        return XY_OK;
    }
    xy_replay_destroy(r.replay);
    return st == XY_ENOMEM ? xy_fail_memory("replaying a trace") : st;
}
