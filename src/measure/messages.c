/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/messages.h"

#include <stdio.h>

#include "measure/calibrate_internal.h"
#include "measure/launcher.h"
#include "measure/message_bench.h"

typedef struct {
    const xy_calibration_t *c;
    double last; /* when a step was last heard of */
} stopwatch_t;

static void step(void *arg, double part)
{
    stopwatch_t *clock = arg;
    double now = measure_now();

    (void)part;
    calibrate_step(clock->c, now - clock->last);
    clock->last = now;
}

static void report_held(const xy_message_model_t *model, const xy_vec_t *held, FILE *report)
{
    for (size_t i = 0; i + 1 < held->count; i += 2) {
        const xy_message_sample_t *a = &XY_VEC_AT(held, xy_message_sample_t, i), *b = a + 1;
        double seconds = xy_message_value(model, NULL, XY_MESSAGE_BLOCKING, a->bytes).seconds;

        fprintf(report, "held out %.0f bytes: %.4g s, again %.4g s, model %.4g s\n", a->bytes,
                a->blocking, b->blocking, seconds);
    }
}

/* Measures messages between two processes and adds their model to the store. */
static xy_status_t measure(const xy_calibration_t *c, const xy_messages_calibration_t *m,
                           const xy_vec_t *words, xy_costs_t *costs)
{
    const char *cluster = m->cluster != NULL ? m->cluster : XY_COSTS_LOCAL;
    stopwatch_t clock = {.c = c, .last = measure_now()};
    xy_vec_t held = XY_VEC_INIT(xy_message_sample_t);
    measure_bench_t pair = {.words = words,
                            .b = 1,
                            .largest = m->largest,
                            .alone = m->alone,
                            .sizes = m->sizes,
                            .seconds = m->seconds,
                            .launches = 5,
                            .budget = m->budget,
                            .held_out = m->held_out,
                            .held = &held,
                            .step = step,
                            .arg = &clock};
    xy_message_cost_t message = {0};
    xy_status_t st;

    st = measure_bench_run(&pair, &message);
    if (st == XY_OK && c->report != NULL && m->held_out != NULL && m->held_out->count > 0)
        report_held(&message.model, &held, c->report);
    xy_vec_cleanup(&held);
    if (st != XY_OK)
        return st;
    message.cluster1 = xy_strdup(cluster);
    message.cluster2 = xy_strdup(cluster);
    if (message.cluster1 == NULL || message.cluster2 == NULL) {
        xy_message_cost_cleanup(&message);
        return xy_fail_memory("storing a model");
    }
    if (c->report != NULL)
        measure_bench_report(&message, c->report);
    return xy_costs_set_message(costs, &message);
}

xy_status_t xy_calibrate_messages(const xy_calibration_t *c, const xy_messages_calibration_t *m,
                                  xy_costs_t *costs)
{
    measure_launcher_t launcher = {0};
    xy_vec_t words = XY_VEC_INIT(char *);
    xy_status_t st;

    if (m->words != NULL)
        return measure(c, m, m->words, costs);
    st = measure_launcher_find(m->launcher, &launcher);
    if (st == XY_OK)
        st = measure_launcher_prepare(&launcher, m->compiler, NULL);
    if (st == XY_OK)
        st = measure_launcher_words(&launcher, 2, NULL, m->extra, &words);
    if (st == XY_OK)
        st = measure(c, m, &words, costs);
    measure_words_cleanup(&words);
    measure_launcher_cleanup(&launcher);
    return st;
}
