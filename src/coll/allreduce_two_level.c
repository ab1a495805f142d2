/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce on two levels: inside nodes, and among their leaders.
 *                                                Cost: counted
 *
 * Every node reduces to its leader, the leaders do an allreduce, every leader broadcasts the result
 * in its node; each chosen by the rules of the library of the request, or by its cost. The
 * operation must commute. The runtime's own way with long vectors has no messages inside nodes.
 */
#include "coll/build.h"
#include "coll/list.h"

static xy_spot_t given(const coll_build_t *b, int rank, const void *arg)
{
    const coll_nodes_t *n = arg;

    return coll_nodes_size(n, n->node[rank]) > 1 ? coll_place(rank, COLL_TEMPORARY, 0)
                                                 : coll_input(b, rank);
}

static void reduce_directly(coll_build_t *b, const coll_nodes_t *n)
{
    for (int i = 0; i < n->count; i++) {
        if (coll_nodes_size(n, i) == 1)
            continue;
        coll_inside_meet(b, n, i);
        coll_inside_reduce(b, n, i, coll_stage_input, coll_place(n->leaders[i], COLL_TEMPORARY, 0));
    }
}

static void bcast_directly(coll_build_t *b, const coll_nodes_t *n)
{
    for (int i = 0; i < n->count; i++) {
        if (coll_nodes_size(n, i) == 1)
            continue;
        coll_inside_bcast(b, n, i, n->leaders[i]);
        coll_inside_meet(b, n, i);
    }
}

static void inside(coll_build_t *b, const coll_nodes_t *n, xy_collective_t collective)
{
    for (int i = 0; i < n->count; i++) {
        coll_stage_t s = coll_nodes_stage(b, n, i, collective, 0);

        if (collective == XY_COLL_REDUCE)
            s.receive = coll_stage_temporary;
        if (s.q.procs > 1)
            coll_stage(b, &s, NULL);
    }
}

/* Add the three stages to the graph: inside nodes, among leaders, and inside nodes again. */
static void build(coll_build_t *b)
{
    coll_nodes_t *n = coll_nodes_find(b);
    bool is_direct = coll_inside_is_direct(b);
    coll_stage_t leaders;

    if (n == NULL)
        return;
    if (is_direct)
        reduce_directly(b, n);
    else
        inside(b, n, XY_COLL_REDUCE);
    leaders = coll_nodes_stage(b, n, -1, XY_COLL_ALLREDUCE, 0);
    leaders.send = given;
    coll_stage(b, &leaders, NULL);
    if (is_direct)
        bcast_directly(b, n);
    else
        inside(b, n, XY_COLL_BCAST);
    xy_free(n);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_allreduce_two_level);
}

const xy_coll_algorithm_t coll_allreduce_two_level = {
    .name = "two-level",
    .collectives = 1u << XY_COLL_ALLREDUCE,
    .formula = "counted: reduce inside nodes, allreduce of leaders, bcast inside, each as chosen",
    .describe = "inside the nodes to their leaders, among these, and back",
    .needs = "an operation that commutes",
    .is_foreign = true,
    .applicable = coll_commutes,
    .cost = cost,
    .build = build,
};
