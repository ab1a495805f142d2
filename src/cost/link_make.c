/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/link.h"

static const double bytes = 1 << 20; /* where the models are read: past the caches of one core */

static double per_byte(const xy_costs_t *costs, const char *kernel)
{
    const xy_kernel_cost_t *k = xy_costs_kernel(costs, kernel, NULL, 1);

    return k != NULL && k->fit.count > 0 ? xy_fit_value(&k->fit, bytes).seconds / bytes : 0.0;
}

/* A reduction reads the sender's memory as a copy does: what it takes more is gamma. */
bool xy_link_make(const xy_costs_t *costs, xy_link_cost_t *link_p)
{
    enum { LEAST = 16 }; /* gamma is at least this part of a copy */
    const xy_constant_cost_t *handover = xy_costs_constant(costs, "handover");
    double copy = per_byte(costs, "copy"), reduce = per_byte(costs, "reduce");

    if (handover == NULL || !(handover->seconds > 0) || !(copy > 0) || !(reduce > 0))
        return false;
    *link_p =
        (xy_link_cost_t){.alpha = handover->seconds,
                         .beta = copy,
                         .gamma = reduce > copy * (1 + 1.0 / LEAST) ? reduce - copy : copy / LEAST,
                         .copy = copy};
    return true;
}

static xy_status_t print_link(const void *arg, FILE *file)
{
    const xy_link_cost_t *l = arg;

    fprintf(file, "alpha %.9g\nbeta %.9g\ngamma %.9g\ncopy %.9g\n", l->alpha, l->beta, l->gamma,
            l->copy);
    return XY_OK;
}

xy_status_t xy_link_write(const xy_costs_t *costs, const char *store_path)
{
    xy_link_cost_t l;
    char *path;
    xy_status_t st;

    if (!xy_link_make(costs, &l))
        return XY_OK;
    path = xy_sprintf("%s.link", store_path);
    if (path == NULL)
        return xy_fail_memory("writing costs");
    st = xy_out_write(path, print_link, &l);
    xy_free(path);
    return st;
}
