/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes of a kernel with injected times: a model of all shapes, or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "measure/shapes.h"
#include "testing/base.h"

typedef struct {
    uint64_t seed;
    int every; /* one in so many is disturbed; 0: none */
    bool is_chaos;
} machine_t;

static double true_time(const double *x)
{
    double m = x[0], n = x[1], k = x[2];

    return 1e-10 * (m * n * k + 20 * m * n + 8 * m * k + 5 * n * k + 10000);
}

static xy_status_t fake(void *arg, const double *sizes, double seconds, double *t_p)
{
    machine_t *m = arg;

    (void)seconds;
    *t_p = true_time(sizes) * (1 + 0.01 * xy_random_unit(&m->seed));
    if (m->every > 0 && testing_random_below(&m->seed, m->every) == 0)
        *t_p *= 2 + testing_random_below(&m->seed, 50);
    if (m->is_chaos)
        *t_p *= exp(3 * xy_random_unit(&m->seed));
    return XY_OK;
}

static xy_status_t run(machine_t *m, xy_fit_t *cubes, xy_shape_t *shape)
{
    const measure_shapes_t shapes = {.what = "kernel dgemm",
                                     .form = xy_kernel_form("dgemm"),
                                     .cubes = cubes,
                                     .measure = fake,
                                     .arg = m,
                                     .seconds = 1000};
    xy_sample_t samples[30];

    for (int i = 0; i < 30; i++) {
        double n = round(20 * pow(200, i / 29.0)), x[] = {n, n, n};

        samples[i] = (xy_sample_t){.x = n, .t = true_time(x)};
    }
    assert_int_equal(xy_fit_compute(samples, 30, &(xy_fit_options_t){0}, cubes), XY_OK);
    testing_listen();
    return measure_shapes_run(&shapes, shape);
}

static bool has_lapacke(void)
{
    testing_listen();
    return cost_lapack_load() == XY_OK;
}

/* Blocks of Fox, which were not measured, within a tenth, with one call in eight disturbed. */
static void test_shapes(void **state)
{
    (void)state;
    if (!has_lapacke())
        skip();
    for (uint64_t seed = 1; seed <= 30; seed++) {
        machine_t m = {.seed = seed, .every = seed % 2 == 0 ? 8 : 0};
        xy_fit_t cubes;
        xy_shape_t shape;

        assert_int_equal(run(&m, &cubes, &shape), XY_OK);
        for (double p = 9; p <= 27; p += 6)
            for (double n = 500; n <= 5000; n += 500) {
                const double x[] = {ceil(n / p), ceil(n / p), n};
                double equal = xy_kernel_equal_size(&shape, NULL, x, 3);
                double t = xy_fit_value(&cubes, equal).seconds * xy_shape_ratio(&shape, x);

                assert_true(fabs(t / true_time(x) - 1) < 0.1);
            }
        assert_true(shape.held_out > 0 && shape.held_out < 0.05 && shape.aspect > 8);
        xy_shape_cleanup(&shape);
        xy_fit_cleanup(&cubes);
    }
}

static void test_chaos(void **state)
{
    machine_t m = {.seed = 3, .is_chaos = true};
    xy_fit_t cubes;
    xy_shape_t shape;

    (void)state;
    if (!has_lapacke())
        skip();
    assert_int_equal(run(&m, &cubes, &shape), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, "too noisy: shapes of kernel dgemm"));
    xy_fit_cleanup(&cubes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_chaos)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
