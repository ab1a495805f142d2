/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier, dissemination.                        Cost = ceil(lg p) * a
 *
 * In round r every rank signals the one 2^r above it (wrapping) that it came this far. After round
 * r a rank has heard, through others, of the 2^(r+1) ranks up to itself. p = 4: round 0: 0->1 1->2
 * 2->3 3->0      round 1: 0->2 1->3 2->0 3->1
 *
 * Its messages carry no bytes, so their order is given by hand: round r of a rank comes after round
 * r - 1 of itself and of the one it hears from.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_log2_ceil(q->procs) * l->alpha;
}

/* Add lg p rounds of signals, each ordered after the two signals of the round before that it
 * depends on. */
static void build(coll_build_t *b)
{
    for (int step = 1; step < b->p; step *= 2) {
        xy_op_id_t op = -1;

        for (int r = 0; r < b->p; r++) {
            int from = (r - step + b->p) % b->p;

            op = coll_tell(b, from, r);
            coll_order(b, b->mark[r], op);
            coll_order(b, b->mark[from], op);
        }
        for (int r = 0; r < b->p && op >= 0; r++) /* messages of a round have followed each other */
            b->mark[r] = op - b->p + 1 + r;
    }
}

const xy_coll_algorithm_t coll_barrier_dissemination = {
    .name = "dissemination",
    .collectives = 1u << XY_COLL_BARRIER,
    .formula = "ceil(lg p) a",
    .describe = "every rank hears of every other in log2(p) rounds",
    .cost = cost,
    .build = build,
};
