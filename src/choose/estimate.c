/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predictions corrected by what was measured.
 *
 * x = ln(measured / predicted) of a run of candidate c at distance d from the instance asked for is
 *
 *     x = g + e_c + (d-part) + noise      g   ~ N(0, COMMON^2)     of all candidates
 *                                         e_c ~ N(0, error_c^2)    of this one
 *                                         d-part ~ N(0, (d FAR)^2) of the other instance
 *                                         noise  ~ N(0, NOISE^2)
 *
 * Runs of one instance share the d-part: their mean counts as one observation with less noise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choose/internal.h"

#define COMMON  1.0  /* models of a machine may be wrong by a factor e */
#define NOISE   0.05 /* of a run */
#define FAR     0.15 /* when the parameters change by a factor e */
#define UNKNOWN 0.25 /* error of predictions that do not say it */
#define EXACT   1e-6 /* least error: keeps divisions finite */

typedef struct {
    double mean, precision; /* of what was measured, as seen from the instance; precision 0: none */
    double prior;           /* variance of e_c */
    size_t runs;
    double nearest; /* distance */
} evidence_t;

static double place(double value)
{
    return copysign(log1p(fabs(value)), value);
}

double choose_distance(const xy_instance_t *a, const xy_instance_t *b)
{
    double sum = 0;

    if (a->count != b->count)
        return -1;
    for (size_t i = 0; i < a->count; i++) {
        const xy_parameter_t *p = &a->parameters[i], *q = &b->parameters[i];
        double d;

        if (strcmp(p->name, q->name) != 0)
            return -1;
        d = place(p->value) - place(q->value);
        sum += d * d;
    }
    return sqrt(sum);
}

static bool is_of(const xy_run_t *run, const xy_choose_t *q, const char *alternative)
{
    return strcmp(run->alternative, alternative) == 0 &&
           strcmp(run->instance.problem, q->instance.problem) == 0 &&
           strcmp(run->instance.host, q->instance.host) == 0;
}

/* A run as seen from the instance. */
typedef struct {
    double distance, ratio;
} seen_t;

static int by_distance(const void *a, const void *b)
{
    const seen_t *x = a, *y = b;

    return (x->distance > y->distance) - (x->distance < y->distance);
}

static void observe(evidence_t *e, double mean, double variance)
{
    double precision = 1 / variance;

    e->mean = (e->mean * e->precision + mean * precision) / (e->precision + precision);
    e->precision += precision;
}

/* Runs at one distance are of one instance. */
static void group(evidence_t *e, const seen_t *seen, size_t count, double noise)
{
    for (size_t i = 0, end; i < count; i = end) {
        double sum = 0, d = seen[i].distance;

        for (end = i; end < count && seen[end].distance == d; end++)
            sum += seen[end].ratio;
        observe(e, sum / (double)(end - i), noise * noise / (double)(end - i) + d * d * FAR * FAR);
    }
    e->runs = count;
    e->nearest = count > 0 ? seen[0].distance : 0;
}

static evidence_t look(const xy_choose_t *q, const xy_candidate_t *c, seen_t *seen)
{
    double error = c->error < 0 ? UNKNOWN : log1p(c->error);
    evidence_t e = {.prior = fmax(error * error, EXACT * EXACT)};
    size_t count = 0;

    for (size_t i = 0; q->history != NULL && i < q->history->runs.count; i++) {
        const xy_run_t *run = &XY_VEC_AT(&q->history->runs, xy_run_t, i);
        double d = is_of(run, q, c->name) ? choose_distance(&run->instance, &q->instance) : -1;

        if (d >= 0)
            seen[count++] = (seen_t){d, log(run->measured / run->predicted)};
    }
    qsort(seen, count, sizeof(*seen), by_distance);
    group(&e, seen, count, q->noise > 0 ? q->noise : NOISE);
    return e;
}

/* The common part, from all candidates but one; its variance. */
static double find_common(const evidence_t *e, size_t count, size_t but, double *mean_p)
{
    double sum = 0, precision = 1 / (COMMON * COMMON);

    for (size_t i = 0; i < count; i++)
        if (i != but && e[i].precision > 0) {
            double p = 1 / (e[i].prior + 1 / e[i].precision);

            sum += e[i].mean * p;
            precision += p;
        }
    *mean_p = sum / precision;
    return 1 / precision;
}

static bool is_any_measured(const evidence_t *e, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (e[i].precision > 0)
            return true;
    return false;
}

/* Where nothing was measured, that all predictions may be wrong by a common factor says nothing
 * about which is the least, and is no part of the spread. */
static xy_estimate_of_t estimate(const evidence_t *e, size_t count, size_t i, double predicted)
{
    double common, variance = find_common(e, count, i, &common);
    double prior = e[i].prior + (is_any_measured(e, count) ? variance : 0);
    double precision = 1 / prior + e[i].precision;
    double mean = (common / prior + e[i].mean * e[i].precision) / precision;
    double deviation = sqrt(1 / precision), seconds = predicted * exp(mean);

    return (xy_estimate_of_t){.seconds = seconds,
                              .low = seconds * exp(-2 * deviation),
                              .high = seconds * exp(2 * deviation),
                              .deviation = deviation,
                              .runs = e[i].runs,
                              .nearest = e[i].runs > 0 ? exp(e[i].nearest) : 0};
}

xy_status_t choose_estimate(const xy_choose_t *q, xy_estimate_of_t *of)
{
    size_t runs = q->history != NULL ? q->history->runs.count : 0;
    evidence_t *e = xy_calloc(q->count, sizeof(*e));
    seen_t *seen = xy_calloc(runs + 1, sizeof(*seen));
    xy_status_t st = e != NULL && seen != NULL ? XY_OK : xy_fail_memory("choosing");

    for (size_t i = 0; st == XY_OK && i < q->count; i++)
        e[i] = look(q, &q->candidates[i], seen);
    for (size_t i = 0; st == XY_OK && i < q->count; i++)
        of[i] = estimate(e, q->count, i, q->candidates[i].predicted);
    xy_free(e);
    xy_free(seen);
    return st;
}
