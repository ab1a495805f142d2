/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules of intercommunicators between processes. Blocks go from member to member. A reduction
 * has two results: each group reduces its vectors to its first member, which sends the result as
 * bytes to the first of the other group, or to the root there.
 */
#include "mpi/coll/interprocess.h"

#include "mpi/runtime/runtime.h"

/* Add the receives and sends of a member's blocks to the schedule. */
static void build_moves(schedule_t *s, const coll_call_t *call)
{
    int first = coll_peers_first(call), n = coll_peers(call);

    for (int i = 0; i < n; i++) {
        coll_block_t b = coll_inter_block(call, false, i);

        if (b.type != NULL)
            schedule_receive(s, first + i, b.at, b.count, b.type);
    }
    for (int i = 0; i < n; i++) {
        coll_block_t b = coll_inter_block(call, true, i);

        if (b.type != NULL)
            schedule_send(s, first + i, b.at, b.count, b.type);
    }
}

/* The own group: members [first, end). */
typedef struct {
    int first, end;
    interprocess_tree_t tree;
} side_t;

static side_t side_of(const coll_call_t *call)
{
    int lows = call->comm->coll->lows;
    bool is_high = call->rank >= lows;
    side_t side = {.first = is_high ? lows : 0, .end = is_high ? call->comm->size : lows};

    interprocess_tree_ordered(side.first, side.end, call->rank, &side.tree);
    return side;
}

/* The vectors of a member and of all below it, in the order of ranks. */
static const void *reduce_up(schedule_t *s, const coll_call_t *call,
                             const interprocess_tree_t *tree, int64_t count)
{
    const mpi_type_t *type = call->receive_type;
    void *vector[INTERPROCESS_CHILDREN], *sum;

    if (tree->children == 0)
        return call->send;
    for (int i = 0; i < tree->children; i++) {
        vector[i] = schedule_vector(s, count, type);
        schedule_receive(s, tree->child[i], vector[i], count, type);
    }
    schedule_wait(s);
    /* The children come in falling order of what they stand for. */
    sum = vector[0];
    for (int i = 1; i < tree->children; i++)
        schedule_reduce(s, vector[i], sum, count);
    schedule_reduce(s, call->send, sum, count);
    return sum;
}

/* The vectors of the own group go to member `to` of the other one. */
static void give_result(schedule_t *s, const coll_call_t *call, const side_t *side, int to)
{
    const mpi_type_t *type = call->receive_type;
    int64_t count = coll_inter_vector(call);
    const void *sum = reduce_up(s, call, &side->tree, count);

    if (side->tree.parent >= 0)
        schedule_send(s, side->tree.parent, sum, count, type);
    else
        schedule_send(s, to, sum, count, type);
}

/* Elements that member `rank` gets. */
static int64_t share_of(const coll_call_t *call, int place)
{
    return call->receive_counts.data != NULL ? coll_count_at(call->receive_counts, place)
                                             : call->receive_count;
}

/* The result of the other group, from its first member: to all of the own one. */
static void get_whole(schedule_t *s, const coll_call_t *call, const side_t *side, int from)
{
    interprocess_tree_t tree = side->tree;

    if (tree.parent < 0)
        tree.parent = from;
    schedule_receive(s, tree.parent, call->receive, call->receive_count, call->receive_type);
    schedule_wait(s);
    for (int i = 0; i < tree.children; i++)
        schedule_send(s, tree.child[i], call->receive, call->receive_count, call->receive_type);
}

/* ... to each its share. */
static void get_shares(schedule_t *s, const coll_call_t *call, const side_t *side, int from)
{
    const mpi_type_t *type = call->receive_type, *bytes = mpi_type_of(MPI_BYTE);
    uint64_t all = (uint64_t)coll_inter_vector(call) * type->size, at = 0;
    int64_t own = share_of(call, call->rank - side->first);
    char *data;

    if (call->rank != side->first) {
        schedule_receive(s, side->first, call->receive, own, type);
        return;
    }
    data = schedule_memory(s, all);
    schedule_receive(s, from, data, (int64_t)all, bytes);
    schedule_wait(s);
    for (int r = side->first; r < side->end; r++) {
        uint64_t n = (uint64_t)share_of(call, r - side->first) * type->size;

        if (r == call->rank)
            schedule_copy(s, call->receive, own, type, data + at, (int64_t)n, bytes);
        else
            schedule_send(s, r, data + at, (int64_t)n, bytes);
        at += n;
    }
}

/* Add the exchange of results between the first members, and their distribution, to the schedule.
 * */
static void build_reduction(schedule_t *s, const coll_call_t *call)
{
    side_t side = side_of(call);
    int other = coll_peers_first(call);

    if (call->kind->is_rooted) {
        if (call->root == call->rank)
            schedule_receive(s, other, call->receive, call->receive_count, call->receive_type);
        else if (call->root >= 0)
            give_result(s, call, &side, call->root);
        return;
    }
    /* Both first members may wait for the other to receive. */
    give_result(s, call, &side, other);
    if (call->kind->collective == XY_COLL_ALLREDUCE)
        get_whole(s, call, &side, other);
    else
        get_shares(s, call, &side, other);
}

void interprocess_build_inter(schedule_t *s, const coll_call_t *call)
{
    switch (call->kind->collective) {
    case XY_COLL_REDUCE:
    case XY_COLL_ALLREDUCE:
    case XY_COLL_REDUCE_SCATTER:
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        build_reduction(s, call);
        break;
    default:
        build_moves(s, call);
    }
}
