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

/* Traces by hand: times in seconds, a row for each rank. */
enum { STATES = 512, STEPS = 512, RANKS = 4 };
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
static const char *labels[] = {"", "MPI_Send", "MPI_Recv", "MPI_Barrier", "MPI_Init"};
static const char *sites[] = {"", "dir/p+0x1", "dir/p+0x2", "dir/p+0x3", "dir/p+0x4"};

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
                              .label_count = 5,
                              .sites = sites,
                              .site_count = 5,
                              .states = t->states,
                              .steps = t->steps};
}

static void rank_begin(trace_t *t)
{
    t->rank++;
    t->now = 0;
    t->rows[t->rank] = (xy_trace_row_info_t){"core", "", t->log.state_count, 0};
}

/* Counting begins with the rank. */
static void init(trace_t *t)
{
    xy_trace_step_t *s = &t->steps[t->log.step_count++];

    rank_begin(t);
    *s = (xy_trace_step_t){
        .kind = XY_TRACE_STEP_CALL, .rank = t->rank, .row = t->rank, .label = 4, .site = 4};
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

/* Each wait is inside a call of its rank, behind the one before it. All waits are blamed on some
 * rank, to the nanosecond for each cause. */
static void check_waits(const xy_profile_t *p)
{
    const xy_vec_t *waits = &p->insight->waits, *calls = &p->insight->calls;
    int64_t part[RANKS][XY_PART_WAITS] = {{0}}, last = 0;

    for (size_t i = 0, c = 0; i < waits->count; i++) {
        const xy_trace_wait_t *w = &XY_VEC_AT(waits, xy_trace_wait_t, i);
        const xy_trace_call_t *call;

        last = i > 0 && w[-1].rank == w->rank ? last : 0;
        while ((call = &XY_VEC_AT(calls, xy_trace_call_t, c))->rank < w->rank ||
               call->leave < w->end)
            c++;
        assert_true(call->rank == w->rank && call->enter <= w->start && w->end <= call->leave);
        assert_true(w->start >= last && w->end > w->start && w->who != w->rank);
        assert_true(w->root_ns > 0 && w->root_ns <= w->end - w->start);
        assert_true(w->root_end <= w->end);
        part[w->rank][w->kind] += w->end - w->start;
        last = w->end;
    }
    for (size_t i = 0; i < p->records.count; i++)
        for (int k = 0; k < XY_PART_WAITS; k++) {
            const xy_profile_record_t *r = &XY_VEC_AT(&p->records, xy_profile_record_t, i);

            part[r->rank][k] -= (int64_t)r->part[k];
        }
    for (size_t i = 0; i < p->records.count; i++) {
        const xy_profile_record_t *r = &XY_VEC_AT(&p->records, xy_profile_record_t, i);
        uint64_t blamed = 0;

        for (int b = 0; b < XY_PROFILE_BLAMES; b++)
            blamed += r->blame[b].ns;
        assert_in_range(blamed + 4 * r->calls, xy_profile_wait(r),
                        xy_profile_wait(r) + 8 * r->calls);
    }
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < XY_PART_WAITS; k++)
            assert_int_equal(part[r][k], 0);
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
    check_waits(p);
    return p;
}

/* Rank 1 computes 3 s, then sends; rank 0 computes 1 s and receives. Both enter a barrier, 0 after
 * 1 s more, 1 after 2 s more. */
static void golden(trace_t *t)
{
    trace_begin(t);
    init(t);
    compute(t, 1);
    call(t, 2, 3);
    message(t, XY_TRACE_STEP_RECEIVED, 1, 1, 3);
    compute(t, 1);
    call(t, 3, 5);
    barrier(t, 2, 4);
    compute(t, 0.5);
    call(t, 3, 5.5);
    init(t);
    compute(t, 3);
    call(t, 1, 3);
    message(t, XY_TRACE_STEP_SENT, 1, 0, 3);
    compute(t, 2);
    call(t, 3, 5);
    barrier(t, 2, 5);
    compute(t, 0.5);
    call(t, 3, 5.5);
}

static void test_golden_waits(void **state)
{
    xy_analysis_t *a;
    xy_profile_t *p;
    trace_t t;

    (void)state;
    golden(&t);
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
    for (size_t i = 0; i < p->insight->waits.count; i++) {
        const xy_trace_wait_t *w = &XY_VEC_AT(&p->insight->waits, xy_trace_wait_t, i);

        assert_int_equal(w->who, w->rank - 1);
        assert_int_equal(w->root, 0);
        assert_int_equal(w->root_ns, 3 * SECOND);
        assert_int_equal(w->root_end, 3 * SECOND);
        assert_string_equal(XY_VEC_AT(&p->sites, xy_profile_site_t, w->root_place).function,
                            "MPI_Send");
    }
    xy_analysis_destroy(a);
    xy_profile_destroy(p);
}

/* Neighbours of a line exchange messages in rounds, and rank 0 works twice as long as the others:
 * its delay reaches one rank more in each round, until all wait for their neighbour all the time.
 */
static void test_wandering_delay_has_one_root(void **state)
{
    enum { ROUNDS = 12 };
    double sent[ROUNDS][RANKS];
    xy_analysis_t *a;
    xy_profile_t *p;
    trace_t t;

    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        for (int r = 0; r < RANKS; r++) {
            double ready = 0;

            for (int n = r - 1; n <= r + 1 && i > 0; n++)
                if (n >= 0 && n < RANKS && sent[i - 1][n] > ready)
                    ready = sent[i - 1][n];
            sent[i][r] = ready + (r == 0 ? 2 : 1);
        }
    trace_begin(&t);
    for (uint32_t r = 0; r < RANKS; r++) {
        rank_begin(&t);
        for (int i = 0; i < ROUNDS; i++) {
            double ready = sent[i][r];
            size_t number = (size_t)i * 2 * RANKS + 1;

            for (uint32_t n = r > 0 ? r - 1 : 0; n <= r + 1 && n < RANKS; n++)
                ready = sent[i][n] > ready ? sent[i][n] : ready;
            compute(&t, r == 0 ? 2 : 1);
            call(&t, 1, ready); /* both at once, as MPI_Waitall */
            for (uint32_t n = r > 0 ? r - 1 : 0; n <= r + 1 && n < RANKS; n++) {
                if (n == r)
                    continue;
                message(&t, XY_TRACE_STEP_SENT, number + 2 * r + (n > r), n, sent[i][r]);
                message(&t, XY_TRACE_STEP_RECEIVED, number + 2 * n + (r > n), n, ready);
            }
        }
    }
    p = profile_of(&t);
    assert_int_equal(xy_analyse(p, 0, &a), XY_OK);
    assert_int_equal(a->culprit, 0);
    assert_true(a->wait > RANKS * ROUNDS / 2.0);
    assert_float_equal(a->ranks[0].blamed, a->wait, 1e-6);
    assert_non_null(strstr(a->finding, "rank 0 computes 2 times as long"));
    xy_analysis_destroy(a);
    xy_profile_destroy(p);
}

/* Pipelines of random stages: profile_of() looks at all waits. */
static void test_waits_of_pipelines(void **state)
{
    enum { ROUNDS = 20 };
    size_t found = 0;

    (void)state;
    for (int round = 0; round < 50; round++) {
        double sent[ROUNDS] = {0};
        xy_profile_t *p;
        trace_t t;

        trace_begin(&t);
        for (uint32_t r = 0; r < RANKS; r++) {
            double now = 0;

            rank_begin(&t);
            for (uint32_t i = 0; i < ROUNDS; i++) {
                uint32_t number = i * RANKS + r;
                double work = (double)testing_below(5) / 4;

                if (r > 0) {
                    now = fmax(now, sent[i]);
                    call(&t, 2, now);
                    message(&t, XY_TRACE_STEP_RECEIVED, number, r - 1, now);
                }
                compute(&t, work);
                now += work;
                call(&t, 1, now);
                if (r < RANKS - 1)
                    message(&t, XY_TRACE_STEP_SENT, number + 1, r + 1, now);
                sent[i] = now;
            }
        }
        p = profile_of(&t);
        found += p->insight->waits.count;
        xy_profile_destroy(p);
    }
    assert_true(found > 500);
}

/* ---- The critical path ---- */

static double path_of(const xy_profile_t *p, uint32_t rank, const char *function, bool is_call)
{
    const xy_insight_t *in = p->insight;
    double found = 0;

    for (size_t i = 0; i < in->path.count; i++) {
        const xy_path_part_t *part = &XY_VEC_AT(&in->path, xy_path_part_t, i);

        if (part->rank == rank && part->is_call == is_call &&
            strcmp(XY_VEC_AT(&p->sites, xy_profile_site_t, part->site).function, function) == 0)
            found += (double)part->ns / (double)SECOND;
    }
    return found;
}

/* The golden example once more: all of the path is computation, 5 of its 5.5 s on rank 1. */
static void test_golden_path(void **state)
{
    xy_profile_t *p;
    trace_t t;

    (void)state;
    golden(&t);
    p = profile_of(&t);
    assert_float_equal((double)p->insight->path_ns / (double)SECOND, 5.5, 1e-9);
    assert_float_equal(path_of(p, 1, "MPI_Send", false), 3, 1e-9);
    assert_float_equal(path_of(p, 1, "MPI_Barrier", false), 2, 1e-9);
    assert_float_equal(path_of(p, 0, "MPI_Barrier", false), 0.5, 1e-9);
    assert_int_equal(p->insight->path.count, 3);
    assert_int_equal(XY_VEC_AT(&p->insight->path, xy_path_part_t, 0).rank, 1);
    xy_profile_destroy(p);
}

/* Rounds of computation and barriers: the path takes the longest of each round. And whatever waits
 * for whom, it is as long as the run, without gaps. */
static void test_path_is_as_long_as_the_run(void **state)
{
    enum { ROUNDS = 20 };
    double compute_of[ROUNDS][RANKS], longest[RANKS];
    uint64_t sum;

    (void)state;
    for (int round = 0; round < 50; round++) {
        double expected = 0;
        xy_profile_t *p;
        trace_t t;

        for (int i = 0; i < ROUNDS; i++)
            for (int r = 0; r < RANKS; r++)
                compute_of[i][r] = (double)testing_below(1000) / 100;
        memset(longest, 0, sizeof(longest));
        trace_begin(&t);
        for (uint32_t r = 0; r < RANKS; r++) {
            double end = 0;

            init(&t);
            for (int i = 0; i < ROUNDS; i++) {
                double enter = end + compute_of[i][r];

                for (int k = 0; k < RANKS; k++)
                    longest[k] = compute_of[i][k];
                end += fmax(fmax(longest[0], longest[1]), fmax(longest[2], longest[3])) + 0.01;
                compute(&t, compute_of[i][r]);
                call(&t, 3, end);
                barrier(&t, RANKS, enter);
            }
            expected = end;
            t.log.end = (int64_t)llround(end * (double)SECOND);
        }
        p = profile_of(&t);
        sum = 0;
        for (size_t i = 0; i < p->insight->path.count; i++)
            sum += XY_VEC_AT(&p->insight->path, xy_path_part_t, i).ns;
        assert_int_equal(sum, p->insight->path_ns);
        assert_float_equal((double)sum / (double)SECOND, expected, 1e-6);
        for (uint32_t r = 0; r < RANKS; r++)
            expected -= path_of(p, r, "MPI_Barrier", false);
        assert_float_equal(expected, 0.01 * ROUNDS, 1e-5); /* time of the barriers themselves */
        xy_profile_destroy(p);
    }
}

/* Members of a broadcast leave when they have the data, and wait for its root alone. And rows of
 * ranks say which core they are on. */
static void test_roots_and_cores(void **state)
{
    static xy_trace_counter_info_t counters[] = {{XY_TRACE_CORE, ""}};
    xy_trace_sample_t samples[3] = {
        {.row = 0, .value = 7}, {.row = 1, .value = 7}, {.row = 2, .value = 9}};
    trace_t *t = xy_calloc(1, sizeof(*t));
    xy_profile_t *p;

    (void)state;
    assert_non_null(t);
    trace_begin(t);
    for (int r = 0; r < 3; r++) { /* 0 is the root, and 2 comes last */
        init(t);
        compute(t, r == 0 ? 2 : r == 1 ? 1 : 5);
        call(t, 3, r == 2 ? 5.1 : 2.1);
        barrier(t, 3, r == 0 ? 2 : r == 1 ? 1 : 5);
        compute(t, 0.1);
    }
    t->log.counters = counters;
    t->log.counter_count = 1;
    t->log.samples = samples;
    t->log.sample_count = 3;
    assert_int_equal(xy_profile_from_trace(&t->log, NULL, &p), XY_OK);
    assert_int_equal(p->insight->waits.count, 1);
    assert_int_equal(XY_VEC_AT(&p->insight->waits, xy_trace_wait_t, 0).rank, 1);
    assert_int_equal(XY_VEC_AT(&p->insight->waits, xy_trace_wait_t, 0).who, 0);
    assert_int_equal(XY_VEC_AT(&p->insight->waits, xy_trace_wait_t, 0).end, 2 * SECOND);
    for (int r = 0; r < 3; r++)
        assert_int_equal(XY_VEC_AT(&p->ranks, xy_profile_rank_t, r).core, r == 2 ? 9 : 7);
    xy_profile_destroy(p);
    xy_free(t);
}

static void test_traces_without_calls_are_refused(void **state)
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
        cmocka_unit_test(test_waits_of_pipelines),
        cmocka_unit_test(test_wandering_delay_has_one_root),
        cmocka_unit_test(test_golden_path),
        cmocka_unit_test(test_path_is_as_long_as_the_run),
        cmocka_unit_test(test_roots_and_cores),
        cmocka_unit_test(test_traces_without_calls_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
