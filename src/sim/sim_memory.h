/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of a machine: copies between the same two NUMA nodes of a host, or inside one, share
 * a bandwidth (share.h). Collectives on a simulated node and the processes of a job use it alike.
 *
 *   sim_memory_t memory;
 *   st = sim_memory_make(&memory, &clock, &cores, host_of, &limits);
 *   domain = sim_memory_domain(&memory, from, to);                  (-1: not of one host)
 *   if (sim_memory_is_limited(&memory, domain))
 *       xy_share_start(&memory.domains[domain], &user, seconds);
 *   sim_memory_cleanup(&memory);
 *
 * Private to the component.
 */
#ifndef XY_SIM_SIM_MEMORY_H
#define XY_SIM_SIM_MEMORY_H

#include "base/base.h"
#include "graph/graph.h"
#include "place/place.h"
#include "sim/share.h"

/* Bytes per second; 0: without limit. */
typedef struct {
    double copy, numa, link; /* of one core, in a NUMA node, from one to another */
    int threads;             /* that copy at once on a core, at most */
} sim_limits_t;

typedef struct {
    int numa, host, column; /* column: of the NUMA node in its host */
} sim_place_t;

typedef struct {
    xy_share_t *domains; /* [from * columns + to in its host]; capacity 0: without limit */
    int count, columns;
    bool is_limited;     /* any of them */
    sim_place_t *places; /* [cores] */
} sim_memory_t;

/* Clean up in any case. XY_ENOMEM, reported. */
xy_status_t sim_memory_make(sim_memory_t *memory, xy_vclock_t *clock, const xy_cores_t *cores,
                            const int *host_of, const sim_limits_t *limits);
void sim_memory_reset(sim_memory_t *memory); /* nobody copies; the clock was reset */
void sim_memory_cleanup(sim_memory_t *memory);

/* The domain of a copy between the memories of two cores. */
int32_t sim_memory_domain(const sim_memory_t *memory, int from, int to);
/* The same for an operation in pieces of a direct collective. Data that a NUMA node has read from
 * another stays in its caches: when pieces copy the same bytes to several ranks of a node, all but
 * the first take them from there. `read` (XY_HASH_U64): what the nodes have read before. */
int32_t sim_memory_piece(const sim_memory_t *memory, xy_hash_t *read, const xy_op_t *op, int from,
                         int to);

static inline bool sim_memory_is_limited(const sim_memory_t *memory, int32_t domain)
{
    return domain >= 0 && memory->domains[domain].capacity > 0;
}

#endif
