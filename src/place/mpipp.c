/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPIPP: from a random placement, processes change places in pairs as long as some exchange makes
 * it cheaper; the best of several starts (--restarts: MPIPP1, MPIPP5, ...).
 *                                            Cost = O(restarts * (rounds * p^2 + exchanges * p))
 */
#include "place/exchange.h"
#include "place/strategy_internal.h"

/* Improves random placements by exchanges and keeps the cheapest of all restarts. */
static void search(place_exchange_t *x, uint32_t *order, uint32_t *leaf_of)
{
    uint64_t random = x->q->seed;
    double least = 0;

    for (uint32_t i = 0; i < x->q->restarts; i++) {
        double cost;

        place_shuffle(order, x->slots, &random);
        place_exchange_start(x, order);
        place_exchange_run(x);
        cost = place_exchange_cost(x);
        if (i > 0 && cost >= least)
            continue;
        least = cost;
        for (uint32_t v = 0; v < x->q->graph->n; v++)
            leaf_of[v] = x->leaf[x->slot_of[v]];
    }
}

/* With many more leaves than processes, twice as many slots as needed are worth trying. */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    place_exchange_t x;
    xy_status_t st = place_exchange_init(&x, q, q->capacity, 2 * q->graph->n + 64);
    uint32_t *order = st == XY_OK ? xy_malloc((size_t)x.slots * sizeof(*order)) : NULL;

    if (order != NULL)
        search(&x, order, leaf_of);
    xy_free(order);
    place_exchange_cleanup(&x);
    return order != NULL ? XY_OK : XY_ENOMEM;
}

const xy_strategy_t place_strategy_mpipp = {
    .name = "mpipp",
    .describe = "pairwise exchanges from random starts, the best of several",
    .limit = 1024,
    .needs_matrix = true,
    .place = place,
};
