/* SPDX-License-Identifier: BSD-3-Clause */
/* Several workers: wakes between them, sleeping, stopping, and detecting deadlocks. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fiber/fiber_private.h"
#include "fiber/sanitize.h"
#include "testing/base.h"

enum { SLOW = FIBER_TSAN || FIBER_ASAN ? 20 : 1 };

/* So many of something; ten times as many with XYLEM_SOAK. Where other programs run beside this
 * one, workers that spin wait for each other most of the time. */
static int rounds(int usual)
{
    return usual / SLOW * (testing_is_soak() ? 10 : 1);
}

static _Atomic int stuck_calls;

static void count_stuck(xy_pool_t *pool)
{
    atomic_fetch_add(&stuck_calls, 1);
    xy_pool_stop(pool);
}

static xy_pool_t *pool_of(int workers, double spin_seconds, bool (*poll)(xy_worker_t *))
{
    xy_pool_config_t config = {.workers = workers,
                               .spin_seconds = spin_seconds,
                               .poll = poll,
                               .stuck = count_stuck,
                               .stack_size = 256 << 10};
    xy_pool_t *pool;

    atomic_store(&stuck_calls, 0);
    assert_int_equal(xy_pool_create(&config, &pool), XY_OK);
    return pool;
}

static void run_and_destroy(xy_pool_t *pool)
{
    assert_int_equal(xy_pool_run(pool), XY_OK);
    xy_pool_destroy(pool);
}

/* Tokens: every fiber has a count of tokens; who has none parks, who gets one passes it on. ------
 */

enum { FIBERS = 24 };

typedef struct {
    _Atomic(int) tokens;
    _Atomic(bool) is_waiting;
    xy_fiber_t *fiber;
    long passed;
    unsigned seed;
    int index;
} player_t;

static player_t players[FIBERS];
static int player_count;
static _Atomic long passes_left;

static void give_token(player_t *to)
{
    atomic_fetch_add(&to->tokens, 1);
    if (atomic_exchange(&to->is_waiting, false))
        xy_fiber_wake(to->fiber);
}

static void take_token(player_t *me)
{
    while (atomic_load(&me->tokens) == 0) {
        atomic_store(&me->is_waiting, true);
        /* Given meanwhile? Then take back the wish to be woken, or the wake is under way. */
        if (atomic_load(&me->tokens) == 0 || !atomic_exchange(&me->is_waiting, false))
            xy_fiber_park();
    }
    atomic_fetch_sub(&me->tokens, 1);
}

static void play(void *arg)
{
    player_t *me = arg;

    for (;;) {
        take_token(me);
        if (atomic_fetch_sub(&passes_left, 1) <= 0)
            break;
        me->passed++;
        me->seed = me->seed * 1103515245 + 12345;
        give_token(&players[(me->seed >> 16) % (unsigned)player_count]);
    }
    for (int i = 0; i < player_count; i++) /* the game has ended: wake all players */
        give_token(&players[i]);
}

/* `tokens` go round between `count` fibers on `workers` workers; all fibers end, none is stuck.
 */
static void game(int workers, int count, int tokens, long passes, double spin)
{
    xy_pool_t *pool = pool_of(workers, spin, NULL);
    long passed = 0;

    player_count = count;
    atomic_store(&passes_left, passes);
    memset(players, 0, sizeof(players));
    for (int i = 0; i < count; i++) {
        players[i].seed = (unsigned)i * 77 + 1;
        players[i].index = i;
        atomic_store(&players[i].tokens, i < tokens);
        assert_int_equal(xy_fiber_create(xy_pool_worker(pool, i % workers), play, &players[i],
                                         &players[i].fiber),
                         XY_OK);
    }
    run_and_destroy(pool);
    for (int i = 0; i < count; i++)
        passed += players[i].passed;
    assert_int_equal(passed, passes);
    assert_int_equal(atomic_load(&stuck_calls), 0);
}

static void test_wakes_spinning(void **state)
{
    (void)state;
    game(2, 2, 1, rounds(20000), 20e-6);
    game(2, 24, 7, rounds(100000), 20e-6);
}

/* Without spinning every lack of work is a sleep: the doorbell is rung at every moment of it. */
static void test_wakes_sleeping(void **state)
{
    (void)state;
    game(2, 2, 1, rounds(20000), 0);
    game(3, 3, 2, rounds(20000), 0);
    game(4, 24, 3, rounds(20000), 0);
    game(4, 4, 1, rounds(20000), 1e-6);
}

/* Letters that only poll finds: a doorbell without a wake. ----------------------------------------
 */

static _Atomic int boxes[4];
static xy_fiber_t *readers[4];
static int letters, stations;

static bool read_box(xy_worker_t *w)
{
    int i = xy_worker_index(w);

    if (atomic_load_explicit(&boxes[i], memory_order_acquire) == 0)
        return false;
    atomic_store_explicit(&boxes[i], 0, memory_order_relaxed);
    xy_fiber_ready(readers[i]);
    return true;
}

static void forward_letters(void *arg)
{
    int i = (int)(intptr_t)arg, next = (i + 1) % stations;

    for (int n = 0; n < letters; n++) {
        if (i != 0 || n != 0)
            xy_fiber_park();
        if (i == stations - 1 && n == letters - 1)
            break;
        atomic_store_explicit(&boxes[next], 1, memory_order_release);
        xy_worker_notify(xy_pool_worker(xy_worker_pool(xy_worker_self()), next));
    }
}

static void ring_of(int workers, int rounds, double spin)
{
    xy_pool_t *pool = pool_of(workers, spin, read_box);

    letters = rounds;
    stations = workers;
    for (intptr_t i = 0; i < workers; i++)
        assert_int_equal(
            xy_fiber_create(xy_pool_worker(pool, (int)i), forward_letters, (void *)i, &readers[i]),
            XY_OK);
    run_and_destroy(pool);
    assert_int_equal(atomic_load(&stuck_calls), 0);
}

static void test_doorbell(void **state)
{
    (void)state;
    ring_of(2, rounds(10000), 0);
    ring_of(4, rounds(5000), 0);
    ring_of(3, rounds(5000), 2e-6);
    ring_of(2, rounds(10000), 20e-6);
}

/* The moment of falling asleep: posts come at random times after the reader has answered, when it
 * is about to sleep. A lost one would leave the poster waiting.
 * ------------------------------------ */

static _Atomic int answered;

static void dawdle(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345;
    for (volatile unsigned i = 0; i < (*seed >> 16) % 512; i++)
        ;
}

static void answer(void *arg)
{
    unsigned seed = 2;

    for (int n = 1; n <= letters; n++) {
        xy_fiber_park();
        atomic_store_explicit(&answered, n, memory_order_release);
        dawdle(&seed);
    }
    (void)arg;
}

static void post_at_random(void *arg)
{
    xy_worker_t *reader = xy_pool_worker(xy_worker_pool(xy_worker_self()), 1);
    unsigned seed = 1;

    (void)arg;
    for (int n = 1; n <= letters; n++) {
        double start = xy_now();

        dawdle(&seed);
        atomic_store_explicit(&boxes[1], 1, memory_order_release);
        xy_worker_notify(reader);
        while (atomic_load_explicit(&answered, memory_order_acquire) != n)
            assert_true(xy_now() - start < 20);
    }
}

static void test_falling_asleep(void **state)
{
    xy_pool_t *pool = pool_of(2, 0, read_box);

    (void)state;
    letters = rounds(20000);
    atomic_store(&answered, 0);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), post_at_random, NULL, NULL), XY_OK);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 1), answer, NULL, &readers[1]), XY_OK);
    run_and_destroy(pool);
    assert_int_equal(atomic_load(&stuck_calls), 0);
}

/* Order of wakes from elsewhere ------------------------------------------------------------------
 */

static _Atomic int sleepers_parked, wakes_made;
static int order[8], ordered;

static void park_then_order(void *arg)
{
    atomic_fetch_add(&sleepers_parked, 1);
    xy_fiber_park();
    order[ordered++] = (int)(intptr_t)arg;
}

static void keep_busy(void *arg)
{
    (void)arg;
    while (atomic_load(&wakes_made) < 8)
        ;
}

static void wake_in_order(void *arg)
{
    xy_fiber_t **fibers = arg;

    while (atomic_load(&sleepers_parked) < 8)
        ;
    for (int i = 0; i < 8; i++) {
        xy_fiber_wake(fibers[(i * 3) % 8]);
        atomic_fetch_add(&wakes_made, 1);
    }
}

static void test_wakes_in_order(void **state)
{
    xy_pool_t *pool = pool_of(2, 0, NULL);
    xy_fiber_t *fibers[8];

    (void)state;
    atomic_store(&sleepers_parked, 0);
    atomic_store(&wakes_made, 0);
    ordered = 0;
    for (intptr_t i = 0; i < 8; i++)
        assert_int_equal(
            xy_fiber_create(xy_pool_worker(pool, 0), park_then_order, (void *)i, &fibers[i]),
            XY_OK);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), keep_busy, NULL, NULL), XY_OK);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 1), wake_in_order, fibers, NULL), XY_OK);
    run_and_destroy(pool);
    for (int i = 0; i < 8; i++)
        assert_int_equal(order[i], (i * 3) % 8);
}

/* Stuck ------------------------------------------------------------------------------------------
 */

static void park_for_ever(void *arg)
{
    for (int i = 0; i < (int)(intptr_t)arg; i++)
        xy_fiber_sleep(1e-3);
    xy_fiber_park();
    fail();
}

static void test_stuck(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 4; workers++)
        for (int spin = 0; spin < 2; spin++)
            for (intptr_t naps = 0; naps < 3; naps++) {
                xy_pool_t *pool = pool_of(workers, spin * 1e-4, NULL);

                for (int i = 0; i < 2 * workers; i++)
                    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, i % workers),
                                                     park_for_ever, (void *)naps, NULL),
                                     XY_OK);
                run_and_destroy(pool);
                assert_int_equal(atomic_load(&stuck_calls), 1);
            }
}

static void short_nap(void *arg)
{
    (void)arg;
    xy_fiber_sleep(2e-4);
}

/* The pool ends without those in the background, and they do not make it stuck. */
static void test_background(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 3; workers++) {
        xy_pool_t *pool = pool_of(workers, 1e-5, NULL);
        xy_fiber_t *fiber;

        for (int i = 0; i < 2 * workers; i++) {
            assert_int_equal(
                xy_fiber_create(xy_pool_worker(pool, i % workers), park_for_ever, NULL, &fiber),
                XY_OK);
            xy_fiber_background_set(fiber);
        }
        assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), short_nap, NULL, NULL), XY_OK);
        run_and_destroy(pool);
        assert_int_equal(atomic_load(&stuck_calls), 0);
    }
}

/* Only one fiber of four workers ever sleeps or is awake; the timer must count as hope. */
static void wake_after_nap(void *arg)
{
    (void)arg;
    for (int i = 0; i < 50; i++) {
        xy_fiber_sleep(2e-4);
        give_token(&players[0]);
    }
}

static void take_fifty(void *arg)
{
    for (int i = 0; i < 50; i++)
        take_token(arg);
}

static void test_timer_is_hope(void **state)
{
    xy_pool_t *pool = pool_of(4, 0, NULL);

    (void)state;
    memset(players, 0, sizeof(players));
    assert_int_equal(
        xy_fiber_create(xy_pool_worker(pool, 0), take_fifty, &players[0], &players[0].fiber),
        XY_OK);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 3), wake_after_nap, NULL, NULL), XY_OK);
    run_and_destroy(pool);
    assert_int_equal(atomic_load(&stuck_calls), 0);
}

/* Stop, idleness, foreign threads ----------------------------------------------------------------
 */

static void stop_at_once(void *arg)
{
    (void)arg;
    xy_pool_stop(xy_worker_pool(xy_worker_self()));
    xy_fiber_yield();
    fail();
}

static void yield_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        xy_fiber_yield();
}

static void test_stop(void **state)
{
    xy_pool_t *pool = pool_of(3, 1e-4, NULL);

    (void)state;
    for (int i = 0; i < 6; i++)
        assert_int_equal(xy_fiber_create(xy_pool_worker(pool, i % 3),
                                         i < 3 ? yield_for_ever : stop_at_once, NULL, NULL),
                         XY_OK);
    run_and_destroy(pool);
}

static void *wake_from_outside(void *arg)
{
    for (int i = 0; i < 100; i++) {
        if (i % 10 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        give_token(arg);
    }
    return NULL;
}

static void take_hundred(void *arg)
{
    for (int i = 0; i < 100; i++)
        take_token(arg);
}

static void test_foreign_thread(void **state)
{
    xy_pool_config_t config = {.workers = 2}; /* stuck is NULL: wakes come from outside */
    xy_pool_t *pool;
    pthread_t thread;

    (void)state;
    memset(players, 0, sizeof(players));
    assert_int_equal(xy_pool_create(&config, &pool), XY_OK);
    assert_int_equal(
        xy_fiber_create(xy_pool_worker(pool, 1), take_hundred, &players[0], &players[0].fiber),
        XY_OK);
    assert_int_equal(pthread_create(&thread, NULL, wake_from_outside, &players[0]), 0);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    pthread_join(thread, NULL); /* it may still be ringing */
    xy_pool_destroy(pool);
}

static void park_once_outside(void *arg)
{
    (void)arg;
    xy_fiber_park_outside();
}

static void *wake_late(void *arg)
{
    usleep(50000);
    xy_fiber_wake(arg);
    return NULL;
}

/* All workers sleep until a thread that is none of them wakes a fiber; when that has ended, those
 * that nothing will wake are noticed as ever. */
static void test_outside_is_hope(void **state)
{
    (void)state;
    for (int others = 0; others < 2; others++) {
        xy_pool_t *pool = pool_of(2, 0, NULL);
        xy_fiber_t *fiber;
        pthread_t thread;

        assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 1), park_once_outside, NULL, &fiber),
                         XY_OK);
        if (others > 0)
            assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), park_for_ever, NULL, NULL),
                             XY_OK);
        assert_int_equal(pthread_create(&thread, NULL, wake_late, fiber), 0);
        assert_int_equal(xy_pool_run(pool), XY_OK);
        pthread_join(thread, NULL);
        xy_fiber_release(fiber);
        xy_pool_destroy(pool);
        assert_int_equal(atomic_load(&stuck_calls), others);
    }
}

static void nap(void *arg)
{
    (void)arg;
    xy_fiber_sleep(0.5);
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A job that waits for half a second uses next to no processor time. The bound is generous: the
 * aim is 1 %, spinning would be 200 %. */
static void test_waiting_is_free(void **state)
{
    xy_pool_t *pool = pool_of(2, 100e-6, NULL);
    double start, used;

    (void)state;
    for (int i = 0; i < 20; i++)
        assert_int_equal(xy_fiber_create(xy_pool_worker(pool, i % 2), nap, NULL, NULL), XY_OK);
    start = cpu_seconds();
    run_and_destroy(pool);
    used = cpu_seconds() - start;
    assert_true(used < 0.05 * SLOW);
}

static _Atomic int rests;
static xy_fiber_t *resting;

static double wake_before_sleep(xy_worker_t *w)
{
    if (xy_worker_index(w) == 0 && atomic_fetch_add(&rests, 1) == 0)
        xy_fiber_wake(resting);
    return 0;
}

/* Not at once, and then only because it asked to be called again. */
static double wake_later(xy_worker_t *w)
{
    if (xy_worker_index(w) != 0)
        return 0;
    if (atomic_fetch_add(&rests, 1) < 3)
        return 1e-3;
    xy_fiber_wake(resting);
    return 0;
}

static void park_once(void *arg)
{
    (void)arg;
    xy_fiber_park();
}

/* A worker without work calls `rest`, also again where that asks for it, and sees what it posted:
 * else the pool would be stuck. */
static void test_rest(void **state)
{
    (void)state;
    for (int later = 0; later < 2; later++) {
        xy_pool_config_t config = {
            .workers = 2, .stuck = count_stuck, .rest = later ? wake_later : wake_before_sleep};
        xy_pool_t *pool;

        atomic_store(&stuck_calls, 0);
        atomic_store(&rests, 0);
        assert_int_equal(xy_pool_create(&config, &pool), XY_OK);
        assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), park_once, NULL, &resting),
                         XY_OK);
        run_and_destroy(pool);
        assert_true(atomic_load(&rests) > (later ? 3 : 0));
        assert_int_equal(atomic_load(&stuck_calls), 0);
    }
}

/* Short sleeps make a worker poll longer, up to a bound; long ones bring it back; a worker that
 * does not poll never does. */
static void test_spin_adapts(void **state)
{
    xy_pool_t *pool = pool_of(1, 100e-6, NULL);
    xy_worker_t *w = xy_pool_worker(pool, 0);

    (void)state;
    assert_int_equal(w->spin_now_ns, 100000);
    fiber_spin_adapt(w, 50000);
    assert_int_equal(w->spin_now_ns, 400000);
    for (int i = 0; i < 5; i++)
        fiber_spin_adapt(w, 1999999);
    assert_int_equal(w->spin_now_ns, 2000000);
    fiber_spin_adapt(w, 2000000);
    assert_int_equal(w->spin_now_ns, 500000);
    for (int i = 0; i < 5; i++)
        fiber_spin_adapt(w, 1000000000);
    assert_int_equal(w->spin_now_ns, 100000);
    xy_worker_spin_set(w, 0);
    fiber_spin_adapt(w, 0);
    assert_int_equal(w->spin_now_ns, 0);
    xy_pool_destroy(pool);
}

/* A watcher that waits is called; the time of the wait alone ends it too. */
static _Atomic uint32_t watcher_word;

static void *call_watcher(void *arg)
{
    while (atomic_load(&watcher_word) == 0)
        xy_thread_yield();
    xy_watcher_call(&watcher_word);
    return arg;
}

static void test_watcher(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, call_watcher, NULL), 0);
    assert_true(xy_watcher_wait(&watcher_word, 100));
    assert_int_equal(pthread_join(thread, NULL), 0);
    xy_watcher_call(&watcher_word);
    assert_false(xy_watcher_wait(&watcher_word, 1e-6));
}

/* Threads of the pool's own: the caller stays what it is. -----------------------------------------
 */

static void note_thread(void *arg)
{
    *(pthread_t *)arg = pthread_self();
    assert_non_null(xy_worker_self());
}

static void test_start_and_join(void **state)
{
    xy_pool_config_t config = {.workers = 3}; /* stuck is NULL: wakes come from outside */
    pthread_t threads[2];
    xy_pool_t *pool;

    (void)state;
    memset(players, 0, sizeof(players));
    assert_int_equal(xy_pool_create(&config, &pool), XY_OK);
    assert_int_equal(xy_pool_start(pool), XY_OK); /* nothing to run */
    xy_pool_join(pool);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2; i++)
            assert_int_equal(
                xy_fiber_create(xy_pool_worker(pool, i), note_thread, &threads[i], NULL), XY_OK);
        assert_int_equal(
            xy_fiber_create(xy_pool_worker(pool, 2), take_hundred, &players[0], &players[0].fiber),
            XY_OK);
        assert_int_equal(xy_pool_start(pool), XY_OK);
        assert_null(xy_worker_self());
        wake_from_outside(&players[0]); /* the caller is free to do this meanwhile */
        xy_pool_join(pool);
        xy_fiber_release(players[0].fiber);
        assert_false(pthread_equal(threads[0], pthread_self()));
        assert_false(pthread_equal(threads[0], threads[1]));
    }
    xy_pool_destroy(pool);
}

static void run_inner(void *arg)
{
    xy_pool_t *pool = pool_of(2, 0, NULL);
    xy_worker_t *self = xy_worker_self();
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(xy_fiber_create(xy_pool_worker(pool, i), note_thread, &threads[i], NULL),
                         XY_OK);
    assert_int_equal(xy_pool_start(pool), XY_OK);
    xy_pool_join(pool);
    xy_pool_destroy(pool);
    assert_ptr_equal(xy_worker_self(), self);
    assert_false(pthread_equal(threads[0], pthread_self()));
    *(bool *)arg = true;
}

static void test_pool_in_a_fiber(void **state)
{
    xy_pool_t *pool = pool_of(1, 0, NULL);
    bool is_done = false;

    (void)state;
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), run_inner, &is_done, NULL), XY_OK);
    run_and_destroy(pool);
    assert_true(is_done);
}

static void test_start_fails(void **state)
{
    int cpus[2] = {0, 8000}; /* a core that is not there */
    xy_pool_t *pool;
    cpu_set_t allowed;

    (void)state;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    while (!CPU_ISSET(cpus[0], &allowed))
        cpus[0]++;
    assert_int_equal(xy_pool_create(&(xy_pool_config_t){.workers = 2, .cpus = cpus}, &pool), XY_OK);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), yield_for_ever, NULL, NULL), XY_OK);
    assert_int_equal(xy_pool_start(pool), XY_EINVAL);
    xy_pool_join(pool);
    xy_pool_destroy(pool);
}

static void check_cpu(void *arg)
{
    assert_int_equal(sched_getcpu(), (int)(intptr_t)arg);
    assert_int_equal(xy_worker_cpu(xy_worker_self()), (int)(intptr_t)arg);
}

static void test_pinned(void **state)
{
    cpu_set_t allowed, after;
    int cpus[2], n = 0;
    xy_pool_t *pool;

    (void)state;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &allowed))
            cpus[n++] = i;
    assert_int_equal(xy_pool_create(&(xy_pool_config_t){.workers = n, .cpus = cpus}, &pool), XY_OK);
    for (int i = 0; i < n; i++)
        assert_int_equal(
            xy_fiber_create(xy_pool_worker(pool, i), check_cpu, (void *)(intptr_t)cpus[i], NULL),
            XY_OK);
    run_and_destroy(pool);
    sched_getaffinity(0, sizeof(after), &after);
    assert_true(CPU_EQUAL(&allowed, &after));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wakes_spinning),
        cmocka_unit_test(test_wakes_sleeping),
        cmocka_unit_test(test_doorbell),
        cmocka_unit_test(test_falling_asleep),
        cmocka_unit_test(test_wakes_in_order),
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_outside_is_hope),
        cmocka_unit_test(test_background),
        cmocka_unit_test(test_timer_is_hope),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_foreign_thread),
        cmocka_unit_test(test_waiting_is_free),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_spin_adapts),
        cmocka_unit_test(test_watcher),
        cmocka_unit_test(test_start_and_join),
        cmocka_unit_test(test_pool_in_a_fiber),
        cmocka_unit_test(test_start_fails),
        cmocka_unit_test(test_pinned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
