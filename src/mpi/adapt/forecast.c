/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forecast the time of a plan: the time of the default, changed by formulas for each setting that
 * the plan changes.
 *
 *   another algorithm   the time of these calls, times the ratio of what one takes by the two
 *                       algorithms: simulated, or by their formulas
 *   place by matrix     the part of the run that is not computing, by half the gain
 *   communication cores the ranks share fewer cores; half of nonblocking collectives is hidden
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
static double time_of(const mpi_profile_t *p, size_t i)
{
    const xy_vjob_calls_t *c = &p->calls[i];

    if (c->seconds > 0 || p->ways[i].count == 0)
        return c->seconds;
    return (double)c->calls * p->ways[i].seconds[0];
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
    return c->is_nonblocking && xy_coll_is_tree(c->collective);
}

static double time_of_all(const mpi_profile_t *p, bool (*is_meant)(const xy_vjob_calls_t *c))
{
    double sum = 0;

    for (size_t i = 0; i < p->call_count; i++)
        sum += is_meant(&p->calls[i]) ? time_of(p, i) : 0;
    return sum;
}

/* The part of a collective's time that delays the program: all together at most the time in which
 * it does not compute. */
static double felt(const mpi_profile_t *p, double base, double seconds)
{
    double all = time_of_all(p, is_any);

    return all > p->share * base ? seconds * p->share * base / all : seconds;
}

/* How much longer the calls take by another algorithm; 0: not known. The error is of their time by
 * it. Calls that follow each other closely may overlap, and by another algorithm they may not: two
 * deviations up is where each takes what it takes alone. */
static double ratio_of(const xy_vjob_calls_t *c, const mpi_ways_t *ways,
                       const xy_coll_algorithm_t *a, double *error_p)
{
    double alone;

    *error_p = ways->is_simulated ? SIMULATED : FORMULA;
    for (int i = 1; i < ways->count; i++)
        if (ways->algorithm[i] == a && ways->seconds[0] > 0) {
            alone = (double)c->calls * ways->seconds[0];
            if (ways->is_simulated && c->seconds > 0 && alone > c->seconds)
                *error_p += (alone / c->seconds - 1) / 2;
            return ways->seconds[i] / ways->seconds[0];
        }
    return 0;
}

/* Add the expected change by another algorithm to a forecast. */
static void forecast_pick(const mpi_profile_t *p, const xy_coll_pick_t *pick, forecast_t *f)
{
    for (size_t i = 0; i < p->call_count; i++) {
        const xy_vjob_calls_t *c = &p->calls[i];
        double ratio, error, seconds;

        if (c->collective != pick->collective || c->procs != pick->procs ||
            xy_coll_step(c->bytes) != pick->step)
            continue;
        ratio = ratio_of(c, &p->ways[i], pick->algorithm, &error);
        seconds = felt(p, f->base, time_of(p, i));
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

/* Half of nonblocking collectives is hidden. Two deviations up is where nothing is, because the
 * program waits at once, and the few cores do alone what all ranks of a node did. */
static void forecast_cores(const mpi_adapt_t *a, int k, forecast_t *f)
{
    double hidden = felt(a->profile, f->base, time_of_all(a->profile, is_nonblocking));
    double left = a->cores - k * a->nodes, alone = fmax(1, (double)a->ranks / (k * a->nodes));
    double turns = ceil(a->ranks / left) / ceil((double)a->ranks / a->cores);

    change(f, (f->base - hidden) * (turns - 1) - hidden / 2, hidden * (alone - 0.5) / 2);
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
