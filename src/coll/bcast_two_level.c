/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast on two levels: among the leaders of nodes, and inside nodes.
 *                                                Cost: counted
 *
 * `two-level`: the root sends the vector to the leader of its node, unless it is the leader; the
 * leaders broadcast it among themselves; each leader broadcasts it in its node, where the root gets
 * it again. `two-level-root`: the root broadcasts it in its node; the leaders do it among
 * themselves; the others do it in their nodes. Each is chosen by the rules of the library of the
 * request, or by its cost; the runtime's own way with long vectors has no messages inside nodes.
 * Nodes 0: ranks 0 1, 1: ranks 2 3; root 1: 1->0, 0->2, 0->1 2->3
 */
#include "coll/build.h"
#include "coll/list.h"

/* The runtime scatters long vectors among many leaders down a tree, and gathers them in rounds that
 * double; the chooser does not know that. NULL: it does what the chooser says. */
static const xy_coll_algorithm_t *among_leaders(const coll_build_t *b, const coll_stage_t *s)
{
    const xy_coll_algorithm_t *scattered = &coll_bcast_scatter_doubling, *best;
    double p = s->q.procs, seconds;

    if (b->q->between == NULL || !xy_coll_is_applicable(scattered, &s->q) ||
        xy_coll_choose(&s->q, s->link, NULL, &best) != XY_OK)
        return NULL;
    seconds = 2 * (coll_log2_ceil(s->q.procs) * s->link->alpha +
                   (p - 1) / p * coll_vector_bytes(&s->q) * s->link->beta);
    return seconds < best->cost(&s->q, s->link) ? scattered : NULL;
}

static void inside(coll_build_t *b, const coll_nodes_t *n, int node, int root)
{
    coll_stage_t s = coll_nodes_stage(b, n, node, XY_COLL_BCAST, root);

    if (s.q.procs > 1 && node >= 0 && coll_inside_is_direct(b)) {
        coll_inside_meet(b, n, node);
        coll_inside_bcast(b, n, node, n->members[n->first[node] + root]);
        coll_inside_meet(b, n, node);
        return;
    }
    if (s.q.procs > 1)
        coll_stage(b, &s, node < 0 ? among_leaders(b, &s) : NULL);
}

/* Add the stages of `two-level`, or of `two-level-root` if `is_root_first`, to the graph. */
static void build_of(coll_build_t *b, bool is_root_first)
{
    coll_nodes_t *n = coll_nodes_find(b);
    int root = b->q->root, home;

    if (n == NULL)
        return;
    home = n->node[root];
    if (is_root_first)
        inside(b, n, home, n->place[root]);
    else
        coll_move(b, coll_place(root, XY_BUFFER_RECEIVE, 0),
                  coll_place(n->leaders[home], XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    inside(b, n, -1, home);
    for (int i = 0; i < n->count; i++)
        if (i != home || !is_root_first)
            inside(b, n, i, 0);
    xy_free(n);
}

static void build_leader(coll_build_t *b)
{
    build_of(b, false);
}

static void build_root(coll_build_t *b)
{
    build_of(b, true);
}

static double cost_leader(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_bcast_two_level);
}

static double cost_root(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_bcast_two_level_root);
}

const xy_coll_algorithm_t coll_bcast_two_level = {
    .name = "two-level",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "counted: to the leader, among leaders, inside nodes, each as chosen",
    .describe = "from leader to leader, then inside every node",
    .is_foreign = true,
    .cost = cost_leader,
    .build = build_leader,
};

const xy_coll_algorithm_t coll_bcast_two_level_root = {
    .name = "two-level-root",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "counted: inside the root's node, among leaders, inside the others, each as chosen",
    .describe = "inside the root's node, from leader to leader, then inside the other nodes",
    .is_foreign = true,
    .cost = cost_root,
    .build = build_root,
};
