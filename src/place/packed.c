/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed: neighbours in rank are neighbours on the machine, from the first core on. With more ranks
 * than cores, consecutive ranks share a core.
 *
 *   4 cores, 3 ranks: 0 1 2        4 cores, 6 ranks: 0 0 1 2 2 3
 */
#include "place/strategies.h"

static void place(const xy_cores_t *cores, int ranks, int *core_of)
{
    for (int r = 0; r < ranks; r++)
        core_of[r] = ranks <= cores->count ? r : (int)((long)r * cores->count / ranks);
}

const xy_place_strategy_t place_packed = {
    .name = "packed",
    .describe = "consecutive ranks on consecutive cores, from the first on",
    .place = place,
};
