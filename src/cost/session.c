/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel: which sizes to measure, when to stop, and whether there is a model in them.
 *
 *   doubling   100   200      400         800        until a run takes the longest time
 *   between    100 141 200 283 400  566   800  ...   where the model of the others misses
 *   again          .        .                        what was disturbed, or stands out
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/calibrate_internal.h"
#include "cost/point.h"

/* A sample says too little when its runs do not agree within `noisy`. */
static const double noisy = 0.10;
/* Sizes are added where the model misses by more than `aim`. */
static const double aim = 0.015, outlier = 0.05;
/* The part of the time that is left for measuring again. */
static const double again = 0.35;

enum { SAMPLES_MAX = 64 };

/* One kernel being measured. */
typedef struct {
    const xy_calibration_t *c;
    cost_worker_t worker;
    xy_kernel_cost_t result;
    cost_point_t points[SAMPLES_MAX]; /* by size once measure_doubling is over */
    size_t count;
    double deadline;
} session_t;

static xy_status_t measure(session_t *s, double n, double expected, cost_point_t *p)
{
    double begin = cost_now(), left = fmax(s->deadline - begin, 0.01);
    xy_status_t st = cost_point_visit(&s->worker, n, fmin(cost_point_time(expected), left / 3), p);

    calibrate_step(s->c, cost_now() - begin);
    return st;
}

static bool is_paced(const session_t *s)
{
    return s->worker.options.pace.latency > 0;
}

/* Double from the first size; the last one is cut so that it takes about the longest time. */
static xy_status_t measure_doubling(session_t *s)
{
    double n = s->c->first > 0 ? s->c->first : 100, expected = 0;
    double longest = s->c->time_max > 0 ? s->c->time_max : 0.5;

    while (s->count < SAMPLES_MAX / 2) {
        cost_point_t *last = &s->points[s->count];
        double growth = 8;
        xy_status_t st = measure(s, n, expected, last);

        if (st != XY_OK)
            return st;
        s->count++;
        if (last->paced >= 0.7 * longest || n >= 1e9 || cost_now() > s->deadline)
            break;
        if (s->count > 1 && last->paced > last[-1].paced)
            growth = fmin(last->paced / last[-1].paced, 64);
        expected = last->paced * growth;
        n = expected <= 1.2 * longest ? 2 * n
                                      : ceil(n * pow(longest / last->paced, log(2) / log(growth)));
    }
    return XY_OK;
}

static int by_size(const void *a, const void *b)
{
    const cost_point_t *p = a, *q = b;

    return (p->x > q->x) - (p->x < q->x);
}

static xy_status_t fit(const session_t *s, bool by_pace, xy_fit_t *fit_p)
{
    const xy_fit_options_t options = {.criterion = s->c->criterion};
    xy_sample_t samples[SAMPLES_MAX] = {{0}};

    for (size_t i = 0; i < s->count; i++)
        samples[i] = cost_point_sample(&s->points[i], by_pace);
    return xy_fit_compute(samples, s->count, &options, fit_p);
}

/* One round: measure the middle of each gap beside a sample that was missed. The number of gaps
 * whose middle was missed by more than the aim goes to *missed_p. */
static xy_status_t measure_gaps(session_t *s, double end, bool gap_open[SAMPLES_MAX], int *missed_p)
{
    bool open[SAMPLES_MAX] = {false};
    cost_point_t added[SAMPLES_MAX] = {{0}};
    bool missed[SAMPLES_MAX];
    size_t n = 0, before = s->count;
    xy_fit_t model;
    xy_status_t st = fit(s, true, &model);

    *missed_p = 0;
    if (st != XY_OK)
        return st;
    /* From the large end: there a miss costs most. */
    for (size_t i = before; st == XY_OK && i-- > 1;) {
        double middle = round(sqrt(s->points[i - 1].x * s->points[i].x));
        double guess, left = end - cost_now();

        if (!gap_open[i] || before + n >= SAMPLES_MAX || middle <= s->points[i - 1].x * 1.04 ||
            middle >= s->points[i].x)
            continue;
        guess = xy_fit_value(&model, middle).seconds;
        if (4 * guess > left)
            continue;
        st = measure(s, middle, guess, &added[n]);
        if (st == XY_OK) {
            missed[n] = fabs(guess - added[n].paced) > aim * added[n].paced;
            *missed_p += missed[n];
            n++;
        }
    }
    xy_fit_cleanup(&model);
    memcpy(s->points + before, added, n * sizeof(*added));
    s->count += n;
    qsort(s->points, s->count, sizeof(*s->points), by_size);
    /* Both halves of a gap whose middle was missed are looked at in the next round. */
    for (size_t k = 0; k < n; k++)
        for (size_t i = 1; missed[k] && i < s->count; i++)
            if (s->points[i].x == added[k].x || s->points[i - 1].x == added[k].x)
                open[i] = true;
    memcpy(gap_open, open, sizeof(open));
    return st;
}

static xy_status_t measure_between(session_t *s)
{
    double now = cost_now(), end = now + (s->deadline - now) * (1 - again);
    bool gap_open[SAMPLES_MAX];
    int missed = 1;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < SAMPLES_MAX; i++)
        gap_open[i] = true;
    while (st == XY_OK && missed > 0 && cost_now() < end)
        st = measure_gaps(s, end, gap_open, &missed);
    return st;
}

/* One that stands out deserves a second look, too. */
static bool is_doubtful(const session_t *s, const cost_point_t *p, const xy_fit_t *model)
{
    double miss = fabs(xy_fit_value(model, p->x).seconds - p->paced) / p->paced;

    return cost_point_is_doubtful(p, is_paced(s)) || (miss > cost_point_sure && p->visits < 3);
}

/* Visit what is doubtful again, round after round, as long as there is time. */
static xy_status_t measure_again(session_t *s)
{
    bool is_over = false;

    while (!is_over && cost_now() < s->deadline) {
        xy_fit_t model;
        xy_status_t st = fit(s, true, &model);

        if (st != XY_OK)
            return st;
        is_over = true;
        for (size_t i = s->count; st == XY_OK && i-- > 0;) {
            cost_point_t *p = &s->points[i];

            if (!is_doubtful(s, p, &model) || 4 * p->paced > s->deadline - cost_now())
                continue;
            st = measure(s, p->x, p->paced, p);
            is_over = false;
        }
        xy_fit_cleanup(&model);
        if (st != XY_OK)
            return st;
    }
    return XY_OK;
}

static bool is_too_noisy(const session_t *s)
{
    size_t bad = 0;

    for (size_t i = 0; i < s->count; i++)
        bad += s->points[i].spread > noisy;
    return 4 * bad > s->count;
}

/* Leave out single samples that say nothing; too many of them, and there is no model. Where most
 * had the core to themselves, those that never had say something else. */
static void drop_noisy(session_t *s)
{
    size_t kept = 0, alone = 0;

    for (size_t i = 0; i < s->count; i++)
        alone += s->points[i].alone > 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].spread <= noisy && (4 * alone < 3 * s->count || s->points[i].alone > 0))
            s->points[kept++] = s->points[i];
    s->count = kept;
}

/* Leave out samples that the others' model says are far too slow, when they were visited again and
 * no two visits agreed: sizes that really are slow (powers of two, say) are so each time. */
static xy_status_t drop_outliers(session_t *s)
{
    xy_fit_t model;
    size_t kept = 0;
    double limit;
    xy_status_t st = fit(s, true, &model);

    if (st != XY_OK)
        return st;
    limit = fmax(outlier, 4 * model.error_mean);
    for (size_t i = 0; i < s->count; i++) {
        const cost_point_t *p = &s->points[i];

        if (p->is_vouched || p->visits < 2 ||
            p->paced <= (1 + limit) * xy_fit_value(&model, p->x).seconds)
            s->points[kept++] = *p;
    }
    s->count = kept;
    xy_fit_cleanup(&model);
    return XY_OK;
}

/* Fit by either clock. Arithmetic follows the pace of the core, memory and sleep do not: the clock
 * that gives the better model is the right one. */
static xy_status_t choose_clock(session_t *s, bool *by_pace_p)
{
    xy_fit_t paced, wall;
    xy_status_t st = fit(s, true, &paced);

    if (st != XY_OK)
        return st;
    *by_pace_p = is_paced(s);
    st = *by_pace_p ? fit(s, false, &wall) : XY_OK;
    if (st == XY_OK && *by_pace_p && wall.error_mean < paced.error_mean) {
        xy_fit_t other = paced;

        paced = wall;
        wall = other;
        *by_pace_p = false;
        xy_fit_cleanup(&wall);
    } else if (st == XY_OK && *by_pace_p) {
        xy_fit_cleanup(&wall);
    }
    if (st == XY_OK)
        s->result.fit = paced;
    else
        xy_fit_cleanup(&paced);
    return st;
}

static xy_status_t conclude(session_t *s)
{
    xy_kernel_cost_t *k = &s->result;
    bool by_pace;
    xy_status_t st;

    if (is_too_noisy(s))
        return xy_fail(
            XY_EINVAL,
            "kernel %s is too noisy (runs of the same size differ, for more than a quarter "
            "of its sizes); it gets no model: run it on a quiet machine",
            k->name);
    drop_noisy(s);
    st = drop_outliers(s);
    if (st == XY_OK)
        st = choose_clock(s, &by_pace);
    if (st != XY_OK)
        return st;
    k->samples = xy_calloc(s->count, sizeof(*k->samples));
    k->clock = xy_strdup(by_pace ? XY_CLOCK_PACED : XY_CLOCK_WALL);
    if (k->samples == NULL || k->clock == NULL)
        return xy_fail_memory("storing samples");
    for (size_t i = 0; i < s->count; i++)
        k->samples[i] = cost_point_sample(&s->points[i], by_pace);
    k->sample_count = s->count;
    return XY_OK;
}

static xy_status_t name_result(session_t *s, const cost_worker_options_t *options)
{
    xy_kernel_cost_t *k = &s->result;

    k->name = xy_strdup(options->name);
    k->cluster = xy_strdup(s->c->cluster != NULL ? s->c->cluster : XY_COSTS_LOCAL);
    k->unit = xy_strdup("n");
    k->library = xy_strdup(s->worker.library);
    k->criterion = xy_strdup(s->c->criterion != NULL ? s->c->criterion : xy_fit_criteria()[0]);
    k->threads = options->threads;
    return k->name != NULL && k->cluster != NULL && k->unit != NULL && k->library != NULL &&
                   k->criterion != NULL
               ? XY_OK
               : xy_fail_memory("storing a model");
}

static xy_status_t measure_all(session_t *s)
{
    xy_status_t st = measure_doubling(s);

    if (st == XY_OK)
        st = measure_between(s);
    return st == XY_OK ? measure_again(s) : st;
}

xy_status_t calibrate_kernel(const xy_calibration_t *c, const cost_worker_options_t *options,
                             double seconds, xy_costs_t *costs)
{
    session_t *s = xy_calloc(1, sizeof(*s));
    xy_status_t st;

    if (s == NULL)
        return xy_fail_memory("measuring");
    s->c = c;
    s->deadline = cost_now() + seconds;
    st = cost_worker_start(options, &s->worker);
    if (st == XY_OK) {
        st = name_result(s, options);
        if (st == XY_OK)
            st = measure_all(s);
        cost_worker_stop(&s->worker);
    }
    if (st == XY_OK)
        st = conclude(s);
    if (st == XY_OK) {
        calibrate_report(c, &s->result);
        st = xy_costs_set_kernel(costs, &s->result);
    }
    xy_kernel_cost_cleanup(&s->result);
    xy_free(s);
    return st;
}
