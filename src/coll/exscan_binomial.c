/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exclusive scan, binomial trees.                Cost = a + n b + rounds(p-1) (a + n (b + g))
 *
 * The scan of all ranks but the last, see scan_binomial.c, then every rank takes its left
 * neighbour's sum. Rank 0 gets nothing. p = 4: scan of 0 1 2: 0->1, 1->2     shift: 0->1 1->2 2->3
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    if (q->procs == 1)
        return 0.0;
    return coll_scan_rounds(q->procs - 1) * coll_reduced(l, n) + coll_message(l, n);
}

static void build(coll_build_t *b)
{
    coll_phase_scan(b, b->p - 1, COLL_TEMPORARY);
    for (int r = 1; r < b->p; r++)
        coll_move(b, r == 1 ? coll_input(b, 0) : coll_place(r - 1, COLL_TEMPORARY, 0),
                  coll_place(r, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
}

const xy_coll_algorithm_t coll_exscan_binomial = {
    .name = "binomial",
    .collectives = 1u << XY_COLL_EXSCAN,
    .formula = "a + n b + rounds (a + n (b + g)), rounds as for the scan of p - 1 ranks",
    .describe = "a scan by binomial trees, then one step to the right",
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
