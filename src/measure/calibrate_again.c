/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of a model, run again at given sizes. */
#include <math.h>
#include <string.h>

#include "measure/calibrate_internal.h"
#include "measure/kernel.h"
#include "measure/point.h"

/* A plug-in is remembered as FILE:FUNCTION. `copy` holds the two words, cut. */
static bool find_plugin(char *copy, measure_child_options_t *o)
{
    char *colon = strrchr(copy, ':');

    if (colon == NULL)
        return false;
    *colon = '\0';
    o->library = copy;
    o->symbol = colon + 1;
    return true;
}

/* How to run what a model was made of; false: it was no kernel that we can run again. */
static bool find_worker(const xy_kernel_cost_t *k, char *copy, measure_child_options_t *o)
{
    *o = (measure_child_options_t){.name = k->name, .threads = k->threads, .library = copy};
    if (strcmp(k->unit, "n") != 0)
        return false;
    if (measure_kernel_find(k->name) != NULL && strchr(copy, ':') == NULL) {
        o->library = *copy != '\0' ? copy : NULL;
        return true;
    }
    return find_plugin(copy, o);
}

/* Visit each size, then those that remain doubtful again, for some time. */
static xy_status_t visit_all(const xy_calibration_t *c, const xy_kernel_cost_t *k,
                             measure_child_t *worker, measure_point_t *points, size_t count)
{
    bool is_paced = worker->options.pace.latency > 0, is_over = false;
    double begin = measure_now(), end = INFINITY;

    for (int round = 0; !is_over && measure_now() < end; round++) {
        is_over = true;
        for (size_t i = 0; i < count && measure_now() < end; i++) {
            measure_point_t *p = &points[i];
            double expected = xy_fit_value(&k->fit, p->x).seconds, start = measure_now();
            xy_status_t st;

            if (round > 0 && !measure_point_is_doubtful(p, is_paced))
                continue;
            st = measure_point_visit(worker, p->x, measure_point_time(expected), p);
            calibrate_step(c, measure_now() - start);
            if (st != XY_OK)
                return st;
            is_over = false;
        }
        if (round == 0)
            end = measure_now() + fmax(c->seconds, 3 * (measure_now() - begin));
    }
    return XY_OK;
}

/* Measures a kernel again at the sizes of `samples`, in a child process. */
static xy_status_t measure_all(const xy_calibration_t *c, const xy_kernel_cost_t *k,
                               const measure_child_options_t *o, xy_sample_t *samples, size_t count)
{
    measure_point_t *points = xy_calloc(count, sizeof(*points));
    measure_child_t worker;
    xy_status_t st = points != NULL ? measure_child_start(o, &worker) : xy_fail_memory("measuring");

    if (st == XY_OK) {
        for (size_t i = 0; i < count; i++)
            points[i].x = samples[i].x;
        st = visit_all(c, k, &worker, points, count);
        measure_child_stop(&worker);
    }
    for (size_t i = 0; i < count && st == XY_OK; i++)
        samples[i] = measure_point_sample(&points[i], strcmp(k->clock, XY_CLOCK_PACED) == 0);
    for (size_t i = 0; i < count && st == XY_OK && c->is_raw; i++)
        samples[i].t = points[i].pool.typical;
    xy_free(points);
    return st;
}

xy_status_t xy_calibrate_measure(const xy_calibration_t *c, const xy_costs_t *costs,
                                 const xy_kernel_cost_t *k, xy_sample_t *samples, size_t count)
{
    measure_child_options_t o;
    char *copy = xy_strdup(k->library);
    xy_status_t st;

    if (copy == NULL)
        return xy_fail_memory("measuring");
    if (find_worker(k, copy, &o)) {
        o.is_raw = c->is_raw;
        if (!c->is_raw)
            o.pace = calibrate_pace(costs);
        st = measure_all(c, k, &o, samples, count);
    } else {
        st = xy_fail(XY_EUNSUPPORTED, "'%s' is not a kernel that can be run again", k->name);
    }
    xy_free(copy);
    return st;
}
