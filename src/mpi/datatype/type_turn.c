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
 *        from: 128 rows                to: 64 rows
 *        +----+----+----+--            +----+----+--
 *        |  1 |  2 |  3 |              |  1 |  9 |          a number is a square
 *        +----+----+----+--            +----+----+--
 *        |  9 | 10 |                   |  2 | 10 |
 *
 * Elements of 4 and 8 bytes that lie side by side in both go through vector registers.
 */
#include <string.h>

#include "mpi/datatype/type_turn.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { LINE = 64, FROM_ROWS = 128, TO_ROWS = 64 };

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
    for (int c = 0; c < 8; c += 4) {
        char *there = to + c * to_row;
        two_t left[8], right[8];

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
    for (int c = 0; c < 16; c += 4) {
        char *there = to + c * to_row;
        two_t even[8], odd[8];

        for (int r = 0; r < 8; r++) {
            four_t a = four_at(from + 2 * r * from_row + c * 4);
            four_t b = four_at(from + (2 * r + 1) * from_row + c * 4);

            even[r] = EVEN(a, b);
            odd[r] = ODD(a, b);
        }
        put_firsts(there, even);
        put_firsts(there + to_row, odd);
        put_seconds(there + 2 * to_row, even);
        put_seconds(there + 3 * to_row, odd);
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

/* ---- Any part of a square ---- */

ALWAYS_INLINE void turn_singly(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                               int64_t columns, size_t length)
{
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++)
            memcpy(to + c * t.row + r * t.step, from + r * f.row + c * f.step, length);
}

/* The edges of a matrix. */
ALWAYS_INLINE void turn_edge(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                             int64_t columns, size_t length, bool is_dense)
{
    int64_t high = rows & ~(int64_t)3, wide = columns & ~(int64_t)3;

    if (length != 4 || !is_dense) {
        turn_singly(to, t, from, f, rows, columns, length);
        return;
    }
    for (int64_t c = 0; c < wide; c += 4)
        for (int64_t r = 0; r < high; r += 4)
            turn_four(to + c * t.row + r * 4, t.row, from + r * f.row + c * 4, f.row);
    turn_singly(to + wide * t.row, t, from + wide * f.step, f, high, columns - wide, length);
    turn_singly(to + high * t.step, t, from + high * f.row, f, rows - high, columns, length);
}

ALWAYS_INLINE void turn_square(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                               int64_t columns, size_t length, bool is_dense)
{
    const int64_t side = LINE / (int64_t)length;

    if (!is_dense || rows != side || columns != side)
        turn_edge(to, t, from, f, rows, columns, length, is_dense);
    else if (length == 8)
        turn_square_8(to, t.row, from, f.row);
    else if (length == 4)
        turn_square_4(to, t.row, from, f.row);
    else
        turn_singly(to, t, from, f, side, side, length);
}

/* ---- Whole matrices ---- */

ALWAYS_INLINE int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows before the first that begins a line of `to`, if its elements lie side by side and one does.
 */
ALWAYS_INLINE int64_t rows_to_line(const char *to, bool is_dense, int64_t rows, size_t length)
{
    size_t bytes = (size_t)(-(uintptr_t)to & (LINE - 1));

    return is_dense ? least((int64_t)(bytes / length), rows) : 0;
}

/* Rows [first, end) of `from`, all columns. */
ALWAYS_INLINE void turn_rows(char *to, grid_t t, const char *from, grid_t f, int64_t first,
                             int64_t end, int64_t columns, size_t length, bool is_dense)
{
    const int64_t side = LINE / (int64_t)length;

    for (int64_t begin = 0; begin < columns; begin += TO_ROWS) {
        int64_t last = least(begin + TO_ROWS, columns);

        for (int64_t r = first; r < end; r += side)
            for (int64_t c = begin; c < last; c += side)
                turn_square(to + c * t.row + r * t.step, t, from + r * f.row + c * f.step, f,
                            least(side, end - r), least(side, last - c), length, is_dense);
    }
}

ALWAYS_INLINE void turn_fixed(char *to, grid_t t, const char *from, grid_t f, int64_t rows,
                              int64_t columns, size_t length)
{
    bool is_dense = t.step == (MPI_Aint)length && f.step == (MPI_Aint)length;
    int64_t r = rows_to_line(to, is_dense, rows, length);

    if (r > 0)
        turn_rows(to, t, from, f, 0, r, columns, length, is_dense);
    for (; r < rows; r += FROM_ROWS)
        turn_rows(to, t, from, f, r, least(r + FROM_ROWS, rows), columns, length, is_dense);
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

void mpi_turn_pack(char *packed, const char *user, MPI_Aint stride, int64_t n,
                   const mpi_loop_t *loop, size_t length)
{
    grid_t inside = {.row = (MPI_Aint)loop->count * (MPI_Aint)length, .step = (MPI_Aint)length};
    grid_t outside = {.row = loop->stride, .step = stride};

    turn(packed, inside, user, outside, loop->count, n, length);
}

void mpi_turn_unpack(char *user, const char *packed, MPI_Aint stride, int64_t n,
                     const mpi_loop_t *loop, size_t length)
{
    grid_t inside = {.row = (MPI_Aint)loop->count * (MPI_Aint)length, .step = (MPI_Aint)length};
    grid_t outside = {.row = loop->stride, .step = stride};

    turn(user, outside, packed, inside, n, loop->count, length);
}
