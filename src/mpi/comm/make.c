/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/comm/make.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"

/* A collective part with one reference for each member. */
static xy_status_t coll_new(mpi_group_t *group, uint32_t context, mpi_coll_t **coll_p)
{
    mpi_coll_t *coll;
    xy_status_t status = mpi_coll_create(group, context, &coll);

    if (status != XY_OK)
        return status;
    for (int i = 0; i < group->size; i++)
        mpi_coll_hold(coll);
    *coll_p = coll;
    return XY_OK;
}

mpi_plan_t mpi_plan_intra(mpi_group_t *group)
{
    mpi_plan_t plan = {.group = group, .rank = MPI_UNDEFINED};

    if (!group) {
        plan.status = XY_ENOMEM;
        return plan;
    }
    plan.context = mpi_context_new(1);
    plan.status = coll_new(group, plan.context, &plan.coll);
    if (plan.status == XY_OK)
        mpi_group_hold(group, group->size - 1);
    else
        mpi_group_release(group);
    return plan;
}

mpi_group_t *mpi_group_merge(const mpi_group_t *low, const mpi_group_t *high)
{
    int *ranks = xy_malloc(((size_t)low->size + (size_t)high->size) * sizeof *ranks);

    if (!ranks)
        return NULL;
    for (int i = 0; i < low->size; i++)
        ranks[i] = mpi_group_world(low, i);
    for (int i = 0; i < high->size; i++)
        ranks[low->size + i] = mpi_group_world(high, i);
    return mpi_group_create(ranks, low->size + high->size);
}

void mpi_plan_inter(mpi_group_t *low, mpi_group_t *high, mpi_plan_t *low_p, mpi_plan_t *high_p)
{
    mpi_plan_t merged = mpi_plan_intra(mpi_group_merge(low, high));
    mpi_plan_t plan = {.status = merged.status,
                       .rank = MPI_UNDEFINED,
                       .coll = merged.coll,
                       .merged = merged.group,
                       .merged_context = merged.context};

    if (plan.status == XY_OK) {
        plan.coll->lows = low->size;
        /* Every member of both sides uses both groups. */
        mpi_group_hold(low, low->size + high->size - 1);
        mpi_group_hold(high, low->size + high->size - 1);
        plan.context = mpi_context_new(1);
    } else {
        mpi_group_release(low);
        mpi_group_release(high);
    }
    *low_p = *high_p = plan;
    low_p->group = high_p->remote = low;
    low_p->remote = high_p->group = high;
    high_p->is_high = true;
}

static void plan_release(const mpi_plan_t *plan)
{
    mpi_group_release(plan->group);
    mpi_group_release(plan->remote);
    mpi_group_release(plan->merged);
    mpi_coll_release(plan->coll);
}

/* Allocate a communicator with the error handler and session of its parent; NULL without memory. */
static mpi_comm_t *comm_new(const mpi_comm_t *parent, uint32_t context, mpi_group_t *group,
                            int rank)
{
    mpi_comm_t *comm = xy_calloc(1, sizeof *comm);

    if (!comm)
        return NULL;
    comm->mark = XMPI_COMM_LIVE;
    comm->context = context;
    comm->rank = rank;
    comm->size = group->size;
    comm->group = group;
    comm->owner = parent->owner;
    comm->references = 1;
    comm->errhandler = parent->errhandler;
    comm->info = MPI_INFO_NULL;
    comm->session = mpi_session_part_hold(parent->session);
    mpi_errhandler_hold(mpi_errhandler_of(comm->errhandler));
    return comm;
}

/* Allocate an intercommunicator and its hidden communicator of both groups; NULL without memory. */
static mpi_comm_t *comm_new_inter(const mpi_comm_t *parent, const mpi_plan_t *plan)
{
    int merged_rank = plan->rank + (plan->is_high ? plan->remote->size : 0);
    mpi_comm_t *comm = comm_new(parent, plan->context, plan->group, plan->rank);
    mpi_comm_t *merged = comm_new(parent, plan->merged_context, plan->merged, merged_rank);

    if (!comm || !merged) {
        if (comm || merged) {
            mpi_errhandler_release(mpi_errhandler_of(parent->errhandler));
            mpi_session_part_release(parent->session);
        }
        xy_free(comm);
        xy_free(merged);
        return NULL;
    }
    merged->coll = plan->coll;
    mpi_coll_join(merged);
    comm->merged = merged;
    comm->remote = plan->remote;
    comm->is_high = plan->is_high;
    return comm;
}

int mpi_comm_from_plan(mpi_comm_t *parent, const mpi_plan_t *plan, mpi_comm_t **comm_p)
{
    mpi_comm_t *comm;

    if (plan->status == XY_EINTERRUPTED && mpi_survives) /* already raised */
        return mpi_survive_error(parent, MPI_UNDEFINED);
    if (plan->status != XY_OK)
        return mpi_error_status(parent, plan->status, "the communicator could not be made");
    if (plan->rank == MPI_UNDEFINED) {
        *comm_p = NULL;
        return MPI_SUCCESS;
    }
    if (plan->remote) {
        comm = comm_new_inter(parent, plan);
    } else {
        comm = comm_new(parent, plan->context, plan->group, plan->rank);
        if (comm) {
            comm->coll = plan->coll;
            mpi_coll_join(comm);
        }
    }
    if (!comm) {
        plan_release(plan);
        return mpi_error_memory(parent, "a communicator");
    }
    mpi_comm_enlist(comm);
    if (comm->merged)
        mpi_comm_enlist(comm->merged);
    *comm_p = comm;
    return MPI_SUCCESS;
}

/* The request of a member to the leader of a split. */
typedef struct {
    xy_split_entry_t entry;
    bool is_inter; /* the parent is an intercommunicator */
} wish_t;

mpi_group_t *mpi_split_group(const xy_split_entry_t *entries, int count)
{
    int *ranks = xy_malloc((size_t)count * sizeof *ranks);

    if (!ranks)
        return NULL;
    for (int i = 0; i < count; i++)
        ranks[i] = entries[i].process;
    return mpi_group_create(ranks, count);
}

static void entries_tell(const xy_split_entry_t *entries, int count, const mpi_plan_t *plan,
                         void *const *outputs)
{
    for (int i = 0; i < count; i++) {
        mpi_plan_t *output = outputs[entries[i].member];

        *output = *plan;
        output->rank = i;
    }
}

/* The plans of an intercommunicator: `lows` entries of the low group, then those of the high one.
 */
static void plan_inter(const xy_split_entry_t *entries, int lows, int count, void *const *outputs)
{
    mpi_plan_t low_plan = {.status = XY_ENOMEM}, high_plan = low_plan;
    mpi_group_t *low = mpi_split_group(entries, lows);
    mpi_group_t *high = mpi_split_group(entries + lows, count - lows);

    if (low && high) {
        mpi_plan_inter(low, high, &low_plan, &high_plan);
    } else {
        mpi_group_release(low);
        mpi_group_release(high);
    }
    entries_tell(entries, lows, &low_plan, outputs);
    entries_tell(entries + lows, count - lows, &high_plan, outputs);
}

/* Leader of a split: sort the members by colour and key and give each the plan of its part. */
static void split_leader(void *const *inputs, int size, void *const *outputs)
{
    xy_split_entry_t *entries = xy_malloc((size_t)size * sizeof *entries);
    bool is_inter = ((const wish_t *)inputs[0])->is_inter;
    xy_split_part_t part = {0};
    int count = 0;

    for (int i = 0; i < size; i++) {
        mpi_plan_t plan = {.status = entries ? XY_OK : XY_ENOMEM, .rank = MPI_UNDEFINED};

        memcpy(outputs[i], &plan, sizeof plan);
        if (entries)
            entries[i] = ((const wish_t *)inputs[i])->entry;
    }
    if (entries)
        count = xy_split_sort(entries, size);
    while (xy_split_next(entries, count, is_inter, &part)) {
        const xy_split_entry_t *first = entries + part.first;

        if (is_inter) {
            plan_inter(first, part.high - part.first, part.end - part.first, outputs);
        } else {
            mpi_plan_t plan = mpi_plan_intra(mpi_split_group(first, part.end - part.first));

            entries_tell(first, part.end - part.first, &plan, outputs);
        }
    }
    xy_free(entries);
}

int mpi_comm_split(mpi_comm_t *parent, int color, int key, mpi_comm_t **comm_p)
{
    mpi_comm_t *all = parent->remote ? parent->merged : parent;
    wish_t wish = {{color, key, parent->owner->world, all->rank, parent->is_high},
                   parent->remote != NULL};
    mpi_plan_t plan;
    int code;

    if (mpi_comm_is_spread(parent))
        return mpi_comm_split_spread(parent, color, key, comm_p);
    code = mpi_coll_agree(all, &wish, &plan, split_leader);
    return code == MPI_SUCCESS ? mpi_comm_from_plan(parent, &plan, comm_p) : code;
}

void mpi_comm_duplicate_leader(void *const *inputs, int size, void *const *outputs)
{
    const mpi_comm_t *first = *(mpi_comm_t *const *)inputs[0];
    mpi_plan_t low, high;

    if (first->remote) {
        mpi_group_t *low_group = first->is_high ? first->remote : first->group;
        mpi_group_t *high_group = first->is_high ? first->group : first->remote;
        mpi_group_hold(low_group, 1);
        mpi_group_hold(high_group, 1);
        mpi_plan_inter(low_group, high_group, &low, &high);
    } else {
        mpi_group_hold(first->group, 1);
        low = high = mpi_plan_intra(first->group);
    }
    for (int i = 0; i < size; i++) {
        const mpi_comm_t *comm = *(mpi_comm_t *const *)inputs[i];
        mpi_plan_t *output = outputs[i];

        *output = comm->is_high ? high : low;
        output->rank = comm->rank;
    }
}

int mpi_comm_duplicate(mpi_comm_t *parent, mpi_comm_t **comm_p)
{
    mpi_plan_t plan;
    int code = MPI_SUCCESS;

    if (mpi_comm_is_spread(parent))
        plan = mpi_plan_spread_duplicate(
            parent, mpi_spread_context(parent->remote ? parent->merged : parent, 2));
    else
        code = mpi_coll_agree(parent->remote ? parent->merged : parent, &parent, &plan,
                              mpi_comm_duplicate_leader);
    return code == MPI_SUCCESS ? mpi_comm_from_plan(parent, &plan, comm_p) : code;
}
