/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter: ranks spread evenly over all leaves, which leaves room beside each for its threads.
 *
 *   leaf = floor(r * leaves / ranks)       8 leaves, 3 ranks: 0 2 5             Cost = O(p)
 */
#include "place/strategy_internal.h"

static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint64_t count = place_slots_count(q, 0, q->target->leaves);
    place_slots_t slots = place_slots(q);

    for (uint32_t r = 0; r < q->n; r++)
        leaf_of[r] = place_slots_leaf(&slots, r * count / q->n);
    return XY_OK;
}

const xy_strategy_t place_strategy_scatter = {
    .name = "scatter",
    .describe = "spread evenly over all cores",
    .place = place,
};
