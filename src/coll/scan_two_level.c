/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan on two levels: inside nodes, and among their leaders.
 *                                                Cost: counted
 *
 * A scan in every node; the last rank of a node sends its result, the sum of the node, to the
 * leader; a scan of these among the leaders; each leader sends its sum to the next one, which
 * broadcasts it in its node, behind four bytes that tell that it comes; and every rank adds it on
 * the left. The scans and broadcasts are chosen by the rules of the library of the request, or by
 * their cost. The ranks of a node are consecutive; the operation need not commute.
 */
#include "coll/build.h"
#include "coll/list.h"

enum { OF_NODE = COLL_TEMPORARY, OF_LEADERS, BEFORE, FLAG_BYTES = 4 };

static bool applicable(const xy_coll_request_t *q)
{
    for (int i = 1; q->nodes != NULL && i < q->procs; i++)
        if (q->nodes[i] < q->nodes[i - 1])
            return false;
    return true;
}

static xy_spot_t of_node(const coll_build_t *b, int rank, const void *arg)
{
    const coll_nodes_t *n = arg;
    bool is_alone = coll_nodes_size(n, n->node[rank]) == 1;

    (void)b;
    return coll_place(rank, is_alone ? XY_BUFFER_RECEIVE : OF_NODE, 0);
}

static xy_spot_t of_leaders(const coll_build_t *b, int rank, const void *arg)
{
    (void)b;
    (void)arg;
    return coll_place(rank, OF_LEADERS, 0);
}

static xy_spot_t before(const coll_build_t *b, int rank, const void *arg)
{
    (void)b;
    (void)arg;
    return coll_place(rank, BEFORE, 0);
}

/* Where the four bytes are, behind the sum of the ranks before. */
static xy_spot_t flag(const coll_build_t *b, int rank, const void *arg)
{
    return coll_shift(before(b, rank, arg), b->bytes);
}

static void scan_node(coll_build_t *b, const coll_nodes_t *n, int node)
{
    coll_stage_t s = coll_nodes_stage(b, n, node, XY_COLL_SCAN, 0);
    int last = n->members[n->first[node + 1] - 1];

    coll_stage(b, &s, NULL);
    if (s.q.procs > 1)
        coll_move(b, coll_place(last, XY_BUFFER_RECEIVE, 0),
                  coll_place(n->leaders[node], OF_NODE, 0), b->bytes, 0);
}

/* Add the sum of all earlier nodes to the results of the ranks of `node`. */
static void add_before(coll_build_t *b, const coll_nodes_t *n, int node)
{
    coll_stage_t s = coll_nodes_stage(b, n, node, XY_COLL_BCAST, 0), told = s;

    s.receive = before;
    told.receive = flag;
    told.q.count = FLAG_BYTES;
    told.q.element = 1;
    coll_move(b, coll_place(n->leaders[node - 1], OF_LEADERS, 0),
              coll_place(n->leaders[node], BEFORE, 0), b->bytes, 0);
    if (s.q.procs > 1 && b->bytes > 0) {
        coll_stage(b, &told, NULL);
        coll_stage(b, &s, NULL);
    }
    for (int i = n->first[node]; i < n->first[node + 1]; i++) {
        xy_spot_t own = coll_place(n->members[i], XY_BUFFER_RECEIVE, 0);

        coll_combine(b, coll_place(n->members[i], BEFORE, 0), own, own, b->bytes, true, 0);
    }
}

/* Add the scans inside nodes, the scan of the leaders and the sums of earlier nodes to the graph.
 * */
static void build(coll_build_t *b)
{
    coll_nodes_t *n = coll_nodes_find(b);
    coll_stage_t leaders;

    if (n == NULL)
        return;
    for (int i = 0; i < n->count; i++)
        scan_node(b, n, i);
    leaders = coll_nodes_stage(b, n, -1, XY_COLL_SCAN, 0);
    leaders.send = of_node;
    leaders.receive = of_leaders;
    if (n->count > 1)
        coll_stage(b, &leaders, NULL);
    for (int i = 1; i < n->count; i++)
        add_before(b, n, i);
    xy_free(n);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_scan_two_level);
}

const xy_coll_algorithm_t coll_scan_two_level = {
    .name = "two-level",
    .collectives = 1u << XY_COLL_SCAN,
    .formula = "counted: scan inside nodes, of leaders, to the next one, bcast inside nodes",
    .describe = "inside the nodes, among their leaders, then the sum before is added in every node",
    .needs = "consecutive ranks on every node",
    .is_foreign = true,
    .applicable = applicable,
    .cost = cost,
    .build = build,
};
