/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a plan will take: the time of the default, changed by formulas for what the plan changes.
 *
 *   another algorithm   the time of these calls, times the ratio of what one takes by the two
 *                       algorithms: simulated, or by their formulas
 *   place by matrix     the part of the run that is not computing, by half the gain
 *   communication cores the ranks share fewer cores; nonblocking collectives are half hidden
 *   split               trees by the ratio of the split-tree model
 *
 * Errors: SIMULATED and FORMULA of the time by the other algorithm; where the time of the calls was
 * not measured, and for everything else, half of what may change.
 */
#include <math.h>
#include <string.h>

#include "mpi/adapt/adapt.h"

#define SIMULATED 0.1
#define FORMULA   1.0 /* they know nothing of what else is on a link */
#define VAGUE     0.5
#define UNSEEN    0.05
#define LEAST     0.05 /* of the default: no plan is expected to take less */

/* ---- Formulas ---- */

/* Ranks lie on their nodes one after the other. False: memory ran out. */
static bool make_request(const xy_vjob_calls_t *c, xy_coll_request_t *q, int **nodes_p)
{
    uint64_t element = c->bytes > 0 && c->bytes % 8 == 0 ? 8 : 1;

    *q = (xy_coll_request_t){.collective = c->collective,
                             .procs = c->procs,
                             .count = c->bytes / element,
                             .element = element,
                             .is_commutative = true,
                             .is_nonblocking = c->is_nonblocking};
    *nodes_p = xy_malloc((size_t)c->procs * sizeof(int));
    for (int r = 0; *nodes_p != NULL && r < c->procs; r++)
        (*nodes_p)[r] = (int)((int64_t)r * c->nodes / c->procs);
    q->nodes = *nodes_p;
    return *nodes_p != NULL;
}

static int list_candidates(const xy_vjob_calls_t *c,
                           xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX])
{
    xy_coll_request_t q;
    int *nodes, n = 0;

    if (make_request(c, &q, &nodes))
        n = xy_coll_candidates(&q, &c->link, list);
    xy_free(nodes);
    return n;
}

static double seconds_of(const xy_coll_candidate_t *list, int n, const xy_coll_algorithm_t *a)
{
    for (int i = 0; i < n; i++)
        if (list[i].algorithm == a && list[i].is_applicable)
            return list[i].seconds;
    return 0;
}

int mpi_forecast_others(const xy_vjob_calls_t *calls,
                        const xy_coll_algorithm_t *others[XY_COLL_CANDIDATES_MAX])
{
    xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];
    int n = list_candidates(calls, list), count = 0;

    for (int i = 0; i < n; i++) {
        const xy_coll_algorithm_t *a = list[i].algorithm;

        if (list[i].is_applicable && !a->is_direct && a != calls->algorithm)
            others[count++] = a;
    }
    return count;
}

/* ---- The run ---- */

typedef struct {
    double base, seconds, variance;
} forecast_t;

static void change(forecast_t *f, double by, double error)
{
    f->seconds += by;
    f->variance += error * error;
}

/* Seconds of such calls in the run; by the formula where they were not measured. */
static double time_of(const xy_vjob_calls_t *c)
{
    xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];

    if (c->seconds > 0)
        return c->seconds;
    return (double)c->calls * seconds_of(list, list_candidates(c, list), c->algorithm);
}

static bool is_any(const xy_vjob_calls_t *c)
{
    (void)c;
    return true;
}

static bool is_nonblocking(const xy_vjob_calls_t *c)
{
    return c->is_nonblocking;
}

static bool is_tree(const xy_vjob_calls_t *c)
{
    return c->is_nonblocking &&
           (c->collective == XY_COLL_BCAST || c->collective == XY_COLL_REDUCE ||
            c->collective == XY_COLL_GATHER || c->collective == XY_COLL_SCATTER ||
            c->collective == XY_COLL_ALLREDUCE);
}

static double time_of_all(const mpi_profile_t *p, bool (*is_meant)(const xy_vjob_calls_t *c))
{
    double sum = 0;

    for (size_t i = 0; i < p->call_count; i++)
        sum += is_meant(&p->calls[i]) ? time_of(&p->calls[i]) : 0;
    return sum;
}

/* What of a collective's time the program feels: together no more than it does not compute. */
static double felt(const mpi_profile_t *p, double base, double seconds)
{
    double all = time_of_all(p, is_any);

    return all > p->share * base ? seconds * p->share * base / all : seconds;
}

static double simulated(const mpi_ways_t *ways, const xy_coll_algorithm_t *a)
{
    for (int i = 0; i < ways->count; i++)
        if (ways->algorithm[i] == a)
            return ways->seconds[i];
    return 0;
}

/* How much longer the calls take by another algorithm; 0: not known. The error is of their time by
 * it. Calls that follow each other closely may overlap, and by another algorithm they may not: two
 * deviations up is where each takes what it takes alone. */
static double ratio_of(const xy_vjob_calls_t *c, const mpi_ways_t *ways,
                       const xy_coll_algorithm_t *a, double *error_p)
{
    xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];
    double now = simulated(ways, c->algorithm), then = simulated(ways, a);
    double alone = (double)c->calls * now;
    int n;

    *error_p = SIMULATED;
    if (now > 0 && then > 0) {
        if (c->seconds > 0 && alone > c->seconds)
            *error_p += (alone / c->seconds - 1) / 2;
        return then / now;
    }
    n = list_candidates(c, list);
    now = seconds_of(list, n, c->algorithm);
    then = seconds_of(list, n, a);
    *error_p = FORMULA;
    return now > 0 ? then / now : 0;
}

static void forecast_pick(const mpi_profile_t *p, const xy_coll_pick_t *pick, forecast_t *f)
{
    for (size_t i = 0; i < p->call_count; i++) {
        const xy_vjob_calls_t *c = &p->calls[i];
        double ratio, error, seconds;

        if (c->collective != pick->collective || c->procs != pick->procs ||
            xy_coll_step(c->bytes) != pick->step)
            continue;
        ratio = ratio_of(c, &p->ways[i], pick->algorithm, &error);
        seconds = felt(p, f->base, time_of(c));
        if (ratio > 0)
            change(f, seconds * (ratio - 1),
                   error * seconds * ratio + (c->seconds > 0 ? 0 : VAGUE * seconds));
    }
}

/* Half of what the placement saves of messages is felt, more or less; what it does not know, as who
 * sends at the same time, may cost a part of their time. */
static void forecast_place(const mpi_profile_t *p, forecast_t *f)
{
    double saved = p->share * f->base * (1 - p->gain);

    change(f, -saved / 2, saved / 4 + UNSEEN * p->share * f->base);
}

static void forecast_cores(const mpi_adapt_t *a, int k, forecast_t *f)
{
    double hidden = felt(a->profile, f->base, time_of_all(a->profile, is_nonblocking));
    double left = a->cores - k * a->nodes;
    double turns = ceil(a->ranks / left) / ceil((double)a->ranks / a->cores);

    change(f, (f->base - hidden) * (turns - 1) - hidden / 2, VAGUE * hidden);
}

static void forecast_split(const mpi_adapt_t *a, int k, forecast_t *f)
{
    double trees = felt(a->profile, f->base, time_of_all(a->profile, is_tree));
    xy_split_t s = {
        .cores = a->cores, .ranks = a->ranks, .compute_cores = a->cores - k * a->nodes, .base = 2};
    double whole = xy_split_overlapped(&s, 0), best = xy_split_overlapped(&s, xy_split_best(&s));
    double ratio = isfinite(whole) && isfinite(best) && whole > 0 ? best / whole : 1;

    change(f, trees * (ratio - 1), VAGUE * trees);
}

xy_candidate_t mpi_forecast(const mpi_adapt_t *a, const mpi_plan_t *plan, double base)
{
    const mpi_profile_t *p = a->profile;
    forecast_t f = {.base = base, .seconds = base};

    if (p == NULL)
        return (xy_candidate_t){.predicted = base, .error = -1};
    for (size_t i = 0; i < plan->pick_count; i++)
        forecast_pick(p, &plan->picks[i], &f);
    if (plan->is_placed)
        forecast_place(p, &f);
    if (plan->comm_cores > 0)
        forecast_cores(a, plan->comm_cores, &f);
    if (plan->is_split)
        forecast_split(a, plan->comm_cores, &f);
    f.seconds = fmax(f.seconds, LEAST * base);
    return (xy_candidate_t){.predicted = f.seconds, .error = sqrt(f.variance) / f.seconds};
}
