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
    coll_direct_slices(b, piece);
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

/*
 * Exclusive scan, direct.                        Cost = 2 ceil(lg p) a + n/p (2(p-1) b + (p-2) g)
 *
 * As the scan; the sum of the ranks before waits in memory of the core until the next one is
 * made, as a rank's contribution may lie where its result goes.
 */
static double cost_exclusive(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    int p = q->procs;

    if (p == 1)
        return coll_vector_bytes(q) * l->beta;
    return 2 * coll_cost_meet(q, l) +
           coll_cost_slice(q) * (2 * (p - 1) * l->beta + (p - 2) * l->gamma);
}

static void piece_exclusive(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes)
{
    coll_direct_copy(b, actor, coll_shift(coll_input(b, 0), begin),
                     coll_place(actor, COLL_TEMPORARY, begin), bytes);
    for (int r = 1; r < b->p; r++) {
        xy_spot_t sum = coll_place(actor, COLL_TEMPORARY + (r - 1) % 2, begin);

        if (r < b->p - 1)
            coll_direct_combine(b, actor, sum, coll_shift(coll_input(b, r), begin),
                                coll_place(actor, COLL_TEMPORARY + r % 2, begin), bytes, true);
        coll_direct_copy(b, actor, sum, coll_place(r, XY_BUFFER_RECEIVE, begin), bytes);
    }
}

static void build_exclusive(coll_build_t *b)
{
    coll_direct_slices(b, piece_exclusive);
}

const xy_coll_algorithm_t coll_exscan_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_EXSCAN,
    .formula = "2 ceil(lg p) a + n/p (2(p-1) b + (p-2) g)",
    .describe = "every rank scans its slice through all buffers",
    .is_direct = true,
    .cost = cost_exclusive,
    .build = build_exclusive,
    .keeps_input = coll_always,
};
