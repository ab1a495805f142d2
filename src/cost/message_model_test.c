/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cost/message_model.h"
#include "testing/cost.h"

enum { SIZES = 24, SIZES_OF_CURVE = 46 };

/* Short messages in 2 us at 4 GB/s; from 32 KiB on a rendezvous: 6 us and 10 GB/s. */
static double true_time(double bytes)
{
    return bytes <= 32768 ? 2e-6 + bytes / 4e9 : 6e-6 + bytes / 10e9;
}

static void make_samples(xy_message_sample_t samples[SIZES], double noise, uint64_t *seed)
{
    for (int i = 0; i < SIZES; i++) {
        double bytes = ldexp(1, i), t = true_time(bytes);

        samples[i] = (xy_message_sample_t){
            .bytes = bytes,
            .blocking = t * (1 + noise * testing_noise(seed)),
            .nonblocking = 1.1 * t * (1 + noise * testing_noise(seed)),
            .send = 0.3e-6,
            .receive = 0.5e-6,
            .gap = 0.8e-6 + bytes / 10e9,
        };
    }
}

/* Lines are found where there are lines, whatever the noise within 1 %. */
static void test_progressive(void **state)
{
    double x[40], y[40];
    uint64_t seed = 5;
    xy_lines_t lines;

    (void)state;
    for (int round = 0; round < (XYLEM_SANITIZED ? 10 : 50); round++) {
        int turn = 5 + (int)(testing_random(&seed) % 30);

        for (int i = 0; i < 40; i++) {
            x[i] = i + 1;
            y[i] = i <= turn ? 1 + i : 1 + turn + 20.0 * (i - turn);
            y[i] *= 1 + 0.005 * testing_noise(&seed);
        }
        assert_int_equal(xy_progressive_fit(x, y, 40, 0.99, 0.05, &lines), XY_OK);
        assert_true(lines.count >= 2 && lines.count <= 4);
        assert_true(fabs(lines.line[0].a - 1) < 0.05);
        assert_true(fabs(lines.line[lines.count - 1].a - 20) < 0.5);
        for (size_t i = 1; i < lines.count; i++)
            assert_true(lines.line[i].start == lines.line[i - 1].end);
        assert_true(lines.line[0].start == x[0] && lines.line[lines.count - 1].end == x[39]);
        for (int i = 0; i < 40; i++)
            assert_true(fabs(xy_lines_value(&lines, x[i]) / y[i] - 1) < 0.06);
        xy_free(lines.line);
    }
}

static void test_progressive_small(void **state)
{
    double x[] = {1, 2, 3}, y[] = {5, 5, 500};
    xy_lines_t lines = {.count = 9};

    (void)state;
    assert_int_equal(xy_progressive_fit(x, y, 0, 0.99, 0.05, &lines), XY_EINVAL);
    assert_int_equal(xy_progressive_fit((double[]){1, 1}, y, 2, 0.99, 0.05, &lines), XY_EINVAL);
    assert_int_equal(lines.count, 9);
    for (size_t n = 1; n <= 3; n++) {
        assert_int_equal(xy_progressive_fit(x, y, n, 0.99, 0.05, &lines), XY_OK);
        assert_int_equal(lines.count, n < 3 ? 1 : 2);
        assert_true(xy_lines_value(&lines, 1) == 5);
        xy_free(lines.line);
    }
}

/* At sizes between the samples, with 2 % of noise, every model of lines is near the truth. */
static void test_predicts(void **state)
{
    xy_message_sample_t samples[SIZES];
    uint64_t seed = 9;

    (void)state;
    for (int round = 0; round < (XYLEM_SANITIZED ? 8 : 30); round++) {
        xy_message_model_t m;
        double sum[2] = {0};
        int n = 0;

        make_samples(samples, 0.02, &seed);
        assert_int_equal(xy_message_fit(samples, SIZES, &m), XY_OK);
        for (double bytes = 1.5; bytes < 8e6; bytes *= 1.37, n++) {
            if (bytes > 32768 && bytes < 65536)
                continue; /* not measured where the protocol changes */
            for (int k = 0; k < 2; k++) {
                xy_estimate_t e = xy_message_value(&m, k ? "hockney" : NULL, 0, bytes);

                assert_false(e.is_extrapolated);
                sum[k] += fabs(e.seconds / true_time(bytes) - 1);
            }
        }
        assert_true(sum[0] / n < 0.02);
        assert_true(sum[1] / n < 0.05);
        assert_true(fabs(m.kind[1].latency / m.kind[0].latency - 1.1) < 0.06);
        xy_message_cleanup(&m);
    }
}

/* Lines with two jumps, 2 % of noise, and one sample in twenty 30 % to 300 % too slow. */
static void test_outliers(void **state)
{
    enum { ROUNDS = XYLEM_SANITIZED ? 12 : 60, N = 70 };
    uint64_t seed = 13;
    double all = 0;
    int bad = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        xy_message_sample_t samples[N];
        double up = pow(1.25, 20 + (double)(testing_random(&seed) % 10));
        double down = up * pow(1.25, 8 + (double)(testing_random(&seed) % 10));
        double sum = 0, worst = 0;
        xy_message_model_t m;
        int points = 0;

        for (int i = 0; i < N; i++) {
            double bytes = floor(pow(1.25, i + 1)) + i;
            double t = (1e-6 + bytes / 5e9) * (bytes >= up ? 2 : 1) * (bytes >= down ? 0.6 : 1);

            t *= 1 + 0.02 * testing_noise(&seed);
            if (testing_random(&seed) % 20 == 0)
                t *= 1.3 + 1.35 * (1 + testing_noise(&seed));
            samples[i] = (xy_message_sample_t){.bytes = bytes, .blocking = t};
        }
        assert_int_equal(xy_message_fit(samples, N, &m), XY_OK);
        for (double bytes = 3; bytes < 4e6; bytes *= 1.03) {
            double t = (1e-6 + bytes / 5e9) * (bytes >= up ? 2 : 1) * (bytes >= down ? 0.6 : 1);
            double e = fabs(xy_message_value(&m, NULL, 0, bytes).seconds / t - 1);

            assert_true(xy_message_value(&m, NULL, 0, bytes).seconds > 0);
            if (fabs(log(bytes / up)) < log(1.6) || fabs(log(bytes / down)) < log(1.6))
                continue;
            sum += e;
            worst = fmax(worst, e);
            points++;
        }
        all += sum / points / ROUNDS;
        bad += worst > 0.15;
        xy_message_cleanup(&m);
    }
    assert_true(all < 0.01);
    assert_true(bad <= ROUNDS / 5);
}

/* A curve of three protocols as a calibration samples it, with 1 % of noise. */
static void make_curve(xy_message_sample_t samples[SIZES_OF_CURVE], uint64_t *seed)
{
    for (int i = 0; i < SIZES_OF_CURVE; i++) {
        double bytes = ceil((double)(1L << i / 2) * (i % 2 ? 1.5 : 1)) + (i == 1);
        double t = bytes <= 4096    ? 2.5e-7 + bytes / 12e9
                   : bytes <= 65536 ? 6e-7 + bytes / 9e9
                                    : 2e-6 + bytes / 15e9;

        samples[i] = (xy_message_sample_t){.bytes = bytes + (i > 1 ? 0 : i),
                                           .blocking = t * (1 + 0.01 * testing_noise(seed))};
    }
}

/* The largest change that spikes make to the model, at the sizes without them. */
static double change(const xy_message_sample_t *clean, const xy_message_sample_t *spiked,
                     size_t *intervals_p)
{
    xy_message_model_t a, b;
    double worst = 0;

    assert_int_equal(xy_message_fit(clean, SIZES_OF_CURVE, &a), XY_OK);
    assert_int_equal(xy_message_fit(spiked, SIZES_OF_CURVE, &b), XY_OK);
    for (int i = 0; i < SIZES_OF_CURVE; i++)
        if (clean[i].blocking == spiked[i].blocking)
            worst = fmax(worst, fabs(xy_message_value(&b, NULL, 0, clean[i].bytes).seconds /
                                         xy_message_value(&a, NULL, 0, clean[i].bytes).seconds -
                                     1));
    *intervals_p = b.kind[0].time.count;
    xy_message_cleanup(&a);
    xy_message_cleanup(&b);
    return worst;
}

/* One sample, whichever it is and however slow, changes the model by no more than 5 % elsewhere,
 * and makes no interval of its own: 7.2 ms between 14 and 23 us is no model. */
static void test_one_spike(void **state)
{
    xy_message_sample_t clean[SIZES_OF_CURVE], spiked[SIZES_OF_CURVE];
    uint64_t seed = 21;

    (void)state;
    for (int at = 0; at < SIZES_OF_CURVE; at++)
        for (double slower = 1.6; slower < 2000; slower *= XYLEM_SANITIZED ? 400 : 20) {
            size_t intervals;

            make_curve(clean, &seed);
            memcpy(spiked, clean, sizeof(clean));
            spiked[at].blocking *= slower;
            assert_true(change(clean, spiked, &intervals) < (slower > 2 ? 0.05 : 0.2));
            assert_true(intervals <= 4);
        }
}

/* One in ten, up to 500 times too slow, wherever they fall: they change little, and intervals stay
 * few. */
static void test_many_spikes(void **state)
{
    xy_message_sample_t clean[SIZES_OF_CURVE], spiked[SIZES_OF_CURVE];
    uint64_t seed = 22;
    int much = 0;

    (void)state;
    for (int round = 0; round < (XYLEM_SANITIZED ? 10 : 200); round++) {
        size_t intervals;

        make_curve(clean, &seed);
        memcpy(spiked, clean, sizeof(clean));
        for (int i = 0; i < SIZES_OF_CURVE; i++)
            if (testing_random_below(&seed, 10) == 0)
                spiked[i].blocking *= 1.3 * pow(400, (1 + testing_noise(&seed)) / 2);
        much += change(clean, spiked, &intervals) > 0.1;
        assert_true(intervals <= 6);
    }
    assert_true(much <= 10);
}

/* Noise of 5 % is no reason for intervals: as many as there are protocols, about. */
static void test_few_intervals(void **state)
{
    xy_message_sample_t samples[SIZES_OF_CURVE];
    uint64_t seed = 23;

    (void)state;
    for (int round = 0; round < (XYLEM_SANITIZED ? 10 : 50); round++) {
        xy_message_model_t m;

        make_curve(samples, &seed);
        for (int i = 0; i < SIZES_OF_CURVE; i++)
            samples[i].blocking *= 1 + 0.05 * testing_noise(&seed);
        assert_int_equal(xy_message_fit(samples, SIZES_OF_CURVE, &m), XY_OK);
        assert_true(m.kind[0].time.count <= 6);
        xy_message_cleanup(&m);
    }
}

static void test_parameters(void **state)
{
    xy_message_sample_t samples[SIZES];
    xy_message_model_t m;
    uint64_t seed = 1;

    (void)state;
    make_samples(samples, 0, &seed);
    assert_int_equal(xy_message_fit(samples, SIZES, &m), XY_OK);
    assert_true(fabs(m.loggp.overhead - 0.4e-6) < 1e-12);
    assert_true(fabs(m.loggp.latency - (true_time(1) - 0.8e-6)) < 1e-12);
    assert_true(fabs(m.loggp.per_byte * 10e9 - 1) < 0.01);
    assert_true(m.loggp.gap == samples[0].gap);
    assert_true(fabs(m.plogp_latency - (true_time(1) - samples[0].gap)) < 1e-12);
    assert_true(xy_message_has(&m, "plogp", XY_MESSAGE_BLOCKING));
    assert_true(fabs(xy_message_value(&m, "plogp", 0, 3e6).seconds -
                     (m.plogp_latency + 0.8e-6 + 3e6 / 10e9)) < 1e-10);
    assert_true(xy_message_value(&m, "loggp", 0, 1).seconds == m.kind[0].latency);
    assert_true(xy_message_value(&m, NULL, 0, 1e9).is_extrapolated);
    assert_true(fabs(xy_message_value(&m, NULL, 0, 1e9).seconds / true_time(1e9) - 1) < 0.05);
    assert_true(xy_message_value(&m, NULL, 0, 0).seconds > 1e-6);
    for (size_t i = 0; xy_message_models()[i] != NULL; i++)
        assert_non_null(xy_message_model_text(xy_message_models()[i]));
    assert_null(xy_message_model_text("guess"));
    assert_false(xy_message_has(&m, "guess", XY_MESSAGE_BLOCKING));
    xy_message_cleanup(&m);
}

/* The other curves are lines, too, of few intervals; 0 without any sample. */
static void test_curves(void **state)
{
    xy_message_sample_t samples[SIZES];
    xy_message_model_t m;
    uint64_t seed = 4;

    (void)state;
    make_samples(samples, 0.01, &seed);
    for (int i = 0; i < SIZES; i++)
        samples[i].exchange = (1 + 0.3 * testing_noise(&seed)) * samples[i].blocking;
    assert_int_equal(xy_message_fit(samples, SIZES, &m), XY_OK);
    for (int k = 0; k < XY_MESSAGE_KINDS; k++)
        assert_in_range(m.kind[k].time.count, 1, XY_MESSAGE_INTERVALS);
    for (double bytes = 1; bytes < 8e6; bytes *= 1.7)
        assert_true(
            fabs(xy_message_curve(&m, XY_MESSAGE_GAP, bytes) / (0.8e-6 + bytes / 10e9) - 1) < 0.02);
    xy_message_cleanup(&m);
    samples[0].gap = samples[0].exchange = 0;
    assert_int_equal(xy_message_fit(samples, 1, &m), XY_OK);
    assert_true(xy_message_curve(&m, XY_MESSAGE_EXCHANGE, 100) == 0);
    xy_message_cleanup(&m);
}

/* Table 17, Grid'5000: what was measured is met within what its authors reached. */
static void test_table_17(void **state)
{
    testing_table_t table = testing_read_table("p2p-measured.csv");
    xy_message_sample_t samples[TESTING_ROWS];
    xy_message_model_t m;

    (void)state;
    for (size_t i = 0; i < table.rows; i++)
        samples[table.rows - 1 - i] = (xy_message_sample_t){.bytes = table.at[i][0] * 1000,
                                                            .blocking = table.at[i][1],
                                                            .nonblocking = table.at[i][3]};
    assert_int_equal(xy_message_fit(samples, table.rows, &m), XY_OK);
    assert_true(m.kind[XY_MESSAGE_BLOCKING].error_mean < 0.03);
    assert_true(m.kind[XY_MESSAGE_NONBLOCKING].error_mean < 0.05);
    assert_false(xy_message_has(&m, "plogp", XY_MESSAGE_BLOCKING));
    xy_message_cleanup(&m);
}

static void test_refusals(void **state)
{
    xy_message_sample_t bad[] = {{.bytes = 1},
                                 {.bytes = -1, .blocking = 1},
                                 {.bytes = 1, .blocking = -1},
                                 {.bytes = 1, .blocking = NAN}};
    xy_message_model_t m = {.count = 42};

    (void)state;
    testing_listen();
    assert_int_equal(xy_message_fit(NULL, 0, &m), XY_EINVAL);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(xy_message_fit(&bad[i], 1, &m), XY_EINVAL);
    assert_int_equal(testing_said_count, 5);
    assert_int_equal(m.count, 42);
}

static void test_memory(void **state)
{
    xy_message_sample_t samples[SIZES];
    xy_message_model_t m;
    uint64_t seed = 1;

    (void)state;
    make_samples(samples, 0.01, &seed);
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_message_fit(samples, SIZES, &m)));
    xy_message_cleanup(&m);
}

/* A scaled model is that of scaled measurements. */
static void test_scale(void **state)
{
    xy_message_sample_t samples[SIZES], scaled[SIZES];
    xy_message_model_t model;
    uint64_t seed = 3;

    (void)state;
    make_samples(samples, 0, &seed);
    for (int i = 0; i < SIZES; i++) {
        double by, fixed = samples[i].bytes <= 32768 ? 2e-6 : 6e-6,
                   all = true_time(samples[i].bytes);

        by = (fixed * 3 + (all - fixed) / 2) / all;
        samples[i].exchange = 1.5 * all;
        scaled[i] = samples[i];
        scaled[i].blocking *= by;
        scaled[i].nonblocking *= by;
    }
    assert_int_equal(xy_message_fit(samples, SIZES, &model), XY_OK);
    model.barrier = model.copy = 4e-6;
    xy_message_scale(&model, 3, 2);
    assert_true(fabs(model.barrier / 12e-6 - 1) < 0.02 && model.copy == 4e-6);
    for (int i = 0; i < SIZES; i++) {
        double bytes = samples[i].bytes, by = scaled[i].blocking / samples[i].blocking;
        double got = xy_message_value(&model, NULL, XY_MESSAGE_BLOCKING, bytes).seconds;
        double hockney = xy_message_value(&model, "hockney", XY_MESSAGE_BLOCKING, bytes).seconds;

        assert_true(fabs(got / scaled[i].blocking - 1) < 0.02);
        assert_true(bytes > 32768 || fabs(hockney / scaled[i].blocking - 1) < 0.05);
        assert_true(
            fabs(xy_message_curve(&model, XY_MESSAGE_EXCHANGE, bytes) / samples[i].exchange / by -
                 1) < 0.02);
    }
    xy_message_cleanup(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progressive), cmocka_unit_test(test_progressive_small),
        cmocka_unit_test(test_predicts),    cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_outliers),    cmocka_unit_test(test_table_17),
        cmocka_unit_test(test_curves),      cmocka_unit_test(test_one_spike),
        cmocka_unit_test(test_many_spikes), cmocka_unit_test(test_few_intervals),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_scale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
