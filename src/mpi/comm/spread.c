/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making communicators whose members are in several processes. There is no leader who could give
 * the others pointers: members exchange what they want as bytes, and each finds out by itself what
 * comes of it. What they cannot find out alone is the context: one member takes as many as are
 * needed from its process's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/make.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"

bool mpi_group_is_spread(const mpi_group_t *group)
{
    for (int i = 0; mpi_job->reach > 1 && i < group->size; i++)
        if (!mpi_rank_is_here(mpi_job, mpi_group_world(group, i)))
            return true;
    return false;
}

bool mpi_comm_is_spread(const mpi_comm_t *comm)
{
    return (comm->remote ? comm->merged : comm)->coll->interprocess != NULL;
}

/* ---- Exchanges ---- */

enum { TOLD = 400 };

static void *memory_or_abort(size_t bytes)
{
    void *memory = xy_calloc(bytes + 1, 1);

    if (!memory) {
        xy_fail_memory("making a communicator");
        mpi_job->abort(1);
    }
    return memory;
}

coll_call_t mpi_spread_bcast_call(int root, void *data, size_t bytes)
{
    mpi_type_t *type = mpi_type_of(MPI_BYTE);
    coll_call_t call = {.kind = &coll_bcast,
                        .root = root,
                        .send = data,
                        .receive = data,
                        .send_count = (int64_t)bytes,
                        .receive_count = (int64_t)bytes,
                        .send_type = type,
                        .receive_type = type};

    coll_agree_on(&call, bytes, type);
    return call;
}

/* The first that says something else than member 0. */
static bool find_other(const mpi_said_t *said, int size, int *a_p, int *b_p)
{
    *b_p = 0;
    for (*a_p = 1; *a_p < size; ++*a_p)
        if (said[*a_p].value != said[0].value)
            return true;
    return false;
}

/* Compare the topics of all members: all send a hash, and, where that differs, the text. */
static void compare_topics(mpi_comm_t *comm, const mpi_topic_t *topic)
{
    const mpi_call_t *call = &comm->owner->call;
    mpi_said_t own = {topic->value, {topic->more[0], topic->more[1]}};
    mpi_said_t *said = memory_or_abort((size_t)comm->size * sizeof *said);
    char told[TOLD] = "", detail[TOLD / 2] = "", place[TOLD / 4], *all;
    int a, b;
    bool is_found;

    if (mpi_spread_allgather(comm, &own, sizeof own, said) != MPI_SUCCESS) {
        xy_free(said);
        return;
    }
    is_found = topic->find_far ? topic->find_far(topic, said, comm->size, comm->rank, &a, &b)
                               : find_other(said, comm->size, &a, &b);
    xy_free(said);
    if (!is_found)
        return;
    if (topic->tell)
        topic->tell(topic, detail, sizeof detail);
    else
        topic->describe(topic, topic, detail, sizeof detail);
    mpi_caller_describe(call->caller, place, sizeof place);
    snprintf(told, sizeof told, "%s%.80s%scalls %.60s%s%s%s", mpi_job->hosts ? "on " : "",
             mpi_job->hosts ? mpi_job->hosts[mpi_job->process] : "", mpi_job->hosts ? " " : "",
             call->name, detail, place[0] ? " " : "", place);
    all = memory_or_abort((size_t)comm->size * sizeof told);
    mpi_spread_allgather(comm, told, sizeof told, all);
    if (comm->rank == a) {
        int first = a < b ? a : b, second = a < b ? b : a;

        coll_disagree_told(comm, first, all + (size_t)first * sizeof told, second,
                           all + (size_t)second * sizeof told);
    }
    xy_free(all);
}

/* The calls of the program continue being named. */
static int run(mpi_comm_t *comm, coll_call_t *call)
{
    mpi_rank_t *self = comm->owner;
    const mpi_topic_t *topic = self->topic;

    self->topic = NULL;
    if (topic)
        compare_topics(comm, topic);
    call->comm = comm;
    if (comm->coll->interprocess)
        call->kind = call->kind == &coll_bcast ? &coll_making_bcast : &coll_making_allgather;
    self->call.comm = comm;
    self->call.peer = MPI_UNDEFINED;
    return coll_run(self, call);
}

int mpi_spread_bcast(mpi_comm_t *comm, int root, void *data, size_t bytes)
{
    coll_call_t call = mpi_spread_bcast_call(root, data, bytes);

    return run(comm, &call);
}

int mpi_spread_allgather(mpi_comm_t *comm, const void *own, size_t bytes, void *all)
{
    mpi_type_t *type = mpi_type_of(MPI_BYTE);
    coll_call_t call = {.kind = &coll_allgather,
                        .send = own,
                        .receive = all,
                        .send_count = (int64_t)bytes,
                        .receive_count = (int64_t)bytes,
                        .send_type = type,
                        .receive_type = type};

    coll_agree_on(&call, bytes, type);
    return run(comm, &call);
}

char *mpi_spread_exchange(mpi_comm_t *comm, const void *own, size_t bytes, size_t *stride_p)
{
    size_t size = (size_t)comm->size, longest = 0;
    size_t *lengths = memory_or_abort(size * sizeof *lengths);
    char *padded, *all;

    mpi_spread_allgather(comm, &bytes, sizeof bytes, lengths);
    for (size_t r = 0; r < size; r++)
        longest = lengths[r] > longest ? lengths[r] : longest;
    xy_free(lengths);
    padded = memory_or_abort(longest);
    all = memory_or_abort(longest * size);
    if (bytes > 0)
        memcpy(padded, own, bytes);
    mpi_spread_allgather(comm, padded, longest, all);
    xy_free(padded);
    *stride_p = longest;
    return all;
}

uint32_t mpi_spread_context(mpi_comm_t *comm, int count)
{
    int link = mpi_link_of(comm->group);
    uint32_t context = comm->rank == 0 ? mpi_link_context_new(link, count) : 0;

    if (mpi_spread_bcast(comm, 0, &context, sizeof context) != MPI_SUCCESS)
        return XMPI_CONTEXT_NONE;
    return mpi_link_context(link, context);
}

/* ---- Plans ---- */

mpi_plan_t mpi_plan_spread(mpi_group_t *group, uint32_t context, int rank)
{
    mpi_plan_t plan = {.status = XY_ENOMEM, .rank = rank, .context = context};

    if (context == XMPI_CONTEXT_NONE)
        plan.status = XY_EINTERRUPTED;
    if (!group || context == XMPI_CONTEXT_NONE) {
        mpi_group_release(group);
        return plan;
    }
    plan.coll = mpi_coll_meet(group, context, 0);
    if (plan.coll) {
        plan.status = XY_OK;
        plan.group = plan.coll->group;
    }
    return plan;
}

mpi_plan_t mpi_plan_spread_inter(mpi_group_t *own, mpi_group_t *other, bool is_high,
                                 uint32_t context, int rank)
{
    mpi_group_t *low = is_high ? other : own, *high = is_high ? own : other;
    mpi_group_t *merged =
        low && high && context != XMPI_CONTEXT_NONE ? mpi_group_merge(low, high) : NULL;
    mpi_plan_t plan = {.status = XY_ENOMEM,
                       .rank = rank,
                       .context = context,
                       .merged_context = context + 1,
                       .is_high = is_high};

    if (context == XMPI_CONTEXT_NONE)
        plan.status = XY_EINTERRUPTED;
    plan.coll = merged ? mpi_coll_meet(merged, context + 1, low->size) : NULL;
    if (plan.coll) {
        plan.status = XY_OK;
        plan.group = own;
        plan.remote = other;
        plan.merged = plan.coll->group;
    } else {
        mpi_group_release(own);
        mpi_group_release(other);
    }
    return plan;
}

mpi_plan_t mpi_plan_spread_duplicate(mpi_comm_t *parent, uint32_t context)
{
    mpi_group_hold(parent->group, 1);
    if (!parent->remote)
        return mpi_plan_spread(parent->group, context, parent->rank);
    mpi_group_hold(parent->remote, 1);
    return mpi_plan_spread_inter(parent->group, parent->remote, parent->is_high, context,
                                 parent->rank);
}

/* ---- Split ---- */

/* The rank of a process among entries that begin at `first`. */
static int rank_of(const xy_split_entry_t *first, int world)
{
    int i = 0;

    while (first[i].process != world)
        i++;
    return i;
}

/* The plan of this rank's part of a split, with the groups of both sides for an intercommunicator.
 */
static mpi_plan_t plan_part(const mpi_comm_t *parent, const xy_split_entry_t *entries,
                            const xy_split_part_t *part, uint32_t context)
{
    const xy_split_entry_t *low = entries + part->first, *high = entries + part->high;
    mpi_group_t *low_group, *high_group;
    int world = parent->owner->world;

    if (!parent->remote)
        return mpi_plan_spread(mpi_split_group(low, part->end - part->first), context,
                               rank_of(low, world));
    low_group = mpi_split_group(low, part->high - part->first);
    high_group = mpi_split_group(high, part->end - part->high);
    return mpi_plan_spread_inter(parent->is_high ? high_group : low_group,
                                 parent->is_high ? low_group : high_group, parent->is_high, context,
                                 rank_of(parent->is_high ? high : low, world));
}

int mpi_comm_split_spread(mpi_comm_t *parent, int color, int key, mpi_comm_t **comm_p)
{
    mpi_comm_t *all = parent->remote ? parent->merged : parent;
    xy_split_entry_t own = {color, key, parent->owner->world, all->rank, parent->is_high};
    xy_split_entry_t *entries = xy_malloc((size_t)all->size * sizeof *entries);
    xy_split_part_t part = {0}, found = {0};
    mpi_plan_t plan = {.rank = MPI_UNDEFINED};
    int count, parts = 0, place = -1, code;
    uint32_t context;

    if (!entries) { /* the others wait for this one */
        xy_fail_memory("splitting a communicator");
        mpi_job->abort(1);
        return MPI_ERR_NO_MEM;
    }
    code = mpi_spread_allgather(all, &own, sizeof own, entries);
    if (code != MPI_SUCCESS) {
        xy_free(entries);
        return code;
    }
    for (int i = 0; i < all->size; i++) /* another job calls it something else */
        entries[i].process = mpi_group_world(all->group, i);
    count = xy_split_sort(entries, all->size);
    for (; xy_split_next(entries, count, parent->remote != NULL, &part); parts++)
        if (entries[part.first].color == color) {
            found = part;
            place = parts;
        }
    context = mpi_spread_context(all, 2 * parts + 1);
    if (context == XMPI_CONTEXT_NONE)
        plan.status = XY_EINTERRUPTED;
    else if (place >= 0)
        plan = plan_part(parent, entries, &found, context + 2 * (uint32_t)place);
    xy_free(entries);
    return mpi_comm_from_plan(parent, &plan, comm_p);
}
