/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cost/store.h"
#include "testing/cost.h"

enum { SAMPLES = 40 };

/* A product of matrices that also moves them, and is called. */
static double dgemm_seconds(const double *x)
{
    double m = x[0], n = x[1], k = x[2];

    return 1e-10 * (m * n * k + 20 * m * n + 8 * m * k + 5 * n * k + 10000);
}

static double dsyrk_seconds(const double *x)
{
    return 5e-11 * (x[0] * x[0] * x[1] + 30 * x[0] * x[0] + 500);
}

typedef double (*seconds_fn)(const double *x);

static void fit_cubes(seconds_fn seconds, xy_fit_t *fit)
{
    xy_sample_t samples[SAMPLES];

    for (int i = 0; i < SAMPLES; i++) {
        double n = round(5 * pow(2000, i / (SAMPLES - 1.0))), x[] = {n, n, n};

        samples[i] = (xy_sample_t){.x = n, .t = seconds(x)};
    }
    assert_int_equal(xy_fit_compute(samples, SAMPLES, &(xy_fit_options_t){0}, fit), XY_OK);
}

/* Sizes of the same order, up to 32 times apart. */
static void random_sizes(uint64_t *seed, size_t sizes, double *x)
{
    double order = 40 * pow(40, (1 + testing_noise(seed)) / 2);

    for (size_t k = 0; k < sizes; k++)
        x[k] = ceil(order * pow(5.6, testing_noise(seed)));
}

static void make_samples(seconds_fn seconds, size_t sizes, double noise, uint64_t *seed,
                         xy_shape_sample_t samples[SAMPLES])
{
    for (int i = 0; i < SAMPLES; i++) {
        samples[i] = (xy_shape_sample_t){.is_held = i % 4 == 3};
        random_sizes(seed, sizes, samples[i].size);
        samples[i].t = seconds(samples[i].size) * (1 + noise * testing_noise(seed));
    }
}

static void make_kernel(const char *name, seconds_fn seconds, double noise, uint64_t seed,
                        xy_costs_t *costs)
{
    const xy_kernel_form_t *form = xy_kernel_form(name);
    xy_shape_sample_t samples[SAMPLES];
    xy_kernel_cost_t k = {
        .name = xy_strdup(name), .cluster = xy_strdup("C1"), .unit = xy_strdup("n"), .threads = 1};

    fit_cubes(seconds, &k.fit);
    make_samples(seconds, form->sizes, noise, &seed, samples);
    assert_int_equal(xy_shape_fit(form, &k.fit, samples, SAMPLES, &k.shape), XY_OK);
    assert_int_equal(xy_costs_set_kernel(costs, &k), XY_OK);
}

static xy_costs_t *make_costs(void)
{
    xy_costs_t *costs;

    assert_int_equal(xy_costs_create("host", "hardware", &costs), XY_OK);
    return costs;
}

static double ask(const xy_costs_t *costs, const char *name, const char *cluster,
                  const double *sizes, size_t count)
{
    xy_estimate_t e;

    assert_int_equal(xy_cost_kernel_value(costs, name, cluster, sizes, count, &e), XY_OK);
    return e.seconds;
}

/* Blocks of Fox on 9, 15 and 27 processes are long and thin; the model has not seen them. */
static void test_thin_blocks(void **state)
{
    xy_costs_t *costs = make_costs();

    (void)state;
    if (!testing_has_lapacke())
        skip();
    make_kernel("dgemm", dgemm_seconds, 0, 7, costs);
    for (double n = 500; n <= 4000; n += 500)
        for (double p = 9; p <= 27; p += 6) {
            const double x[] = {ceil(n / p), ceil(n / p), n};
            double truth = dgemm_seconds(x), cube = cbrt(x[0] * x[1] * x[2]);

            assert_true(fabs(ask(costs, "cblas_dgemm", NULL, x, 3) / truth - 1) < 0.02);
            /* Work alone is not enough to tell. */
            if (p == 27 && n < 1000)
                assert_true(fabs(ask(costs, "dgemm", NULL, &cube, 1) / truth - 1) > 0.05);
        }
    xy_costs_destroy(costs);
}

static void test_equal_sizes_are_the_old_model(void **state)
{
    xy_costs_t *costs = make_costs();

    (void)state;
    if (!testing_has_lapacke())
        skip();
    make_kernel("dgemm", dgemm_seconds, 0.05, 8, costs);
    for (double n = 1; n < 1e5; n = ceil(1.3 * n)) {
        const double cube[] = {n, n, n};
        const xy_kernel_cost_t *k = xy_costs_kernel(costs, "dgemm", NULL, 1);

        assert_true(ask(costs, "dgemm", NULL, cube, 3) == xy_fit_value(&k->fit, n).seconds);
        assert_true(ask(costs, "dgemm", NULL, cube, 1) == xy_fit_value(&k->fit, n).seconds);
    }
    xy_costs_destroy(costs);
}

/* For any noise: never negative, and more work takes longer where equal sizes do. */
static void test_noise_keeps_it_sane(void **state)
{
    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        xy_costs_t *costs = make_costs();
        const xy_kernel_cost_t *k;

        make_kernel("dsyrk", dsyrk_seconds, 0.2, seed, costs);
        k = xy_costs_kernel(costs, "dsyrk", NULL, 1);
        for (size_t i = 0; i < k->shape.count; i++)
            assert_true(k->shape.term[i].factor > 0);
        for (double n = 50; n < 1e5; n *= 3) {
            double before = 0;

            for (double depth = 50; depth < 1e5; depth *= 2) {
                const double x[] = {n, depth};
                double now = ask(costs, "dsyrk", NULL, x, 2);

                assert_true(now > before);
                before = now;
            }
        }
        assert_true(k->shape.held_out > 0 && k->shape.held_out < 0.3);
        xy_costs_destroy(costs);
    }
}

/* Measured again without shapes, a kernel keeps those that it has. */
static void test_shape_is_kept(void **state)
{
    xy_costs_t *costs = make_costs();
    xy_kernel_cost_t again = {.name = xy_strdup("dgemm"),
                              .cluster = xy_strdup("C1"),
                              .unit = xy_strdup("n"),
                              .threads = 1};
    const double thin[] = {10, 1000, 10};
    double before;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    make_kernel("dgemm", dgemm_seconds, 0, 8, costs);
    before = ask(costs, "dgemm", NULL, thin, 3);
    fit_cubes(dgemm_seconds, &again.fit);
    assert_int_equal(xy_costs_set_kernel(costs, &again), XY_OK);
    assert_int_equal(costs->kernels.count, 1);
    assert_true(ask(costs, "dgemm", NULL, thin, 3) == before);
    xy_costs_destroy(costs);
}

static xy_status_t parse(const char *text, xy_costs_t **costs_p)
{
    testing_listen();
    return xy_costs_parse(text, strlen(text), "f.xml", costs_p);
}

#define HEAD "<XylemCosts version=\"1\">"
#define DGEMM                                                                                      \
    "<SeqKernel Name=\"dgemm\" Unit=\"n\"><Cluster Name=\"fast\"><Interval Start=\"1\" "           \
    "End=\"10000\" Degree=\"3\"><Params>0 0 0 1e-9</Params></Interval></Cluster></SeqKernel>"

/* The old models, of one size, serve several: by the work. */
static void test_without_shape(void **state)
{
    xy_costs_t *costs;
    const double gemm[] = {100, 200, 400}, lu[] = {300, 100}, syrk[] = {100, 800};
    const double no_rows[] = {0, 10, 10}, one = 200;

    (void)state;
    assert_int_equal(parse(HEAD DGEMM "</XylemCosts>", &costs), XY_OK);
    assert_true(fabs(ask(costs, "dgemm", "fast", gemm, 3) / 8e-3 - 1) < 1e-12);
    assert_true(ask(costs, "dgemm", "fast", &one, 1) == ask(costs, "dgemm", NULL, gemm, 3));
    assert_true(ask(costs, "dgemm", NULL, no_rows, 3) == 0);
    xy_costs_destroy(costs);
    /* n^2 (m - n / 3) of m x n is as much as 2/3 s^3 */
    assert_true(fabs(pow(xy_kernel_equal_size(NULL, xy_kernel_form("LAPACKE_dgetrf"), lu, 2), 3) *
                         2 / 3 / (100.0 * 100 * (300 - 100 / 3.0)) -
                     1) < 1e-12);
    assert_true(xy_kernel_equal_size(NULL, xy_kernel_form("dsyrk"), syrk, 2) == 200);
    assert_true(xy_kernel_equal_size(NULL, NULL, (double[]){10, 1000}, 2) == 100);
}

static void test_speeds(void **state)
{
    xy_costs_t *costs;
    xy_estimate_t e;
    const double n = 1000, bad[] = {1, 2}, negative[] = {1, 2, -3};

    (void)state;
    assert_int_equal(parse(HEAD "<Speed Cluster=\"slow\" Like=\"fast\" Factor=\"0.5\"/>"
                                "<Speed Cluster=\"slower\" Like=\"slow\" Factor=\"0.25\"/>"
                                "<Speed Cluster=\"a\" Like=\"b\" Factor=\"1\"/>"
                                "<Speed Cluster=\"b\" Like=\"a\" Factor=\"1\"/>" DGEMM
                                "</XylemCosts>",
                           &costs),
                     XY_OK);
    assert_true(fabs(ask(costs, "dgemm", "fast", &n, 1) - 1) < 1e-12);
    assert_true(fabs(ask(costs, "dgemm", "slow", &n, 1) - 2) < 1e-12);
    assert_true(fabs(ask(costs, "dgemm", "slower", &n, 1) - 8) < 1e-12);
    assert_int_equal(xy_cost_kernel_value(costs, "dgemm", "elsewhere", &n, 1, &e), XY_ENOENT);
    assert_int_equal(xy_cost_kernel_value(costs, "dgemm", "a", &n, 1, &e), XY_ENOENT);
    assert_int_equal(xy_cost_kernel_value(costs, "dsyrk", NULL, &n, 1, &e), XY_ENOENT);
    assert_int_equal(xy_cost_kernel_value(costs, "dgemm", NULL, bad, 2, &e), XY_EINVAL);
    assert_int_equal(xy_cost_kernel_value(costs, "dgemm", NULL, negative, 3, &e), XY_EINVAL);
    assert_int_equal(xy_cost_kernel_value(costs, "dgemm", NULL, negative, 0, &e), XY_EINVAL);
    xy_costs_destroy(costs);
}

static char *print(const xy_costs_t *costs)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    xy_costs_print_xml(costs, file);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void test_round_trip(void **state)
{
    xy_costs_t *costs = make_costs(), *back;
    const double x[] = {30, 900, 77};
    char *first, *second;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    make_kernel("dgemm", dgemm_seconds, 0.02, 9, costs);
    assert_int_equal(xy_costs_set_speed(costs, "C2", "C1", 1.5), XY_OK);
    first = print(costs);
    assert_int_equal(xy_costs_parse(first, strlen(first), "back", &back), XY_OK);
    second = print(back);
    assert_string_equal(first, second);
    assert_true(ask(costs, "dgemm", "C2", x, 3) == ask(back, "dgemm", "C2", x, 3));
    assert_non_null(strstr(first, "<Shape Sizes=\"m n k\" Work=\"1 1 1\""));
    free(first);
    free(second);
    xy_costs_destroy(costs);
    xy_costs_destroy(back);
}

#define IN_CLUSTER(what)                                                                           \
    HEAD "\n<SeqKernel Name=\"g\"><Cluster Name=\"c\">" what "</Cluster></SeqKernel></XylemCosts>"

static void test_bad_files(void **state)
{
    static const char *const bad[] = {
        IN_CLUSTER("<Shape Sizes=\"m\" Work=\"1\"/>"),
        IN_CLUSTER("<Shape Sizes=\"a b c d\" Work=\"1 1 1 1\"/>"),
        IN_CLUSTER("<Shape Sizes=\"m a-name-that-is-long\" Work=\"1 1\"/>"),
        IN_CLUSTER("<Shape Sizes=\"m n\"/>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"0 0\"/>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 1 1\"/>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 0.5\"/>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 7\"/>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 1\"/><Shape Sizes=\"m n\" Work=\"1 1\"/>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 1\"><Term Powers=\"1 0\">-1</Term></Shape>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 1\"><Term Powers=\"1\">1</Term></Shape>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 1\"><Term>1</Term></Shape>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 1\"><Sample Sizes=\"1\" Seconds=\"1\"/></Shape>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 1\"><Sample Sizes=\"1 0\" "
                   "Seconds=\"1\"/></Shape>"),
        IN_CLUSTER("<Shape Sizes=\"m n\" Work=\"1 1\"><Interval/></Shape>"),
        HEAD "\n<Speed Cluster=\"a\" Like=\"b\"/></XylemCosts>",
        HEAD "\n<Speed Cluster=\"a\" Factor=\"1\"/></XylemCosts>",
        HEAD "\n<Speed Cluster=\"a\" Like=\"b\" Factor=\"0\"/></XylemCosts>",
    };
    xy_costs_t *costs;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_not_equal(parse(bad[i], &costs), XY_OK);
        assert_non_null(strstr(testing_said, "f.xml:2"));
    }
}

static void test_bad_samples(void **state)
{
    const xy_kernel_form_t *form = xy_kernel_form("dgemm");
    xy_interval_t interval = {.start = 1, .end = 10, .degree = 0, .params = {1}};
    const xy_fit_t cubes = {.intervals = &interval, .count = 1};
    const xy_shape_sample_t bad = {.size = {1, 0, 1}, .t = 1};
    xy_shape_t shape;

    (void)state;
    testing_listen();
    assert_int_equal(xy_shape_fit(form, &cubes, NULL, 0, &shape), XY_EINVAL);
    assert_int_equal(xy_shape_fit(form, &cubes, &bad, 1, &shape), XY_EINVAL);
    assert_int_equal(xy_shape_fit(xy_kernel_form("dpotrf"), &cubes, &bad, 1, &shape), XY_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thin_blocks),   cmocka_unit_test(test_equal_sizes_are_the_old_model),
        cmocka_unit_test(test_shape_is_kept), cmocka_unit_test(test_noise_keeps_it_sane),
        cmocka_unit_test(test_without_shape), cmocka_unit_test(test_speeds),
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_bad_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
