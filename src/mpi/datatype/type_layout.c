/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/datatype/type_layout.h"

#include <string.h>

#include "base/base.h"

void mpi_layout_cleanup(mpi_layout_t *layout)
{
    xy_free(layout->loops);
    xy_free(layout->block);
    *layout = (mpi_layout_t){0};
}

static size_t leaf_size(const mpi_layout_t *layout)
{
    const mpi_block_t *last;

    if (layout->blocks == 0)
        return 0;
    last = &layout->block[layout->blocks - 1];
    return last->before + last->length;
}

/* Data bytes of one element. */
static size_t layout_size(const mpi_layout_t *layout)
{
    if (layout->depth > 0)
        return (size_t)layout->loops[0].count * layout->loops[0].size;
    return leaf_size(layout);
}

/* A copy with room for `spare` more loops in front. */
static bool copy_with_room(const mpi_layout_t *layout, int spare, mpi_layout_t *copy_p)
{
    mpi_layout_t copy = {.depth = layout->depth + spare, .blocks = layout->blocks};

    if (copy.blocks > 0) {
        copy.block = xy_malloc(copy.blocks * sizeof *copy.block);
        if (!copy.block)
            return false;
        memcpy(copy.block, layout->block, copy.blocks * sizeof *copy.block);
    }
    if (copy.depth > 0) {
        copy.loops = xy_calloc((size_t)copy.depth, sizeof *copy.loops);
        if (!copy.loops) {
            mpi_layout_cleanup(&copy);
            return false;
        }
        if (layout->depth > 0)
            memcpy(copy.loops + spare, layout->loops, (size_t)layout->depth * sizeof *copy.loops);
    }
    *copy_p = copy;
    return true;
}

bool mpi_layout_copy(const mpi_layout_t *layout, mpi_layout_t *copy_p)
{
    return copy_with_room(layout, 0, copy_p);
}

void mpi_layout_shift(mpi_layout_t *layout, MPI_Aint distance)
{
    for (size_t i = 0; i < layout->blocks; i++)
        layout->block[i].offset += distance;
}

/* The loop that a new outer loop continues: it runs on where the old outermost one ends. */
static bool continues_loop(const mpi_layout_t *layout, MPI_Aint stride)
{
    return layout->depth > 0 && stride == layout->loops[0].stride * layout->loops[0].count;
}

static bool continues_block(const mpi_layout_t *layout, MPI_Aint stride)
{
    return layout->depth == 0 && layout->blocks == 1 && stride == (MPI_Aint)layout->block->length;
}

/* Too many loops: the whole becomes a list. */
static bool repeat_unrolled(const mpi_layout_t *layout, int64_t count, MPI_Aint stride,
                            mpi_layout_t *result_p)
{
    mpi_layout_list_t list = {0};

    mpi_layout_list_add(&list, layout, 0, count, stride);
    return mpi_layout_list_finish(&list, result_p);
}

bool mpi_layout_repeat(const mpi_layout_t *layout, int64_t count, MPI_Aint stride,
                       mpi_layout_t *result_p)
{
    size_t size = layout_size(layout);
    int spare;

    if (count <= 0 || size == 0) {
        *result_p = (mpi_layout_t){0};
        return true;
    }
    if (count == 1)
        return mpi_layout_copy(layout, result_p);
    spare = !continues_block(layout, stride) && !continues_loop(layout, stride);
    if (layout->depth + spare > XMPI_TYPE_DEPTH)
        return repeat_unrolled(layout, count, stride, result_p);
    if (!copy_with_room(layout, spare, result_p))
        return false;
    if (spare)
        result_p->loops[0] = (mpi_loop_t){.count = count, .stride = stride, .size = size};
    else if (layout->depth > 0)
        result_p->loops[0].count *= count;
    else
        result_p->block->length *= (size_t)count;
    return true;
}

/* Append a run of bytes to a list, joined with the last one if adjacent; is_failed is set without
 * memory. */
static void list_add_run(mpi_layout_list_t *list, MPI_Aint offset, size_t length)
{
    mpi_block_t *last = list->blocks > 0 ? &list->block[list->blocks - 1] : NULL;

    if (list->is_failed || length == 0)
        return;
    if (last && last->offset + (MPI_Aint)last->length == offset) {
        last->length += length;
        list->bytes += length;
        return;
    }
    if (list->blocks == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        mpi_block_t *block = xy_realloc_array(list->block, capacity, sizeof *block);

        if (!block) {
            list->is_failed = true;
            return;
        }
        list->block = block;
        list->capacity = capacity;
    }
    list->block[list->blocks++] =
        (mpi_block_t){.offset = offset, .length = length, .before = list->bytes};
    list->bytes += length;
}

static void list_add_level(mpi_layout_list_t *list, const mpi_layout_t *layout, int level,
                           MPI_Aint offset)
{
    const mpi_loop_t *loop;

    if (level == layout->depth) {
        for (size_t i = 0; i < layout->blocks; i++)
            list_add_run(list, offset + layout->block[i].offset, layout->block[i].length);
        return;
    }
    loop = &layout->loops[level];
    for (int64_t i = 0; i < loop->count && !list->is_failed; i++)
        list_add_level(list, layout, level + 1, offset + i * loop->stride);
}

void mpi_layout_list_add(mpi_layout_list_t *list, const mpi_layout_t *layout, MPI_Aint offset,
                         int64_t count, MPI_Aint stride)
{
    if (layout_size(layout) == 0)
        return;
    if (continues_block(layout, stride)) {
        if (count > 0)
            list_add_run(list, offset + layout->block->offset,
                         layout->block->length * (size_t)count);
        return;
    }
    for (int64_t i = 0; i < count && !list->is_failed; i++)
        list_add_level(list, layout, 0, offset + i * stride);
}

/* Blocks of one length at one distance: a loop. */
static bool is_regular(const mpi_layout_list_t *list)
{
    MPI_Aint stride;

    if (list->blocks < 2)
        return false;
    stride = list->block[1].offset - list->block[0].offset;
    for (size_t i = 1; i < list->blocks; i++)
        if (list->block[i].length != list->block[0].length ||
            list->block[i].offset - list->block[i - 1].offset != stride)
            return false;
    return true;
}

bool mpi_layout_list_finish(mpi_layout_list_t *list, mpi_layout_t *result_p)
{
    mpi_layout_t result = {.blocks = list->blocks, .block = list->block};

    if (!list->is_failed && is_regular(list)) {
        result.loops = xy_calloc(1, sizeof *result.loops);
        list->is_failed = result.loops == NULL;
    }
    if (list->is_failed) {
        xy_free(list->block);
        return false;
    }
    if (result.loops) {
        result.loops[0] = (mpi_loop_t){.count = (int64_t)list->blocks,
                                       .stride = list->block[1].offset - list->block[0].offset,
                                       .size = list->block[0].length};
        result.depth = 1;
        result.blocks = 1;
    }
    if (result.blocks > 0) {
        /* Give back the spare capacity; keeping it is no failure. */
        mpi_block_t *block = xy_realloc_array(result.block, result.blocks, sizeof *block);

        if (block)
            result.block = block;
    }
    *result_p = result;
    return true;
}
