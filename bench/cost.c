/* SPDX-License-Identifier: BSD-3-Clause */
/* How far models of kernels are off at sizes that were not measured: dgemm and dtrtri of the
 * installed BLAS, one thread. Calibrated, then measured at sizes drawn from the whole range.
 * XYLEM_BENCH_KERNELS=dgemm takes one of them. Errors are of times as the model has them: at the
 * pace of the calibration (docs/calibrate.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cost/cost.h"

enum { SIZES = 30 };

/* Spread over the range by the golden ratio, and none that was measured. */
static double pick_size(const xy_kernel_cost_t *k, int i, int sizes)
{
    double low = k->samples[0].x, high = k->samples[k->sample_count - 1].x;
    double x = round(low * pow(high / low, (i + fmod(0.618034 * i, 1)) / sizes));

    for (size_t j = 0; j < k->sample_count; j++)
        if (k->samples[j].x == x) {
            x += 1;
            j = 0;
        }
    return x < high ? x : high - 1;
}

static void report(const xy_kernel_cost_t *k, const xy_sample_t *samples, int sizes)
{
    double mean = 0, worst = 0, at = 0;
    char label[80];

    for (int i = 0; i < sizes; i++) {
        double e = fabs(xy_fit_value(&k->fit, samples[i].x).seconds / samples[i].t - 1);

        mean += e / sizes;
        if (e > worst) {
            worst = e;
            at = samples[i].x;
        }
    }
    snprintf(label, sizeof(label), "%s: samples of the model (%s clock)", k->name, k->clock);
    bench_value(label, (double)k->sample_count, "");
    snprintf(label, sizeof(label), "%s: intervals", k->name);
    bench_value(label, (double)k->fit.count, "");
    snprintf(label, sizeof(label), "%s: mean error at %d other sizes", k->name, sizes);
    bench_value(label, 100 * mean, "%");
    snprintf(label, sizeof(label), "%s: worst, at n = %g", k->name, at);
    bench_value(label, 100 * worst, "%");
}

int main(int argc, char **argv)
{
    const char *chosen = getenv("XYLEM_BENCH_KERNELS");
    xy_calibration_t c = {.kernels = chosen != NULL ? chosen : "dgemm,dtrtri"};
    xy_sample_t samples[SIZES];
    xy_costs_t *costs;
    int failed, sizes;

    bench_init(argc, argv);
    c.seconds = bench_is_quick() ? 2 : chosen != NULL ? 45 : 90;
    c.time_max = bench_is_quick() ? 0.002 : 0.15;
    sizes = bench_is_quick() ? 5 : SIZES;
    if (xy_costs_create("bench", "", &costs) != XY_OK)
        return 1;
    /* Without LAPACKE there is nothing to measure, which was said. */
    if (xy_calibrate_kernels(&c, costs, &failed) != XY_OK)
        return bench_is_quick() ? 0 : 1;
    c.seconds = bench_is_quick() ? 0.3 : 25; /* to visit doubtful sizes again */
    for (size_t i = 0; i < costs->kernels.count; i++) {
        const xy_kernel_cost_t *k = &XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i);

        memset(samples, 0, sizeof(samples));
        for (int j = 0; j < sizes; j++)
            samples[j].x = pick_size(k, j, sizes);
        if (xy_calibrate_measure(&c, costs, k, samples, (size_t)sizes) == XY_OK)
            report(k, samples, sizes);
    }
    xy_costs_destroy(costs);
    return 0;
}
