/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter, ring.                          Cost = (p-1) (a + n (b + g))
 *
 * The block of rank i starts at rank i + 1 and goes once around the ring, each rank adding its own.
 * n is one block. p = 3, blocks ABC: 1-A->2 2-B->0 0-C->1, 2-A->0 0-B->1 1-C->2
 *
 * Sums begin with another rank's block: the operation must commute.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double most = coll_cost_largest(q);

    return q->procs == 1 ? most * l->copy : (q->procs - 1) * coll_reduced(l, most);
}

/* Add the p - 1 rounds of the ring to the graph. */
static void build(coll_build_t *b)
{
    int p = b->p;

    if (p == 1)
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->start[1], 0);
    for (int round = 1; round < p; round++)
        for (int r = 0; r < p; r++) {
            int left = (r + p - 1) % p, block = (left + p - round) % p;
            uint64_t at = b->start[block];
            xy_spot_t from = round == 1 ? coll_shift(coll_input(b, left), at)
                                        : coll_place(left, COLL_TEMPORARY, at);

            coll_combine(b, from, coll_shift(coll_input(b, r), at),
                         block == r ? coll_place(r, XY_BUFFER_RECEIVE, 0)
                                    : coll_place(r, COLL_TEMPORARY, at),
                         coll_block(b, block), true, 0);
        }
}

/* With two ranks the result replaces what the other one still has to read. */
static bool keeps_input(const xy_coll_request_t *q)
{
    return q->procs != 2;
}

const xy_coll_algorithm_t coll_reduce_scatter_ring = {
    .name = "ring",
    .collectives = 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK,
    .formula = "(p-1) (a + n (b + g))",
    .describe = "every block goes once around the ring, each rank adding its own",
    .needs = "an operation that commutes",
    .is_foreign = true,
    .applicable = coll_commutes,
    .cost = cost,
    .build = build,
    .keeps_input = keeps_input,
};
