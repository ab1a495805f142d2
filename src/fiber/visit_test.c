/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that visit a worker: one at a time, parked ones asleep, rings that reach them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fiber/fiber_private.h"
#include "fiber/sanitize.h"

enum { VISITORS = 4, ROUNDS = 400 };

static _Atomic int stuck_calls;
static xy_pool_t *pool;
static long counter;        /* of the worker: no atomic */
static _Atomic int posted;  /* found by poll */
static xy_fiber_t *waiting; /* of the worker: wants the next post */
static _Atomic bool is_over;

static void count_stuck(xy_pool_t *p)
{
    atomic_fetch_add(&stuck_calls, 1);
    xy_pool_stop(p);
}

static bool poll_posts(xy_worker_t *w)
{
    assert_ptr_equal(xy_worker_self(), w);
    if (waiting == NULL || atomic_exchange(&posted, 0) == 0)
        return false;
    xy_fiber_ready(waiting);
    waiting = NULL;
    return true;
}

static int set_up(void **state)
{
    xy_pool_config_t config = {.workers = 1,
                               .spin_seconds = 20e-6,
                               .poll = poll_posts,
                               .stuck = count_stuck,
                               .stack_size = 256 << 10};

    (void)state;
    counter = 0;
    waiting = NULL;
    atomic_store(&posted, 0);
    atomic_store(&stuck_calls, 0);
    atomic_store(&is_over, false);
    return xy_pool_create(&config, &pool) == XY_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    xy_pool_destroy(pool);
    return 0;
}

static void start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    xy_pool_outside_add(pool, 1);
    assert_int_equal(pthread_create(thread, NULL, body, argument), 0);
}

static xy_fiber_t *visitor_new(void)
{
    xy_fiber_t *visitor;

    assert_int_equal(xy_visitor_create(xy_pool_worker(pool, 0), NULL, &visitor), XY_OK);
    return visitor;
}

/* One at a time: the worker's fiber and the visitors count without atomics. */
static void *count_as_visitor(void *unused)
{
    xy_fiber_t *visitor = visitor_new();

    (void)unused;
    assert_null(xy_worker_self());
    for (int i = 0; i < ROUNDS; i++) {
        xy_visitor_come_in(visitor);
        assert_ptr_equal(xy_fiber_self(), visitor);
        counter++;
        if (i % 50 == 0)
            xy_fiber_yield();
        xy_visitor_go_out(visitor);
        assert_null(xy_worker_self());
    }
    xy_visitor_destroy(visitor);
    xy_pool_outside_add(pool, -1);
    return NULL;
}

static void count_as_fiber(void *unused)
{
    pthread_t threads[VISITORS];
    xy_worker_t *w = xy_worker_self();

    (void)unused;
    xy_worker_share(w);
    for (int i = 0; i < VISITORS; i++)
        start(&threads[i], count_as_visitor, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        counter++;
        xy_worker_go_out(w);
        xy_worker_unlock(w);
        xy_worker_come_in(w);
        if (i % 50 == 0)
            xy_fiber_sleep(1e-5);
    }
    xy_worker_go_out(w);
    xy_worker_unlock(w);
    for (int i = 0; i < VISITORS; i++)
        pthread_join(threads[i], NULL);
    xy_worker_come_in(w);
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), count_as_fiber, NULL, NULL), XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    assert_int_equal(counter, (VISITORS + 1) * ROUNDS);
    assert_int_equal(atomic_load(&stuck_calls), 0);
}

/* A visitor waits for posts while the worker is in the program's code, which waits for it in a way
 * that the pool does not see. Nobody but a ring can wake it. */
static void *wait_for_posts(void *unused)
{
    xy_fiber_t *visitor = visitor_new();

    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        xy_visitor_come_in(visitor);
        waiting = visitor;
        xy_fiber_park();
        assert_ptr_equal(xy_fiber_self(), visitor);
        counter++;
        xy_visitor_go_out(visitor);
    }
    xy_pool_outside_add(pool, -1);
    atomic_store(&is_over, true);
    return visitor;
}

static void *post(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over)) {
        if (atomic_load(&posted) == 0) {
            atomic_store(&posted, 1);
            xy_worker_notify(xy_pool_worker(pool, 0));
        }
        sched_yield();
    }
    return NULL;
}

static void be_absent(void *unused)
{
    pthread_t waiter, poster;
    xy_worker_t *w = xy_worker_self();
    void *visitor;

    (void)unused;
    xy_worker_share(w);
    start(&waiter, wait_for_posts, NULL);
    assert_int_equal(pthread_create(&poster, NULL, post, NULL), 0);
    xy_worker_go_out(w);
    xy_worker_unlock(w);
    pthread_join(waiter, &visitor);
    pthread_join(poster, NULL);
    xy_visitor_destroy(visitor); /* a ring may have looked at it until now */
    xy_worker_come_in(w);
}

static void test_ring_reaches_visitor(void **state)
{
    (void)state;
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), be_absent, NULL, NULL), XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    assert_int_equal(counter, ROUNDS);
}

/* A parked fiber of the worker is made ready by a visitor, and the other way round. */
static xy_fiber_t *peers[2];

static void *play(void *unused)
{
    (void)unused;
    peers[1] = visitor_new();
    xy_visitor_come_in(peers[1]);
    for (int i = 0; i < ROUNDS; i++) {
        xy_fiber_ready(peers[0]);
        xy_fiber_park();
        counter++;
    }
    xy_fiber_ready(peers[0]);
    xy_visitor_go_out(peers[1]);
    xy_pool_outside_add(pool, -1);
    return NULL;
}

static void answer(void *unused)
{
    pthread_t thread;

    (void)unused;
    xy_worker_share(xy_worker_self());
    peers[0] = xy_fiber_self();
    start(&thread, play, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        xy_fiber_park();
        xy_fiber_ready(peers[1]);
    }
    xy_fiber_park();
    pthread_join(thread, NULL);
    xy_visitor_destroy(peers[1]);
}

static void test_ping_pong(void **state)
{
    (void)state;
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), answer, NULL, NULL), XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    assert_int_equal(counter, ROUNDS);
    assert_int_equal(atomic_load(&stuck_calls), 0);
}

/* Several visitors wait, and some of them have letters in the mailbox at the same time: the others
 * stay in the list of those that wait. */
static xy_fiber_t *in_order[VISITORS];

static void *wait_once(void *unused)
{
    xy_fiber_t *visitor = visitor_new();

    (void)unused;
    xy_visitor_come_in(visitor);
    xy_fiber_park();
    counter++;
    xy_visitor_go_out(visitor);
    xy_visitor_destroy(visitor);
    xy_pool_outside_add(pool, -1);
    return NULL;
}

static void *wake_three(void *unused)
{
    (void)unused;
    xy_fiber_wake(in_order[2]);
    xy_fiber_wake(in_order[0]);
    xy_fiber_wake(in_order[1]);
    return NULL;
}

/* How many wait, noted in their order. */
static int list_waiting(const xy_worker_t *w)
{
    int n = 0;

    for (xy_fiber_t *v = w->share.first; v != NULL; v = v == w->share.last ? NULL : v->next)
        in_order[n++] = v;
    return n;
}

static void let_in(xy_worker_t *w)
{
    xy_worker_go_out(w);
    xy_worker_unlock(w);
    sched_yield();
    xy_worker_come_in(w);
}

static void deliver(void *unused)
{
    pthread_t threads[VISITORS], waker;
    xy_worker_t *w = xy_worker_self();

    (void)unused;
    xy_worker_share(w);
    for (int i = 0; i < VISITORS; i++)
        start(&threads[i], wait_once, NULL);
    while (list_waiting(w) < VISITORS)
        let_in(w);
    assert_int_equal(pthread_create(&waker, NULL, wake_three, NULL), 0);
    pthread_join(waker, NULL);
    fiber_mail_drain(w);
    assert_ptr_equal(w->share.first, in_order[3]);
    assert_ptr_equal(w->share.last, in_order[3]);
    xy_fiber_ready(in_order[3]);
    assert_null(w->share.first);
    assert_null(w->share.last);
    while (counter < VISITORS)
        let_in(w);
    xy_worker_go_out(w);
    xy_worker_unlock(w);
    for (int i = 0; i < VISITORS; i++)
        pthread_join(threads[i], NULL);
    xy_worker_come_in(w);
}

static void test_letters_to_visitors(void **state)
{
    (void)state;
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), deliver, NULL, NULL), XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    assert_int_equal(counter, VISITORS);
}

/* A fiber on a thread of its own: the others of its worker run while it blocks. */
static int ends[2];

static void *carry(void *fiber)
{
    xy_fiber_carry(fiber, NULL, NULL);
    return NULL;
}

/* A compiler may keep what pthread_self returns. */
static __attribute__((noinline)) pid_t thread_now(void)
{
    return gettid();
}

static void detached(void *unused)
{
    pid_t here = thread_now();
    pthread_t thread;
    xy_worker_t *w = xy_worker_self();
    xy_fiber_t *self = xy_fiber_self();
    char byte = 0;

    (void)unused;
    xy_worker_share(w);
    assert_int_equal(pthread_create(&thread, NULL, carry, self), 0);
    xy_fiber_detach();
    assert_int_not_equal(thread_now(), here);
    assert_ptr_equal(xy_fiber_self(), self);
    xy_visitor_go_out(self);
    assert_int_equal(read(ends[0], &byte, 1), 1); /* written by the other fiber */
    xy_visitor_come_in(self);
    peers[0] = self;
    xy_fiber_park();
    xy_fiber_attach();
    assert_int_equal(thread_now(), here);
    assert_ptr_equal(xy_fiber_self(), self);
    pthread_join(thread, NULL);
    counter += byte;
}

static void write_byte(void *unused)
{
    (void)unused;
    assert_int_equal(write(ends[1], "\1", 1), 1);
    while (peers[0] == NULL)
        xy_fiber_sleep(1e-4);
    xy_fiber_ready(peers[0]);
}

static void test_thread_of_its_own(void **state)
{
    (void)state;
    peers[0] = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), detached, NULL, NULL), XY_OK);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), write_byte, NULL, NULL), XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    assert_int_equal(counter, 1);
    assert_int_equal(atomic_load(&stuck_calls), 0);
    close(ends[0]);
    close(ends[1]);
}

/* A fiber that begins on a thread of its own, while the one of its worker blocks until it has run.
 */
static void begun_elsewhere(void *parent)
{
    xy_fiber_t *self = xy_fiber_self();

    assert_int_equal(thread_now() != *(pid_t *)parent, 1);
    xy_visitor_go_out(self);
    assert_int_equal(write(ends[1], "\1", 1), 1);
    xy_visitor_come_in(self);
    xy_fiber_attach();
    assert_int_equal(thread_now(), *(pid_t *)parent);
    counter++;
}

static void block_until_it_has_run(void *unused)
{
    static pid_t here;
    xy_worker_t *w = xy_worker_self();
    pthread_t thread;
    xy_fiber_t *other;
    char byte = 0;

    (void)unused;
    here = thread_now();
    xy_worker_share(w);
    assert_int_equal(xy_fiber_create_detached(w, begun_elsewhere, &here, &other), XY_OK);
    assert_int_equal(pthread_create(&thread, NULL, carry, other), 0);
    xy_worker_go_out(w);
    xy_worker_unlock(w);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    pthread_join(thread, NULL); /* it comes in once more: nobody may be inside */
    xy_worker_come_in(w);
    while (counter == 0)
        xy_fiber_yield();
    xy_fiber_release(other);
    counter += byte;
}

static void test_beginning_elsewhere(void **state)
{
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), block_until_it_has_run, NULL, NULL),
                     XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    assert_int_equal(counter, 2);
    assert_int_equal(atomic_load(&stuck_calls), 0);
    close(ends[0]);
    close(ends[1]);
}

/* All wait, the visitor last: that is found. As long as a thread runs it is not. */
static void *wait_for_ever(void *pause)
{
    static xy_fiber_t *visitor;

    usleep(*(useconds_t *)pause);
    assert_int_equal(atomic_load(&stuck_calls), 0);
    visitor = visitor_new();
    xy_visitor_come_in(visitor);
    xy_fiber_park();
    return NULL;
}

static void park_for_ever(void *pause)
{
    pthread_t thread;

    xy_worker_share(xy_worker_self());
    start(&thread, wait_for_ever, pause);
    pthread_detach(thread);
    xy_fiber_park();
}

static void test_stuck_with_visitors(void **state)
{
    static useconds_t pause = 100000;

    (void)state;
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), park_for_ever, &pause, NULL), XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    assert_int_equal(atomic_load(&stuck_calls), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ring_reaches_visitor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ping_pong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_letters_to_visitors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_thread_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_beginning_elsewhere, set_up, tear_down),
        /* Its thread sleeps in the pool for ever. */
        cmocka_unit_test_setup(test_stuck_with_visitors, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
