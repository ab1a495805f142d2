/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Round robin: rank r on core r modulo the number of cores.
 *
 *   4 cores, 6 ranks: 0 1 2 3 0 1
 */
#include "place/strategies.h"

static void place(const xy_cores_t *cores, int ranks, int *core_of)
{
    for (int r = 0; r < ranks; r++)
        core_of[r] = r % cores->count;
}

const xy_place_strategy_t place_round_robin = {
    .name = "round-robin",
    .describe = "one core after the other, then again from the first",
    .place = place,
};
