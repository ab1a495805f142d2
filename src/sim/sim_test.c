/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything runs, whatever the policy; no run is shorter than its bounds; equal runs are equal. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "sched/sched.h"
#include "testing/graph.h"
#include "testing/sim.h"

/* At least the computation, the longest path, and all work on all cores. */
static void check_run(const xy_machine_t *m, xy_sim_node_t node, const xy_graph_t *g,
                      double compute)
{
    double finish[64], again[64];
    xy_sim_result_t r, r2;
    xy_sim_t *sim;
    double cores = xy_machine_count(m, XY_OBJ_CORE);

    node.machine = m;
    xy_sim_costs_default(&node.costs);
    node.costs.piece = node.split % 2 == 0 ? 4096 : 0;
    assert_int_equal(xy_sim_create(&node, &sim), XY_OK);
    assert_int_equal(xy_sim_run(sim, g, compute, finish, NULL, &r), XY_OK);
    assert_int_equal(xy_sim_run(sim, g, compute, again, NULL, &r2), XY_OK);
    assert_memory_equal(finish, again, (size_t)node.ranks * sizeof(double));
    assert_true(r.end == r2.end && r.ops == r2.ops);
    assert_true(r.end >= compute);
    assert_true(node.progress == XY_SIM_NONE || node.split > 0 ||
                r.end * 1.000001 >= xy_sim_bound(sim, compute, r.work));
    assert_true(r.end * cores * 1.000001 >= r.work + node.ranks * compute);
    for (int i = 0; i < node.ranks; i++)
        assert_true(finish[i] >= compute && finish[i] <= r.end);
    xy_sim_destroy(sim);
}

static void check_policies(const xy_machine_t *m, const xy_graph_t *g, int ranks, double compute)
{
    static const char *const places[] = {"numa", "odd-even", "bind"};

    for (int split = 0; split <= 3; split += XYLEM_SANITIZED ? 3 : 1) {
        xy_sim_node_t node = {.ranks = ranks, .comm_cores = -1, .split = split};

        node.progress = XY_SIM_NONE;
        check_run(m, node, g, compute);
        node.progress = XY_SIM_TASKS;
        check_run(m, node, g, compute);
        node.progress = XY_SIM_THREADS;
        for (int p = 0; p < 3; p++)
            for (int o = 0; xy_order_all[o] != NULL; o++) {
                node.threads = places[p];
                node.order = xy_order_all[o]->name;
                node.priority = 7;
                check_run(m, node, g, compute);
            }
    }
}

/* Vectors of counts for those collectives that take them: all blocks alike. */
static void test_all_collectives(void **state)
{
    static const xy_collective_t collectives[] = {
        XY_COLL_BARRIER, XY_COLL_BCAST,     XY_COLL_GATHER,
        XY_COLL_SCATTER, XY_COLL_ALLGATHER, XY_COLL_ALLTOALL,
        XY_COLL_REDUCE,  XY_COLL_ALLREDUCE, XY_COLL_REDUCE_SCATTER_BLOCK,
        XY_COLL_SCAN,    XY_COLL_EXSCAN};
    xy_machine_t *m;

    (void)state;
    assert_int_equal(xy_machine_load("numa:2 core:8", &m), XY_OK);
    for (size_t c = 0; c < sizeof(collectives) / sizeof(collectives[0]); c++)
        for (int i = 0; xy_coll_algorithms()[i] != NULL; i++) {
            const xy_coll_algorithm_t *a = xy_coll_algorithms()[i];

            for (int n = 1; n <= 16 && a->collectives >> collectives[c] & 1;
                 n += XYLEM_SANITIZED ? 15 : 5) {
                xy_coll_request_t q = {.collective = collectives[c],
                                       .procs = n,
                                       .count = 2048,
                                       .element = 8,
                                       .is_commutative = true};
                xy_graph_t *g;

                if (!xy_coll_is_applicable(a, &q))
                    continue;
                assert_int_equal(xy_coll_build(&q, &xy_coll_link_default, a, &g), XY_OK);
                check_policies(m, g, n, n % 2 == 0 ? 0 : 1e-4);
                xy_graph_destroy(g);
            }
        }
    xy_machine_destroy(m);
}

/* Without contention and without costs but copies, nothing is faster than the longest path; with
 * enough cores tasks are exactly as fast. */
static double seconds_of(const xy_op_t *op)
{
    return op->kind >= XY_OP_MOVE ? (double)op->bytes : 0;
}

static void test_longest_path(void **state)
{
    (void)state;
    for (int n = 2; n <= 16; n++) {
        xy_graph_t *g = testing_allreduce(n, 800);
        double path = testing_longest_path(g, seconds_of);
        xy_sim_node_t node = {.ranks = n,
                              .comm_cores = -1,
                              .progress = XY_SIM_TASKS,
                              .costs = {.copy = 1, .reduce = 1}};

        assert_true(fabs(testing_run("core:64", node, g, 0).end - path) < 1e-6);
        node.progress = XY_SIM_THREADS;
        assert_true(testing_run("core:64", node, g, 0).end >= path - 1e-6);
        xy_graph_destroy(g);
    }
}

/* The time that an algorithm states is the time it takes here, where the rules are the same:
 * messages cost what the link says, and no rank receives from several at once or copies while it
 * could send. */
static void test_stated_times(void **state)
{
    static const struct {
        xy_collective_t collective;
        const char *algorithm;
    } exact[] = {
        {XY_COLL_BARRIER, "dissemination"},
        {XY_COLL_BCAST, "binomial"},
        {XY_COLL_BCAST, "chain"},
        {XY_COLL_ALLGATHER, "ring"},
        {XY_COLL_ALLGATHER, "recursive-doubling"},
        {XY_COLL_ALLTOALL, "pairwise"},
        {XY_COLL_ALLTOALL, "bruck"},
        {XY_COLL_REDUCE, "binomial"},
        {XY_COLL_REDUCE, "rabenseifner"},
        {XY_COLL_ALLREDUCE, "recursive-doubling"},
        {XY_COLL_ALLREDUCE, "rabenseifner"},
        {XY_COLL_ALLREDUCE, "ring"},
        {XY_COLL_ALLREDUCE, "reduce-bcast"},
        {XY_COLL_REDUCE_SCATTER_BLOCK, "pairwise"},
        {XY_COLL_SCAN, "chain"},
        {XY_COLL_EXSCAN, "chain"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
        for (int p = 1; p <= 33; p++) {
            bool is_power = (p & (p - 1)) == 0;
            xy_sim_node_t node = {.ranks = p, .link = &xy_coll_link_default, .costs = {.copy = 1}};
            xy_graph_t *g;
            double stated;

            if (strcmp(exact[i].algorithm, "recursive-doubling") == 0 && !is_power &&
                exact[i].collective == XY_COLL_ALLGATHER)
                continue;
            g = testing_build(exact[i].collective, exact[i].algorithm, p, 32768);
            stated = xy_coll_count(g, &xy_coll_link_default);
            assert_true(fabs(testing_run("core:33", node, g, 0).end - stated) <= 1e-9 * stated);
            xy_graph_destroy(g);
        }
}

/* n copies at once through a memory that carries k of them: n / k times as long. */
static void test_contention(void **state)
{
    (void)state;
    for (int n = 2; n <= 32; n += 2) {
        xy_graph_t *g;
        xy_sim_node_t node = {.ranks = n, .costs = {.copy = 100, .numa = 800}};

        assert_int_equal(xy_graph_create(&g), XY_OK);
        for (int r = 0; r < n; r += 2)
            xy_graph_add_op(g, &(xy_op_t){.kind = XY_OP_MOVE,
                                          .actor = r + 1,
                                          .from = {r, XY_BUFFER_SEND, 0},
                                          .to = {r + 1, XY_BUFFER_RECEIVE, 0},
                                          .bytes = 1000});
        assert_int_equal(xy_graph_finalize(g), XY_OK);
        assert_true(fabs(testing_run("core:64", node, g, 0).end - 10 * fmax(1, n / 16.0)) < 1e-9);
        xy_graph_destroy(g);
    }
}

/* Ranks in Wait help: with one communication core and all ranks waiting, nearly all cores work. */
static void test_help(void **state)
{
    xy_graph_t *g = testing_reduce(63, 2 << 20);
    xy_sim_node_t node = {.ranks = 63, .comm_cores = -1, .progress = XY_SIM_TASKS};
    xy_sim_result_t helped = testing_run(TESTING_KNL64, node, g, 0), alone;

    (void)state;
    node.help = XY_SIM_HELP_NOT;
    alone = testing_run(TESTING_KNL64, node, g, 0);
    assert_true(helped.helped > helped.ops / 2);
    assert_int_equal(alone.helped, 0);
    assert_true(alone.end > 10 * helped.end);
    xy_graph_destroy(g);
}

static void test_errors(void **state)
{
    xy_graph_t *g = testing_bcast(9, 8);
    xy_machine_t *m;
    xy_sim_t *sim;
    xy_sim_result_t r;
    xy_sim_node_t node = {.ranks = 9, .comm_cores = -1};

    (void)state;
    assert_int_equal(xy_machine_load("core:8", &m), XY_OK);
    testing_listen();
    node.machine = m;
    assert_int_equal(xy_sim_create(&node, &sim), XY_EINVAL);
    assert_string_equal(testing_said, "9 ranks on 8 cores; a simulated node has 1 to 8 ranks");
    node.ranks = 8;
    node.progress = XY_SIM_TASKS;
    node.help = XY_SIM_HELP_NOT;
    assert_int_equal(xy_sim_create(&node, &sim), XY_EINVAL);
    assert_non_null(strstr(testing_said, "would not progress"));
    node.order = "random";
    assert_int_equal(xy_sim_create(&node, &sim), XY_EUSAGE);
    node = (xy_sim_node_t){.machine = m, .ranks = 8, .progress = XY_SIM_THREADS, .threads = "smt"};
    assert_int_equal(xy_sim_create(&node, &sim), XY_EUNSUPPORTED);
    node.threads = "bind";
    assert_int_equal(xy_sim_create(&node, &sim), XY_OK);
    assert_int_equal(xy_sim_run(sim, g, 0, NULL, NULL, &r), XY_EINVAL);
    assert_non_null(strstr(testing_said, "9 ranks cannot run on a simulated node of 8"));
    xy_sim_destroy(sim);
    xy_graph_destroy(g);
    xy_machine_destroy(m);
}

static void test_named_cores(void **state)
{
    xy_machine_t *m;
    xy_sim_t *sim;
    int cores[] = {3, 7}, ranked[] = {0};
    xy_sim_node_t node = {
        .ranks = 4, .progress = XY_SIM_TASKS, .comm_list = cores, .comm_cores = 2};

    (void)state;
    assert_int_equal(xy_machine_load("core:8", &m), XY_OK);
    node.machine = m;
    assert_int_equal(xy_sim_create(&node, &sim), XY_OK);
    assert_int_equal(xy_sim_comm_cores(sim), 2);
    xy_sim_destroy(sim);
    testing_listen();
    node.comm_list = ranked;
    node.comm_cores = 1;
    assert_int_equal(xy_sim_create(&node, &sim), XY_EINVAL);
    assert_non_null(strstr(testing_said, "has rank 0 on it"));
    ranked[0] = 8;
    assert_int_equal(xy_sim_create(&node, &sim), XY_EINVAL);
    assert_non_null(strstr(testing_said, "there are cores 0 to 7"));
    xy_machine_destroy(m);
}

static void test_memory_runs_out(void **state)
{
    xy_graph_t *g = testing_allreduce(6, 64 << 10);
    xy_machine_t *m;

    (void)state;
    assert_int_equal(xy_machine_load("numa:2 core:4", &m), XY_OK);
    testing_listen();
    for (int mode = XY_SIM_NONE; mode <= XY_SIM_TASKS; mode++)
        for (long k = 1;; k++) {
            xy_sim_node_t node = {
                .machine = m, .ranks = 6, .comm_cores = -1, .progress = (xy_sim_progress_t)mode};
            xy_sim_t *sim = NULL;
            xy_sim_result_t r;
            xy_status_t st;
            int is_hit;

            xy_sim_costs_default(&node.costs);
            xy_memory_fail_at(k);
            st = xy_sim_create(&node, &sim);
            if (st == XY_OK)
                st = xy_sim_run(sim, g, 1e-3, NULL, NULL, &r);
            is_hit = xy_memory_fail_hit();
            xy_memory_fail_at(0);
            xy_sim_destroy(sim);
            if (!is_hit) {
                assert_int_equal(st, XY_OK);
                break;
            }
            assert_int_equal(st, XY_ENOMEM);
        }
    xy_graph_destroy(g);
    xy_machine_destroy(m);
}

/* One row per core; ranks compute for the given time, and the rest adds up. */
static void test_trace(void **state)
{
    char path[] = "/tmp/xylem-sim-XXXXXX";
    int fd = mkstemp(path);
    xy_graph_t *g = testing_reduce(6, 1 << 20);
    xy_sim_node_t node = {.ranks = 6, .comm_cores = -1, .progress = XY_SIM_TASKS};
    xy_machine_t *m;
    xy_sim_t *sim;
    xy_sim_result_t r;
    xy_trace_t *trace;
    xy_trace_log_t *log;
    xy_trace_summary_t *sum;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(xy_machine_load("core:8", &m), XY_OK);
    node.machine = m;
    xy_sim_costs_default(&node.costs);
    assert_int_equal(xy_sim_create(&node, &sim), XY_OK);
    assert_int_equal(
        xy_trace_create(path, &(xy_trace_options_t){.clock = XY_TRACE_VIRTUAL}, &trace), XY_OK);
    assert_int_equal(xy_sim_run(sim, g, 2e-3, NULL, trace, &r), XY_OK);
    assert_int_equal(xy_trace_close(trace), XY_OK);
    assert_int_equal(xy_trace_read(path, &log), XY_OK);
    assert_int_equal(log->row_count, 8);
    assert_int_equal(log->end, llround(r.end * 1e9));
    assert_int_equal(xy_trace_summarize(log, &sum), XY_OK);
    for (size_t i = 0; i < 8; i++)
        assert_true(sum->rows[i].compute == (strstr(log->rows[i].name, "rank") ? 2e6 : 0));
    xy_trace_summary_free(sum);
    xy_trace_log_free(log);
    xy_sim_destroy(sim);
    xy_graph_destroy(g);
    xy_machine_destroy(m);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_collectives),
        cmocka_unit_test(test_longest_path),
        cmocka_unit_test(test_contention),
        cmocka_unit_test(test_stated_times),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_named_cores),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_trace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
