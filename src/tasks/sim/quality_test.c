/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Xylem's own policy against all others, on graphs that have nothing in common: never more than 2 %
 * behind the best of them, as it tries them all and only stops short of what cannot be better.
 * Stencils are in src/stencil/quality_test.c, many more of all in bench/policies.c.
 */
#include "testing/tasks_sim.h"

#include "tasks/sim/graphs_test.h"

static xy_task_platform_t *gpus(int count, uint64_t memory)
{
    static const char text[] =
        "<machine name='m' version='1'><node><core/><gpus bandwidth='6.5GB/s' peer-latency='15us' "
        "peer-bandwidth='5.3GB/s'><gpu count='4' memory='1GiB' in-latency='10us' "
        "in-bandwidth='6GB/s' out-latency='10us' out-bandwidth='6.5GB/s'/></gpus></node></machine>";
    xy_task_platform_t *p;
    xy_machine_t *m;

    assert_int_equal(xy_machine_parse(text, strlen(text), "test", &m), XY_OK);
    assert_int_equal(xy_task_platform_from(
                         m, &(xy_task_platform_options_t){.gpus = count, .memory = memory}, &p),
                     XY_OK);
    xy_machine_destroy(m);
    return p;
}

static void compare(const xy_graph_t *g, int count, uint64_t memory, const char *what)
{
    xy_task_platform_t *p = gpus(count, memory);
    double own = 0, best = 0;
    const char *who = "";

    for (int i = 0; xy_task_policies[i] != NULL; i++) {
        xy_task_result_t r;

        if (strcmp(xy_task_policies[i]->name, "cache-oblivious") == 0)
            continue; /* it needs positions */
        assert_int_equal(
            xy_task_simulate(g, p, &(xy_task_sim_t){.policy = xy_task_policies[i]->name}, &r),
            XY_OK);
        if (i == 0) {
            own = r.makespan;
        } else if (best == 0 || r.makespan < best) {
            best = r.makespan;
            who = xy_task_policies[i]->name;
        }
    }
    if (own > 1.0201 * best)
        fail_msg("%s on %d GPUs: %g s, %s takes %g s", what, count, own, who, best);
    xy_task_platform_destroy(p);
}

static void test_cholesky(void **state)
{
    xy_graph_t *g = task_graph_cholesky(XYLEM_SANITIZED ? 8 : 14, 32 << 20, 4e-3);

    (void)state;
    assert_non_null(g);
    for (int count = 1; count <= 4; count *= 2)
        for (uint64_t tiles = 12; tiles <= 48; tiles *= 2)
            compare(g, count, tiles << 25, "Cholesky");
    xy_graph_destroy(g);
}

static void test_product(void **state)
{
    xy_graph_t *g = task_graph_product(XYLEM_SANITIZED ? 5 : 9, 8 << 20, 1e-3);

    (void)state;
    assert_non_null(g);
    for (int count = 1; count <= 4; count *= 2)
        for (uint64_t tiles = 15; tiles <= 60; tiles *= 2)
            compare(g, count, tiles << 23, "product");
    xy_graph_destroy(g);
}

/* Random graphs have no structure to find; nothing may go badly wrong either. */
static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 2 : 6); seed++) {
        uint64_t s = seed * 48611;
        xy_graph_t *g = witness_graph(&s, 400, 60);

        compare(g, 1, 40000, "a random graph");
        compare(g, 2, 40000, "a random graph");
        xy_graph_destroy(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
