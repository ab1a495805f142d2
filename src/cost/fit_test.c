/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cost/fit.h"
#include "testing/cost.h"

enum { SAMPLES = 200, KERNEL_SIZES = 48 };

static double value(const double *c, int terms, double x)
{
    double v = 0;

    for (int k = terms; k-- > 0;)
        v = v * x + c[k];
    return v;
}

/* A table of coefficients, evaluated at the sizes of a table of estimates, gives them. */
static void check_table(const char *kernel, const double tolerance[4])
{
    char name[64];
    testing_table_t models, measured;

    snprintf(name, sizeof(name), "%s-models.csv", kernel);
    models = testing_read_table(name);
    snprintf(name, sizeof(name), "%s-measured.csv", kernel);
    measured = testing_read_table(name);
    assert_int_equal(models.rows, 4);
    assert_true(measured.rows >= 9);
    for (int machine = 0; machine < 4; machine++) {
        xy_interval_t interval = {.end = 1e9, .degree = 3};
        xy_fit_t fit = {.intervals = &interval, .count = 1};

        for (int k = 0; k < 4; k++)
            interval.params[3 - k] = models.at[k][machine + 1];
        for (size_t row = 0; row < measured.rows; row++) {
            double expected = measured.at[row][2 + 2 * machine];
            xy_estimate_t e = xy_fit_value(&fit, measured.at[row][0]);

            assert_false(e.is_extrapolated);
            assert_true(fabs(e.seconds - expected) <= 0.0051 + tolerance[machine] * expected);
        }
    }
}

static void test_tables_10_to_13(void **state)
{
    (void)state;
    check_table("dgemm", (const double[]){0, 0, 0, 0});
    check_table("dtrtri", (const double[]){0, 0.015, 0, 0});
}

/* Measurements of four machines are fitted, and predicted when left out. */
static void test_measured(void **state)
{
    testing_table_t measured = testing_read_table("dgemm-measured.csv");

    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (int machine = 0; machine < 4; machine++)
        for (size_t out = 1; out + 1 < measured.rows; out++) {
            xy_sample_t samples[TESTING_ROWS];
            size_t n = 0;
            xy_fit_t fit;
            double t = measured.at[out][1 + 2 * machine];

            for (size_t row = 0; row < measured.rows; row++)
                if (row != out)
                    samples[n++] = (xy_sample_t){.x = measured.at[row][0],
                                                 .t = measured.at[row][1 + 2 * machine]};
            assert_int_equal(xy_fit_compute(samples, n, &(xy_fit_options_t){0}, &fit), XY_OK);
            assert_int_equal(fit.count, 1);
            assert_true(fabs(xy_fit_value(&fit, measured.at[out][0]).seconds - t) / t < 0.06);
            xy_fit_cleanup(&fit);
        }
}

/* Samples of the refined model of Table 16: the split at 900 is found, with both polynomials. */
static void test_table_16(void **state)
{
    testing_table_t table = testing_read_table("dgemm-refined.csv");
    xy_sample_t samples[30];
    xy_fit_t fit;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    assert_string_equal(table.word[1], "refined");
    for (int i = 0; i < 30; i++) {
        double x = 100 * (i + 1);
        const double *c = table.at[x <= 900 ? 1 : 2] + 3;

        samples[i] = (xy_sample_t){.x = x, .t = value(c, 4, x)};
    }
    for (const char *const *name = xy_fit_criteria(); *name != NULL; name++) {
        xy_fit_options_t options = {.criterion = *name, .is_single = true};

        assert_int_equal(xy_fit_compute(samples, 30, &options, &fit), XY_OK);
        assert_int_equal(fit.count, 1);
        assert_true(fit.error_max > 0.05);
        xy_fit_cleanup(&fit);
        options.is_single = false;
        assert_int_equal(xy_fit_compute(samples, 30, &options, &fit), XY_OK);
        assert_int_equal(fit.count, 2);
        assert_true(fit.intervals[0].end == 900 && fit.intervals[1].start == 900);
        for (int p = 0; p < 2; p++) {
            assert_int_equal(fit.intervals[p].degree, 3);
            for (int k = 0; k < 4; k++)
                assert_true(fabs(fit.intervals[p].params[k] / table.at[p + 1][3 + k] - 1) < 1e-4);
        }
        xy_fit_cleanup(&fit);
    }
}

/* One polynomial with noise is recovered whatever its degree, and not followed into the noise. */
static void test_recovers_polynomials(void **state)
{
    uint64_t seed = 7;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (int degree = 0; degree <= 5; degree++)
        for (int round = 0; round < (XYLEM_SANITIZED ? 3 : 10); round++) {
            double c[6] = {0};
            xy_sample_t samples[40];
            xy_fit_t fit;

            for (int k = 0; k <= degree; k++)
                c[k] = (1.5 + testing_noise(&seed)) * 1e-4 / pow(1000, k);
            for (int i = 0; i < 40; i++) {
                double x = 100 + 75 * i;

                samples[i] = (xy_sample_t){
                    .x = x, .t = value(c, degree + 1, x) * (1 + 0.01 * testing_noise(&seed))};
            }
            assert_int_equal(xy_fit_compute(samples, 40, &(xy_fit_options_t){0}, &fit), XY_OK);
            assert_int_equal(fit.count, 1);
            assert_true(fit.intervals[0].degree <= degree + 1);
            for (double x = 100; x <= 3025; x += 7)
                assert_true(fabs(xy_fit_value(&fit, x).seconds / value(c, degree + 1, x) - 1) <
                            0.02);
            xy_fit_cleanup(&fit);
        }
}

/* Two or three known pieces with noise: each border is found to the sample. */
static void test_recovers_pieces(void **state)
{
    static const double pieces[3][4] = {
        {1e-5, 2e-8, 1e-11, 0}, {5e-5, 0, 5e-11, 1e-14}, {2e-4, 1e-7, 1e-12, 4e-14}};
    uint64_t seed = 11;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (int round = 0; round < (XYLEM_SANITIZED ? 5 : 20); round++) {
        int first = 8 + (int)(testing_random(&seed) % 12);
        int second = first + 8 + (int)(testing_random(&seed) % 12), n = second + 12;
        xy_sample_t samples[64];
        xy_fit_t fit;

        for (int i = 0; i < n; i++) {
            double x = 64 * (i + 1), noise = 1 + 0.01 * testing_noise(&seed);
            int p = i < first ? 0 : i < second ? 1 : 2;

            samples[i] = (xy_sample_t){.x = x, .t = value(pieces[p], 4, x) * noise};
        }
        assert_int_equal(xy_fit_compute(samples, (size_t)n, &(xy_fit_options_t){0}, &fit), XY_OK);
        assert_int_equal(fit.count, 3);
        assert_true(fit.intervals[0].end == 64 * first);
        assert_true(fit.intervals[1].end == 64 * second);
        assert_true(fit.error_max < 0.03);
        xy_fit_cleanup(&fit);
    }
}

/* Up to three known pieces with jumps between them, 1 % of noise, and one sample in twenty that is
 * 30 % to 300 % too slow: the pieces are met everywhere but between the two samples of a jump. */
static void test_recovers_from_outliers(void **state)
{
    static const double pieces[3][4] = {
        {1e-5, 2e-8, 1e-11, 0}, {5e-5, 0, 5e-11, 1e-14}, {2e-4, 1e-7, 1e-12, 4e-14}};
    enum { ROUNDS = XYLEM_SANITIZED ? 10 : 30, N = 60 };
    uint64_t seed = 5;
    double all = 0;
    int bad = 0;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (int round = 0; round < ROUNDS; round++) {
        int first = 12 + (int)(testing_random(&seed) % 12);
        int second = first + 12 + (int)(testing_random(&seed) % 12), points = 0;
        xy_sample_t samples[N];
        double sum = 0;
        xy_fit_t fit;

        for (int i = 0; i < N; i++) {
            double x = 64 * (i + 1), noise = 1 + 0.01 * testing_noise(&seed);
            int p = i < first ? 0 : i < second ? 1 : 2;

            if (testing_random(&seed) % 20 == 0)
                noise *= 1.3 + 1.35 * (1 + testing_noise(&seed));
            samples[i] = (xy_sample_t){.x = x, .t = value(pieces[p], 4, x) * noise};
        }
        assert_int_equal(xy_fit_compute(samples, N, &(xy_fit_options_t){0}, &fit), XY_OK);
        assert_int_equal(fit.samples, N);
        for (double x = 64; x <= 64 * N; x += 5) {
            int p = x <= 64 * first ? 0 : x <= 64 * second ? 1 : 2;
            bool is_jump = fabs(x - 64 * first - 32) < 33 || fabs(x - 64 * second - 32) < 33;
            double seconds = xy_fit_value(&fit, x).seconds;
            double error = fabs(seconds / value(pieces[p], 4, x) - 1);

            assert_true(seconds > 0);
            if (is_jump)
                continue;
            sum += error;
            points++;
        }
        all += sum / points / ROUNDS;
        /* An outlier at an end, or at a jump, cannot be told from how things are. */
        bad += sum / points > 0.02;
        xy_fit_cleanup(&fit);
    }
    assert_true(all < 0.01);
    assert_true(bad <= ROUNDS / 10);
}

/* A kernel of two regimes, with 1 % of noise. */
static void make_kernel(xy_sample_t samples[KERNEL_SIZES], uint64_t *seed)
{
    for (int i = 0; i < KERNEL_SIZES; i++) {
        double x = round(100 * pow(20, i / (KERNEL_SIZES - 1.0)));
        double t = x <= 500 ? 1e-6 + 4e-11 * pow(x, 3) : 2e-3 + 3e-11 * pow(x, 3) + 1e-9 * x * x;

        samples[i] = (xy_sample_t){.x = x, .t = t * (1 + 0.01 * testing_noise(seed))};
    }
}

/* One sample, whichever it is and however slow, changes the model by no more than a tenth at the
 * other sizes, and makes no interval of its own. */
static void test_one_spike(void **state)
{
    xy_sample_t clean[KERNEL_SIZES], spiked[KERNEL_SIZES];
    uint64_t seed = 31;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (int at = 0; at < KERNEL_SIZES; at += XYLEM_SANITIZED ? 5 : 1)
        for (double slower = 1.6; slower < 2000; slower *= XYLEM_SANITIZED ? 400 : 20) {
            xy_fit_t a, b;

            make_kernel(clean, &seed);
            memcpy(spiked, clean, sizeof(clean));
            spiked[at].t *= slower;
            assert_int_equal(xy_fit_compute(clean, KERNEL_SIZES, &(xy_fit_options_t){0}, &a),
                             XY_OK);
            assert_int_equal(xy_fit_compute(spiked, KERNEL_SIZES, &(xy_fit_options_t){0}, &b),
                             XY_OK);
            for (int i = 0; i < KERNEL_SIZES; i++)
                assert_true(i == at || fabs(xy_fit_value(&b, clean[i].x).seconds /
                                                xy_fit_value(&a, clean[i].x).seconds -
                                            1) < 0.1);
            assert_int_equal(b.dropped, 1);
            assert_true(b.count <= a.count + 1);
            xy_fit_cleanup(&a);
            xy_fit_cleanup(&b);
        }
}

/* Noise of 5 % is no reason for intervals. */
static void test_few_intervals(void **state)
{
    uint64_t seed = 33;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (int round = 0; round < (XYLEM_SANITIZED ? 4 : 15); round++) {
        xy_sample_t samples[KERNEL_SIZES];
        xy_fit_t fit;

        for (int i = 0; i < KERNEL_SIZES; i++) {
            double x = 100 + 40 * i;

            samples[i] =
                (xy_sample_t){.x = x, .t = 3e-11 * pow(x, 3) * (1 + 0.1 * testing_noise(&seed))};
        }
        assert_int_equal(xy_fit_compute(samples, KERNEL_SIZES, &(xy_fit_options_t){0}, &fit),
                         XY_OK);
        assert_true(fit.count <= 2);
        xy_fit_cleanup(&fit);
    }
}

/* For any samples: never negative, close to them, sane outside, intervals in order. */
static void test_any_samples(void **state)
{
    uint64_t seed = 3;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (int round = 0; round < (XYLEM_SANITIZED ? 20 : 150); round++) {
        size_t n = 1 + testing_random(&seed) % 24;
        xy_sample_t samples[24];
        xy_fit_options_t options = {.criterion = xy_fit_criteria()[testing_random(&seed) % 3]};
        xy_fit_t fit;
        double least = INFINITY, x = 0;

        for (size_t i = 0; i < n; i++) {
            x += 1 + (double)(testing_random(&seed) % 1000);
            samples[n - 1 - i] = (xy_sample_t){.x = x, .t = exp(10 * testing_noise(&seed))};
            least = fmin(least, samples[n - 1 - i].t);
        }
        assert_int_equal(xy_fit_compute(samples, n, &options, &fit), XY_OK);
        assert_int_equal(fit.samples, n);
        assert_true(fit.intervals[0].start == samples[n - 1].x);
        assert_true(fit.intervals[fit.count - 1].end == x);
        for (size_t i = 1; i < fit.count; i++)
            assert_true(fit.intervals[i].start == fit.intervals[i - 1].end);
        for (double at = samples[n - 1].x; at <= x; at += x / 500) {
            assert_true(xy_fit_value(&fit, at).seconds >= 0.1 * least);
            assert_false(xy_fit_value(&fit, at).is_extrapolated);
        }
        assert_true(xy_fit_value(&fit, 2 * x).is_extrapolated);
        assert_true(xy_fit_value(&fit, 2 * x).seconds >= xy_fit_value(&fit, x).seconds * 0.999);
        assert_true(xy_fit_value(&fit, 2 * x).seconds <= xy_fit_value(&fit, x).seconds * 33);
        assert_true(xy_fit_value(&fit, 0).seconds >= 0);
        xy_fit_cleanup(&fit);
    }
}

/* Beyond the range a cubic continues as a cubic, and is marked. */
static void test_extrapolation(void **state)
{
    xy_sample_t samples[SAMPLES];
    xy_fit_t fit;
    xy_estimate_t e;

    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (int i = 0; i < 12; i++)
        samples[i] = (xy_sample_t){.x = 100 * (i + 1), .t = 1e-9 * pow(100 * (i + 1), 3)};
    assert_int_equal(xy_fit_compute(samples, 12, &(xy_fit_options_t){0}, &fit), XY_OK);
    e = xy_fit_value(&fit, 2400);
    assert_true(e.is_extrapolated);
    assert_true(fabs(e.seconds / (1e-9 * pow(2400, 3)) - 1) < 0.15);
    e = xy_fit_value(&fit, 50);
    assert_true(e.is_extrapolated && e.seconds > 0 && e.seconds < 1e-3);
    xy_fit_cleanup(&fit);
}

static void test_refusals(void **state)
{
    xy_sample_t good = {.x = 1, .t = 1}, bad[] = {{.x = 0, .t = 1},
                                                  {.x = 1, .t = 0},
                                                  {.x = 1, .t = -1},
                                                  {.x = NAN, .t = 1},
                                                  {.x = 1, .t = INFINITY}};
    xy_fit_t fit = {.count = 42};

    (void)state;
    testing_listen();
    assert_int_equal(xy_fit_compute(NULL, 0, &(xy_fit_options_t){0}, &fit), XY_EINVAL);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(xy_fit_compute(&bad[i], 1, &(xy_fit_options_t){0}, &fit), XY_EINVAL);
    assert_int_equal(xy_fit_compute(&good, 1, &(xy_fit_options_t){.criterion = "best"}, &fit),
                     XY_EINVAL);
    assert_int_equal(testing_said_count, 7);
    assert_int_equal(fit.count, 42);
    for (size_t i = 0; xy_fit_criteria()[i] != NULL; i++)
        assert_non_null(xy_fit_criterion_text(xy_fit_criteria()[i]));
    assert_null(xy_fit_criterion_text("best"));
}

static void test_memory(void **state)
{
    xy_sample_t samples[20];
    xy_fit_t fit = {0};

    (void)state;
    if (!testing_has_lapacke())
        skip();
    for (int i = 0; i < 20; i++)
        samples[i] = (xy_sample_t){.x = i + 1, .t = i < 10 ? 1 : 100 + i};
    for (long k = 0; testing_fail_next(&k);)
        assert_null(
            testing_fail_fault(&k, xy_fit_compute(samples, 20, &(xy_fit_options_t){0}, &fit)));
    xy_fit_cleanup(&fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_10_to_13), cmocka_unit_test(test_measured),
        cmocka_unit_test(test_table_16),        cmocka_unit_test(test_recovers_polynomials),
        cmocka_unit_test(test_recovers_pieces), cmocka_unit_test(test_recovers_from_outliers),
        cmocka_unit_test(test_one_spike),       cmocka_unit_test(test_few_intervals),
        cmocka_unit_test(test_any_samples),     cmocka_unit_test(test_extrapolation),
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
