/* SPDX-License-Identifier: BSD-3-Clause */
#include "testing/tasks_sim.h"

#include <stdio.h>

static bool needs_positions(const char *policy)
{
    return strcmp(policy, "cache-oblivious") == 0;
}

/* The built-in policies, then that of the example of a plug-in; NULL: no more. */
static const char *policy_name(int i)
{
    static int count;

    while (xy_task_policies[count] != NULL)
        count++;
    return i < count ? xy_task_policies[i]->name : i == count ? EXAMPLE_POLICY : NULL;
}

/* Every policy with every eviction, on random graphs and platforms: dependencies, memories, moved
 * versions and bounds are watched by the witness. */
static void test_policies_are_correct(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 5 : 40); seed++) {
        uint64_t s = seed * 7919;
        xy_graph_t *g;
        xy_task_platform_t *p;

        if (!testing_is_chosen((unsigned)seed, 3))
            continue;
        g = witness_graph(&s, 20 + testing_random_below(&s, 200), 5 + testing_random_below(&s, 40));
        p = witness_platform(&s);
        for (int i = 0; policy_name(i) != NULL; i++)
            for (int e = 0; xy_task_evictions[e].name != NULL; e++) {
                xy_task_result_t r, again;
                witness_t w;
                xy_task_sim_t how = {.policy = policy_name(i),
                                     .eviction = xy_task_evictions[e].name,
                                     .pipeline = testing_random_below(&s, 4),
                                     .observer = &w.observer};

                if (needs_positions(policy_name(i)))
                    continue;
                witness_start(&w, g, p);
                assert_int_equal(xy_task_simulate(g, p, &how, &r), XY_OK);
                witness_finish(&w, &r);
                how.observer = NULL;
                assert_int_equal(xy_task_simulate(g, p, &how, &again), XY_OK);
                assert_true(r.makespan == again.makespan && r.loads == again.loads &&
                            r.stores == again.stores && r.peers == again.peers);
            }
        xy_graph_destroy(g);
        xy_task_platform_destroy(p);
    }
}

/* A grid of n x n data, double-buffered, with positions; 1 row when it is one-dimensional. */
static xy_graph_t *grid(int n, int rows, int iterations)
{
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int i = 0; i < 2 * n * rows; i++)
        xy_graph_add_data(g, &(xy_data_t){.bytes = 1000});
    for (int t = 0; t < iterations; t++)
        for (int x = 0; x < n; x++)
            for (int y = 0; y < rows; y++) {
                int32_t from = t % 2 * n * rows, to = (t + 1) % 2 * n * rows;
                xy_access_t a[6];
                int k = 0;

                a[k++] = (xy_access_t){to + x * rows + y, XY_ACCESS_WRITE};
                a[k++] = (xy_access_t){from + x * rows + y, XY_ACCESS_READ};
                if (x > 0)
                    a[k++] = (xy_access_t){from + (x - 1) * rows + y, XY_ACCESS_READ};
                if (x < n - 1)
                    a[k++] = (xy_access_t){from + (x + 1) * rows + y, XY_ACCESS_READ};
                if (y > 0)
                    a[k++] = (xy_access_t){from + x * rows + y - 1, XY_ACCESS_READ};
                if (y < rows - 1)
                    a[k++] = (xy_access_t){from + x * rows + y + 1, XY_ACCESS_READ};
                xy_graph_add_task(g,
                                  &(xy_op_t){.kind = XY_OP_COMPUTE,
                                             .seconds = 1e-6 * (1 + (x + t) % 3),
                                             .iteration = t,
                                             .position = {x, y, 0}},
                                  a, k);
            }
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    return g;
}

static void test_grids_under_all_policies(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 6; rows += 5)
        for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 2 : 8); seed++) {
            uint64_t s = seed * 104729;
            xy_graph_t *g;
            xy_task_platform_t *p;

            if (!testing_is_chosen((unsigned)seed, 2))
                continue;
            g = grid(13 + (int)seed, rows, 9);
            p = witness_platform(&s);
            for (int i = 0; policy_name(i) != NULL; i++)
                for (int k = 0; k < 2; k++) {
                    xy_task_result_t r;
                    witness_t w;
                    xy_task_sim_t how = {.policy = policy_name(i),
                                         .params.is_proportional = k == 1,
                                         .observer = &w.observer};

                    witness_start(&w, g, p);
                    assert_int_equal(xy_task_simulate(g, p, &how, &r), XY_OK);
                    witness_finish(&w, &r);
                }
            xy_graph_destroy(g);
            xy_task_platform_destroy(p);
        }
}

static xy_task_platform_t *one_gpu(uint64_t memory)
{
    static const char text[] =
        "<machine name='m' version='1'><node><core/><gpus bandwidth='1GB/s'><gpu memory='1MiB' "
        "in-latency='1us' in-bandwidth='1GB/s' out-latency='1us' out-bandwidth='1GB/s'/></gpus>"
        "</node></machine>";
    xy_task_platform_t *p;
    xy_machine_t *m;

    assert_int_equal(xy_machine_parse(text, strlen(text), "test", &m), XY_OK);
    assert_int_equal(xy_task_platform_from(m, &(xy_task_platform_options_t){.memory = memory}, &p),
                     XY_OK);
    xy_machine_destroy(m);
    return p;
}

/* `tasks` tasks; task i reads and writes datum i and reads the next. */
static xy_graph_t *chain(int tasks, uint64_t bytes)
{
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int i = 0; i <= tasks; i++)
        xy_graph_add_data(g, &(xy_data_t){.bytes = bytes});
    for (int i = 0; i < tasks; i++)
        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 10e-6},
                          (xy_access_t[]){{i, XY_ACCESS_READ_WRITE}, {i + 1, XY_ACCESS_READ}}, 2);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    return g;
}

static void test_exact_times(void **state)
{
    xy_task_platform_t *p = one_gpu(10000);
    xy_graph_t *g = chain(1, 1000);
    xy_task_result_t r;

    (void)state;
    /* Two loads of 1 us + 1 us one after the other, 10 us of work, one store. */
    assert_int_equal(xy_task_simulate(g, p, &(xy_task_sim_t){.policy = "eager"}, &r), XY_OK);
    assert_true(r.tasks_end > 13.999e-6 && r.tasks_end < 14.001e-6);
    assert_true(r.makespan > 15.999e-6 && r.makespan < 16.001e-6);
    assert_int_equal(r.loads, 2);
    assert_int_equal(r.stores, 1);
    xy_graph_destroy(g);
    xy_task_platform_destroy(p);
}

/* The narrowest memory in which each task fits: tasks of one pipeline hold what the other lacks,
 * and the younger yields. */
static void test_narrow_memory(void **state)
{
    xy_task_platform_t *p = one_gpu(2000);
    xy_graph_t *g = chain(50, 1000);

    (void)state;
    for (int i = 0; xy_task_policies[i] != NULL; i++)
        for (int pipeline = 1; pipeline <= 8; pipeline++) {
            witness_t w;
            xy_task_result_t r;
            xy_task_sim_t how = {
                .policy = xy_task_policies[i]->name, .pipeline = pipeline, .observer = &w.observer};

            if (needs_positions(xy_task_policies[i]->name))
                continue;
            witness_start(&w, g, p);
            assert_int_equal(xy_task_simulate(g, p, &how, &r), XY_OK);
            witness_finish(&w, &r);
        }
    xy_graph_destroy(g);
    xy_task_platform_destroy(p);
}

/* Each memory holds the data of the largest task and not a byte more, whatever it belongs to and
 * however many are held at once: some task always progresses. */
static void test_narrowest_memories(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 4 : 25); seed++) {
        uint64_t s = seed * 611953, most = 4000;
        xy_graph_t *g = witness_graph(&s, 60, 6 + testing_random_below(&s, 12));
        xy_task_platform_t *p = witness_platform(&s);
        const xy_access_t *a;

        for (xy_op_id_t i = 0; i < xy_graph_ops(g); i++) {
            uint64_t bytes = 0;

            for (int32_t k = xy_graph_accesses(g, i, &a) - 1; k >= 0; k--)
                bytes += xy_graph_data_at(g, a[k].data)->bytes;
            most = bytes > most ? bytes : most;
        }
        for (int32_t m = 1; m < p->memories; m++)
            p->capacity[m] = most;
        for (int i = 0; xy_task_policies[i] != NULL; i++) {
            xy_task_result_t r;
            witness_t w;
            xy_task_sim_t how = {.policy = xy_task_policies[i]->name,
                                 .pipeline = 1 + testing_random_below(&s, 8),
                                 .observer = &w.observer};

            if (needs_positions(xy_task_policies[i]->name) || xy_graph_data_at(g, 0)->home != 0)
                continue;
            witness_start(&w, g, p);
            assert_int_equal(xy_task_simulate(g, p, &how, &r), XY_OK);
            witness_finish(&w, &r);
        }
        xy_graph_destroy(g);
        xy_task_platform_destroy(p);
    }
}

/* Two data that live on the GPU: one is used there, one is pushed out and comes back. */
static void test_homes(void **state)
{
    xy_task_platform_t *p = one_gpu(3000);
    xy_task_result_t r;
    xy_graph_t *g;
    witness_t w;

    (void)state;
    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int i = 0; i < 4; i++)
        xy_graph_add_data(g, &(xy_data_t){.bytes = 1000, .home = i < 2});
    xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 10e-6},
                      (xy_access_t[]){{0, XY_ACCESS_READ_WRITE}}, 1);
    xy_graph_add_task(
        g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 10e-6},
        (xy_access_t[]){{0, XY_ACCESS_READ}, {2, XY_ACCESS_READ}, {3, XY_ACCESS_READ}}, 3);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    witness_start(&w, g, p);
    assert_int_equal(
        xy_task_simulate(g, p, &(xy_task_sim_t){.policy = "eager", .observer = &w.observer}, &r),
        XY_OK);
    witness_finish(&w, &r);
    assert_int_equal(r.loads,
                     3); /* two that live in the main memory, and the one that comes back */
    assert_int_equal(r.stores, 1);
    xy_graph_destroy(g);
    xy_task_platform_destroy(p);
}

static void expect_refusal(const xy_graph_t *g, const xy_task_platform_t *p,
                           const xy_task_sim_t *how, const char *part)
{
    xy_task_result_t r = {.loads = 77};

    testing_listen();
    assert_int_equal(xy_task_simulate(g, p, how, &r), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, part));
    assert_int_equal(r.loads, 77);
    xy_error_handler_set(NULL, NULL);
}

static void test_what_cannot_work_is_said(void **state)
{
    xy_task_platform_t *small = one_gpu(900), *narrow = one_gpu(1900), *wide = one_gpu(9000);
    xy_graph_t *g = chain(3, 1000), *guests;

    (void)state;
    for (int home = 1; home <= 3; home += 2) {
        assert_int_equal(xy_graph_create(&guests), XY_OK);
        xy_graph_add_data(guests, &(xy_data_t){.bytes = 1000, .home = home});
        assert_int_equal(xy_graph_finalize(guests), XY_OK);
        expect_refusal(guests, home == 1 ? small : wide, &(xy_task_sim_t){0},
                       home == 1 ? "placed in memory 1" : "is placed in memory 3");
        xy_graph_destroy(guests);
    }
    expect_refusal(g, small, &(xy_task_sim_t){0}, "datum 0 of task 0");
    expect_refusal(g, narrow, &(xy_task_sim_t){0}, "2 data of task 0");
    expect_refusal(g, wide, &(xy_task_sim_t){.policy = "dmdaz"}, "did you mean 'dmda");
    expect_refusal(g, wide, &(xy_task_sim_t){.policy = "eager", .eviction = "lruu"}, "'lru'");
    expect_refusal(g, wide, &(xy_task_sim_t){.policy = "cache-oblivious"}, "cache-oblivious");
    xy_graph_destroy(g);
    xy_task_platform_destroy(small);
    xy_task_platform_destroy(narrow);
    xy_task_platform_destroy(wide);
}

/* An empty graph and tasks without data are nothing special. */
static void test_nothing(void **state)
{
    xy_task_platform_t *p = one_gpu(2000);

    (void)state;
    for (int tasks = 0; tasks < 3; tasks++)
        for (int i = 0; xy_task_policies[i] != NULL; i++) {
            xy_graph_t *g;
            xy_task_result_t r;

            if (needs_positions(xy_task_policies[i]->name))
                continue;
            assert_int_equal(xy_graph_create(&g), XY_OK);
            for (int k = 0; k < tasks; k++)
                xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1}, NULL, 0);
            assert_int_equal(xy_graph_finalize(g), XY_OK);
            assert_int_equal(
                xy_task_simulate(g, p, &(xy_task_sim_t){.policy = xy_task_policies[i]->name}, &r),
                XY_OK);
            assert_int_equal(r.tasks, tasks);
            xy_graph_destroy(g);
        }
    xy_task_platform_destroy(p);
}

static void test_out_of_memory(void **state)
{
    xy_task_platform_t *p = one_gpu(4000);
    xy_graph_t *g = chain(30, 1000);

    (void)state;
    for (int i = 0; xy_task_policies[i] != NULL; i++) {
        if (needs_positions(xy_task_policies[i]->name))
            continue;
        for (long k = 0; testing_fail_next(&k);) {
            xy_task_sim_t how = {.policy = xy_task_policies[i]->name};
            xy_task_result_t r;

            assert_null(testing_fail_fault(&k, xy_task_simulate(g, p, &how, &r)));
        }
    }
    xy_error_handler_set(NULL, NULL);
    xy_graph_destroy(g);
    xy_task_platform_destroy(p);
}

/* Two GPUs load at the same time through one link of the same rate: each gets half. */
static void test_shared_link(void **state)
{
    static const char text[] =
        "<machine name='m' version='1'><node><core/><gpus bandwidth='1GB/s'><gpu count='2' "
        "memory='1MiB' in-latency='1us' in-bandwidth='1GB/s' out-latency='1us' "
        "out-bandwidth='1GB/s'/></gpus></node></machine>";
    xy_task_platform_t *p;
    xy_task_result_t r;
    xy_machine_t *m;
    xy_graph_t *g;

    (void)state;
    assert_int_equal(xy_machine_parse(text, strlen(text), "test", &m), XY_OK);
    assert_int_equal(xy_task_platform_from(m, &(xy_task_platform_options_t){0}, &p), XY_OK);
    xy_machine_destroy(m);
    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int i = 0; i < 2; i++) {
        int32_t d = xy_graph_add_data(g, &(xy_data_t){.bytes = 10000});

        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 10e-6},
                          (xy_access_t[]){{d, XY_ACCESS_READ}}, 1);
    }
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_task_simulate(g, p, &(xy_task_sim_t){.policy = "eager"}, &r), XY_OK);
    assert_true(r.makespan > 30.999e-6 && r.makespan < 31.001e-6); /* 1 + 20 + 10 us */
    xy_graph_destroy(g);
    xy_task_platform_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies_are_correct),
        cmocka_unit_test(test_grids_under_all_policies),
        cmocka_unit_test(test_exact_times),
        cmocka_unit_test(test_shared_link),
        cmocka_unit_test(test_narrow_memory),
        cmocka_unit_test(test_narrowest_memories),
        cmocka_unit_test(test_homes),
        cmocka_unit_test(test_what_cannot_work_is_said),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
