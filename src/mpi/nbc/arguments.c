/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member's call as a graph sees it: two sides, each a base address and blocks at offsets. What
 * is contiguous is used where it is; where a block is not, the whole side is packed.
 */
#include <string.h>

#include "mpi/nbc/nbc.h"
#include "mpi/object/object.h"

static bool is(const coll_call_t *call, xy_collective_t collective)
{
    return call->kind->collective == collective;
}

static bool is_gather(const coll_call_t *call)
{
    return is(call, XY_COLL_GATHER) || is(call, XY_COLL_GATHERV);
}

static bool is_scatter(const coll_call_t *call)
{
    return is(call, XY_COLL_SCATTER) || is(call, XY_COLL_SCATTERV);
}

static bool is_alltoall(const coll_call_t *call)
{
    return is(call, XY_COLL_ALLTOALL) || is(call, XY_COLL_ALLTOALLV) || is(call, XY_COLL_ALLTOALLW);
}

bool nbc_needs_all_counts(const coll_call_t *call)
{
    xy_collective_t c = call->kind->collective;

    return c == XY_COLL_GATHERV || c == XY_COLL_SCATTERV || c == XY_COLL_ALLGATHERV ||
           c == XY_COLL_ALLTOALLV || c == XY_COLL_ALLTOALLW;
}

static bool is_direct(const coll_side_t *a, int blocks)
{
    for (int i = 0; i < blocks; i++) {
        coll_block_t b = coll_block_at(a, i);

        if (coll_block_bytes(&b) > 0 && !b.type->is_contiguous)
            return false;
    }
    return true;
}

/* The lowest address of any block: displacements may be negative. */
static char *lowest(const coll_side_t *a, int blocks)
{
    char *low = NULL;

    for (int i = 0; i < blocks; i++) {
        coll_block_t b = coll_block_at(a, i);

        if (coll_block_bytes(&b) > 0 && (low == NULL || b.at < low))
            low = b.at;
    }
    return low;
}

static void pack_block(const nbc_side_t *s, const coll_side_t *a, int i, uint64_t offset)
{
    coll_block_t b = coll_block_at(a, i);

    mpi_type_pack(s->base + offset, b.at, b.count, b.type, 0, coll_block_bytes(&b));
}

/* Pack blocks first .. end - 1 of a side that is not direct. */
static void pack(const nbc_side_t *s, const coll_side_t *a, int first, int end)
{
    uint64_t offset = 0;

    for (int i = 0; i < end; i++) {
        coll_block_t b = coll_block_at(a, i);

        if (i >= first)
            pack_block(s, a, i, offset);
        offset += coll_block_bytes(&b);
    }
}

static void note_offsets(const coll_side_t *a, nbc_side_t *s)
{
    uint64_t packed = 0;

    for (int i = 0; i < s->blocks; i++) {
        coll_block_t b = coll_block_at(a, i);

        s->bytes[i] = coll_block_bytes(&b);
        s->offsets[i] = s->is_packed ? packed : s->bytes[i] > 0 ? (uint64_t)(b.at - s->base) : 0;
        packed += s->bytes[i];
    }
}

static uint64_t total_bytes(const coll_side_t *a, int blocks)
{
    uint64_t total = 0;

    for (int i = 0; i < blocks; i++) {
        coll_block_t b = coll_block_at(a, i);

        total += coll_block_bytes(&b);
    }
    return total;
}

/* Set base address, offsets and blocks of one side of a call; packs what is sent if blocks are not
 * contiguous. */
static xy_status_t make_side(const coll_call_t *c, bool is_send, nbc_side_t *s)
{
    coll_side_t a = coll_side_of(c, is_send);

    s->blocks = coll_side_blocks(c, is_send);
    s->is_packed = !is_direct(&a, s->blocks);
    if (s->is_packed) {
        s->base = xy_malloc(total_bytes(&a, s->blocks) + 1);
        if (s->base == NULL)
            return XY_ENOMEM;
    } else {
        s->base = lowest(&a, s->blocks);
    }
    if (s->bytes != NULL)
        note_offsets(&a, s);
    if (s->is_packed && is_send)
        pack(s, &a, 0, s->blocks);
    return XY_OK;
}

static uint64_t offset_of(const nbc_side_t *s, const coll_call_t *c, int block)
{
    return s->offsets != NULL ? s->offsets[block] : (uint64_t)block * c->bytes;
}

/* Input that lies in the receive buffer: it must be in the packed one. */
static void pack_in_place(const coll_call_t *c, const nbc_side_t *s)
{
    coll_side_t a = coll_side_of(c, false);

    if (is(c, XY_COLL_BCAST))
        pack(s, &a, 0, c->rank == c->root ? 1 : 0);
    else if (c->is_in_place && is_alltoall(c))
        pack(s, &a, 0, s->blocks);
    else if (c->is_in_place && s->blocks > 1)
        pack(s, &a, c->rank, c->rank + 1);
}

/* A rooted call in place: the block of the root is read, or left, where it is. */
static void alias_root(const coll_call_t *c, nbc_rank_args_t *m)
{
    if (!c->is_in_place || c->rank != c->root)
        return;
    if (is_gather(c) && m->receive.base != NULL)
        m->send.base = m->receive.base + offset_of(&m->receive, c, c->root);
    else if (is_scatter(c) && m->send.base != NULL)
        m->receive.base = m->send.base + offset_of(&m->send, c, c->root);
}

/* Elements of predefined types, where the kernels of the operation find them. */
static void make_reduction(const coll_call_t *c, nbc_rank_args_t *m)
{
    m->send.base = c->is_in_place ? NULL : (char *)(uintptr_t)c->send;
    m->receive.base = c->receive;
}

/* A persistent call starts again: all is where it was but the data. */
static void pack_again(const coll_call_t *call, const nbc_rank_args_t *m)
{
    coll_side_t send = coll_side_of(call, true);

    if (m->receive.is_packed)
        pack_in_place(call, &m->receive);
    if (m->send.is_packed)
        pack(&m->send, &send, 0, m->send.blocks);
}

xy_status_t nbc_rank_args_make(coll_call_t *call)
{
    size_t all = (size_t)call->comm->size;
    nbc_rank_args_t *m = call->rank_args;
    xy_status_t st = XY_OK;

    if (m != NULL) {
        pack_again(call, m);
        return XY_OK;
    }
    call->rank_args = m = xy_calloc(1, sizeof(*m));
    if (m == NULL)
        return XY_ENOMEM;
    if (nbc_needs_all_counts(call)) {
        m->memory = xy_calloc(4 * all, sizeof(uint64_t));
        if (m->memory == NULL)
            return XY_ENOMEM;
        m->send.offsets = m->memory;
        m->send.bytes = m->send.offsets + all;
        m->receive.offsets = m->send.bytes + all;
        m->receive.bytes = m->receive.offsets + all;
    }
    if (call->op != NULL) {
        make_reduction(call, m);
    } else if (call->kind->collective != XY_COLL_BARRIER) {
        st = make_side(call, false, &m->receive);
        if (st == XY_OK && m->receive.is_packed)
            pack_in_place(call, &m->receive);
        if (st == XY_OK)
            st = make_side(call, true, &m->send);
        if (st == XY_OK)
            alias_root(call, m);
    }
    return st;
}

/* The size and place of a member's input in the receive buffer, for calls in place. */
static uint64_t input_bytes(const coll_call_t *c, uint64_t *offset_p)
{
    uint64_t elements = 0, all = (uint64_t)c->comm->size;

    *offset_p = 0;
    if (is(c, XY_COLL_ALLGATHER)) {
        *offset_p = (uint64_t)c->rank * c->bytes;
        return c->bytes;
    }
    if (is(c, XY_COLL_ALLTOALL))
        return all * c->bytes;
    if (c->op == NULL)
        return 0;
    elements = (uint64_t)c->receive_count;
    if (is(c, XY_COLL_REDUCE_SCATTER_BLOCK))
        elements *= all;
    for (int r = 0; c->receive_counts.data != NULL && r < c->comm->size; r++)
        elements += (uint64_t)coll_count_at(c->receive_counts, r);
    return elements * (uint64_t)c->receive_type->extent;
}

xy_status_t nbc_rank_args_adjust(coll_call_t *call, bool is_in_place)
{
    nbc_rank_args_t *m = call->rank_args;
    bool has_root = call->kind->is_rooted && call->op == NULL;
    uint64_t offset, bytes = input_bytes(call, &offset);

    if (call->is_in_place == is_in_place || has_root || bytes == 0)
        return XY_OK;
    if (is_in_place) {
        mpi_move(m->receive.base + offset, m->send.base, bytes);
        return XY_OK;
    }
    if (m->input == NULL)
        m->input = xy_malloc(bytes);
    if (m->input == NULL)
        return XY_ENOMEM;
    mpi_move(m->input, m->receive.base + offset, bytes);
    m->send.base = m->input;
    return XY_OK;
}

/* Unpack the received blocks into the program's buffer. */
static void unpack(const coll_call_t *call, const nbc_side_t *s)
{
    coll_side_t a = coll_side_of(call, false);
    uint64_t offset = 0;

    if (is(call, XY_COLL_BCAST) && call->rank == call->root)
        return;
    for (int i = 0; i < s->blocks; i++) {
        coll_block_t b = coll_block_at(&a, i);

        mpi_type_unpack(b.at, b.count, b.type, s->base + offset, 0, coll_block_bytes(&b));
        offset += coll_block_bytes(&b);
    }
}

void nbc_rank_args_finish(coll_call_t *call)
{
    const nbc_rank_args_t *m = call->rank_args;

    if (m->receive.is_packed)
        unpack(call, &m->receive);
    if (call->how != COLL_PERSISTENT)
        nbc_rank_args_destroy(call);
}

void nbc_rank_args_destroy(coll_call_t *call)
{
    nbc_rank_args_t *m = call->rank_args;

    if (m == NULL)
        return;
    if (m->receive.is_packed)
        xy_free(m->receive.base);
    if (m->send.is_packed)
        xy_free(m->send.base);
    xy_free(m->input);
    xy_free(m->memory);
    xy_free(m);
    call->rank_args = NULL;
}
