/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exclusive scan, chain.                         Cost = a + n b + (p-2) (a + n (b + g))
 *
 * Each rank takes the sum its left neighbour got and adds that neighbour's own. Rank 0 gets
 * nothing. p = 4: 0->1 (0)    1->2 (0 + 1)    2->3 (01 + 2)
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return 0.0;
    return coll_message(l, n) + (q->procs - 2) * coll_reduced(l, n);
}

static void build(coll_build_t *b)
{
    for (int r = 1; r < b->p; r++) {
        xy_spot_t to = coll_place(r, XY_BUFFER_RECEIVE, 0);

        if (r == 1)
            coll_move(b, coll_input(b, 0), to, b->bytes, 0);
        else
            coll_combine(b, coll_place(r - 1, XY_BUFFER_RECEIVE, 0), coll_input(b, r - 1), to,
                         b->bytes, true, 0);
    }
}

const xy_coll_algorithm_t coll_exscan_chain = {
    .name = "chain",
    .collectives = 1u << XY_COLL_EXSCAN,
    .formula = "a + n b + (p-2) (a + n (b + g))",
    .describe = "from rank to rank; least work, a pipeline when cut into pieces",
    .cost = cost,
    .build = build,
};
