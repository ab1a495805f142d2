/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulation under the assumptions of the published model gives the model's numbers: for every
 * number of ranks and every S, and with them all its switch points. */
#include <math.h>

#include "testing/sim.h"

typedef xy_graph_t *(*build_fn)(int n, uint64_t bytes);

/* T of a machine of `cores` with `ranks`, simulated and by the formula, must be the same. */
static double time_of(const xy_machine_t *m, build_fn build, int cores, int ranks, int split,
                      bool is_growing)
{
    xy_split_t model = {.cores = cores, .ranks = ranks, .base = 2, .is_doubling = is_growing};
    double compute = xy_split_compute(&model), expected = xy_split_overlapped(&model, split);
    xy_sim_node_t node = {.machine = m,
                          .ranks = ranks,
                          .comm_cores = -1,
                          .split = split,
                          .model = is_growing ? XY_SIM_MODEL_GROWING : XY_SIM_MODEL_CONSTANT};
    xy_graph_t *g = build(ranks, 1 << 20);
    xy_sim_result_t result;
    xy_sim_t *sim;

    assert_int_equal(xy_sim_create(&node, &sim), XY_OK);
    assert_int_equal(xy_sim_run(sim, g, compute, NULL, NULL, &result), XY_OK);
    if (fabs(result.end - expected) > 1e-9)
        fail_msg("%d ranks, S = %d: simulated %g, model %g", ranks, split, result.end, expected);
    xy_sim_destroy(sim);
    xy_graph_destroy(g);
    return result.end;
}

/* Simulate every S for every number of ranks; `points` are where the best S changes. */
static void check(build_fn build, int cores, bool is_growing, const int *points, int count)
{
    xy_machine_t *m;
    int best_ranks = 0, before = 0;
    double least = INFINITY;

    assert_int_equal(xy_machine_load(cores == 64 ? TESTING_KNL64 : TESTING_SKYLAKE48, &m), XY_OK);
    for (int n = 2; n < cores; n++) {
        double best = INFINITY;
        int split = 0;

        for (int s = 0; s <= xy_split_height(n, 2); s++) {
            double t = time_of(m, build, cores, n, s, is_growing);

            if (s == 0 && t < least)
                least = t, best_ranks = n;
            if (t < best * (1 - 1e-12))
                best = t, split = s;
        }
        for (; before < split; before++) {
            assert_in_range(before, 0, count - 1);
            assert_int_equal(points[before], n);
        }
    }
    assert_int_equal(before, count);
    if (cores == 64 && !is_growing) {
        assert_int_equal(best_ranks, 51);
        assert_true(fabs(least - 7.529) < 0.001);
    }
    xy_machine_destroy(m);
}

static void test_constant(void **state)
{
    static const int knl[] = {52, 58, 62}, skylake[] = {39, 44, 47};

    (void)state;
    check(testing_reduce, 64, false, knl, 3);
    check(testing_bcast, 64, false, knl, 3);
    check(testing_reduce, 48, false, skylake, 3);
    check(testing_bcast, 48, false, skylake, 3);
}

static void test_growing(void **state)
{
    static const int knl[] = {58, 60, 61, 63}, skylake[] = {44, 45, 46};

    (void)state;
    check(testing_gather, 64, true, knl, 4);
    check(testing_scatter, 64, true, knl, 4);
    check(testing_gather, 48, true, skylake, 3);
    check(testing_scatter, 48, true, skylake, 3);
}

/* Reduce then broadcast: both split parts, one engine part of each. */
static void test_allreduce(void **state)
{
    (void)state;
    for (int n = 2; n < 64; n++)
        for (int s = 0; s <= 6; s++) {
            xy_split_t m = {.cores = 64, .ranks = n, .base = 2, .has_compute = true};
            xy_graph_t *g = testing_allreduce(n, 1 << 20);
            xy_sim_node_t node = {.ranks = n,
                                  .comm_cores = -1,
                                  .split = s,
                                  .model = XY_SIM_MODEL_CONSTANT,
                                  .costs = {.copy = 1}};
            double front = s < xy_split_height(n, 2) ? s : xy_split_height(n, 2);
            double engine = 2 * (xy_split_overlapped(&m, s) - front);
            xy_sim_result_t r = testing_run(TESTING_KNL64, node, g, 5);

            assert_true(fabs(r.end - (2 * front + fmax(5, engine))) < 1e-9);
            xy_graph_destroy(g);
        }
}

static void test_auto(void **state)
{
    (void)state;
    for (int n = 40; n < 64; n++) {
        xy_split_t model = {.cores = 64, .ranks = n, .base = 2};
        xy_graph_t *g = testing_reduce(n, 1 << 20);
        xy_sim_node_t node = {.ranks = n,
                              .comm_cores = -1,
                              .split = XY_SIM_SPLIT_AUTO,
                              .model = XY_SIM_MODEL_CONSTANT,
                              .costs = {.copy = 1}};
        xy_sim_result_t r = testing_run(TESTING_KNL64, node, g, xy_split_compute(&model));

        assert_int_equal(r.split, xy_split_best(&model));
        xy_graph_destroy(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_allreduce),
        cmocka_unit_test(test_auto),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
