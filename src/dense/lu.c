/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU with partial pivoting, P A = L U, on a grid of ranks.
 *
 * Panel: for each column the grid column finds the largest element (a tree to the rank with the
 * diagonal), which tells all of them the row of the pivot and the row that leaves; eight columns at
 * a time are subtracted from the rest of the panel.
 * Block row: rows change places between the ranks of a grid column and the one with the diagonal
 * block, which solves for U and broadcasts it.
 */
#include <math.h>
#include <string.h>

#include "dense/factor.h"

/* ---- Panel ---- */

typedef struct {
    factor_t *f;
    int k, width, rows;
    int first;    /* row of the whole where it begins */
    int top;      /* grid row of the diagonal block */
    bool is_top;  /* that is this one */
    double *a;    /* [rows], f->wide apart */
    double *best; /* value, row, elements of the row; then the row that leaves */
    double *pivots;
    int info;
} panel_t;

/* The row of the whole that is number i of the own part of the panel. */
static int whole_row(const panel_t *x, int i)
{
    const factor_t *f = x->f;

    i += factor_row_of(f, x->k);
    return (i / f->block * f->rows + f->row) * f->block + i % f->block;
}

static double *row_at(const panel_t *x, int i)
{
    return x->a + (size_t)i * (size_t)x->f->wide;
}

/* The largest element of column j in the own rows. */
static void find_own(const panel_t *x, int j, double *best)
{
    int from = x->is_top ? j : 0, at = -1;

    /* A load and a comparison. */
    dense_worked(x->f->p, x->rows > from ? 2.0 * (x->rows - from) : 0);
    if (x->f->p->record != NULL)
        return;
    for (int i = from; i < x->rows; i++)
        if (at < 0 || fabs(row_at(x, i)[j]) > fabs(row_at(x, at)[j]))
            at = i;
    best[0] = at < 0 ? -1 : fabs(row_at(x, at)[j]);
    best[1] = at < 0 ? -1 : whole_row(x, at);
    if (at >= 0)
        memcpy(best + 2, row_at(x, at), (size_t)x->width * sizeof(*best));
}

/* Take the larger of two candidates; of equal ones the upper, as LAPACK does. */
static void take_larger(const panel_t *x, double *best, const double *other)
{
    bool is_better =
        x->f->p->record == NULL && other[1] >= 0 &&
        (best[1] < 0 || other[0] > best[0] || (other[0] == best[0] && other[1] < best[1]));

    if (is_better)
        memcpy(best, other, (size_t)(x->width + 2) * sizeof(*best));
}

static int rank_in_column(const factor_t *f, int row)
{
    return row % f->rows * f->columns + f->column;
}

/* The largest of all ranks of the grid column to the one with the diagonal, by a tree. */
static void gather_best(const panel_t *x)
{
    const factor_t *f = x->f;
    int v = (f->row - x->top + f->rows) % f->rows, count = x->width + 2;
    double *other = x->best + 2 * x->width + 2;
    MPI_Request request;

    for (int step = 1; step < f->rows; step *= 2) {
        if ((v & step) != 0) {
            dense_send(f->p, x->best, 1, count, count, rank_in_column(f, x->top + v - step),
                       &request);
            dense_wait(f->p, 1, &request);
            return;
        }
        if (v + step < f->rows) {
            dense_receive(f->p, other, 1, count, count, rank_in_column(f, x->top + v + step));
            take_larger(x, x->best, other);
        }
    }
}

/* Row `at` of the panel and the pivot's row change places. */
static void swap_rows(const panel_t *x, int j)
{
    const factor_t *f = x->f;
    int row = (int)x->best[1], owner = row / f->block % f->rows;
    size_t bytes = (size_t)x->width * sizeof(double);

    if (row == x->first + j)
        return;
    if (x->is_top)
        memcpy(row_at(x, j), x->best + 2, bytes);
    if (owner == f->row)
        memcpy(row_at(x, factor_before(f, row, f->row, f->rows) - factor_row_of(f, x->k)),
               x->best + 2 + x->width, bytes);
}

enum { DIVISION = 4 }; /* multiplications that take as long */

/* Divides column j by its pivot and subtracts it from the next columns up to `end`. */
static void eliminate(const panel_t *x, int j, int end)
{
    const double *pivot = x->best + 2;
    int from = x->is_top ? j + 1 : 0;

    dense_worked(x->f->p, x->rows > from ? (x->rows - from) * (DIVISION + 2.0 * (end - j - 1)) : 0);
    for (int i = from; i < x->rows && x->f->p->record == NULL && pivot[j] != 0; i++) {
        double *row = row_at(x, i), l = row[j] / pivot[j];

        row[j] = l;
        for (int c = j + 1; c < end; c++)
            row[c] -= l * pivot[c];
    }
}

/* Finds and applies the pivot of column j. */
static void factor_column(panel_t *x, int j, int end)
{
    factor_t *f = x->f;
    bool is_run = f->p->record == NULL;

    find_own(x, j, x->best);
    gather_best(x);
    if (is_run && x->is_top)
        memcpy(x->best + 2 + x->width, row_at(x, j), (size_t)x->width * sizeof(double));
    if (f->rows > 1)
        dense_bcast(f->p, &f->along_column, x->best, 2 * x->width + 2, x->top);
    if (is_run) {
        x->pivots[j] = x->best[1];
        if (x->best[2 + j] == 0 && x->info == 0)
            x->info = x->first + j + 1;
        swap_rows(x, j);
    }
    eliminate(x, j, end);
}

/* Solves L X = U in place for `count` rows of X by loops; L is negated, with ones on the diagonal
 * that are not stored. */
static void solve_small(const dense_t *p, const double *l, int ld, int count, double *x, int width)
{
    dense_worked(p, (double)count * (count - 1) * width);
    for (int i = 1; i < count && p->record == NULL; i++)
        for (int j = 0; j < i; j++)
            for (int c = 0; c < width; c++)
                x[(size_t)i * (size_t)width + (size_t)c] +=
                    l[(size_t)i * (size_t)ld + (size_t)j] *
                    x[(size_t)j * (size_t)width + (size_t)c];
}

/* The columns [from, end) of the panel, negated, of the own rows. */
static void negate(const panel_t *x, int from, int end)
{
    double *to = x->f->thin;

    dense_worked(x->f->p, (double)x->rows * (end - from));
    for (int i = 0; i < x->rows && x->f->p->record == NULL; i++)
        for (int j = from; j < end; j++)
            *to++ = -row_at(x, i)[j];
}

/* Subtracts the columns [from, end) of the panel from those to their right. */
static void update_panel(const panel_t *x, int from, int end)
{
    factor_t *f = x->f;
    int deep = end - from, width = x->width - end, first = x->is_top ? end : 0;
    double *u = x->best;

    if (width == 0)
        return;
    negate(x, from, end);
    if (x->is_top) {
        factor_copy(f, row_at(x, from) + end, f->wide, u, width, deep, width);
        solve_small(f->p, f->thin + from * deep, deep, deep, u, width);
        factor_copy(f, u, width, row_at(x, from) + end, f->wide, deep, width);
    }
    if (f->rows > 1)
        dense_bcast(f->p, &f->along_column, u, deep * width, x->top);
    dense_multiply(f->p, x->rows > first ? x->rows - first : 0, width, deep,
                   f->thin + (size_t)first * (size_t)deep, deep, u, width, row_at(x, first) + end,
                   f->wide);
}

/* Factors a panel on all ranks of its grid column, and packs it for messages. */
static void factor_panel(factor_t *f, int k)
{
    int width = factor_width(f, k), at = factor_row_of(f, k), top = k % f->rows;
    panel_t x = {.f = f,
                 .k = k,
                 .width = width,
                 .rows = f->high - at,
                 .first = k * f->block,
                 .top = top,
                 .is_top = f->row == top,
                 .a = f->a + (size_t)at * (size_t)f->wide + factor_column_of(f, k),
                 .pivots = f->small,
                 .best = f->small + width};

    for (int from = 0; from < width; from += FACTOR_NARROW) {
        int end = width - from < FACTOR_NARROW ? width : from + FACTOR_NARROW;

        for (int j = from; j < end; j++)
            factor_column(&x, j, end);
        update_panel(&x, from, end);
    }
    factor_pack(f, k, x.pivots, x.info);
}

/* ---- Rows that change places ---- */

/* The exchange of rows: the columns [0, left) and those from `from` on; number i comes to row at[i]
 * from row source[i]. The first `width` are those of the diagonal block, in order; into the others
 * come rows of the diagonal block. */
typedef struct {
    factor_t *f;
    int left, from, columns;
    int first, width, top;
    int *at, *source, count;
    double *kept;     /* of the diagonal block, before */
    double *out, *in; /* to and from the rows outside of it */
} swap_t;

/* Follows the exchanges of a panel in their order; the lists then say what comes where. */
static void list_rows(swap_t *s, const double *pivots)
{
    for (int j = 0; j < s->width; j++)
        s->at[j] = s->source[j] = s->first + j;
    s->count = s->width;
    for (int j = 0; j < s->width; j++) {
        int row = (int)pivots[j], i = row - s->first, before = s->source[j];

        if (i >= s->width)
            for (i = s->width; i < s->count && s->at[i] != row;)
                i++;
        if (i == s->count) {
            s->at[i] = s->source[i] = row;
            s->count++;
        }
        s->source[j] = s->source[i];
        s->source[i] = before;
    }
}

static double *own_row(const swap_t *s, int row)
{
    const factor_t *f = s->f;

    return f->a + (size_t)factor_before(f, row, f->row, f->rows) * (size_t)f->wide;
}

static void take_row(const swap_t *s, int row, double *to)
{
    const double *from = own_row(s, row);

    memcpy(to, from, (size_t)s->left * sizeof(*to));
    memcpy(to + s->left, from + s->from, (size_t)(s->columns - s->left) * sizeof(*to));
}

static void put_row(const swap_t *s, int row, const double *from)
{
    double *to = own_row(s, row);

    memcpy(to, from, (size_t)s->left * sizeof(*to));
    memcpy(to + s->from, from + s->left, (size_t)(s->columns - s->left) * sizeof(*to));
}

static double *line(const swap_t *s, double *block, int i)
{
    return block + (size_t)i * (size_t)s->columns;
}

static int owner_of(const swap_t *s, int i)
{
    return s->at[i] / s->f->block % s->f->rows;
}

/* The rows outside of the diagonal block that a grid row has, for pivots that lie anywhere below.
 */
static int expect_outside(const swap_t *s, int row)
{
    const factor_t *f = s->f;
    int rows = factor_before(f, f->n, row, f->rows) - factor_before(f, s->first, row, f->rows);

    return (int)((double)s->width * rows / (f->n - s->first) + 0.5);
}

/* The same of the pivots found; in a record there are none. */
static int count_outside(const swap_t *s, int row)
{
    const factor_t *f = s->f;
    int count = 0;

    if (f->p->record != NULL)
        return expect_outside(s, row);
    for (int i = s->width; i < s->count; i++)
        count += owner_of(s, i) == row;
    return count;
}

/* Rows outside that belong to grid row `row`: into `block` in their order, or from there. */
static void move_outside(const swap_t *s, int row, double *block, bool is_back)
{
    int n = 0;

    for (int i = s->width; i < s->count; i++)
        if (owner_of(s, i) == row) {
            if (is_back)
                put_row(s, s->at[i], line(s, block, n));
            else
                take_row(s, s->at[i], line(s, block, n));
            n++;
        }
}

/* Elsewhere than with the diagonal block: own rows go there, and others come back. */
static void swap_elsewhere(const swap_t *s)
{
    const factor_t *f = s->f;
    int rows = count_outside(s, f->row), there = rank_in_column(f, s->top);
    MPI_Request request;

    dense_moved(f->p, 2.0 * expect_outside(s, f->row) * s->columns);
    move_outside(s, f->row, s->out, false);
    dense_send(f->p, s->out, rows, s->columns, s->columns, there, &request);
    dense_receive(f->p, s->in, rows, s->columns, s->columns, there);
    dense_wait(f->p, 1, &request);
    move_outside(s, f->row, s->in, true);
}

/* Collect the rows for other owners, ordered by owner. */
static void fill_out(const swap_t *s)
{
    int n = 0;

    for (int row = 0; row < s->f->rows; row++)
        for (int i = s->width; i < s->count; i++)
            if (owner_of(s, i) == row)
                memcpy(line(s, s->out, n++), line(s, s->kept, s->source[i] - s->first),
                       (size_t)s->columns * sizeof(double));
}

/* The rows of the diagonal block from where they were: in it, or in what came. */
static void fill_top(const swap_t *s)
{
    int *place = s->source + s->count; /* of each outside row in `in` */
    int n = 0;

    for (int row = 0; row < s->f->rows; row++)
        for (int i = s->width; i < s->count; i++)
            if (owner_of(s, i) == row)
                place[i - s->width] = n++;
    for (int j = 0; j < s->width; j++) {
        int from = s->source[j] - s->first, i = s->width;

        if (from >= s->width)
            while (s->at[i] != s->source[j])
                i++;
        put_row(s, s->at[j],
                from < s->width ? line(s, s->kept, from) : line(s, s->in, place[i - s->width]));
    }
}

/* With the diagonal block: sends to and receives from all other grid rows. */
static void swap_on_top(const swap_t *s)
{
    factor_t *f = s->f;
    int n = 0;

    /* Its rows and those that come instead, those that leave, and own ones outside. */
    dense_moved(f->p, (3.0 * s->width + 2.0 * expect_outside(s, f->row)) * s->columns);
    for (int j = 0; j < s->width && f->p->record == NULL; j++)
        take_row(s, s->first + j, line(s, s->kept, j));
    fill_out(s);
    for (int row = 0; row < f->rows; row++) {
        int rows = count_outside(s, row);
        MPI_Request request;

        if (row == f->row) {
            move_outside(s, row, line(s, s->in, n), false);
            move_outside(s, row, line(s, s->out, n), true);
        } else {
            dense_send(f->p, line(s, s->out, n), rows, s->columns, s->columns,
                       rank_in_column(f, row), &request);
            dense_receive(f->p, line(s, s->in, n), rows, s->columns, s->columns,
                          rank_in_column(f, row));
            dense_wait(f->p, 1, &request);
        }
        n += f->p->record == NULL ? rows : 0;
    }
    if (f->p->record == NULL)
        fill_top(s);
}

/* Exchanges rows beside the panel; all ranks of the grid column call it. */
static void swap_all(factor_t *f, int k, int left, int from)
{
    int width = factor_width(f, k), columns = left + f->wide - from;
    swap_t s = {.f = f,
                .left = left,
                .from = from,
                .columns = columns,
                .first = k * f->block,
                .width = width,
                .top = k % f->rows,
                .at = f->moved,
                .source = f->moved + 2 * width,
                .kept = f->space,
                .out = f->space + (size_t)width * (size_t)columns,
                .in = f->space + 2 * (size_t)width * (size_t)columns};

    if (columns == 0)
        return;
    if (f->p->record == NULL)
        list_rows(&s, factor_pivots(f, k));
    if (f->row == s.top)
        swap_on_top(&s);
    else
        swap_elsewhere(&s);
}

/* ---- Block row ---- */

/* Solves L U = A for the rows of u, FACTOR_NARROW of them at a time. */
static void solve(const factor_t *f, int k, int columns)
{
    const double *l = f->panel[k % 2];
    int width = factor_width(f, k);

    for (int from = 0; from < width; from += FACTOR_NARROW) {
        int end = width - from < FACTOR_NARROW ? width : from + FACTOR_NARROW;

        solve_small(f->p, l + (size_t)from * (size_t)width + from, width, end - from,
                    f->u + (size_t)from * (size_t)columns, columns);
        dense_multiply(f->p, width - end, columns, end - from,
                       l + (size_t)end * (size_t)width + from, width,
                       f->u + (size_t)from * (size_t)columns, columns,
                       f->u + (size_t)end * (size_t)columns, columns);
    }
}

/* Exchanges rows, solves for the block row where the diagonal block is, and broadcasts it. */
static void make_rows(factor_t *f, int k, int from)
{
    int columns = f->wide - from, width = factor_width(f, k);
    double *own = f->a + (size_t)factor_row_of(f, k) * (size_t)f->wide + from;

    swap_all(f, k, factor_column_of(f, k), from);
    if (columns == 0)
        return;
    if (f->row == k % f->rows) {
        factor_copy(f, own, f->wide, f->u, columns, width, columns);
        solve(f, k, columns);
        factor_copy(f, f->u, columns, own, f->wide, width, columns);
    }
    if (f->rows > 1)
        dense_bcast(f->p, &f->along_column, f->u, width * columns, k % f->rows);
}

const factor_kind_t factor_lu = {.panel = factor_panel, .rows = make_rows};
