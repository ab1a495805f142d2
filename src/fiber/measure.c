/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All batches of one measurement run inside one pool, so that threads and stacks are there when the
 * clock starts:
 *
 *   fiber 0   |ready 1, park|             |ready 1, park|   ...
 *   fiber 1                 |ready 0, park|             |ready 0, park|   ...
 *
 * Two turns are one round; a batch is many rounds between two looks at the clock.
 */
#include "fiber/measure.h"

#include <stdatomic.h>
#include <stdint.h>

#include "fiber/fiber.h"

typedef struct {
    xy_fiber_t *fiber[2];
    void (*call)(xy_fiber_t *other);
    long rounds; /* of a batch */
    double *seconds;
    int count;
    _Atomic long polls;
} game_t;

/* Fiber 0 keeps the clock. Both make the same number of turns; the last one lets the other end.
 */
static void keep_clock(void *arg)
{
    game_t *g = arg;

    for (int batch = -1; batch < g->count; batch++) {
        double begin = xy_now();

        for (long i = 0; i < g->rounds; i++) {
            g->call(g->fiber[1]);
            xy_fiber_park();
        }
        if (batch >= 0) /* the first one warms up */
            g->seconds[batch] = (xy_now() - begin) / (2 * (double)g->rounds);
    }
}

static void answer(void *arg)
{
    game_t *g = arg;

    for (long i = g->rounds * (g->count + 1); i > 0; i--) {
        xy_fiber_park();
        g->call(g->fiber[0]);
    }
}

static bool count_poll(xy_worker_t *w)
{
    game_t *g = xy_pool_user(xy_worker_pool(w));

    atomic_fetch_add_explicit(&g->polls, 1, memory_order_relaxed);
    return false;
}

/* An idle worker: its only fiber sleeps, and it looks around until the time has passed. */
static void sleep_and_count(void *arg)
{
    game_t *g = arg;

    for (int batch = -1; batch < g->count; batch++) {
        long before = atomic_load(&g->polls), polls;
        double begin = xy_now();

        xy_fiber_sleep(500e-6);
        polls = atomic_load(&g->polls) - before;
        if (batch >= 0)
            g->seconds[batch] = (xy_now() - begin) / (double)(polls > 0 ? polls : 1);
    }
}

static xy_status_t spawn(xy_pool_t *pool, int worker, xy_fiber_fn fn, game_t *g, int index)
{
    return xy_fiber_create(xy_pool_worker(pool, worker), fn, g, &g->fiber[index]);
}

/* Run one measurement: spawn its fibers on the pool and return when they have ended. */
static xy_status_t play(xy_pool_t *pool, xy_fiber_cost_t what, game_t *g)
{
    xy_status_t st;

    if (what == XY_FIBER_POLL) {
        st = spawn(pool, 0, sleep_and_count, g, 0);
    } else {
        /* The one who answers is first in the queue of a common worker: it parks, and is called. */
        st = spawn(pool, what == XY_FIBER_SWITCH ? 0 : 1, answer, g, 1);
        if (st == XY_OK)
            st = spawn(pool, 0, keep_clock, g, 0);
    }
    return st == XY_OK ? xy_pool_run(pool) : st;
}

xy_status_t xy_fiber_measure(xy_fiber_cost_t what, const int cpus[2], double *seconds, int count)
{
    static const long rounds[] = {[XY_FIBER_SWITCH] = 2000,
                                  [XY_FIBER_POLL] = 1,
                                  [XY_FIBER_WAKE] = 200,
                                  [XY_FIBER_WAKE_ASLEEP] = 10};
    const bool is_two = what == XY_FIBER_WAKE || what == XY_FIBER_WAKE_ASLEEP;
    game_t g = {.call = is_two ? xy_fiber_wake : xy_fiber_ready,
                .rounds = rounds[what],
                .seconds = seconds,
                .count = count};
    xy_pool_config_t config = {.workers = is_two ? 2 : 1,
                               .cpus = cpus,
                               .spin_seconds = what == XY_FIBER_WAKE_ASLEEP ? 0 : 1,
                               .stack_size = 64 << 10,
                               .poll = what == XY_FIBER_POLL ? count_poll : NULL,
                               .user = &g};
    xy_pool_t *pool;
    xy_status_t st = xy_pool_create(&config, &pool);

    if (st != XY_OK)
        return st;
    st = play(pool, what, &g);
    for (int i = 0; i < 2; i++)
        if (g.fiber[i] != NULL)
            xy_fiber_release(g.fiber[i]);
    xy_pool_destroy(pool);
    return st;
}
