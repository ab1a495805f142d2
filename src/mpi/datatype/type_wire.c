/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes as bytes, for another process of the job: where the data lies, and nothing of how the
 * type was made. The normal form is short: a face of a cube is some loops around one block, however
 * large it is.
 */
#include <string.h>

#include "base/base.h"
#include "mpi/datatype/datatype.h"

/* In front of the loops and the blocks. */
typedef struct {
    uint64_t size, elements, blocks;
    int64_t lb, extent, true_lb, true_extent;
    uint32_t depth;
    uint8_t is_contiguous, align, basic, unused;
} wire_t;

size_t mpi_type_wire_size(const mpi_type_t *type)
{
    const mpi_layout_t *l = &type->layout;

    return sizeof(wire_t) + (size_t)l->depth * sizeof(*l->loops) + l->blocks * sizeof(*l->block);
}

static void *put(char *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
    return to + bytes;
}

void mpi_type_wire_write(const mpi_type_t *type, void *bytes)
{
    const mpi_layout_t *l = &type->layout;
    wire_t wire = {.size = type->size,
                   .elements = type->elements,
                   .blocks = l->blocks,
                   .lb = type->lb,
                   .extent = type->extent,
                   .true_lb = type->true_lb,
                   .true_extent = type->true_extent,
                   .depth = (uint32_t)l->depth,
                   .is_contiguous = type->is_contiguous,
                   .align = type->align,
                   .basic = type->basic};
    char *at = put(bytes, &wire, sizeof(wire));

    at = put(at, l->loops, (size_t)l->depth * sizeof(*l->loops));
    put(at, l->block, l->blocks * sizeof(*l->block));
}

/* A copy of `bytes`; NULL where there are none. False: memory ran out. */
static bool take(void *copy_p, const char **at, size_t bytes)
{
    void *copy = bytes > 0 ? xy_malloc(bytes) : NULL;

    if (bytes > 0 && copy == NULL)
        return false;
    if (bytes > 0)
        memcpy(copy, *at, bytes);
    *at += bytes;
    memcpy(copy_p, &copy, sizeof(copy));
    return true;
}

mpi_type_t *mpi_type_wire_read(const void *bytes)
{
    mpi_type_t *type = xy_calloc(1, sizeof(*type));
    const char *at = bytes;
    wire_t wire;

    if (type == NULL)
        return NULL;
    memcpy(&wire, at, sizeof(wire));
    at += sizeof(wire);
    type->size = wire.size;
    type->elements = wire.elements;
    type->lb = wire.lb;
    type->extent = wire.extent;
    type->true_lb = wire.true_lb;
    type->true_extent = wire.true_extent;
    type->is_contiguous = wire.is_contiguous;
    type->is_committed = true;
    type->most_received = INT64_MAX; /* no receive has it */
    type->align = wire.align;
    type->basic = wire.basic;
    type->signature = XMPI_SIGNATURE_ANY;
    type->layout.depth = (int)wire.depth;
    type->layout.blocks = wire.blocks;
    atomic_init(&type->references, 1);
    if (!take(&type->layout.loops, &at, wire.depth * sizeof(*type->layout.loops)) ||
        !take(&type->layout.block, &at, wire.blocks * sizeof(*type->layout.block))) {
        mpi_type_destroy(type);
        return NULL;
    }
    return type;
}
