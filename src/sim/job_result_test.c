/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated jobs: what they say at their end, equal runs, and runs without memory. */
#include <math.h>

#include "testing/sim_job.h"

enum { PROCS = 12 };

#define THREE_NODES "node:3(latency=1us bandwidth=5GB/s) core:6"

static testing_job_t t;

static const testing_act_t ring[] = {
    {.kind = DO_COMPUTE, .seconds = 1e-5, .line = 10},
    {.kind = DO_ICOLL,
     .coll = {.collective = XY_COLL_ALLREDUCE, .count = 3000, .element = 8, .is_commutative = true},
     .line = 11},
    {.kind = DO_COMPUTE, .seconds = 3e-6, .line = 12},
    {.kind = DO_WAIT, .line = 13},
    {.kind = DO_COLL, .coll = {.collective = XY_COLL_BCAST, .count = 9, .element = 8}, .line = 14},
    {.kind = DO_END},
};

/* Each process: messages of its own to others, then the collectives. */
static testing_act_t acts[PROCS][64];

static void make_acts(void)
{
    for (int p = 0; p < PROCS; p++) {
        int n = 0;

        for (int k = 1; k <= 3; k++) {
            acts[p][n++] = (testing_act_t){.kind = DO_IRECV,
                                           .peer = k == 2 ? XY_VJOB_ANY : (p + PROCS - k) % PROCS,
                                           .tag = k,
                                           .line = 1};
            acts[p][n++] = (testing_act_t){.kind = DO_ISEND,
                                           .peer = (p + k) % PROCS,
                                           .tag = k,
                                           .bytes = k == 3 ? 200000 : (uint64_t)(100 * p),
                                           .line = 2};
            acts[p][n++] = (testing_act_t){.kind = DO_COMPUTE, .seconds = 1e-6 * p, .line = 3};
        }
        acts[p][n++] = (testing_act_t){.kind = p % 3 == 0 ? DO_POLL : DO_WAIT, .line = 4};
        memcpy(&acts[p][n], ring, sizeof(ring));
    }
}

static void prepare(int kind)
{
    static const int32_t cores[PROCS] = {0, 1, 2, 3, 6, 7, 8, 9, 12, 13, 13, 13};
    static const int32_t comm[] = {5, 11};

    make_acts();
    testing_job_init(&t, THREE_NODES, PROCS);
    t.config.core_of = cores;
    t.config.progress = (xy_sim_progress_t)(kind % 3);
    t.config.comm_cores = comm;
    t.config.comm_core_count = kind % 3 == XY_SIM_TASKS ? 2 : 0;
    t.config.library = kind / 3 == 0 ? NULL : kind / 3 == 1 ? "openmpi" : "mpich";
    t.config.has_matrix = t.config.has_path = true;
    for (int p = 0; p < PROCS; p++)
        t.procs[p].acts = acts[p];
}

/* ---- Totals ---- */

static void messages_are_counted(void **state)
{
    xy_vec_t pairs = XY_VEC_INIT(xy_vjob_pair_t);
    xy_vjob_totals_t totals;
    uint64_t messages = 0, bytes = 0, coll = 0;

    (void)state;
    prepare(3);
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    xy_vjob_totals(t.job, &totals);
    assert_int_equal(totals.messages, 3 * PROCS);
    assert_int_equal(totals.bytes, PROCS * 200000 + 2 * 100 * (PROCS * (PROCS - 1) / 2));
    assert_int_equal(totals.collectives, 2);
    assert_true(totals.coll_messages >= 2 * (PROCS - 1));
    assert_int_equal(xy_vjob_matrix(t.job, &pairs), XY_OK);
    for (size_t i = 0; i < pairs.count; i++) {
        const xy_vjob_pair_t *p = &XY_VEC_AT(&pairs, xy_vjob_pair_t, i);

        messages += p->messages;
        bytes += p->bytes;
        coll += p->coll_messages;
        if (i > 0)
            assert_true(p[-1].from < p->from || (p[-1].from == p->from && p[-1].to < p->to));
    }
    assert_int_equal(messages, totals.messages);
    assert_int_equal(bytes, totals.bytes);
    assert_int_equal(coll, totals.coll_messages);
    xy_vec_cleanup(&pairs);
    testing_job_cleanup(&t);
}

static void times_of_a_process_add_up(void **state)
{
    (void)state;
    for (int kind = 0; kind < 9; kind++) {
        prepare(kind);
        testing_job_run(&t);
        assert_int_equal(t.status, XY_OK);
        for (int p = 0; p < PROCS; p++) {
            xy_vjob_proc_t result;

            xy_vjob_proc(t.job, p, &result);
            assert_true(fabs(result.compute - (3e-6 * p + 1.3e-5)) < 1e-15);
            assert_true(result.communication > 0 && result.idle >= 0);
            assert_true(result.end <= xy_vjob_end(t.job) && !result.is_waiting);
            assert_true(fabs(result.compute + result.communication + result.idle - result.end) <
                        1e-15);
        }
        testing_job_cleanup(&t);
    }
}

/* ---- The critical path ---- */

static double part_of(const xy_vec_t *parts, uint32_t line, xy_vjob_kind_t kind)
{
    double seconds = 0;

    for (size_t i = 0; i < parts->count; i++) {
        const xy_vjob_path_part_t *p = &XY_VEC_AT(parts, xy_vjob_path_part_t, i);

        if (p->line == line && p->kind == kind)
            seconds += p->seconds;
    }
    return seconds;
}

static void the_path_goes_where_the_time_goes(void **state)
{
    testing_act_t slow[] = {{.kind = DO_COMPUTE, .seconds = 1, .line = 5},
                            {.kind = DO_SEND, .peer = 1, .bytes = 1000, .line = 6},
                            {0}};
    testing_act_t fast[] = {{.kind = DO_COMPUTE, .seconds = 0.25, .line = 7},
                            {.kind = DO_RECV, .peer = 0, .line = 8},
                            {.kind = DO_COMPUTE, .seconds = 0.5, .line = 9},
                            {0}};
    xy_vec_t parts = XY_VEC_INIT(xy_vjob_path_part_t);
    const xy_vjob_costs_t *c = &t.config.costs;

    (void)state;
    testing_job_init(&t, "core:4", 2);
    t.config.has_path = true;
    t.procs[0].acts = slow;
    t.procs[1].acts = fast;
    testing_job_run(&t);
    assert_int_equal(xy_vjob_path(t.job, &parts), XY_OK);
    assert_int_equal(parts.count, 5);
    assert_int_equal(XY_VEC_AT(&parts, xy_vjob_path_part_t, 0).line, 5);
    assert_true(fabs(part_of(&parts, 5, XY_VJOB_COMPUTING) - 1) < 1e-12);
    assert_true(fabs(part_of(&parts, 6, XY_VJOB_CALLING) - c->send - 1000 / c->copy) < 1e-12);
    assert_true(fabs(part_of(&parts, 8, XY_VJOB_CARRYING) - c->latency) < 1e-12);
    assert_true(fabs(part_of(&parts, 8, XY_VJOB_CALLING) - c->receive - 1000 / c->copy) < 1e-12);
    assert_true(fabs(part_of(&parts, 9, XY_VJOB_COMPUTING) - 0.5) < 1e-12);
    assert_true(part_of(&parts, 7, XY_VJOB_COMPUTING) == 0);
    xy_vec_cleanup(&parts);
    testing_job_cleanup(&t);
}

static void the_path_is_as_long_as_the_job(void **state)
{
    (void)state;
    for (int kind = 0; kind < 9; kind++) {
        xy_vec_t parts = XY_VEC_INIT(xy_vjob_path_part_t);
        double seconds = 0;

        prepare(kind);
        testing_job_run(&t);
        assert_int_equal(xy_vjob_path(t.job, &parts), XY_OK);
        for (size_t i = 0; i < parts.count; i++) {
            assert_true(XY_VEC_AT(&parts, xy_vjob_path_part_t, i).seconds >= 0);
            seconds += XY_VEC_AT(&parts, xy_vjob_path_part_t, i).seconds;
        }
        if (fabs(seconds - xy_vjob_end(t.job)) > 1e-12)
            fail_msg("kind %d: a path of %g s in %g s", kind, seconds, xy_vjob_end(t.job));
        xy_vec_cleanup(&parts);
        testing_job_cleanup(&t);
    }
}

/* ---- Equal runs ---- */

static void equal_jobs_give_equal_bits(void **state)
{
    (void)state;
    for (int kind = 0; kind < 9; kind++) {
        double end, times[PROCS];

        prepare(kind);
        end = testing_job_run(&t);
        for (int p = 0; p < PROCS; p++)
            times[p] = xy_vjob_now(t.job, p);
        testing_job_again(&t);
        t.config.has_path = t.config.has_matrix = false; /* looking on changes nothing */
        assert_memory_equal(&end, &(double){testing_job_run(&t)}, sizeof(end));
        for (int p = 0; p < PROCS; p++)
            assert_memory_equal(&times[p], &(double){xy_vjob_now(t.job, p)}, sizeof(double));
        testing_job_cleanup(&t);
    }
}

/* ---- Traces ---- */

static void traces_have_messages_and_waits(void **state)
{
    char path[64];
    xy_trace_options_t options = {.clock = XY_TRACE_VIRTUAL};
    xy_trace_log_t *log;

    (void)state;
    testing_path(path);
    prepare(3);
    assert_int_equal(xy_trace_create(path, &options, &t.config.trace), XY_OK);
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_int_equal(xy_trace_close(t.config.trace), XY_OK);
    assert_int_equal(xy_trace_read(path, &log), XY_OK);
    assert_int_equal(log->row_count, PROCS);
    assert_true(log->link_count >= 3 * PROCS);
    assert_true(log->state_count >= 6 * PROCS); /* computations, and waits between them */
    assert_int_equal(log->damage.states_clipped, 0);
    assert_true(log->end <= llround(xy_vjob_end(t.job) * 1e9));
    xy_trace_log_free(log);
    unlink(path);
    testing_job_cleanup(&t);
}

/* ---- Memory ---- */

static xy_status_t run_all(void)
{
    xy_status_t st = testing_job_make(&t);

    if (st == XY_OK)
        st = xy_vjob_run(t.job);
    testing_job_again(&t);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int kind = 0; kind < 9; kind += 4) {
        prepare(kind);
        for (long k = 0; testing_fail_next(&k);) {
            const char *fault = testing_fail_fault(&k, run_all());

            if (fault != NULL)
                fail_msg("kind %d, allocation %ld: %s (%s)", kind, k, fault, testing_said);
        }
        xy_error_handler_set(NULL, NULL);
        testing_job_cleanup(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_counted),
        cmocka_unit_test(times_of_a_process_add_up),
        cmocka_unit_test(the_path_goes_where_the_time_goes),
        cmocka_unit_test(the_path_is_as_long_as_the_job),
        cmocka_unit_test(equal_jobs_give_equal_bits),
        cmocka_unit_test(traces_have_messages_and_waits),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
