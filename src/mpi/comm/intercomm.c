/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: made from two groups that do not overlap, and merged into one.
 *
 * The two leaders exchange their groups through the peer communicator; the one with the
 * lower world rank makes what all share and sends it to the other; then each passes it to its own
 * side.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/comm/calls.h"
#include "mpi/comm/make.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"
#include "sim/sim.h"

/* The message between the leaders: a group with one reference for the receiver, or the plan. */
typedef struct {
    mpi_group_t *group;
    int world; /* of the sending leader */
} greeting_t;

_Static_assert(sizeof(greeting_t) == XY_VJOB_GREETING && sizeof(mpi_plan_t) == XY_VJOB_PLAN,
               "predictions send the same messages");

static bool overlap(const mpi_group_t *a, const mpi_group_t *b, xy_status_t *status_p)
{
    int *index = mpi_group_index(a);
    bool found = false;

    *status_p = index ? XY_OK : XY_ENOMEM;
    for (int i = 0; index && i < b->size && !found; i++)
        found = index[mpi_group_world(b, i)] != MPI_UNDEFINED;
    xy_free(index);
    return found;
}

/* The leader that makes the shared part. The plan of the other side goes into *theirs_p. */
static mpi_plan_t plan_both(mpi_group_t *ours, mpi_group_t *theirs, mpi_plan_t *theirs_p)
{
    mpi_plan_t plan = {.rank = MPI_UNDEFINED};

    if (overlap(ours, theirs, &plan.status))
        plan.status = XY_EINVAL;
    if (plan.status != XY_OK) {
        mpi_group_release(ours);
        mpi_group_release(theirs);
        *theirs_p = plan;
        return plan;
    }
    mpi_plan_inter(ours, theirs, &plan, theirs_p);
    return plan;
}

/* Between the leaders; `plan` is for the side of the caller. */
static int leaders_exchange(mpi_comm_t *local, mpi_comm_t *shadow, int remote_leader, int tag,
                            mpi_plan_t *plan)
{
    mpi_rank_t *self = local->owner;
    greeting_t mine = {local->group, self->world}, other;
    MPI_Comm handle = (MPI_Comm)(void *)shadow;
    mpi_plan_t theirs;
    int code;

    mpi_group_hold(local->group, 1);
    code = impl_sendrecv(self, &mine, sizeof mine, MPI_BYTE, remote_leader, tag, &other,
                         sizeof other, MPI_BYTE, remote_leader, tag, handle, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        return code;
    if (mine.world > other.world) {
        mpi_group_release(other.group);
        return impl_recv(self, plan, sizeof *plan, MPI_BYTE, remote_leader, tag, handle,
                         MPI_STATUS_IGNORE);
    }
    mpi_group_hold(local->group, 1); /* the plan takes one; the other leader drops its own */
    *plan = plan_both(local->group, other.group, &theirs);
    return impl_send(self, &theirs, sizeof theirs, MPI_BYTE, remote_leader, tag, handle);
}

static int leaders_meet(mpi_comm_t *local, mpi_comm_t *peer, int remote_leader, int tag,
                        mpi_plan_t *plan)
{
    const mpi_call_t call = local->owner->call; /* messages describe themselves there */
    mpi_comm_t shadow = mpi_comm_shadow(peer, XMPI_CONTEXT_SHADOW);
    int code = leaders_exchange(local, &shadow, remote_leader, tag, plan);

    local->owner->call = call;
    return code;
}

/* In each local group: the member that has a plan gives it to all. */
static void tell_side(void *const *inputs, int size, void *const *outputs)
{
    const mpi_plan_t *plan = NULL;

    for (int i = 0; i < size && !plan; i++)
        plan = *(mpi_plan_t *const *)inputs[i];
    for (int i = 0; i < size; i++) {
        mpi_plan_t *output = outputs[i];

        *output = *plan;
        output->rank = i;
    }
}

/* Check the arguments of MPI_Intercomm_create; the peer's only at the leader. Returns an MPI error
 * code. */
static int check_create(mpi_comm_t *local, int local_leader, MPI_Comm peer_handle,
                        int remote_leader, int tag)
{
    const mpi_comm_t *peer = mpi_comm_of(peer_handle);
    int size;

    if (local->remote)
        return mpi_error(local, MPI_ERR_COMM, "the local communicator is an intercommunicator");
    if (mpi_link_of(local->group) != 0)
        return mpi_error(local, MPI_ERR_COMM,
                         "the local communicator has ranks of another job; split it first");
    if (local_leader < 0 || local_leader >= local->size)
        return mpi_error(local, MPI_ERR_RANK, "the local leader is %d; the group has %d ranks",
                         local_leader, local->size);
    if (local->rank != local_leader)
        return MPI_SUCCESS;
    if (!peer)
        return mpi_comm_refuse(peer_handle);
    size = peer->remote ? peer->remote->size : peer->size;
    if (remote_leader < 0 || remote_leader >= size)
        return mpi_error(local, MPI_ERR_RANK,
                         "the remote leader is %d; the peer group has %d ranks", remote_leader,
                         size);
    if (tag < 0)
        return mpi_error(local, MPI_ERR_TAG, "the tag is %d; it must not be negative",
                         mpi_number_passed(tag));
    return MPI_SUCCESS;
}

/* ---- Where groups may be in several processes: they travel as lists of ranks ---- */

/* The message between the leaders, and then to their sides. */
typedef struct {
    int world, size; /* of the leader; of its group */
    xy_status_t status;
    uint32_t context; /* of the intercommunicator, and the next of the merged one */
    bool is_high;
    bool is_foreign; /* the other side is of another job: no further message */
} far_t;

static int *ranks_of(const mpi_group_t *group)
{
    int *ranks = xy_malloc((size_t)group->size * sizeof *ranks);

    for (int i = 0; ranks && i < group->size; i++)
        ranks[i] = mpi_group_world(group, i);
    return ranks;
}

static mpi_group_t *group_of_copy(const int *ranks, int size)
{
    int *copy = xy_malloc((size_t)size * sizeof *copy);

    if (!copy)
        return NULL;
    memcpy(copy, ranks, (size_t)size * sizeof *copy);
    return mpi_group_create(copy, size);
}

/* The leader with the lower rank decides. */
static void decide(const mpi_group_t *ours, const int *ranks, far_t *other)
{
    mpi_group_t *theirs = group_of_copy(ranks, other->size);

    other->status = XY_ENOMEM;
    if (theirs && overlap(ours, theirs, &other->status))
        other->status = XY_EINVAL;
    other->context = mpi_context_new(2);
    mpi_group_release(theirs);
}

/* Between the leaders: the other group into *ranks_p, and what both sides have to know. */
static int leaders_exchange_far(mpi_comm_t *local, mpi_comm_t *shadow, int remote_leader, int tag,
                                far_t *other, int **ranks_p)
{
    mpi_rank_t *self = local->owner;
    MPI_Comm handle = (MPI_Comm)(void *)shadow;
    far_t mine = {.world = self->world, .size = local->size};
    int *own = ranks_of(local->group), code;

    code = impl_sendrecv(self, &mine, sizeof mine, MPI_BYTE, remote_leader, tag, other,
                         sizeof *other, MPI_BYTE, remote_leader, tag, handle, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || !own) {
        xy_free(own);
        return code != MPI_SUCCESS ? code : MPI_ERR_NO_MEM;
    }
    *ranks_p = xy_malloc((size_t)other->size * sizeof **ranks_p);
    if (!*ranks_p) {
        xy_free(own);
        return MPI_ERR_NO_MEM;
    }
    code = impl_sendrecv(self, own, mine.size, MPI_INT, remote_leader, tag, *ranks_p, other->size,
                         MPI_INT, remote_leader, tag, handle, MPI_STATUS_IGNORE);
    xy_free(own);
    if (code != MPI_SUCCESS)
        return code;
    other->is_high = mine.world > other->world;
    if (!other->is_high) {
        decide(local->group, *ranks_p, other);
        return impl_send(self, other, sizeof *other, MPI_BYTE, remote_leader, tag, handle);
    }
    code = impl_recv(self, &mine, sizeof mine, MPI_BYTE, remote_leader, tag, handle,
                     MPI_STATUS_IGNORE);
    other->status = mine.status;
    other->context = mine.context;
    return code;
}

static int leaders_meet_far(mpi_comm_t *local, mpi_comm_t *peer, int remote_leader, int tag,
                            far_t *other, int **ranks_p)
{
    const mpi_call_t call = local->owner->call;
    mpi_comm_t shadow = mpi_comm_shadow(peer, XMPI_CONTEXT_SHADOW);
    int code = leaders_exchange_far(local, &shadow, remote_leader, tag, other, ranks_p);

    local->owner->call = call;
    return code;
}

static mpi_plan_t plan_far(mpi_comm_t *local, const far_t *other, const int *ranks)
{
    if (other->status != XY_OK)
        return (mpi_plan_t){.status = other->status};
    mpi_group_hold(local->group, 1);
    return mpi_plan_spread_inter(local->group, group_of_copy(ranks, other->size), other->is_high,
                                 other->context, local->rank);
}

static bool is_foreign(const mpi_comm_t *peer, int remote_leader)
{
    return mpi_rank_is_foreign(mpi_job, mpi_comm_world_rank(peer, remote_leader));
}

/* Agree on an intercommunicator whose members are in several processes; *plan carries a failure. */
static int create_far(mpi_comm_t *local, int local_leader, mpi_comm_t *peer, int remote_leader,
                      int tag, mpi_plan_t *plan)
{
    far_t other = {.status = XY_EIO};
    int *ranks = NULL, code = MPI_SUCCESS;

    if (local->rank == local_leader && is_foreign(peer, remote_leader))
        other.is_foreign = true;
    else if (local->rank == local_leader)
        code = leaders_meet_far(local, peer, remote_leader, tag, &other, &ranks);
    if (code != MPI_SUCCESS) /* the others must hear of it */
        other = (far_t){.status = XY_EIO};
    mpi_spread_bcast(local, local_leader, &other, sizeof other);
    if (other.is_foreign) {
        *plan = (mpi_plan_t){.is_foreign = true};
        return MPI_SUCCESS;
    }
    if (other.status == XY_OK && local->rank != local_leader) {
        ranks = xy_malloc((size_t)other.size * sizeof *ranks);
        if (!ranks) {
            xy_fail_memory("making an intercommunicator");
            mpi_job->abort(1);
        }
    }
    if (other.status == XY_OK)
        mpi_spread_bcast(local, local_leader, ranks, (size_t)other.size * sizeof *ranks);
    *plan = plan_far(local, &other, ranks);
    xy_free(ranks);
    return MPI_SUCCESS;
}

static void describe_leader(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                            size_t room)
{
    (void)other;
    snprintf(text, room, " with local leader %d", *(const int *)topic->data);
}

/* Before the leaders meet: others that take themselves for leaders would wait in vain. */
static void compare_leaders(mpi_comm_t *local, const mpi_topic_t *topic)
{
    int leader = *(const int *)topic->data;

    local->owner->topic = topic;
    mpi_spread_bcast(local, 0, &leader, sizeof leader);
}

/* The arguments are good. */
int mpi_intercomm_make(mpi_comm_t *local, int local_leader, mpi_comm_t *peer, int remote_leader,
                       int tag, mpi_comm_t **made_p)
{
    mpi_topic_t topic = {
        .value = (uint64_t)local_leader, .data = &local_leader, .describe = describe_leader};
    mpi_plan_t mine, plan, *told = NULL;
    int code = MPI_SUCCESS;

    if (mpi_job->processes > 1) {
        compare_leaders(local, &topic);
        code = create_far(local, local_leader, peer, remote_leader, tag, &plan);
    } else if (local->rank == local_leader) {
        const mpi_call_t call = local->owner->call;

        if (is_foreign(peer, remote_leader))
            mine = (mpi_plan_t){.is_foreign = true};
        else
            code = leaders_meet(local, peer, remote_leader, tag, &mine);
        local->owner->call = call;
        /* The others wait for a plan: they must hear of the failure. */
        if (code != MPI_SUCCESS)
            mine = (mpi_plan_t){.status = XY_EIO};
        told = &mine;
    }
    if (mpi_job->processes == 1) {
        local->owner->topic = &topic;
        code = mpi_coll_agree(local, &told, &plan, tell_side);
    }
    if (code != MPI_SUCCESS)
        return code;
    if (plan.is_foreign)
        return mpi_intercomm_foreign(local, local_leader, peer, remote_leader, tag, made_p);
    if (plan.status == XY_EINVAL)
        return mpi_error(local, MPI_ERR_COMM, "the two groups have a rank in common");
    return mpi_comm_from_plan(local, &plan, made_p);
}

int impl_intercomm_create(MPI_Comm local_handle, int local_leader, MPI_Comm peer_handle,
                          int remote_leader, int tag, MPI_Comm *newcomm)
{
    mpi_comm_t *local = mpi_comm_of(local_handle), *made;
    int code;

    if (!local)
        return mpi_comm_refuse(local_handle);
    code = check_create(local, local_leader, peer_handle, remote_leader, tag);
    if (code == MPI_SUCCESS)
        code = mpi_intercomm_make(local, local_leader, mpi_comm_of(peer_handle), remote_leader, tag,
                                  &made);
    if (code == MPI_SUCCESS)
        *newcomm = mpi_comm_handle(made);
    return code;
}

/* Leaders are ranks of their groups; the remote ones count at the local leader only. */
static int check_leaders(mpi_parent_t *parent, const mpi_group_t *local, int local_leader,
                         MPI_Group remote_handle, int remote_leader)
{
    const mpi_group_t *remote = mpi_group_of(remote_handle);

    if (local_leader < 0 || local_leader >= local->size)
        return mpi_error(&parent->comm, MPI_ERR_RANK,
                         "the local leader is %d; the group has %d ranks", local_leader,
                         local->size);
    if (mpi_group_world(local, local_leader) != parent->comm.owner->world)
        return MPI_SUCCESS;
    if (!remote)
        return mpi_group_refuse(&parent->comm, remote_handle);
    if (remote_leader < 0 || remote_leader >= remote->size)
        return mpi_error(&parent->comm, MPI_ERR_RANK,
                         "the remote leader is %d; the group has %d ranks", remote_leader,
                         remote->size);
    return MPI_SUCCESS;
}

/* The local group meets first, and its leader then that of the other group, in world. */
static int create_from_groups(mpi_parent_t *parent, mpi_group_t *local, int local_leader,
                              const mpi_group_t *remote, int remote_leader, mpi_comm_t **made_p)
{
    bool is_leader = mpi_group_world(local, local_leader) == parent->comm.owner->world;
    int peer = is_leader ? mpi_group_world(remote, remote_leader) : MPI_PROC_NULL;
    mpi_comm_t *side = NULL;
    int code = mpi_comm_from_group(&parent->comm, local, (int)parent->tag, &side);

    if (code != MPI_SUCCESS)
        return code;
    code = mpi_intercomm_make(side, local_leader, &parent->comm, peer, (int)parent->tag, made_p);
    mpi_comm_release(side);
    return code;
}

int impl_intercomm_create_from_groups(mpi_rank_t *self, MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader,
                                      const char *stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    mpi_comm_t *made = NULL;
    mpi_parent_t parent;
    int code = mpi_parent_begin(self, stringtag, errhandler, &parent);

    if (code == MPI_SUCCESS)
        code = mpi_info_check(&parent.comm, info);
    if (code == MPI_SUCCESS)
        code = mpi_parent_check(&parent, local_group);
    if (code == MPI_SUCCESS)
        code = check_leaders(&parent, mpi_group_of(local_group), local_leader, remote_group,
                             remote_leader);
    if (code == MPI_SUCCESS)
        code = create_from_groups(&parent, mpi_group_of(local_group), local_leader,
                                  mpi_group_of(remote_group), remote_leader, &made);
    if (made)
        code = mpi_comm_copy_info(&parent.comm, mpi_info_of(info), made);
    if (made && code != MPI_SUCCESS)
        mpi_comm_release(made);
    if (code == MPI_SUCCESS)
        *newintercomm = mpi_comm_handle(made);
    return code;
}

/* The wish of each member for the order of the merged group. */
typedef struct {
    int world;
    bool wants_high, is_high;
} merge_wish_t;

/* The members of each side say the same. */
static bool find_order(const mpi_topic_t *const *topics, int size, int *a_p, int *b_p)
{
    for (*b_p = 1; *b_p < size; ++*b_p) {
        const merge_wish_t *one = topics[*b_p - 1]->data, *other = topics[*b_p]->data;

        *a_p = *b_p - 1;
        if (one->is_high == other->is_high && one->wants_high != other->wants_high)
            return true;
    }
    return false;
}

static void describe_order(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                           size_t room)
{
    (void)other;
    snprintf(text, room, " with high = %d", ((const merge_wish_t *)topic->data)->wants_high);
}

/* The side that says low comes first; when both say the same, the low side of the
 * intercommunicator does. */
static void merge_leader(void *const *inputs, int size, void *const *outputs)
{
    const merge_wish_t *first = inputs[0], *last = inputs[size - 1];
    bool is_swapped = first->wants_high && !last->wants_high;
    int *ranks = xy_malloc((size_t)size * sizeof *ranks), *place;
    int lows = 0;
    mpi_plan_t plan;

    while (lows < size && !((const merge_wish_t *)inputs[lows])->is_high)
        lows++;
    place = ranks;
    for (int i = 0; i < size && ranks; i++)
        *place++ = ((const merge_wish_t *)inputs[is_swapped ? (i + lows) % size : i])->world;
    plan = mpi_plan_intra(ranks ? mpi_group_create(ranks, size) : NULL);
    for (int i = 0; i < size; i++) {
        mpi_plan_t *output = outputs[is_swapped ? (i + lows) % size : i];

        *output = plan;
        output->rank = i;
    }
}

/* The same from what all members have told each other, where they are in several processes. */
static mpi_plan_t merge_spread(mpi_comm_t *merged, const merge_wish_t *own)
{
    int size = merged->size, lows = 0, rank = MPI_UNDEFINED;
    merge_wish_t *all = xy_malloc((size_t)size * sizeof *all);
    int *ranks = xy_malloc((size_t)size * sizeof *ranks);
    bool is_swapped;

    if (!all || !ranks) { /* the others wait for this one */
        xy_fail_memory("merging an intercommunicator");
        mpi_job->abort(1);
    }
    mpi_spread_allgather(merged, own, sizeof *own, all);
    is_swapped = all[0].wants_high && !all[size - 1].wants_high;
    while (lows < size && !all[lows].is_high)
        lows++;
    for (int i = 0; i < size; i++) {
        ranks[i] = mpi_group_world(merged->group, is_swapped ? (i + lows) % size : i);
        if (ranks[i] == own->world)
            rank = i;
    }
    xy_free(all);
    return mpi_plan_spread(mpi_group_create(ranks, size), mpi_spread_context(merged, 1), rank);
}

/* `more`: high, and the side. */
static bool find_order_far(const mpi_topic_t *topic, const mpi_said_t *said, int size, int own,
                           int *a_p, int *b_p)
{
    (void)topic, (void)own;
    for (*a_p = 1; *a_p < size; ++*a_p) {
        *b_p = *a_p - 1;
        if (said[*a_p].more[1] == said[*b_p].more[1] && said[*a_p].more[0] != said[*b_p].more[0])
            return true;
    }
    return false;
}

int impl_intercomm_merge(MPI_Comm handle, int high, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle), *made;
    merge_wish_t wish;
    mpi_topic_t topic = {
        .data = &wish, .find = find_order, .describe = describe_order, .find_far = find_order_far};
    mpi_plan_t plan;
    int code = MPI_SUCCESS;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!comm->remote)
        return mpi_error(comm, MPI_ERR_COMM, "%s is not an intercommunicator", mpi_comm_name(comm));
    wish = (merge_wish_t){comm->owner->world, high != 0, comm->is_high};
    topic.more[0] = wish.wants_high;
    topic.more[1] = wish.is_high;
    if (mpi_comm_is_spread(comm)) {
        comm->owner->topic = &topic;
        plan = merge_spread(comm->merged, &wish);
    } else {
        comm->owner->topic = &topic;
        code = mpi_coll_agree(comm->merged, &wish, &plan, merge_leader);
    }
    if (code == MPI_SUCCESS)
        code = mpi_comm_from_plan(comm, &plan, &made);
    if (code == MPI_SUCCESS)
        *newcomm = mpi_comm_handle(made);
    return code;
}
