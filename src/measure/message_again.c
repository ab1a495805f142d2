/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "measure/message_bench_internal.h"

enum { AGAIN_MAX = 2 };

double bench_time(const xy_message_sample_t *s, xy_message_kind_t kind)
{
    return kind == XY_MESSAGE_BLOCKING ? s->blocking : s->nonblocking;
}

/* Mark the sizes that contradict their neighbours, by either kind; *count_p: how many. */
static xy_status_t find_outliers(const xy_vec_t *samples, bool is_out[BENCH_SIZES_MAX],
                                 size_t *count_p)
{
    double x[BENCH_SIZES_MAX], t[BENCH_SIZES_MAX];
    size_t at[BENCH_SIZES_MAX];
    bool marks[BENCH_SIZES_MAX];
    xy_status_t st = XY_OK;

    *count_p = 0;
    for (int kind = 0; kind < XY_MESSAGE_WAYS && st == XY_OK; kind++) {
        size_t n = 0, marked;

        for (size_t i = 0; i < samples->count && i < BENCH_SIZES_MAX; i++) {
            const xy_message_sample_t *s = &XY_VEC_AT(samples, xy_message_sample_t, i);

            x[n] = s->bytes;
            t[n] = bench_time(s, (xy_message_kind_t)kind);
            at[n] = i;
            n += x[n] > 0 && t[n] > 0;
        }
        if (n > 0)
            st = xy_outliers(x, t, n, marks, &marked, NULL);
        for (size_t i = 0; i < n && st == XY_OK; i++)
            if (marks[i] && !is_out[at[i]]) {
                is_out[at[i]] = true;
                ++*count_p;
            }
    }
    return st;
}

void bench_take_faster(double *t, double other)
{
    if (other > 0 && other < *t)
        *t = other;
}

/* Measure the marked sizes again, three times each in one launch; the faster counts, as
 * disturbances only add. */
static xy_status_t measure_marked(bench_t *r, const bool is_out[BENCH_SIZES_MAX])
{
    xy_vec_t known = r->samples, merged = XY_VEC_INIT(xy_message_sample_t);
    double sizes[BENCH_SIZES_MAX];
    size_t count = 0;
    xy_status_t st;

    for (size_t i = 0; i < known.count && i < BENCH_SIZES_MAX; i++)
        for (int k = 0; k < 3 && is_out[i] && count < BENCH_SIZES_MAX; k++)
            sizes[count++] = XY_VEC_AT(&known, xy_message_sample_t, i).bytes;
    r->samples = XY_VEC_INIT(xy_message_sample_t);
    st = bench_measure_sizes(r, sizes, count);
    if (st == XY_OK)
        st = bench_merge(&r->samples, &merged);
    for (size_t i = 0; st == XY_OK && i < known.count; i++)
        for (size_t k = 0; k < merged.count; k++) {
            xy_message_sample_t *old = &XY_VEC_AT(&known, xy_message_sample_t, i);
            const xy_message_sample_t *new = &XY_VEC_AT(&merged, xy_message_sample_t, k);

            if (old->bytes == new->bytes) {
                bench_take_faster(&old->blocking, new->blocking);
                bench_take_faster(&old->nonblocking, new->nonblocking);
                bench_take_faster(&old->gap, new->gap);
                bench_take_faster(&old->exchange, new->exchange);
                bench_take_faster(&old->hold, new->hold);
            }
        }
    xy_vec_cleanup(&merged);
    xy_vec_cleanup(&r->samples);
    r->samples = known;
    return st;
}

xy_status_t bench_measure_again(bench_t *r)
{
    xy_status_t st = XY_OK;

    for (int k = 0; k < AGAIN_MAX && st == XY_OK && bench_has_time(r); k++) {
        bool is_out[BENCH_SIZES_MAX] = {false};
        size_t count;

        st = find_outliers(&r->samples, is_out, &count);
        if (st != XY_OK || count == 0)
            return st;
        st = measure_marked(r, is_out);
    }
    return st;
}
