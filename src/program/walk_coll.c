/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: what the simulated job is told of them. */
#include <mpi.h>
#include <string.h>

#include "program/walk_coll.h"

/* Positions of the arguments, -1: there is none. */
const walk_layout_t walk_layouts[XY_COLL_COUNT] = {
    [XY_COLL_BARRIER] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0},
    [XY_COLL_BCAST] = {-1, -1, -1, -1, 0, 1, 2, -1, -1, 3, 4},
    [XY_COLL_GATHER] = {0, 1, 2, -1, 3, 4, 5, -1, -1, 6, 7},
    [XY_COLL_GATHERV] = {0, 1, 2, -1, 3, 4, 6, 5, -1, 7, 8},
    [XY_COLL_SCATTER] = {0, 1, 2, -1, 3, 4, 5, -1, -1, 6, 7},
    [XY_COLL_SCATTERV] = {0, 1, 3, 2, 4, 5, 6, -1, -1, 7, 8},
    [XY_COLL_ALLGATHER] = {0, 1, 2, -1, 3, 4, 5, -1, -1, -1, 6},
    [XY_COLL_ALLGATHERV] = {0, 1, 2, -1, 3, 4, 6, 5, -1, -1, 7},
    [XY_COLL_ALLTOALL] = {0, 1, 2, -1, 3, 4, 5, -1, -1, -1, 6},
    [XY_COLL_ALLTOALLV] = {0, 1, 3, 2, 4, 5, 7, 6, -1, -1, 8},
    [XY_COLL_ALLTOALLW] = {0, 1, 3, 2, 4, 5, 7, 6, -1, -1, 8},
    [XY_COLL_REDUCE] = {0, -1, -1, -1, 1, 2, 3, -1, 4, 5, 6},
    [XY_COLL_ALLREDUCE] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
    [XY_COLL_REDUCE_SCATTER] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
    [XY_COLL_REDUCE_SCATTER_BLOCK] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
    [XY_COLL_SCAN] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
    [XY_COLL_EXSCAN] = {0, -1, -1, -1, 1, 2, 3, -1, 4, -1, 5},
};

bool walk_is_in_place(const code_site_t *site, const int64_t *args)
{
    const walk_layout_t *l = &walk_layouts[walk_extra(site) & WALK_COLLECTIVE_MASK];
    int64_t in_place = (int64_t)(intptr_t)MPI_IN_PLACE;

    return (l->send >= 0 && args[l->send] == in_place) ||
           (l->receive >= 0 && args[l->receive] == in_place);
}

bool walk_coll_start(walker_t *w, walk_member_t *m, const xy_vjob_coll_t *call, int32_t *request_p)
{
    int32_t index = walk_request_new(w);
    xy_vcomm_t *comm = index >= 0 ? walk_vcomm(w, m->comm) : NULL;
    walk_request_t *r;

    if (comm == NULL)
        return false;
    r = walk_request_at(w, index);
    r->kind = WALK_COLLECTIVE;
    r->comm = m->comm;
    r->rank = m->rank;
    r->number = m->number++;
    r->vreq = xy_vjob_collective(w->walk->job, w->rank, comm, call, NULL);
    if (r->vreq == NULL)
        return process_stop(&w->process);
    *request_p = index;
    return true;
}

/* ---- Counts ---- */

static bool is_sent_side(xy_collective_t c, bool is_root, bool in_place)
{
    switch (c) {
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
        return !is_root;
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        return is_root;
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        return !in_place;
    default:
        return false;
    }
}

/* Is what is counted on this side an array? */
static bool has_counts(xy_collective_t c, bool is_sent)
{
    switch (c) {
    case XY_COLL_GATHERV:
    case XY_COLL_ALLGATHERV:
        return !is_sent;
    case XY_COLL_SCATTERV:
        return is_sent;
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
    case XY_COLL_REDUCE_SCATTER:
        return true;
    default:
        return false;
    }
}

/* Elements (alltoallw: bytes) of each block. */
static bool read_counts(walker_t *w, const walk_layout_t *l, bool is_sent, const int64_t *args,
                        const xy_vjob_coll_t *call, uint64_t per_element, int32_t size,
                        uint64_t *counts)
{
    for (int32_t r = 0; r < size; r++) {
        walk_type_t type;
        int64_t handle;
        int32_t count;

        if (!walk_get_int(w, args[is_sent ? l->send_count : l->receive_count], r, &count))
            return false;
        if (count < 0)
            return process_fail(&w->process, "count %d is %d", r, count);
        if (call->collective == XY_COLL_ALLTOALLW) {
            if (!walk_get_handle(w, args[is_sent ? l->send_type : l->receive_type], r, &handle) ||
                !walk_type(w, handle, &type))
                return false;
            per_element = type.size;
        }
        counts[r] = (uint64_t)count * per_element;
    }
    return true;
}

static bool describe_sizes(walker_t *w, const walk_layout_t *l, const int64_t *args, int32_t size,
                           bool is_sent, xy_vjob_coll_t *call, uint64_t **counts_p)
{
    walk_type_t type = {.size = 1, .element = 1};
    int64_t count;

    if (call->collective != XY_COLL_ALLTOALLW &&
        !walk_type(w, args[is_sent ? l->send_type : l->receive_type], &type))
        return false;
    call->element = type.element;
    if (call->element == 0)
        call->element = 1;
    if (!has_counts(call->collective, is_sent)) {
        count = args[is_sent ? l->send_count : l->receive_count];
        if (count < 0)
            return process_fail(&w->process, "the count is %lld", (long long)count);
        call->count = (uint64_t)count * type.size / call->element;
        return true;
    }
    *counts_p = xy_malloc((size_t)size * sizeof(**counts_p));
    if (*counts_p == NULL)
        return process_fail_memory(&w->process);
    call->counts = *counts_p;
    return read_counts(w, l, is_sent, args, call, type.size / call->element, size, *counts_p);
}

/* What all say about a collective without data: there is nothing to do. */
static bool is_empty(const xy_vjob_coll_t *call, int32_t size)
{
    uint64_t total = call->count;

    if (call->collective == XY_COLL_BARRIER || call->collective == XY_COLL_GATHERV ||
        call->collective == XY_COLL_SCATTERV || call->collective == XY_COLL_ALLGATHERV ||
        call->collective == XY_COLL_ALLTOALLV || call->collective == XY_COLL_ALLTOALLW)
        return false;
    for (int32_t r = 0; call->counts != NULL && r < size; r++)
        total += call->counts[r];
    return total == 0;
}

/* Start it; *request_p is -1 where there is nothing to wait for. */
static bool begin(walker_t *w, const code_site_t *site, const int64_t *args, int32_t *request_p)
{
    xy_collective_t c = (xy_collective_t)(walk_extra(site) & WALK_COLLECTIVE_MASK);
    const walk_layout_t *l = &walk_layouts[c];
    walk_member_t *m = walk_comm(w, args[l->comm]);
    xy_vjob_coll_t call = {.collective = c, .element = 1};
    uint64_t *counts = NULL;
    bool is_ok = m != NULL, is_root;

    *request_p = -1;
    if (!is_ok)
        return false;
    call.root = l->root >= 0 ? (int32_t)args[l->root] : 0;
    call.in_place = walk_is_in_place(site, args);
    call.is_nonblocking = (walk_extra(site) & WALK_NONBLOCKING) != 0;
    call.is_user_op = l->op >= 0 && (args[l->op] == 1 || args[l->op] == 2);
    call.is_commutative = l->op < 0 || args[l->op] != 2;
    is_root = call.root == m->rank;
    if (call.root < 0 || call.root >= m->comm->size)
        return process_fail(&w->process, "the root is %d; the communicator has %d ranks", call.root,
                            m->comm->size);
    if (c != XY_COLL_BARRIER)
        is_ok = describe_sizes(w, l, args, m->comm->size, is_sent_side(c, is_root, call.in_place),
                               &call, &counts);
    if (is_ok && is_empty(&call, m->comm->size))
        m->number++;
    else if (is_ok)
        is_ok =
            walk_data_give(w, m, m->number, site, args) && walk_coll_start(w, m, &call, request_p);
    xy_free(counts);
    return is_ok;
}

/* Keep what is needed to deliver data at the end. */
static bool keep(walker_t *w, walk_request_t *r, const code_site_t *site, const int64_t *args)
{
    r->site = site;
    if (!walk_has_data(site))
        return true;
    r->args = xy_malloc((size_t)site->count * sizeof(*args));
    if (r->args == NULL)
        return process_fail_memory(&w->process);
    memcpy(r->args, args, (size_t)site->count * sizeof(*args));
    return true;
}

static bool collective(walker_t *w, const code_site_t *site, int64_t *args)
{
    if (w->process.phase == 0) {
        if (!begin(w, site, args, &w->current[0]))
            return false;
        if (w->current[0] < 0)
            return true;
        if (!keep(w, walk_request_at(w, w->current[0]), site, args))
            return false;
        w->process.phase = 1;
    }
    if (!walk_wait(w, w->current, 1, false))
        return false;
    walk_request_free(w, walk_request_at(w, w->current[0]));
    return true;
}

/* A collective that is over at once has a request that is done. */
static bool nonblocking(walker_t *w, const code_site_t *site, int64_t *args)
{
    int32_t index;

    if (!begin(w, site, args, &index))
        return false;
    if (index < 0) {
        index = walk_request_new(w);
        if (index < 0)
            return false;
        walk_request_at(w, index)->kind = WALK_COLLECTIVE;
        walk_request_at(w, index)->is_done = true;
    } else if (!keep(w, walk_request_at(w, index), site, args)) {
        return false;
    }
    return walk_set_handle(w, args[site->count - 1], WALK_REQUEST_FIRST + index);
}

const walk_call_t walk_calls_coll[] = {
    {"Barrier", collective, XY_COLL_BARRIER},
    {"Ibarrier", nonblocking, XY_COLL_BARRIER | WALK_NONBLOCKING},
    {"Bcast", collective, XY_COLL_BCAST},
    {"Ibcast", nonblocking, XY_COLL_BCAST | WALK_NONBLOCKING},
    {"Gather", collective, XY_COLL_GATHER},
    {"Igather", nonblocking, XY_COLL_GATHER | WALK_NONBLOCKING},
    {"Gatherv", collective, XY_COLL_GATHERV},
    {"Igatherv", nonblocking, XY_COLL_GATHERV | WALK_NONBLOCKING},
    {"Scatter", collective, XY_COLL_SCATTER},
    {"Iscatter", nonblocking, XY_COLL_SCATTER | WALK_NONBLOCKING},
    {"Scatterv", collective, XY_COLL_SCATTERV},
    {"Iscatterv", nonblocking, XY_COLL_SCATTERV | WALK_NONBLOCKING},
    {"Allgather", collective, XY_COLL_ALLGATHER},
    {"Iallgather", nonblocking, XY_COLL_ALLGATHER | WALK_NONBLOCKING},
    {"Allgatherv", collective, XY_COLL_ALLGATHERV},
    {"Iallgatherv", nonblocking, XY_COLL_ALLGATHERV | WALK_NONBLOCKING},
    {"Alltoall", collective, XY_COLL_ALLTOALL},
    {"Ialltoall", nonblocking, XY_COLL_ALLTOALL | WALK_NONBLOCKING},
    {"Alltoallv", collective, XY_COLL_ALLTOALLV},
    {"Ialltoallv", nonblocking, XY_COLL_ALLTOALLV | WALK_NONBLOCKING},
    {"Alltoallw", collective, XY_COLL_ALLTOALLW},
    {"Ialltoallw", nonblocking, XY_COLL_ALLTOALLW | WALK_NONBLOCKING},
    {"Reduce", collective, XY_COLL_REDUCE},
    {"Ireduce", nonblocking, XY_COLL_REDUCE | WALK_NONBLOCKING},
    {"Allreduce", collective, XY_COLL_ALLREDUCE},
    {"Iallreduce", nonblocking, XY_COLL_ALLREDUCE | WALK_NONBLOCKING},
    {"Reduce_scatter", collective, XY_COLL_REDUCE_SCATTER},
    {"Ireduce_scatter", nonblocking, XY_COLL_REDUCE_SCATTER | WALK_NONBLOCKING},
    {"Reduce_scatter_block", collective, XY_COLL_REDUCE_SCATTER_BLOCK},
    {"Ireduce_scatter_block", nonblocking, XY_COLL_REDUCE_SCATTER_BLOCK | WALK_NONBLOCKING},
    {"Scan", collective, XY_COLL_SCAN},
    {"Iscan", nonblocking, XY_COLL_SCAN | WALK_NONBLOCKING},
    {"Exscan", collective, XY_COLL_EXSCAN},
    {"Iexscan", nonblocking, XY_COLL_EXSCAN | WALK_NONBLOCKING},
    {0}};
