/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps that all factorisations have in common, and the functions for programs. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem_factor.h>

#include "dense/factor.h"

void factor_copy(const factor_t *f, const double *from, int from_ld, double *to, int to_ld,
                 int rows, int columns)
{
    dense_moved(f->p, (double)rows * columns);
    dense_copy(f->p, from, from_ld, to, to_ld, rows, columns);
}

/* ---- Panels ---- */

static int rows_from(const factor_t *f, int k)
{
    return f->high - factor_row_of(f, k);
}

static int panel_size(const factor_t *f, int k)
{
    return rows_from(f, k) * factor_width(f, k) + factor_width(f, k) + 1;
}

void factor_pack(factor_t *f, int k, const double *pivots, int info)
{
    int width = factor_width(f, k), rows = rows_from(f, k);
    const double *from =
        f->a + (size_t)factor_row_of(f, k) * (size_t)f->wide + factor_column_of(f, k);
    double *to = f->panel[k % 2];

    dense_moved(f->p, (double)rows * width);
    if (f->p->record != NULL)
        return;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j++)
            *to++ = -from[(size_t)i * (size_t)f->wide + (size_t)j];
    for (int j = 0; j < width; j++)
        *to++ = pivots != NULL ? pivots[j] : 0;
    *to = info;
}

const double *factor_pivots(const factor_t *f, int k)
{
    return f->panel[k % 2] + (size_t)rows_from(f, k) * (size_t)factor_width(f, k);
}

static int neighbour(const factor_t *f, int by)
{
    return f->row * f->columns + (f->column + by + f->columns) % f->columns;
}

static void send_on(factor_t *f, int k)
{
    if ((f->column + 1) % f->columns != k % f->columns)
        dense_send(f->p, f->panel[k % 2], 1, panel_size(f, k), panel_size(f, k), neighbour(f, 1),
                   &f->sent[f->sending++]);
}

/* From neighbour to neighbour: each sends it on before it computes. */
static void pass_on(factor_t *f, int k)
{
    if (f->column == k % f->columns)
        return;
    dense_receive(f->p, f->panel[k % 2], 1, panel_size(f, k), panel_size(f, k), neighbour(f, -1));
    send_on(f, k);
}

/* Notes what came with a panel; false: the factorisation ends here. */
static bool take_info(factor_t *f, int k)
{
    const double *pivots = factor_pivots(f, k);
    int width = factor_width(f, k);

    if (f->p->record != NULL)
        return true;
    for (int j = 0; j < width && f->p->pivots != NULL; j++)
        f->p->pivots[k * f->block + j] = (int)pivots[j] + 1;
    if (f->info == 0)
        f->info = (int)pivots[width];
    return f->info == 0 || !f->kind->is_lower;
}

/* ---- Steps ---- */

/* The same below the diagonal alone: each block column has rows of its own. */
static void subtract_lower(factor_t *f, int k, int right, int from, int to)
{
    int width = factor_width(f, k), first = factor_row_of(f, k);

    for (int j = from; j < to; j += f->block) {
        int at = factor_row_of(f, j / f->block * f->columns + f->column);
        int count = to - j < f->block ? to - j : f->block;

        dense_multiply(f->p, f->high - at, count, width,
                       f->panel[k % 2] + (size_t)(at - first) * (size_t)width, width,
                       f->u + (j - right), f->wide - right, f->a + (size_t)at * (size_t)f->wide + j,
                       f->wide);
    }
}

/* Subtracts panel times block row from the local columns [from, to); the block row begins at
 * `right`. */
static void subtract(factor_t *f, int k, int right, int from, int to)
{
    int width = factor_width(f, k), at = factor_row_of(f, k + 1);

    if (f->kind->is_lower)
        subtract_lower(f, k, right, from, to);
    else
        dense_multiply(f->p, f->high - at, to - from, width,
                       f->panel[k % 2] + (size_t)(at - factor_row_of(f, k)) * (size_t)width, width,
                       f->u + (from - right), f->wide - right,
                       f->a + (size_t)at * (size_t)f->wide + from, f->wide);
}

/* Broadcasts each panel before any rank continues. */
static void run_steps(factor_t *f)
{
    for (int k = 0; k < f->blocks; k++) {
        int right = factor_column_of(f, k + 1);

        if (f->column == k % f->columns)
            f->kind->panel(f, k);
        dense_bcast(f->p, &f->along_row, f->panel[k % 2], panel_size(f, k), k % f->columns);
        if (!take_info(f, k))
            return;
        f->kind->rows(f, k, right);
        subtract(f, k, right, right, f->wide);
    }
}

static void begin_panel(factor_t *f, int k)
{
    f->kind->panel(f, k);
    send_on(f, k);
}

/* Factors the next panel before the rest of the matrix is updated. */
static void run_ahead(factor_t *f)
{
    if (f->column == 0)
        begin_panel(f, 0);
    for (int k = 0; k < f->blocks; k++) {
        int right = factor_column_of(f, k + 1), from = right;
        bool is_next = k + 1 < f->blocks && f->column == (k + 1) % f->columns;

        pass_on(f, k);
        if (!take_info(f, k))
            break;
        f->kind->rows(f, k, right);
        if (is_next) {
            from += factor_width(f, k + 1);
            subtract(f, k, right, right, from);
            begin_panel(f, k + 1);
        }
        subtract(f, k, right, from, f->wide);
        dense_wait(f->p, f->sending, f->sent);
        f->sending = 0;
    }
    dense_wait(f->p, f->sending, f->sent);
}

/* ---- All of it ---- */

/* The grid: as square as it may be, with at least as many columns as rows; the ranks that are left
 * over do nothing. */
static void make_grid(factor_t *f, bool is_grid)
{
    int ranks = f->p->ranks;

    for (f->rows = 1; is_grid && (f->rows + 1) * (f->rows + 1) <= ranks;)
        f->rows++;
    f->columns = ranks / f->rows;
    f->row = f->p->rank / f->columns;
    f->column = f->p->rank % f->columns;
    if (f->row < f->rows) {
        f->high = factor_before(f, f->n, f->row, f->rows);
        f->wide = factor_before(f, f->n, f->column, f->columns);
    }
}

/* Allocates everything; whether all ranks have it. */
static bool make_blocks(factor_t *f)
{
    int block = f->block < f->n ? f->block : f->n;

    f->a = dense_make(f->p, f->high, f->wide);
    f->panel[0] = dense_make(f->p, f->high + 2, block);
    f->panel[1] = dense_make(f->p, f->high + 2, block);
    f->u = dense_make(f->p, block, f->wide);
    f->space = dense_make(f->p, 3 * block, f->wide);
    f->thin = dense_make(f->p, f->high, FACTOR_NARROW);
    f->small = dense_make(f->p, 2 * block, block + 32);
    f->moved = calloc(5 * (size_t)block, sizeof(*f->moved));
    return dense_all(f->p, f->a != NULL && f->panel[0] != NULL && f->panel[1] != NULL &&
                               f->u != NULL && f->space != NULL && f->thin != NULL &&
                               f->small != NULL && f->moved != NULL);
}

static void free_blocks(factor_t *f)
{
    dense_free(f->p, f->a);
    dense_free(f->p, f->panel[0]);
    dense_free(f->p, f->panel[1]);
    dense_free(f->p, f->u);
    dense_free(f->p, f->space);
    dense_free(f->p, f->thin);
    dense_free(f->p, f->small);
    free(f->moved);
}

/* Factors with all ranks of the grid; the others have groups of their own. */
static void run_grid(factor_t *f, bool is_ahead)
{
    const dense_t *p = f->p;
    bool is_idle = f->row >= f->rows;

    f->along_row = is_idle ? dense_group(p, p->rank, 1, 1)
                           : dense_group(p, f->row * f->columns, 1, f->columns);
    f->along_column =
        is_idle ? dense_group(p, p->rank, 1, 1) : dense_group(p, f->column, f->columns, f->rows);
    if (!is_idle) {
        /* Zeros were stored in all blocks; here, because ranks that wait for the last one in an
         * agreement do not wait for its messages as well. */
        dense_moved(p, f->high * (f->wide + 2.0 * f->block) + 4.0 * f->block * f->wide);
        factor_distribute(f);
        if (is_ahead)
            run_ahead(f);
        else
            run_steps(f);
        factor_collect(f);
    }
    dense_group_free(p, &f->along_row);
    dense_group_free(p, &f->along_column);
}

/* Send the outcome also to ranks outside of the grid. */
static void share_info(factor_t *f)
{
    dense_group_t all = dense_everyone(f->p);
    double info = f->info;

    dense_bcast(f->p, &all, &info, 1, 0);
    if (f->p->info != NULL)
        *f->p->info = (int)info;
}

int factor_run(const dense_t *p, const factor_kind_t *kind, factor_variant_t variant)
{
    factor_t f = {.p = p,
                  .kind = kind,
                  .n = p->size.n,
                  .block = p->block,
                  .blocks = (int)(((long long)p->size.n + p->block - 1) / p->block)};
    bool is_good;

    make_grid(&f, variant.is_grid);
    is_good = make_blocks(&f);
    if (is_good) {
        run_grid(&f, variant.is_ahead);
        share_info(&f);
    }
    free_blocks(&f);
    return is_good ? 0 : 1;
}

/* ---- Routines ---- */

const char *const xylem_factor_algorithms[] = {"columns", "columns-ahead", "grid", "grid-ahead",
                                               NULL};
static const char list[] = "columns, columns-ahead, grid and grid-ahead";

static double lu_operations(const dense_size_t *s)
{
    return 2.0 / 3 * s->n * s->n * s->n;
}

static double cholesky_operations(const dense_size_t *s)
{
    return 1.0 / 3 * s->n * s->n * s->n;
}

static double elements(const dense_size_t *s)
{
    return (double)s->n * s->n;
}

/* In a grid every column of the matrix has its pivot. */
static double lu_messages(const dense_t *p)
{
    return p->ranks * (4.0 * p->size.n / p->block + 16) + 4 * sqrt(p->ranks) * p->size.n;
}

static double cholesky_messages(const dense_t *p)
{
    return p->ranks * (8.0 * p->size.n / p->block + 16);
}

const dense_routine_t dense_lu = {.name = "xylem_lu",
                                  .sizes = {"n"},
                                  .algorithms = factor_lu_algorithms,
                                  .count = 4,
                                  .list = list,
                                  .few = "columns",
                                  .usual = "columns-ahead",
                                  .block = 64,
                                  .operations = lu_operations,
                                  .elements = elements,
                                  .messages = lu_messages};

const dense_routine_t dense_cholesky = {.name = "xylem_cholesky",
                                        .sizes = {"n"},
                                        .algorithms = factor_cholesky_algorithms,
                                        .count = 4,
                                        .list = list,
                                        .few = "columns",
                                        .usual = "columns-ahead",
                                        .block = 64,
                                        .operations = cholesky_operations,
                                        .elements = elements,
                                        .messages = cholesky_messages};

/* ---- For programs ---- */

static bool is_size(const dense_routine_t *routine, int n)
{
    bool is_good = n >= 1 && (long long)n * n <= INT_MAX;

    if (!is_good)
        fprintf(stderr, "%s: n is %d; it must be between 1 and %d\n", routine->name, n,
                (int)sqrt(INT_MAX));
    return is_good;
}

static bool check(const dense_t *p)
{
    const char *lacks = p->c == NULL                                   ? "matrix A"
                        : p->routine == &dense_lu && p->pivots == NULL ? "array for pivots"
                                                                       : NULL;

    if (!is_size(p->routine, p->size.n))
        return false;
    if (lacks != NULL)
        fprintf(stderr, "%s: rank 0 has no %s: its pointer is NULL\n", p->routine->name, lacks);
    return lacks == NULL;
}

int xylem_lu(int n, double *a, int *pivots, const xylem_matmul_options *o, MPI_Comm comm)
{
    int info = 0;
    dense_t p = {.routine = &dense_lu, .size = {n, n, n}, .c = a, .pivots = pivots, .info = &info};

    return dense_run(&p, o, comm, check) != 0 ? -1 : info;
}

int xylem_cholesky(int n, double *a, const xylem_matmul_options *o, MPI_Comm comm)
{
    int info = 0;
    dense_t p = {.routine = &dense_cholesky, .size = {n, n, n}, .c = a, .info = &info};

    return dense_run(&p, o, comm, check) != 0 ? -1 : info;
}

/* The routine of that name; NULL: none (reported). */
static const dense_routine_t *find_routine(const char *name)
{
    const dense_routine_t *routine = strcmp(name, "lu") == 0         ? &dense_lu
                                     : strcmp(name, "cholesky") == 0 ? &dense_cholesky
                                                                     : NULL;

    if (routine == NULL)
        fprintf(stderr, "xylem_factor: '%s' is not a factorisation; use lu or cholesky\n", name);
    return routine;
}

static double predict(const char *name, const char *algorithm, int n, int ranks,
                      const xylem_matmul_options *o, dense_predict_fn how)
{
    const dense_routine_t *routine = find_routine(name);

    return routine != NULL && is_size(routine, n)
               ? dense_predict(routine, algorithm, (dense_size_t){n, n, n}, ranks, o, how)
               : 0;
}

double xylem_factor_seconds(const char *routine, const char *algorithm, int n, int ranks,
                            const xylem_matmul_options *o)
{
    return predict(routine, algorithm, n, ranks, o, dense_estimate);
}

double xylem_factor_simulated(const char *routine, const char *algorithm, int n, int ranks,
                              const xylem_matmul_options *o)
{
    return predict(routine, algorithm, n, ranks, o, dense_simulated);
}

const char *xylem_factor_best(const char *name, int n, int ranks, const xylem_matmul_options *o,
                              double *seconds_p)
{
    const dense_routine_t *routine = find_routine(name);

    return routine != NULL && is_size(routine, n) && ranks >= 1
               ? dense_best(routine, (dense_size_t){n, n, n}, ranks, o, seconds_p)
               : NULL;
}
