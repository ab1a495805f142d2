/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves with injected disturbances: a model that can be trusted, or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/curve.h"
#include "testing/base.h"

/* A machine with two caches, one measurement in `every` of which is disturbed. */
typedef struct {
    uint64_t seed;
    int every;         /* 0: none is */
    double slower_max; /* a disturbed one takes 1.3 to this many times as long */
    double jitter;     /* of all */
    double asked;      /* seconds, of all measurements */
    int calls;
    double spiked_x, spiked_t; /* this size always takes so long; 0: none */
} machine_t;

static double true_time(double bytes)
{
    double rate = bytes <= 32768 ? 50e9 : bytes <= 1048576 ? 25e9 : 9e9;

    return 8e-9 + bytes / rate;
}

static xy_status_t fake(void *arg, double x, double seconds, measure_time_t *m_p)
{
    machine_t *m = arg;
    double t = true_time(x) * (1 + m->jitter * xy_random_unit(&m->seed));

    m->asked += seconds;
    m->calls++;
    if (m->every > 0 && testing_random_below(&m->seed, m->every) == 0)
        t *= 1.3 * pow(m->slower_max / 1.3, (1 + xy_random_unit(&m->seed)) / 2);
    if (x == m->spiked_x)
        t = m->spiked_t;
    *m_p = (measure_time_t){.seconds = t, .repetitions = 3};
    return XY_OK;
}

static xy_status_t run(machine_t *m, xy_kernel_cost_t *k)
{
    const measure_curve_t curve = {.what = "copy by 1 core",
                                   .measure = fake,
                                   .arg = m,
                                   .smallest = 256,
                                   .largest = 32 << 20,
                                   .grain = 8,
                                   .seconds = 2,
                                   .options = {.degree_max = 2}};

    *k = (xy_kernel_cost_t){0};
    testing_listen();
    return measure_curve_run(&curve, k);
}

/* Away from the jumps, which lie somewhere between two samples. */
static double worst_miss(const xy_kernel_cost_t *k)
{
    double worst = 0;

    for (double x = 256; x <= 32 << 20; x *= 1.07) {
        bool is_jump = (x > 24000 && x < 50000) || (x > 780000 && x < 1600000);

        if (!is_jump)
            worst = fmax(worst, fabs(xy_fit_value(&k->fit, x).seconds / true_time(x) - 1));
    }
    return worst;
}

static bool has_lapacke(void)
{
    testing_listen();
    return cost_lapack_load() == XY_OK;
}

static void test_quiet(void **state)
{
    machine_t m = {.seed = 1, .jitter = 0.01};
    xy_kernel_cost_t k;

    (void)state;
    if (!has_lapacke())
        skip();
    assert_int_equal(run(&m, &k), XY_OK);
    assert_int_equal(k.fit.count, 3);
    assert_true(worst_miss(&k) < 0.03);
    assert_true(k.held_count >= 5 && k.held_out < 0.05);
    xy_kernel_cost_cleanup(&k);
}

/* However many measurements are disturbed, and by how much: a model that is near the truth, or none
 * and one message. When it is one in ten there nearly always is one. */
static void test_disturbed(void **state)
{
    static const int often[] = {20, 10, 5, 3, 2};
    int refused[sizeof(often) / sizeof(often[0])] = {0}, wrong = 0;

    (void)state;
    if (!has_lapacke())
        skip();
    for (size_t i = 0; i < sizeof(often) / sizeof(often[0]); i++)
        for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 6 : 60); seed++) {
            machine_t m = {.seed = seed, .jitter = 0.01, .every = often[i], .slower_max = 600};
            xy_kernel_cost_t k;
            xy_status_t st = run(&m, &k);

            if (st == XY_OK) {
                wrong += worst_miss(&k) > 0.25;
                assert_true(often[i] < 5 || worst_miss(&k) < 0.25);
                assert_true(k.fit.count <= 5);
            } else {
                assert_int_equal(st, XY_EINVAL);
                assert_int_equal(testing_said_count, 1);
                assert_non_null(strstr(testing_said, "too noisy: copy by 1 core"));
                assert_non_null(strstr(testing_said, "run again on a quiet machine"));
                refused[i]++;
            }
            xy_kernel_cost_cleanup(&k);
        }
    assert_true(refused[0] <= 3 && refused[1] <= 3);
    assert_true(refused[4] > 0);
    assert_true(wrong <= 6); /* of 120 with a third or half of all disturbed */
}

/* A machine on which nothing repeats has no model. */
static void test_chaos(void **state)
{
    (void)state;
    if (!has_lapacke())
        skip();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        machine_t m = {.seed = seed, .jitter = 0.9, .every = 1, .slower_max = 1000};
        xy_kernel_cost_t k;

        assert_int_equal(run(&m, &k), XY_EINVAL);
        xy_kernel_cost_cleanup(&k);
    }
}

/* 7.2 ms at 64 KiB, between 14 and 23 us, however often it is measured: no part of the model. */
static void test_stubborn_size(void **state)
{
    machine_t m = {.seed = 1, .jitter = 0.01, .spiked_x = 65536, .spiked_t = 7.2e-3};
    xy_kernel_cost_t k;

    (void)state;
    if (!has_lapacke())
        skip();
    assert_int_equal(run(&m, &k), XY_OK);
    assert_int_equal(k.fit.dropped, 1);
    assert_true(worst_miss(&k) < 0.1);
    xy_kernel_cost_cleanup(&k);
}

/* The total time requested equals the time given, however much is measured again. */
static void test_keeps_to_the_time(void **state)
{
    (void)state;
    if (!has_lapacke())
        skip();
    for (int every = 0; every < 6; every++) {
        machine_t m = {.seed = 4, .jitter = 0.01, .every = every, .slower_max = 100};
        xy_kernel_cost_t k;

        run(&m, &k);
        assert_true(m.asked <= 2 * 1.0001);
        assert_true(m.calls >= 40);
        xy_kernel_cost_cleanup(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_disturbed),
        cmocka_unit_test(test_chaos),
        cmocka_unit_test(test_stubborn_size),
        cmocka_unit_test(test_keeps_to_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
