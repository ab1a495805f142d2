/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier, direct: what begins all the others.      Cost = ceil(lg p) a
 */
#include "coll/build.h"

const xy_coll_algorithm_t coll_barrier_direct = {
    .name = "direct",
    .collectives = 1u << XY_COLL_BARRIER,
    .formula = "ceil(lg p) a",
    .describe = "the synchronization that begins every direct collective, alone",
    .is_direct = true,
    .cost = coll_cost_meet,
    .build = coll_direct_meet,
};
