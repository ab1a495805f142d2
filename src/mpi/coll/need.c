/* SPDX-License-Identifier: BSD-3-Clause */
/* Without whom a collective cannot end: for the one that looks for deadlocks. */
#include "mpi/coll/coll.h"
#include "mpi/coll/interprocess.h"
#include "mpi/coll/star.h"

/* The call of a request that its owner waits for, blocking ones included. */
static const coll_call_t *call_of(const mpi_request_t *request)
{
    bool is_blocking = request->kind == XMPI_KIND_COLL && request->release == NULL;

    return is_blocking ? request->extra : coll_call_of_request(request);
}

enum { ALL = -1, UNKNOWN = -2 };

/* By the data alone: an algorithm may do without members that have none to give. */
static int need_of_schedule(const coll_call_t *call)
{
    bool is_root = call->rank == call->root;

    if (call->kind->is_inter)
        return UNKNOWN;
    switch (call->kind->collective) {
    case XY_COLL_BARRIER:
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLTOALL:
    case XY_COLL_ALLREDUCE:
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        return ALL;
    case XY_COLL_BCAST:
    case XY_COLL_SCATTER:
        return is_root ? UNKNOWN : call->root;
    case XY_COLL_GATHER:
    case XY_COLL_REDUCE:
        return is_root ? ALL : UNKNOWN;
    default:
        return UNKNOWN;
    }
}

/* One that waits though it gives to the root, or is the root that gives, waits for a slot. Scans
 * wait for all earlier ranks, and for those of the same core. */
static int need_of_star(const coll_call_t *call)
{
    bool is_root = call->rank == call->root;

    switch (call->kind->star->shape) {
    case STAR_FROM_ROOT:
        return is_root ? UNKNOWN : call->root;
    case STAR_TO_ROOT:
        return is_root ? ALL : UNKNOWN;
    default:
        return call->rank == call->comm->size - 1 ? ALL : UNKNOWN;
    }
}

static int need_of_call(const coll_call_t *call)
{
    const coll_engine_ops_t *scheduled = coll_engine_scheduled();

    if (mpi_job->clock != NULL)
        return call->kind->collective == XY_COLL_COUNT ? ALL : need_of_schedule(call);

    if (scheduled != NULL &&
        (call->schedule != NULL || (call->how != COLL_BLOCKING && scheduled->wants(call))))
        return need_of_schedule(call);
    /* The others begin with a meeting of all. */
    return coll_star_wants(call) ? need_of_star(call) : ALL;
}

/* Members in several processes: those of one begin when all of them are there. Persistent ones have
 * numbers of their own. */
static bool need_of_interprocess(const coll_call_t *call, coll_need_t *need)
{
    if (call->how == COLL_PERSISTENT || call->kind->is_inter)
        return false;
    need->member = call->kind->collective == XY_COLL_COUNT ? ALL : need_of_schedule(call);
    need->is_together = interprocess_is_together(call);
    return need->member != UNKNOWN || need->is_together;
}

bool coll_need_of(const mpi_request_t *request, coll_need_t *need_p)
{
    const coll_call_t *call = call_of(request);

    if (call == NULL)
        return false;
    *need_p = (coll_need_t){.coll = call->comm->coll, .number = call->number};
    if (call->comm->coll->interprocess != NULL)
        return need_of_interprocess(call, need_p);
    if (mpi_job->processes > 1 && (call->how == COLL_PERSISTENT || call->kind->is_inter))
        return false;
    need_p->member = need_of_call(call);
    return need_p->member != UNKNOWN;
}
