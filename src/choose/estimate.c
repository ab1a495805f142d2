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
 *
 * A platform may change, also within a long run of a program. A change is a point in the runs of
 * one candidate for one instance after which LATER runs in a row are on one side of all the earlier
 * ones' mean, by LEAP deviations of the noise. Runs of all candidates before the last such point
 * count with the size of the change as additional deviation:
 *
 *     ratio   1.0 1.1 0.9 1.0 | 2.1 2.0 1.9      before |: deviation ln 2
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choose/choose_internal.h"

#define COMMON  1.0  /* models of a machine may be wrong by a factor e */
#define NOISE   0.05 /* of a run */
#define FAR     0.15 /* when the parameters change by a factor e */
#define UNKNOWN 0.25 /* error of predictions that do not say it */
#define EXACT   1e-6 /* least error: keeps divisions finite */

/* Of a change. */
enum { EARLIER = 2, LATER = 3 };
#define LEAP 4

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

/* A run of a candidate as seen from the instance. */
typedef struct {
    size_t candidate, order;
    double distance, ratio;
} seen_t;

static int by_distance(const void *a, const void *b)
{
    const seen_t *x = a, *y = b;

    if (x->candidate != y->candidate)
        return x->candidate < y->candidate ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance > y->distance ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

static void observe(evidence_t *e, double mean, double variance)
{
    double precision = 1 / variance;

    e->mean = (e->mean * e->precision + mean * precision) / (e->precision + precision);
    e->precision += precision;
}

/* ---- Changes of the platform ---- */

/* The last change: the runs from `order` on are behind it. */
typedef struct {
    size_t order;
    double size; /* of the logarithm */
} change_t;

static bool has_leapt(const seen_t *run, double mean, double leap)
{
    bool is_up = run[0].ratio > mean;

    for (int i = 0; i < LATER; i++)
        if (fabs(run[i].ratio - mean) < leap || (run[i].ratio > mean) != is_up)
            return false;
    return true;
}

/* Finds changes among the runs of a candidate for one instance, in their order. The mean is of the
 * runs since the change before. */
static void find_changes(const seen_t *run, size_t count, double leap, change_t *last)
{
    double sum = 0;
    size_t earlier = 0;

    for (size_t i = 0; i + LATER <= count; i++) {
        double mean = earlier > 0 ? sum / (double)earlier : 0;

        if (earlier >= EARLIER && has_leapt(&run[i], mean, leap)) {
            if (run[i].order >= last->order)
                *last = (change_t){run[i].order, fabs(run[i].ratio - mean)};
            sum = 0;
            earlier = 0;
        }
        sum += run[i].ratio;
        earlier++;
    }
}

/* ---- Evidence ---- */

/* The runs of a candidate for one instance: those before the last change, and those behind it. */
static void observe_instance(evidence_t *e, const seen_t *run, size_t count, double noise,
                             const change_t *change)
{
    for (size_t i = 0, end; i < count; i = end) {
        bool is_old = run[i].order < change->order;
        double sum = 0, far = run[i].distance * FAR, old = is_old ? change->size : 0;

        for (end = i; end < count && (run[end].order < change->order) == is_old; end++)
            sum += run[end].ratio;
        observe(e, sum / (double)(end - i),
                noise * noise / (double)(end - i) + far * far + old * old);
    }
}

/* The end of the runs at one distance, which are of one instance. */
static size_t end_of_instance(const seen_t *seen, size_t count, size_t from)
{
    size_t end = from;

    while (end < count && seen[end].candidate == seen[from].candidate &&
           seen[end].distance == seen[from].distance)
        end++;
    return end;
}

/* ---- Runs to candidates: each is looked at once, whatever the number of candidates is ---- */

typedef struct {
    const char *name;
    size_t candidate;
} name_t;

static int by_name(const void *a, const void *b)
{
    const name_t *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* The first of that name, in their order; `count`: there is none. */
static size_t find_name(const name_t *names, size_t count, const char *name)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(names[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && strcmp(names[low].name, name) == 0 ? low : count;
}

/* All runs of the problem here that say something about the instance. */
static xy_status_t see(const xy_choose_t *q, const name_t *names, xy_vec_t *seen)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; q->history != NULL && i < q->history->runs.count && st == XY_OK; i++) {
        const xy_run_t *run = &XY_VEC_AT(&q->history->runs, xy_run_t, i);
        size_t at = find_name(names, q->count, run->alternative);
        double d = -1;

        if (at < q->count && strcmp(run->instance.problem, q->instance.problem) == 0 &&
            strcmp(run->instance.host, q->instance.host) == 0)
            d = choose_distance(&run->instance, &q->instance);
        for (; d >= 0 && st == XY_OK && at < q->count &&
               strcmp(names[at].name, run->alternative) == 0;
             at++)
            st = xy_vec_append(
                seen, &(seen_t){names[at].candidate, i, d, log(run->measured / run->predicted)});
    }
    if (seen->count > 1)
        qsort(seen->data, seen->count, sizeof(seen_t), by_distance);
    return st;
}

/* Adds what was seen, in the order of candidates and distances, to the evidence. */
static void weigh(const seen_t *seen, size_t count, double noise, evidence_t *e)
{
    change_t change = {0};

    for (size_t i = 0, end; i < count; i = end) {
        end = end_of_instance(seen, count, i);
        find_changes(&seen[i], end - i, LEAP * noise, &change);
    }
    for (size_t i = 0, end; i < count; i = end) {
        evidence_t *of = &e[seen[i].candidate];

        end = end_of_instance(seen, count, i);
        of->nearest = of->runs == 0 ? seen[i].distance : of->nearest;
        of->runs += end - i;
        observe_instance(of, &seen[i], end - i, noise, &change);
    }
}

/* Collects the evidence of earlier runs for each candidate. */
static xy_status_t look(const xy_choose_t *q, name_t *names, evidence_t *e)
{
    xy_vec_t seen = XY_VEC_INIT(seen_t);
    xy_status_t st;

    for (size_t i = 0; i < q->count; i++) {
        double error = q->candidates[i].error < 0 ? UNKNOWN : log1p(q->candidates[i].error);

        e[i] = (evidence_t){.prior = fmax(error * error, EXACT * EXACT)};
        names[i] = (name_t){q->candidates[i].name, i};
    }
    qsort(names, q->count, sizeof(*names), by_name);
    st = see(q, names, &seen);
    if (st == XY_OK && seen.count > 0)
        weigh(seen.data, seen.count, q->noise > 0 ? q->noise : NOISE, e);
    xy_vec_cleanup(&seen);
    return st;
}

/* ---- Estimates ---- */

/* The measurements of some candidates: the others do not affect the common part. */
typedef struct {
    const evidence_t *e;
    const size_t *measured;
    size_t count;
} known_t;

/* The common part, from all candidates but one; its variance. */
static double find_common(const known_t *k, size_t but, double *mean_p)
{
    double sum = 0, precision = 1 / (COMMON * COMMON);

    for (size_t i = 0; i < k->count; i++)
        if (k->measured[i] != but) {
            const evidence_t *e = &k->e[k->measured[i]];
            double p = 1 / (e->prior + 1 / e->precision);

            sum += e->mean * p;
            precision += p;
        }
    *mean_p = sum / precision;
    return 1 / precision;
}

/* Where nothing was measured, that all predictions may be wrong by a common factor says nothing
 * about which is the least, and is no part of the spread. */
static xy_estimate_of_t estimate(const known_t *k, size_t i, double predicted)
{
    const evidence_t *e = &k->e[i];
    double common, variance = find_common(k, i, &common);
    double prior = e->prior + (k->count > 0 ? variance : 0);
    double precision = 1 / prior + e->precision;
    double mean = (common / prior + e->mean * e->precision) / precision;
    double deviation = sqrt(1 / precision), seconds = predicted * exp(mean);

    return (xy_estimate_of_t){.seconds = seconds,
                              .low = seconds * exp(-2 * deviation),
                              .high = seconds * exp(2 * deviation),
                              .deviation = deviation,
                              .runs = e->runs,
                              .nearest = e->runs > 0 ? exp(e->nearest) : 0};
}

xy_status_t choose_estimate(const xy_choose_t *q, xy_estimate_of_t *of)
{
    evidence_t *e = xy_calloc(q->count, sizeof(*e));
    name_t *names = xy_calloc(q->count, sizeof(*names));
    size_t *measured = xy_calloc(q->count, sizeof(*measured));
    known_t known = {.e = e, .measured = measured};
    xy_status_t st = XY_ENOMEM;

    if (e != NULL && names != NULL && measured != NULL)
        st = look(q, names, e);
    for (size_t i = 0; st == XY_OK && i < q->count; i++)
        if (e[i].precision > 0)
            measured[known.count++] = i;
    for (size_t i = 0; st == XY_OK && i < q->count; i++)
        of[i] = estimate(&known, i, q->candidates[i].predicted);
    xy_free(e);
    xy_free(names);
    xy_free(measured);
    return st == XY_OK ? XY_OK : xy_fail_memory("choosing");
}
