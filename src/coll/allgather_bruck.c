/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, Bruck.                              Cost = (p+1) n c + ceil(lg p) a + (p-1) n b
 *
 * Each rank collects, behind its own block, those of the ranks above it (wrapping): in each round
 * all that the rank 1, 2, 4, ... above it has, or what is missing. In the end the blocks are turned
 * into their order. p = 3: 0: A    round 0: AB    round 1: ABC    turned: ABC 1: B             BC
 * BCA            ABC 2: C             CA             CAB            ABC
 *
 * log2(p) rounds for any p, at the price of copying everything once more.
 */
#include "coll/build.h"

/* Seconds that the collective takes; each round lasts as long as its largest message. */
static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    int p = q->procs;
    double sum = coll_cost_largest(q) * l->copy;

    if (p == 1)
        return sum;
    for (int step = 1; step < p; step *= 2) {
        int count = step < p - step ? step : p - step;
        double bytes = 0.0, most = 0.0;

        for (int i = 0; i < count; i++)
            bytes += coll_cost_block(q, i);
        for (int first = 0; first < p; first++) {
            most = bytes > most ? bytes : most;
            bytes += coll_cost_block(q, first + count) - coll_cost_block(q, first);
        }
        sum += coll_message(l, most);
    }
    return sum + coll_cost_total(q) * l->copy;
}

/* Add the rounds and the final rotation of the blocks to the graph. */
static void build(coll_build_t *b)
{
    int p = b->p;

    for (int r = 0; r < p; r++)
        coll_move(b, coll_input(b, r),
                  p == 1 ? coll_received(b, r, r) : coll_place(r, COLL_TEMPORARY, 0),
                  coll_block(b, r), 0);
    for (int step = 1; step < p; step *= 2)
        for (int r = 0; r < p; r++) {
            int from = (r + step) % p, count = step < p - step ? step : p - step;

            coll_move(b, coll_place(from, COLL_TEMPORARY, 0),
                      coll_place(r, COLL_TEMPORARY, coll_blocks(b, r, step)),
                      coll_blocks(b, from, count), 0);
        }
    for (int r = 0; r < p && p > 1; r++)
        coll_move_to_blocks(b, coll_place(r, COLL_TEMPORARY, 0), r, coll_received, r, p, 0);
}

const xy_coll_algorithm_t coll_allgather_bruck = {
    .name = "bruck",
    .collectives = 1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLGATHERV,
    .formula = "(p+1) n c + ceil(lg p) a + (p-1) n b",
    .describe = "log2(p) rounds for any p, one more copy; best for short blocks",
    .cost = cost,
    .build = build,
};
