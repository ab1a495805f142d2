/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cartesian: the rectangles of C form a grid, with heights and widths by the speeds of its rows and
 * columns.
 *
 *   +-----+---+--+      Rank 0 sends a block of A once for each row and a block of B once for each
 *   |  0  | 1 |2 |      column of ranks; they broadcast it. Less is sent than by columns; the
 *   +-----+---+--+      balance is as good as the speeds fit a grid.
 *   |  3  | 4 |5 |
 *   +-----+---+--+      Cost = (m + n) k + k (rows lg columns + columns lg rows) + compute + C back
 */
#include <stdlib.h>

#include "dense/dense.h"

typedef struct {
    int rows, columns, row, column;
    dense_group_t along_row, along_column;
    double *a, *b, *c;
} grid_t;

/* From rank 0 to the first rank of each row and column. */
static void send_step(const dense_t *p, const grid_t *g, const dense_rect_t *rects, int at,
                      int depth, MPI_Request *requests)
{
    int count = 0;

    for (int i = 1; i < g->rows; i++)
        dense_send(p, p->a + (size_t)rects[i * g->columns].row * (size_t)p->size.k + at,
                   rects[i * g->columns].rows, depth, p->size.k, i * g->columns,
                   &requests[count++]);
    for (int j = 1; j < g->columns; j++)
        dense_send(p, p->b + (size_t)at * (size_t)p->size.n + rects[j].column, depth,
                   rects[j].columns, p->size.n, j, &requests[count++]);
    dense_wait(p, count, requests);
}

/* Computes one block of columns of A and rows of B: rank 0 sends them, rows and columns broadcast
 * them. */
static void step(const dense_t *p, const grid_t *g, const dense_rect_t *rects, int at, int depth,
                 MPI_Request *requests)
{
    const dense_rect_t *r = &rects[p->rank];

    if (p->rank == 0) {
        dense_copy(p, p->a + at, p->size.k, g->a, depth, r->rows, depth);
        dense_copy(p, p->b + (size_t)at * (size_t)p->size.n, p->size.n, g->b, r->columns, depth,
                   r->columns);
        send_step(p, g, rects, at, depth, requests);
    } else if (g->column == 0) {
        dense_receive(p, g->a, r->rows, depth, depth, 0);
    } else if (g->row == 0) {
        dense_receive(p, g->b, depth, r->columns, r->columns, 0);
    }
    dense_bcast(p, &g->along_row, g->a, r->rows * depth, 0);
    dense_bcast(p, &g->along_column, g->b, r->columns * depth, 0);
    dense_multiply(p, r->rows, r->columns, depth, g->a, depth, g->b, r->columns, g->c, r->columns);
}

static void run_steps(const dense_t *p, grid_t *g, const dense_rect_t *rects, MPI_Request *requests)
{
    g->row = p->rank / g->columns;
    g->column = p->rank % g->columns;
    g->along_row = dense_group(p, g->row * g->columns, 1, g->columns);
    g->along_column = dense_group(p, g->column, g->columns, g->rows);
    for (int at = 0, i = 0; dense_goes_on(p, i, at, p->size.k) && at < p->size.k;
         at += p->block, i++)
        step(p, g, rects, at, p->size.k - at < p->block ? p->size.k - at : p->block, requests);
    dense_group_free(p, &g->along_row);
    dense_group_free(p, &g->along_column);
    dense_collect(p, rects, g->c);
}

/* Multiplies on a grid of ranks; returns 0, or 1 on all ranks if memory is missing. */
static int run(const dense_t *p)
{
    dense_rect_t *rects = calloc((size_t)p->ranks, sizeof(*rects)), own = {0};
    MPI_Request *requests = calloc(2 * (size_t)p->ranks, sizeof(*requests));
    grid_t g = {.rows = 1, .columns = 1};
    bool is_good =
        rects != NULL && requests != NULL && dense_plan_grid(p, &g.rows, &g.columns, rects);

    if (is_good)
        own = rects[p->rank];
    g.a = dense_make(p, own.rows, p->block);
    g.b = dense_make(p, p->block, own.columns);
    g.c = dense_make(p, own.rows, own.columns);
    is_good = dense_all(p, is_good && g.a != NULL && g.b != NULL && g.c != NULL);
    if (is_good)
        run_steps(p, &g, rects, requests);
    dense_free(p, g.a);
    dense_free(p, g.b);
    dense_free(p, g.c);
    free(requests);
    free(rects);
    return is_good ? 0 : 1;
}

const dense_algorithm_t dense_cartesian = {.name = "cartesian", .least = 1, .run = run};
