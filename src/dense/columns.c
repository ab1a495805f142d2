/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * columns: C is cut into rectangles whose areas are in proportion to the speeds, in columns
 * (Lastovetsky's column-based partition).
 *
 *   +-----+---+--+      Rank 0 sends each rank its rows of A and its columns of B, `block` of the
 *   |  0  | 2 |4 |      inner products at a time, and computes when they are there. The best
 * balance;
 *   +-----+   +--+      rows are sent once for every column of ranks.
 *   |  1  +---+5 |
 *   |     | 3 |  |      Cost = compute + sum of (rows + columns) k + C back
 *   +-----+---+--+
 */
#include <stdlib.h>

#include "dense/dense.h"

/* The blocks of one step: to all others, without waiting. */
static void send_step(const dense_t *p, const dense_rect_t *rects, int at, int depth,
                      MPI_Request *requests)
{
    const double *a = p->a + at, *b = p->b + (size_t)at * (size_t)p->size.n;

    requests[0] = requests[1] = MPI_REQUEST_NULL;
    for (int i = 1; i < p->ranks; i++) {
        const dense_rect_t *r = &rects[i];
        bool is_empty = r->rows == 0 || r->columns == 0;

        dense_send(p, a + (size_t)r->row * (size_t)p->size.k, is_empty ? 0 : r->rows, depth,
                   p->size.k, i, &requests[2 * i]);
        dense_send(p, b + r->column, depth, is_empty ? 0 : r->columns, p->size.n, i,
                   &requests[2 * i + 1]);
    }
}

/* Its block of B is as dense as those of the others: where rows are far apart, and begin at odd
 * places, a plain loop takes up to half as long again. */
static void step_on_root(const dense_t *p, const dense_rect_t *rects, int at, int depth,
                         MPI_Request *requests, double *b, double *c)
{
    const dense_rect_t *r = &rects[0];

    /* Messages move while a rank is in MPI: all others begin before this one computes. */
    send_step(p, rects, at, depth, requests);
    dense_wait(p, 2 * p->ranks, requests);
    dense_copy(p, p->b + (size_t)at * (size_t)p->size.n + r->column, p->size.n, b, r->columns,
               depth, r->columns);
    dense_multiply(p, r->rows, r->columns, depth, p->a + (size_t)r->row * (size_t)p->size.k + at,
                   p->size.k, b, r->columns, c, r->columns);
}

static void step_elsewhere(const dense_t *p, const dense_rect_t *r, int depth, double *a, double *b,
                           double *c)
{
    if (r->rows == 0 || r->columns == 0)
        return;
    dense_receive(p, a, r->rows, depth, depth, 0);
    dense_receive(p, b, depth, r->columns, r->columns, 0);
    dense_multiply(p, r->rows, r->columns, depth, a, depth, b, r->columns, c, r->columns);
}

/* Multiplies with rectangles of C per rank, fed by rank 0; returns 0, or 1 on all ranks if memory
 * is missing. */
static int run(const dense_t *p)
{
    dense_rect_t *rects = calloc((size_t)p->ranks, sizeof(*rects)), own = {0};
    MPI_Request *requests = calloc(2 * (size_t)p->ranks, sizeof(*requests));
    bool is_good = rects != NULL && requests != NULL && dense_plan_columns(p, rects);
    double *a, *b, *c;

    if (is_good)
        own = rects[p->rank];
    a = dense_make(p, own.rows, p->block);
    b = dense_make(p, p->block, own.columns);
    c = dense_make(p, own.rows, own.columns);
    is_good = dense_all(p, is_good && a != NULL && b != NULL && c != NULL);
    for (int at = 0, i = 0; is_good && dense_goes_on(p, i, at, p->size.k) && at < p->size.k;
         at += p->block, i++) {
        int depth = p->size.k - at < p->block ? p->size.k - at : p->block;

        if (p->rank == 0)
            step_on_root(p, rects, at, depth, requests, b, c);
        else
            step_elsewhere(p, &own, depth, a, b, c);
    }
    if (is_good)
        dense_collect(p, rects, c);
    dense_free(p, a);
    dense_free(p, b);
    dense_free(p, c);
    free(requests);
    free(rects);
    return is_good ? 0 : 1;
}

const dense_algorithm_t dense_columns = {.name = "columns", .least = 1, .run = run};
