/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots that strategies which only look at the order of the leaves go along. */
#include "place/strategy_internal.h"

static uint32_t slots_of(const xy_problem_t *q, uint32_t leaf)
{
    return q->is_capacity_given ? q->capacity[leaf] : 1;
}

uint64_t place_slots_count(const xy_problem_t *q, uint32_t begin, uint32_t end)
{
    uint64_t count = 0;

    for (uint32_t leaf = begin; leaf < end; leaf++)
        count += slots_of(q, leaf);
    return count;
}

place_slots_t place_slots(const xy_problem_t *q)
{
    return (place_slots_t){q, 0, slots_of(q, 0)};
}

uint32_t place_slots_leaf(place_slots_t *s, uint64_t slot)
{
    while (slot >= s->end)
        s->end += slots_of(s->q, ++s->leaf);
    return s->leaf;
}
