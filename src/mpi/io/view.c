/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/io/view.h"

#include "mpi/io/io_represent.h"

/* ---- What a filetype may be ---- */

static MPI_Aint end_of(const mpi_block_t *b)
{
    return b->offset + (MPI_Aint)b->length;
}

/* Bounds of every loop, inside out, and whether blocks overlap. False: displacements decrease. */
static bool find_bounds(io_view_t *view)
{
    const mpi_layout_t *layout = &view->tile->layout;
    const mpi_block_t *b = layout->block;
    int depth = layout->depth;
    MPI_Aint last = b[layout->blocks - 1].offset, high = end_of(&b[0]); /* `last`: of all starts */

    view->overlaps = false;
    for (size_t i = 1; i < layout->blocks; i++) {
        if (b[i].offset < b[i - 1].offset)
            return false;
        view->overlaps |= b[i].offset < high;
        high = end_of(&b[i]) > high ? end_of(&b[i]) : high;
    }
    view->low[depth] = b[0].offset;
    view->high[depth] = high;
    for (int l = depth - 1; l >= 0; l--) {
        const mpi_loop_t *loop = &layout->loops[l];

        if (loop->count > 1 && loop->stride < last - view->low[l + 1])
            return false;
        view->overlaps |= loop->count > 1 && loop->stride < view->high[l + 1] - view->low[l + 1];
        last += (MPI_Aint)(loop->count - 1) * loop->stride;
        view->low[l] = view->low[l + 1];
        view->high[l] = view->high[l + 1] + (MPI_Aint)(loop->count - 1) * loop->stride;
    }
    return true;
}

/* Filetypes whose copies would overlap are good for accesses to the first copy: programs make them
 * of parts with bounds of their own, which outweigh the others. The next copy is put behind it,
 * where io_view_reaches() lets no access come to. */
static const char *keep_one(io_view_t *view)
{
    mpi_type_t *made = mpi_type_with_extent(view->tile, view->high[0]);

    if (made == NULL)
        return "memory ran out for a view";
    mpi_type_release(view->tile);
    view->tile = made;
    view->reach = (int64_t)made->size;
    return find_bounds(view) ? NULL : "the filetype changed with its extent";
}

/* The largest power of two that divides all, up to a page. */
static size_t find_grain(const io_view_t *view)
{
    const mpi_layout_t *layout = &view->tile->layout;
    uint64_t bits = 4096 | (uint64_t)view->disp | (uint64_t)view->tile->extent | view->unit;

    for (int l = 0; l < layout->depth; l++)
        bits |= (uint64_t)layout->loops[l].stride;
    for (size_t i = 0; i < layout->blocks; i++)
        bits |= (uint64_t)layout->block[i].offset | layout->block[i].length;
    return (size_t)(bits & -bits);
}

/* Compute the properties of a view; returns why it is not possible, or NULL. */
static const char *fill(io_view_t *view, bool may_overlap, int *class_p)
{
    *class_p = MPI_ERR_TYPE;
    view->unit = io_rep_size(view->rep, view->etype);
    if (view->unit == 0)
        return "the etype has no data";
    if (view->tile->size % view->unit != 0)
        return "the filetype is not made of etypes: its size is not a multiple of theirs";
    *class_p = MPI_ERR_IO; /* as ROMIO has it, which most libraries are built with */
    if (!find_bounds(view))
        return "the displacements of the filetype decrease";
    if (view->overlaps && !may_overlap)
        return "the blocks of the filetype overlap, which is allowed only in files opened with "
               "MPI_MODE_RDONLY";
    if (view->low[0] < 0)
        return "the filetype has a negative displacement";
    if (view->tile->extent < view->high[0] - view->low[0]) {
        const char *why = keep_one(view);

        if (why != NULL) {
            *class_p = MPI_ERR_NO_MEM;
            return why;
        }
    }
    view->grain = find_grain(view);
    view->is_plain = view->tile->is_contiguous;
    view->is_simple = view->is_plain && view->reach == INT64_MAX && view->rep == NULL &&
                      view->disp < IO_SMALL && view->unit < 1 << 16;
    return NULL;
}

const char *io_view_create(MPI_Offset disp, mpi_type_t *etype, mpi_type_t *filetype,
                           const io_rep_t *rep, bool may_overlap, int *class_p, io_view_t **view_p)
{
    io_view_t *view = xy_calloc(1, sizeof(*view));
    const char *why;

    *class_p = MPI_ERR_NO_MEM;
    if (view == NULL)
        return "memory ran out for a view";
    atomic_init(&view->references, 1);
    view->disp = disp;
    view->etype = etype;
    view->filetype = filetype;
    view->rep = rep;
    mpi_type_hold(etype);
    mpi_type_hold(filetype);
    view->reach = filetype->size > 0 ? INT64_MAX : 0;
    why = io_rep_tile(rep, filetype->size > 0 ? filetype : etype, class_p, &view->tile);
    if (why == NULL)
        why = fill(view, may_overlap, class_p);
    if (why != NULL) {
        io_view_release(view);
        return why;
    }
    *view_p = view;
    return NULL;
}

void io_view_hold(io_view_t *view)
{
    atomic_fetch_add_explicit(&view->references, 1, memory_order_relaxed);
}

void io_view_release(io_view_t *view)
{
    /* acq_rel: what others read of it happens before it goes */
    if (view == NULL || atomic_fetch_sub_explicit(&view->references, 1, memory_order_acq_rel) > 1)
        return;
    mpi_type_release(view->etype);
    mpi_type_release(view->filetype);
    if (view->tile != NULL)
        mpi_type_release(view->tile);
    xy_free(view);
}

/* ---- From the file to the view ---- */

/* Data bytes of the list before `x`. */
static int64_t blocks_before(const mpi_layout_t *layout, MPI_Aint x)
{
    size_t first = 0, end = layout->blocks; /* the first block that begins at x or later */
    const mpi_block_t *b;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (layout->block[middle].offset < x)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == 0)
        return 0;
    b = &layout->block[first - 1];
    return (int64_t)b->before +
           (x - b->offset < (MPI_Aint)b->length ? x - b->offset : (int64_t)b->length);
}

static int64_t clamp(int64_t value, int64_t most)
{
    if (value < 0)
        return 0;
    return value > most ? most : value;
}

/* Data bytes of a view whose blocks overlap, up to the first that is not before `offset`; its
 * copies do not overlap. */
static int64_t before_walked(const io_view_t *view, int64_t offset, int64_t bytes)
{
    int64_t end = bytes + (int64_t)view->tile->size;
    io_walk_t walk;

    io_walk_begin(&walk, view, bytes);
    while (bytes < end) {
        size_t n;
        int64_t at = io_walk_run(&walk, &n);

        if (at + (int64_t)n > offset)
            return bytes + clamp(offset - at, (int64_t)n);
        bytes += (int64_t)n;
        io_walk_advance(&walk, n);
    }
    return bytes;
}

int64_t io_view_before(const io_view_t *view, int64_t offset)
{
    const mpi_type_t *tile = view->tile;
    int64_t x = offset - view->disp, n, bytes;

    if (view->is_plain)
        return x > 0 ? x : 0;
    if (x <= view->low[0])
        return 0;
    n = (x - view->low[0]) / tile->extent;
    bytes = n * (int64_t)tile->size;
    if (view->overlaps)
        return before_walked(view, offset, bytes);
    x -= n * tile->extent;
    for (int l = 0; l < tile->layout.depth; l++) {
        const mpi_loop_t *loop = &tile->layout.loops[l];

        if (loop->count <= 1)
            continue;
        n = clamp((x - view->low[l + 1]) / loop->stride, loop->count - 1);
        bytes += n * (int64_t)loop->size;
        x -= n * loop->stride;
    }
    return bytes + blocks_before(&tile->layout, x);
}

/* ---- From the view to the file ---- */

/* Index of the block that contains a data byte. */
static size_t find_block(const mpi_layout_t *layout, size_t byte)
{
    size_t first = 0, end = layout->blocks;

    while (end - first > 1) {
        size_t middle = first + (end - first) / 2;

        if (layout->block[middle].before <= byte)
            first = middle;
        else
            end = middle;
    }
    return first;
}

void io_walk_begin(io_walk_t *walk, const io_view_t *view, int64_t byte)
{
    const mpi_type_t *tile = view->tile;
    const mpi_layout_t *layout = &tile->layout;
    size_t rest = (size_t)(byte % (int64_t)tile->size);

    walk->view = view;
    walk->at = view->disp + byte / (int64_t)tile->size * tile->extent;
    for (int l = 0; l < layout->depth; l++) {
        const mpi_loop_t *loop = &layout->loops[l];

        walk->index[l] = (int64_t)(rest / loop->size);
        walk->at += walk->index[l] * loop->stride;
        rest %= loop->size;
    }
    walk->block = find_block(layout, rest);
    walk->done = rest - layout->block[walk->block].before;
}

int64_t io_walk_run(const io_walk_t *walk, size_t *length_p)
{
    const mpi_block_t *b = &walk->view->tile->layout.block[walk->block];

    *length_p = b->length - walk->done;
    return walk->at + b->offset + (int64_t)walk->done;
}

/* Move a walk to the next iteration of the layout, or to the next tile. */
static void next_iteration(io_walk_t *walk)
{
    const mpi_layout_t *layout = &walk->view->tile->layout;

    for (int l = layout->depth - 1; l >= 0; l--) {
        const mpi_loop_t *loop = &layout->loops[l];

        if (++walk->index[l] < loop->count) {
            walk->at += loop->stride;
            return;
        }
        walk->index[l] = 0;
        walk->at -= loop->stride * (loop->count - 1);
    }
    walk->at += walk->view->tile->extent;
}

void io_walk_advance(io_walk_t *walk, size_t n)
{
    const mpi_layout_t *layout = &walk->view->tile->layout;

    walk->done += n;
    if (walk->done < layout->block[walk->block].length)
        return;
    walk->done = 0;
    if (++walk->block < layout->blocks)
        return;
    walk->block = 0;
    next_iteration(walk);
}

int64_t io_view_offset(const io_view_t *view, int64_t byte)
{
    io_walk_t walk;
    size_t length;

    if (view->is_plain)
        return view->disp + byte;
    io_walk_begin(&walk, view, byte);
    return io_walk_run(&walk, &length);
}

int64_t io_view_end(const io_view_t *view, int64_t byte)
{
    if (!view->overlaps)
        return io_view_offset(view, byte) + 1;
    return view->disp + byte / (int64_t)view->tile->size * view->tile->extent + view->high[0];
}

size_t io_view_run(const io_view_t *view)
{
    const mpi_layout_t *layout = &view->tile->layout;
    size_t blocks = layout->blocks;

    if (view->is_plain)
        return SIZE_MAX;
    for (int l = 0; l < layout->depth; l++)
        blocks *= (size_t)layout->loops[l].count;
    return view->tile->size / blocks;
}
