/* SPDX-License-Identifier: BSD-3-Clause */
/* Split-tree on nodes with one and with several NUMA nodes: the S that is chosen against all
 * others, for every number of ranks. XYLEM_SOAK: more sizes and computations. */
#include <math.h>

#include "sim/sim_forecast.h"
#include "testing/sim.h"

static const xy_collective_t trees[] = {XY_COLL_REDUCE, XY_COLL_BCAST, XY_COLL_GATHER,
                                        XY_COLL_SCATTER, XY_COLL_ALLREDUCE};

typedef struct {
    const char *text;
    int cores;
} machine_t;

static const machine_t machines[] = {
    {TESTING_KNL64, 64}, {TESTING_SKYLAKE48, 48}, {TESTING_HASWELL32, 32}};

static double overlapped(const xy_sim_node_t *node, const xy_graph_t *graph, int split,
                         double compute, int *split_p)
{
    xy_sim_node_t n = *node;
    xy_sim_times_t times;
    xy_sim_t *sim;

    n.split = split;
    assert_int_equal(xy_sim_create(&n, &sim), XY_OK);
    assert_int_equal(xy_sim_measure(sim, graph, compute, &times), XY_OK);
    xy_sim_destroy(sim);
    *split_p = times.split;
    return times.t_ovrl;
}

static double best_of(const xy_sim_node_t *node, const xy_graph_t *graph, double compute)
{
    double best = INFINITY;
    int used;

    for (int s = 0; s <= xy_split_height(node->ranks, 2); s++) {
        best = fmin(best, overlapped(node, graph, s, compute, &used));
        assert_int_equal(used, s);
    }
    return best;
}

/* One rank on every core, nothing to compute: the computation of a program that computes as long as
 * it communicates. */
static double whole(const xy_sim_node_t *node, xy_collective_t collective, int cores,
                    uint64_t bytes)
{
    const char *name = collective == XY_COLL_ALLREDUCE ? "reduce-bcast" : "binomial";
    xy_sim_node_t n = {.machine = node->machine, .ranks = cores, .costs = node->costs};
    xy_graph_t *graph = testing_build(collective, name, cores, bytes);
    xy_sim_result_t result;
    xy_sim_t *sim;

    assert_int_equal(xy_sim_create(&n, &sim), XY_OK);
    assert_int_equal(xy_sim_run(sim, graph, 0, NULL, NULL, &result), XY_OK);
    xy_sim_destroy(sim);
    xy_graph_destroy(graph);
    return result.end;
}

typedef void (*check_fn)(const xy_sim_node_t *node, const xy_graph_t *graph, double compute,
                         xy_collective_t collective, uint64_t bytes);

static void check_machine(const machine_t *machine, uint64_t bytes, int step, check_fn check)
{
    xy_sim_node_t node = {.comm_cores = -1, .progress = XY_SIM_THREADS, .order = "semaphore"};
    xy_machine_t *m;

    assert_int_equal(xy_machine_load(machine->text, &m), XY_OK);
    node.machine = m;
    xy_sim_costs_default(&node.costs);
    for (size_t c = 0; c < sizeof(trees) / sizeof(trees[0]); c++) {
        const char *name = trees[c] == XY_COLL_ALLREDUCE ? "reduce-bcast" : "binomial";
        double all = whole(&node, trees[c], machine->cores, bytes);

        for (node.ranks = machine->cores - 1; node.ranks >= 2; node.ranks -= step) {
            xy_graph_t *graph = testing_build(trees[c], name, node.ranks, bytes);

            check(&node, graph, all * machine->cores / node.ranks, trees[c], bytes);
            xy_graph_destroy(graph);
        }
    }
    xy_machine_destroy(m);
}

/* Every `step`-th number of ranks. */
static void check_all(check_fn check, uint64_t from, uint64_t to, int step)
{
    bool is_soak = testing_is_soak();

    step = is_soak ? 1 : XYLEM_SANITIZED ? 11 : step;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        for (uint64_t bytes = from; bytes <= to; bytes *= is_soak ? 2 : 64)
            check_machine(&machines[i], bytes, step, check);
}

/* The choice of `auto` is at most 3 % slower than the best S. */
static void check_auto(const xy_sim_node_t *node, const xy_graph_t *graph, double compute,
                       xy_collective_t collective, uint64_t bytes)
{
    int split;
    double time = overlapped(node, graph, XY_SIM_SPLIT_AUTO, compute, &split);
    double best = best_of(node, graph, compute);

    if (time > 1.03 * best)
        fail_msg("%s, %llu bytes, %d ranks on %s: S = %d takes %g, the best S %g",
                 xy_coll_name(collective), (unsigned long long)bytes, node->ranks,
                 node->machine->name, split, time, best);
}

static void test_auto(void **state)
{
    (void)state;
    check_all(check_auto, 1 << 10, 4 << 20, 1);
}

/* The curves of one simulation also give the S for other computations: a half and twice as long as
 * the expected one. Small messages are left out: the time that threads need to notice what is ready
 * is not in the curves. */
static void check_curves(const xy_sim_node_t *node, const xy_graph_t *graph, double compute,
                         xy_collective_t collective, uint64_t bytes)
{
    xy_sim_split_t times;
    xy_sim_t *sim;

    assert_int_equal(xy_sim_create(node, &sim), XY_OK);
    assert_int_equal(xy_sim_split_times(sim, graph, compute, &times), XY_OK);
    xy_sim_destroy(sim);
    assert_int_equal(times.height, xy_split_height(node->ranks, 2));
    for (double c = compute / 2; c <= 2 * compute; c *= 4) {
        int split = xy_sim_split_best(&times, c), used;
        double time = overlapped(node, graph, split, c, &used), best = best_of(node, graph, c);

        if (time > 1.03 * best)
            fail_msg("%s, %llu bytes, %d ranks on %s, computing %g: S = %d takes %g, the best %g",
                     xy_coll_name(collective), (unsigned long long)bytes, node->ranks,
                     node->machine->name, c, split, time, best);
    }
}

static void test_curves(void **state)
{
    (void)state;
    check_all(check_curves, 64 << 10, 4 << 20, 5);
}

/* The computation lasts as long as the collective alone, whatever S that has. */
static void test_cpu_exploit(void **state)
{
    xy_graph_t *graph = testing_reduce(60, 1 << 20);
    xy_sim_node_t node = {
        .ranks = 60, .comm_cores = -1, .progress = XY_SIM_THREADS, .order = "semaphore"};
    xy_machine_t *m;
    int split;

    (void)state;
    assert_int_equal(xy_machine_load(TESTING_KNL64, &m), XY_OK);
    node.machine = m;
    xy_sim_costs_default(&node.costs);
    assert_true(overlapped(&node, graph, XY_SIM_SPLIT_AUTO, -1, &split) <=
                best_of(&node, graph, -1) * (1 + 1e-9));
    assert_true(split > 0);
    xy_machine_destroy(m);
    xy_graph_destroy(graph);
}

static void check_rule(xy_collective_t collective, int comm_cores, const char *place)
{
    xy_sim_case_t of = {.collective = collective,
                        .ranks = 60,
                        .cores = 60,
                        .comm_cores = comm_cores,
                        .is_threads = true,
                        .transfer = 1e-6,
                        .split = -1};
    xy_split_t tree = xy_coll_split(collective, 60, 60, comm_cores);

    xy_sim_choose(NULL, &of);
    assert_string_equal(of.place->name, place);
    assert_ptr_equal(of.order, xy_order_usual());
    assert_int_equal(of.split, xy_split_best(&tree));
}

/* Without a forecast, and only what is open. */
static void test_rule(void **state)
{
    xy_sim_case_t given = {.collective = XY_COLL_SCAN,
                           .ranks = 60,
                           .cores = 60,
                           .is_threads = true,
                           .place = xy_table_find(XY_TABLE(xy_threads_all), "bind"),
                           .order = xy_table_find(XY_TABLE(xy_order_all), "suspend"),
                           .split = 2};
    xy_sim_case_t measured = {
        .collective = XY_COLL_BCAST, .ranks = 62, .cores = 62, .comm_cores = 2, .transfer = 1e-6};
    xy_split_t tree = xy_coll_split(XY_COLL_BCAST, 62, 62, 2);

    (void)state;
    check_rule(XY_COLL_SCAN, 4, "odd-even");
    check_rule(XY_COLL_ALLTOALL, 4, "bind");
    check_rule(XY_COLL_ALLTOALL, 40, "numa");
    check_rule(XY_COLL_ALLTOALL, 0, "numa");
    check_rule(XY_COLL_REDUCE, 1, "bind");
    check_rule(XY_COLL_REDUCE, 40, "numa");
    xy_sim_choose(NULL, &given);
    assert_string_equal(given.place->name, "bind");
    assert_string_equal(given.order->name, "suspend");
    assert_int_equal(given.split, 2);
    /* Beside much computation all of the tree is hidden, beside little as much as with the model.
     */
    tree.has_compute = true;
    for (double transfers = 1; transfers <= 128; transfers *= 128) {
        tree.compute = transfers;
        measured.computed = transfers * measured.transfer;
        measured.split = -1;
        xy_sim_choose(NULL, &measured);
        assert_int_equal(measured.split, xy_split_best(&tree));
    }
    assert_int_equal(measured.split, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_cpu_exploit),
        cmocka_unit_test(test_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
