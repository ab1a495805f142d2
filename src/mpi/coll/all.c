/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgather and alltoall, in all variants. Each local group fills the buffers of its own members.
 */
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/runtime/runtime.h"

enum { TILE = XY_DIRECT_TILE };

/* The block of member `rank` in the receive buffer of `call`. */
static char *receive_block(const coll_call_t *call, int rank, int64_t *count)
{
    bool is_vector = call->receive_counts.data != NULL;

    *count = is_vector ? coll_count_at(call->receive_counts, rank) : call->receive_count;
    return coll_element(
        call->receive, is_vector ? coll_count_at(call->receive_displacements, rank) : *count * rank,
        call->receive_type);
}

/* The contribution of member `rank` to an allgather. */
static const char *contribution(const coll_call_t *call, int64_t *count, mpi_type_t **type)
{
    if (call->is_in_place) {
        *type = call->receive_type;
        return receive_block(call, call->rank, count);
    }
    *count = call->send_count;
    *type = call->send_type;
    return call->send;
}

/* Piece `i` of the block of member `from` into the receive buffer of `to`. */
static void allgather_block(const coll_slot_t *slot, coll_call_t *from, coll_call_t *to, int64_t i)
{
    int64_t count, room;
    mpi_type_t *type;
    const char *data = contribution(from, &count, &type);
    char *place = receive_block(to, from->rank, &room);

    coll_check_room(from, count, type, to, room, to->receive_type);
    if (i < coll_copy_pieces(room, to->receive_type, type))
        coll_copy_piece(slot, place, room, to->receive_type, data, count, type, i);
}

/* Small regular blocks of plain types: all results are equal, so put one together and copy it. */
static bool allgather_is_compact(const coll_local_t *local, const coll_slot_t *slot)
{
    for (int m = 0; m < local->members; m++) {
        const coll_call_t *call = slot->calls[m];

        if (call->receive_counts.data != NULL || !mpi_type_is_contiguous(call->receive_type))
            return false;
    }
    return xy_direct_is_compact(slot->bytes, (uint64_t)local->coll->size);
}

/* Fill the buffer of the first member and copy it to the others; for small regular blocks. */
static void allgather_compact(coll_local_t *local, coll_slot_t *slot)
{
    coll_call_t *first = slot->calls[0];
    size_t block = slot->bytes, bytes = block * (size_t)local->coll->size;

    for (int r = 0; r < local->coll->size; r++)
        allgather_block(slot, coll_call_of(local, slot, r), first, 0);
    for (int m = 1; m < local->members; m++) {
        coll_call_t *call = slot->calls[m];
        size_t own = (size_t)call->rank * block;

        if (!call->is_in_place) {
            mpi_move(call->receive, first->receive, bytes);
            continue;
        }
        /* Others may be reading this member's own block, which holds its data already. */
        mpi_move(call->receive, first->receive, own);
        mpi_move((char *)call->receive + own + block, (char *)first->receive + own + block,
                 bytes - own - block);
    }
}

/* The most pieces of any block; blocks of other members have as many bytes here as there. */
static int64_t allgather_depth(const coll_local_t *local, const coll_slot_t *slot)
{
    const coll_call_t *call = slot->calls[0];
    int64_t most = 1;

    for (int r = 0; r < (call->receive_counts.data ? local->coll->size : 1); r++) {
        int64_t count, n;

        receive_block(call, r, &count);
        n = coll_copy_pieces(count, call->receive_type, call->receive_type);
        most = n > most ? n : most;
    }
    return most;
}

/* Small contributions go through the slots: no rank has to wait until the others have read. */
static xy_status_t allgather_prepare(coll_local_t *local, coll_slot_t *slot)
{
    slot->is_packed = coll_is_packed(local, slot, local->coll->most_members);
    for (int m = 0; slot->is_packed && m < local->members; m++) {
        int64_t count;
        mpi_type_t *type;
        const char *data = contribution(slot->calls[m], &count, &type);

        mpi_type_pack(slot->data + (size_t)m * slot->bytes, data, count, type, 0, slot->bytes);
    }
    return XY_OK;
}

/* Unpack the blocks that all local groups have left into one member's buffer. */
static void allgather_unpack(coll_local_t *local, coll_slot_t *slot, coll_call_t *to)
{
    const mpi_coll_t *coll = local->coll;

    for (int r = 0; r < coll->size; r++) {
        const char *data = coll_data_of(local, slot, coll->local_of[r],
                                        slot->bytes * (uint64_t)coll->most_members);
        int64_t count;
        char *place = receive_block(to, r, &count);

        mpi_type_unpack(place, count, to->receive_type,
                        data + (size_t)coll->place_of[r] * slot->bytes, 0, slot->bytes);
    }
}

/* One result is put together, the others are copies of it where they can be. */
static void allgather_packed(coll_local_t *local, coll_slot_t *slot)
{
    coll_call_t *first = slot->calls[0];

    allgather_unpack(local, slot, first);
    for (int m = 1; m < local->members; m++) {
        coll_call_t *call = slot->calls[m];

        if (mpi_type_is_contiguous(call->receive_type) &&
            mpi_type_is_contiguous(first->receive_type))
            mpi_move(call->receive, first->receive, slot->bytes * (size_t)local->coll->size);
        else
            allgather_unpack(local, slot, call);
    }
}

static int64_t allgather_pieces(const coll_local_t *local, coll_slot_t *slot)
{
    if (slot->is_packed)
        return 1;
    slot->is_small = allgather_is_compact(local, slot);
    if (slot->is_small)
        return 1;
    return allgather_depth(local, slot) * local->members * local->coll->size;
}

/* A piece of one source goes to all members of the local group before the next is read. */
static void allgather_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    int64_t rest = piece / local->members;

    if (slot->is_packed)
        allgather_packed(local, slot);
    else if (slot->is_small)
        allgather_compact(local, slot);
    else
        allgather_block(slot, coll_call_of(local, slot, (int)(rest % local->coll->size)),
                        slot->calls[piece % local->members], rest / local->coll->size);
}

const coll_ops_t coll_allgather = {.name = "MPI_Allgather",
                                   .collective = XY_COLL_ALLGATHER,
                                   .is_sized = true,
                                   .prepare = allgather_prepare,
                                   .pieces = allgather_pieces,
                                   .piece = allgather_piece,
                                   .needs_exit_barrier = coll_exit_unpacked};

const coll_ops_t coll_allgatherv = {.name = "MPI_Allgatherv",
                                    .collective = XY_COLL_ALLGATHERV,
                                    .prepare = allgather_prepare,
                                    .pieces = allgather_pieces,
                                    .piece = allgather_piece,
                                    .needs_exit_barrier = coll_exit_unpacked};

/* One direction of an alltoall call, seen from one member towards `peer`. */
static char *alltoall_block(const void *buffer, coll_vector_t counts, coll_vector_t displacements,
                            const MPI_Datatype *types, int64_t count, mpi_type_t *type, int peer,
                            int64_t *count_p, mpi_type_t **type_p)
{
    *count_p = counts.data ? coll_count_at(counts, peer) : count;
    *type_p = types ? mpi_type_held(types[peer]) : type;
    if (types != NULL)
        return (char *)(uintptr_t)buffer + coll_count_at(displacements, peer);
    return coll_element(buffer, counts.data ? coll_count_at(displacements, peer) : count * peer,
                        type);
}

static char *alltoall_receive(const coll_call_t *call, int peer, int64_t *count, mpi_type_t **type)
{
    return alltoall_block(call->receive, call->receive_counts, call->receive_displacements,
                          call->receive_types, call->receive_count, call->receive_type, peer, count,
                          type);
}

static char *alltoall_send(const coll_call_t *call, int peer, int64_t *count, mpi_type_t **type)
{
    if (!call->is_in_place)
        return alltoall_block(call->send, call->send_counts, call->send_displacements,
                              call->send_types, call->send_count, call->send_type, peer, count,
                              type);
    return alltoall_block(call->send, call->receive_counts, call->receive_displacements,
                          call->receive_types, call->receive_count, call->receive_type, peer, count,
                          type);
}

/* Small blocks go through the slots: those of member m lie together, by receiver. */
static bool is_plain(const coll_call_t *call)
{
    const mpi_type_t *send = call->is_in_place ? call->receive_type : call->send_type;

    return call->receive_counts.data == NULL && call->receive_types == NULL &&
           mpi_type_is_contiguous(call->receive_type) && mpi_type_is_contiguous(send);
}

/* Pack the blocks of all members into the slot. */
static void alltoall_pack(coll_local_t *local, coll_slot_t *slot)
{
    size_t size = (size_t)local->coll->size, n = slot->bytes;

    for (int m = 0; m < local->members; m++) {
        const coll_call_t *call = slot->calls[m];
        char *to = slot->data + (size_t)m * size * n;

        if (is_plain(call)) {
            mpi_move_in(to, call->send, size * n);
            continue;
        }
        for (size_t r = 0; r < size; r++) {
            mpi_type_t *type;
            int64_t count;
            const char *data = alltoall_send(call, (int)r, &count, &type);

            mpi_type_pack(to + r * n, data, count, type, 0, n);
        }
    }
}

/* Unpack the data that the members of local group `group` have left for a member of this one. */
static void alltoall_unpack_group(coll_local_t *local, coll_slot_t *slot, coll_call_t *to,
                                  int group)
{
    const coll_local_t *other = local->coll->local[group];
    size_t n = slot->bytes, stride = (size_t)local->coll->size * n;
    const char *data = coll_left_by(local, slot, group) + (size_t)to->rank * n;
    bool plain = is_plain(to);

    for (int m = 0; m < other->members; m++, data += stride) {
        int from = other->member[m];
        mpi_type_t *type;
        int64_t count;
        char *place;

        if (plain) {
            mpi_move_out((char *)to->receive + (size_t)from * n, data, n);
            continue;
        }
        place = alltoall_receive(to, from, &count, &type);
        mpi_type_unpack(place, count, type, data, 0, n);
    }
}

static void alltoall_unpack(coll_local_t *local, coll_slot_t *slot)
{
    for (int m = 0; m < local->members; m++)
        for (int g = 0; g < local->coll->locals; g++)
            alltoall_unpack_group(local, slot, slot->calls[m], g);
}

static xy_status_t alltoall_prepare(coll_local_t *local, coll_slot_t *slot)
{
    const mpi_coll_t *coll = local->coll;

    slot->is_packed = coll_is_packed(local, slot, (int64_t)coll->most_members * coll->size);
    for (int m = 0; m < local->members; m++)
        if (slot->calls[m]->is_in_place)
            slot->calls[m]->send = slot->calls[m]->receive;
    if (slot->is_packed)
        alltoall_pack(local, slot);
    return XY_OK;
}

static bool all_are_plain(const coll_local_t *local, const coll_slot_t *slot)
{
    for (int r = 0; r < local->coll->size; r++)
        if (!is_plain(coll_call_of(local, slot, r)))
            return false;
    return true;
}

/* Small regular blocks: the blocks of TILE sources to all members of the local group. */
static bool is_tiled(const coll_local_t *local, const coll_slot_t *slot)
{
    return xy_direct_is_tiled(slot->bytes) && all_are_plain(local, slot);
}

/* Copy the blocks of up to TILE senders to all members of the local group. */
static void exchange_tile(coll_local_t *local, coll_slot_t *slot, int first)
{
    int size = local->coll->size, end = first + TILE < size ? first + TILE : size;
    size_t n = slot->bytes;
    const char *from[TILE];

    for (int s = first; s < end; s++)
        from[s - first] = coll_call_of(local, slot, s)->send;
    for (int m = 0; m < local->members; m++) {
        coll_call_t *to = slot->calls[m];

        for (int s = first; s < end; s++)
            mpi_move((char *)to->receive + (size_t)s * n, from[s - first] + (size_t)to->rank * n,
                     n);
    }
}

static void exchange_piece(const coll_slot_t *slot, coll_call_t *from, coll_call_t *to, int64_t i)
{
    mpi_type_t *to_type, *from_type;
    int64_t room, count;
    char *place = alltoall_receive(to, from->rank, &room, &to_type);
    char *data = alltoall_send(from, to->rank, &count, &from_type);

    coll_check_room(from, count, from_type, to, room, to_type);
    if (i < coll_copy_pieces(room, to_type, from_type))
        coll_copy_piece(slot, place, room, to_type, data, count, from_type, i);
}

/* ---- In place: all members are; pairs of them swap their blocks ---- */

static bool is_swapped(const coll_slot_t *slot)
{
    return slot->calls[0]->is_in_place;
}

/* One of two members has their swap among its pieces; all have about as many. */
static bool has_swap(const coll_call_t *call, const coll_call_t *peer)
{
    bool is_lower = call->rank < peer->rank;

    return call->rank != peer->rank && is_lower == (((call->rank + peer->rank) & 1) != 0);
}

static void swap_bytes(char *a, char *b, uint64_t bytes)
{
    char kept[4096];

    for (uint64_t at = 0; at < bytes; at += sizeof(kept)) {
        size_t n = bytes - at < sizeof(kept) ? bytes - at : sizeof(kept);

        mpi_move(kept, a + at, n);
        mpi_move(a + at, b + at, n);
        mpi_move(b + at, kept, n);
    }
}

/* Piece `i` of the swap of two members. */
static void swap_piece(const coll_call_t *call, const coll_call_t *peer, int64_t i)
{
    mpi_type_t *type, *peer_type;
    int64_t count, peer_count;
    char *block = alltoall_receive(call, peer->rank, &count, &type);
    char *peer_block = alltoall_receive(peer, call->rank, &peer_count, &peer_type);
    uint64_t bytes = (uint64_t)count * type->size, offset = (uint64_t)i * XY_DIRECT_PIECE;
    char *kept;

    coll_check_room(peer, peer_count, peer_type, call, count, type);
    if (!has_swap(call, peer))
        return;
    if (mpi_type_is_contiguous(type) && mpi_type_is_contiguous(peer_type)) {
        if (offset < bytes)
            swap_bytes(block + offset, peer_block + offset,
                       bytes - offset < XY_DIRECT_PIECE ? bytes - offset : XY_DIRECT_PIECE);
    } else if (i == 0 && bytes > 0) {
        kept = coll_scratch(bytes);
        mpi_type_pack(kept, block, count, type, 0, bytes);
        coll_copy(block, count, type, peer_block, peer_count, peer_type);
        mpi_type_unpack(peer_block, peer_count, peer_type, kept, 0, bytes);
    }
}

static void swap_tile(coll_local_t *local, coll_slot_t *slot, int first)
{
    int size = local->coll->size;

    for (int s = first; s < first + TILE && s < size; s++) {
        const coll_call_t *peer = coll_call_of(local, slot, s);

        for (int m = 0; m < local->members; m++)
            swap_piece(slot->calls[m], peer, 0);
    }
}

/* The most pieces of any block that a member of the local group receives. */
static int64_t alltoall_depth(const coll_local_t *local, const coll_slot_t *slot)
{
    int64_t most = 1;

    for (int m = 0; m < local->members; m++)
        for (int r = 0; r < local->coll->size; r++) {
            mpi_type_t *type;
            int64_t count, n;

            alltoall_receive(slot->calls[m], r, &count, &type);
            n = coll_copy_pieces(count, type, type);
            most = n > most ? n : most;
        }
    return most;
}

static int64_t alltoall_pieces(const coll_local_t *local, coll_slot_t *slot)
{
    if (slot->is_packed)
        return 1;
    slot->is_small = is_swapped(slot) ? xy_direct_is_tiled(slot->bytes) : is_tiled(local, slot);
    if (slot->is_small)
        return (local->coll->size + TILE - 1) / TILE;
    return alltoall_depth(local, slot) * local->members * local->coll->size;
}

/* Do one piece of an alltoall, in the form that was chosen for the call. */
static void alltoall_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    int64_t rest = piece / local->members;

    if (slot->is_packed)
        alltoall_unpack(local, slot);
    else if (slot->is_small && is_swapped(slot))
        swap_tile(local, slot, (int)piece * TILE);
    else if (slot->is_small)
        exchange_tile(local, slot, (int)piece * TILE);
    else if (is_swapped(slot))
        swap_piece(slot->calls[piece % local->members],
                   coll_call_of(local, slot, (int)(rest % local->coll->size)),
                   rest / local->coll->size);
    else
        exchange_piece(slot, coll_call_of(local, slot, (int)(rest % local->coll->size)),
                       slot->calls[piece % local->members], rest / local->coll->size);
}

const coll_ops_t coll_alltoall = {.name = "MPI_Alltoall",
                                  .collective = XY_COLL_ALLTOALL,
                                  .is_sized = true,
                                  .prepare = alltoall_prepare,
                                  .pieces = alltoall_pieces,
                                  .piece = alltoall_piece,
                                  .needs_exit_barrier = coll_exit_unpacked};

const coll_ops_t coll_alltoallv = {.name = "MPI_Alltoallv",
                                   .collective = XY_COLL_ALLTOALLV,
                                   .prepare = alltoall_prepare,
                                   .pieces = alltoall_pieces,
                                   .piece = alltoall_piece,
                                   .needs_exit_barrier = coll_exit_unpacked};

const coll_ops_t coll_alltoallw = {.name = "MPI_Alltoallw",
                                   .collective = XY_COLL_ALLTOALLW,
                                   .prepare = alltoall_prepare,
                                   .pieces = alltoall_pieces,
                                   .piece = alltoall_piece,
                                   .needs_exit_barrier = coll_exit_unpacked};
