/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposes in squares.
 *
 * Taken in the order of the message, each element needs a cache line of its own, which is gone when
 * its neighbour is wanted. So the work is cut twice. A square is as wide and as high as a line has
 * elements, and begins with a line on the side that is written: each such line is written once,
 * whole. Squares are done in blocks with so few rows on either side that their pages stay in the
 * TLB and what the hardware fetches ahead is used before it goes.
 *
 *        from: 128 rows                to: 64 rows      (elements of 8 bytes)
 *        +----+----+----+--            +----+----+--
 *        |  1 |  2 |  3 |              |  1 |  9 |          a number is a square
 *        +----+----+----+--            +----+----+--
 *        |  9 | 10 |                   |  2 | 10 |
 *
 * Elements that lie side by side in both go through vector registers.
 */
#include <string.h>

#include "mpi/datatype/type_turn.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* All of a square at once: otherwise gcc keeps vectors in memory at -O2, and computes addresses
 * anew at -O3. */
#if defined __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

enum {
    LINE = 64,
    LARGE = 1 << 20
}; /* bytes: of a cache line; of a matrix that is in no near cache */

/* Rows of a block on either side, by the length of an element: measured on Neoverse V1, matrices
 * from 100 KiB to 32 MiB. */
ALWAYS_INLINE int64_t from_rows(size_t length)
{
    return length == 16 ? 16 : 128;
}

ALWAYS_INLINE int64_t to_rows(size_t length)
{
    return length == 4 ? 128 : 64;
}

typedef uint64_t two_t __attribute__((vector_size(16)));
typedef uint32_t four_t __attribute__((vector_size(16)));

/* One side: the distances from row to row and inside a row. `to` has at (c, r) what `from` has at
 * (r, c). */
typedef struct {
    MPI_Aint row, step;
} grid_t;

ALWAYS_INLINE two_t two_at(const char *from)
{
    two_t two;

    memcpy(&two, from, sizeof(two));
    return two;
}

ALWAYS_INLINE four_t four_at(const char *from)
{
    four_t four;

    memcpy(&four, from, sizeof(four));
    return four;
}

ALWAYS_INLINE void two_put(char *to, two_t two)
{
    memcpy(to, &two, sizeof(two));
}

/* Of two vectors: their first halves, their second halves; their even and their odd elements. */
#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define FIRST(a, b)  __builtin_shufflevector(a, b, 0, 2)
#define SECOND(a, b) __builtin_shufflevector(a, b, 1, 3)
#define EVEN(a, b)   (two_t) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define ODD(a, b)    (two_t) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#endif
#endif
#if !defined FIRST /* gcc before 12 */
#define FIRST(a, b)  __builtin_shuffle(a, b, (two_t){0, 2})
#define SECOND(a, b) __builtin_shuffle(a, b, (two_t){1, 3})
#define EVEN(a, b)   (two_t) __builtin_shuffle(a, b, (four_t){0, 4, 2, 6})
#define ODD(a, b)    (two_t) __builtin_shuffle(a, b, (four_t){1, 5, 3, 7})
#endif

/* ---- Whole squares ---- */

/* A line of `to`, from eight vectors of two elements of 8 bytes, or of pairs of 4 bytes: all of it
 * at once, so that the hardware need not read what it replaces. */
ALWAYS_INLINE void put_firsts(char *to, const two_t *v)
{
    two_put(to, FIRST(v[0], v[1]));
    two_put(to + 16, FIRST(v[2], v[3]));
    two_put(to + 32, FIRST(v[4], v[5]));
    two_put(to + 48, FIRST(v[6], v[7]));
}

ALWAYS_INLINE void put_seconds(char *to, const two_t *v)
{
    two_put(to, SECOND(v[0], v[1]));
    two_put(to + 16, SECOND(v[2], v[3]));
    two_put(to + 32, SECOND(v[4], v[5]));
    two_put(to + 48, SECOND(v[6], v[7]));
}

/* Four columns of the square at a time, which are 16 registers. */
ALWAYS_INLINE void turn_square_8(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row)
{
    UNROLLED
    for (int c = 0; c < 8; c += 4) {
        char *there = to + c * to_row;
        two_t left[8], right[8];

        UNROLLED
        for (int r = 0; r < 8; r++) {
            left[r] = two_at(from + r * from_row + c * 8);
            right[r] = two_at(from + r * from_row + c * 8 + 16);
        }
        put_firsts(there, left);
        put_seconds(there + to_row, left);
        put_firsts(there + 2 * to_row, right);
        put_seconds(there + 3 * to_row, right);
    }
}

/* The same; first two rows at a time change elements. */
ALWAYS_INLINE void turn_square_4(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row)
{
    for (int quarter = 0; quarter < 4; quarter++) {
        const char *row = from + (MPI_Aint)quarter * 16;
        two_t even[8], odd[8];

        UNROLLED
        for (int r = 0; r < 8; r++) {
            four_t a = four_at(row), b = four_at(row + from_row);

            row += 2 * from_row;
            even[r] = EVEN(a, b);
            odd[r] = ODD(a, b);
        }
        put_firsts(to, even);
        to += to_row;
        put_firsts(to, odd);
        to += to_row;
        put_seconds(to, even);
        to += to_row;
        put_seconds(to, odd);
        to += to_row;
    }
}

/* An element is a vector. */
ALWAYS_INLINE void turn_square_16(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row)
{
    UNROLLED
    for (int c = 0; c < 4; c++) {
        UNROLLED
        for (int r = 0; r < 4; r++)
            two_put(to + c * to_row + r * 16, two_at(from + r * from_row + c * 16));
    }
}

/* 4 x 4 elements of 4 bytes. */
ALWAYS_INLINE void turn_four(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row)
{
    four_t a = four_at(from), b = four_at(from + from_row);
    four_t c = four_at(from + 2 * from_row), d = four_at(from + 3 * from_row);
    two_t even[2] = {EVEN(a, b), EVEN(c, d)}, odd[2] = {ODD(a, b), ODD(c, d)};

    two_put(to, FIRST(even[0], even[1]));
    two_put(to + to_row, FIRST(odd[0], odd[1]));
    two_put(to + 2 * to_row, SECOND(even[0], even[1]));
    two_put(to + 3 * to_row, SECOND(odd[0], odd[1]));
}

/* 2 x 2 elements of 8 bytes. */
ALWAYS_INLINE void turn_two(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row)
{
    two_t a = two_at(from), b = two_at(from + from_row);

    two_put(to, FIRST(a, b));
    two_put(to + to_row, SECOND(a, b));
}

/* ---- Rows of squares ---- */

/* Where rows of `to` do not all begin lines, squares share lines, and the hardware reads what it
 * does not replace at once: ask for the lines of the next square of these rows early. */
ALWAYS_INLINE void fetch_next(const char *to, MPI_Aint to_row, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        __builtin_prefetch(to + i * to_row + LINE + LINE / 2, 1);
}

ALWAYS_INLINE void turn_squares(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row,
                                int64_t n, size_t length, bool is_fetched)
{
    const int64_t side = LINE / (int64_t)length;

    for (; n > 0; n--) {
        if (is_fetched)
            fetch_next(to, to_row, side);
        if (length == 8)
            turn_square_8(to, to_row, from, from_row);
        else if (length == 4)
            turn_square_4(to, to_row, from, from_row);
        else
            turn_square_16(to, to_row, from, from_row);
        to += side * to_row;
        from += LINE;
    }
}

/* `n` squares side by side in `from`. A function for each length: such a loop needs all registers.
 */
#define SQUARES(length)                                                                            \
    static __attribute__((noinline)) void turn_whole_##length(                                     \
        char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row, int64_t n)                 \
    {                                                                                              \
        turn_squares(to, to_row, from, from_row, n, (length), false);                              \
    }                                                                                              \
    static __attribute__((noinline)) void turn_shared_##length(                                    \
        char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row, int64_t n)                 \
    {                                                                                              \
        turn_squares(to, to_row, from, from_row, n, (length), true);                               \
    }
SQUARES(4)
SQUARES(8)
SQUARES(16)

/* ---- Any part of a square ---- */

ALWAYS_INLINE void turn_singly(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                               int64_t columns, size_t length)
{
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++)
            memcpy(to + c * t.row + r * t.step, from + r * f.row + c * f.step, length);
}

/* The edges of a matrix: vectors as far as they go. */
ALWAYS_INLINE void turn_edge_fixed(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                                   int64_t columns, size_t length, bool is_dense)
{
    const int64_t some = 16 / (int64_t)length;
    int64_t high = rows & -some, wide = columns & -some;

    if (length == 16 || !is_dense) {
        turn_singly(to, t, from, f, rows, columns, length);
        return;
    }
    for (int64_t c = 0; c < wide; c += some)
        for (int64_t r = 0; r < high; r += some) {
            char *there = to + c * t.row + r * t.step;
            const char *here = from + r * f.row + c * f.step;

            if (length == 8)
                turn_two(there, t.row, here, f.row);
            else
                turn_four(there, t.row, here, f.row);
        }
    turn_singly(to + wide * t.row, t, from + wide * f.step, f, high, columns - wide, length);
    turn_singly(to + high * t.step, t, from + high * f.row, f, rows - high, columns, length);
}

static __attribute__((noinline)) void turn_edge(char *to, grid_t t, const char *from, grid_t f,
                                                int64_t rows, int64_t columns, size_t length,
                                                bool is_dense)
{
    if (length == 8)
        turn_edge_fixed(to, t, from, f, rows, columns, 8, is_dense);
    else if (length == 4)
        turn_edge_fixed(to, t, from, f, rows, columns, 4, is_dense);
    else
        turn_edge_fixed(to, t, from, f, rows, columns, 16, is_dense);
}

/* ---- Whole matrices ---- */

ALWAYS_INLINE int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Elements before the first that begins a line, if all rows have one at the same place. */
ALWAYS_INLINE int64_t before_line(const char *at, MPI_Aint row, int64_t count, size_t length)
{
    size_t bytes = (size_t)(-(uintptr_t)at & (LINE - 1));

    return row % LINE == 0 ? least((int64_t)(bytes / length), count) : 0;
}

/* How a matrix is moved: elements side by side in both, lines that are asked for early. */
typedef struct {
    size_t length;
    bool is_dense, is_fetched;
} how_t;

/* One row of squares, columns [begin, end). */
ALWAYS_INLINE void turn_strip(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                              int64_t begin, int64_t end, how_t how)
{
    const int64_t side = LINE / (int64_t)how.length;
    void (*squares)(char *, MPI_Aint, const char *, MPI_Aint, int64_t) =
        how.length == 8   ? (how.is_fetched ? turn_shared_8 : turn_whole_8)
        : how.length == 4 ? (how.is_fetched ? turn_shared_4 : turn_whole_4)
                          : (how.is_fetched ? turn_shared_16 : turn_whole_16);
    int64_t c = begin;

    if (rows == side && how.is_dense) {
        int64_t n = (end - begin) / side;

        squares(to + c * t.row, t.row, from + c * f.step, f.row, n);
        c += n * side;
    }
    for (; c < end; c += side)
        turn_edge(to + c * t.row, t, from + c * f.step, f, rows, least(side, end - c), how.length,
                  how.is_dense);
}

/* Rows [first, end) of `from`, all columns. */
ALWAYS_INLINE void turn_rows(char *to, grid_t t, const char *from, grid_t f, int64_t first,
                             int64_t end, int64_t columns, how_t how)
{
    const int64_t side = LINE / (int64_t)how.length, wide = to_rows(how.length);

    for (int64_t begin = 0; begin < columns; begin += wide)
        for (int64_t r = first; r < end; r += side)
            turn_strip(to + r * t.step, t, from + r * f.row, f, least(side, end - r), begin,
                       least(begin + wide, columns), how);
}

ALWAYS_INLINE void turn_fixed(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                              int64_t columns, size_t length)
{
    how_t how = {.length = length,
                 .is_dense = t.step == (MPI_Aint)length && f.step == (MPI_Aint)length,
                 .is_fetched = t.row % LINE != 0 && rows * columns >= LARGE / (int64_t)length};
    int64_t c = how.is_dense ? before_line(from, f.row, columns, length) : 0, r;

    if (c > 0) {
        turn_rows(to, t, from, f, 0, rows, c, how);
        to += c * t.row;
        from += c * f.step;
        columns -= c;
    }
    r = how.is_dense ? before_line(to, t.row, rows, length) : 0;
    if (r > 0)
        turn_rows(to, t, from, f, 0, r, columns, how);
    for (; r < rows; r += from_rows(length))
        turn_rows(to, t, from, f, r, least(r + from_rows(length), rows), columns, how);
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

bool mpi_turn_is_worth(MPI_Aint stride, int64_t n, const mpi_loop_t *loop, size_t length)
{
    MPI_Aint far = loop->stride < 0 ? -loop->stride : loop->stride;

    return (length == 8 || length == 4 || length == 16) && stride >= (MPI_Aint)length &&
           stride < LINE && n * stride <= far && n > 1 && loop->count >= 8;
}

void mpi_turn_pack(char *packed, size_t size, const char *user, MPI_Aint stride, int64_t n,
                   const mpi_loop_t *loop, size_t length)
{
    grid_t inside = {.row = (MPI_Aint)size, .step = (MPI_Aint)length};
    grid_t outside = {.row = loop->stride, .step = stride};

    turn(packed, inside, user, outside, loop->count, n, length);
}

void mpi_turn_unpack(char *user, const char *packed, size_t size, MPI_Aint stride, int64_t n,
                     const mpi_loop_t *loop, size_t length)
{
    grid_t inside = {.row = (MPI_Aint)size, .step = (MPI_Aint)length};
    grid_t outside = {.row = loop->stride, .step = stride};

    turn(user, outside, packed, inside, n, loop->count, length);
}
