/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A time against its size, measured until it can be trusted (private to the component).
 *
 *   measure_curve_t curve = {.what = "copy by 2 cores", .measure = copy, .arg = &p, ...};
 *   st = measure_curve_run(&curve, &kernel);      (samples, fit and the error of held-out sizes)
 *
 *   first   all sizes once, in random order, and some that the model is not shown
 *   again   sizes that contradict their neighbours, and these: the faster counts, as disturbances
 *           only add; up to four times, within the time
 *   then    a model, if it can be trusted: else it is too noisy, and there is none
 */
#ifndef XY_MEASURE_CURVE_H
#define XY_MEASURE_CURVE_H

#include "cost/cost.h"
#include "measure/timing.h"

typedef struct {
    const char *what; /* for messages */
    /* Measure one size in about `seconds`. */
    xy_status_t (*measure)(void *arg, double x, double seconds, measure_time_t *m_p);
    void *arg;
    double smallest, largest; /* sizes: smallest * 2^k, and what lies in the middle */
    double grain;             /* held-out sizes are multiples of it */
    double seconds;           /* for everything; each size is measured once in any case */
    xy_fit_options_t options;
} measure_curve_t;

/* samples, fit, held_out and held_count of the kernel are filled; the caller cleans it up in any
 * case. EINVAL: too noisy, which was reported. */
xy_status_t measure_curve_run(const measure_curve_t *curve, xy_kernel_cost_t *kernel);

/* 0 .. count - 1 in random order. */
void measure_random_order(size_t *order, size_t count, uint64_t *random);

/* Whether a model can be trusted: at most a fifth of its samples were dropped, and neither they nor
 * sizes that were held out are missed by more than a fifth in the mean. The worst of those that
 * were held out may lie where the time jumps, between two samples: without it a fifth, with it
 * three tenths. XY_EINVAL and one message otherwise: too noisy. */
typedef struct {
    long samples, dropped, held;
    double error_mean;
    double held_sum, held_worst; /* errors of those that were held out */
} measure_trust_t;

/* One that was held out: its error, relative to what was measured. */
void measure_trust_held(measure_trust_t *trust, double predicted, double measured);

xy_status_t measure_trust(const char *what, const measure_trust_t *trust);

#endif
