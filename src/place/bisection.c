/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Successive bipartition, as Chaco and ParMETIS do it: processes and leaves are halved together,
 * whatever the arities of the tree.                    Cost = O(edges * log leaves)
 *
 *      24 leaves under 3 nodes of 8:  12 | 12 cuts the second node in two
 */
#include "place/bisect.h"
#include "place/strategy.h"
#include "place/strategy_internal.h"

/* Cuts the graph recursively into one part per leaf, without regard to the tree. */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint64_t *room = xy_malloc((size_t)q->target->leaves * sizeof(*room));
    place_bisector_t b;
    xy_status_t st = place_bisector_init(&b, q->graph->n, q->seed);

    if (room == NULL && st == XY_OK)
        st = XY_ENOMEM;
    for (uint32_t i = 0; st == XY_OK && i < q->target->leaves; i++)
        room[i] = q->capacity[i];
    if (st == XY_OK)
        st = place_bisect_parts(&b, q->graph, q->target->leaves, room, leaf_of);
    place_bisector_cleanup(&b);
    xy_free(room);
    return st;
}

const xy_strategy_t place_strategy_bisection = {
    .name = "bisection",
    .describe = "processes and leaves halved together, whatever the arities",
    .needs_matrix = true,
    .place = place,
};
