/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators of groups: MPI_Comm_create, which all members of the parent call, and those that
 * only the members of the group call: MPI_Comm_create_group, MPI_Comm_create_from_group.
 */
#include <limits.h>
#include <stdio.h>

#include "mpi/comm/calls.h"
#include "mpi/comm/comm.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

/* Give the program the handle of a new communicator. */
static int give(int code, const mpi_comm_t *made, MPI_Comm *newcomm)
{
    if (code == MPI_SUCCESS)
        *newcomm = made ? mpi_comm_handle(made) : MPI_COMM_NULL;
    return code;
}

/* Every member of the group must be one of the communicator (of its local group). */
static int check_members(mpi_comm_t *comm, const mpi_group_t *group)
{
    int *index = mpi_group_index(comm->group), missing = -1;

    if (!index)
        return mpi_error_memory(comm, "the ranks of a communicator");
    for (int i = 0; i < group->size && missing < 0; i++)
        if (index[mpi_group_world(group, i)] == MPI_UNDEFINED)
            missing = i;
    xy_free(index);
    if (missing < 0)
        return MPI_SUCCESS;
    return mpi_error(comm, MPI_ERR_GROUP,
                     "rank %d of the group, rank %d of MPI_COMM_WORLD, is not in %s", missing,
                     mpi_group_world(group, missing), mpi_comm_name(comm));
}

typedef struct {
    const mpi_group_t *group, *parent; /* parent: those whose order is that of the members */
} given_t;

static const mpi_group_t *group_of(const mpi_topic_t *topic)
{
    return ((const given_t *)topic->data)->group;
}

/* " with the group of ranks 0, 2, 3". */
static void describe_group(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                           size_t room)
{
    const mpi_group_t *group = group_of(topic);
    size_t length = 0;

    (void)other;
    snprintf(text, room, " with an empty group");
    for (int i = 0; i < group->size && length + 16 < room; i++)
        length += (size_t)snprintf(text + length, room - length, "%s%d",
                                   i > 0              ? ", "
                                   : group->size == 1 ? " with the group of rank "
                                                      : " with the group of ranks ",
                                   mpi_group_world(group, i));
}

/* A member of a group that gives another one. What the first member of a group gives stands for it:
 * so each member is compared with one other, and the first with all of its group. */
static bool find_member(const mpi_topic_t *const *topics, const int *index, int a, int *b_p)
{
    const mpi_group_t *group = group_of(topics[a]);
    int first = group->size > 0 ? index[mpi_group_world(group, 0)] : a;

    *b_p = first;
    if (topics[first]->value != topics[a]->value)
        return true;
    for (int i = 1; a == first && i < group->size; i++) {
        *b_p = index[mpi_group_world(group, i)];
        if (topics[*b_p]->value != topics[a]->value)
            return true;
    }
    return false;
}

/* Groups may be different, but the members of each give the same one. */
static bool find_group(const mpi_topic_t *const *topics, int size, int *a_p, int *b_p)
{
    int *index = mpi_group_index(((const given_t *)topics[0]->data)->parent);
    bool is_found = false;

    for (int r = 0; index && r < size && !is_found; r++) {
        is_found = find_member(topics, index, r, b_p);
        *a_p = r;
    }
    xy_free(index);
    return is_found;
}

/* A member of the caller's group that gives another one; -1: none. */
static int find_in_group(const mpi_topic_t *topic, const mpi_said_t *said)
{
    const given_t *given = topic->data;
    int *index = mpi_group_index(given->parent), found = -1;

    for (int i = 0; index && i < given->group->size && found < 0; i++) {
        int member = index[mpi_group_world(given->group, i)];

        if (said[member].value != topic->value)
            found = member;
    }
    xy_free(index);
    return found;
}

/* `more`: the first member of the group, or -1, and how many it has; 0 of one that is no member. A
 * group that the members of another give, too, has fewer members who give it than it has. */
static bool find_far(const mpi_topic_t *topic, const mpi_said_t *said, int size, int own, int *a_p,
                     int *b_p)
{
    for (*a_p = 0; *a_p < size; ++*a_p) {
        const mpi_said_t *a = &said[*a_p];
        int count = 0;

        *b_p = a->more[0];
        if (*b_p >= 0 && said[*b_p].value != a->value)
            return true;
        for (int r = 0; r < size && *b_p == *a_p; r++)
            count += said[r].value == a->value && said[r].more[1] > 0;
        if (*b_p == *a_p && count < a->more[1]) {
            *b_p = *a_p == own ? find_in_group(topic, said) : 0;
            *b_p = *b_p < 0 ? 0 : *b_p;
            return true;
        }
    }
    return false;
}

/* The topic by which members compare the groups that they give. */
static mpi_topic_t topic_of(const given_t *given, int rank)
{
    const mpi_group_t *group = given->group;
    uint64_t value = mpi_topic_add(0, group->size);
    int *index = mpi_group_index(given->parent); /* other jobs number the world in another way */

    for (int i = 0; index && i < group->size; i++)
        value = mpi_topic_add(value, index[mpi_group_world(group, i)]);
    xy_free(index);
    return (mpi_topic_t){
        .value = value,
        .data = given,
        .find = find_group,
        .describe = describe_group,
        .find_far = find_far,
        .more = {group->size > 0 ? mpi_group_rank(given->parent, mpi_group_world(group, 0)) : -1,
                 rank != MPI_UNDEFINED ? group->size : 0}};
}

/* The members of each group find each other by the group's first member. */
int impl_comm_create(MPI_Comm handle, MPI_Group group_handle, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle), *made = NULL;
    const mpi_group_t *group = mpi_group_of(group_handle);
    given_t given = {.group = group};
    mpi_topic_t topic;
    int rank, color = 0, code;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!group)
        return mpi_group_refuse(comm, group_handle);
    code = check_members(comm, group);
    if (code != MPI_SUCCESS)
        return code;
    rank = mpi_group_rank(group, comm->owner->world);
    if (rank == MPI_UNDEFINED)
        color = MPI_UNDEFINED;
    else if (!comm->remote)
        color = mpi_group_rank(comm->group, mpi_group_world(group, 0));
    given.parent = comm->remote ? comm->merged->group : comm->group;
    topic = topic_of(&given, rank);
    comm->owner->topic = &topic;
    code = mpi_comm_split(comm, color, rank, &made);
    comm->owner->topic = NULL;
    return give(code, made, newcomm);
}

/* Send the first member's data down a binomial tree of the group: only the members take part. */
static int spread_down(mpi_comm_t *comm, const mpi_group_t *group, int rank, int tag, void *data,
                       int bytes)
{
    const mpi_call_t call = comm->owner->call;
    mpi_comm_t shadow = mpi_comm_shadow(comm, XMPI_CONTEXT_SHADOW);
    MPI_Comm handle = (MPI_Comm)(void *)&shadow;
    int code = MPI_SUCCESS, bit = 1;

    for (; bit < group->size && !(rank & bit); bit <<= 1)
        continue;
    if (rank > 0)
        code = impl_recv(comm->owner, data, bytes, MPI_BYTE,
                         mpi_group_rank(comm->group, mpi_group_world(group, rank - bit)), tag,
                         handle, MPI_STATUS_IGNORE);
    for (bit >>= 1; bit > 0 && code == MPI_SUCCESS; bit >>= 1)
        if (rank + bit < group->size)
            code = impl_send(comm->owner, data, bytes, MPI_BYTE,
                             mpi_group_rank(comm->group, mpi_group_world(group, rank + bit)), tag,
                             handle);
    comm->owner->call = call;
    return code;
}

/* The first member made a communicator of the group that it gave. */
static int check_same(mpi_comm_t *parent, const mpi_group_t *group, const mpi_group_t *made)
{
    int i = 0, world = mpi_group_world(made, 0);

    if (made->size != group->size)
        return mpi_error(parent, MPI_ERR_GROUP,
                         "the group has %d ranks here and %d at rank %d; all members must give the "
                         "same group",
                         group->size, made->size, world);
    while (i < group->size && mpi_group_world(group, i) == mpi_group_world(made, i))
        i++;
    if (i == group->size)
        return MPI_SUCCESS;
    return mpi_error(
        parent, MPI_ERR_GROUP,
        "rank %d of the group is rank %d here and rank %d at rank %d; all members must "
        "give the same group",
        i, mpi_group_world(group, i), mpi_group_world(made, i), world);
}

/* Its first member, in another process perhaps, gives `size` ranks: which? */
static int check_far(mpi_comm_t *parent, const mpi_group_t *group, int rank, int tag, int size)
{
    int *ranks = xy_malloc((size_t)size * sizeof *ranks), code;
    mpi_group_t *made = NULL;

    for (int i = 0; ranks && rank == 0 && i < size; i++)
        ranks[i] = mpi_group_world(group, i);
    if (!ranks) {
        xy_fail_memory("making a communicator");
        mpi_job->abort(1); /* the others wait */
        return MPI_ERR_NO_MEM;
    }
    code = spread_down(parent, group, rank, tag, ranks, size * (int)sizeof *ranks);
    if (code == MPI_SUCCESS)
        made = mpi_group_create(ranks, size);
    else
        xy_free(ranks);
    if (made)
        code = check_same(parent, group, made);
    mpi_group_release(made);
    return code;
}

int mpi_comm_from_group(mpi_comm_t *parent, mpi_group_t *group, int tag, mpi_comm_t **comm_p)
{
    int rank = mpi_group_rank(group, parent->owner->world), code;
    bool is_spread = mpi_group_is_spread(group);
    mpi_plan_t plan = {0};

    if (rank == 0 && is_spread) {
        plan = (mpi_plan_t){.context = mpi_link_context_new(mpi_link_of(group), 1),
                            .rank = group->size};
    } else if (rank == 0) {
        mpi_group_hold(group, 1);
        plan = mpi_plan_intra(group);
    }
    code = spread_down(parent, group, rank, tag, &plan, sizeof plan);
    if (code == MPI_SUCCESS && plan.status == XY_OK && plan.coll)
        code = check_same(parent, group, plan.group);
    else if (code == MPI_SUCCESS && plan.status == XY_OK && mpi_job->processes > 1 &&
             mpi_link_of(group) == 0) /* another job has other numbers for them */
        code = check_far(parent, group, rank, tag, plan.rank);
    if (code != MPI_SUCCESS)
        return code;
    if (is_spread) { /* the context is all that means something in other processes */
        mpi_group_hold(group, 1);
        plan = mpi_plan_spread(group, mpi_link_context(mpi_link_of(group), plan.context), rank);
    }
    plan.rank = rank;
    return mpi_comm_from_plan(parent, &plan, comm_p);
}

int impl_comm_create_group(MPI_Comm handle, MPI_Group group_handle, int tag, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle), *made = NULL;
    mpi_group_t *group = mpi_group_of(group_handle);
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!group)
        return mpi_group_refuse(comm, group_handle);
    if (comm->remote)
        return mpi_error(comm, MPI_ERR_COMM, "%s is an intercommunicator", mpi_comm_name(comm));
    if (tag < 0)
        return mpi_error(comm, MPI_ERR_TAG, "the tag is %d; it must not be negative",
                         mpi_number_passed(tag));
    code = check_members(comm, group);
    if (code == MPI_SUCCESS && mpi_group_rank(group, comm->owner->world) != MPI_UNDEFINED)
        code = mpi_comm_from_group(comm, group, tag, &made);
    return give(code, made, newcomm);
}

/* ---- Without a parent -------------------------------------------------------------------- */

int mpi_parent_begin(mpi_rank_t *self, const char *stringtag, MPI_Errhandler errhandler,
                     mpi_parent_t *parent)
{
    parent->comm = mpi_comm_shadow(self->comm_world, 0);
    if (mpi_errhandler_refuse(errhandler, XMPI_HANDLER_COMM))
        return mpi_error_raise(NULL, MPI_ERR_ERRHANDLER,
                               mpi_errhandler_refuse(errhandler, XMPI_HANDLER_COMM));
    parent->comm.errhandler = errhandler;
    parent->tag = 0;
    for (const char *c = stringtag; *c; c++)
        parent->tag = parent->tag * 31 + (unsigned char)*c;
    parent->tag &= INT_MAX;
    return MPI_SUCCESS;
}

int mpi_from_group_refuse_null(const char *name, const void *site, MPI_Errhandler errhandler,
                               const char *argument)
{
    mpi_rank_t *self = mpi_enter_any(name, site);
    mpi_parent_t parent;
    int code;

    if (!self || !mpi_phase_is_running(self->phase))
        return mpi_leave_any(self, mpi_error_null_on(NULL, argument));
    code = mpi_parent_begin(self, "", errhandler, &parent);
    if (code == MPI_SUCCESS)
        code = mpi_error_null_on(&parent.comm, argument);
    return mpi_leave_any(self, code);
}

int mpi_parent_check(mpi_parent_t *parent, MPI_Group handle)
{
    const mpi_group_t *group = mpi_group_of(handle);

    if (!group)
        return mpi_group_refuse(&parent->comm, handle);
    if (group->size > 0 && mpi_group_rank(group, parent->comm.owner->world) == MPI_UNDEFINED)
        return mpi_error(&parent->comm, MPI_ERR_GROUP, "this rank is not in the group");
    parent->comm.session = mpi_group_session(handle);
    return MPI_SUCCESS;
}

int impl_comm_create_from_group(mpi_rank_t *self, MPI_Group group, const char *stringtag,
                                MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    mpi_comm_t *made = NULL;
    mpi_parent_t parent;
    int code = mpi_parent_begin(self, stringtag, errhandler, &parent);

    if (code == MPI_SUCCESS)
        code = mpi_info_check(&parent.comm, info);
    if (code == MPI_SUCCESS)
        code = mpi_parent_check(&parent, group);
    if (code == MPI_SUCCESS && mpi_group_of(group)->size > 0)
        code = mpi_comm_from_group(&parent.comm, mpi_group_of(group), (int)parent.tag, &made);
    if (made)
        code = mpi_comm_copy_info(&parent.comm, mpi_info_of(info), made);
    if (made && code != MPI_SUCCESS)
        mpi_comm_release(made);
    return give(code, made, newcomm);
}
