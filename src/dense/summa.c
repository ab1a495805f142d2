/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * summa: A, B and C are cut in equal blocks on a grid that is as square as the number of ranks
 * allows. Step by step, the owners of the next inner products broadcast their part of A along their
 * row and their part of B along their column.
 *
 * Cost = (m + n) k + k (m / rows lg columns + n / columns lg rows) + compute + C back; every rank
 * holds its blocks alone, and rank 0 sends each element once.
 */
#include <math.h>
#include <stdlib.h>

#include "dense/dense.h"

typedef struct {
    const dense_t *p;
    int rows, columns, row, column;
    int m, n, k_a, k_b; /* of the own blocks: A is m x k_a, B is k_b x n */
    dense_group_t along_row, along_column;
    double *a, *b, *c, *panel_a, *panel_b;
} summa_t;

static int part(int n, int parts, int i)
{
    return dense_cut(n, parts, i + 1) - dense_cut(n, parts, i);
}

/* A and B leave rank 0, and then the slowest rank has all of its block before it. */
static double bound(const dense_t *p, const dense_place_t *place)
{
    double m = p->size.m, n = p->size.n, k = p->size.k;
    int rows, columns;

    dense_square_grid(p->ranks, &rows, &columns);
    return 8 * (m + n) * k * (p->ranks - 1) / p->ranks * place->per_byte +
           2 * floor(m / rows) * floor(n / columns) * k / dense_slowest(p);
}

/* Starts sending the blocks of A and B to rank `i`. */
static void send_blocks(const summa_t *s, int i, MPI_Request *requests)
{
    const dense_size_t *z = &s->p->size;
    int row = i / s->columns, column = i % s->columns;

    dense_send(s->p,
               s->p->a + (size_t)dense_cut(z->m, s->rows, row) * (size_t)z->k +
                   dense_cut(z->k, s->columns, column),
               part(z->m, s->rows, row), part(z->k, s->columns, column), z->k, i, &requests[0]);
    dense_send(s->p,
               s->p->b + (size_t)dense_cut(z->k, s->rows, row) * (size_t)z->n +
                   dense_cut(z->n, s->columns, column),
               part(z->k, s->rows, row), part(z->n, s->columns, column), z->n, i, &requests[1]);
}

/* Distributes the blocks of A and B from rank 0. */
static void distribute(const summa_t *s, MPI_Request *requests)
{
    const dense_t *p = s->p;

    if (p->rank > 0) {
        dense_receive(p, s->a, s->m, s->k_a, s->k_a, 0);
        dense_receive(p, s->b, s->k_b, s->n, s->n, 0);
        return;
    }
    requests[0] = requests[1] = MPI_REQUEST_NULL;
    for (int i = 1; i < p->ranks; i++)
        send_blocks(s, i, &requests[2 * i]);
    dense_copy(p, p->a, p->size.k, s->a, s->k_a, s->m, s->k_a);
    dense_copy(p, p->b, p->size.n, s->b, s->n, s->k_b, s->n);
    dense_wait(p, 2 * p->ranks, requests);
}

/* The part that has inner product `at`, and where it ends. */
static int owner(int k, int parts, int at, int *end_p)
{
    int i = 0;

    while (dense_cut(k, parts, i + 1) <= at)
        i++;
    *end_p = dense_cut(k, parts, i + 1);
    return i;
}

/* Inner products from `at`, as many as one rank of the row and one of the column own. */
static int step(const summa_t *s, int at)
{
    int k = s->p->size.k, end_a, end_b, depth = s->p->block;
    int from_a = owner(k, s->columns, at, &end_a), from_b = owner(k, s->rows, at, &end_b);

    depth = end_a - at < depth ? end_a - at : depth;
    depth = end_b - at < depth ? end_b - at : depth;
    if (s->column == from_a)
        dense_copy(s->p, s->a + at - dense_cut(k, s->columns, from_a), s->k_a, s->panel_a, depth,
                   s->m, depth);
    if (s->row == from_b)
        dense_copy(s->p, s->b + (size_t)(at - dense_cut(k, s->rows, from_b)) * (size_t)s->n, s->n,
                   s->panel_b, s->n, depth, s->n);
    dense_bcast(s->p, &s->along_row, s->panel_a, s->m * depth, from_a);
    dense_bcast(s->p, &s->along_column, s->panel_b, s->n * depth, from_b);
    dense_multiply(s->p, s->m, s->n, depth, s->panel_a, depth, s->panel_b, s->n, s->c, s->n);
    return at + depth;
}

/* Distributes, multiplies panel by panel and collects the result. */
static void run_steps(summa_t *s, dense_rect_t *rects, MPI_Request *requests)
{
    const dense_t *p = s->p;

    for (int i = 0; i < p->ranks; i++) {
        int row = i / s->columns, column = i % s->columns;

        rects[i] = (dense_rect_t){dense_cut(p->size.m, s->rows, row), part(p->size.m, s->rows, row),
                                  dense_cut(p->size.n, s->columns, column),
                                  part(p->size.n, s->columns, column)};
    }
    s->along_row = dense_group(p, s->row * s->columns, 1, s->columns);
    s->along_column = dense_group(p, s->column, s->columns, s->rows);
    distribute(s, requests);
    for (int at = 0, i = 0; dense_goes_on(p, i, at, p->size.k) && at < p->size.k; i++)
        at = step(s, at);
    dense_group_free(p, &s->along_row);
    dense_group_free(p, &s->along_column);
    dense_collect(p, rects, s->c);
}

/* Multiplies on a grid by SUMMA; returns 0, or 1 on all ranks if memory is missing. */
static int run(const dense_t *p)
{
    summa_t s = {.p = p};
    dense_rect_t *rects = calloc((size_t)p->ranks, sizeof(*rects));
    MPI_Request *requests = calloc(2 * (size_t)p->ranks, sizeof(*requests));
    bool is_good;

    dense_square_grid(p->ranks, &s.rows, &s.columns);
    s.row = p->rank / s.columns;
    s.column = p->rank % s.columns;
    s.m = part(p->size.m, s.rows, s.row);
    s.n = part(p->size.n, s.columns, s.column);
    s.k_a = part(p->size.k, s.columns, s.column);
    s.k_b = part(p->size.k, s.rows, s.row);
    s.a = dense_make(p, s.m, s.k_a);
    s.b = dense_make(p, s.k_b, s.n);
    s.c = dense_make(p, s.m, s.n);
    s.panel_a = dense_make(p, s.m, p->block);
    s.panel_b = dense_make(p, p->block, s.n);
    is_good = dense_all(p, rects != NULL && requests != NULL && s.a != NULL && s.b != NULL &&
                               s.c != NULL && s.panel_a != NULL && s.panel_b != NULL);
    if (is_good)
        run_steps(&s, rects, requests);
    dense_free(p, s.a);
    dense_free(p, s.b);
    dense_free(p, s.c);
    dense_free(p, s.panel_a);
    dense_free(p, s.panel_b);
    free(requests);
    free(rects);
    return is_good ? 0 : 1;
}

const dense_algorithm_t dense_summa = {.name = "summa", .least = 1, .bound = bound, .run = run};
