/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Squares, the parts of a transpose. A square is as wide and as high as a cache line has elements
 * of 4, 8 or 16 bytes. `to` has at (c, r) what `from` has at (r, c).
 *
 *   mpi_strip_t *strip = mpi_square_strip(8, mpi_square_skew(to_row, 8));
 *   strip(to, to_row, from, from_row, 10, false);         8 rows of `from`, 80 columns
 */
#ifndef XY_MPI_DATATYPE_TYPE_SQUARE_H
#define XY_MPI_DATATYPE_TYPE_SQUARE_H

#include "mpi/datatype/datatype.h"

enum { XMPI_LINE = 64 }; /* bytes */

/*
 * Rows of `to` may begin anywhere in a line, so that a square would write two parts of lines.
 * Column c of a skewed square begins so many rows later that it writes one whole line. The skew is
 * the number of units, modulo a line, by which rows of `to` are too long. A unit is 16 bytes, or 8
 * for elements of 8 bytes:
 *
 *   skew 0:  c0 ++++++++      skew 4:  c0 ++++++++          skew 7:  c0 ++++++++
 *            c1 ++++++++               c1     ++++++++               c1  ++++++++
 *            c2 ++++++++               c2 ++++++++                   c2   ++++++++
 *            c3 ++++++++               c3     ++++++++               c3    ++++++++
 */
enum { XMPI_SKEW_UNKNOWN = 8 }; /* rows end between units: plain squares, which begin anywhere */

static inline int mpi_square_unit(size_t length)
{
    return length == 8 ? 8 : 16;
}

static inline int mpi_square_skew(MPI_Aint to_row, size_t length)
{
    int rest = (int)(to_row & (XMPI_LINE - 1)), unit = mpi_square_unit(length); /* also below 0 */

    return rest % unit == 0 ? rest / unit : XMPI_SKEW_UNKNOWN;
}

/* The units by which column `c` begins later. */
static inline int mpi_square_shift(int c, int skew, size_t length)
{
    return skew == XMPI_SKEW_UNKNOWN ? 0 : -(c * skew) & (XMPI_LINE / mpi_square_unit(length) - 1);
}

/* `n` squares side by side in `from`, elements side by side in both. `to` begins a line where the
 * skew is known. `is_far`: not in a near cache, so that lines are asked for early. */
typedef void mpi_strip_t(char *to, MPI_Aint to_row, const char *from, MPI_Aint from_row, int64_t n,
                         bool is_far);
mpi_strip_t *mpi_square_strip(size_t length, int skew);

/* The distances from row to row and inside a row. */
typedef struct {
    MPI_Aint row, step;
} mpi_grid_t;

/* Any rectangle, with any distances. */
void mpi_square_part(char *to, mpi_grid_t t, const char *from, mpi_grid_t f, int64_t rows,
                     int64_t columns, size_t length);

#endif
