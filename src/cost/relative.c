/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast a cluster is beside another: by what the same kernels take on both. */
#include <math.h>

#include "cost/store.h"

/* At a size of `k`, where both models were measured around it. */
static bool ratio_at(const xy_kernel_cost_t *k, const xy_costs_t *there, const char *cluster,
                     double size, double *ratio_p)
{
    xy_estimate_t a, b;

    if (xy_kernel_cost_value(k, &size, 1, &a) != XY_OK || a.is_extrapolated ||
        (xy_cost_kernel_value(there, k->name, cluster, &size, 1, &b) != XY_OK &&
         xy_cost_kernel_value(there, k->name, NULL, &size, 1, &b) != XY_OK) ||
        b.is_extrapolated || !(a.seconds > 0) || !(b.seconds > 0))
        return false;
    *ratio_p = b.seconds / a.seconds;
    return true;
}

/* Its ends, and between them. */
static double size_at(const xy_interval_t *interval, int i)
{
    double middle = sqrt(interval->start * interval->end);

    return i == 0 ? interval->start : i == 1 ? middle : interval->end;
}

/* The geometric mean over sizes that were measured here and there. */
static bool ratio_of(const xy_kernel_cost_t *k, const xy_costs_t *there, const char *cluster,
                     double *log_p)
{
    double sum = 0, ratio;
    int count = 0;

    if (k->fit.count == 0 || k->threads > 1 || k->distance != 0)
        return false;
    for (size_t i = 0; i < 3 * k->fit.count; i++)
        if (ratio_at(k, there, cluster, size_at(&k->fit.intervals[i / 3], (int)(i % 3)), &ratio)) {
            sum += log(ratio);
            count++;
        }
    *log_p = count > 0 ? sum / count : 0;
    return count > 0;
}

size_t xy_costs_relative(const xy_costs_t *here, const xy_costs_t *there, const char *cluster,
                         double *factor_p)
{
    double sum = 0, one;
    size_t kernels = 0;

    for (size_t i = 0; i < here->kernels.count; i++)
        if (ratio_of(&XY_VEC_AT(&here->kernels, xy_kernel_cost_t, i), there, cluster, &one)) {
            sum += one;
            kernels++;
        }
    *factor_p = kernels > 0 ? exp(sum / (double)kernels) : 1;
    return kernels;
}
