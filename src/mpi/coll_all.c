/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgather and alltoall, in all variants. Each part fills the buffers of its own members. */
#include <string.h>

#include "mpi/coll.h"

/* Sources read side by side in an alltoall: each destination then gets a run of this many blocks.
 */
enum { TILE = 8 };

static bool always(const coll_slot_t *slot)
{
    (void)slot;
    return true;
}

/* The block of member `rank` in the receive buffer of `call`. */
static char *receive_block(const coll_call_t *call, int rank, int64_t *count)
{
    bool is_vector = call->receive_counts.data != NULL;

    *count = is_vector ? coll_at(call->receive_counts, rank) : call->receive_count;
    return coll_element(call->receive,
                        is_vector ? coll_at(call->receive_displacements, rank) : *count * rank,
                        call->receive_type);
}

/* What member `rank` contributes to an allgather. */
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

static void allgather_into(coll_part_t *part, coll_slot_t *slot, coll_call_t *to)
{
    for (int r = 0; r < part->coll->size; r++) {
        coll_call_t *from = coll_call_of(part, slot, r);
        int64_t count, room;
        mpi_type_t *type;
        const char *data = contribution(from, &count, &type);
        char *place = receive_block(to, r, &room);

        coll_copy(place, room, to->receive_type, data, count, type);
    }
}

/* With regular blocks of one plain type all results are equal: put one together, copy it. */
static bool allgather_is_plain(const coll_part_t *part, const coll_slot_t *slot)
{
    for (int m = 0; m < part->members; m++) {
        const coll_call_t *call = slot->calls[m];

        if (call->receive_counts.data != NULL || !mpi_type_is_contiguous(call->receive_type))
            return false;
    }
    return true;
}

static void allgather_work(coll_part_t *part, coll_slot_t *slot)
{
    const coll_call_t *first = slot->calls[0];

    allgather_into(part, slot, slot->calls[0]);
    if (allgather_is_plain(part, slot)) {
        size_t bytes =
            (size_t)first->receive_count * first->receive_type->size * (size_t)part->coll->size;

        for (int m = 1; m < part->members; m++) {
            coll_call_t *call = slot->calls[m];
            size_t block = bytes / (size_t)part->coll->size;
            size_t own = (size_t)call->rank * block;

            if (!call->is_in_place) {
                memcpy(call->receive, first->receive, bytes);
                continue;
            }
            /* Others may be reading this member's own block, which holds its data already. */
            memcpy(call->receive, first->receive, own);
            memcpy((char *)call->receive + own + block, (char *)first->receive + own + block,
                   bytes - own - block);
        }
        return;
    }
    for (int m = 1; m < part->members; m++)
        allgather_into(part, slot, slot->calls[m]);
}

const coll_kind_t coll_allgather = {
    .name = "MPI_Allgather", .work = allgather_work, .parts_again = always};

/* One direction of an alltoall call, seen from one member towards `peer`. */
static char *alltoall_block(const void *buffer, coll_vector_t counts, coll_vector_t displacements,
                            const MPI_Datatype *types, int64_t count, mpi_type_t *type, int peer,
                            int64_t *count_p, mpi_type_t **type_p)
{
    *count_p = counts.data ? coll_at(counts, peer) : count;
    *type_p = types ? mpi_type_of(types[peer]) : type;
    if (types != NULL)
        return (char *)(uintptr_t)buffer + coll_at(displacements, peer);
    return coll_element(buffer, counts.data ? coll_at(displacements, peer) : count * peer, type);
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

/* In place, the data to send is what lies in the receive buffer now: keep a copy of the bytes from
 * the first to the last that belongs to it. */
static xy_status_t copy_in_place(coll_call_t *call, int size)
{
    char *low = NULL, *high = NULL;

    for (int r = 0; r < size; r++) {
        mpi_type_t *type;
        int64_t count;
        char *block = alltoall_receive(call, r, &count, &type);
        char *begin = block + type->true_lb;
        char *end = begin + (count - 1) * type->extent + type->true_extent;

        if (count == 0)
            continue;
        low = low == NULL || begin < low ? begin : low;
        high = high == NULL || end > high ? end : high;
    }
    call->send = call->receive;
    if (low == NULL)
        return XY_OK;
    call->copy = xy_malloc((size_t)(high - low));
    if (call->copy == NULL)
        return XY_ENOMEM;
    memcpy(call->copy, low, (size_t)(high - low));
    call->send = (char *)call->copy + ((char *)call->receive - low);
    return XY_OK;
}

static xy_status_t alltoall_prepare(coll_part_t *part, coll_slot_t *slot)
{
    for (int m = 0; m < part->members; m++)
        if (slot->calls[m]->is_in_place && copy_in_place(slot->calls[m], part->coll->size) != XY_OK)
            return XY_ENOMEM;
    return XY_OK;
}

static bool is_plain(const coll_call_t *call)
{
    const mpi_type_t *send = call->is_in_place ? call->receive_type : call->send_type;

    return call->receive_counts.data == NULL && call->receive_types == NULL &&
           mpi_type_is_contiguous(call->receive_type) && mpi_type_is_contiguous(send);
}

/* Regular blocks of plain bytes: `n` of them from each to each. */
static void exchange_plain(coll_part_t *part, coll_slot_t *slot, size_t n)
{
    int size = part->coll->size;

    for (int s0 = 0; s0 < size; s0 += TILE) {
        int s1 = s0 + TILE < size ? s0 + TILE : size;
        const char *from[TILE];

        for (int s = s0; s < s1; s++)
            from[s - s0] = coll_call_of(part, slot, s)->send;
        for (int m = 0; m < part->members; m++) {
            coll_call_t *to = slot->calls[m];

            for (int s = s0; s < s1; s++)
                memcpy((char *)to->receive + (size_t)s * n, from[s - s0] + (size_t)to->rank * n, n);
        }
    }
}

static void exchange(coll_part_t *part, coll_slot_t *slot, int source, coll_call_t *to)
{
    coll_call_t *from = coll_call_of(part, slot, source);
    mpi_type_t *to_type, *from_type;
    int64_t room, count;
    char *place = alltoall_receive(to, source, &room, &to_type);
    char *data = alltoall_send(from, to->rank, &count, &from_type);

    coll_copy(place, room, to_type, data, count, from_type);
}

static void alltoall_work(coll_part_t *part, coll_slot_t *slot)
{
    int size = part->coll->size;
    bool plain = true;

    for (int r = 0; r < size && plain; r++)
        plain = is_plain(coll_call_of(part, slot, r));
    if (plain) {
        const coll_call_t *own = slot->calls[0];

        exchange_plain(part, slot, (size_t)own->receive_count * own->receive_type->size);
        return;
    }
    for (int s = 0; s < size; s++)
        for (int m = 0; m < part->members; m++)
            exchange(part, slot, s, slot->calls[m]);
}

const coll_kind_t coll_alltoall = {.name = "MPI_Alltoall",
                                   .prepare = alltoall_prepare,
                                   .work = alltoall_work,
                                   .parts_again = always};
