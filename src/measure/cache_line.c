/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a cache line takes from PU to PU: two threads on two PUs write one word in turn.
 *
 *   PU a   0 ---> 1 wait...  2 ---> 3          a transfer is half a round trip
 *   PU b     wait 1 ---> 2 wait...  3
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "measure/calibrate_internal.h"
#include "measure/timing.h"

enum { ROUNDS = 200, BATCHES = 300 };

typedef struct {
    _Alignas(128) atomic_int turn; /* even: the first writes; odd: the second; negative: over */
    _Alignas(128) int second_pu;
    atomic_bool is_ready;
} line_t;

static void bind_to(int pu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(pu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* Until the other has written; when others use its PU it may take long, so let them. */
static int await_turn(line_t *t, int last)
{
    int now;

    for (long spins = 1; (now = atomic_load_explicit(&t->turn, memory_order_acquire)) == last;
         spins++)
        if (spins % 20000 == 0)
            sched_yield();
    return now;
}

static void *partner(void *arg)
{
    line_t *t = arg;
    int now;

    bind_to(t->second_pu);
    atomic_store(&t->is_ready, true);
    for (int last = 0; (now = await_turn(t, last)) >= 0; last = now + 1)
        atomic_store_explicit(&t->turn, now + 1, memory_order_release); /* seen by await_turn */
    return NULL;
}

/* Measures the time of passing a cache line to the partner, as the median of batches. */
static void exchange(line_t *t, measure_time_t *measure_p)
{
    double times[BATCHES], end = measure_now() + 1;
    int last = 0;
    long n = 0;

    while (!atomic_load(&t->is_ready))
        sched_yield();
    for (; n < BATCHES && (n < 20 || measure_now() < end); n++) {
        double begin = measure_now();

        for (int i = 0; i < ROUNDS; i++) {
            atomic_store_explicit(&t->turn, last + 1, memory_order_release);
            last = await_turn(t, last + 1);
        }
        times[n] = (measure_now() - begin) / (2 * ROUNDS);
    }
    atomic_store(&t->turn, -1);
    measure_p->repetitions = n;
    measure_p->seconds = measure_median(times, n, &measure_p->spread);
}

/* Measures the exchange of a cache line between two processors; the affinity of the caller is
 * restored. */
static xy_status_t measure_pair(int a, int b, measure_time_t *measure_p)
{
    static line_t line;
    pthread_t other;
    cpu_set_t before;
    int error;

    atomic_store(&line.turn, 0);
    atomic_store(&line.is_ready, false);
    line.second_pu = b;
    error = pthread_create(&other, NULL, partner, &line);
    if (error != 0)
        return xy_fail_errno(error, "a thread", "start");
    sched_getaffinity(0, sizeof(before), &before);
    bind_to(a);
    exchange(&line, measure_p);
    sched_setaffinity(0, sizeof(before), &before);
    pthread_join(other, NULL);
    return XY_OK;
}

xy_status_t calibrate_cache_line(const xy_calibration_t *c, const xy_machine_t *live,
                                 xy_costs_t *costs)
{
    xy_obj_t first = XY_OBJ_NONE;
    uint32_t seen = 0;
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; i < live->leaves && st == XY_OK; i++) {
        xy_obj_t leaf = live->leaf[i];
        uint32_t hops;
        measure_time_t m;
        double begin = measure_now();
        char text[32];

        if (!xy_machine_is_usable(live, leaf) || live->physical[leaf] >= CPU_SETSIZE)
            continue;
        if (first == XY_OBJ_NONE) {
            first = leaf;
            continue;
        }
        /* Leaves are in tree order: a new distance is a greater one. */
        hops = xy_machine_hops(live, first, leaf);
        if (hops <= seen)
            continue;
        seen = hops;
        st = measure_pair((int)live->physical[first], (int)live->physical[leaf], &m);
        calibrate_step(c, measure_now() - begin);
        if (st == XY_OK)
            st = xy_costs_set_constant(costs, "handover", live->physical[first],
                                       live->physical[leaf], m.seconds, m.spread, m.repetitions);
        if (st == XY_OK && c->report != NULL)
            fprintf(c->report, "handover PU %u to PU %u: %s\n", live->physical[first],
                    live->physical[leaf], xy_format_seconds(m.seconds, text));
    }
    return st;
}
