/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing: what is kept of a series of runs, with and without a pace. Clocks are never judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "measure/interference.h"
#include "measure/timing.h"
#include "testing/cost.h"

typedef struct {
    int runs, befores, fail_at;
} counter_t;

static int run(void *arg)
{
    counter_t *c = arg;
    volatile double x = 1;

    for (int i = 0; i < 20000; i++)
        x = x * 0.999 + 0.001;
    c->runs++;
    return c->runs == c->fail_at ? 7 : 0;
}

static int before(void *arg)
{
    ((counter_t *)arg)->befores++;
    return 0;
}

static void test_median(void **state)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 3}, one[] = {2}, many[101], spread;

    (void)state;
    assert_true(measure_median(odd, 3, &spread) == 3);
    assert_true(spread == 2.0 / 3);
    assert_true(measure_median(even, 4, &spread) == 2.5);
    assert_true(measure_median(one, 1, &spread) == 2 && spread == 0);
    /* One wild value moves neither the median nor its confidence interval. */
    for (int i = 0; i < 101; i++)
        many[i] = i == 50 ? 1e9 : 100 + i;
    assert_true(measure_median(many, 101, &spread) < 153 && spread < 0.1);
}

static void test_best(void **state)
{
    double values[] = {9, 1.02, 50, 1, 1.01};
    measure_time_t m = measure_best(values, 5);

    (void)state;
    assert_true(m.seconds == 1.01 && m.paced == 1.01 && m.typical == 1.02);
    assert_true(fabs(m.spread - 0.02 / 1.01) < 1e-12);
    assert_int_equal(m.repetitions, 5);
}

static measure_time_t measure_series(const measure_speed_t *pace)
{
    counter_t c = {0};
    measure_limits_t limits = {
        .tight = 1e9, .seconds_max = 0.3, .may_interrupt = true, .reference = pace};
    measure_pool_t pool = {0};
    measure_time_t m;

    assert_int_equal(measure_repeat(run, before, &c, &limits, &pool), 0);
    m = measure_pool_sum(&pool);
    assert_true(m.seconds > 0 && m.paced > 0 && m.repetitions >= 3);
    /* One or two that are not counted. */
    assert_true(c.runs == m.repetitions + 2 || c.runs == m.repetitions);
    assert_int_equal(c.befores, c.runs);
    return m;
}

static void test_series(void **state)
{
    measure_speed_t reference = measure_speed_learn(0.01);
    /* One that seems always alone, and one that never does. */
    measure_speed_t alone = {reference.latency, 1.6 * reference.throughput};
    measure_speed_t never = {reference.latency, 0.4 * reference.throughput};
    measure_time_t m = measure_series(NULL);

    (void)state;
    assert_true(m.paced == m.seconds);
    /* On a busy machine a series may end before anything was looked at, which counts as disturbed.
     */
    m = measure_series(&alone);
    for (int i = 0; i < 100 && m.disturbed >= 0.5; i++)
        m = measure_series(&alone);
    assert_true(m.disturbed < 0.5);
    m = measure_series(&never);
    assert_true(m.disturbed > 0.3);
}

/* The least disturbed half counts, whatever the order in which runs come; what is disturbed more is
 * replaced when the pool is full, and of the others the last stay. */
static void test_pool(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int round = 0; round < 50; round++) {
        measure_pool_t pool = {.is_paced = true};
        measure_time_t m;
        long n = 20 + (long)(testing_random(&seed) % 200), bad = 0;

        for (long i = 0; i < n; i++) {
            bool is_bad = 2 * bad < i && testing_random(&seed) % 3 == 0;

            bad += is_bad;
            measure_pool_add(&pool,
                             (measure_run_t){.seconds = is_bad ? 3 : 1 + 0.01 * (double)(i % 3),
                                             .paced = is_bad ? 2 : 1,
                                             .disturbed = is_bad ? 0.4 : 0});
        }
        m = measure_pool_sum(&pool);
        assert_true(m.paced == 1 && m.disturbed == 0 && m.spread == 0 && m.error == 0);
        assert_true(m.seconds >= 1 && m.seconds <= 1.02);
        assert_int_equal(m.repetitions, n);
        assert_true(m.counted >= 5 && m.counted <= COST_POOL_MAX);
        /* Later runs still count. */
        for (int i = 0; i < 2 * COST_POOL_MAX; i++)
            measure_pool_add(&pool, (measure_run_t){.seconds = 1, .paced = 1.5});
        assert_true(measure_pool_sum(&pool).paced == 1.5);
    }
    assert_int_equal(measure_pool_sum(&(measure_pool_t){0}).repetitions, 0);
}

/* Without a pace the fastest stay. */
static void test_pool_of_times(void **state)
{
    measure_pool_t pool = {0};

    (void)state;
    for (int i = 0; i < 3 * COST_POOL_MAX; i++)
        measure_pool_add(&pool, (measure_run_t){.seconds = 1000 - i, .paced = 1000 - i});
    assert_true(measure_pool_sum(&pool).seconds == 1000 - 3 * COST_POOL_MAX + 2);
}

/* A watch sees a run that is long enough, and takes its own time out of it. */
static void test_watch(void **state)
{
    measure_speed_t reference = measure_speed_learn(0.01);
    measure_speed_t wrong = {reference.latency, 1.4 * reference.throughput};
    measure_interference_t w;

    (void)state;
    for (int i = 0; i < 2; i++) {
        double end;

        measure_interference_start(i == 0 ? &reference : &wrong, true);
        end = measure_now() + 0.05;
        while (measure_now() < end)
            continue;
        assert_true(measure_interference_spent() > 0);
        w = measure_interference_stop();
        assert_true(w.speed > 0 && w.disturbed >= 0 && w.disturbed <= 1);
        assert_true(w.looks > 2 && w.below <= w.looks && w.spent < 0.05);
        assert_true(w.below == 0 || (w.below_ratio > 0.5 && w.below_ratio < 0.94));
    }
}

/* At half the latency of the reference, everything would take twice as long there. */
static void test_paced(void **state)
{
    measure_speed_t now = {1e-6, 2e-6}, slow = {2e-6, 4e-6}, busy = {1e-6, 3e-6};

    (void)state;
    assert_true(measure_speed_scale(&now, &slow) == 2);
    assert_true(measure_speed_is_alone(&now, &slow));
    assert_true(measure_speed_is_alone(&slow, &now));
    assert_false(measure_speed_is_alone(&busy, &now));
}

static void test_failure(void **state)
{
    const measure_limits_t limits = {.tight = 1e9, .seconds_max = 0.1};

    (void)state;
    for (int at = 1; at < 6; at++) {
        counter_t c = {.fail_at = at};
        measure_pool_t pool = {0};

        assert_int_equal(measure_repeat(run, NULL, &c, &limits, &pool), 7);
        assert_int_equal(c.runs, at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),        cmocka_unit_test(test_best),
        cmocka_unit_test(test_series),        cmocka_unit_test(test_paced),
        cmocka_unit_test(test_failure),       cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_of_times), cmocka_unit_test(test_watch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
