/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of other processes, and the datatypes that letters to them name.
 *
 * A predefined type is a number. Another one is described once, by its layout, and has a slot from
 * then on; a new one takes the slot that was filled longest ago, on both sides alike, since letters
 * stay in order. A layout with many blocks goes in several letters.
 */
#include <string.h>

#include "mpi/rma/far.h"

rma_peer_t *rma_far_peer(mpi_win_t *win, int rank)
{
    rma_far_t *far = &win->far;

    if (far->peers == NULL)
        far->peers = rma_far_memory(xy_calloc((size_t)win->size, sizeof(*far->peers)));
    if (far->peers[rank] == NULL) {
        far->peers[rank] = rma_far_memory(xy_calloc(1, sizeof(rma_peer_t)));
        far->peers[rank]->rank = rank;
    }
    return far->peers[rank];
}

/* ---- The origin ---- */

/* In letters: `offset` of all `count` bytes. */
static void describe(mpi_win_t *win, const rma_peer_t *peer, int slot, const mpi_type_t *type)
{
    size_t bytes = mpi_type_wire_size(type), most = rma_far_room(1);
    char *text = rma_far_memory(xy_malloc(bytes));
    rma_far_wire_t wire = {.count = (int64_t)bytes, .type = (uint16_t)slot};

    mpi_type_wire_write(type, text);
    for (wire.offset = 0; wire.offset < bytes; wire.offset += wire.bytes) {
        wire.bytes = bytes - wire.offset < most ? bytes - wire.offset : most;
        rma_far_send(win, peer->rank, RMA_FAR_TYPE, &wire, text + wire.offset, wire.bytes);
    }
    xy_free(text);
}

uint16_t rma_far_type(mpi_win_t *win, rma_peer_t *peer, mpi_type_t *type)
{
    int slot = 0;

    if (type->is_predefined)
        return (uint16_t)(type - mpi_type_table);
    while (slot < RMA_FAR_SLOTS && peer->described[slot] != type)
        slot++;
    if (slot == RMA_FAR_SLOTS) {
        slot = (int)(peer->next_slot++ % RMA_FAR_SLOTS);
        if (peer->described[slot] != NULL)
            mpi_type_release(peer->described[slot]);
        mpi_type_hold(type); /* no other type has its address meanwhile */
        peer->described[slot] = type;
        describe(win, peer, slot, type);
    }
    return (uint16_t)(RMA_FAR_SLOT + slot);
}

/* ---- The target ---- */

mpi_type_t *rma_far_known(const rma_peer_t *peer, uint16_t type)
{
    return type < RMA_FAR_SLOT ? &mpi_type_table[type] : peer->known[type - RMA_FAR_SLOT];
}

void rma_far_describe(rma_peer_t *peer, const rma_far_wire_t *wire, const char *data)
{
    mpi_type_t **slot = &peer->known[wire->type];

    if (wire->offset == 0)
        peer->description = rma_far_memory(xy_malloc((size_t)wire->count));
    memcpy(peer->description + wire->offset, data, wire->bytes);
    if (wire->offset + wire->bytes < (uint64_t)wire->count)
        return;
    if (*slot != NULL)
        mpi_type_release(*slot);
    *slot = rma_far_memory(mpi_type_wire_read(peer->description));
    xy_free(peer->description);
    peer->description = NULL;
}

/* ---- The end ---- */

static void peer_destroy(rma_peer_t *peer)
{
    for (int i = 0; i < RMA_FAR_SLOTS; i++) {
        if (peer->described[i] != NULL)
            mpi_type_release(peer->described[i]);
        if (peer->known[i] != NULL)
            mpi_type_release(peer->known[i]);
    }
    xy_free(peer->held);
    xy_free(peer);
}

void rma_far_destroy(mpi_win_t *win)
{
    for (int r = 0; win->far.peers != NULL && r < win->size; r++)
        if (win->far.peers[r] != NULL)
            peer_destroy(win->far.peers[r]);
    xy_free(win->far.peers);
    win->far.peers = NULL;
}
