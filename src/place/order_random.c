/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random: any leaf for any rank; what a placement has to beat.                Cost = O(n)
 */
#include "place/strategy_internal.h"

/* Places the processes on random slots, the same for the same seed. */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint64_t state = q->seed;
    uint32_t *slots, count = 0, rank = 0;

    for (uint32_t leaf = 0; leaf < q->target->leaves; leaf++)
        count += q->capacity[leaf];
    slots = xy_malloc((size_t)count * sizeof(*slots));
    if (slots == NULL)
        return XY_ENOMEM;
    for (uint32_t leaf = 0, i = 0; leaf < q->target->leaves; leaf++)
        for (uint32_t k = 0; k < q->capacity[leaf]; k++)
            slots[i++] = leaf;
    for (; rank < q->n; rank++) {
        uint32_t j = rank + place_random_below(&state, count - rank);

        leaf_of[rank] = slots[j];
        slots[j] = slots[rank];
    }
    xy_free(slots);
    return XY_OK;
}

const xy_strategy_t place_strategy_random = {
    .name = "random",
    .describe = "a random core for each rank",
    .place = place,
};
