/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/messages.h"

#include "cost/calibrate_internal.h"
#include "cost/launcher.h"
#include "cost/pair.h"

typedef struct {
    const xy_calibration_t *c;
    double last; /* when a step was last heard of */
} stopwatch_t;

static void step(void *arg, double part)
{
    stopwatch_t *clock = arg;
    double now = cost_now();

    (void)part;
    calibrate_step(clock->c, now - clock->last);
    clock->last = now;
}

static xy_status_t measure(const xy_calibration_t *c, const xy_messages_calibration_t *m,
                           const xy_vec_t *words, xy_costs_t *costs)
{
    const char *cluster = m->cluster != NULL ? m->cluster : XY_COSTS_LOCAL;
    stopwatch_t clock = {.c = c, .last = cost_now()};
    cost_pair_t pair = {.words = words,
                        .b = 1,
                        .largest = m->largest,
                        .sizes = m->sizes,
                        .seconds = m->seconds,
                        .step = step,
                        .arg = &clock};
    xy_message_cost_t message = {0};
    xy_status_t st = cost_pair_measure(&pair, &message);

    if (st != XY_OK)
        return st;
    message.cluster1 = xy_strdup(cluster);
    message.cluster2 = xy_strdup(cluster);
    if (message.cluster1 == NULL || message.cluster2 == NULL) {
        xy_message_cost_cleanup(&message);
        return xy_fail_memory("storing a model");
    }
    if (c->report != NULL)
        cost_pair_report(&message, c->report);
    return xy_costs_set_message(costs, &message);
}

xy_status_t xy_calibrate_messages(const xy_calibration_t *c, const xy_messages_calibration_t *m,
                                  xy_costs_t *costs)
{
    cost_launcher_t launcher = {0};
    xy_vec_t words = XY_VEC_INIT(char *);
    xy_status_t st;

    if (m->words != NULL)
        return measure(c, m, m->words, costs);
    st = cost_launcher_find(m->launcher, &launcher);
    if (st == XY_OK)
        st = cost_launcher_prepare(&launcher, m->compiler, NULL);
    if (st == XY_OK)
        st = cost_launcher_words(&launcher, 2, NULL, m->extra, &words);
    if (st == XY_OK)
        st = measure(c, m, &words, costs);
    cost_words_cleanup(&words);
    cost_launcher_cleanup(&launcher);
    return st;
}
