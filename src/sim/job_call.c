/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a call of a collective of another library takes beside its messages: it is checked, its
 * algorithm is chosen, and memory is fetched for it, filled and given back. Broadcasts one after
 * the other tell what a call takes at least (job_words.c). Reduces of two processes of a node, one
 * after the other and each with a message back, and broadcasts, each after a message to the root,
 * were measured, too. What they take beyond their messages and sums is found by running the same
 * programs, in a job of two processes in which such calls take nothing.
 */
#include "sim/job_internal.h"

enum { PHASES = 5, STEPS = 2, ROUNDS = 12, WARM = 4, ALL = PHASES * ROUNDS * STEPS };

/* Each phase is one program. */
typedef struct {
    job_price_kind_t kind;
    int size;     /* of those of a price */
    bool is_back; /* there is a message the other way between two calls */
} phase_t;

static const phase_t phases[PHASES] = {{JOB_PRICE_REDUCE, 0, false},
                                       {JOB_PRICE_REDUCE, 1, false},
                                       {JOB_PRICE_REDUCE, 0, true},
                                       {JOB_PRICE_REDUCE, 1, true},
                                       {JOB_PRICE_BCAST, 0, true}};

typedef struct {
    int at; /* of ALL */
    xy_vreq_t *request;
} player_t;

typedef struct {
    xy_vjob_t *job;
    xy_vcomm_t *comm;
    player_t player[2];
    double begin[PHASES], end[PHASES]; /* of the first process; the first rounds warm up */
} rehearsal_t;

/* ---- The programs ---- */

static void note_time(rehearsal_t *r, int at)
{
    int phase = at / (ROUNDS * STEPS), step = at % (ROUNDS * STEPS);
    double now = xy_vjob_now(r->job, 0);

    if (step == 0 && phase > 0)
        r->end[phase - 1] = now;
    if (step == WARM * STEPS)
        r->begin[phase] = now;
}

/* A reduce comes before the message, and a broadcast behind it. *request_p is NULL where there is
 * no message. */
static bool begin_step(rehearsal_t *r, int32_t proc, int at, xy_vreq_t **request_p)
{
    const phase_t *phase = &phases[at / (ROUNDS * STEPS)];
    bool is_reduce = phase->kind == JOB_PRICE_REDUCE, is_call = (at % STEPS == 0) == is_reduce;
    uint64_t bytes = phase->size == 0 ? XY_MESSAGE_SMALL : XY_MESSAGE_BCAST;
    xy_vjob_coll_t call = {.collective = is_reduce ? XY_COLL_REDUCE : XY_COLL_BCAST,
                           .count = bytes / sizeof(double),
                           .element = sizeof(double),
                           .is_commutative = true};
    xy_vjob_p2p_t p2p = {.peer = !proc, .bytes = bytes, .is_blocking = true};

    *request_p = NULL;
    if (!is_call && !phase->is_back)
        return true;
    if (is_call)
        *request_p = xy_vjob_collective(r->job, proc, r->comm, &call, NULL);
    else if ((proc == 0) == is_reduce)
        *request_p = xy_vjob_isend(r->job, proc, &p2p, NULL);
    else
        *request_p = xy_vjob_irecv(r->job, proc, &p2p, NULL);
    return *request_p != NULL && xy_vjob_wait(r->job, proc, request_p, 1, XY_VJOB_ALL);
}

static void run(void *owner, int32_t proc)
{
    rehearsal_t *r = owner;
    player_t *p = &r->player[proc];

    do {
        xy_vjob_release(r->job, p->request); /* which is over */
        if (proc == 0)
            note_time(r, p->at);
        if (p->at == ALL) {
            xy_vjob_finish(r->job, proc);
            return;
        }
    } while (begin_step(r, proc, p->at++, &p->request));
}

/* ---- Figures ---- */

/* Another core of the node; -1: it has one. */
static int32_t find_other(const xy_vjob_t *job, int32_t core)
{
    for (int32_t c = 0; c < job->core_count; c++)
        if (c != core && job->host_of[c] == job->host_of[core])
            return c;
    return -1;
}

static xy_status_t rehearse(const xy_vjob_t *job, const int32_t cores[2], rehearsal_t *r)
{
    static const int32_t procs[2] = {0, 1};
    xy_vjob_config_t c = {.machine = job->config.machine,
                          .procs = 2,
                          .core_of = cores,
                          .costs = job->config.costs,
                          .store = job->config.store,
                          .library = job->config.library,
                          .owner = r,
                          .run = run};
    xy_status_t st;

    c.costs.keeps_eager = false; /* as it was measured */
    st = job_create(&c, true, &r->job);
    if (st != XY_OK)
        return st;
    for (int k = 0; k < JOB_PRICES; k++)
        r->job->price[k].is_known = true; /* none */
    r->comm = xy_vjob_comm(r->job, 1, procs, 2);
    return r->comm != NULL ? xy_vjob_run(r->job) : xy_fail_memory("simulating a job");
}

/* What a reduce leaves, the mean of both ways to measure it. A broadcast does nothing with its data
 * beside its messages, so that its size does not count. */
static void set_prices(const rehearsal_t *r, const double measured[PHASES], job_price_t *price)
{
    double left[PHASES];

    for (int i = 0; i < PHASES; i++)
        left[i] = measured[i] - (r->end[i] - r->begin[i]) / (ROUNDS - WARM);
    for (int size = 0; size < 2; size++) {
        price[JOB_PRICE_REDUCE].seconds[size] = fmax(0, (left[size] + left[2 + size]) / 2);
        price[JOB_PRICE_BCAST].seconds[size] = fmax(0, left[PHASES - 1]);
    }
}

xy_status_t job_call_find(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->copy_model;
    int32_t cores[2] = {job->procs[0].core, find_other(job, job->procs[0].core)};
    rehearsal_t r = {0};
    xy_status_t st;

    if (m == NULL || job->library->rules == NULL || job->has_link || cores[1] < 0)
        return XY_OK;
    const double measured[PHASES] = {m->small_reduce_stream, m->reduce_stream, m->small_reduce_back,
                                     m->reduce_back, m->small_bcast_back};
    for (int i = 0; i < PHASES; i++)
        if (!(measured[i] > 0))
            return XY_OK;
    st = rehearse(job, cores, &r);
    if (st == XY_OK) {
        set_prices(&r, measured, job->price);
        for (int k = 0; k < JOB_PRICES; k++)
            job->price[k].is_known = true;
    }
    xy_vjob_destroy(r.job);
    return st;
}

double job_call_seconds(const xy_vjob_t *job, const job_proc_t *p, int32_t rank,
                        const xy_vjob_coll_t *call)
{
    const job_price_t *price = NULL;
    double bytes = (double)call->count * (double)call->element, part;

    if (call->collective == XY_COLL_REDUCE)
        price = &job->price[JOB_PRICE_REDUCE];
    else if (call->collective == XY_COLL_BCAST && rank == call->root && p->has_received)
        price = &job->price[JOB_PRICE_BCAST];
    if (price == NULL || !price->is_known || call->is_nonblocking)
        return job->call;
    part = fmin(fmax(bytes - XY_MESSAGE_SMALL, 0) / (XY_MESSAGE_BCAST - XY_MESSAGE_SMALL), 1);
    return price->seconds[0] + (price->seconds[1] - price->seconds[0]) * part;
}
