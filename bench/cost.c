/* SPDX-License-Identifier: BSD-3-Clause */
/* How far models of kernels are off at sizes that were not measured: dgemm and dtrtri of the
 * installed BLAS, one thread. Sizes drawn from the whole range are measured along with those of the
 * model, in the same rounds, but not shown to it; each of them twice, so that next to the error of
 * the model stands how far two measurements of the same thing differ. XYLEM_BENCH_KERNELS=dgemm
 * takes one kernel, XYLEM_BENCH_SIZES=1 prints all sizes. Times are by the clock of the model
 * (docs/calibrate.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "measure/measure.h"

enum { SIZES = 30 };

typedef struct {
    double mean, worst, at;
} error_t;

static void add_error(error_t *e, double error, double x, size_t n)
{
    e->mean += fabs(error) / (double)n;
    if (fabs(error) > e->worst) {
        e->worst = fabs(error);
        e->at = x;
    }
}

static void print_error(const char *kernel, const char *what, const error_t *e)
{
    char label[80];

    snprintf(label, sizeof(label), "%s: %s, mean", kernel, what);
    bench_value(label, 100 * e->mean, "%");
    snprintf(label, sizeof(label), "%s: %s, worst, at n = %g", kernel, what, e->at);
    bench_value(label, 100 * e->worst, "%");
}

static void report(const xy_kernel_cost_t *k, const xy_vec_t *held)
{
    error_t model = {0}, noise = {0};
    char label[80];

    snprintf(label, sizeof(label), "%s: samples of the model (%s clock)", k->name, k->clock);
    bench_value(label, (double)k->sample_count, "");
    snprintf(label, sizeof(label), "%s: intervals", k->name);
    bench_value(label, (double)k->fit.count, "");
    for (size_t i = 0; i < held->count; i++) {
        const xy_held_out_t *h = &XY_VEC_AT(held, xy_held_out_t, i);
        double predicted = xy_fit_value(&k->fit, h->x).seconds;

        add_error(&model, predicted / h->t - 1, h->x, held->count);
        add_error(&noise, h->again / h->t - 1, h->x, held->count);
        if (getenv("XYLEM_BENCH_SIZES") != NULL)
            printf("# n = %g: %.6g s, again %+.2f %%, model %+.2f %%\n", h->x, h->t,
                   100 * (h->again / h->t - 1), 100 * (predicted / h->t - 1));
    }
    print_error(k->name, "model at other sizes", &model);
    print_error(k->name, "measured again", &noise);
}

static int bench_kernel(const char *kernel)
{
    xy_vec_t held = XY_VEC_INIT(xy_held_out_t);
    /* A third of the time for the model, as `xylem calibrate` has, the rest for what is held out.
     */
    xy_calibration_t c = {.kernels = kernel,
                          .seconds = bench_is_quick() ? 2 : 60,
                          .time_max = bench_is_quick() ? 0.002 : 0,
                          .held_out = &held,
                          .held_out_count = bench_is_quick() ? 5 : SIZES};
    xy_costs_t *costs;
    int failed = 0;
    xy_status_t st = xy_costs_create("bench", "", &costs);

    if (st != XY_OK)
        return 1;
    st = xy_calibrate_kernels(&c, costs, &failed);
    if (st == XY_OK && costs->kernels.count > 0)
        report(&XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, 0), &held);
    xy_vec_cleanup(&held);
    xy_costs_destroy(costs);
    return st == XY_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *chosen = getenv("XYLEM_BENCH_KERNELS");
    char list[256], *save = NULL;
    int bad = 0;

    bench_init(argc, argv);
    snprintf(list, sizeof(list), "%s", chosen != NULL ? chosen : "dgemm,dtrtri");
    for (char *name = strtok_r(list, ",", &save); name != NULL; name = strtok_r(NULL, ",", &save))
        bad += bench_kernel(name);
    /* Without LAPACKE there is nothing to measure (reported). */
    return bad > 0 && !bench_is_quick() ? 1 : 0;
}
