/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a collective, for the monitor: those of the algorithm really used (monitor.h).
 */
#include "mpi/coll/coll.h"

static int world_of(const mpi_coll_t *coll, int rank)
{
    return coll->group->ranks ? coll->group->ranks[rank] : rank;
}

static void count(const coll_local_t *local, int from, int to, uint64_t bytes)
{
    const mpi_coll_t *coll = local->coll;
    mpi_rank_t *rank = &mpi_job->ranks[world_of(coll, from)];

    /* Ranks may begin to count while others, who share no communicator with them, do not. */
    if (from != to && bytes > 0 && rank->monitor != NULL)
        mpi_monitor_add(rank, world_of(coll, to), coll->context, bytes, true);
}

/* Is the data sent from the receive buffer? In place, except in a scatter, where the root keeps its
 * block. */
static bool sends_from_receive_buffer(const coll_call_t *call)
{
    return call->is_in_place && call->kind->collective != XY_COLL_SCATTER &&
           call->kind->collective != XY_COLL_SCATTERV;
}

/* Bytes that a member sends to `peer` in this call. */
static uint64_t sent_bytes(const coll_call_t *call, int peer)
{
    const mpi_type_t *type;
    int64_t n;

    if (sends_from_receive_buffer(call)) {
        type = call->receive_types ? mpi_type_held(call->receive_types[peer]) : call->receive_type;
        n = call->receive_counts.data ? coll_count_at(call->receive_counts, peer)
                                      : call->receive_count;
    } else {
        type = call->send_types ? mpi_type_held(call->send_types[peer]) : call->send_type;
        n = call->send_counts.data ? coll_count_at(call->send_counts, peer) : call->send_count;
    }
    return (uint64_t)n * type->size;
}

/* Count the messages of a reduction: the slices of the vector go to the first member of each local
 * group, and the results to the members that want them; a small vector goes to the local group
 * first. */
static void count_reduction(const coll_local_t *local, const coll_slot_t *slot,
                            const coll_call_t *call)
{
    const mpi_coll_t *coll = local->coll;
    uint64_t slice = slot->is_small ? slot->bytes : slot->bytes / (uint64_t)coll->locals;
    bool is_for_all = slot->kind->collective == XY_COLL_ALLREDUCE;

    for (int p = 0; p < coll->locals; p++)
        if (!slot->is_small || p == local->index)
            count(local, call->rank, coll->local[p]->member[0], slice);
    if (call->rank != local->member[0])
        return;
    if (!is_for_all) {
        count(local, call->rank, slot->root, slice);
        return;
    }
    for (int p = 0; p < coll->locals && slot->is_small; p++)
        count(local, call->rank, coll->local[p]->member[0], slice);
    for (int r = 0; r < coll->size; r++)
        if (!slot->is_small || coll->local_of[r] == local->index)
            count(local, call->rank, r, slice);
}

/* The bytes that rank `peer` receives of a vector that is reduced and scattered. */
static uint64_t scattered_bytes(const coll_call_t *call, int peer)
{
    bool has_counts = call->receive_counts.data != NULL;
    int64_t n = has_counts ? coll_count_at(call->receive_counts, peer) : call->receive_count;

    return (uint64_t)n * call->receive_type->size;
}

/* Reductions between two groups: vectors go to the root; or their slices to the first member of
 * each local group, and what they become to those who want it. */
static void count_inter_vectors(const coll_local_t *local, const coll_call_t *call)
{
    const mpi_coll_t *coll = local->coll;
    uint64_t slice = call->bytes / (uint64_t)coll->locals;

    if (call->kind->is_rooted) {
        if (coll_inter_gives(call))
            count(local, call->rank, call->root, call->bytes);
        return;
    }
    for (int p = 0; p < coll->locals; p++)
        count(local, call->rank, coll->local[p]->member[0], slice);
    if (call->rank != local->member[0])
        return;
    for (int r = 0; r < coll->size; r++) {
        uint64_t shares = call->kind->collective == XY_COLL_ALLREDUCE ? 1
                          : r < coll->lows                            ? (uint64_t)coll->lows
                                           : (uint64_t)(coll->size - coll->lows);

        count(local, call->rank, r, slice / shares);
    }
}

static void count_inter(const coll_local_t *local, const coll_call_t *call)
{
    if (call->op != NULL) {
        count_inter_vectors(local, call);
        return;
    }
    for (int p = 0; p < coll_peers(call); p++) {
        coll_block_t b = coll_inter_block(call, true, p);

        if (b.count > 0)
            count(local, call->rank, coll_peers_first(call) + p, coll_block_bytes(&b));
    }
}

/* Count the messages of one member's call by its collective. */
static void count_call(const coll_local_t *local, const coll_slot_t *slot, const coll_call_t *call)
{
    int size = local->coll->size;
    bool is_root = call->rank == slot->root;

    if (call->kind->is_inter) {
        count_inter(local, call);
        return;
    }
    switch (slot->kind->collective) {
    case XY_COLL_BCAST:
        for (int r = 0; is_root && r < size; r++)
            count(local, call->rank, r, slot->bytes);
        break;
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        for (int r = 0; is_root && r < size; r++)
            count(local, call->rank, r, sent_bytes(call, r));
        break;
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
        if (!is_root)
            count(local, call->rank, slot->root, sent_bytes(call, slot->root));
        break;
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
        for (int r = 0; r < size; r++)
            count(local, call->rank, r, sent_bytes(call, call->rank));
        break;
    case XY_COLL_ALLTOALL:
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        for (int r = 0; r < size; r++)
            count(local, call->rank, r, sent_bytes(call, r));
        break;
    case XY_COLL_REDUCE:
    case XY_COLL_ALLREDUCE:
        count_reduction(local, slot, call);
        break;
    case XY_COLL_SCAN:
    case XY_COLL_EXSCAN:
        if (call->rank + 1 < size)
            count(local, call->rank, call->rank + 1, slot->bytes);
        break;
    case XY_COLL_REDUCE_SCATTER:
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        for (int r = 0; r < size; r++)
            count(local, call->rank, r, scattered_bytes(call, r));
        break;
    case XY_COLL_BARRIER:
    case XY_COLL_COUNT:
        break;
    }
}

void coll_count_call(const coll_local_t *local, const coll_call_t *call)
{
    const coll_slot_t slot = {
        .kind = call->kind, .root = call->root, .bytes = call->bytes, .is_small = true};

    count_call(local, &slot, call);
}

void coll_count_messages(const coll_local_t *local, const coll_slot_t *slot)
{
    if (slot->kind->collective == XY_COLL_BARRIER)
        return;
    for (int m = 0; m < local->members; m++)
        count_call(local, slot, slot->calls[m]);
}
