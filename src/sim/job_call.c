/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a collective call of another library besides its messages: it is checked, its
 * algorithm is chosen, and memory is fetched for it, filled and given back. Broadcasts one after
 * the other tell what a call takes at least (job_words.c). Reduces of two processes of a node, one
 * after the other and each with a message back, broadcasts, each after a message to the root, and
 * scatters and gathers, one after the other, were measured, too. What they take beyond their
 * messages and sums is found by running the same programs, in a job of two processes in which such
 * calls take nothing.
 */
#include "sim/job_internal.h"

enum { PHASES = 7, STEPS = 2, ROUNDS = 12, WARM = 4, ALL = PHASES * ROUNDS * STEPS };

/* Each phase is one program. */
typedef struct {
    job_price_kind_t kind;
    int size;     /* of those of a price */
    bool is_back; /* there is a message the other way between two calls */
} phase_t;

static const phase_t phases[PHASES] = {{JOB_PRICE_REDUCE, 0, false}, {JOB_PRICE_REDUCE, 1, false},
                                       {JOB_PRICE_REDUCE, 0, true},  {JOB_PRICE_REDUCE, 1, true},
                                       {JOB_PRICE_BCAST, 0, true},   {JOB_PRICE_SCATTER, 0, false},
                                       {JOB_PRICE_GATHER, 0, false}};
static const xy_collective_t calls[JOB_PRICES] = {XY_COLL_REDUCE, XY_COLL_BCAST, XY_COLL_SCATTER,
                                                  XY_COLL_GATHER};

typedef struct {
    int at; /* of ALL */
    xy_vreq_t *request;
} player_t;

typedef struct {
    xy_vjob_t *job;
    xy_vcomm_t *comm;
    player_t player[2];
    double begin[PHASES][2], end[PHASES][2]; /* of both; the first rounds warm up */
} rehearsal_t;

/* ---- The programs ---- */

static void note_time(rehearsal_t *r, int32_t proc, int at)
{
    int phase = at / (ROUNDS * STEPS), step = at % (ROUNDS * STEPS);
    double now = xy_vjob_now(r->job, proc);

    if (step == 0 && phase > 0)
        r->end[phase - 1][proc] = now;
    if (step == WARM * STEPS)
        r->begin[phase][proc] = now;
}

/* A reduce comes before the message, and a broadcast behind it. *request_p is NULL where there is
 * no message. */
static bool begin_step(rehearsal_t *r, int32_t proc, int at, xy_vreq_t **request_p)
{
    const phase_t *phase = &phases[at / (ROUNDS * STEPS)];
    bool is_reduce = phase->kind == JOB_PRICE_REDUCE, is_call = (at % STEPS == 0) == is_reduce;
    uint64_t bytes = phase->size == 0 ? XY_MESSAGE_SMALL : XY_MESSAGE_BCAST;
    xy_vjob_coll_t call = {.collective = calls[phase->kind],
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

/* Runs the steps of a rehearsing process until one must wait; the callback of the job. */
static void run(void *owner, int32_t proc)
{
    rehearsal_t *r = owner;
    player_t *p = &r->player[proc];

    do {
        xy_vjob_release(r->job, p->request); /* complete */
        note_time(r, proc, p->at);
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

/* Runs the measured programs in a job of two processes whose collective calls cost nothing beside
 * messages. */
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

/* The time of a round, by the slower of both processes: in a stream one may be ahead. */
static double seconds_of(const rehearsal_t *r, int phase)
{
    double longest =
        fmax(r->end[phase][0] - r->begin[phase][0], r->end[phase][1] - r->begin[phase][1]);

    return longest / (ROUNDS - WARM);
}

/* Set the prices of calls from the remaining times, the mean of all ways to measure them; a call
 * that does nothing with its data besides its messages was measured with one size. A figure that is
 * missing leaves calls of its kind as any. */
static void set_prices(const rehearsal_t *r, const double measured[PHASES], job_price_t *price)
{
    double left[JOB_PRICES][2] = {{0}};
    int ways[JOB_PRICES][2] = {{0}};

    for (int k = 0; k < JOB_PRICES; k++)
        price[k].is_known = true;
    for (int i = 0; i < PHASES; i++) {
        const phase_t *phase = &phases[i];

        left[phase->kind][phase->size] += measured[i] - seconds_of(r, i);
        ways[phase->kind][phase->size]++;
        price[phase->kind].is_known &= measured[i] > 0;
    }
    for (int k = 0; k < JOB_PRICES; k++)
        for (int size = 0; size < 2; size++) {
            int of = ways[k][size] > 0 ? size : 0;

            price[k].seconds[size] = fmax(0, left[k][of] / ways[k][of]);
        }
}

xy_status_t job_call_find(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->copy_model;
    int32_t cores[2] = {job->procs[0].core, find_other(job, job->procs[0].core)};
    rehearsal_t r = {0};
    bool is_measured = false;
    xy_status_t st;

    if (m == NULL || job->library->rules == NULL || job->has_link || cores[1] < 0)
        return XY_OK;
    const double measured[PHASES] = {
        m->small_reduce_stream, m->reduce_stream,        m->small_reduce_back,  m->reduce_back,
        m->small_bcast_back,    m->small_scatter_stream, m->small_gather_stream};
    for (int i = 0; i < PHASES; i++)
        is_measured = is_measured || measured[i] > 0;
    if (!is_measured)
        return XY_OK;
    st = rehearse(job, cores, &r);
    if (st == XY_OK)
        set_prices(&r, measured, job->price);
    xy_vjob_destroy(r.job);
    return st;
}

double job_call_seconds(const xy_vjob_t *job, const job_proc_t *p, int32_t rank,
                        const xy_vjob_coll_t *call)
{
    const job_price_t *price = NULL;
    double bytes = (double)call->count * (double)call->element, part;

    for (int k = 0; k < JOB_PRICES; k++)
        if (calls[k] == call->collective)
            price = &job->price[k];
    if (call->collective == XY_COLL_BCAST && (rank != call->root || !p->has_received))
        price = NULL; /* it is one of a stream, or waits for its root */
    if (price == NULL || !price->is_known || call->is_nonblocking)
        return job->call;
    part = fmin(fmax(bytes - XY_MESSAGE_SMALL, 0) / (XY_MESSAGE_BCAST - XY_MESSAGE_SMALL), 1);
    return price->seconds[0] + (price->seconds[1] - price->seconds[0]) * part;
}
