/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a choice still hold inside a run? Trials of the others where it does not. */
#include <math.h>
#include <stdlib.h>

#include "choose/choose.h"

enum { WINDOWS = 2 }; /* in a row */
#define WORST 2.0     /* a trial takes so many times its prediction, at worst */

void xy_reconsider_init(xy_reconsider_t *r, const double *predicted, int count, double loss)
{
    *r = (xy_reconsider_t){.count = count, .length = XY_RECONSIDER_WINDOW, .loss = loss};
    for (int i = 0; i < count; i++)
        r->predicted[i] = predicted[i];
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double xy_reconsider_median(double *seconds, int count)
{
    qsort(seconds, (size_t)count, sizeof(*seconds), ascending);
    return count % 2 == 1 ? seconds[count / 2] : (seconds[count / 2 - 1] + seconds[count / 2]) / 2;
}

static bool is_affordable(const xy_reconsider_t *r, int i)
{
    double worst = WORST * r->predicted[i] / r->predicted[r->chosen] * r->now;

    return r->lost + XY_RECONSIDER_TRIAL * fmax(0, worst - r->now) <= r->loss * r->spent;
}

/* The next calls: a trial of the affordable candidate of least prediction, or the chosen one. */
static void next(xy_reconsider_t *r)
{
    r->current = r->chosen;
    for (int i = 0; i < r->count; i++)
        if ((r->untried >> i & 1) != 0 && is_affordable(r, i) &&
            (r->current == r->chosen || r->predicted[i] < r->predicted[r->current]))
            r->current = i;
    r->length = r->current == r->chosen ? XY_RECONSIDER_WINDOW : XY_RECONSIDER_TRIAL;
    if (r->untried == 0)
        r->base = 0;
}

/* A window of the chosen candidate: does its time depart from that at the choice? */
static void watch(xy_reconsider_t *r, double seconds)
{
    bool departs = seconds > XY_RECONSIDER_LEAP * r->base || seconds * XY_RECONSIDER_LEAP < r->base;

    r->now = seconds;
    if (r->base == 0)
        r->base = seconds;
    else if (r->untried == 0)
        r->departed = departs ? r->departed + 1 : 0;
    if (r->departed == WINDOWS) {
        r->departed = 0;
        r->untried = ((1u << r->count) - 1) & ~(1u << r->chosen);
    }
    if (r->untried != 0)
        next(r);
}

bool xy_reconsider_add(xy_reconsider_t *r, double seconds)
{
    bool is_better = seconds < (1 - XY_RECONSIDER_GAIN) * r->now;

    r->spent += r->length * seconds;
    if (r->current == r->chosen) {
        watch(r, seconds);
        return false;
    }
    r->lost += r->length * fmax(0, seconds - r->now);
    r->untried &= ~(1u << r->current);
    if (is_better) {
        r->chosen = r->current;
        r->now = seconds;
    }
    next(r);
    return is_better;
}
