/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed: neighbours in rank are neighbours in the machine, from the first leaf on. With more ranks
 * than leaves, consecutive ranks share a leaf.
 *
 *   4 leaves, 3 ranks: 0 1 2        4 leaves, 6 ranks: 0 0 1 2 2 3              Cost = O(p)
 */
#include "place/strategy_internal.h"

static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint64_t count = place_slots_count(q, 0, q->target->leaves);
    place_slots_t slots = place_slots(q);

    for (uint32_t r = 0; r < q->n; r++)
        leaf_of[r] = place_slots_leaf(&slots, q->n <= count ? r : r * count / q->n);
    return XY_OK;
}

const xy_strategy_t place_strategy_packed = {
    .name = "packed",
    .describe = "consecutive ranks on consecutive cores, from the first on",
    .place = place,
};
