/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan, direct.                                  Cost = 2 ceil(lg p) a + n/p (p b + (p-1) g)
 *
 * All ranks synchronize; each has a slice of the vector and walks it through the ranks in order, in
 * blocks that stay in cache.
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return 2 * coll_cost_meet(q, l) +
           coll_cost_slice(q) * (q->procs * l->beta + (q->procs - 1) * l->gamma);
}

static void piece(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes)
{
    coll_direct_copy(b, actor, coll_shift(coll_input(b, 0), begin),
                     coll_place(0, XY_BUFFER_RECEIVE, begin), bytes);
    for (int r = 1; r < b->p; r++)
        coll_direct_combine(b, actor, coll_place(r - 1, XY_BUFFER_RECEIVE, begin),
                            coll_shift(coll_input(b, r), begin),
                            coll_place(r, XY_BUFFER_RECEIVE, begin), bytes, true);
}

static void build(coll_build_t *b)
{
    coll_direct_meet(b);
    coll_direct_slices(b, piece);
    coll_direct_meet(b);
}

const xy_coll_algorithm_t coll_scan_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_SCAN,
    .formula = "2 ceil(lg p) a + n/p (p b + (p-1) g)",
    .describe = "every rank scans its slice through all buffers",
    .is_direct = true,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
