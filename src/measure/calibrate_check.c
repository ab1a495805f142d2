/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do the models of a store still hold?
 *
 *   sizes      100 ----x-------x--x---------x-----x---- 2000      none of those that were measured
 *   errors       -1 %    +2 %    +3 %    +3 %    +9 %             the middle one counts: +3 %
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/calibrate_internal.h"

enum { SIZES = 5 };

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

/* Sizes spread over the range by the golden ratio: none of those that were measured. */
static double pick_size(double low, double high, int i)
{
    double part = fmod(0.31 + 0.618034 * i, 1);

    return round(low * pow(high / low, part));
}

/* How far off a model may be: as far as it was off its own samples, and the tolerance more. */
static void judge(double errors[SIZES], double tolerance, double own, xy_check_result_t *r)
{
    qsort(errors, SIZES, sizeof(*errors), by_value);
    r->is_measured = true;
    r->middle = errors[SIZES / 2];
    r->least = errors[0];
    r->greatest = errors[SIZES - 1];
    r->holds = fabs(r->middle) <= (tolerance > 0 ? tolerance : 0.10) + own;
}

static xy_status_t add(const xy_calibration_t *c, const xy_check_result_t *r, xy_vec_t *results)
{
    if (c->report != NULL && r->is_measured)
        fprintf(c->report, "%-8s %s: %s (%+.1f %% in the middle, %+.1f %% to %+.1f %%)\n", r->name,
                r->detail, r->holds ? "valid" : "no longer valid", 100 * r->middle, 100 * r->least,
                100 * r->greatest);
    else if (c->report != NULL)
        fprintf(c->report, "%-8s %s: could not be measured\n", r->name, r->detail);
    return xy_vec_append(results, r) == XY_OK ? XY_OK : xy_fail_memory("checking models");
}

/* Measures a stored kernel at a few sizes and compares the times with its model. */
static xy_status_t check_one(const xy_calibration_t *c, const xy_machine_t *live,
                             const xy_costs_t *costs, const xy_kernel_cost_t *k, double tolerance,
                             xy_vec_t *results)
{
    bool is_memory = strcmp(k->unit, "B") == 0;
    double low = k->fit.intervals[0].start, high = k->fit.intervals[k->fit.count - 1].end;
    xy_sample_t samples[SIZES] = {{0}};
    double errors[SIZES];
    xy_check_result_t r = {.threads = k->threads};
    xy_status_t st;

    snprintf(r.name, sizeof(r.name), "%s", k->name);
    snprintf(r.detail, sizeof(r.detail), "%ld %s%s", k->threads, is_memory ? "core" : "thread",
             k->threads == 1 ? "" : "s");
    if (k->distance > 0)
        snprintf(r.detail + strlen(r.detail), sizeof(r.detail) - strlen(r.detail),
                 " at distance %ld", k->distance);
    for (int i = 0; i < SIZES; i++)
        samples[i].x = pick_size(low, high, i);
    st = is_memory ? calibrate_memory_again(c, live, k, samples, SIZES)
                   : xy_calibrate_measure(c, costs, k, samples, SIZES);
    /* It was reported; the others are checked. */
    if (st == XY_EINVAL || st == XY_ENOENT || st == XY_EUNSUPPORTED)
        return add(c, &r, results);
    if (st != XY_OK)
        return st;
    for (int i = 0; i < SIZES; i++)
        errors[i] = samples[i].t / xy_fit_value(&k->fit, samples[i].x).seconds - 1;
    judge(errors, tolerance, k->fit.error_mean, &r);
    return add(c, &r, results);
}

xy_status_t xy_calibrate_check(const xy_calibration_t *c, const xy_machine_t *live,
                               const xy_costs_t *costs, const char *unit, double tolerance,
                               xy_vec_t *results)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < costs->kernels.count && st == XY_OK; i++) {
        const xy_kernel_cost_t *k = &XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i);

        if (strcmp(k->unit, unit) == 0 && k->fit.count > 0)
            st = check_one(c, live, costs, k, tolerance, results);
    }
    return st;
}

/* ---- Messages ---- */

xy_status_t xy_calibrate_check_sizes(const xy_costs_t *costs, xy_vec_t *sizes)
{
    double low = 1, high = 4 << 20;

    if (costs->messages.count > 0) {
        const xy_message_model_t *m = &XY_VEC_AT(&costs->messages, xy_message_cost_t, 0).model;

        low = fmax(m->samples[0].bytes, 1);
        high = fmax(m->samples[m->count - 1].bytes, low);
    }
    for (int i = 0; i < SIZES; i++) {
        uint64_t bytes = (uint64_t)pick_size(low, high, i);

        if (xy_vec_append(sizes, &bytes) != XY_OK)
            return xy_fail_memory("choosing sizes");
    }
    return XY_OK;
}

/* Blocking messages; of the five sizes two may be the same, where the range is small. */
static bool compare_messages(const xy_message_cost_t *now, const xy_message_cost_t *then,
                             double tolerance, xy_check_result_t *r)
{
    const xy_message_model_t *m = &now->model;
    double errors[SIZES];

    if (m->count == 0 || !xy_message_has(&then->model, NULL, XY_MESSAGE_BLOCKING))
        return false;
    for (size_t i = 0; i < SIZES; i++) {
        const xy_message_sample_t *s = &m->samples[i < m->count ? i : m->count - 1];

        errors[i] =
            s->blocking /
                xy_message_value(&then->model, NULL, XY_MESSAGE_BLOCKING, s->bytes).seconds -
            1;
    }
    judge(errors, tolerance, then->model.kind[XY_MESSAGE_BLOCKING].error_mean, r);
    return true;
}

xy_status_t xy_calibrate_check_messages(const xy_calibration_t *c, const xy_costs_t *measured,
                                        const xy_costs_t *costs, double tolerance,
                                        xy_vec_t *results)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < measured->messages.count && st == XY_OK; i++) {
        const xy_message_cost_t *now = &XY_VEC_AT(&measured->messages, xy_message_cost_t, i);
        const xy_message_cost_t *then =
            xy_costs_message_by(costs, now->cluster1, now->cluster2, now->library);
        xy_check_result_t r = {.name = "message"};

        snprintf(r.detail, sizeof(r.detail), "%s - %s by %s", now->cluster1, now->cluster2,
                 now->library);
        if (then == NULL)
            xy_warn("there is no model of messages %s to check", r.detail);
        else if (compare_messages(now, then, tolerance, &r))
            st = add(c, &r, results);
    }
    return st;
}

xy_status_t xy_calibrate_conclude(const xy_vec_t *results)
{
    size_t bad = 0;

    for (size_t i = 0; i < results->count; i++)
        bad += !XY_VEC_AT(results, xy_check_result_t, i).holds;
    if (results->count == 0)
        return xy_fail(XY_ENOENT, "these costs contain nothing that can be checked");
    if (bad > 0)
        return xy_fail(XY_EINVAL, "%zu of %zu models are no longer valid; run 'xylem calibrate'",
                       bad, results->count);
    return XY_OK;
}
