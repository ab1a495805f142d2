/* SPDX-License-Identifier: BSD-3-Clause */
/* The two sides of a member's call as blocks: what it gives, and what it gets. */
#include "mpi/coll/coll.h"

coll_side_t coll_side_of(const coll_call_t *c, bool is_send)
{
    if (is_send)
        return (coll_side_t){c->send,        c->send_count,         c->send_type,
                             c->send_counts, c->send_displacements, c->send_types};
    return (coll_side_t){c->receive,        c->receive_count,         c->receive_type,
                         c->receive_counts, c->receive_displacements, c->receive_types};
}

int coll_side_blocks(const coll_call_t *c, bool is_send)
{
    bool is_root = c->rank == c->root;
    int all = c->comm->size;

    switch (c->kind->collective) {
    case XY_COLL_BCAST:
        return is_send ? 0 : 1;
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
        return is_send ? !(is_root && c->is_in_place) : is_root ? all : 0;
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        return !is_send ? !(is_root && c->is_in_place) : is_root ? all : 0;
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
        return !is_send ? all : !c->is_in_place;
    default:
        return is_send && c->is_in_place ? 0 : all;
    }
}

/* A buffer that is not needed may be NULL. */
static char *place_at(const coll_side_t *a, int64_t offset)
{
    return (char *)((uintptr_t)a->buffer + (uintptr_t)offset);
}

coll_block_t coll_block_at(const coll_side_t *a, int i)
{
    if (a->types != NULL)
        return (coll_block_t){place_at(a, coll_count_at(a->displacements, i)),
                              coll_count_at(a->counts, i), mpi_type_held(a->types[i])};
    if (a->counts.data != NULL)
        return (coll_block_t){place_at(a, coll_count_at(a->displacements, i) * a->type->extent),
                              coll_count_at(a->counts, i), a->type};
    return (coll_block_t){place_at(a, i * a->count * a->type->extent), a->count, a->type};
}
