/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibers that go round between workers while they park, yield and sleep. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fiber/fiber.h"
#include "testing/base.h"

enum { WORKERS = 3, FIBERS = 12, ROUNDS = 300 };

typedef struct {
    xy_fiber_t *fiber;
    int number, rounds;
    uint64_t random;
    bool waits;    /* parked, and nobody has made it ready; its worker's */
    int moved;     /* calls of moved() */
    int places;    /* bits of the workers that it was on */
    int next;      /* in a mailbox */
    int *errno_at; /* on the thread where it waits */
} runner_t;

static runner_t runner[FIBERS];
static _Atomic int mailbox[WORKERS]; /* the first runner, from 1 */
static int on[WORKERS][FIBERS];      /* the runners of each worker, each list its worker's */
static int count_on[WORKERS];
static uint64_t seed_of[WORKERS];
static _Atomic long given;

/* Not by an address of before a switch. */
static __attribute__((noinline)) int *find_errno(void)
{
    __asm__ volatile("" ::: "memory"); /* or calls are merged */
    return &errno;
}

/* Compilers keep the address of errno over a switch: it becomes that of this thread. */
static __attribute__((no_sanitize("address"), no_sanitize("thread"))) void
note_moved(void *arg, void *low, void *high)
{
    runner_t *r = arg;

    for (int **word = low; word < (int **)high; word++)
        if (*word == r->errno_at)
            *word = find_errno();
    r->errno_at = find_errno();
    r->moved++;
}

static void take_all(xy_worker_t *w)
{
    int me = xy_worker_index(w), next;

    for (int i = atomic_exchange(&mailbox[me], 0); i != 0; i = next) {
        next = runner[i - 1].next;
        on[me][count_on[me]++] = i - 1;
        xy_fiber_take(w, runner[i - 1].fiber, note_moved, &runner[i - 1]);
    }
}

static void give(xy_worker_t *w, int at, int to)
{
    int me = xy_worker_index(w), i = on[me][at], first;

    on[me][at] = on[me][--count_on[me]];
    xy_fiber_give(runner[i].fiber);
    given++;
    first = atomic_load(&mailbox[to]);
    do
        runner[i].next = first;
    while (!atomic_compare_exchange_weak(&mailbox[to], &first, i + 1));
    xy_worker_notify(xy_pool_worker(xy_worker_pool(w), to));
}

/* Makes those ready that wait, and gives some of all away. */
static bool poll(xy_worker_t *w)
{
    int me = xy_worker_index(w);
    bool found = false;

    take_all(w);
    for (int at = count_on[me] - 1; at >= 0; at--) {
        runner_t *r = &runner[on[me][at]];

        if (xy_fiber_may_leave(r->fiber) && testing_random_below(&seed_of[me], 3) == 0) {
            give(w, at, testing_random_below(&seed_of[me], WORKERS));
        } else if (r->waits && testing_random_below(&seed_of[me], 2) == 0) {
            r->waits = false;
            xy_fiber_ready(r->fiber);
        }
        found = true;
    }
    return found;
}

static void run(void *arg)
{
    runner_t *r = arg;

    for (; r->rounds < ROUNDS; r->rounds++) {
        r->places |= 1 << xy_worker_index(xy_worker_self());
        assert_ptr_equal(xy_fiber_self(), r->fiber);
        assert_false(xy_fiber_may_leave(r->fiber));
        r->errno_at = find_errno();
        switch (testing_random_below(&r->random, 5)) {
        case 0:
            xy_fiber_yield();
            break;
        case 1:
            xy_fiber_sleep(1e-5);
            break;
        default:
            r->waits = true;
            xy_fiber_park();
            assert_false(r->waits);
        }
    }
    for (int w = xy_worker_index(xy_worker_self()), at = 0; at < count_on[w]; at++)
        if (on[w][at] == r->number) {
            on[w][at] = on[w][--count_on[w]];
            return;
        }
    fail_msg("runner %d is in no list of its worker", r->number);
}

static void test_round(void **state)
{
    const xy_pool_config_t config = {
        .workers = WORKERS, .spin_seconds = 1e-5, .poll = poll, .hands_over = true};
    xy_pool_t *pool;
    int moved = 0;

    (void)state;
    assert_int_equal(xy_pool_create(&config, &pool), XY_OK);
    if (!xy_pool_can_hand_over(pool)) {
        xy_pool_destroy(pool);
        skip();
    }
    for (int w = 0; w < WORKERS; w++)
        seed_of[w] = testing_seed() + (uint64_t)w;
    for (int i = 0; i < FIBERS; i++) {
        int w = i % WORKERS;

        runner[i] = (runner_t){.number = i, .random = testing_seed() ^ (uint64_t)i << 32};
        on[w][count_on[w]++] = i;
        assert_int_equal(
            xy_fiber_create(xy_pool_worker(pool, w), run, &runner[i], &runner[i].fiber), XY_OK);
    }
    assert_int_equal(xy_pool_run(pool), XY_OK);
    for (int i = 0; i < FIBERS; i++) {
        assert_int_equal(runner[i].rounds, ROUNDS);
        assert_int_equal(runner[i].places, (1 << WORKERS) - 1);
        moved += runner[i].moved;
        xy_fiber_release(runner[i].fiber);
    }
    assert_int_equal(moved, given);
    xy_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
