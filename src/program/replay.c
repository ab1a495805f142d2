/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver of a replay: each process takes its operations one after the other. */
#include "program/replay.h"

#include <string.h>

#include "program/replay_ops.h"

/* ---- Making ---- */

xy_replay_t *replay_new(int32_t procs)
{
    xy_replay_t *r = xy_calloc(1, sizeof(*r));

    if (r == NULL)
        return NULL;
    *r = (xy_replay_t){.procs = procs,
                       .scale = 1,
                       .colls = XY_VEC_INIT(replay_coll_t),
                       .comms = XY_VEC_INIT(replay_comm_t)};
    r->proc = xy_calloc((size_t)procs, sizeof(*r->proc));
    if (r->proc == NULL) {
        xy_free(r);
        return NULL;
    }
    for (int32_t p = 0; p < procs; p++)
        r->proc[p] =
            (replay_proc_t){.ops = XY_VEC_INIT(replay_op_t), .waits = XY_VEC_INIT(int32_t)};
    return r;
}

void xy_replay_destroy(xy_replay_t *replay)
{
    if (replay == NULL)
        return;
    for (int32_t p = 0; p < replay->procs; p++) {
        xy_vec_cleanup(&replay->proc[p].ops);
        xy_vec_cleanup(&replay->proc[p].waits);
    }
    for (size_t i = 0; i < replay->comms.count; i++)
        xy_free(XY_VEC_AT(&replay->comms, replay_comm_t, i).procs);
    xy_vec_cleanup(&replay->comms);
    xy_vec_cleanup(&replay->colls);
    xy_free(replay->proc);
    xy_free(replay);
}

int32_t xy_replay_procs(const xy_replay_t *replay)
{
    return replay->procs;
}

bool xy_replay_has_computation(const xy_replay_t *replay)
{
    return replay->has_computation;
}

xy_status_t replay_add(replay_proc_t *p, const replay_op_t *op)
{
    replay_op_t copy = *op;

    if (op->kind == REPLAY_SEND || op->kind == REPLAY_RECEIVE || op->kind == REPLAY_COLLECTIVE)
        copy.request = p->requests++;
    return xy_vec_append(&p->ops, &copy);
}

xy_status_t replay_add_wait(replay_proc_t *p, const int32_t *requests, size_t count)
{
    replay_op_t op = {.kind = REPLAY_WAIT, .wait = {(uint32_t)p->waits.count, (uint32_t)count}};

    for (size_t i = 0; i < count; i++)
        if (xy_vec_append(&p->waits, &requests[i]) != XY_OK)
            return XY_ENOMEM;
    return count > 0 ? xy_vec_append(&p->ops, &op) : XY_OK;
}

/* ---- Running ---- */

typedef struct {
    size_t next;          /* operation */
    xy_vreq_t **requests; /* [requests of the process] NULL: not started, or over */
    xy_vreq_t **list;     /* what it waits for */
    bool is_waiting;
} player_t;

typedef struct {
    const xy_replay_t *replay;
    xy_vjob_t *job;
    player_t *players; /* [procs] */
    xy_vcomm_t **comms;
    uint64_t *counts; /* [procs] of the collective that is started */
    double speed;
} play_t;

static xy_vreq_t *start_message(play_t *play, int32_t proc, const replay_op_t *op)
{
    xy_vjob_p2p_t p2p = {.peer = op->peer, .tag = op->tag, .bytes = op->bytes};

    return op->kind == REPLAY_SEND ? xy_vjob_isend(play->job, proc, &p2p, NULL)
                                   : xy_vjob_irecv(play->job, proc, &p2p, NULL);
}

static xy_vreq_t *start_collective(play_t *play, int32_t proc, const replay_op_t *op)
{
    const replay_coll_t *coll = &XY_VEC_AT(&play->replay->colls, replay_coll_t, op->peer);
    const replay_comm_t *comm = &XY_VEC_AT(&play->replay->comms, replay_comm_t, coll->comm);
    xy_vjob_coll_t call = coll->call;
    xy_vcomm_t **vcomm = &play->comms[coll->comm];

    if (*vcomm == NULL)
        *vcomm = xy_vjob_comm(play->job, (uint32_t)coll->comm + 1, comm->procs, comm->count);
    if (*vcomm == NULL)
        return NULL;
    if (coll->share > 0) {
        for (int32_t r = 0; r < comm->count; r++)
            play->counts[r] = coll->share;
        call.counts = play->counts;
    }
    return xy_vjob_collective(play->job, proc, *vcomm, &call, NULL);
}

/* True: over. */
static bool await(play_t *play, int32_t proc, const replay_op_t *op)
{
    const replay_proc_t *of = &play->replay->proc[proc];
    player_t *p = &play->players[proc];

    if (!p->is_waiting) {
        for (uint32_t i = 0; i < op->wait.count; i++)
            p->list[i] = p->requests[XY_VEC_AT(&of->waits, int32_t, op->wait.first + i)];
        p->is_waiting = true;
        if (!xy_vjob_wait(play->job, proc, p->list, op->wait.count, XY_VJOB_ALL))
            return false;
    }
    p->is_waiting = false;
    for (uint32_t i = 0; i < op->wait.count; i++) {
        xy_vjob_release(play->job, p->list[i]);
        p->requests[XY_VEC_AT(&of->waits, int32_t, op->wait.first + i)] = NULL;
    }
    return true;
}

/* One operation; false: the process stops here for now, behind it (*is_over_p) or at it. */
static bool take(play_t *play, int32_t proc, const replay_op_t *op, bool *is_over_p)
{
    player_t *p = &play->players[proc];

    *is_over_p = true;
    switch (op->kind) {
    case REPLAY_COMPUTE:
        return xy_vjob_compute(play->job, proc, op->seconds / play->speed);
    case REPLAY_WAIT:
        *is_over_p = await(play, proc, op);
        return *is_over_p;
    case REPLAY_COLLECTIVE:
        p->requests[op->request] = start_collective(play, proc, op);
        break;
    default:
        p->requests[op->request] = start_message(play, proc, op);
        break;
    }
    return p->requests[op->request] != NULL;
}

static void run(void *owner, int32_t proc)
{
    play_t *play = owner;
    const xy_vec_t *ops = &play->replay->proc[proc].ops;
    player_t *p = &play->players[proc];

    while (p->next < ops->count) {
        bool is_over, goes_on = take(play, proc, &XY_VEC_AT(ops, replay_op_t, p->next), &is_over);

        p->next += is_over;
        if (!goes_on)
            return;
    }
    xy_vjob_finish(play->job, proc);
}

static void stuck(void *owner)
{
    const play_t *play = owner;
    int32_t first = 0;

    while (first + 1 < play->replay->procs && !play->players[first].is_waiting)
        first++;
    xy_fail(XY_EINVAL,
            "the recorded run cannot be replayed: its processes wait for each other (process %d "
            "is one of them); the trace lacks messages: record it with --trace-messages all",
            first);
}

static void play_cleanup(play_t *play)
{
    for (int32_t p = 0; play->players != NULL && p < play->replay->procs; p++) {
        xy_free(play->players[p].requests);
        xy_free(play->players[p].list);
    }
    xy_free(play->players);
    xy_free(play->comms);
    xy_free(play->counts);
    xy_vjob_destroy(play->job);
}

static xy_status_t play_init(play_t *play)
{
    const xy_replay_t *replay = play->replay;
    bool ok;

    play->players = xy_calloc((size_t)replay->procs, sizeof(*play->players));
    play->comms = xy_calloc(replay->comms.count + 1, sizeof(xy_vcomm_t *));
    play->counts = xy_calloc((size_t)replay->procs, sizeof(*play->counts));
    ok = play->players != NULL && play->comms != NULL && play->counts != NULL;
    for (int32_t p = 0; ok && p < replay->procs; p++) {
        size_t n = (size_t)replay->proc[p].requests + 1;

        play->players[p].requests = xy_calloc(n, sizeof(xy_vreq_t *));
        play->players[p].list = xy_calloc(n, sizeof(xy_vreq_t *));
        ok = play->players[p].requests != NULL && play->players[p].list != NULL;
    }
    return ok ? XY_OK : xy_fail_memory("replaying a run");
}

xy_status_t xy_replay_run(const xy_replay_t *replay, const xy_vjob_config_t *job, double speed,
                          xy_replay_result_t *result)
{
    play_t play = {.replay = replay, .speed = speed > 0 ? speed : 1};
    xy_vjob_config_t c = *job;
    xy_status_t st = play_init(&play);

    *result = (xy_replay_result_t){.pairs = XY_VEC_INIT(xy_vjob_pair_t)};
    c.procs = replay->procs;
    c.owner = &play;
    c.run = run;
    c.stuck = stuck;
    if (st == XY_OK)
        st = xy_vjob_create(&c, &play.job);
    if (st == XY_OK)
        st = xy_vjob_run(play.job);
    if (st == XY_OK) {
        result->seconds = replay->scale * xy_vjob_end(play.job);
        if (c.has_matrix)
            st = xy_vjob_matrix(play.job, &result->pairs);
    }
    play_cleanup(&play);
    if (st != XY_OK)
        xy_replay_result_cleanup(result);
    return st;
}

void xy_replay_result_cleanup(xy_replay_result_t *result)
{
    xy_vec_cleanup(&result->pairs);
}

xy_status_t xy_pairs_matrix(const xy_vec_t *pairs, int32_t procs, xy_matrix_t **matrix_p)
{
    xy_matrix_entry_t *entries = xy_calloc(pairs->count + 1, sizeof(*entries));
    xy_status_t st;

    if (entries == NULL)
        return xy_fail_memory("collecting the matrix");
    for (size_t i = 0; i < pairs->count; i++) {
        const xy_vjob_pair_t *pair = &XY_VEC_AT(pairs, xy_vjob_pair_t, i);

        entries[i] = (xy_matrix_entry_t){(uint32_t)pair->from, (uint32_t)pair->to,
                                         (double)(pair->bytes + pair->coll_bytes),
                                         (double)(pair->messages + pair->coll_messages)};
    }
    st = xy_matrix_build((uint32_t)procs, entries, pairs->count, true, matrix_p);
    xy_free(entries);
    return st;
}
