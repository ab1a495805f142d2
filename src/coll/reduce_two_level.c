/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce on two levels: inside nodes, and among their leaders.
 *                                                Cost: counted
 *
 * `two-level`: the nodes without the root reduce to their leaders; the leaders, that of the root's
 * node with its own vector, to this one; the root's node to the root. `two-level-zero`: all nodes
 * reduce to their leaders, these to rank 0, which passes the result to the root. Each is chosen by
 * the rules of the library of the request, or by its cost. The operation must commute. The
 * runtime's own way with long vectors (`two-level`) has no messages inside nodes: all reduce at
 * once, the root's for the root, which gets the other sums from the leaders.
 */
#include "coll/build.h"
#include "coll/list.h"

enum { OF_NODE = COLL_TEMPORARY, OF_LEADERS };

static xy_spot_t of_node(const coll_build_t *b, int rank, const void *arg)
{
    (void)b;
    (void)arg;
    return coll_place(rank, OF_NODE, 0);
}

static xy_spot_t of_leaders(const coll_build_t *b, int rank, const void *arg)
{
    (void)b;
    (void)arg;
    return coll_place(rank, OF_LEADERS, 0);
}

/* The data of a leader for the others: the sum of its node, where that was made. */
static xy_spot_t given(const coll_build_t *b, int rank, const void *arg)
{
    const coll_nodes_t *n = arg;
    int node = n->node[rank];

    return coll_nodes_size(n, node) > 1 ? of_node(b, rank, arg) : coll_input(b, rank);
}

/* The leader of the root's node gives its own vector. */
static xy_spot_t given_without_root(const coll_build_t *b, int rank, const void *arg)
{
    const coll_nodes_t *n = arg;

    return n->node[rank] == n->node[b->q->root] ? coll_input(b, rank) : given(b, rank, arg);
}

/* In the root's node the leader gives the sum of the leaders. */
static xy_spot_t given_to_root(const coll_build_t *b, int rank, const void *arg)
{
    const coll_nodes_t *n = arg;

    return n->place[rank] == 0 && n->count > 1 ? of_leaders(b, rank, arg) : coll_input(b, rank);
}

static void reduce_nodes(coll_build_t *b, const coll_nodes_t *n, int but)
{
    for (int i = 0; i < n->count; i++) {
        coll_stage_t s = coll_nodes_stage(b, n, i, XY_COLL_REDUCE, 0);

        s.receive = of_node;
        if (i != but && s.q.procs > 1)
            coll_stage(b, &s, NULL);
    }
}

/* All nodes at once, without messages inside; the root speaks for its own. */
static void build_direct(coll_build_t *b, coll_nodes_t *n, int home)
{
    coll_stage_t leaders = coll_nodes_stage(b, n, -1, XY_COLL_REDUCE, home);

    n->leaders[home] = b->q->root;
    for (int i = 0; i < n->count; i++)
        if (coll_nodes_size(n, i) > 1) {
            coll_inside_meet(b, n, i);
            coll_inside_reduce(b, n, i, coll_stage_input, of_node(b, n->leaders[i], n));
        }
    leaders.send = given;
    coll_stage(b, &leaders, NULL);
    for (int i = 0; i < n->count; i++)
        coll_inside_meet(b, n, i);
}

/* Add the stages of `two-level` to the graph, with the direct form inside nodes where it applies.
 * */
static void build_home(coll_build_t *b)
{
    coll_nodes_t *n = coll_nodes_find(b);
    int root = b->q->root, home;
    coll_stage_t leaders, last;

    if (n == NULL)
        return;
    home = n->node[root];
    if (coll_inside_is_direct(b) && n->count > 1) {
        build_direct(b, n, home);
        xy_free(n);
        return;
    }
    reduce_nodes(b, n, home);
    leaders = coll_nodes_stage(b, n, -1, XY_COLL_REDUCE, home);
    leaders.send = given_without_root;
    last = coll_nodes_stage(b, n, home, XY_COLL_REDUCE, n->place[root]);
    last.send = given_to_root;
    if (last.q.procs > 1)
        leaders.receive = of_leaders;
    if (n->count > 1)
        coll_stage(b, &leaders, NULL);
    if (last.q.procs > 1 || n->count == 1)
        coll_stage(b, &last, NULL);
    xy_free(n);
}

/* Add the stages of `two-level-zero` to the graph. */
static void build_zero(coll_build_t *b)
{
    coll_nodes_t *n = coll_nodes_find(b);
    int root = b->q->root;
    coll_stage_t leaders;

    if (n == NULL)
        return;
    reduce_nodes(b, n, -1);
    leaders = coll_nodes_stage(b, n, -1, XY_COLL_REDUCE, 0);
    leaders.send = given;
    leaders.receive = root == 0 ? coll_stage_result : of_leaders;
    coll_stage(b, &leaders, NULL);
    if (root != 0)
        coll_move(b, coll_place(0, OF_LEADERS, 0), coll_place(root, XY_BUFFER_RECEIVE, 0), b->bytes,
                  0);
    xy_free(n);
}

static double cost_home(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_reduce_two_level);
}

static double cost_zero(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_reduce_two_level_zero);
}

const xy_coll_algorithm_t coll_reduce_two_level = {
    .name = "two-level",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "counted: inside nodes, among leaders, inside the root's node, each as chosen",
    .describe = "inside the nodes, from leader to leader, then inside the root's node",
    .needs = "an operation that commutes",
    .is_foreign = true,
    .applicable = coll_commutes,
    .cost = cost_home,
    .build = build_home,
};

const xy_coll_algorithm_t coll_reduce_two_level_zero = {
    .name = "two-level-zero",
    .collectives = 1u << XY_COLL_REDUCE,
    .formula = "counted: inside nodes, among leaders to rank 0, to the root, each as chosen",
    .describe = "inside the nodes, from leader to leader, then from rank 0 to the root",
    .needs = "an operation that commutes",
    .is_foreign = true,
    .applicable = coll_commutes,
    .cost = cost_zero,
    .build = build_zero,
};
