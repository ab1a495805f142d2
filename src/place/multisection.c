/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multisection: Xylem's own.                                   Cost = O(edges * log leaves)
 *
 * From the root down, the processes of a node are cut into the parts that its children hold, with
 * exact sizes, by halving the list of children again and again:
 *
 *      node of 3 children        children {0} {1 2}      then {1} {2}
 *      with 8 leaves each        cut 24 into 8 + 16      cut 16 into 8 + 8
 *
 * Each cut is multilevel with refinement (bisect.c). When there is room to spare, the fewest
 * children that suffice are used, the largest first. Then exchanges between any two groups of
 * leaves, and of groups of them, with the real distances of the tree (refine_tree.c) remove what
 * the greedy order of the cuts left over.
 */
#include "place/multisection.h"

#include "place/descend.h"

enum { LARGE = 50000 }; /* processes; from here on time counts more than the last percent */

static xy_status_t cut(void *arg, const place_graph_t *g, uint32_t parts, const uint64_t *room,
                       uint32_t *part_of)
{
    return place_bisect_parts(arg, g, parts, room, part_of);
}

xy_status_t place_multisect(const xy_problem_t *q, uint32_t *leaf_of)
{
    place_bisector_t b;
    xy_status_t st = place_bisector_init(&b, q->graph->n, q->seed);

    if (st != XY_OK)
        return st;
    st = place_descend(q, cut, &b, leaf_of);
    place_bisector_cleanup(&b);
    return st;
}

static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    xy_status_t st = place_multisect(q, leaf_of);

    if (st == XY_OK && q->target->dimensions == 0)
        st = place_refine_tree(q->graph, q->target, q->capacity, q->height,
                               q->graph->n > LARGE ? 2 : 8, q->seed, leaf_of);
    return st;
}

const xy_strategy_t place_multisection = {
    .name = "multisection",
    .describe = "multilevel cuts with exact sizes down the tree, then exchanges by real distances",
    .place = place,
};
