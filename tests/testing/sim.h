/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of this component: collectives, and a node to run them on. */
#ifndef XY_TESTING_SIM_H
#define XY_TESTING_SIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coll/coll.h"
#include "sim/sim.h"
#include "testing/base.h"

/* The machines that ship as knl64 and skylake48, as strings: tests also run without libxml2. */
#define TESTING_KNL64     "package:1 [numa] l2:32 core:2"
#define TESTING_SKYLAKE48 "package:2 [numa] core:24"
#define TESTING_HASWELL32 "package:2 numa:2 core:8 pu:2"

/* The graph of an algorithm; `bytes` of the vector, of a rank's block, or of a pair's. */
static inline xy_graph_t *testing_build(xy_collective_t collective, const char *name, int n,
                                        uint64_t bytes)
{
    xy_coll_request_t q = {.collective = collective,
                           .procs = n,
                           .count = bytes / 8,
                           .element = 8,
                           .is_commutative = true};
    const xy_coll_algorithm_t *algorithm;
    xy_graph_t *g;

    assert_int_equal(xy_coll_choose(&q, &xy_coll_link_default, name, &algorithm), XY_OK);
    assert_int_equal(xy_coll_build(&q, &xy_coll_link_default, algorithm, &g), XY_OK);
    return g;
}

static inline xy_graph_t *testing_reduce(int n, uint64_t bytes)
{
    return testing_build(XY_COLL_REDUCE, "binomial", n, bytes);
}

static inline xy_graph_t *testing_bcast(int n, uint64_t bytes)
{
    return testing_build(XY_COLL_BCAST, "binomial", n, bytes);
}

static inline xy_graph_t *testing_allreduce(int n, uint64_t bytes)
{
    return testing_build(XY_COLL_ALLREDUCE, "reduce-bcast", n, bytes);
}

static inline xy_graph_t *testing_gather(int n, uint64_t block)
{
    return testing_build(XY_COLL_GATHER, "binomial", n, block);
}

static inline xy_graph_t *testing_scatter(int n, uint64_t block)
{
    return testing_build(XY_COLL_SCATTER, "binomial", n, block);
}

static inline xy_graph_t *testing_scan(int n, uint64_t bytes)
{
    return testing_build(XY_COLL_SCAN, "chain", n, bytes);
}

static inline xy_graph_t *testing_alltoall(int n, uint64_t block)
{
    return testing_build(XY_COLL_ALLTOALL, "pairwise", n, block);
}

/* One run on a fresh node; the costs are the default ones where they are all zero. */
static inline xy_sim_result_t testing_run(const char *machine, xy_sim_node_t node,
                                          const xy_graph_t *graph, double compute)
{
    xy_machine_t *m;
    xy_sim_t *sim;
    xy_sim_result_t result;

    assert_int_equal(xy_machine_load(machine, &m), XY_OK);
    node.machine = m;
    if (node.costs.copy == 0)
        xy_sim_costs_default(&node.costs);
    assert_int_equal(xy_sim_create(&node, &sim), XY_OK);
    assert_int_equal(xy_sim_run(sim, graph, compute, NULL, NULL, &result), XY_OK);
    xy_sim_destroy(sim);
    xy_machine_destroy(m);
    return result;
}

#endif
