/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MAX = 96, HELD = 6, AGAIN_MAX = 4 };

/* The part of the time in which everything is measured once; contradictions get the rest. */
static const double once = 0.6;

/* No model is kept that misses by so much, or after so many samples were left out. */
static const double miss_max = 0.2, dropped_max = 0.2, held_max = 0.3;

typedef struct {
    const measure_curve_t *curve;
    xy_sample_t sample[SIZES_MAX]; /* by size */
    size_t count;
    xy_sample_t held[HELD];
    size_t held_count;
    double each, left; /* seconds of one measurement, of all that are to come */
    uint64_t random;
} session_t;

void measure_trust_held(measure_trust_t *t, double predicted, double measured)
{
    double error = fabs(predicted / measured - 1);

    t->held++;
    t->held_sum += error;
    t->held_worst = fmax(t->held_worst, error);
}

xy_status_t measure_trust(const char *what, const measure_trust_t *t)
{
    double held_out = t->held_sum / fmax((double)t->held, 1);
    double but_one = t->held > 1 ? (t->held_sum - t->held_worst) / (double)(t->held - 1) : 0;

    if ((double)t->dropped > dropped_max * (double)t->samples)
        return xy_fail(
            XY_EINVAL,
            "too noisy: %s (%ld of %ld sizes contradict their neighbours), run again on a "
            "quiet machine",
            what, t->dropped, t->samples);
    if (t->error_mean > miss_max)
        return xy_fail(XY_EINVAL,
                       "too noisy: %s (the best model misses its samples by %.0f %% on average), "
                       "run again on a quiet machine",
                       what, 100 * t->error_mean);
    if (but_one > miss_max || held_out > held_max)
        return xy_fail(XY_EINVAL,
                       "too noisy: %s (the best model misses held-out sizes by %.0f %% on "
                       "average), run again on a quiet machine",
                       what, 100 * held_out);
    return XY_OK;
}

/* ---- Sizes ---- */

static void list_sizes(session_t *s)
{
    const measure_curve_t *c = s->curve;

    for (double x = c->smallest; x <= c->largest && s->count + 2 <= SIZES_MAX; x *= 2) {
        s->sample[s->count++].x = x;
        if (1.5 * x <= c->largest)
            s->sample[s->count++].x = 1.5 * x;
    }
}

static bool is_listed(const session_t *s, double x)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->sample[i].x == x)
            return true;
    return false;
}

/* Spread over the range by the golden ratio. */
static void list_held(session_t *s)
{
    double low = s->sample[0].x, high = s->sample[s->count - 1].x, grain = s->curve->grain;

    for (int k = 0; k < HELD; k++) {
        double part = (k + fmod(0.618034 * (k + 1), 1)) / HELD;
        double x = round(low * pow(high / low, part) / grain) * grain;

        if (x > low && x < high && !is_listed(s, x))
            s->held[s->held_count++].x = x;
    }
}

/* ---- Measuring ---- */

/* Disturbances add: the faster of two measurements counts. */
static xy_status_t measure_sample(session_t *s, xy_sample_t *sample)
{
    measure_time_t m = {0};
    xy_status_t st = s->curve->measure(s->curve->arg, sample->x, s->each, &m);

    s->left -= s->each;
    if (st != XY_OK)
        return st;
    m.seconds = fmax(m.seconds, 1e-10);
    if (sample->repetitions == 0 || m.seconds < sample->t) {
        sample->t = m.seconds;
        sample->spread = m.spread;
    }
    sample->repetitions += m.repetitions > 0 ? m.repetitions : 1;
    return XY_OK;
}

void measure_random_order(size_t *order, size_t count, uint64_t *random)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = xy_random(random) % (i + 1);

        order[i] = order[k];
        order[k] = i;
    }
}

/* A bad second of the machine meets sizes that are far apart, whose neighbours tell. */
static xy_status_t measure_all(session_t *s)
{
    size_t order[SIZES_MAX + HELD], all = s->count + s->held_count;
    xy_status_t st = XY_OK;

    measure_random_order(order, all, &s->random);
    for (size_t i = 0; i < all && st == XY_OK; i++)
        st = measure_sample(s, order[i] < s->count ? &s->sample[order[i]]
                                                   : &s->held[order[i] - s->count]);
    return st;
}

static int by_size(const void *a, const void *b)
{
    const xy_sample_t *const *p = a, *const *q = b;

    return ((*p)->x > (*q)->x) - ((*p)->x < (*q)->x);
}

/* All of them, those that are held out among the others. */
static size_t list_all(session_t *s, xy_sample_t *all[SIZES_MAX + HELD])
{
    size_t n = 0;

    for (size_t i = 0; i < s->count; i++)
        all[n++] = &s->sample[i];
    for (size_t i = 0; i < s->held_count; i++)
        all[n++] = &s->held[i];
    qsort(all, n, sizeof(all[0]), by_size);
    return n;
}

static xy_status_t find_outliers(xy_sample_t *const *all, size_t n, bool *is_out, size_t *count_p)
{
    double x[SIZES_MAX + HELD], t[SIZES_MAX + HELD];

    for (size_t i = 0; i < n; i++) {
        x[i] = all[i]->x;
        t[i] = all[i]->t;
    }
    return xy_outliers(x, t, n, is_out, count_p, NULL);
}

/* Measure again both neighbours of an outlier, as either may be wrong, and the ends, which have
 * only one neighbour. */
static xy_status_t measure_again(session_t *s, xy_sample_t *const *all, size_t n,
                                 const bool *is_out)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < n && st == XY_OK; i++) {
        bool is_doubtful = is_out[i] || (i > 0 && is_out[i - 1]) || (i + 1 < n && is_out[i + 1]) ||
                           i == 0 || i + 1 == n;

        if (is_doubtful && s->left >= s->each)
            st = measure_sample(s, all[i]);
    }
    return st;
}

/* Measures outliers again, a few times, while time is left. */
static xy_status_t settle(session_t *s)
{
    xy_sample_t *all[SIZES_MAX + HELD];
    size_t n = list_all(s, all);
    xy_status_t st = XY_OK;

    for (int k = 0; k < AGAIN_MAX && st == XY_OK && s->left >= s->each; k++) {
        bool is_out[SIZES_MAX + HELD] = {false};
        size_t count;

        st = find_outliers(all, n, is_out, &count);
        if (st != XY_OK || (count == 0 && k > 0))
            return st;
        st = measure_again(s, all, n, is_out);
    }
    return st;
}

/* ---- The model ---- */

/* Fits the model of a curve and reports whether it can be trusted. */
static xy_status_t conclude(const session_t *s, xy_kernel_cost_t *k)
{
    measure_trust_t trust = {.samples = (long)s->count};
    xy_status_t st;

    k->samples = xy_calloc(s->count, sizeof(*k->samples));
    if (k->samples == NULL)
        return xy_fail_memory("storing samples");
    memcpy(k->samples, s->sample, s->count * sizeof(*k->samples));
    k->sample_count = s->count;
    st = xy_fit_compute(k->samples, k->sample_count, &s->curve->options, &k->fit);
    if (st != XY_OK)
        return st;
    for (size_t i = 0; i < s->held_count; i++)
        measure_trust_held(&trust, xy_fit_value(&k->fit, s->held[i].x).seconds, s->held[i].t);
    k->held_out = trust.held_sum / fmax((double)trust.held, 1);
    k->held_count = trust.held;
    trust.dropped = k->fit.dropped;
    trust.error_mean = k->fit.error_mean;
    return measure_trust(s->curve->what, &trust);
}

xy_status_t measure_curve_run(const measure_curve_t *curve, xy_kernel_cost_t *kernel)
{
    session_t s = {.curve = curve, .left = curve->seconds, .random = 1};
    xy_status_t st;

    list_sizes(&s);
    list_held(&s);
    s.each = once * curve->seconds / (double)(s.count + s.held_count);
    st = measure_all(&s);
    if (st == XY_OK)
        st = settle(&s);
    return st == XY_OK ? conclude(&s, kernel) : st;
}
