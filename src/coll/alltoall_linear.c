/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall, linear.                              Cost = n c + (p-1) (a + n b)
 *
 * Every rank sends each block to its rank, all at once: to the rank below it first, and receives
 * from the rank above it first. p = 3: 0<-1 1<-2 2<-0, 0<-2 1<-0 2<-1
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_exchange(q, l, -1);
}

static void build(coll_build_t *b)
{
    coll_phase_exchange(b, -1);
}

const xy_coll_algorithm_t coll_alltoall_linear = {
    .name = "linear",
    .collectives = 1u << XY_COLL_ALLTOALL | 1u << XY_COLL_ALLTOALLV | 1u << XY_COLL_ALLTOALLW,
    .formula = "n c + (p-1) (a + n b)",
    .describe = "every rank sends each block at once, to the rank below it first",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
