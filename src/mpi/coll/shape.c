/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call of a collective is, without its buffers: for the simulated job and for traces. */
#include "mpi/coll/coll.h"
#include "mpi/object/object.h"

static bool is_agreement(const coll_call_t *call)
{
    return call->kind->collective == XY_COLL_COUNT;
}

uint64_t coll_basic_bytes(const mpi_type_t *type)
{
    bool is_uniform = type->basic != XMPI_BASIC_NONE && type->elements > 0;

    return is_uniform && type->size % type->elements == 0 ? type->size / type->elements : 1;
}

/* The side whose count and type say how large a block is. */
static bool is_sent_side(const coll_call_t *call)
{
    switch (call->kind->collective) {
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
        return call->comm->rank != call->root;
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        return call->comm->rank == call->root;
    case XY_COLL_ALLTOALLV:
        return !call->is_in_place;
    default:
        return false;
    }
}

static const uint64_t *counts_in(coll_vector_t v, int n, uint64_t per_element)
{
    uint64_t *counts = coll_scratch((size_t)n * sizeof(*counts));

    for (int r = 0; r < n; r++)
        counts[r] = (uint64_t)coll_count_at(v, r) * per_element;
    return counts;
}

/* Alltoallw: bytes to each. */
static const uint64_t *bytes_to_each(const coll_call_t *call)
{
    coll_side_t side = coll_side_of(call, !call->is_in_place);
    uint64_t *bytes = coll_scratch((size_t)call->comm->size * sizeof(*bytes));

    for (int r = 0; r < call->comm->size; r++) {
        coll_block_t b = coll_block_at(&side, r);

        bytes[r] = coll_block_bytes(&b);
    }
    return bytes;
}

coll_shape_t coll_shape_of(const coll_call_t *call)
{
    coll_shape_t s = {.collective = call->kind->collective,
                      .root = call->kind->is_rooted ? call->root : 0,
                      .element = 1};
    coll_side_t side = coll_side_of(call, is_sent_side(call));

    if (is_agreement(call))
        return (coll_shape_t){.collective = XY_COLL_ALLREDUCE, .count = 1, .element = 8};
    if (s.collective == XY_COLL_ALLTOALLW) {
        s.counts = bytes_to_each(call);
        return s;
    }
    if (side.type == NULL) /* a barrier; a root whose block is in place has its own side */
        return s;
    s.element = coll_basic_bytes(side.type);
    if (side.counts.data != NULL)
        s.counts = counts_in(side.counts, call->comm->size, side.type->size / s.element);
    else
        s.count = (uint64_t)side.count * side.type->size / s.element;
    return s;
}

void coll_trace(const mpi_rank_t *self, const coll_call_t *call)
{
    const mpi_group_t *group = call->comm->coll->group;
    coll_shape_t s;
    xy_trace_collective_t c;

    if (call->kind->is_inter) /* which no description of a program has */
        return;
    s = coll_shape_of(call);
    c = (xy_trace_collective_t){.rank = (uint32_t)self->world,
                                .collective = (uint32_t)s.collective,
                                .context = call->comm->context,
                                .first = group->ranks != NULL ? (uint32_t)group->ranks[0] : 0,
                                .members = (uint32_t)call->comm->size,
                                .member = (uint32_t)call->comm->rank,
                                .root = (uint32_t)s.root,
                                .count = s.count,
                                .element = s.element};

    for (int r = 0; s.counts != NULL && r < call->comm->size; r++)
        c.count += s.counts[r];
    mpi_trace_put_collective(self->trace, &c);
}
