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

/* Shared by the handler and its process: the handler runs on the thread it interrupts. */
static struct {
    const measure_speed_t *reference;
    measure_interference_t sum;
    bool is_timed;
} watch;

/* Adds a look at the clock's pace to the sums; outliers are ignored. */
static void add(const measure_speed_t *now)
{
    double r = measure_speed_ratio(now, watch.reference), share = r > slack ? 1 / r : 1;

    if (now->latency > latency_most * watch.reference->latency || r > ratio_most || r < ratio_least)
        return;
    watch.sum.looks++;
    watch.sum.speed += share * measure_speed_scale(now, watch.reference);
    watch.sum.disturbed += 1 - share;
    if (r < below_slack) {
        watch.sum.below++;
        watch.sum.below_ratio += r;
    }
}

static void on_timer(int signal)
{
    double begin = measure_now();
    measure_speed_t now = measure_speed_glance();

    (void)signal;
    add(&now);
    watch.sum.spent += measure_now() - begin;
}

static void set_timer(long microseconds)
{
    struct itimerval timer = {.it_interval.tv_usec = microseconds,
                              .it_value.tv_usec = microseconds};

    setitimer(ITIMER_REAL, &timer, NULL);
}

void measure_interference_start(const measure_speed_t *reference, bool may_interrupt)
{
    measure_speed_t now = measure_speed_now();

    watch.reference = reference;
    watch.sum = (measure_interference_t){0};
    watch.is_timed = may_interrupt;
    add(&now);
    if (may_interrupt) {
        struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};

        sigaction(SIGALRM, &action, NULL);
        set_timer(PERIOD);
    }
}

double measure_interference_spent(void)
{
    return watch.sum.spent;
}

measure_interference_t measure_interference_stop(void)
{
    measure_interference_t w;
    measure_speed_t now;

    if (watch.is_timed) {
        set_timer(0);
        signal(SIGALRM, SIG_IGN); /* one that is on its way */
    }
    now = measure_speed_now();
    add(&now);
    w = watch.sum;
    if (w.looks == 0)
        return (measure_interference_t){.speed = 1, .disturbed = 1, .spent = w.spent};
    w.speed /= (double)w.looks;
    w.disturbed /= (double)w.looks;
    w.below_ratio /= (double)(w.below > 0 ? w.below : 1);
    return w;
}
