/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "testing/report.h"

#define SECOND UINT64_C(1000000000)
enum { RUNS = 8 };

typedef struct {
    xy_profile_t *profile[RUNS];
    xy_analysis_t *made[RUNS];
    const xy_analysis_t *analysis[RUNS]; /* the same */
    size_t count;
} runs_t;

/* A run whose ranks compute so long, on `cores` cores, and which takes `run` seconds. */
static void add_run(runs_t *runs, uint32_t ranks, uint32_t cores, const double *compute, double run,
                    bool is_virtual)
{
    xy_profile_t *p;

    assert_int_equal(xy_profile_create("scale", ranks, &p), XY_OK);
    p->is_virtual = is_virtual;
    for (uint32_t r = 0; r < ranks; r++) {
        xy_profile_record_t *record = testing_record(p, r, "MPI_Barrier", "scale.c:1");

        record->compute = (uint64_t)(compute[r] * (double)SECOND + 0.5);
        XY_VEC_AT(&p->ranks, xy_profile_rank_t, r) =
            (xy_profile_rank_t){r % cores, (uint64_t)(run * (double)SECOND + 0.5)};
    }
    assert_int_equal(xy_analyse(p, 0, &runs->made[runs->count]), XY_OK);
    runs->profile[runs->count] = p;
    runs->analysis[runs->count] = runs->made[runs->count];
    runs->count++;
}

static void end_runs(runs_t *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        xy_analysis_destroy(runs->made[i]);
        xy_profile_destroy(runs->profile[i]);
    }
}

static const xy_scaling_point_t *point_at(const xy_scaling_t *s, size_t i)
{
    return &XY_VEC_AT(&s->points, xy_scaling_point_t, i);
}

static xy_scaling_t *study(const runs_t *runs)
{
    xy_scaling_t *s;

    assert_int_equal(xy_scaling_create(runs->analysis, runs->count, &s), XY_OK);
    return s;
}

/* The golden run of four ranks, 4, 6, 8 and 10 s of 12.5 s, after one rank that computes 21 s of
 * 21 s: CS = 21 / 28, global efficiency 0.56 * 0.75. Files may come in any order. */
static void test_golden_scaling(void **state)
{
    const double one[] = {21}, four[] = {4, 6, 8, 10};
    runs_t runs = {.count = 0};
    xy_scaling_t *s;

    (void)state;
    add_run(&runs, 4, 4, four, 12.5, false);
    add_run(&runs, 1, 1, one, 21, false);
    s = study(&runs);
    assert_int_equal(s->points.count, 4); /* two of them extrapolated */
    assert_int_equal(point_at(s, 0)->ranks, 1);
    assert_float_equal(point_at(s, 0)->efficiency.global, 1, 1e-9);
    assert_float_equal(point_at(s, 1)->efficiency.scalability, 0.75, 1e-9);
    assert_float_equal(point_at(s, 1)->efficiency.global, 0.42, 1e-9);
    assert_float_equal(point_at(s, 1)->speedup, 1.68, 1e-9);
    assert_float_equal(point_at(s, 1)->ideal, 5.25, 1e-9);
    assert_string_equal(s->finding, "4 ranks: 1.68 times as fast as 1 rank, ideal 4: load balance "
                                    "falls most, from 100.0 % to 70.0 %; predicted for 16 ranks: "
                                    "2.02 times");
    xy_scaling_destroy(s);
    end_runs(&runs);
}

/* A run that follows Amdahl's law, with 10 % serial, is predicted exactly; one that is faster than
 * ideal has no serial part. */
static void test_extrapolation(void **state)
{
    const double one[] = {20}, four[] = {5, 5, 5, 5};
    runs_t runs = {.count = 0}, caches = {.count = 0};
    xy_scaling_t *s;

    (void)state;
    add_run(&runs, 1, 1, one, 20, false);
    add_run(&runs, 2, 2, four, 11, false);
    add_run(&runs, 4, 4, four, 6.5, false);
    s = study(&runs);
    assert_int_equal(s->by, XY_SCALING_BY_FIT);
    assert_float_equal(s->serial, 0.1, 1e-9);
    assert_float_equal(point_at(s, 2)->predicted, 6.5, 1e-9);
    assert_int_equal(point_at(s, 4)->ranks, 16);
    assert_true(isnan(point_at(s, 4)->run) && isnan(point_at(s, 4)->efficiency.global));
    assert_float_equal(point_at(s, 4)->predicted, 2 + 18.0 / 16, 1e-9);
    xy_scaling_destroy(s);
    add_run(&caches, 1, 1, one, 20, false);
    add_run(&caches, 4, 4, four, 4, false);
    s = study(&caches);
    assert_float_equal(s->serial, 0, 1e-9);
    xy_scaling_destroy(s);
    end_runs(&runs);
    end_runs(&caches);
}

/* Runs in virtual time predict the real ones, and points where there is no real one; of several
 * runs with as many ranks the shortest counts. */
static void test_predicted_by_virtual_runs(void **state)
{
    const double one[] = {21}, four[] = {4, 6, 8, 10}, two[] = {10, 11};
    runs_t runs = {.count = 0};
    xy_scaling_t *s;

    (void)state;
    add_run(&runs, 1, 1, one, 21, false);
    add_run(&runs, 4, 4, four, 14, false);
    add_run(&runs, 4, 4, four, 12.5, false);
    add_run(&runs, 4, 4, four, 12, true);
    add_run(&runs, 2, 2, two, 10.5, true);
    s = study(&runs);
    assert_int_equal(s->by, XY_SCALING_BY_MODEL);
    assert_int_equal(s->points.count, 3);
    assert_true(isnan(point_at(s, 1)->run) && isnan(point_at(s, 0)->predicted));
    assert_float_equal(point_at(s, 1)->predicted_speedup, 2, 1e-9);
    assert_float_equal(point_at(s, 2)->run, 12.5, 1e-9);
    assert_float_equal(point_at(s, 2)->predicted, 12, 1e-9);
    xy_scaling_destroy(s);
    end_runs(&runs);
}

/* speed-up = ideal speed-up * global efficiency / that of the base, whatever the runs are. */
static void test_speedup_is_the_product(void **state)
{
    uint64_t random = testing_seed();

    (void)state;
    for (int k = 0; k < 200; k++) {
        runs_t runs = {.count = 0};
        xy_scaling_t *s;

        for (uint32_t i = 0; i < 4; i++) {
            uint32_t ranks = 1 + (uint32_t)testing_random_below(&random, 9) + 9 * i;
            uint32_t cores = 1 + (uint32_t)testing_random_below(&random, (int)ranks);
            double compute[64], most = 0;

            for (uint32_t r = 0; r < ranks; r++) {
                compute[r] = 0.001 * (double)(1 + testing_random_below(&random, 9999));
                most += compute[r];
            }
            add_run(&runs, ranks, cores, compute, most + 1, false);
        }
        s = study(&runs);
        for (size_t i = 0; i < s->points.count; i++) {
            const xy_scaling_point_t *p = point_at(s, i);
            double global = p->efficiency.global / point_at(s, s->base)->efficiency.global;

            if (!isnan(p->run))
                assert_float_equal(p->speedup, p->ideal_speedup * global, 1e-6 * p->speedup);
        }
        xy_scaling_destroy(s);
        end_runs(&runs);
    }
}

/* All forms hold all points; a page is whole. */
static void test_forms(void **state)
{
    void (*const forms[])(const xy_scaling_t *, FILE *) = {xy_scaling_text, xy_scaling_json,
                                                           xy_scaling_html};
    const char *const wanted[] = {"42.0 %", "\"computation_scalability\": 0.75", "</html>"};
    const double one[] = {21}, four[] = {4, 6, 8, 10};
    runs_t runs = {.count = 0};
    xy_scaling_t *s;

    (void)state;
    add_run(&runs, 1, 1, one, 21, false);
    add_run(&runs, 4, 4, four, 12.5, false);
    s = study(&runs);
    for (size_t i = 0; i < 3; i++) {
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);

        assert_non_null(file);
        forms[i](s, file);
        fclose(file);
        assert_non_null(strstr(text, wanted[i]));
        assert_non_null(strstr(text, "predicted"));
        assert_non_null(strstr(text, "ideal"));
        assert_null(strstr(text, "nan"));
        free(text);
    }
    xy_scaling_destroy(s);
    end_runs(&runs);
}

/* Every allocation may fail. */
static void test_memory_runs_out(void **state)
{
    const double one[] = {21}, four[] = {4, 6, 8, 10};
    runs_t runs = {.count = 0};
    xy_status_t st = XY_ENOMEM;

    (void)state;
    add_run(&runs, 1, 1, one, 21, false);
    add_run(&runs, 4, 4, four, 12.5, false);
    testing_listen();
    for (long k = 1; st != XY_OK && k < 100; k++) {
        xy_scaling_t *s = NULL;
        xy_comparison_t *c = NULL;

        xy_memory_fail_at(k);
        st = xy_scaling_create(runs.analysis, runs.count, &s);
        if (st == XY_OK)
            st = xy_comparison_create(runs.analysis[0], runs.analysis[1], &c);
        xy_memory_fail_at(0);
        xy_scaling_destroy(s);
        xy_comparison_destroy(c);
        assert_true(st == XY_OK || st == XY_ENOMEM);
    }
    assert_int_equal(st, XY_OK);
    end_runs(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_scaling),
        cmocka_unit_test(test_extrapolation),
        cmocka_unit_test(test_predicted_by_virtual_runs),
        cmocka_unit_test(test_speedup_is_the_product),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
