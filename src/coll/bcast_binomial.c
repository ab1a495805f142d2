/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, binomial tree.                      Cost = ceil(lg p) * (a + n b)
 *
 * Ranks are rotated so that the root is node 0; node v hears from v without its lowest bit. The
 * largest subtree is served first. p = 6:
 *   level 3: 0->4     level 2: 0->2     level 1: 0->1 2->3 4->5
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_log2_ceil(q->procs) * coll_message(l, coll_vector_bytes(q));
}

static void build(coll_build_t *b)
{
    coll_phase_bcast(b, b->q->root);
}

const xy_coll_algorithm_t coll_bcast_binomial = {
    .name = "binomial",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "ceil(lg p) (a + n b)",
    .describe = "one tree, log2(p) rounds; best for short messages",
    .has_levels = true,
    .cost = cost,
    .build = build,
};
