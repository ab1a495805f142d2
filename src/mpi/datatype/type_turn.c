/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposes in squares.
 *
 * Taken in the order of the message, each element needs a cache line of its own, which is gone when
 * its neighbour is wanted. So the work is cut twice. Squares (type_square.h) begin with a line on
 * the side that is written: each such line is written once, whole. Strips of squares are done in
 * blocks with so few rows on either side that their pages stay in the TLB and what the hardware
 * fetches ahead is used before it goes.
 *
 *        from                          to               (a number is a square, a row of them
 *        +----+----+----+--            +----+----+--     in `from` is a strip)
 *        |  1 |  2 |  3 |              |  1 |  9 |
 *        +----+----+----+--            +----+----+--
 *        |  9 | 10 |                   |  2 | 10 |
 *
 * What is above the first line of `to` and below the last is moved in squares that begin anywhere;
 * where columns are skewed, some elements are then moved twice.
 */
#include "mpi/datatype/type_turn.h"
#include "mpi/datatype/type_square.h"

enum {
    NEAR = 1 << 15,  /* bytes of a matrix that is in the first-level cache */
    LARGE = 1 << 20, /* of one that is in no near cache */
    FROM_ROWS = 256, /* of a block */
    ANYWHERE = 128,  /* rows of `to` of a block whose squares begin anywhere */
    ALIKE = 8192,    /* bytes after which lines share sets */
};

/* Rows of `to` of a block whose squares write whole lines. There are fewer where they are so many
 * pages apart that their lines share few sets of a cache. All measured on Neoverse V1, matrices of
 * 100 KiB to 72 MiB. */
static int64_t to_rows(size_t length, int skew, MPI_Aint row)
{
    bool is_crowded = row % ALIKE == 0;

    if (length == 4)
        return skew == 0 && !is_crowded ? 1024 : 128;
    return is_crowded ? 384 : 512;
}

/* Both sides, and how strips are moved. */
typedef struct {
    char *to;
    const char *from;
    mpi_grid_t t, f;
    size_t length;
    int64_t side; /* elements of a line */
    bool is_dense;
    mpi_strip_t *strip;
    bool is_far;
    int64_t to_rows;
} turn_t;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* One strip of so many rows, columns [begin, end). */
static void turn_strip(const turn_t *m, int64_t r, int64_t rows, int64_t begin, int64_t end)
{
    char *to = m->to + r * m->t.step;
    const char *from = m->from + r * m->f.row;
    int64_t c = begin;

    if (rows == m->side && m->is_dense) {
        int64_t n = (end - begin) / m->side;

        m->strip(to + c * m->t.row, m->t.row, from + c * m->f.step, m->f.row, n, m->is_far);
        c += n * m->side;
    }
    if (c < end)
        mpi_square_part(to + c * m->t.row, m->t, from + c * m->f.step, m->f, rows, end - c,
                        m->length);
}

/* Rows [first, end) of `from`. */
static void turn_rows(const turn_t *m, int64_t first, int64_t end, int64_t columns)
{
    for (int64_t top = first; top < end; top += FROM_ROWS)
        for (int64_t begin = 0; begin < columns; begin += m->to_rows)
            for (int64_t r = top; r < least(top + FROM_ROWS, end); r += m->side)
                turn_strip(m, r, least(m->side, end - r), begin,
                           least(begin + m->to_rows, columns));
}

/* Rows [first, end) in squares that begin anywhere in lines. */
static void turn_anywhere(turn_t *m, int64_t first, int64_t end, int64_t columns)
{
    m->strip = mpi_square_strip(m->length, XMPI_SKEW_UNKNOWN);
    m->is_far = (end - first) * columns >= LARGE / (int64_t)m->length;
    m->to_rows = ANYWHERE;
    turn_rows(m, first, end, columns);
}

/* Rows [first, end) in squares whose first column begins a line at `first`, others so much later
 * as the skew says. */
static void turn_lines(turn_t *m, int64_t first, int64_t end, int64_t columns, int skew)
{
    m->strip = mpi_square_strip(m->length, skew);
    m->is_far = (end - first) * columns >= NEAR / (int64_t)m->length;
    m->to_rows = to_rows(m->length, skew, m->t.row);
    turn_rows(m, first, end, columns);
}

/* The skew of squares that write whole lines, if some can. In the first-level cache it makes no
 * difference whether a line is written at once. */
static int skew_of(const turn_t *m, int64_t rows, int64_t columns)
{
    int skew = mpi_square_skew(m->t.row, m->length);

    if (!m->is_dense || (uintptr_t)m->to % m->length != 0 ||
        (skew != 0 && rows * columns < NEAR / (int64_t)m->length))
        return XMPI_SKEW_UNKNOWN;
    return skew;
}

/* Transpose a matrix in squares aligned to lines of `to`, and the rest in squares anywhere. */
static void turn(turn_t m, int64_t rows, int64_t columns)
{
    int64_t first = (int64_t)((-(uintptr_t)m.to & (XMPI_LINE - 1)) / m.length), end, later;
    int unit = mpi_square_unit(m.length), skew;

    m.side = XMPI_LINE / (int64_t)m.length;
    m.is_dense = m.t.step == (MPI_Aint)m.length && m.f.step == (MPI_Aint)m.length;
    skew = skew_of(&m, rows, columns);
    later = skew == 0 ? 0 : m.side - unit / (int64_t)m.length; /* the most of all columns */
    end = first + ((rows - first - later) & -m.side);
    if (skew == XMPI_SKEW_UNKNOWN || end <= first) {
        turn_anywhere(&m, 0, rows, columns);
        return;
    }
    if (first + later > 0)
        turn_anywhere(&m, 0, first + later, columns);
    turn_lines(&m, first, end, columns, skew);
    if (end < rows)
        turn_anywhere(&m, end, rows, columns);
}

bool mpi_turn_is_worth(MPI_Aint stride, int64_t n, const mpi_loop_t *loop, size_t length)
{
    MPI_Aint far = loop->stride < 0 ? -loop->stride : loop->stride;

    return (length == 8 || length == 4 || length == 16) && stride >= (MPI_Aint)length &&
           stride < XMPI_LINE && n * stride <= far && n > 1 && loop->count >= 8;
}

void mpi_turn_pack(char *packed, size_t size, const char *user, MPI_Aint stride, int64_t n,
                   const mpi_loop_t *loop, size_t length)
{
    turn_t m = {.to = packed,
                .from = user,
                .t = {.row = (MPI_Aint)size, .step = (MPI_Aint)length},
                .f = {.row = loop->stride, .step = stride},
                .length = length};

    turn(m, loop->count, n);
}

void mpi_turn_unpack(char *user, const char *packed, size_t size, MPI_Aint stride, int64_t n,
                     const mpi_loop_t *loop, size_t length)
{
    turn_t m = {.to = user,
                .from = packed,
                .t = {.row = loop->stride, .step = stride},
                .f = {.row = (MPI_Aint)size, .step = (MPI_Aint)length},
                .length = length};

    turn(m, n, loop->count);
}
