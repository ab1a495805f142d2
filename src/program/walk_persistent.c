/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives: a request that is made once, and started again and again. */
#include <mpi.h>
#include <string.h>

#include "program/walk_coll.h"

/* Members make them in the same order and start them in any: each has a communicator of its own,
 * which the first to make it creates. */
static walk_comm_t *join(walker_t *w, walk_member_t *m)
{
    uint64_t id = ++m->persistent;
    walk_part_t **at = &m->comm->parts, *part;

    while (*at != NULL && (*at)->id != id)
        at = &(*at)->next;
    if (*at == NULL) {
        part = xy_arena_alloc(w->walk->arena, sizeof(*part));
        if (part == NULL) {
            process_fail_memory(&w->process);
            return NULL;
        }
        *part = (walk_part_t){.id = id};
        part->comm = walk_comm_new(w->walk, m->comm->procs, m->comm->size);
        if (part->comm == NULL) {
            process_stop(&w->process);
            return NULL;
        }
        part->comm->lows = m->comm->lows;
        *at = part;
    }
    part = *at;
    if (++part->joined == m->comm->size)
        *at = part->next;
    return part->comm;
}

/* Makes an inactive persistent request of a collective, with a communicator of its own. */
static bool init(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_layout_t *l = &walk_layouts[walk_extra(site) & WALK_COLLECTIVE_MASK];
    walk_member_t *m = walk_comm(w, args[l->comm]);
    walk_comm_t *comm = m != NULL ? join(w, m) : NULL;
    int32_t index = comm != NULL ? walk_request_new(w) : -1;
    walk_request_t *r;

    if (index < 0)
        return false;
    r = walk_request_at(w, index);
    r->kind = WALK_COLLECTIVE;
    r->is_persistent = true;
    r->is_active = false;
    if (!walk_keep(w, r, site, args))
        return false;
    r->kept->part = (walk_member_t){.comm = comm, .rank = m->rank};
    return walk_set_handle(w, args[site->count - 1], WALK_REQUEST_FIRST + index);
}

bool walk_coll_again(walker_t *w, walk_request_t *r)
{
    r->is_active = true;
    r->is_done = false;
    return walk_coll_begin(w, &r->kept->part, r->kept->site, r->kept->args, r);
}

const walk_call_t walk_calls_persistent[] = {
    {"Barrier_init", init, XY_COLL_BARRIER | WALK_NONBLOCKING},
    {"Bcast_init", init, XY_COLL_BCAST | WALK_NONBLOCKING},
    {"Gather_init", init, XY_COLL_GATHER | WALK_NONBLOCKING},
    {"Gatherv_init", init, XY_COLL_GATHERV | WALK_NONBLOCKING},
    {"Scatter_init", init, XY_COLL_SCATTER | WALK_NONBLOCKING},
    {"Scatterv_init", init, XY_COLL_SCATTERV | WALK_NONBLOCKING},
    {"Allgather_init", init, XY_COLL_ALLGATHER | WALK_NONBLOCKING},
    {"Allgatherv_init", init, XY_COLL_ALLGATHERV | WALK_NONBLOCKING},
    {"Alltoall_init", init, XY_COLL_ALLTOALL | WALK_NONBLOCKING},
    {"Alltoallv_init", init, XY_COLL_ALLTOALLV | WALK_NONBLOCKING},
    {"Alltoallw_init", init, XY_COLL_ALLTOALLW | WALK_NONBLOCKING},
    {"Reduce_init", init, XY_COLL_REDUCE | WALK_NONBLOCKING},
    {"Allreduce_init", init, XY_COLL_ALLREDUCE | WALK_NONBLOCKING},
    {"Reduce_scatter_init", init, XY_COLL_REDUCE_SCATTER | WALK_NONBLOCKING},
    {"Reduce_scatter_block_init", init, XY_COLL_REDUCE_SCATTER_BLOCK | WALK_NONBLOCKING},
    {"Scan_init", init, XY_COLL_SCAN | WALK_NONBLOCKING},
    {"Exscan_init", init, XY_COLL_EXSCAN | WALK_NONBLOCKING},
    {0}};
