/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, gather and scatter. Each local group copies for its own members, straight between
 * their buffers and the root's; only the root has to wait for the others.
 */
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/star.h"
#include "mpi/runtime/runtime.h"

static bool is_not_root(const coll_call_t *call)
{
    return call->rank != call->root;
}

/* A small broadcast travels through the slot of the root's local group. */
static xy_status_t bcast_prepare(coll_local_t *local, coll_slot_t *slot)
{
    const mpi_coll_t *coll = local->coll;

    slot->is_packed = xy_direct_is_small(slot->bytes) && !coll_is_spread(local, slot);
    if (slot->is_packed && coll->local_of[slot->root] == local->index) {
        const coll_call_t *root = slot->calls[coll->place_of[slot->root]];

        mpi_type_pack(slot->data, root->send, root->send_count, root->send_type, 0, slot->bytes);
    }
    return XY_OK;
}

static void bcast_small(coll_local_t *local, coll_slot_t *slot)
{
    const char *data = coll_data_of(local, slot, local->coll->local_of[slot->root], slot->bytes);

    for (int m = 0; m < local->members; m++) {
        coll_call_t *call = slot->calls[m];

        if (call->rank != slot->root)
            mpi_type_unpack(call->receive, call->receive_count, call->receive_type, data, 0,
                            slot->bytes);
    }
}

/* All members get piece i before piece i + 1: what is read stays in cache. */
static int64_t bcast_pieces(const coll_local_t *local, coll_slot_t *slot)
{
    if (slot->is_packed)
        return 1;
    return local->members * xy_direct_copy_pieces(slot->bytes);
}

/* Do one piece of a broadcast: a part of one member's buffer, or all of a small vector. */
static void bcast_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    const coll_call_t *root;
    coll_call_t *call;
    int64_t i = piece / local->members;

    if (slot->is_packed) {
        bcast_small(local, slot);
        return;
    }
    root = coll_call_of(local, slot, slot->root);
    call = slot->calls[piece % local->members];
    if (call->rank == slot->root)
        return;
    if (i < coll_copy_pieces(call->receive_count, call->receive_type, root->send_type))
        coll_copy_piece(slot, call->receive, call->receive_count, call->receive_type, root->send,
                        root->send_count, root->send_type, i);
}

static bool bcast_fits(const mpi_coll_t *coll, const coll_call_t *call)
{
    (void)coll;
    return xy_direct_is_small(call->bytes);
}

static bool bcast_leave(const coll_local_t *local, star_slot_t *slot, const coll_call_t *root)
{
    (void)local;
    mpi_type_pack(slot->data, root->send, root->send_count, root->send_type, 0, root->bytes);
    return true;
}

static void bcast_take(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    int group = local->coll->local_of[call->root];

    mpi_type_unpack(call->receive, call->receive_count, call->receive_type,
                    star_data_of(local, slot, group, call->bytes), 0, call->bytes);
}

static const coll_star_ops_t bcast_star = {
    .fits = bcast_fits, .leave = bcast_leave, .take = bcast_take};

const coll_ops_t coll_bcast = {.name = "MPI_Bcast",
                               .collective = XY_COLL_BCAST,
                               .is_rooted = true,
                               .is_sized = true,
                               .star = &bcast_star,
                               .prepare = bcast_prepare,
                               .pieces = bcast_pieces,
                               .piece = bcast_piece,
                               .needs_exit_barrier = coll_exit_unpacked,
                               .may_return_early = is_not_root};

/* Where the root keeps the data of `rank`, in elements of its type, and how many there are. */
static int64_t place_at_root(coll_vector_t displacements, int64_t count, int rank)
{
    return displacements.data ? coll_count_at(displacements, rank) : count * rank;
}

static int64_t count_at_root(coll_vector_t counts, int64_t count, int rank)
{
    return counts.data ? coll_count_at(counts, rank) : count;
}

/* The most pieces that the copy of one member has. */
static int64_t most_pieces(const coll_local_t *local, const coll_slot_t *slot, bool sends)
{
    int64_t most = 1;

    for (int m = 0; m < local->members; m++) {
        const coll_call_t *c = slot->calls[m];
        int64_t n = c->is_in_place ? 1
                    : sends        ? coll_copy_pieces(c->send_count, c->send_type, c->send_type)
                            : coll_copy_pieces(c->receive_count, c->receive_type, c->receive_type);

        most = n > most ? n : most;
    }
    return most;
}

/* Small contributions go through the slots. */
static xy_status_t gather_prepare(coll_local_t *local, coll_slot_t *slot)
{
    slot->is_packed = coll_is_packed(local, slot, local->coll->most_members);
    for (int m = 0; slot->is_packed && m < local->members; m++) {
        const coll_call_t *call = slot->calls[m];

        if (!call->is_in_place)
            mpi_type_pack(slot->data + (size_t)m * slot->bytes, call->send, call->send_count,
                          call->send_type, 0, slot->bytes);
    }
    return XY_OK;
}

/* Unpack the blocks left by all groups into the root's buffer; nothing in groups without the root.
 * */
static void gather_unpack(coll_local_t *local, coll_slot_t *slot)
{
    const mpi_coll_t *coll = local->coll;
    const coll_call_t *root;

    if (coll->local_of[slot->root] != local->index)
        return;
    root = slot->calls[coll->place_of[slot->root]];
    for (int r = 0; r < coll->size; r++)
        if (r != slot->root || !root->is_in_place)
            mpi_type_unpack(
                coll_element(root->receive, root->receive_count * r, root->receive_type),
                root->receive_count, root->receive_type,
                coll_left_by(local, slot, coll->local_of[r]) +
                    (size_t)coll->place_of[r] * slot->bytes,
                0, slot->bytes);
}

static int64_t gather_pieces(const coll_local_t *local, coll_slot_t *slot)
{
    if (slot->is_packed)
        return 1;
    return local->members * most_pieces(local, slot, true);
}

/* Do one piece of a gather: a part of one member's block, or all of small ones. */
static void gather_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    const coll_call_t *call = slot->calls[piece % local->members], *root;
    int64_t i = piece / local->members, place, count;

    if (slot->is_packed) {
        gather_unpack(local, slot);
        return;
    }
    if (call->is_in_place)
        return;
    root = coll_call_of(local, slot, slot->root);
    place = place_at_root(root->receive_displacements, root->receive_count, call->rank);
    count = count_at_root(root->receive_counts, root->receive_count, call->rank);
    coll_check_room(call, call->send_count, call->send_type, root, count, root->receive_type);
    if (i < coll_copy_pieces(count, root->receive_type, call->send_type))
        coll_copy_piece(slot, coll_element(root->receive, place, root->receive_type), count,
                        root->receive_type, call->send, call->send_count, call->send_type, i);
}

static bool gather_fits(const mpi_coll_t *coll, const coll_call_t *call)
{
    return xy_direct_is_packed(call->bytes, (uint64_t)coll->most_members);
}

static bool gather_leave(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    if (!call->is_in_place)
        mpi_type_pack(slot->data + (size_t)local->coll->place_of[call->rank] * call->bytes,
                      call->send, call->send_count, call->send_type, 0, call->bytes);
    return true;
}

/* Unpack the blocks that all groups of a star have left into the root's buffer. */
static void gather_take(const coll_local_t *local, star_slot_t *slot, const coll_call_t *root)
{
    const mpi_coll_t *coll = local->coll;

    for (int r = 0; r < coll->size; r++) {
        int group = coll->local_of[r];
        uint64_t bytes = (uint64_t)coll->local[group]->members * root->bytes;
        const char *data = star_data_of(local, slot, group, bytes);

        if (r != root->rank || !root->is_in_place)
            mpi_type_unpack(
                coll_element(root->receive, root->receive_count * r, root->receive_type),
                root->receive_count, root->receive_type,
                data + (size_t)coll->place_of[r] * root->bytes, 0, root->bytes);
    }
}

static const coll_star_ops_t gather_star = {
    .shape = STAR_TO_ROOT, .fits = gather_fits, .leave = gather_leave, .take = gather_take};

const coll_ops_t coll_gather = {.name = "MPI_Gather",
                                .collective = XY_COLL_GATHER,
                                .is_rooted = true,
                                .is_sized = true,
                                .star = &gather_star,
                                .prepare = gather_prepare,
                                .pieces = gather_pieces,
                                .piece = gather_piece,
                                .needs_exit_barrier = coll_exit_unpacked,
                                .may_return_early = is_not_root};

const coll_ops_t coll_gatherv = {.name = "MPI_Gatherv",
                                 .collective = XY_COLL_GATHERV,
                                 .is_rooted = true,
                                 .star = &coll_gatherv_star,
                                 .prepare = gather_prepare,
                                 .pieces = gather_pieces,
                                 .piece = gather_piece,
                                 .needs_exit_barrier = coll_exit_unpacked,
                                 .may_return_early = is_not_root};

/* Small blocks go through the slot of the root's local group. */
static xy_status_t scatter_prepare(coll_local_t *local, coll_slot_t *slot)
{
    const mpi_coll_t *coll = local->coll;
    const coll_call_t *root;

    slot->is_packed = coll_is_packed(local, slot, coll->size);
    if (!slot->is_packed || coll->local_of[slot->root] != local->index)
        return XY_OK;
    root = slot->calls[coll->place_of[slot->root]];
    for (int r = 0; r < coll->size; r++)
        mpi_type_pack(slot->data + (size_t)r * slot->bytes,
                      coll_element(root->send, root->send_count * r, root->send_type),
                      root->send_count, root->send_type, 0, slot->bytes);
    return XY_OK;
}

static void scatter_unpack(coll_local_t *local, coll_slot_t *slot)
{
    const char *data = coll_left_by(local, slot, local->coll->local_of[slot->root]);

    for (int m = 0; m < local->members; m++) {
        coll_call_t *call = slot->calls[m];

        if (!call->is_in_place)
            mpi_type_unpack(call->receive, call->receive_count, call->receive_type,
                            data + (size_t)call->rank * slot->bytes, 0, slot->bytes);
    }
}

static int64_t scatter_pieces(const coll_local_t *local, coll_slot_t *slot)
{
    if (slot->is_packed)
        return 1;
    return local->members * most_pieces(local, slot, false);
}

/* Do one piece of a scatter: a part of one member's block, or all of small ones. */
static void scatter_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    const coll_call_t *call = slot->calls[piece % local->members], *root;
    int64_t i = piece / local->members, place, count;

    if (slot->is_packed) {
        scatter_unpack(local, slot);
        return;
    }
    if (call->is_in_place)
        return;
    root = coll_call_of(local, slot, slot->root);
    place = place_at_root(root->send_displacements, root->send_count, call->rank);
    count = count_at_root(root->send_counts, root->send_count, call->rank);
    coll_check_room(root, count, root->send_type, call, call->receive_count, call->receive_type);
    if (i < coll_copy_pieces(call->receive_count, call->receive_type, root->send_type))
        coll_copy_piece(slot, call->receive, call->receive_count, call->receive_type,
                        coll_element(root->send, place, root->send_type), count, root->send_type,
                        i);
}

static bool scatter_fits(const mpi_coll_t *coll, const coll_call_t *call)
{
    return xy_direct_is_packed(call->bytes, (uint64_t)coll->size);
}

/* A block that comes with the packet saves a look into the root's memory. */
static bool is_scattered_by_word(const coll_local_t *local, uint64_t bytes)
{
    return local->members == 1 && bytes <= sizeof(uint64_t);
}

static uint64_t scatter_word(const coll_local_t *local, const star_slot_t *slot, int group)
{
    const coll_local_t *to = local->coll->local[group];
    uint64_t word = 0, bytes = coll_agreed_bytes(slot->claim.agreed);

    if (is_scattered_by_word(to, bytes))
        memcpy(&word, slot->data + (size_t)to->member[0] * bytes, bytes);
    return word;
}

static void scatter_take(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    int group = local->coll->local_of[call->root];
    bool is_word = group != local->index && is_scattered_by_word(local, call->bytes);
    const char *data = star_data_of(local, slot, group, is_word ? call->bytes : COLL_SMALL);

    if (!call->is_in_place)
        mpi_type_unpack(call->receive, call->receive_count, call->receive_type,
                        data + (is_word ? 0 : (size_t)call->rank * call->bytes), 0, call->bytes);
}

static bool scatter_leave(const coll_local_t *local, star_slot_t *slot, const coll_call_t *root)
{
    for (int r = 0; r < local->coll->size; r++)
        mpi_type_pack(slot->data + (size_t)r * root->bytes,
                      coll_element(root->send, root->send_count * r, root->send_type),
                      root->send_count, root->send_type, 0, root->bytes);
    scatter_take(local, slot, root);
    return true;
}

static const coll_star_ops_t scatter_star = {
    .fits = scatter_fits, .leave = scatter_leave, .word = scatter_word, .take = scatter_take};

const coll_ops_t coll_scatter = {.name = "MPI_Scatter",
                                 .collective = XY_COLL_SCATTER,
                                 .is_rooted = true,
                                 .is_sized = true,
                                 .star = &scatter_star,
                                 .prepare = scatter_prepare,
                                 .pieces = scatter_pieces,
                                 .piece = scatter_piece,
                                 .needs_exit_barrier = coll_exit_unpacked,
                                 .may_return_early = is_not_root};

const coll_ops_t coll_scatterv = {.name = "MPI_Scatterv",
                                  .collective = XY_COLL_SCATTERV,
                                  .is_rooted = true,
                                  .prepare = scatter_prepare,
                                  .pieces = scatter_pieces,
                                  .piece = scatter_piece,
                                  .needs_exit_barrier = coll_exit_unpacked,
                                  .may_return_early = is_not_root};
