/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of a call of a kernel: the model, the shape, and the speed of the cluster. */
#include <math.h>
#include <string.h>

#include "cost/store.h"

/* Clusters that are like one that is like one: a chain that is longer runs in a circle. */
enum { LIKE_MAX = 16 };

/* The cluster that `cluster` is like; NULL: none. */
static const xy_speed_cost_t *find_like(const xy_costs_t *costs, const char *cluster)
{
    for (size_t i = 0; cluster != NULL && i < costs->speeds.count; i++)
        if (strcmp(XY_VEC_AT(&costs->speeds, xy_speed_cost_t, i).cluster, cluster) == 0)
            return &XY_VEC_AT(&costs->speeds, xy_speed_cost_t, i);
    return NULL;
}

/* The model on the cluster, or on the first along the chain that has it; *factor_p: how many times
 * as fast the cluster is. */
static const xy_kernel_cost_t *follow(const xy_costs_t *costs, const char *name,
                                      const char *cluster, double *factor_p)
{
    *factor_p = 1;
    for (int i = 0; i < LIKE_MAX; i++) {
        const xy_kernel_cost_t *k = xy_costs_kernel(costs, name, cluster, 1);
        const xy_speed_cost_t *like;

        if (k != NULL && k->fit.count > 0)
            return k;
        like = find_like(costs, cluster);
        if (like == NULL)
            return NULL;
        *factor_p *= like->factor;
        cluster = like->like;
    }
    return NULL;
}

static bool is_right_count(const xy_kernel_cost_t *k, const xy_kernel_form_t *form, size_t count)
{
    if (count == 0 || count > XY_SIZES_MAX)
        return false;
    if (count == 1 || (k->shape.sizes == 0 && form == NULL))
        return true;
    return count == (k->shape.sizes > 0 ? k->shape.sizes : form->sizes);
}

static double aspect_of(const double *sizes, size_t count)
{
    double low = sizes[0], high = sizes[0];

    for (size_t i = 1; i < count; i++) {
        low = fmin(low, sizes[i]);
        high = fmax(high, sizes[i]);
    }
    return high / low;
}

/* Returns the predicted time of a kernel, corrected by its shape, with the expected error. */
static xy_estimate_t estimate(const xy_kernel_cost_t *k, const xy_kernel_form_t *form,
                              const double *sizes, size_t count)
{
    double equal = xy_kernel_equal_size(&k->shape, form, sizes, count);
    xy_estimate_t e = xy_fit_value(&k->fit, equal);

    if (k->held_count > 0)
        e.error = k->held_out;
    /* A matrix without rows needs no time. */
    if (!(equal > 0))
        e.seconds = 0;
    if (equal > 0 && count > 1 && count == k->shape.sizes) {
        double aspect = aspect_of(sizes, count);

        e.seconds *= xy_shape_ratio(&k->shape, sizes);
        e.error += aspect > 1 ? fmax(k->shape.held_out, k->shape.error_mean) : 0;
        e.is_extrapolated = e.is_extrapolated || aspect > k->shape.aspect;
    }
    return e;
}

xy_status_t xy_kernel_cost_value(const xy_kernel_cost_t *k, const double *sizes, size_t count,
                                 xy_estimate_t *e_p)
{
    const xy_kernel_form_t *form = xy_kernel_form(k->name);

    if (!is_right_count(k, form, count))
        return XY_EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!(sizes[i] >= 0 && isfinite(sizes[i])))
            return XY_EINVAL;
    *e_p = estimate(k, form, sizes, count);
    return XY_OK;
}

xy_status_t xy_cost_kernel_value(const xy_costs_t *costs, const char *name, const char *cluster,
                                 const double *sizes, size_t count, xy_estimate_t *e_p)
{
    double factor;
    const xy_kernel_cost_t *k = follow(costs, name, cluster, &factor);
    xy_status_t st;

    if (k == NULL)
        k = follow(costs, xy_kernel_base_name(name), cluster, &factor);
    if (k == NULL)
        return XY_ENOENT;
    st = xy_kernel_cost_value(k, sizes, count, e_p);
    if (st == XY_OK)
        e_p->seconds /= factor;
    return st;
}

/* The measured constants next to a number of threads: the last not above it, and the first above;
 * where one is missing, the two at that end. */
static int find_around(const xy_costs_t *costs, const char *name, double threads,
                       const xy_constant_cost_t *found[2])
{
    const xy_constant_cost_t *low[2] = {NULL}, *high[2] = {NULL};

    for (size_t i = 0; i < costs->constants.count; i++) {
        const xy_constant_cost_t *c = &XY_VEC_AT(&costs->constants, xy_constant_cost_t, i);
        const xy_constant_cost_t **list = (double)c->from <= threads ? low : high;
        double away = fabs((double)c->from - threads);

        if (strcmp(c->name, name) != 0)
            continue;
        if (list[0] == NULL || away < fabs((double)list[0]->from - threads)) {
            list[1] = list[0];
            list[0] = c;
        } else if (list[1] == NULL || away < fabs((double)list[1]->from - threads)) {
            list[1] = c;
        }
    }
    found[0] = low[0] != NULL ? low[0] : high[0];
    found[1] = low[0] == NULL ? high[1] : high[0] != NULL ? high[0] : low[1];
    return (found[0] != NULL) + (found[1] != NULL);
}

double xy_costs_team(const xy_costs_t *costs, const char *name, double threads)
{
    const xy_constant_cost_t *found[2];
    int count = find_around(costs, name, threads, found);
    double slope;

    if (count < 2)
        return count == 1 ? found[0]->seconds : 0;
    slope = (found[1]->seconds - found[0]->seconds) / (double)(found[1]->from - found[0]->from);
    return fmax(found[0]->seconds + slope * (threads - (double)found[0]->from), 0);
}
