/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/interference.h"

#include <signal.h>
#include <sys/time.h>

#include "measure/timing.h"

enum { PERIOD = 500 }; /* microseconds */

/* A look that was itself interrupted says nothing: neither frequency nor neighbours do so much. */
static const double latency_most = 1.5, ratio_most = 3, ratio_least = 0.6;
/* The loops are not exact to a few percent, least of all when they are started cold. */
static const double slack = 1.08, below_slack = 0.93;

/* What the handler and its process share: the handler runs on the thread it interrupts. */
static struct {
    const cost_pace_t *reference;
    cost_watch_t sum;
    bool is_timed;
} watch;

static void add(const cost_pace_t *now)
{
    double r = cost_pace_ratio(now, watch.reference), share = r > slack ? 1 / r : 1;

    if (now->latency > latency_most * watch.reference->latency || r > ratio_most || r < ratio_least)
        return;
    watch.sum.looks++;
    watch.sum.speed += share * cost_pace_scale(now, watch.reference);
    watch.sum.disturbed += 1 - share;
    if (r < below_slack) {
        watch.sum.below++;
        watch.sum.below_ratio += r;
    }
}

static void on_timer(int signal)
{
    double begin = cost_now();
    cost_pace_t now = cost_pace_glance();

    (void)signal;
    add(&now);
    watch.sum.spent += cost_now() - begin;
}

static void set_timer(long microseconds)
{
    struct itimerval timer = {.it_interval.tv_usec = microseconds,
                              .it_value.tv_usec = microseconds};

    setitimer(ITIMER_REAL, &timer, NULL);
}

void cost_watch_start(const cost_pace_t *reference, bool may_interrupt)
{
    cost_pace_t now = cost_pace_now();

    watch.reference = reference;
    watch.sum = (cost_watch_t){0};
    watch.is_timed = may_interrupt;
    add(&now);
    if (may_interrupt) {
        struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};

        sigaction(SIGALRM, &action, NULL);
        set_timer(PERIOD);
    }
}

double cost_watch_spent(void)
{
    return watch.sum.spent;
}

cost_watch_t cost_watch_stop(void)
{
    cost_watch_t w;
    cost_pace_t now;

    if (watch.is_timed) {
        set_timer(0);
        signal(SIGALRM, SIG_IGN); /* one that is on its way */
    }
    now = cost_pace_now();
    add(&now);
    w = watch.sum;
    if (w.looks == 0)
        return (cost_watch_t){.speed = 1, .disturbed = 1, .spent = w.spent};
    w.speed /= (double)w.looks;
    w.disturbed /= (double)w.looks;
    w.below_ratio /= (double)(w.below > 0 ? w.below : 1);
    return w;
}
