/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>
#include <string.h>

#include "report/testing.h"

/* Traces by hand: times in seconds, a row for each rank. */
enum { STATES = 64, STEPS = 64, RANKS = 4 };
#define SECOND INT64_C(1000000000)

typedef struct {
    xy_trace_log_t log;
    xy_trace_row_info_t rows[RANKS];
    xy_trace_state_t states[STATES];
    xy_trace_step_t steps[STEPS];
    uint32_t rank;
    int64_t now; /* of the rank */
} trace_t;

static xy_trace_kind_info_t kinds[] = {{"", XY_TRACE_OTHER, 0}, {"compute", XY_TRACE_COMPUTE, 0}};
static const char *labels[] = {"", "MPI_Send", "MPI_Recv", "MPI_Barrier"};
static const char *sites[] = {"", "dir/p+0x1", "dir/p+0x2", "dir/p+0x3"};

static void trace_begin(trace_t *t)
{
    *t = (trace_t){.rank = UINT32_MAX};
    t->log = (xy_trace_log_t){.path = "test",
                              .title = "golden",
                              .clock = XY_TRACE_GIVEN,
                              .rows = t->rows,
                              .row_count = RANKS,
                              .kinds = kinds,
                              .kind_count = 2,
                              .labels = labels,
                              .label_count = 4,
                              .sites = sites,
                              .site_count = 4,
                              .states = t->states,
                              .steps = t->steps};
}

static void rank_begin(trace_t *t)
{
    t->rank++;
    t->now = 0;
    t->rows[t->rank] = (xy_trace_row_info_t){"core", "", t->log.state_count, 0};
}

static void compute(trace_t *t, double seconds)
{
    int64_t end = t->now + (int64_t)(seconds * (double)SECOND);

    t->states[t->log.state_count++] =
        (xy_trace_state_t){.start = t->now, .end = end, .id = t->rank, .row = t->rank, .kind = 1};
    t->rows[t->rank].state_count++;
    t->now = end;
    if (end > t->log.end)
        t->log.end = end;
}

static xy_trace_step_t *step(trace_t *t, xy_trace_step_kind_t kind, int64_t time)
{
    xy_trace_step_t *s = &t->steps[t->log.step_count++];

    *s = (xy_trace_step_t){.time = time, .kind = kind, .rank = t->rank, .row = t->rank};
    return s;
}

/* A call, in which the rank stays until `leave`. */
static void call(trace_t *t, uint32_t which, double leave)
{
    xy_trace_step_t *s = step(t, XY_TRACE_STEP_CALL, t->now);

    s->label = s->site = which;
    t->now = (int64_t)(leave * (double)SECOND);
}

static void message(trace_t *t, xy_trace_step_kind_t kind, size_t number, uint32_t peer,
                    double time)
{
    xy_trace_step_t *s = step(t, kind, (int64_t)(time * (double)SECOND));

    s->message = number;
    s->peer = peer;
    s->bytes = 8;
    if (number > t->log.message_count)
        t->log.message_count = number;
}

static void barrier(trace_t *t, uint32_t members, double time)
{
    xy_trace_step_t *s = step(t, XY_TRACE_STEP_COLLECTIVE, (int64_t)(time * (double)SECOND));

    s->members = members;
    s->member = t->rank;
    s->context = 1;
}

static xy_profile_t *profile_of(trace_t *t)
{
    xy_profile_t *p;

    assert_int_equal(xy_profile_from_trace(&t->log, NULL, &p), XY_OK);
    for (uint32_t r = 0; r < p->ranks.count; r++) { /* all time is attributed */
        uint64_t sum = 0;

        for (size_t i = 0; i < p->records.count; i++) {
            const xy_profile_record_t *record = &XY_VEC_AT(&p->records, xy_profile_record_t, i);

            sum += record->rank == r ? record->compute + xy_profile_time(record) : 0;
        }
        assert_int_equal(sum, XY_VEC_AT(&p->ranks, xy_profile_rank_t, r).ns);
    }
    return p;
}

/* Rank 1 computes 3 s, then sends; rank 0 computes 1 s and receives. Both enter a barrier, 0 after
 * 1 s more, 1 after 2 s more. */
static void test_golden_waits(void **state)
{
    xy_analysis_t *a;
    xy_profile_t *p;
    trace_t t;

    (void)state;
    trace_begin(&t);
    rank_begin(&t);
    compute(&t, 1);
    call(&t, 2, 3);
    message(&t, XY_TRACE_STEP_RECEIVED, 1, 1, 3);
    compute(&t, 1);
    call(&t, 3, 5);
    barrier(&t, 2, 4);
    compute(&t, 0.5);
    call(&t, 3, 5.5);
    rank_begin(&t);
    compute(&t, 3);
    call(&t, 1, 3);
    message(&t, XY_TRACE_STEP_SENT, 1, 0, 3);
    compute(&t, 2);
    call(&t, 3, 5);
    barrier(&t, 2, 5);
    compute(&t, 0.5);
    call(&t, 3, 5.5);
    p = profile_of(&t);
    assert_int_equal(xy_analyse(p, 0, &a), XY_OK);
    assert_float_equal(a->ranks[0].part[XY_PART_LATE_SENDER], 2, 1e-9);
    assert_float_equal(a->ranks[0].part[XY_PART_COLLECTIVE], 1, 1e-9);
    assert_float_equal(a->ranks[0].wait, 3, 1e-9);
    assert_float_equal(a->ranks[1].wait, 0, 1e-9);
    assert_int_equal(a->culprit, 1);
    assert_float_equal(a->ranks[1].blamed, 3, 1e-9);
    xy_analysis_destroy(a);
    xy_profile_destroy(p);
}

/* 0 computes 3 s and sends to 1, which computes 0.5 s and sends to 2, and so on: what the last one
 * waits is caused by rank 0, but for what those in between compute. */
static void test_chain_has_one_root(void **state)
{
    xy_analysis_t *a;
    xy_profile_t *p;
    trace_t t;

    (void)state;
    trace_begin(&t);
    for (uint32_t r = 0; r < RANKS; r++) {
        double arrives = 3 + 0.5 * (r - 1.0);

        rank_begin(&t);
        if (r > 0) {
            call(&t, 2, arrives);
            message(&t, XY_TRACE_STEP_RECEIVED, r, r - 1, arrives);
        }
        compute(&t, r == 0 ? 3 : 0.5);
        call(&t, 1, r == 0 ? 3 : arrives + 0.5);
        if (r < RANKS - 1)
            message(&t, XY_TRACE_STEP_SENT, r + 1, r + 1, r == 0 ? 3 : arrives + 0.5);
    }
    p = profile_of(&t);
    assert_int_equal(xy_analyse(p, 0, &a), XY_OK);
    assert_float_equal(a->wait, 3 + 3.5 + 4, 1e-9);
    assert_int_equal(a->culprit, 0);
    assert_float_equal(a->ranks[0].blamed, 9, 1e-9);
    assert_float_equal(a->ranks[1].blamed, 1, 1e-9);
    assert_float_equal(a->ranks[2].blamed, 0.5, 1e-9);
    xy_analysis_destroy(a);
    xy_profile_destroy(p);
}

static void test_virtual_traces_are_refused(void **state)
{
    xy_profile_t *p;
    trace_t t;

    (void)state;
    trace_begin(&t);
    testing_listen();
    assert_int_equal(xy_profile_from_trace(&t.log, NULL, &p), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_waits),
        cmocka_unit_test(test_chain_has_one_root),
        cmocka_unit_test(test_virtual_traces_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
