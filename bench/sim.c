/* SPDX-License-Identifier: BSD-3-Clause */
/* The virtual clock: simulated operations per second of one core. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "coll/coll.h"
#include "sim/sim.h"

static xy_sim_t *sim;
static xy_graph_t *graph;

/* Runs of the whole graph until n operations were simulated. */
static double round_ops(long n)
{
    double begin = bench_now(), took;
    long done = 0;

    while (done < n) {
        xy_sim_result_t result;

        if (xy_sim_run(sim, graph, 1e-3, NULL, NULL, &result) != XY_OK)
            return -1;
        done += (long)result.ops;
    }
    took = bench_now() - begin;
    return took * (double)n / (double)done;
}

static void measure(const char *name, xy_sim_node_t node, const xy_machine_t *machine, double numa)
{
    node.machine = machine;
    node.ranks = 56;
    node.comm_cores = -1;
    xy_sim_costs_default(&node.costs);
    node.costs.numa = numa;
    node.costs.piece = 0;
    if (xy_sim_create(&node, &sim) != XY_OK)
        exit(1);
    bench_rate(name, round_ops, 1000000, "ns/operation", 1e9);
    xy_sim_destroy(sim);
}

int main(int argc, char **argv)
{
    xy_coll_request_t q = {
        .collective = XY_COLL_ALLTOALL, .procs = 56, .count = 8192, .element = 8};
    const xy_coll_algorithm_t *algorithm;
    xy_machine_t *machine;

    bench_init(argc, argv);
    if (xy_machine_load("core:64", &machine) != XY_OK ||
        xy_coll_choose(&q, &xy_coll_link_default, "pairwise", &algorithm) != XY_OK ||
        xy_coll_build(&q, &xy_coll_link_default, algorithm, &graph) != XY_OK)
        return 1;
    measure("simulated: tasks", (xy_sim_node_t){.progress = XY_SIM_TASKS}, machine, 0);
    measure("simulated: tasks, memory shared", (xy_sim_node_t){.progress = XY_SIM_TASKS}, machine,
            100e9);
    measure("simulated: threads, round-robin", (xy_sim_node_t){.progress = XY_SIM_THREADS}, machine,
            0);
    measure("simulated: threads, memory shared",
            (xy_sim_node_t){.progress = XY_SIM_THREADS, .order = "semaphore"}, machine, 100e9);
    xy_graph_destroy(graph);
    xy_machine_destroy(machine);
    return 0;
}
