/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/message_bench_internal.h"

enum { JUMPS_MAX = 7, HELD = 6 };
/* Figures of a sample. */
enum { FIGURES = sizeof(xy_message_sample_t) / sizeof(double) };

/* A time that is so far from the line through its neighbours on one side is a jump; it is looked at
 * until the sizes on both sides of it are as near as `near`. */
static const double jump = 0.10, near = 1.05;

size_t bench_list_sizes(double largest, double sizes[BENCH_SIZES_MAX])
{
    size_t n = 0;

    for (double power = 1; power <= largest && n + 2 < BENCH_SIZES_MAX; power *= 2) {
        sizes[n++] = power;
        if (power > 1 && 1.5 * power <= largest)
            sizes[n++] = 1.5 * power;
    }
    return n;
}

size_t bench_take_sizes(const xy_vec_t *given, double sizes[BENCH_SIZES_MAX])
{
    size_t n = 0;

    for (; n < given->count && n < BENCH_SIZES_MAX; n++)
        sizes[n] = (double)XY_VEC_AT(given, uint64_t, n);
    return n;
}

static int by_bytes(const void *a, const void *b)
{
    const xy_message_sample_t *p = a, *q = b;

    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

double bench_middle(double *values, size_t n)
{
    double low, high;

    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && values[k] < values[k - 1]; k--) {
            double t = values[k];

            values[k] = values[k - 1];
            values[k - 1] = t;
        }
    low = values[(n - 1) / 2], high = values[n / 2];
    return (low + high) / 2;
}

/* Several samples of one size, of as many launches, are one: the median of each figure. Where
 * buffers and queues come to lie differs from launch to launch, and so do times. */
static xy_message_sample_t merge(const xy_message_sample_t *s, size_t n)
{
    double result[FIGURES], figures[COST_LAUNCHES_MAX][FIGURES], v[COST_LAUNCHES_MAX];
    xy_message_sample_t one;

    n = n < COST_LAUNCHES_MAX ? n : COST_LAUNCHES_MAX;
    memcpy(figures, s, n * sizeof(*s));
    for (size_t k = 0; k < FIGURES; k++) {
        for (size_t i = 0; i < n; i++)
            v[i] = figures[i][k];
        result[k] = bench_middle(v, n);
    }
    memcpy(&one, result, sizeof(one));
    return one;
}

/* The samples of all launches by size, each size once. */
xy_status_t bench_merge(xy_vec_t *samples, xy_vec_t *merged)
{
    xy_message_sample_t *s = samples->data;

    merged->count = 0;
    if (samples->count == 0)
        return XY_OK;
    qsort(s, samples->count, sizeof(*s), by_bytes);
    for (size_t i = 0, j; i < samples->count; i = j) {
        xy_message_sample_t one;

        for (j = i + 1; j < samples->count && s[j].bytes == s[i].bytes;)
            j++;
        one = merge(&s[i], j - i);
        if (xy_vec_append(merged, &one) != XY_OK)
            return xy_fail_memory("reading messages");
    }
    return XY_OK;
}

static bool is_held(const bench_t *r, double bytes)
{
    for (size_t i = 0; i < r->held_out.count; i++)
        if ((double)XY_VEC_AT(&r->held_out, uint64_t, i) == bytes)
            return true;
    return false;
}

/* Sizes that are held out stand twice behind the others. */
static size_t add_held(const bench_t *r, double sizes[BENCH_SIZES_MAX], size_t count)
{
    for (size_t i = 0; i < r->held_out.count && count + 2 <= BENCH_SIZES_MAX; i++) {
        sizes[count++] = (double)XY_VEC_AT(&r->held_out, uint64_t, i);
        sizes[count] = sizes[count - 1];
        count++;
    }
    return count;
}

/* Move what was held out from the samples of the last launch, which begin at `first`, to `aside`:
 * each launch appends the same sizes in the same order. */
static xy_status_t set_aside(bench_t *r, size_t first, xy_vec_t *aside)
{
    size_t kept = first;

    for (size_t i = first; i < r->samples.count; i++) {
        xy_message_sample_t *s = &XY_VEC_AT(&r->samples, xy_message_sample_t, i);

        if (!is_held(r, s->bytes))
            XY_VEC_AT(&r->samples, xy_message_sample_t, kept++) = *s;
        else if (xy_vec_append(aside, s) != XY_OK)
            return xy_fail_memory("reading messages");
    }
    r->samples.count = kept;
    return XY_OK;
}

/* The median over the launches of each entry of `aside`, which has `each` of them by launch.
 */
static xy_status_t merge_held(bench_t *r, const xy_vec_t *aside, size_t each)
{
    for (size_t i = 0; i < each; i++) {
        xy_message_sample_t list[COST_LAUNCHES_MAX], one;
        size_t n = 0;

        for (size_t k = i; k < aside->count && n < COST_LAUNCHES_MAX; k += each)
            list[n++] = XY_VEC_AT(aside, xy_message_sample_t, k);
        if (n == 0)
            break;
        one = merge(list, n);
        if (xy_vec_append(&r->held, &one) != XY_OK ||
            (r->pair->held != NULL && xy_vec_append(r->pair->held, &one) != XY_OK))
            return xy_fail_memory("reading messages");
    }
    return XY_OK;
}

/* How far `at` is off the line through a and b, which does not fall. */
static double miss_of(const xy_message_sample_t *a, const xy_message_sample_t *b,
                      const xy_message_sample_t *at)
{
    double slope = (b->blocking - a->blocking) / (b->bytes - a->bytes);
    double expected = a->blocking + fmax(slope, 0) * (at->bytes - a->bytes);

    return fabs(at->blocking - expected) / fmax(fmin(at->blocking, expected), 1e-12);
}

/* How far the line of one side of the gap before sample i is from the other side. */
static double gap_miss(const xy_vec_t *merged, size_t i)
{
    const xy_message_sample_t *s = merged->data;
    double left = i > 1 ? miss_of(&s[i - 2], &s[i - 1], &s[i]) : 0;
    double right = i + 1 < merged->count ? miss_of(&s[i + 1], &s[i], &s[i - 1]) : 0;

    if (s[i].bytes < near * s[i - 1].bytes || s[i].bytes - s[i - 1].bytes < 3)
        return 0;
    return fmax(left, right);
}

/* Sizes that cut in three the gaps in which the time jumps or bends most. The number of all. */
static size_t add_jumps(const bench_t *r, const xy_vec_t *merged, double sizes[BENCH_SIZES_MAX],
                        size_t count)
{
    const xy_message_sample_t *s = merged->data;
    double last = INFINITY;

    for (int k = 0; k < JUMPS_MAX && count + 2 < BENCH_SIZES_MAX; k++) {
        size_t at = 0;
        double most = jump, third;

        for (size_t i = 1; i < merged->count; i++) {
            double miss = gap_miss(merged, i);

            if (miss > most && miss < last) {
                most = miss;
                at = i;
            }
        }
        if (at == 0)
            break;
        last = most;
        third = pow(s[at].bytes / s[at - 1].bytes, 1 / 3.0);
        sizes[count] = fmax(floor(s[at - 1].bytes * third), s[at - 1].bytes + 1);
        count += !is_held(r, sizes[count]);
        sizes[count] = fmin(ceil(s[at - 1].bytes * third * third), s[at].bytes - 1);
        count += !is_held(r, sizes[count]);
    }
    return count;
}

/* Whether sizes may be added after launch i: where there are many launches, each size
 * deserves two.
 */
static bool goes_on(const measure_bench_t *pair, int i)
{
    return i + (bench_launches(pair) > 3 ? 2 : 1) < bench_launches(pair);
}

/* All sizes in each launch; after each, sizes are added where the time jumps. */
xy_status_t bench_measure_all(bench_t *r, double *sizes, size_t count, bool is_given)
{
    xy_vec_t merged = XY_VEC_INIT(xy_message_sample_t), aside = XY_VEC_INIT(xy_message_sample_t);
    size_t held = add_held(r, sizes, count) - count;
    xy_status_t st = XY_OK;

    for (int i = 0; st == XY_OK && i < bench_launches(r->pair) && bench_has_time(r);
         i++, r->done += r->share) {
        size_t first = r->samples.count;

        st = bench_measure_sizes(r, sizes, add_held(r, sizes, count));
        if (st == XY_OK)
            st = set_aside(r, first, &aside);
        if (st == XY_OK)
            st = bench_merge(&r->samples, &merged);
        if (st == XY_OK && !is_given && goes_on(r->pair, i))
            count = add_jumps(r, &merged, sizes, count);
    }
    if (st == XY_OK)
        st = merge_held(r, &aside, held);
    xy_vec_cleanup(&aside);
    xy_vec_cleanup(&r->samples);
    r->samples = merged;
    return st;
}

/* The requested sizes; else a few between the others, by the golden ratio, unless these were chosen
 * by the user. */
xy_status_t bench_list_held(bench_t *r, const double *sizes, size_t count, bool is_given)
{
    const xy_vec_t *wanted = r->pair->held_out;
    bool is_wanted = wanted != NULL && wanted->count > 0;
    size_t n = is_wanted ? wanted->count : is_given || count < 8 ? 0 : HELD;

    for (size_t k = 0; k < n; k++) {
        double part = ((double)k + fmod(0.618034 * (double)(k + 1), 1)) / HELD;
        uint64_t bytes = is_wanted ? XY_VEC_AT(wanted, uint64_t, k)
                                   : (uint64_t)(sizes[0] * pow(sizes[count - 1] / sizes[0], part));
        bool is_taken = is_held(r, (double)bytes);

        for (size_t i = 0; !is_wanted && i < count; i++)
            is_taken = is_taken || sizes[i] == (double)bytes;
        if (!is_taken && xy_vec_append(&r->held_out, &bytes) != XY_OK)
            return xy_fail_memory("listing sizes");
    }
    return XY_OK;
}
