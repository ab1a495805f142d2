/* SPDX-License-Identifier: BSD-3-Clause */
/* A strategy that packs, and makes the mistake that is defined, if any. */
#include <xylem_plugin.h>

static int place(const xylem_place_problem *p, uint32_t *leaf_of)
{
    uint32_t leaf = 0, used = 0;

#ifdef REFUSES
    return 3;
#endif
    for (uint32_t r = 0; r < p->processes; r++) {
        while (used >= p->capacity[leaf]) {
            leaf++;
            used = 0;
        }
        leaf_of[r] = leaf;
        used++;
#if defined(GOES_BEYOND)
        leaf_of[r] = p->leaves;
#elif defined(FILLS_ONE)
        leaf_of[r] = 1;
#elif defined(FORGETS)
        if (r == 2)
            leaf_of[r] = UINT32_MAX;
#endif
    }
    return 0;
}

#ifndef NO_TABLE
const xylem_strategy xylem_plugin_strategy = {
#ifdef OTHER_VERSION
    .version = XYLEM_PLUGIN_VERSION + 1,
#else
    .version = XYLEM_PLUGIN_VERSION,
#endif
#ifndef NO_PLACE
    .place = place,
#endif
};
#endif
