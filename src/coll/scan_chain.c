/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan, chain.                                   Cost = (p-1) (a + n (b + g))
 *
 * Each rank adds its own to what its left neighbour has. p = 4:
 *   0->1, 1->2, 2->3
 *
 * Least work of all, one after the other; cut into pieces it is a pipeline.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q), chain = (q->procs - 1) * coll_reduced(l, n);

    return chain > n * l->copy ? chain : n * l->copy;
}

static void build(coll_build_t *b)
{
    coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    for (int r = 1; r < b->p; r++)
        coll_combine(b, r == 1 ? coll_input(b, 0) : coll_place(r - 1, XY_BUFFER_RECEIVE, 0),
                     coll_input(b, r), coll_place(r, XY_BUFFER_RECEIVE, 0), b->bytes, true, 0);
}

const xy_coll_algorithm_t coll_scan_chain = {
    .name = "chain",
    .collectives = 1u << XY_COLL_SCAN,
    .formula = "(p-1) (a + n (b + g))",
    .describe = "from rank to rank; least work, a pipeline when cut into pieces",
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
