/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed: ranks in the order of the leaves, neighbours in number are neighbours in the machine.
 *
 *      leaves   0 1 | 2 3      ranks   0 1 | 2 3                            Cost = O(p)
 */
#include "place/strategy.h"

static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint32_t rank = 0;

    for (uint32_t leaf = 0; leaf < q->target->leaves; leaf++)
        for (uint32_t k = 0; k < q->capacity[leaf] && rank < q->graph->n; k++)
            leaf_of[rank++] = leaf;
    return XY_OK;
}

const xy_strategy_t strategy_packed = {
    .name = "packed",
    .describe = "ranks in the logical order of the cores",
    .place = place,
};
