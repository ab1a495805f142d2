/* SPDX-License-Identifier: BSD-3-Clause */
/* How C is cut for ranks of different speeds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense/dense.h"

double dense_slowest(const dense_t *p)
{
    double slowest = INFINITY;

    for (int i = 0; i < p->ranks; i++)
        slowest = fmin(slowest, p->speeds[i]);
    return slowest;
}

static int log2_ceil(int n)
{
    int l = 0;

    while (1 << l < n)
        l++;
    return l;
}

/* ---- One partition for all ranks of a record ---- */

static bool take_known(const dense_t *p, dense_rect_t *rects)
{
    if (p->record == NULL || p->record->rows == 0)
        return false;
    memcpy(rects, p->record->rects, (size_t)p->ranks * sizeof(*rects));
    return true;
}

static void keep(const dense_t *p, int rows, int columns, const dense_rect_t *rects)
{
    if (p->record == NULL)
        return;
    memcpy(p->record->rects, rects, (size_t)p->ranks * sizeof(*rects));
    p->record->rows = rows;
    p->record->columns = columns;
}

/* ---- Columns ---- */

typedef struct {
    double speed;
    int rank;
} fast_t;

static int by_speed(const void *a, const void *b)
{
    const fast_t *x = a, *y = b;

    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    return x->rank - y->rank;
}

/* Divide ranks sorted by speed into columns of neighbours: best[i] is the least sum of half
 * perimeters of the first i, whose last column begins at from[i]. A column of c ranks and width w
 * has c * w + 1. */
static void find_columns(const double *sum, int ranks, double *best, int *from)
{
    best[0] = 0;
    for (int i = 1; i <= ranks; i++) {
        best[i] = INFINITY;
        for (int j = 0; j < i; j++) {
            double cost = best[j] + (i - j) * (sum[i] - sum[j]) / sum[ranks] + 1;

            if (cost < best[i]) {
                best[i] = cost;
                from[i] = j;
            }
        }
    }
}

/* Part [from, to) of a whole, in elements. */
static void cut(int n, double from, double to, double whole, int *at_p, int *length_p)
{
    *at_p = (int)lround(n * from / whole);
    *length_p = (int)lround(n * to / whole) - *at_p;
}

static void fill_column(const dense_t *p, const fast_t *fast, const double *sum, int first, int end,
                        dense_rect_t *rects)
{
    for (int i = first; i < end; i++) {
        dense_rect_t *r = &rects[fast[i].rank];

        cut(p->size.n, sum[first], sum[end], sum[p->ranks], &r->column, &r->columns);
        cut(p->size.m, sum[i] - sum[first], sum[i + 1] - sum[first], sum[end] - sum[first], &r->row,
            &r->rows);
    }
}

bool dense_plan_columns(const dense_t *p, dense_rect_t *rects)
{
    size_t n = (size_t)p->ranks + 1;
    fast_t *fast = calloc(n, sizeof(*fast));
    double *sum = calloc(n, sizeof(*sum)), *best = calloc(n, sizeof(*best));
    int *from = calloc(n, sizeof(*from));
    bool is_good = fast != NULL && sum != NULL && best != NULL && from != NULL;

    if (is_good && !take_known(p, rects)) {
        for (int i = 0; i < p->ranks; i++)
            fast[i] = (fast_t){p->speeds[i], i};
        qsort(fast, (size_t)p->ranks, sizeof(*fast), by_speed);
        for (int i = 0; i < p->ranks; i++)
            sum[i + 1] = sum[i] + fast[i].speed;
        find_columns(sum, p->ranks, best, from);
        for (int end = p->ranks; end > 0; end = from[end])
            fill_column(p, fast, sum, from[end], end, rects);
        keep(p, 1, 1, rects);
    }
    free(fast);
    free(sum);
    free(best);
    free(from);
    return is_good;
}

/* ---- Grids ---- */

void dense_square_grid(int ranks, int *rows_p, int *columns_p)
{
    int rows = 1;

    for (int r = 1; (long long)r * r <= ranks; r++)
        if (ranks % r == 0)
            rows = r;
    *rows_p = rows;
    *columns_p = ranks / rows;
}

/* The rectangles of a grid; the seconds of the slowest. */
static double fill_grid(const dense_t *p, int rows, int columns, dense_rect_t *rects)
{
    double all = 0, before = 0, most = 0;

    for (int i = 0; i < p->ranks; i++)
        all += p->speeds[i];
    for (int i = 0; i < rows; i++) {
        double sum = 0;

        for (int j = 0; j < columns; j++)
            sum += p->speeds[i * columns + j];
        for (int j = 0; j < columns; j++)
            cut(p->size.m, before, before + sum, all, &rects[i * columns + j].row,
                &rects[i * columns + j].rows);
        before += sum;
    }
    before = 0;
    for (int j = 0; j < columns; j++) {
        double sum = 0;

        for (int i = 0; i < rows; i++)
            sum += p->speeds[i * columns + j];
        for (int i = 0; i < rows; i++)
            cut(p->size.n, before, before + sum, all, &rects[i * columns + j].column,
                &rects[i * columns + j].columns);
        before += sum;
    }
    for (int i = 0; i < p->ranks; i++)
        most = fmax(most, (double)rects[i].rows * rects[i].columns / p->speeds[i]);
    return most;
}

bool dense_plan_grid(const dense_t *p, int *rows_p, int *columns_p, dense_rect_t *rects)
{
    double least = INFINITY;

    if (take_known(p, rects)) {
        *rows_p = p->record->rows;
        *columns_p = p->record->columns;
        return true;
    }
    for (int rows = 1; rows <= p->ranks; rows++) {
        int columns = p->ranks / rows;
        double seconds;

        if (rows * columns != p->ranks)
            continue;
        seconds = 2.0 * p->size.k * fill_grid(p, rows, columns, rects) +
                  8.0 * p->size.k * p->per_byte *
                      ((double)p->size.m / rows * log2_ceil(columns) +
                       (double)p->size.n / columns * log2_ceil(rows));
        if (seconds < least) {
            least = seconds;
            *rows_p = rows;
            *columns_p = columns;
        }
    }
    fill_grid(p, *rows_p, *columns_p, rects);
    keep(p, *rows_p, *columns_p, rects);
    return true;
}
