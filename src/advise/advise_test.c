/* SPDX-License-Identifier: BSD-3-Clause */
#include "advise/advise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "testing/base.h"

enum { RANKS = 2, ROUNDS = 3 };
#define MS INT64_C(1000000)

/* A run by hand: each round, ranks compute so many milliseconds, and meet in a barrier. */
typedef struct {
    xy_trace_log_t log;
    xy_trace_row_info_t rows[RANKS];
    xy_trace_state_t states[RANKS * ROUNDS];
    xy_trace_step_t steps[RANKS * (2 * ROUNDS + 1)];
} trace_t;

static xy_trace_kind_info_t kinds[] = {{"", XY_TRACE_OTHER, 0}, {"compute", XY_TRACE_COMPUTE, 0}};
static const char *labels[] = {"", "MPI_Init", "MPI_Barrier"};
static const char *sites[] = {"", "p+0x1", "p+0x2"};

static void add_step(trace_t *t, xy_trace_step_kind_t kind, uint32_t rank, int64_t time,
                     uint32_t label)
{
    t->steps[t->log.step_count] = (xy_trace_step_t){.time = time,
                                                    .kind = kind,
                                                    .rank = rank,
                                                    .row = rank,
                                                    .label = label,
                                                    .site = label,
                                                    .order = t->log.step_count,
                                                    .collective = 0,
                                                    .context = 1,
                                                    .members = RANKS,
                                                    .member = rank,
                                                    .element = 1};
    t->log.step_count++;
}

static void make(trace_t *t, const int64_t ms[RANKS])
{
    int64_t most = ms[0] > ms[1] ? ms[0] : ms[1];

    *t = (trace_t){0};
    t->log = (xy_trace_log_t){.path = "test",
                              .title = "by hand",
                              .clock = XY_TRACE_VIRTUAL,
                              .rows = t->rows,
                              .row_count = RANKS,
                              .kinds = kinds,
                              .kind_count = 2,
                              .labels = labels,
                              .label_count = 3,
                              .sites = sites,
                              .site_count = 3,
                              .states = t->states,
                              .steps = t->steps,
                              .end = ROUNDS * most * MS};
    for (uint32_t r = 0; r < RANKS; r++) {
        t->rows[r] = (xy_trace_row_info_t){"core", "", t->log.state_count, ROUNDS};
        add_step(t, XY_TRACE_STEP_CALL, r, 0, 1);
        for (int i = 0; i < ROUNDS; i++) {
            int64_t start = i * most * MS, end = start + ms[r] * MS;

            t->states[t->log.state_count++] =
                (xy_trace_state_t){.start = start, .end = end, .id = r, .row = r, .kind = 1};
            add_step(t, XY_TRACE_STEP_CALL, r, end, 2);
            add_step(t, XY_TRACE_STEP_COLLECTIVE, r, end, 0);
        }
    }
}

static xy_status_t advise(const trace_t *t, xy_profile_t **profile_p, xy_advice_t **advice_p)
{
    xy_status_t st = xy_profile_from_trace(&t->log, NULL, profile_p);

    if (st != XY_OK)
        return st;
    st = xy_advise(&t->log, *profile_p, &(xy_advise_options_t){0}, advice_p);
    if (st != XY_OK)
        xy_profile_destroy(*profile_p);
    return st;
}

/* 10 and 20 ms: balanced, a quarter of the time goes. */
static void test_balancing_is_found(void **state)
{
    const xy_remedy_t *best;
    xy_advice_t *a;
    xy_profile_t *p;
    trace_t t;

    (void)state;
    make(&t, (int64_t[]){10, 20});
    assert_int_equal(advise(&t, &p, &a), XY_OK);
    assert_float_equal(a->run, 0.06, 1e-9);
    assert_float_equal(a->replayed, 0.06, 1e-3);
    assert_int_equal(a->remedies.count, 1);
    best = &XY_VEC_AT(&a->remedies, xy_remedy_t, 0);
    assert_string_equal(best->kind, "balance");
    assert_non_null(strstr(best->change, "MPI_Barrier"));
    assert_non_null(strstr(best->reason, "rank 1"));
    assert_float_equal(best->gain, 0.25, 0.001);
    assert_true(best->low <= best->gain && best->gain <= best->high);
    assert_true(isnan(best->measured));
    xy_advice_destroy(a);
    xy_profile_destroy(p);
}

static void test_nothing_is_an_answer(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    xy_advice_t *a;
    xy_profile_t *p;
    trace_t t;

    (void)state;
    make(&t, (int64_t[]){20, 20});
    assert_int_equal(advise(&t, &p, &a), XY_OK);
    assert_int_equal(a->remedies.count, 0);
    xy_advice_text(a, file);
    fclose(file);
    assert_non_null(strstr(text, "nothing would help by more than 2 %"));
    free(text);
    xy_advice_destroy(a);
    xy_profile_destroy(p);
}

/* Not every allocation: there are thousands. */
static void test_memory_runs_out(void **state)
{
    bool is_over = false;
    trace_t t;

    (void)state;
    make(&t, (int64_t[]){10, 20});
    for (long k = 1; !is_over; k += 1 + k / 8) {
        xy_advice_t *a;
        xy_profile_t *p;
        xy_status_t st;

        testing_listen();
        xy_memory_fail_at(k);
        st = advise(&t, &p, &a);
        is_over = !xy_memory_fail_hit();
        xy_memory_fail_at(0);
        assert_int_equal(st, is_over ? XY_OK : XY_ENOMEM);
        if (st == XY_OK) {
            xy_advice_destroy(a);
            xy_profile_destroy(p);
        } else {
            assert_int_equal(testing_said_count, 1);
        }
    }
}

/* 10 and 20 ms, but another program had the core of rank 1 for 10 ms of each 20: there is nothing
 * to balance. */
static void test_stolen_time_is_left_out(void **state)
{
    xy_trace_counter_info_t counters[] = {{"other", "s"}, {XY_TRACE_STOLEN, "s"}};
    xy_trace_sample_t samples[ROUNDS + 1] = {{.value = 7}};
    xy_advice_t *a;
    xy_profile_t *p;
    trace_t t;

    (void)state;
    make(&t, (int64_t[]){10, 20});
    for (int i = 0; i < ROUNDS; i++)
        samples[i + 1] = (xy_trace_sample_t){
            .time = (i + 1) * 20 * MS, .value = 0.01 * (i + 1), .row = 1, .counter = 1};
    t.log.counters = counters;
    t.log.counter_count = 2;
    t.log.samples = samples;
    t.log.sample_count = ROUNDS + 1;
    assert_int_equal(advise(&t, &p, &a), XY_OK);
    assert_float_equal(a->stolen, 1.0 / 3, 1e-9);
    assert_float_equal(a->replayed, 0.06, 1e-3);
    assert_int_equal(a->remedies.count, 0);
    xy_advice_destroy(a);
    xy_profile_destroy(p);
}

/* Turns that agree have no noise; of turns that differ by more than the gain, the sign is unknown.
 * A slow turn of both does not matter, nor does a single outlier. */
static void test_measure(void **state)
{
    const double without[] = {10, 10, 20, 10, 10};
    double same[] = {8, 8, 16, 8, 30}, wild[] = {7, 12, 30, 9, 10.5}, failed[] = {8, NAN, 16, 8, 8};
    xy_remedy_t r = {.gain = 0.2};

    (void)state;
    xy_remedy_measure(&r, without, same, 5);
    assert_float_equal(r.measured, 0.2, 1e-9);
    assert_float_equal(r.noise, 0, 1e-9);
    assert_false(xy_remedy_is_noise(&r));
    /* gains -0.5, -0.2, -0.05, 0.1, 0.3: the median deviation is 0.15 */
    xy_remedy_measure(&r, without, wild, 5);
    assert_float_equal(r.measured, -0.05, 1e-9);
    assert_float_equal(r.noise, 1.96 * 1.2533 * 1.4826 * 0.15 / sqrt(5), 1e-9);
    assert_true(xy_remedy_is_noise(&r));
    xy_remedy_measure(&r, without, failed, 5);
    assert_true(isnan(r.measured) && isnan(r.noise) && !xy_remedy_is_noise(&r));
    same[0] = 8;
    xy_remedy_measure(&r, without, same, 1);
    assert_true(isnan(r.noise) && !xy_remedy_is_noise(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balancing_is_found),      cmocka_unit_test(test_nothing_is_an_answer),
        cmocka_unit_test(test_memory_runs_out),         cmocka_unit_test(test_measure),
        cmocka_unit_test(test_stolen_time_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
