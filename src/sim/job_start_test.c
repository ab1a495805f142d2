/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a simulated job that others start: when they begin, whom they share a core with. */
#include <math.h>

#include "testing/sim_job.h"

#define NODES "node:2(latency=1us bandwidth=10GB/s) core:4"

#define assert_close(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * fabs(b))

static testing_job_t t;

static void begin(int32_t procs, int32_t room)
{
    testing_job_init(&t, NODES, procs);
    testing_job_room(&t, room);
}

/* Seconds of a message without data from core 0. */
static double message_to(int32_t core)
{
    testing_act_t send[] = {{.kind = DO_SEND, .peer = 1}, {0}};
    testing_act_t receive[] = {{.kind = DO_RECV, .peer = 0}, {0}};
    int32_t cores[] = {0, core};
    double end;

    testing_job_init(&t, NODES, 2);
    t.config.core_of = cores;
    t.procs[0].acts = send;
    t.procs[1].acts = receive;
    testing_job_run(&t);
    end = t.procs[1].times[0];
    testing_job_cleanup(&t);
    return end;
}

static void each_takes_a_start_and_a_message(void **state)
{
    testing_act_t first[] = {{.kind = DO_COMPUTE, .seconds = 1},
                             {.kind = DO_START, .peer = 1, .tag = 1},
                             {.kind = DO_START, .peer = 2, .tag = 5},
                             {0}};
    testing_act_t work[] = {{.kind = DO_COMPUTE, .seconds = 2}, {0}};
    double near = message_to(1), far = message_to(5), start;
    xy_vjob_proc_t result;

    (void)state;
    begin(1, 3);
    start = t.config.costs.start;
    assert_true(start > 0);
    t.procs[0].acts = first;
    t.procs[1].acts = t.procs[2].acts = work;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_close(t.procs[0].times[2], 1 + 2 * start);
    assert_close(t.procs[1].times[0], 1 + start + near + 2);
    assert_close(t.procs[2].times[0], 1 + 2 * start + far + 2);
    xy_vjob_proc(t.job, 2, &result);
    assert_close(result.compute, 2.0);
    assert_true(fabs(result.idle) < 1e-12); /* the time before it began is none of its own */
    testing_job_cleanup(&t);
}

/* One that ended before is used again, on another core; what it left behind is gone. */
static void a_number_is_used_again(void **state)
{
    testing_act_t first[] = {
        {.kind = DO_START, .peer = 1, .tag = 4}, {.kind = DO_SLEEP, .seconds = 1},
        {.kind = DO_START, .peer = 1, .tag = 6}, {.kind = DO_SLEEP, .seconds = 1},
        {.kind = DO_START, .peer = 1, .tag = 6}, {0}};
    testing_act_t again[] = {{.kind = DO_IRECV, .peer = 1, .tag = 2},
                             {.kind = DO_TEST},
                             {.kind = DO_CANCEL},
                             {.kind = DO_WAIT},
                             {.kind = DO_SEND, .peer = 1, .tag = 2, .bytes = 8},
                             {0}};
    xy_vjob_proc_t result;

    (void)state;
    begin(1, 2);
    t.procs[0].acts = first;
    t.procs[1].acts = again;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_false(t.procs[1].flag); /* sent by the previous one */
    xy_vjob_proc(t.job, 1, &result);
    assert_int_equal(result.messages, 3);
    assert_true(xy_vjob_is_over(t.job, 1));
    testing_job_cleanup(&t);
}

/* The new one waits until the one that computes there yields, and both take turns. */
static void cores_are_shared(void **state)
{
    testing_act_t first[] = {{.kind = DO_START, .peer = 2, .tag = 1}, {0}};
    testing_act_t busy[] = {{.kind = DO_COMPUTE, .seconds = 1}, {.kind = DO_SYNC}, {0}};
    testing_act_t work[] = {{.kind = DO_COMPUTE, .seconds = 1}, {.kind = DO_SYNC}, {0}};

    (void)state;
    begin(2, 3);
    t.procs[0].acts = first;
    t.procs[1].acts = busy;
    t.procs[2].acts = work;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_true(t.procs[2].times[0] >= 2);
    assert_true(t.procs[2].times[0] < 2 + 1e-3);
    testing_job_cleanup(&t);
}

/* A process that has ended leaves its core: the next one there is alone. */
static void who_has_ended_leaves_its_core(void **state)
{
    testing_act_t first[] = {
        {.kind = DO_SLEEP, .seconds = 3}, {.kind = DO_START, .peer = 2, .tag = 1}, {0}};
    testing_act_t busy[] = {{.kind = DO_COMPUTE, .seconds = 1}, {0}};
    testing_act_t work[] = {{.kind = DO_COMPUTE, .seconds = 1}, {.kind = DO_SYNC}, {0}};
    double near = message_to(1);

    (void)state;
    begin(2, 3);
    t.procs[0].acts = first;
    t.procs[1].acts = busy;
    t.procs[2].acts = work;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_close(t.procs[2].times[0], 3 + t.config.costs.start + near + 1);
    testing_job_cleanup(&t);
}

/* One that was started and waits for what never comes is found. */
static void it_can_be_stuck(void **state)
{
    testing_act_t first[] = {{.kind = DO_START, .peer = 1, .tag = 1}, {0}};
    testing_act_t wait[] = {{.kind = DO_RECV, .peer = 0}, {0}};

    (void)state;
    begin(1, 2);
    t.procs[0].acts = first;
    t.procs[1].acts = wait;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_EINVAL);
    assert_int_equal(t.stuck, 1);
    assert_false(xy_vjob_is_over(t.job, 1));
    testing_job_cleanup(&t);
}

/* A tree of processes on cores at random, each of which sends to the one that has started it. */
enum { ALL = 24 };

static double run_tree(uint64_t seed, double times[ALL])
{
    testing_act_t acts[ALL][2 * ALL + 2];
    int count[ALL] = {0}, parent[ALL];
    double end;

    memset(acts, 0, sizeof(acts));
    for (int p = 1; p < ALL; p++) {
        int core = testing_random_below(&seed, 8);

        parent[p] = testing_random_below(&seed, p);
        acts[parent[p]][count[parent[p]]++] =
            (testing_act_t){.kind = DO_START, .peer = p, .tag = core};
    }
    for (int p = 1; p < ALL; p++) {
        uint64_t bytes = (uint64_t)testing_random_below(&seed, 100000);

        acts[parent[p]][count[parent[p]]++] = (testing_act_t){.kind = DO_IRECV, .peer = p};
        acts[p][count[p]++] = (testing_act_t){.kind = DO_ISEND, .peer = parent[p], .bytes = bytes};
    }
    for (int p = 0; p < ALL; p++)
        acts[p][count[p]++] = (testing_act_t){.kind = DO_WAIT};
    begin(1, ALL);
    for (int p = 0; p < ALL; p++)
        t.procs[p].acts = acts[p];
    end = testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    for (int p = 0; p < ALL; p++)
        times[p] = t.procs[p].times[count[p] - 1];
    testing_job_cleanup(&t);
    return end;
}

static void runs_are_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        double first[ALL], second[ALL], end = run_tree(seed, first);

        assert_true(end == run_tree(seed, second));
        assert_memory_equal(first, second, sizeof(first));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_takes_a_start_and_a_message),
        cmocka_unit_test(a_number_is_used_again),
        cmocka_unit_test(cores_are_shared),
        cmocka_unit_test(who_has_ended_leaves_its_core),
        cmocka_unit_test(it_can_be_stuck),
        cmocka_unit_test(runs_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
