/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A place in typed data, which moves from run to run of bytes that lie side by side, in the order
 * of the type map:
 *
 *   mpi_cursor_t c = {.type = type, .at = buffer};
 *   while (bytes > 0) {
 *       char *run = mpi_cursor_run(&c, &length);
 *       ...
 *       mpi_cursor_advance(&c, n);              (n <= length)
 *   }
 *
 * Each element of a contiguous type is a run of its own: where that is slow, do not ask for a
 * cursor. The type has data.
 */
#ifndef XY_MPI_DATATYPE_TYPE_CURSOR_H
#define XY_MPI_DATATYPE_TYPE_CURSOR_H

#include "mpi/datatype/type_object.h"

typedef struct {
    const mpi_type_t *type;
    char *at;     /* address of the current innermost iteration */
    size_t block; /* in the list */
    size_t done;  /* bytes of that block already used */
    int64_t index[XMPI_TYPE_DEPTH];
} mpi_cursor_t;

/* On to the next iteration of the loop at `level`, or of one around it where that ends. */
static inline void mpi_cursor_next(mpi_cursor_t *c, int level)
{
    const mpi_layout_t *layout = &c->type->layout;

    for (; level >= 0; level--) {
        const mpi_loop_t *loop = &layout->loops[level];

        if (++c->index[level] < loop->count) {
            c->at += loop->stride;
            return;
        }
        c->index[level] = 0;
        c->at -= loop->stride * (loop->count - 1);
    }
    c->at += c->type->extent;
}

/* The run, and how many bytes of it are left. */
static inline char *mpi_cursor_run(const mpi_cursor_t *c, size_t *length_p)
{
    const mpi_block_t *b = &c->type->layout.block[c->block];

    *length_p = b->length - c->done;
    return c->at + b->offset + c->done;
}

/* Over `n` bytes, at most those left of the run. */
static inline void mpi_cursor_advance(mpi_cursor_t *c, size_t n)
{
    const mpi_layout_t *layout = &c->type->layout;

    c->done += n;
    if (c->done < layout->block[c->block].length)
        return;
    c->done = 0;
    if (++c->block < layout->blocks)
        return;
    c->block = 0;
    mpi_cursor_next(c, layout->depth - 1);
}

#endif
