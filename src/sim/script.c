/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver of a script: each process takes its operations one after the other. */
#include "sim/script.h"

#include <string.h>

/* ---- Making ---- */

xy_script_t *xy_script_new(int32_t procs)
{
    xy_script_t *r = xy_calloc(1, sizeof(*r));

    if (r == NULL)
        return NULL;
    *r = (xy_script_t){.procs = procs,
                       .colls = XY_VEC_INIT(xy_script_coll_t),
                       .comms = XY_VEC_INIT(xy_script_comm_t)};
    r->proc = xy_calloc((size_t)procs, sizeof(*r->proc));
    if (r->proc == NULL) {
        xy_free(r);
        return NULL;
    }
    for (int32_t p = 0; p < procs; p++)
        r->proc[p] =
            (xy_script_proc_t){.ops = XY_VEC_INIT(xy_script_op_t), .waits = XY_VEC_INIT(int32_t)};
    return r;
}

void xy_script_destroy(xy_script_t *script)
{
    if (script == NULL)
        return;
    for (int32_t p = 0; p < script->procs; p++) {
        xy_vec_cleanup(&script->proc[p].ops);
        xy_vec_cleanup(&script->proc[p].waits);
    }
    for (size_t i = 0; i < script->comms.count; i++)
        xy_free(XY_VEC_AT(&script->comms, xy_script_comm_t, i).procs);
    xy_vec_cleanup(&script->comms);
    xy_vec_cleanup(&script->colls);
    xy_free(script->proc);
    xy_free(script);
}

xy_status_t xy_script_add(xy_script_proc_t *p, const xy_script_op_t *op)
{
    xy_script_op_t copy = *op;

    if (op->kind == XY_SCRIPT_SEND || op->kind == XY_SCRIPT_RECEIVE ||
        op->kind == XY_SCRIPT_COLLECTIVE)
        copy.request = p->requests++;
    return xy_vec_append(&p->ops, &copy);
}

xy_status_t xy_script_add_wait(xy_script_proc_t *p, const int32_t *requests, size_t count,
                               uint32_t mark)
{
    xy_script_op_t op = {
        .kind = XY_SCRIPT_WAIT, .mark = mark, .wait = {(uint32_t)p->waits.count, (uint32_t)count}};

    for (size_t i = 0; i < count; i++)
        if (xy_vec_append(&p->waits, &requests[i]) != XY_OK)
            return XY_ENOMEM;
    return count > 0 ? xy_vec_append(&p->ops, &op) : XY_OK;
}

/* ---- Running ---- */

typedef struct {
    size_t next;          /* operation */
    xy_vreq_t **requests; /* [requests of the process] NULL: not started, or over */
    xy_vreq_t **list;     /* the requests that it waits for */
    bool is_waiting;
} player_t;

typedef struct {
    const xy_script_t *script;
    xy_vjob_t *job;
    player_t *players; /* [procs] */
    xy_vcomm_t **comms;
    uint64_t *counts; /* [procs] of the collective that is started */
    double speed;
    const xy_script_run_t *config;
} play_t;

static xy_vreq_t *start_message(play_t *play, int32_t proc, const xy_script_op_t *op)
{
    xy_vjob_p2p_t p2p = {.peer = op->peer, .tag = op->tag, .bytes = op->bytes};

    return op->kind == XY_SCRIPT_SEND ? xy_vjob_isend(play->job, proc, &p2p, NULL)
                                      : xy_vjob_irecv(play->job, proc, &p2p, NULL);
}

/* Starts the collective of a script operation; NULL if the job failed. */
static xy_vreq_t *start_collective(play_t *play, int32_t proc, const xy_script_op_t *op)
{
    const xy_script_coll_t *coll = &XY_VEC_AT(&play->script->colls, xy_script_coll_t, op->peer);
    const xy_script_comm_t *comm = &XY_VEC_AT(&play->script->comms, xy_script_comm_t, coll->comm);
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
static bool await(play_t *play, int32_t proc, const xy_script_op_t *op)
{
    const xy_script_proc_t *of = &play->script->proc[proc];
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
static bool take(play_t *play, int32_t proc, const xy_script_op_t *op, bool *is_over_p)
{
    player_t *p = &play->players[proc];

    *is_over_p = true;
    switch (op->kind) {
    case XY_SCRIPT_COMPUTE:
        return xy_vjob_compute(play->job, proc, op->seconds / play->speed);
    case XY_SCRIPT_WAIT:
        *is_over_p = await(play, proc, op);
        return *is_over_p;
    case XY_SCRIPT_COLLECTIVE:
        p->requests[op->request] = start_collective(play, proc, op);
        return p->requests[op->request] != NULL &&
               xy_vjob_entered(play->job, proc, p->requests[op->request]);
    default:
        p->requests[op->request] = start_message(play, proc, op);
        break;
    }
    return p->requests[op->request] != NULL;
}

/* Runs the operations of a process until one must wait; the callback of the job. */
static void run(void *owner, int32_t proc)
{
    play_t *play = owner;
    const xy_vec_t *ops = &play->script->proc[proc].ops;
    player_t *p = &play->players[proc];

    while (p->next < ops->count) {
        bool is_over,
            goes_on = take(play, proc, &XY_VEC_AT(ops, xy_script_op_t, p->next), &is_over);

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

    while (first + 1 < play->script->procs && !play->players[first].is_waiting)
        first++;
    if (play->config->stuck != NULL)
        play->config->stuck(first);
}

static void play_cleanup(play_t *play)
{
    for (int32_t p = 0; play->players != NULL && p < play->script->procs; p++) {
        xy_free(play->players[p].requests);
        xy_free(play->players[p].list);
    }
    xy_free(play->players);
    xy_free(play->comms);
    xy_free(play->counts);
    xy_vjob_destroy(play->job);
}

/* Allocates the state of all processes; the caller frees it, also on failure. */
static xy_status_t play_init(play_t *play)
{
    const xy_script_t *script = play->script;
    bool ok;

    play->players = xy_calloc((size_t)script->procs, sizeof(*play->players));
    play->comms = xy_calloc(script->comms.count + 1, sizeof(xy_vcomm_t *));
    play->counts = xy_calloc((size_t)script->procs, sizeof(*play->counts));
    ok = play->players != NULL && play->comms != NULL && play->counts != NULL;
    for (int32_t p = 0; ok && p < script->procs; p++) {
        size_t n = (size_t)script->proc[p].requests + 1;

        play->players[p].requests = xy_calloc(n, sizeof(xy_vreq_t *));
        play->players[p].list = xy_calloc(n, sizeof(xy_vreq_t *));
        ok = play->players[p].requests != NULL && play->players[p].list != NULL;
    }
    return ok ? XY_OK : xy_fail_memory("simulating a job");
}

xy_status_t xy_script_run(const xy_script_t *script, const xy_script_run_t *config,
                          double *seconds_p, xy_vec_t *pairs)
{
    play_t play = {
        .script = script, .config = config, .speed = config->speed > 0 ? config->speed : 1};
    xy_vjob_config_t c = config->job;
    xy_status_t st = play_init(&play);

    c.procs = script->procs;
    c.owner = &play;
    c.run = run;
    c.stuck = stuck;
    if (st == XY_OK)
        st = xy_vjob_create(&c, &play.job);
    if (st == XY_OK)
        st = xy_vjob_run(play.job);
    if (st == XY_OK)
        *seconds_p = xy_vjob_end(play.job);
    if (st == XY_OK && c.has_matrix)
        st = xy_vjob_matrix(play.job, pairs);
    play_cleanup(&play);
    return st;
}
