/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier on two levels: inside nodes, and among their leaders.
 *                                                Cost: counted
 *
 * A barrier in every node, one among the leaders, and a signal from every leader down the binomial
 * tree of its node; the barriers are chosen by the rules of the library of the request, or by their
 * cost. The library sends one byte with the signal, here it has none.
 */
#include "coll/build.h"
#include "coll/list.h"

static void signal_node(coll_build_t *b, const coll_nodes_t *n, int node)
{
    const int *ranks = n->members + n->first[node];
    int size = coll_nodes_size(n, node);

    for (int step = 1 << coll_log2_ceil(size) >> 1; step >= 1; step /= 2)
        for (int v = step; v < size; v += 2 * step)
            coll_tell_next(b, ranks[v - step], ranks[v]);
}

/* Add the barriers of all nodes, that of the leaders and the final signals to the graph. */
static void build(coll_build_t *b)
{
    coll_nodes_t *n = coll_nodes_find(b);

    if (n == NULL)
        return;
    for (int i = -1; i < n->count; i++) {
        int node = i + 1 < n->count ? i + 1 : -1; /* the leaders come last */
        coll_stage_t s = coll_nodes_stage(b, n, node, XY_COLL_BARRIER, 0);

        if (s.q.procs > 1)
            coll_stage(b, &s, NULL);
    }
    for (int i = 0; i < n->count; i++)
        signal_node(b, n, i);
    xy_free(n);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_barrier_two_level);
}

const xy_coll_algorithm_t coll_barrier_two_level = {
    .name = "two-level",
    .collectives = 1u << XY_COLL_BARRIER,
    .formula = "counted: inside nodes, among leaders, each as chosen; a signal inside nodes",
    .describe = "inside the nodes, among their leaders, then these signal their nodes",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
