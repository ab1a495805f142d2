/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives of a job against the simulated node alone: with the same costs they take
 * the same time, alone and beside a computation. */
#include "testing/sim.h"
#include "testing/sim_job.h"

enum { CORES = 16, COMM = 2, RANKS = CORES - COMM };

typedef struct {
    xy_collective_t collective;
    xy_sim_progress_t progress;
    const char *place, *order;
    int split;
    const char *algorithm;
} case_t;

static const case_t cases[] = {
    {XY_COLL_ALLREDUCE, XY_SIM_TASKS, NULL, NULL, 0, "direct"},
    {XY_COLL_BCAST, XY_SIM_TASKS, NULL, NULL, 0, "direct"},
    {XY_COLL_ALLTOALL, XY_SIM_TASKS, NULL, NULL, 0, "direct"},
    {XY_COLL_REDUCE, XY_SIM_TASKS, NULL, NULL, 2, "binomial"},
    {XY_COLL_SCATTER, XY_SIM_TASKS, NULL, NULL, 1, "binomial"},
    {XY_COLL_BCAST, XY_SIM_THREADS, "numa", "semaphore", 2, "binomial"},
    {XY_COLL_REDUCE, XY_SIM_THREADS, "odd-even", "semaphore", 1, "binomial"},
    {XY_COLL_ALLREDUCE, XY_SIM_THREADS, "numa", "suspend", 3, "reduce-bcast"},
    {XY_COLL_GATHER, XY_SIM_THREADS, "bind", "semaphore", 1, "binomial"},
    {XY_COLL_GATHER, XY_SIM_NONE, NULL, NULL, 2, "binomial"},
};

static testing_job_t job;

static double in_job(const case_t *c, uint64_t count, double compute)
{
    const int32_t comm[COMM] = {7, 15};
    const xy_threads_t *places[XY_COLL_COUNT];
    const xy_order_t *orders[XY_COLL_COUNT];
    testing_act_t acts[] = {
        {.kind = DO_ICOLL,
         .coll = {.collective = c->collective,
                  .count = count,
                  .element = 8,
                  .is_commutative = true,
                  .is_nonblocking = true}},
        {.kind = DO_COMPUTE, .seconds = compute},
        {.kind = DO_WAIT},
        /* Processes that are over earlier help, as in a program. */
        {.kind = DO_COLL, .coll = {.collective = XY_COLL_BARRIER, .element = 1}},
        {0}};
    int32_t cores[RANKS];
    double end = 0;

    for (int i = 0; i < XY_COLL_COUNT; i++) {
        places[i] = c->place != NULL ? xy_table_find(XY_TABLE(xy_threads_all), c->place) : NULL;
        orders[i] = c->order != NULL ? xy_table_find(XY_TABLE(xy_order_all), c->order) : NULL;
    }
    for (int r = 0; r < RANKS; r++)
        cores[r] = r + r / 7;
    testing_job_init(&job, "core:16", RANKS);
    job.config.core_of = cores;
    job.config.progress = c->progress;
    job.config.comm_cores = comm;
    job.config.comm_core_count = c->progress == XY_SIM_NONE ? 0 : COMM;
    job.config.places = places;
    job.config.orders = orders;
    job.config.split = c->split > 0 ? c->split + 1 : XY_VJOB_SPLIT_OFF;
    for (int i = 0; i < RANKS; i++)
        job.procs[i].acts = acts;
    testing_job_run(&job);
    assert_int_equal(job.status, XY_OK);
    for (int i = 0; i < RANKS; i++)
        end = fmax(end, job.procs[i].times[2]);
    testing_job_cleanup(&job);
    return end;
}

static double alone(const case_t *c, uint64_t count, double compute)
{
    int cores[RANKS], groups[RANKS];
    const int comm[COMM] = {7, 15};
    xy_sim_node_t node = {.ranks = RANKS,
                          .core_list = cores,
                          .comm_list = comm,
                          .comm_cores = c->progress == XY_SIM_NONE ? 0 : COMM,
                          .progress = c->progress,
                          .threads = c->place,
                          .order = c->order,
                          .split = c->split};
    xy_coll_request_t q = {.collective = c->collective,
                           .procs = RANKS,
                           .count = count,
                           .element = 8,
                           .is_commutative = true,
                           .is_offloaded = c->progress == XY_SIM_TASKS,
                           .groups = groups};
    const xy_coll_algorithm_t *a = xy_coll_find(c->collective, c->algorithm);
    xy_vjob_costs_t costs;
    xy_graph_t *g, *cut;
    double end;

    for (int r = 0; r < RANKS; r++) {
        cores[r] = r + r / 7;
        groups[r] = r;
    }
    xy_vjob_costs_default(&costs);
    xy_vjob_costs_of_node(&costs, &node.costs);
    assert_int_equal(xy_coll_build(&q, &xy_coll_link_default, a, &g), XY_OK);
    if (c->progress == XY_SIM_NONE) { /* as in the library */
        assert_int_equal(xy_graph_cut(g, node.costs.piece, &cut), XY_OK);
        xy_graph_destroy(g);
        g = cut;
    }
    end = testing_run("core:16", node, g, compute).end;
    xy_graph_destroy(g);
    return end;
}

/* Large vectors, and blocks that are not so large. */
static void job_is_node(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint64_t count = 1 << 13; count <= 1 << 17; count *= 16)
            for (int beside = 0; beside < 3; beside++) {
                double compute = beside * 1.5 * alone(&cases[i], count, 0);
                double expected = alone(&cases[i], count, compute);
                double found = in_job(&cases[i], count, compute);

                /* Or a core that slept, as all do before the first collective. */
                if (fabs(found / expected - 1) > 0.02 && fabs(found - expected) > 3e-6)
                    fail_msg("%s, case %zu, %llu elements beside %g s: job %g s, node %g s",
                             xy_coll_name(cases[i].collective), i, (unsigned long long)count,
                             compute, found, expected);
            }
}

/* Communication cores make a collective beside a computation shorter, never longer. */
static void communication_cores_gain(void **state)
{
    const case_t none = {XY_COLL_REDUCE, XY_SIM_NONE, NULL, NULL, 0, "direct"};
    double all = in_job(&none, 1 << 18, 0);

    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_true(in_job(&cases[i], 1 << 18, 2 * all) <
                    in_job(&(case_t){cases[i].collective, XY_SIM_NONE, NULL, NULL, 0, "direct"},
                           1 << 18, 2 * all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job_is_node),
        cmocka_unit_test(communication_cores_gain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
