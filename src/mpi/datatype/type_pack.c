/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine that moves typed data: memory <-> packed bytes, and memory -> memory.
 *
 * A message of `count` elements is one more loop around the loops of the layout. Moving a range of
 * its data bytes is, at every loop: the end of a first iteration, whole iterations, the beginning
 * of a last one. Whole iterations of the innermost loop around one block, where nearly all bytes
 * are, go through a loop with a block length the compiler knows.
 */
#include <string.h>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/type_device.h"
#include "mpi/datatype/type_turn.h"
#include "mpi/runtime/runtime.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* One direction or the other; `pack` and often `n` are constants where this is inlined. */
ALWAYS_INLINE void move_bytes(char *packed, char *user, size_t n, bool pack)
{
    if (pack)
        memcpy(packed, user, n);
    else
        memcpy(user, packed, n);
}

ALWAYS_INLINE void move_strided_fixed(char *packed, char *user, MPI_Aint stride, int64_t n,
                                      size_t length, bool pack)
{
    for (int64_t i = 0; i < n; i++)
        move_bytes(packed + (size_t)i * length, user + i * stride, length, pack);
}

ALWAYS_INLINE void move_strided_in(char *packed, char *user, MPI_Aint stride, int64_t n,
                                   size_t length, bool pack)
{
    switch (length) {
    case 1:
        move_strided_fixed(packed, user, stride, n, 1, pack);
        break;
    case 2:
        move_strided_fixed(packed, user, stride, n, 2, pack);
        break;
    case 4:
        move_strided_fixed(packed, user, stride, n, 4, pack);
        break;
    case 8:
        move_strided_fixed(packed, user, stride, n, 8, pack);
        break;
    case 12:
        move_strided_fixed(packed, user, stride, n, 12, pack);
        break;
    case 16:
        move_strided_fixed(packed, user, stride, n, 16, pack);
        break;
    case 24:
        move_strided_fixed(packed, user, stride, n, 24, pack);
        break;
    case 32:
        move_strided_fixed(packed, user, stride, n, 32, pack);
        break;
    case 64:
        move_strided_fixed(packed, user, stride, n, 64, pack);
        break;
    default:
        move_strided_fixed(packed, user, stride, n, length, pack);
    }
}

static void move_strided(char *packed, char *user, MPI_Aint stride, int64_t n, size_t length,
                         bool pack)
{
    if (pack)
        move_strided_in(packed, user, stride, n, length, true);
    else
        move_strided_in(packed, user, stride, n, length, false);
}

/* A block of a list: the usual sizes of struct members without a call. */
ALWAYS_INLINE void move_block(char *packed, char *user, size_t n, bool pack)
{
    if (n == 8)
        move_bytes(packed, user, 8, pack);
    else if (n == 4)
        move_bytes(packed, user, 4, pack);
    else if (n == 16)
        move_bytes(packed, user, 16, pack);
    else
        move_bytes(packed, user, n, pack);
}

/* Blocks of one length, from `b` on: the first behind them. */
ALWAYS_INLINE const mpi_block_t *move_alike(const mpi_block_t *b, const mpi_block_t *end,
                                            char *base, char *packed, size_t length, bool pack)
{
    do {
        move_bytes(packed, base + b->offset, length, pack);
        packed += length;
    } while (++b < end && b->length == length);
    return b;
}

/* Data bytes of all blocks of the list. */
static size_t list_size(const mpi_layout_t *layout)
{
    const mpi_block_t *last = &layout->block[layout->blocks - 1];

    return last->before + last->length;
}

ALWAYS_INLINE void move_list(const mpi_layout_t *layout, char *base, char *packed, bool pack)
{
    const mpi_block_t *end = layout->block + layout->blocks;

    for (const mpi_block_t *b = layout->block; b < end;) {
        char *to = packed + b->before;

        switch (b->length) {
        case 4:
            b = move_alike(b, end, base, to, 4, pack);
            break;
        case 8:
            b = move_alike(b, end, base, to, 8, pack);
            break;
        case 16:
            b = move_alike(b, end, base, to, 16, pack);
            break;
        default:
            move_bytes(to, base + b->offset, b->length, pack);
            b++;
        }
    }
}

ALWAYS_INLINE void copy_strided_fixed(char *to, MPI_Aint to_stride, const char *from,
                                      MPI_Aint from_stride, int64_t n, size_t length)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * to_stride, from + i * from_stride, length);
}

static void copy_strided(char *to, MPI_Aint to_stride, const char *from, MPI_Aint from_stride,
                         int64_t n, size_t length)
{
    if (length == 8)
        copy_strided_fixed(to, to_stride, from, from_stride, n, 8);
    else if (length == 4)
        copy_strided_fixed(to, to_stride, from, from_stride, n, 4);
    else if (length == 16)
        copy_strided_fixed(to, to_stride, from, from_stride, n, 16);
    else
        copy_strided_fixed(to, to_stride, from, from_stride, n, length);
}

static void move_lists(const mpi_layout_t *layout, char *base, MPI_Aint stride, int64_t n,
                       char *packed, bool pack)
{
    size_t size = list_size(layout);

    for (int64_t i = 0; i < n; i++) {
        if (pack)
            move_list(layout, base, packed, true);
        else
            move_list(layout, base, packed, false);
        base += stride;
        packed += size;
    }
}

/* ---- Structs ---- */

/* Few blocks, again and again: two of them in turn go through a loop that knows their lengths;
 * where there are more than two, for so many iterations as stay in the first-level cache. */
enum { FEW_BLOCKS = 8, CHUNK = 128 };

/* Two blocks on one side, the second so far from the first, and the distance to the next two. */
typedef struct {
    char *first;
    MPI_Aint second, stride;
} pair_t;

ALWAYS_INLINE void copy_pair(pair_t to, pair_t from, size_t first, size_t second)
{
    memcpy(to.first, from.first, first);
    memcpy(to.first + to.second, from.first + from.second, second);
}

/* One address on either side, and four at a time: what a loop over a known struct costs. */
ALWAYS_INLINE void copy_pairs_fixed(pair_t to, pair_t from, int64_t n, size_t first, size_t second)
{
    for (int64_t i = n / 4; i > 0; i--)
        for (int k = 0; k < 4; k++) {
            copy_pair(to, from, first, second);
            to.first += to.stride;
            from.first += from.stride;
        }
    for (int64_t i = n % 4; i > 0; i--) {
        copy_pair(to, from, first, second);
        to.first += to.stride;
        from.first += from.stride;
    }
}

ALWAYS_INLINE void copy_pairs_from(pair_t to, pair_t from, int64_t n, size_t first, size_t second)
{
    if (second == 8)
        copy_pairs_fixed(to, from, n, first, 8);
    else if (second == 4)
        copy_pairs_fixed(to, from, n, first, 4);
    else if (second == 16)
        copy_pairs_fixed(to, from, n, first, 16);
    else
        copy_pairs_fixed(to, from, n, first, second);
}

static void copy_pairs(pair_t to, pair_t from, int64_t n, size_t first, size_t second)
{
    if (first == 8)
        copy_pairs_from(to, from, n, 8, second);
    else if (first == 4)
        copy_pairs_from(to, from, n, 4, second);
    else if (first == 16)
        copy_pairs_from(to, from, n, 16, second);
    else
        copy_pairs_from(to, from, n, first, second);
}

static bool is_struct(const mpi_layout_t *layout, MPI_Aint stride, int64_t n)
{
    size_t size = list_size(layout);

    return layout->blocks <= FEW_BLOCKS && n >= 8 && stride >= (MPI_Aint)size && size <= 256;
}

/* So many iterations, blocks `b` and the next; a last block without a next one goes alone. */
static void move_two(const mpi_block_t *b, const mpi_block_t *last, char *base, MPI_Aint stride,
                     int64_t n, char *packed, MPI_Aint size, bool pack)
{
    const mpi_block_t *next = b < last ? b + 1 : b;
    pair_t in = {packed + b->before, (MPI_Aint)(next->before - b->before), size};
    pair_t out = {base + b->offset, next->offset - b->offset, stride};

    if (b == last && pack)
        copy_strided(in.first, size, out.first, stride, n, b->length);
    else if (b == last)
        copy_strided(out.first, stride, in.first, size, n, b->length);
    else if (pack)
        copy_pairs(in, out, n, b->length, next->length);
    else
        copy_pairs(out, in, n, b->length, next->length);
}

/* Move n iterations of a list of blocks, two blocks at a time and in portions that stay in cache.
 */
static void move_structs(const mpi_layout_t *layout, char *base, MPI_Aint stride, int64_t n,
                         char *packed, bool pack)
{
    const mpi_block_t *last = &layout->block[layout->blocks - 1];
    MPI_Aint size = (MPI_Aint)list_size(layout);

    int64_t most = layout->blocks > 2 ? CHUNK : n;

    for (int64_t i = 0; i < n; i += most) {
        int64_t count = n - i < most ? n - i : most;

        for (const mpi_block_t *b = layout->block; b <= last; b += 2)
            move_two(b, last, base + i * stride, stride, count, packed + i * size, size, pack);
    }
}

/* ---- Transposes ---- */

/* Does all of a loop with this count and stride lie between two iterations of the other? */
static bool is_within(int64_t count, MPI_Aint stride, const mpi_loop_t *other)
{
    MPI_Aint near = stride < 0 ? -stride : stride;
    MPI_Aint far = other->stride < 0 ? -other->stride : other->stride;

    return count * near <= far;
}

/* `n` iterations, `stride` apart, of the loops from `inside` on: is the data what a transpose of
 * this loop and the innermost one moves? The loops between may stand in any order, but no two
 * elements may overlap. */
static bool is_turned(const mpi_layout_t *layout, int inside, MPI_Aint stride, int64_t n)
{
    const mpi_loop_t *loops = layout->loops;
    int inner = layout->depth - 1;

    if (inside > inner || layout->blocks != 1 ||
        !mpi_turn_is_worth(stride, n, &loops[inner], layout->block->length))
        return false;
    for (int a = inside; a < inner; a++) {
        if (!is_within(n, stride, &loops[a]))
            return false;
        for (int b = a + 1; b <= inner; b++)
            if (!is_within(loops[a].count, loops[a].stride, &loops[b]) &&
                !is_within(loops[b].count, loops[b].stride, &loops[a]))
                return false;
    }
    return true;
}

/* Move the iterations of such loops, of `size` data bytes each. */
static void move_turned(const mpi_layout_t *layout, int inside, char *base, MPI_Aint stride,
                        int64_t n, char *packed, size_t size, bool pack)
{
    const mpi_loop_t *loop = &layout->loops[inside];

    if (inside + 1 < layout->depth) {
        for (int64_t i = 0; i < loop->count; i++)
            move_turned(layout, inside + 1, base + i * loop->stride, stride, n,
                        packed + (size_t)i * loop->size, size, pack);
        return;
    }
    base += layout->block->offset;
    if (pack)
        mpi_turn_pack(packed, size, base, stride, n, loop, layout->block->length);
    else
        mpi_turn_unpack(base, packed, size, stride, n, loop, layout->block->length);
}

/* `n` whole iterations, `stride` apart, of what is inside level `inside`. */
static void move_whole(const mpi_layout_t *layout, int inside, char *base, MPI_Aint stride,
                       int64_t n, char *packed, bool pack)
{
    const mpi_loop_t *loop;

    if (inside == layout->depth) {
        if (layout->blocks == 1)
            move_strided(packed, base + layout->block->offset, stride, n, layout->block->length,
                         pack);
        else if (is_struct(layout, stride, n))
            move_structs(layout, base, stride, n, packed, pack);
        else
            move_lists(layout, base, stride, n, packed, pack);
        return;
    }
    loop = &layout->loops[inside];
    if (is_turned(layout, inside, stride, n)) {
        move_turned(layout, inside, base, stride, n, packed, (size_t)loop->count * loop->size,
                    pack);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        move_whole(layout, inside + 1, base, loop->stride, loop->count, packed, pack);
        packed += (size_t)loop->count * loop->size;
        base += stride;
    }
}

/* The block of the list that holds data byte `position`. */
static size_t find_block(const mpi_layout_t *layout, size_t position)
{
    size_t low = 0, high = layout->blocks - 1;

    while (low < high) {
        size_t middle = (low + high + 1) / 2;

        if (layout->block[middle].before <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Data bytes [first, end) of the list of blocks. */
static void move_list_part(const mpi_layout_t *layout, char *base, char *packed, size_t first,
                           size_t end, bool pack)
{
    for (size_t i = find_block(layout, first); first < end; i++) {
        const mpi_block_t *b = &layout->block[i];
        size_t skip = first - b->before;
        size_t n = b->length - skip < end - first ? b->length - skip : end - first;

        move_bytes(packed, base + b->offset + skip, n, pack);
        packed += n;
        first += n;
    }
}

static void move_part(const mpi_layout_t *layout, int level, char *base, char *packed, size_t first,
                      size_t end, bool pack);

/* Data bytes [first, end) of a loop over what is inside level `inside`. */
static void move_loop(const mpi_layout_t *layout, int inside, char *base, MPI_Aint stride,
                      size_t size, char *packed, size_t first, size_t end, bool pack)
{
    size_t i = first / size, skip = first % size, whole;

    if (skip > 0) {
        size_t n = size - skip < end - first ? size - skip : end - first;

        move_part(layout, inside, base + (MPI_Aint)i * stride, packed, skip, skip + n, pack);
        packed += n;
        first += n;
        i++;
    }
    whole = (end - first) / size;
    if (whole > 0) {
        move_whole(layout, inside, base + (MPI_Aint)i * stride, stride, (int64_t)whole, packed,
                   pack);
        packed += whole * size;
        first += whole * size;
        i += whole;
    }
    if (first < end)
        move_part(layout, inside, base + (MPI_Aint)i * stride, packed, 0, end - first, pack);
}

static void move_part(const mpi_layout_t *layout, int level, char *base, char *packed, size_t first,
                      size_t end, bool pack)
{
    const mpi_loop_t *loop;

    if (level == layout->depth) {
        move_list_part(layout, base, packed, first, end, pack);
        return;
    }
    loop = &layout->loops[level];
    move_loop(layout, level + 1, base, loop->stride, loop->size, packed, first, end, pack);
}

/* Is one of two buffers in the memory of a device? A type that is NULL stands for packed data. */
static __attribute__((noinline, cold)) bool is_on_device(const void *a, const mpi_type_t *a_type,
                                                         const void *b, const mpi_type_t *b_type)
{
    return (a_type != NULL ? mpi_type_is_on_device(a, a_type) : mpi_device_has(a, NULL)) ||
           (b_type != NULL ? mpi_type_is_on_device(b, b_type) : mpi_device_has(b, NULL));
}

/* Pack or unpack a range of the data of a message, also in device memory. */
static void move(char *packed, char *user, const mpi_type_t *type, size_t first, size_t bytes,
                 bool pack)
{
    if (bytes == 0)
        return;
    if (__builtin_expect(mpi_device_is_used, 0) && is_on_device(packed, NULL, user, type)) {
        if (pack)
            mpi_type_move_device(packed, NULL, 0, user, type, first, bytes);
        else
            mpi_type_move_device(user, type, first, packed, NULL, 0, bytes);
        return;
    }
    if (type->is_contiguous)
        move_bytes(packed, user + first, bytes, pack);
    else
        move_loop(&type->layout, 0, user, type->extent, type->size, packed, first, first + bytes,
                  pack);
}

void mpi_type_pack(void *packed, const void *source, int64_t count, const mpi_type_t *type,
                   size_t first, size_t bytes)
{
    (void)count; /* bounds the range, which the caller keeps */
    move(packed, (char *)(uintptr_t)source, type, first, bytes, true);
}

void mpi_type_unpack(void *target, int64_t count, const mpi_type_t *type, const void *packed,
                     size_t first, size_t bytes)
{
    (void)count;
    move((char *)(uintptr_t)packed, target, type, first, bytes, false);
}

/* ---- Memory to memory -------------------------------------------------------------------- */

/* Iterations left in the innermost loop, and its stride; without loops the elements are one. */
static int64_t cursor_left(const mpi_cursor_t *c, MPI_Aint *stride_p)
{
    const mpi_layout_t *layout = &c->type->layout;
    int inner = layout->depth - 1;

    *stride_p = inner < 0 ? c->type->extent : layout->loops[inner].stride;
    return inner < 0 ? INT64_MAX : layout->loops[inner].count - c->index[inner];
}

/* Over `n` iterations of the innermost loop, at most those left. */
static void cursor_skip(mpi_cursor_t *c, int64_t n, MPI_Aint stride)
{
    int inner = c->type->layout.depth - 1;

    c->at += (n - 1) * stride;
    if (inner >= 0)
        c->index[inner] += n - 1;
    mpi_cursor_next(c, inner);
}

/* Loops around blocks of one length on both sides, the usual halo: whole inner loops at once.
 * Returns the bytes copied, all but the beginning of a last block. */
static size_t copy_loops(mpi_cursor_t *to, mpi_cursor_t *from, size_t bytes)
{
    size_t length = to->type->layout.block->length;
    int64_t blocks = (int64_t)(bytes / length);

    for (int64_t done = 0; done < blocks;) {
        MPI_Aint to_stride, from_stride;
        int64_t n = cursor_left(to, &to_stride), m = cursor_left(from, &from_stride);

        n = n < m ? n : m;
        n = n < blocks - done ? n : blocks - done;
        copy_strided(to->at + to->type->layout.block->offset, to_stride,
                     from->at + from->type->layout.block->offset, from_stride, n, length);
        cursor_skip(to, n, to_stride);
        cursor_skip(from, n, from_stride);
        done += n;
    }
    return (size_t)blocks * length;
}

/* Copy typed data to typed data run by run, without packing it. */
static void copy_blockwise(char *target, const mpi_type_t *target_type, char *source,
                           const mpi_type_t *source_type, size_t bytes)
{
    mpi_cursor_t to = {.type = target_type, .at = target};
    mpi_cursor_t from = {.type = source_type, .at = source};

    if (target_type->layout.blocks == 1 && source_type->layout.blocks == 1 &&
        target_type->layout.block->length == source_type->layout.block->length)
        bytes -= copy_loops(&to, &from, bytes);
    while (bytes > 0) {
        size_t n, m;
        char *d = mpi_cursor_run(&to, &n);
        char *s = mpi_cursor_run(&from, &m);

        n = n < m ? n : m;
        n = n < bytes ? n : bytes;
        move_block(d, s, n, true);
        mpi_cursor_advance(&to, n);
        mpi_cursor_advance(&from, n);
        bytes -= n;
    }
}

void mpi_type_copy(void *target, int64_t target_count, const mpi_type_t *target_type,
                   const void *source, int64_t source_count, const mpi_type_t *source_type,
                   size_t *bytes_p)
{
    size_t room = (size_t)target_count * target_type->size;
    size_t bytes = (size_t)source_count * source_type->size;

    bytes = bytes < room ? bytes : room;
    if (source_type->is_contiguous)
        mpi_type_unpack(target, target_count, target_type, source, 0, bytes);
    else if (target_type->is_contiguous)
        mpi_type_pack(target, source, source_count, source_type, 0, bytes);
    else if (__builtin_expect(mpi_device_is_used, 0) &&
             is_on_device(target, target_type, source, source_type))
        mpi_type_move_device(target, target_type, 0, source, source_type, 0, bytes);
    else
        copy_blockwise(target, target_type, (char *)(uintptr_t)source, source_type, bytes);
    *bytes_p = bytes;
}
