/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, linear.                             Cost = n c + (p-1) (a + n b)
 *
 * Every rank sends its block to all others at once. p = 3: 0<-1 1<-2 2<-0, 0<-2 1<-0 2<-1
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double most = coll_cost_largest(q);

    return most * l->copy + (q->procs - 1) * coll_message(l, most);
}

static void build(coll_build_t *b)
{
    for (int step = 0; step < b->p; step++)
        for (int r = 0; r < b->p; r++) {
            int from = (r + step) % b->p;

            coll_move(b, coll_input(b, from), coll_received(b, r, from), coll_block(b, from), 0);
        }
}

const xy_coll_algorithm_t coll_allgather_linear = {
    .name = "linear",
    .collectives = 1u << XY_COLL_ALLGATHER | 1u << XY_COLL_ALLGATHERV,
    .formula = "n c + (p-1) (a + n b)",
    .describe = "every rank sends its block to all others",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
