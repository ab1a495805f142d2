/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast as scatter and allgather (van de Geijn).
 *                    Cost = (ceil(lg p) + p - 1) a + 2 (p-1)/p n b
 *
 * The vector is cut into p parts. A binomial tree scatters them, each node passing on the parts of
 * its subtree; then every part goes around the ring. p = 4:
 *   scatter: 0->2 (parts 2 3)   0->1 (1) 2->3 (3)
 *   ring:    3 rounds, each node hands on the part that it got last
 *
 * A part that a node already had from the scatter does not come again.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    int p = q->procs;
    double n = coll_vector_bytes(q);

    return (coll_log2_ceil(p) + p - 1) * l->alpha + 2.0 * (p - 1) / p * n * l->beta;
}

/* Parts [first, end) from one node to another; all lie at their final place from the start. */
static void move_parts(coll_build_t *b, int from, int to, int first, int end)
{
    uint64_t begin = coll_part_begin(b->q, b->p, first);
    int root = b->q->root;

    coll_move(b, coll_place((from + root) % b->p, XY_BUFFER_RECEIVE, begin),
              coll_place((to + root) % b->p, XY_BUFFER_RECEIVE, begin),
              coll_part_begin(b->q, b->p, end) - begin, 0);
}

/* The parts that node v has after the scatter: from v on, this many. */
static int had(const coll_build_t *b, int v)
{
    int subtree = v & -v;

    return v == 0 || v + subtree > b->p ? b->p - v : subtree;
}

/* Add the binomial scatter and the ring to the graph, without parts that a node already has. */
static void build(coll_build_t *b)
{
    int p = b->p;

    for (int level = coll_log2_ceil(p); level >= 1; level--) {
        int step = 1 << (level - 1);

        for (int v = step; v < p; v += 2 * step)
            move_parts(b, v - step, v, v, v + had(b, v));
    }
    for (int round = 0; round < p - 1; round++)
        for (int v = 0; v < p; v++) {
            int left = (v + p - 1) % p, part = (left + p - round) % p;

            if (part < v || part >= v + had(b, v))
                move_parts(b, left, v, part, part + 1);
        }
}

const xy_coll_algorithm_t coll_bcast_scatter_allgather = {
    .name = "scatter-allgather",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "(ceil(lg p) + p - 1) a + 2 (p-1)/p n b",
    .describe = "a tree scatters parts, a ring collects them; best for long messages",
    .needs = "at least one element per rank",
    .applicable = coll_has_element_each,
    .cost = cost,
    .build = build,
};
