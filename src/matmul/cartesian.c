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
#include <math.h>
#include <stdlib.h>

#include "matmul/matmul.h"

static double seconds(const matmul_t *p)
{
    matmul_rect_t *rects = calloc((size_t)p->ranks, sizeof(*rects));
    int rows = 1, columns = 1, steps = (p->size.k + p->block - 1) / p->block;
    double worst = 0, sent;

    if (rects == NULL || !matmul_plan_grid(p, &rows, &columns, rects)) {
        free(rects);
        return 0;
    }
    for (int i = 0; i < p->ranks; i++)
        worst = fmax(worst, 2.0 * rects[i].rows * rects[i].columns * p->size.k / p->speeds[i] +
                                matmul_bcast(p, columns, (double)rects[i].rows * p->size.k) +
                                matmul_bcast(p, rows, (double)rects[i].columns * p->size.k));
    sent =
        steps * (2 + matmul_log2(rows) + matmul_log2(columns)) * p->latency +
        8.0 *
            ((double)p->size.m * (rows - 1) / rows + (double)p->size.n * (columns - 1) / columns) *
            p->size.k * p->per_byte;
    free(rects);
    return sent + worst + matmul_collect_seconds(p) +
           8 * matmul_log2(p->ranks) * p->latency; /* two communicators */
}

typedef struct {
    int rows, columns, row, column;
    MPI_Comm along_row, along_column;
    double *a, *b, *c;
} grid_t;

/* From rank 0 to the first rank of each row and column. */
static void send_step(const matmul_t *p, const grid_t *g, const matmul_rect_t *rects, int at,
                      int depth, MPI_Request *requests)
{
    int count = 0;

    for (int i = 1; i < g->rows; i++)
        matmul_send(p, p->a + (size_t)rects[i * g->columns].row * (size_t)p->size.k + at,
                    rects[i * g->columns].rows, depth, p->size.k, i * g->columns,
                    &requests[count++]);
    for (int j = 1; j < g->columns; j++)
        matmul_send(p, p->b + (size_t)at * (size_t)p->size.n + rects[j].column, depth,
                    rects[j].columns, p->size.n, j, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void step(const matmul_t *p, const grid_t *g, const matmul_rect_t *rects, int at, int depth,
                 MPI_Request *requests)
{
    const matmul_rect_t *r = &rects[p->rank];

    if (p->rank == 0) {
        matmul_copy(p->a + at, p->size.k, g->a, depth, r->rows, depth);
        matmul_copy(p->b + (size_t)at * (size_t)p->size.n, p->size.n, g->b, r->columns, depth,
                    r->columns);
        send_step(p, g, rects, at, depth, requests);
    } else if (g->column == 0) {
        matmul_receive(p, g->a, r->rows, depth, depth, 0);
    } else if (g->row == 0) {
        matmul_receive(p, g->b, depth, r->columns, r->columns, 0);
    }
    MPI_Bcast(g->a, r->rows * depth, MPI_DOUBLE, 0, g->along_row);
    MPI_Bcast(g->b, r->columns * depth, MPI_DOUBLE, 0, g->along_column);
    matmul_multiply(p, r->rows, r->columns, depth, g->a, depth, g->b, r->columns, g->c, r->columns);
}

static void run_steps(const matmul_t *p, grid_t *g, const matmul_rect_t *rects,
                      MPI_Request *requests)
{
    g->row = p->rank / g->columns;
    g->column = p->rank % g->columns;
    MPI_Comm_split(p->comm, g->row, g->column, &g->along_row);
    MPI_Comm_split(p->comm, g->column, g->row, &g->along_column);
    for (int at = 0; at < p->size.k; at += p->block)
        step(p, g, rects, at, p->size.k - at < p->block ? p->size.k - at : p->block, requests);
    MPI_Comm_free(&g->along_row);
    MPI_Comm_free(&g->along_column);
    matmul_collect(p, rects, g->c);
}

static int run(const matmul_t *p)
{
    matmul_rect_t *rects = calloc((size_t)p->ranks, sizeof(*rects)), own = {0};
    MPI_Request *requests = calloc(2 * (size_t)p->ranks, sizeof(*requests));
    grid_t g = {.rows = 1, .columns = 1};
    bool is_good =
        rects != NULL && requests != NULL && matmul_plan_grid(p, &g.rows, &g.columns, rects);

    if (is_good)
        own = rects[p->rank];
    g.a = matmul_make(own.rows, p->block);
    g.b = matmul_make(p->block, own.columns);
    g.c = matmul_make(own.rows, own.columns);
    is_good = matmul_all(p, is_good && g.a != NULL && g.b != NULL && g.c != NULL);
    if (is_good)
        run_steps(p, &g, rects, requests);
    free(g.a);
    free(g.b);
    free(g.c);
    free(requests);
    free(rects);
    return is_good ? 0 : 1;
}

const matmul_algorithm_t matmul_cartesian = {
    .name = "cartesian", .least = 1, .seconds = seconds, .run = run};
