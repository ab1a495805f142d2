/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter: ranks spread evenly over all cores, which leaves room beside each for its threads.
 *
 *   core = floor(r * cores / ranks)       8 cores, 3 ranks: 0 2 5
 */
#include "place/strategies.h"

static void place(const xy_cores_t *cores, int ranks, int *core_of)
{
    for (int r = 0; r < ranks; r++)
        core_of[r] = (int)((long)r * cores->count / ranks);
}

const xy_place_strategy_t place_scatter = {
    .name = "scatter",
    .describe = "spread evenly over all cores",
    .place = place,
};
