/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided accesses of simulated jobs: what they cost, and in which order they happen. */
#include <math.h>

#include "testing/sim_job.h"

#define TWO_NODES "node:2(latency=1us bandwidth=10GB/s) core:8"

#define assert_close(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * fabs(b))

static const uint64_t sizes[] = {0, 8, 1000, 4096, 4097, 65536, 65537, 1 << 24};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* Seconds until `acts` of process 0 are complete, while process 1, on `core`, follows `others`. */
static double seconds_of(const testing_act_t *acts, const testing_act_t *others, int core,
                         const xy_coll_link_t *link, double *busy_p)
{
    int32_t cores[] = {0, core};
    xy_vjob_proc_t result;
    testing_job_t t;
    double end;

    testing_job_init(&t, TWO_NODES, 2);
    t.config.core_of = cores;
    t.config.link = link;
    t.procs[0].acts = acts;
    t.procs[1].acts = others;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    xy_vjob_proc(t.job, 0, &result);
    end = result.end;
    if (busy_p != NULL)
        *busy_p = result.communication;
    testing_job_cleanup(&t);
    return end;
}

static const testing_act_t nothing[] = {{0}};

/* Seconds of a message from process 1 to process 0, whose receive waits for it. */
static double message(uint64_t bytes, int core, const xy_coll_link_t *link)
{
    testing_act_t receive[] = {{.kind = DO_RECV, .peer = 1, .bytes = bytes}, {0}};
    testing_act_t send[] = {{.kind = DO_SEND, .peer = 0, .bytes = bytes}, {0}};

    return seconds_of(receive, send, core, link, NULL);
}

static double remote(testing_kind_t kind, uint64_t bytes, int core, const xy_coll_link_t *link)
{
    testing_act_t acts[] = {{.kind = kind, .peer = 1, .bytes = bytes}, {.kind = DO_WAIT}, {0}};

    return seconds_of(acts, nothing, core, link, NULL);
}

static void each_way_takes_as_long_as_a_message(void **state)
{
    xy_coll_link_t link = {.alpha = 3e-6, .beta = 1e-9};
    const xy_coll_link_t *links[] = {NULL, &link};

    (void)state;
    for (int l = 0; l < 2; l++)
        for (int core = 1; core <= 8; core += 7)
            for (int i = 0; i < SIZES; i++) {
                double one = message(sizes[i], core, links[l]), none = message(0, core, links[l]);

                assert_close(remote(DO_PUT, sizes[i], core, links[l]), one);
                assert_close(remote(DO_GET, sizes[i], core, links[l]), none + one);
            }
}

/* The core of the caller sends, and is free while the bytes are on their way. */
static void the_caller_computes_meanwhile(void **state)
{
    testing_act_t acts[] = {{.kind = DO_PUT, .peer = 1, .bytes = 1 << 24},
                            {.kind = DO_COMPUTE, .seconds = 1},
                            {.kind = DO_WAIT},
                            {0}};
    xy_vjob_costs_t c;
    double busy, end;

    (void)state;
    xy_vjob_costs_default(&c);
    end = seconds_of(acts, nothing, 8, NULL, &busy);
    assert_close(busy, c.send);
    assert_close(end, 1 + c.send);
}

/* The process that is written to computes as long as without. */
static void the_target_takes_no_part(void **state)
{
    testing_act_t put[] = {{.kind = DO_PUT, .peer = 1, .bytes = 4096}, {.kind = DO_WAIT}, {0}};
    testing_act_t compute[] = {{.kind = DO_COMPUTE, .seconds = 1}, {0}};
    testing_job_t t;

    (void)state;
    testing_job_init(&t, TWO_NODES, 2);
    t.procs[0].acts = put;
    t.procs[1].acts = compute;
    testing_job_run(&t);
    assert_close(t.procs[1].times[0], 1.0);
    assert_true(t.procs[0].times[1] < 1e-3);
    testing_job_cleanup(&t);
}

/* As one message, as the monitor counts them. */
static void both_ways_are_counted(void **state)
{
    testing_act_t acts[] = {{.kind = DO_PUT, .peer = 1, .bytes = 100},
                            {.kind = DO_GET, .peer = 1, .bytes = 10},
                            {.kind = DO_WAIT},
                            {0}};
    xy_vjob_totals_t totals;
    testing_job_t t;

    (void)state;
    testing_job_init(&t, TWO_NODES, 2);
    t.procs[0].acts = acts;
    t.procs[1].acts = nothing;
    testing_job_run(&t);
    xy_vjob_totals(t.job, &totals);
    assert_int_equal(totals.messages, 2);
    assert_int_equal(totals.bytes, 110);
    testing_job_cleanup(&t);
}

static int32_t order[2];
static int ended;

static void go_and_note_the_end(void *owner, int32_t proc)
{
    testing_job_t *t = owner;

    testing_go(owner, proc);
    if (t->procs[proc].acts[t->procs[proc].at].kind == DO_END)
        order[ended++] = proc;
}

/* A process that is ahead of the clock lets the others come there first. */
static void sync_lets_the_clock_come(void **state)
{
    testing_act_t late[] = {
        {.kind = DO_COMPUTE, .seconds = 2}, {.kind = DO_SYNC}, {.kind = DO_SYNC}, {0}};
    testing_act_t early[] = {{.kind = DO_COMPUTE, .seconds = 1}, {.kind = DO_SYNC}, {0}};
    testing_job_t t;

    (void)state;
    testing_job_init(&t, TWO_NODES, 2);
    t.procs[0].acts = late;
    t.procs[1].acts = early;
    t.config.run = go_and_note_the_end;
    testing_job_run(&t);
    assert_int_equal(ended, 2);
    assert_int_equal(order[0], 1);
    assert_close(t.procs[0].times[2], 2.0);
    assert_close(t.procs[1].times[1], 1.0);
    testing_job_cleanup(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_takes_as_long_as_a_message),
        cmocka_unit_test(the_caller_computes_meanwhile),
        cmocka_unit_test(the_target_takes_no_part),
        cmocka_unit_test(both_ways_are_counted),
        cmocka_unit_test(sync_lets_the_clock_come),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
