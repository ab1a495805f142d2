/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter over NUMA nodes: balanced between the nodes, spread inside each.
 *
 * Node j gets the ranks [first_j, first_j+1) with first_j = ceil(ranks * leaves before j / leaves);
 * for nodes of equal size that is ceil(j * ranks / nodes). Inside, rank r sits on the leaf
 * floor((r - first_j) * leaves of j / ranks of j).
 *
 *   2 nodes of 4 leaves:  3 ranks: 0 2 4    6: 0 1 2 4 5 6    7: 0 1 2 3 4 5 6    Cost = O(p)
 */
#include "place/strategy_internal.h"

static uint32_t end_of_node(const xy_target_t *t, uint32_t leaf)
{
    uint32_t end = leaf + 1;

    while (end < t->leaves && t->numa[end] == t->numa[leaf])
        end++;
    return end;
}

/* Spreads the processes evenly over NUMA nodes, and inside each over its leaves. */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    const xy_target_t *t = q->target;
    uint64_t all = place_slots_count(q, 0, t->leaves), before = 0;
    place_slots_t slots = place_slots(q);
    uint32_t r = 0;

    for (uint32_t leaf = 0, end; leaf < t->leaves; leaf = end) {
        uint64_t here, first = r, count;

        end = end_of_node(t, leaf);
        here = place_slots_count(q, leaf, end);
        count = ((before + here) * q->n + all - 1) / all - first;
        for (uint64_t i = 0; i < count; i++)
            leaf_of[r++] = place_slots_leaf(&slots, before + i * here / count);
        before += here;
    }
    return XY_OK;
}

const xy_strategy_t place_strategy_scatter_numa = {
    .name = "scatter_numa",
    .describe = "balanced over NUMA nodes, spread inside each",
    .place = place,
};
