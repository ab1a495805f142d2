/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock against a plain list: order, equal times, moving, taking away, running out of memory.
 */
#include <string.h>

#include "testing/sim.h"

enum { EVENTS = 200 };

/* Events that were set and have not happened, in the order in which they were set. */
typedef struct {
    double when;
    int event;
} plain_t;

typedef struct {
    xy_vclock_t clock;
    xy_event_t events[EVENTS];
    double when[EVENTS];
    plain_t plain[1 << 16];
    int count;
    uint64_t state;
    int fired, settled;
    double settled_at;
} model_t;

static uint64_t draw(model_t *m, uint64_t n)
{
    return (uint64_t)testing_random_below(&m->state, (int)n);
}

static void set(model_t *m, int i, double when)
{
    m->when[i] = when;
    if (when < INFINITY) {
        assert_true(m->count < 1 << 16);
        m->plain[m->count++] = (plain_t){when, i};
    }
    xy_vclock_set(&m->clock, &m->events[i], when);
}

/* The first of the least time that still holds; -1: none. What stands before it is gone for good.
 */
static int plain_first(model_t *m)
{
    int first = -1, kept = 0, found = -1;
    double least;

    for (int i = 0; i < m->count; i++)
        if (m->plain[i].when == m->when[m->plain[i].event] &&
            (first < 0 || m->plain[i].when < m->plain[first].when))
            first = i;
    least = first >= 0 ? m->plain[first].when : 0;
    for (int i = 0; i < m->count && first >= 0; i++) {
        if (m->plain[i].when < least || (m->plain[i].when == least && i < first))
            continue;
        found = i == first ? kept : found;
        m->plain[kept++] = m->plain[i];
    }
    m->count = kept;
    return found;
}

static void due(xy_event_t *event)
{
    model_t *m = event->owner;
    int first = plain_first(m);

    assert_true(first >= 0);
    assert_int_equal(event->index, m->plain[first].event);
    assert_true(m->clock.now == m->plain[first].when);
    assert_true(event->when == INFINITY);
    m->when[event->index] = INFINITY;
    memmove(&m->plain[first], &m->plain[first + 1],
            (size_t)(--m->count - first) * sizeof(m->plain[0]));
    m->fired++;
    for (uint64_t k = draw(m, 5); k > 0 && m->fired < 5000; k--) {
        /* Times are few, so that many are equal. */
        double when = draw(m, 5) == 0 ? INFINITY : m->clock.now + (double)draw(m, 7);

        set(m, (int)draw(m, EVENTS), when);
    }
}

static void settle(void *owner)
{
    model_t *m = owner;
    int next = plain_first(m);

    assert_true(next < 0 || m->plain[next].when > m->clock.now);
    assert_true(m->settled == 0 || m->clock.now > m->settled_at);
    m->settled_at = m->clock.now;
    m->settled++;
}

static void begin(model_t *m, uint64_t seed)
{
    memset(m, 0, sizeof(*m));
    m->state = seed;
    m->clock.settle = settle;
    m->clock.owner = m;
    for (int i = 0; i < EVENTS; i++) {
        xy_event_init(&m->events[i], due, m, i);
        m->when[i] = INFINITY;
    }
    for (int i = 0; i < EVENTS; i++)
        set(m, (int)draw(m, EVENTS), (double)draw(m, 20));
}

static void test_order(void **state)
{
    static model_t m;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        begin(&m, seed);
        assert_int_equal(xy_vclock_run(&m.clock), XY_OK);
        assert_true(plain_first(&m) < 0);
        assert_true(m.fired > EVENTS / 2 && m.settled > 0 && m.settled <= m.fired);
        xy_vclock_cleanup(&m.clock);
    }
}

/* ---- What comes last in a moment ---- */

typedef struct {
    xy_vclock_t clock;
    xy_event_t events[4], last[2];
    int order[32], count;
    int more; /* the last ones plan so many events for the same moment */
} moment_t;

static void note(xy_event_t *event)
{
    moment_t *m = event->owner;

    m->order[m->count++] = event->index;
    xy_vclock_set_last(&m->clock, &m->last[event->index % 2]);
    xy_vclock_set_last(&m->clock, &m->last[event->index % 2]);
}

static void note_last(xy_event_t *event)
{
    moment_t *m = event->owner;

    m->order[m->count++] = event->index;
    if (m->more-- > 0)
        xy_vclock_set(&m->clock, &m->events[0], m->clock.now);
}

static void note_settled(void *owner)
{
    moment_t *m = owner;

    m->order[m->count++] = 99;
}

static void test_last_of_a_moment(void **state)
{
    static const int expected[] = {0, 1, 2, 10, 0, 11, 10, 99, 3, 11, 99};
    moment_t m = {.more = 1};

    (void)state;
    m.clock.settle = note_settled;
    m.clock.owner = &m;
    for (int i = 0; i < 4; i++) {
        xy_event_init(&m.events[i], note, &m, i);
        xy_vclock_set(&m.clock, &m.events[i], i < 3 ? 1 : 2);
    }
    for (int i = 0; i < 2; i++)
        xy_event_init(&m.last[i], note_last, &m, 10 + i);
    assert_int_equal(xy_vclock_run(&m.clock), XY_OK);
    assert_int_equal(m.count, sizeof(expected) / sizeof(expected[0]));
    assert_memory_equal(m.order, expected, sizeof(expected));
    xy_vclock_cleanup(&m.clock);
}

/* An event set again to its own time is not left over: the queue must grow. */
static void test_set_again(void **state)
{
    static model_t m;

    (void)state;
    begin(&m, 13);
    m.count = 0;
    m.fired = 5000;
    for (int i = 0; i < 100000; i++)
        xy_vclock_set(&m.clock, &m.events[i % 100], 50);
    assert_true(m.clock.queue.count >= 100000);
    for (int i = 0; i < EVENTS; i++)
        set(&m, i, i < 100 ? INFINITY : 60);
    assert_int_equal(xy_vclock_run(&m.clock), XY_OK);
    assert_int_equal(m.fired, 5000 + EVENTS - 100);
    xy_vclock_cleanup(&m.clock);
}

/* Events that change their mind again and again leave no queue behind that grows with it. */
static void test_leftovers(void **state)
{
    static model_t m;

    (void)state;
    begin(&m, 11);
    for (int i = 0; i < 1000000; i++)
        xy_vclock_set(&m.clock, &m.events[i % EVENTS], 100 + i % 977);
    assert_true(m.clock.queue.count <= 8192);
    m.count = 0;
    m.fired = 5000; /* none sets another */
    for (int i = 0; i < EVENTS; i++)
        set(&m, i, EVENTS - i);
    assert_int_equal(xy_vclock_run(&m.clock), XY_OK);
    assert_int_equal(m.fired, 5000 + EVENTS);
    xy_vclock_cleanup(&m.clock);
}

static void test_stop(void **state)
{
    static model_t m;

    (void)state;
    begin(&m, 5);
    xy_vclock_stop(&m.clock);
    assert_int_equal(xy_vclock_run(&m.clock), XY_OK);
    assert_int_equal(m.fired, 0);
    assert_int_equal(xy_vclock_run(&m.clock), XY_OK); /* only one run was stopped */
    assert_true(m.fired > 0);
    xy_vclock_cleanup(&m.clock);
}

static void test_reset(void **state)
{
    static model_t m;

    (void)state;
    begin(&m, 7);
    xy_vclock_reset(&m.clock);
    for (int i = 0; i < EVENTS; i++)
        assert_true(m.events[i].when == INFINITY);
    assert_int_equal(xy_vclock_run(&m.clock), XY_OK);
    assert_int_equal(m.fired, 0);
    assert_true(m.clock.now == 0);
    xy_vclock_cleanup(&m.clock);
}

static void test_memory_runs_out(void **state)
{
    static model_t m;

    (void)state;
    xy_memory_fail_at(2);
    begin(&m, 9); /* more events than the first allocation holds */
    xy_memory_fail_at(0);
    assert_int_equal(xy_vclock_run(&m.clock), XY_ENOMEM);
    assert_int_equal(m.fired, 0);
    xy_vclock_cleanup(&m.clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_last_of_a_moment),
        cmocka_unit_test(test_set_again),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
