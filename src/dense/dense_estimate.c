/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of an algorithm, estimated from some steps of its loop. Once the first steps have filled
 * the pipeline from rank 0 to the others, each further one takes what the one before took: FEW and
 * MORE steps say how much, and the rest is in proportion.
 *
 * Where each rank has a node of its own, and all pairs are alike, one pass over all messages is
 * nearly what the simulator says; elsewhere it is simulated. Algorithms that a pass does not tell
 * apart are simulated, too.
 */
#include <math.h>

#include "dense/dense.h"

enum { FEW = 12, MORE = 18, ALL = 20 };

#define CLOSE 0.1 /* a pass is wrong by less than that, as a part */
#define THIN  0.7 /* a kernel with a model is slower on other blocks by no more than that */

typedef struct {
    double seconds, done, whole;
} passed_t;

static passed_t pass(const dense_t *p, const dense_algorithm_t *algorithm, int steps,
                     const dense_place_t *place, bool is_simulated)
{
    passed_t x = {0};
    dense_record_t record;

    if (dense_record(p, algorithm, steps, &record))
        x = (passed_t){is_simulated ? dense_simulate(&record, place) : dense_pass(&record, place),
                       record.done, record.whole};
    dense_record_cleanup(&record);
    return x;
}

/* Returns the predicted seconds, extrapolated from a few steps where a full pass takes long; 0 if
 * unknown. */
static double estimate(const dense_t *p, const dense_algorithm_t *algorithm,
                       const dense_place_t *place, bool is_simulated)
{
    passed_t few, more = pass(p, algorithm, MORE, place, is_simulated);

    if (more.done >= more.whole || !(more.seconds > 0))
        return more.seconds;
    if (more.whole * MORE <= more.done * ALL)
        return pass(p, algorithm, 0, place, is_simulated).seconds;
    few = pass(p, algorithm, FEW, place, is_simulated);
    if (!(few.seconds > 0))
        return 0;
    return more.seconds +
           (more.whole - more.done) * (more.seconds - few.seconds) / (more.done - few.done);
}

double dense_estimate(const dense_t *p, const dense_algorithm_t *algorithm,
                      const dense_place_t *place)
{
    return estimate(p, algorithm, place, !place->is_uniform);
}

void dense_estimate_all(const dense_t *p, const dense_place_t *place, double *seconds)
{
    double least = INFINITY;

    for (int i = 0; i < p->routine->count; i++) {
        const dense_algorithm_t *a = p->routine->algorithms[i];

        seconds[i] = 0;
        if (p->ranks < a->least)
            continue;
        if (a->bound != NULL)
            seconds[i] = (p->seconds != NULL ? THIN : 1) * a->bound(p, place);
        /* The bound of one that cannot be the best is enough. */
        if (seconds[i] < least)
            seconds[i] = dense_estimate(p, a, place);
        if (seconds[i] > 0)
            least = fmin(least, seconds[i]);
    }
}

/* ---- Close ones ---- */

static double least_of(const double *seconds, int count)
{
    double least = INFINITY;

    for (int i = 0; i < count; i++)
        if (seconds[i] > 0)
            least = fmin(least, seconds[i]);
    return least;
}

static int count_close(const double *seconds, int count)
{
    double least = least_of(seconds, count);
    int close = 0;

    for (int i = 0; i < count; i++)
        close += seconds[i] > 0 && seconds[i] <= (1 + CLOSE) * least;
    return close;
}

bool dense_is_close(const dense_place_t *place, const double *seconds, int count)
{
    return place->is_uniform && count_close(seconds, count) > 1;
}

/* The next of those that are close to the best of what is known now; -1: all were simulated. */
static int next_close(const double *seconds, const bool *is_simulated, int count)
{
    double least = least_of(seconds, count);
    int next = -1;

    for (int i = 0; i < count; i++)
        if (seconds[i] > 0 && !is_simulated[i] && seconds[i] <= (1 + CLOSE) * least &&
            (next < 0 || seconds[i] < seconds[next]))
            next = i;
    return next;
}

void dense_refine(const dense_t *p, const dense_place_t *place, double *seconds)
{
    bool is_simulated[DENSE_ALGORITHMS_MAX] = {0};
    const int count = p->routine->count;

    if (!dense_is_close(place, seconds, count))
        return;
    for (int i; (i = next_close(seconds, is_simulated, count)) >= 0;) {
        seconds[i] = estimate(p, p->routine->algorithms[i], place, true);
        is_simulated[i] = true;
    }
}
