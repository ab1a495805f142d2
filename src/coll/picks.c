/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithms for some calls. */
#include "coll/coll.h"

int xy_coll_step(uint64_t bytes)
{
    return bytes > 1 ? 63 - __builtin_clzll(bytes) : 0;
}

bool xy_coll_is_sized(xy_collective_t c)
{
    return c != XY_COLL_GATHERV && c != XY_COLL_SCATTERV && c != XY_COLL_ALLGATHERV &&
           c != XY_COLL_ALLTOALLV && c != XY_COLL_ALLTOALLW && c != XY_COLL_REDUCE_SCATTER &&
           c != XY_COLL_COUNT;
}

bool xy_coll_is_tree(xy_collective_t c)
{
    return c == XY_COLL_BCAST || c == XY_COLL_REDUCE || c == XY_COLL_GATHER ||
           c == XY_COLL_SCATTER || c == XY_COLL_ALLREDUCE;
}

xy_split_t xy_coll_split(xy_collective_t c, int ranks, int cores, int comm_cores)
{
    return (xy_split_t){.cores = cores + comm_cores,
                        .ranks = ranks,
                        .compute_cores = cores,
                        .base = 2,
                        .is_doubling = c == XY_COLL_GATHER || c == XY_COLL_SCATTER};
}

const xy_coll_algorithm_t *xy_coll_picked(const xy_coll_picks_t *picks, xy_collective_t collective,
                                          int procs, uint64_t bytes)
{
    for (size_t i = 0; picks != NULL && i < picks->count; i++) {
        const xy_coll_pick_t *p = &picks->list[i];

        if (p->collective == collective && p->procs == procs && p->step == xy_coll_step(bytes))
            return p->algorithm;
    }
    return NULL;
}
