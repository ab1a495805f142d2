/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing: what is kept of a series of runs, with and without a pace. Clocks are never judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost/measure.h"
#include "cost/testing.h"

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
    assert_true(cost_median(odd, 3, &spread) == 3);
    assert_true(spread == 2.0 / 3);
    assert_true(cost_median(even, 4, &spread) == 2.5);
    assert_true(cost_median(one, 1, &spread) == 2 && spread == 0);
    /* One wild value moves neither the median nor its confidence interval. */
    for (int i = 0; i < 101; i++)
        many[i] = i == 50 ? 1e9 : 100 + i;
    assert_true(cost_median(many, 101, &spread) < 153 && spread < 0.1);
}

static void test_best(void **state)
{
    double values[] = {9, 1.02, 50, 1, 1.01};
    cost_measure_t m = cost_best(values, 5);

    (void)state;
    assert_true(m.seconds == 1.01 && m.paced == 1.01 && m.typical == 1.02);
    assert_true(fabs(m.spread - 0.02 / 1.01) < 1e-12);
    assert_int_equal(m.repetitions, 5);
}

static void test_series(void **state)
{
    cost_pace_t reference = cost_pace_learn(0.01);
    /* A core that is always alone, and one that never is. */
    cost_pace_t alone = {reference.latency, 1e9 * reference.latency};
    cost_pace_t never = {reference.latency, 1e-9 * reference.latency};
    const cost_pace_t *paces[] = {NULL, &alone, &never};

    (void)state;
    for (int i = 0; i < 3; i++) {
        counter_t c = {0};
        cost_measure_limits_t limits = {.tight = 1e9, .seconds_max = 0.3, .reference = paces[i]};
        cost_measure_t m;

        assert_int_equal(cost_measure(run, before, &c, &limits, &m), 0);
        assert_true(m.seconds > 0 && m.paced > 0 && m.repetitions >= 3);
        assert_int_equal(c.runs, m.repetitions + 2);
        assert_int_equal(c.befores, c.runs + 1);
        assert_true(i == 1 ? m.alone == m.repetitions : m.alone == 0);
        if (i != 1)
            assert_true(m.paced == m.seconds);
    }
}

/* At half the latency of the reference, everything would take twice as long there. */
static void test_paced(void **state)
{
    cost_pace_t now = {1e-6, 2e-6}, slow = {2e-6, 4e-6}, busy = {1e-6, 3e-6};

    (void)state;
    assert_true(cost_pace_scale(&now, &slow) == 2);
    assert_true(cost_pace_is_alone(&now, &slow));
    assert_true(cost_pace_is_alone(&slow, &now));
    assert_false(cost_pace_is_alone(&busy, &now));
}

static void test_failure(void **state)
{
    const cost_measure_limits_t limits = {.tight = 1e9, .seconds_max = 0.1};

    (void)state;
    for (int at = 1; at < 6; at++) {
        counter_t c = {.fail_at = at};
        cost_measure_t m = {.repetitions = 77};

        assert_int_equal(cost_measure(run, NULL, &c, &limits, &m), 7);
        assert_int_equal(c.runs, at);
        assert_int_equal(m.repetitions, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),  cmocka_unit_test(test_best),
        cmocka_unit_test(test_series),  cmocka_unit_test(test_paced),
        cmocka_unit_test(test_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
