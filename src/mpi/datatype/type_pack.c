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

ALWAYS_INLINE void move_lists_in(const mpi_layout_t *layout, char *base, MPI_Aint stride, int64_t n,
                                 char *packed, bool pack)
{
    const mpi_block_t *end = layout->block + layout->blocks;

    for (int64_t i = 0; i < n; i++) {
        for (const mpi_block_t *b = layout->block; b < end; b++) {
            move_block(packed, base + b->offset, b->length, pack);
            packed += b->length;
        }
        base += stride;
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

/* Structs: few blocks, again and again. Each block in turn goes through a loop that knows its
 * length, for so many iterations as stay in the first-level cache. */
enum { FEW_BLOCKS = 8, CHUNK = 128 };

static bool is_struct(const mpi_layout_t *layout, MPI_Aint stride, int64_t n)
{
    const mpi_block_t *last = &layout->block[layout->blocks - 1];
    size_t size = last->before + last->length;

    return layout->blocks <= FEW_BLOCKS && n >= 8 && stride >= (MPI_Aint)size && size <= 256;
}

static void move_structs(const mpi_layout_t *layout, char *base, MPI_Aint stride, int64_t n,
                         char *packed, bool pack)
{
    const mpi_block_t *last = &layout->block[layout->blocks - 1];
    MPI_Aint size = (MPI_Aint)(last->before + last->length);

    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t count = n - i < CHUNK ? n - i : CHUNK;

        for (const mpi_block_t *b = layout->block; b <= last; b++) {
            char *in = packed + i * size + b->before, *out = base + i * stride + b->offset;

            if (pack)
                copy_strided(in, size, out, stride, count, b->length);
            else
                copy_strided(out, stride, in, size, count, b->length);
        }
    }
}

/* ---- Transposes ---- */

/* Small blocks that are far apart inside, and close to those of the next iteration: columns of a
 * matrix, one after the other. Taken in order, each block needs a cache line of its own, which is
 * gone when its neighbour is wanted. So both loops go in squares, whose rows are a line or two on
 * either side: `to` has at (c, r) what `from` has at (r, c). Where the strides of both sides along
 * their rows are the blocks' length, elements of 8 and of 4 bytes go in vectors. */
enum { SIDE = 8, SIDE_4 = 16 };

typedef uint64_t pair_t __attribute__((vector_size(16)));

ALWAYS_INLINE pair_t pair_at(const char *from)
{
    pair_t pair;

    memcpy(&pair, from, sizeof(pair));
    return pair;
}

ALWAYS_INLINE void pair_put(char *to, uint64_t first, uint64_t second)
{
    pair_t pair = {first, second};

    memcpy(to, &pair, sizeof(pair));
}

static void turn_square_8(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row)
{
    for (int c = 0; c < SIDE; c += 2)
        for (int r = 0; r < SIDE; r += 2) {
            pair_t a = pair_at(from + r * from_row + c * 8);
            pair_t b = pair_at(from + (r + 1) * from_row + c * 8);

            pair_put(to + c * to_row + r * 8, a[0], b[0]);
            pair_put(to + (c + 1) * to_row + r * 8, a[1], b[1]);
        }
}

typedef uint32_t four_t __attribute__((vector_size(16)));

static void turn_square_4(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row)
{
    for (int c = 0; c < SIDE_4; c += 4)
        for (int r = 0; r < SIDE_4; r += 4) {
            four_t q[4];

            for (int i = 0; i < 4; i++)
                memcpy(&q[i], from + (r + i) * from_row + c * 4, sizeof(four_t));
            for (int i = 0; i < 4; i++) {
                four_t turned = {q[0][i], q[1][i], q[2][i], q[3][i]};

                memcpy(to + (c + i) * to_row + r * 4, &turned, sizeof(four_t));
            }
        }
}

/* Distances from row to row and inside a row, in memory. */
typedef struct {
    MPI_Aint row, step;
} grid_t;

ALWAYS_INLINE void turn_any(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                            int64_t columns, size_t length)
{
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++)
            memcpy(to + c * t.row + r * t.step, from + r * f.row + c * f.step, length);
}

ALWAYS_INLINE void turn_fixed(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                              int64_t columns, size_t length)
{
    const int64_t side = length == 4 ? SIDE_4 : SIDE;
    bool is_dense = t.step == (MPI_Aint)length && f.step == (MPI_Aint)length;

    for (int64_t r = 0; r < rows; r += side)
        for (int64_t c = 0; c < columns; c += side) {
            int64_t height = rows - r < side ? rows - r : side;
            int64_t width = columns - c < side ? columns - c : side;
            bool is_square = is_dense && height == side && width == side;
            char *there = to + c * t.row + r * t.step;
            const char *here = from + r * f.row + c * f.step;

            if (length == 8 && is_square)
                turn_square_8(there, t.row, here, f.row);
            else if (length == 4 && is_square)
                turn_square_4(there, t.row, here, f.row);
            else
                turn_any(there, t, here, f, height, width, length);
        }
}

static void turn(char *to, grid_t t, const char *from, grid_t f, int64_t rows, int64_t columns,
                 size_t length)
{
    if (length == 8)
        turn_fixed(to, t, from, f, rows, columns, 8);
    else if (length == 4)
        turn_fixed(to, t, from, f, rows, columns, 4);
    else
        turn_fixed(to, t, from, f, rows, columns, 16);
}

/* `n` iterations, `stride` apart, of a loop around blocks of `length`. */
static void move_transpose(char *packed, char *user, MPI_Aint stride, int64_t n,
                           const mpi_loop_t *loop, size_t length, bool pack)
{
    grid_t inside = {.row = (MPI_Aint)loop->count * (MPI_Aint)length, .step = (MPI_Aint)length};
    grid_t outside = {.row = loop->stride, .step = stride};

    if (pack)
        turn(packed, inside, user, outside, loop->count, n, length);
    else
        turn(user, outside, packed, inside, n, loop->count, length);
}

/* Is it worth that? Where memory overlaps, the order of writing would matter. */
static bool is_transpose(MPI_Aint stride, int64_t n, const mpi_loop_t *loop, size_t length)
{
    MPI_Aint far = loop->stride < 0 ? -loop->stride : loop->stride;

    return (length == 8 || length == 4 || length == 16) && stride >= (MPI_Aint)length &&
           stride < 64 && n * stride <= far && n > 1 && loop->count >= SIDE;
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
        else if (pack)
            move_lists_in(layout, base, stride, n, packed, true);
        else
            move_lists_in(layout, base, stride, n, packed, false);
        return;
    }
    loop = &layout->loops[inside];
    if (inside + 1 == layout->depth && layout->blocks == 1 &&
        is_transpose(stride, n, loop, layout->block->length)) {
        move_transpose(packed, base + layout->block->offset, stride, n, loop, layout->block->length,
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
