/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an algorithm takes, from some steps of its loop. Once the first steps have filled the
 * pipeline from rank 0 to the others, each further one takes what the one before took: FEW and MORE
 * steps say how much, and the rest is in proportion.
 *
 * Where each rank has a node of its own, and all pairs are alike, one pass over all messages is
 * nearly what the simulator says; elsewhere it is simulated.
 */
#include <math.h>

#include "matmul/matmul.h"

enum { FEW = 12, MORE = 18, ALL = 20 };

typedef struct {
    double seconds, done, whole;
} passed_t;

static passed_t pass(const matmul_t *p, const matmul_algorithm_t *algorithm, int steps,
                     const matmul_place_t *place)
{
    passed_t x = {0};
    matmul_record_t record;

    if (matmul_record(p, algorithm, steps, &record))
        x = (passed_t){place->is_uniform ? matmul_pass(&record, place)
                                         : matmul_simulate(&record, place),
                       record.done, record.whole};
    matmul_record_cleanup(&record);
    return x;
}

double matmul_estimate(const matmul_t *p, const matmul_algorithm_t *algorithm,
                       const matmul_place_t *place)
{
    passed_t few, more = pass(p, algorithm, MORE, place);

    if (more.done >= more.whole || !(more.seconds > 0))
        return more.seconds;
    if (more.whole * MORE <= more.done * ALL)
        return pass(p, algorithm, 0, place).seconds;
    few = pass(p, algorithm, FEW, place);
    if (!(few.seconds > 0))
        return 0;
    return more.seconds +
           (more.whole - more.done) * (more.seconds - few.seconds) / (more.done - few.done);
}

void matmul_estimate_all(const matmul_t *p, const matmul_algorithm_t *const *algorithms, int count,
                         const matmul_place_t *place, double *seconds)
{
    double least = INFINITY;

    for (int i = 0; i < count; i++) {
        const matmul_algorithm_t *a = algorithms[i];

        seconds[i] = 0;
        if (p->ranks < a->least)
            continue;
        if (a->bound != NULL)
            seconds[i] = a->bound(p, place);
        /* The bound of one that cannot be the best is enough. */
        if (seconds[i] < least)
            seconds[i] = matmul_estimate(p, a, place);
        if (seconds[i] > 0)
            least = fmin(least, seconds[i]);
    }
}
