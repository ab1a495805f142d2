/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, gather and scatter. Each part copies for its own members, straight between their
 * buffers and the root's; only the root has to wait for the others.
 */
#include <string.h>

#include "mpi/coll.h"
#include "mpi/copy.h"

/* Of a large broadcast, copied to all members of a part before the next piece: it stays in cache.
 */
enum { BCAST_PIECE = 256 << 10 };

static bool always(const coll_slot_t *slot)
{
    (void)slot;
    return true;
}

static bool is_not_root(const coll_call_t *call)
{
    return call->rank != call->root;
}

static bool bcast_is_large(const coll_slot_t *slot)
{
    return slot->bytes > COLL_SMALL;
}

/* A small broadcast travels through the slot of the root's part. */
static xy_status_t bcast_prepare(coll_part_t *part, coll_slot_t *slot)
{
    const mpi_coll_t *coll = part->coll;

    if (!bcast_is_large(slot) && coll->part_of[slot->root] == part->index) {
        const coll_call_t *root = slot->calls[coll->place_of[slot->root]];

        mpi_type_pack(slot->data, root->send, root->send_count, root->send_type, 0, slot->bytes);
    }
    return XY_OK;
}

static void bcast_small(coll_part_t *part, coll_slot_t *slot)
{
    const char *data = coll_slot_of(part, slot, part->coll->part_of[slot->root])->data;

    for (int m = 0; m < part->members; m++) {
        coll_call_t *call = slot->calls[m];

        if (call->rank != slot->root)
            mpi_type_unpack(call->receive, call->receive_count, call->receive_type, data, 0,
                            slot->bytes);
    }
}

static void bcast_pieces(coll_part_t *part, coll_slot_t *slot, const char *from)
{
    for (uint64_t done = 0; done < slot->bytes; done += BCAST_PIECE) {
        uint64_t n = slot->bytes - done < BCAST_PIECE ? slot->bytes - done : BCAST_PIECE;

        for (int m = 0; m < part->members; m++)
            if (slot->calls[m]->rank != slot->root)
                memcpy((char *)slot->calls[m]->receive + done, from + done, n);
    }
}

static void bcast_work(coll_part_t *part, coll_slot_t *slot)
{
    const coll_call_t *root;
    bool is_plain;

    if (!bcast_is_large(slot)) {
        bcast_small(part, slot);
        return;
    }
    root = coll_call_of(part, slot, slot->root);
    is_plain = part->members > 1 && mpi_type_is_contiguous(root->send_type);
    for (int m = 0; m < part->members; m++)
        is_plain &= mpi_type_is_contiguous(slot->calls[m]->receive_type);
    if (is_plain) {
        bcast_pieces(part, slot, root->send);
        return;
    }
    for (int m = 0; m < part->members; m++) {
        coll_call_t *call = slot->calls[m];

        if (call->rank != slot->root)
            coll_copy(call->receive, call->receive_count, call->receive_type, root->send,
                      root->send_count, root->send_type);
    }
}

const coll_kind_t coll_bcast = {.name = "MPI_Bcast",
                                .is_rooted = true,
                                .prepare = bcast_prepare,
                                .work = bcast_work,
                                .parts_again = bcast_is_large,
                                .leaves_early = is_not_root};

/* Where the root keeps the data of `rank`, in elements of its type, and how many there are. */
static int64_t place_at_root(coll_vector_t displacements, int64_t count, int rank)
{
    return displacements.data ? coll_at(displacements, rank) : count * rank;
}

static int64_t count_at_root(coll_vector_t counts, int64_t count, int rank)
{
    return counts.data ? coll_at(counts, rank) : count;
}

static void gather_work(coll_part_t *part, coll_slot_t *slot)
{
    const coll_call_t *root = coll_call_of(part, slot, slot->root);

    for (int m = 0; m < part->members; m++) {
        const coll_call_t *call = slot->calls[m];
        int64_t place = place_at_root(root->receive_displacements, root->receive_count, call->rank);

        if (!call->is_in_place)
            coll_copy(coll_element(root->receive, place, root->receive_type),
                      count_at_root(root->receive_counts, root->receive_count, call->rank),
                      root->receive_type, call->send, call->send_count, call->send_type);
    }
}

const coll_kind_t coll_gather = {.name = "MPI_Gather",
                                 .is_rooted = true,
                                 .work = gather_work,
                                 .parts_again = always,
                                 .leaves_early = is_not_root};

static void scatter_work(coll_part_t *part, coll_slot_t *slot)
{
    const coll_call_t *root = coll_call_of(part, slot, slot->root);

    for (int m = 0; m < part->members; m++) {
        const coll_call_t *call = slot->calls[m];
        int64_t place = place_at_root(root->send_displacements, root->send_count, call->rank);

        if (!call->is_in_place)
            coll_copy(call->receive, call->receive_count, call->receive_type,
                      coll_element(root->send, place, root->send_type),
                      count_at_root(root->send_counts, root->send_count, call->rank),
                      root->send_type);
    }
}

const coll_kind_t coll_scatter = {.name = "MPI_Scatter",
                                  .is_rooted = true,
                                  .work = scatter_work,
                                  .parts_again = always,
                                  .leaves_early = is_not_root};
