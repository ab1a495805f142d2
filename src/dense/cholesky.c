/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cholesky, A = L L^T, with the lower triangle stored alone, on a grid of ranks.
 *
 * Panel: the rank with the diagonal block factors it and broadcasts it in its grid column; each
 * solves for its rows. Block row: it is the panel, transposed; each grid row broadcasts the blocks
 * that it has to the grid columns that need them.
 */
#include <math.h>
#include <string.h>

#include "dense/factor.h"

/* The rows below an eliminated part of the diagonal block, transposed and negated: of [from, end).
 */
static void transpose(const dense_t *p, const double *l, int ld, int width, int from, int end,
                      double *t)
{
    dense_worked(p, (double)(end - from) * (width - end));
    for (int j = from; j < end && p->record == NULL; j++)
        for (int i = end; i < width; i++)
            t[(size_t)j * (size_t)width + (size_t)i] = -l[(size_t)i * (size_t)ld + (size_t)j];
}

/* Divides the columns [from, end) of row x by the triangle l there. */
static void solve_row(const double *l, int ld, int from, int end, double *x)
{
    for (int j = from; j < end; j++) {
        const double *row = l + (size_t)j * (size_t)ld;

        for (int i = from; i < j; i++)
            x[j] -= x[i] * row[i];
        x[j] /= row[j];
    }
}

/* Factors columns [from, end) of the diagonal block; 0, or the number of the column that has no
 * positive pivot, counted from 1. */
static int factor_narrow(const dense_t *p, double *a, int ld, int width, int from, int end)
{
    dense_worked(p, (double)(end - from) * (end - from) * (width - from));
    for (int j = from; j < end && p->record == NULL; j++) {
        double *row = a + (size_t)j * (size_t)ld;

        solve_row(a, ld, from, j, row);
        for (int i = from; i < j; i++)
            row[j] -= row[i] * row[i];
        if (!(row[j] > 0))
            return j + 1;
        row[j] = sqrt(row[j]);
    }
    for (int i = end; i < width && p->record == NULL; i++)
        solve_row(a, ld, from, end, a + (size_t)i * (size_t)ld);
    return 0;
}

/* Factors the diagonal block; `t` is room for as much. */
static int factor_diagonal(const dense_t *p, double *a, int ld, int width, double *t)
{
    for (int from = 0; from < width; from += FACTOR_NARROW) {
        int end = width - from < FACTOR_NARROW ? width : from + FACTOR_NARROW;
        int info = factor_narrow(p, a, ld, width, from, end);
        double *below = a + (size_t)end * (size_t)ld;

        if (info != 0)
            return info;
        transpose(p, a, ld, width, from, end, t);
        dense_multiply(p, width - end, width - end, end - from, below + from, ld,
                       t + (size_t)from * (size_t)width + end, width, below + end, ld);
    }
    return 0;
}

/* Solves X L^T = A for `rows` rows. */
static void solve_rows(const dense_t *p, const double *l, const double *t, int width, int rows,
                       double *x, int ld)
{
    for (int from = 0; from < width; from += FACTOR_NARROW) {
        int end = width - from < FACTOR_NARROW ? width : from + FACTOR_NARROW;

        dense_worked(p, (double)rows * (end - from) * (end - from));
        for (int i = 0; i < rows && p->record == NULL; i++)
            solve_row(l, width, from, end, x + (size_t)i * (size_t)ld);
        dense_multiply(p, rows, width - end, end - from, x + from, ld,
                       t + (size_t)from * (size_t)width + end, width, x + end, ld);
    }
}

/* Factors the diagonal block on its rank, and the rows below it on all of the grid column. */
static void factor_panel(factor_t *f, int k)
{
    const dense_t *p = f->p;
    int width = factor_width(f, k), below = factor_row_of(f, k + 1);
    double *a = f->a + factor_column_of(f, k), *l = f->small;
    double *t = l + (size_t)width * (size_t)width + 1, *info = t - 1;

    if (f->row == k % f->rows) {
        double *block = a + (size_t)factor_row_of(f, k) * (size_t)f->wide;
        int bad = factor_diagonal(p, block, f->wide, width, t);

        if (p->record == NULL)
            *info = bad != 0 ? k * f->block + bad : 0;
        factor_copy(f, block, f->wide, l, width, width, width);
    }
    if (f->rows > 1)
        dense_bcast(p, &f->along_column, l, width * width + 1, k % f->rows);
    for (int from = 0; from < width; from += FACTOR_NARROW)
        transpose(p, l, width, width, from,
                  width - from < FACTOR_NARROW ? width : from + FACTOR_NARROW, t);
    if (p->record != NULL || *info == 0)
        solve_rows(p, l, t, width, f->high - below, a + (size_t)below * (size_t)f->wide, f->wide);
    factor_pack(f, k, NULL, p->record == NULL ? (int)*info : 0);
}

/* ---- Block row ---- */

/* The global block of a local column. */
static int block_of(const factor_t *f, int column)
{
    return column / f->block * f->columns + f->column;
}

static int width_at(const factor_t *f, int column)
{
    return f->wide - column < f->block ? f->wide - column : f->block;
}

/* Blocks of the panel that the columns from `from` on need and that a grid row has, one after the
 * other: how many rows these are. */
static int pack(const factor_t *f, int k, int from, int row)
{
    int width = factor_width(f, k), first = factor_row_of(f, k), count = 0;

    for (int j = from; j < f->wide; j += f->block) {
        int block = block_of(f, j), rows = width_at(f, j);

        if (block % f->rows != row)
            continue;
        if (f->row == row)
            factor_copy(f,
                        f->panel[k % 2] + (size_t)(factor_row_of(f, block) - first) * (size_t)width,
                        width, f->space + (size_t)count * (size_t)width, width, rows, width);
        count += rows;
    }
    return count;
}

/* Puts them where they belong in the block row. */
static void unpack(const factor_t *f, int k, int from, int row)
{
    const double *x = f->space;
    int width = factor_width(f, k), columns = f->wide - from;

    for (int j = from; j < f->wide && f->p->record == NULL; j += f->block)
        for (int c = 0; block_of(f, j) % f->rows == row && c < width_at(f, j); c++)
            for (int i = 0; i < width; i++)
                f->u[(size_t)i * (size_t)columns + (size_t)(j - from + c)] = -*x++;
}

static void make_rows(factor_t *f, int k, int from)
{
    for (int row = 0; row < f->rows; row++) {
        int count = pack(f, k, from, row);

        if (count == 0)
            continue;
        if (f->rows > 1)
            dense_bcast(f->p, &f->along_column, f->space, count * factor_width(f, k), row);
        dense_moved(f->p, (double)count * factor_width(f, k));
        unpack(f, k, from, row);
    }
}

const factor_kind_t factor_cholesky = {.is_lower = true, .panel = factor_panel, .rows = make_rows};
