/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall, pairwise exchange.                   Cost = n c + (p-1) (a + n b)
 *
 * For powers of two: in round s ranks r and r xor s exchange their blocks. p = 4:
 *   round 1: 0<->1 2<->3     round 2: 0<->2 1<->3     round 3: 0<->3 1<->2
 */
#include "coll/build.h"

static bool applicable(const xy_coll_request_t *q)
{
    return coll_is_power(q->procs);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_exchange(q, l, 0);
}

static void build(coll_build_t *b)
{
    coll_phase_exchange(b, 0);
}

const xy_coll_algorithm_t coll_alltoall_pairwise_xor = {
    .name = "pairwise-xor",
    .collectives = 1u << XY_COLL_ALLTOALL | 1u << XY_COLL_ALLTOALLV | 1u << XY_COLL_ALLTOALLW,
    .formula = "n c + (p-1) (a + n b)",
    .describe = "in every round pairs of ranks exchange their blocks",
    .needs = "a power of two of ranks",
    .is_foreign = true,
    .applicable = applicable,
    .cost = cost,
    .build = build,
};
