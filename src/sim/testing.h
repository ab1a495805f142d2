/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of this room: collectives written down plainly, and a node to run them on. */
#ifndef XY_SIM_TESTING_H
#define XY_SIM_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/testing.h"
#include "sched/sched.h"
#include "sim/sim.h"

static inline void testing_op(xy_graph_t *g, xy_op_kind_t kind, int from, int from_buffer,
                              uint64_t from_offset, int to, uint64_t to_offset, uint64_t bytes,
                              int level)
{
    xy_graph_touch(g, &(xy_op_t){.kind = kind,
                                 .actor = to,
                                 .level = level,
                                 .from = {from, from_buffer, from_offset},
                                 .to = {to, XY_BUFFER_RECEIVE, to_offset},
                                 .bytes = bytes});
}

static inline xy_graph_t *testing_seal(xy_graph_t *g)
{
    assert_int_equal(xy_graph_seal(g), XY_OK);
    return g;
}

static inline xy_graph_t *testing_graph(void)
{
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    return g;
}

/* Binomial trees to and from rank 0: rank r hangs below r without its lowest bit. */
static inline void testing_up(xy_graph_t *g, int n, uint64_t bytes)
{
    for (int r = 0; r < n; r++)
        testing_op(g, XY_OP_MOVE, r, XY_BUFFER_SEND, 0, r, 0, bytes, 0);
    for (int level = 1; 1 << (level - 1) < n; level++)
        for (int r = 1 << (level - 1); r < n; r += 1 << level)
            testing_op(g, XY_OP_REDUCE, r, XY_BUFFER_RECEIVE, 0, r - (1 << (level - 1)), 0, bytes,
                       level);
}

static inline void testing_down(xy_graph_t *g, int n, uint64_t bytes)
{
    for (int level = xy_split_levels(n, 2); level >= 1; level--)
        for (int r = 1 << (level - 1); r < n; r += 1 << level)
            testing_op(g, XY_OP_MOVE, r - (1 << (level - 1)), XY_BUFFER_RECEIVE, 0, r, 0, bytes,
                       level);
}

static inline xy_graph_t *testing_reduce(int n, uint64_t bytes)
{
    xy_graph_t *g = testing_graph();

    testing_up(g, n, bytes);
    return testing_seal(g);
}

static inline xy_graph_t *testing_bcast(int n, uint64_t bytes)
{
    xy_graph_t *g = testing_graph();

    testing_down(g, n, bytes);
    return testing_seal(g);
}

static inline xy_graph_t *testing_allreduce(int n, uint64_t bytes)
{
    xy_graph_t *g = testing_graph();

    testing_up(g, n, bytes);
    testing_down(g, n, bytes);
    return testing_seal(g);
}

/* Blocks of the ranks r .. r + 2^(level-1) - 1 that exist. */
static inline uint64_t testing_subtree(int n, int r, int level, uint64_t block)
{
    int count = 1 << (level - 1);

    return (uint64_t)(r + count > n ? n - r : count) * block;
}

static inline xy_graph_t *testing_gather(int n, uint64_t block)
{
    xy_graph_t *g = testing_graph();

    for (int level = 1; 1 << (level - 1) < n; level++)
        for (int r = 1 << (level - 1); r < n; r += 1 << level)
            testing_op(g, XY_OP_MOVE, r, XY_BUFFER_RECEIVE, (uint64_t)r * block,
                       r - (1 << (level - 1)), (uint64_t)r * block,
                       testing_subtree(n, r, level, block), level);
    return testing_seal(g);
}

static inline xy_graph_t *testing_scatter(int n, uint64_t block)
{
    xy_graph_t *g = testing_graph();

    for (int level = xy_split_levels(n, 2); level >= 1; level--)
        for (int r = 1 << (level - 1); r < n; r += 1 << level)
            testing_op(g, XY_OP_MOVE, r - (1 << (level - 1)), XY_BUFFER_RECEIVE,
                       (uint64_t)r * block, r, (uint64_t)r * block,
                       testing_subtree(n, r, level, block), level);
    return testing_seal(g);
}

/* A chain: every rank adds its own to what comes from the one before. */
static inline xy_graph_t *testing_scan(int n, uint64_t bytes)
{
    xy_graph_t *g = testing_graph();

    for (int r = 1; r < n; r++)
        testing_op(g, XY_OP_REDUCE, r - 1, XY_BUFFER_RECEIVE, 0, r, 0, bytes, 0);
    return testing_seal(g);
}

static inline xy_graph_t *testing_alltoall(int n, uint64_t block)
{
    xy_graph_t *g = testing_graph();

    for (int step = 1; step < n; step++)
        for (int r = 0; r < n; r++)
            testing_op(g, XY_OP_MOVE, r, XY_BUFFER_SEND, (uint64_t)((r + step) % n) * block,
                       (r + step) % n, (uint64_t)r * block, block, 0);
    return testing_seal(g);
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
