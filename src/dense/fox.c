/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fox (broadcast, multiply, roll): each rank has some columns of B and of C, and for a while some
 * rows of A, which go around.
 *
 *   rank i: C(rows of A's part, own columns) = part of A * own columns of B; pass the part to rank
 *   i - 1, take the one of rank i + 1; as often as there are ranks. Equal parts: for equal speeds.
 *
 * Cost = (m + n) k + p (compute / p + m k / p) + C back
 */
#include <math.h>
#include <stdlib.h>

#include "dense/dense.h"

/* A and B leave rank 0, and then the slowest rank has all its parts and messages before it. */
static double bound(const dense_t *p, const dense_place_t *place)
{
    double m = p->size.m, n = p->size.n, k = p->size.k, others = p->ranks - 1;

    return 8 * (m + n) * k * others / p->ranks * place->per_byte +
           2 * m * floor(n / p->ranks) * k / dense_slowest(p) +
           others * (place->latency + 8 * floor(m / p->ranks) * k * place->per_byte);
}

static int rows_of(const dense_t *p, int part)
{
    return dense_cut(p->size.m, p->ranks, part + 1) - dense_cut(p->size.m, p->ranks, part);
}

/* The parts of A and B to their ranks. */
static void distribute(const dense_t *p, const dense_rect_t *own, double *a, double *b,
                       MPI_Request *requests)
{
    if (p->rank > 0) {
        dense_receive(p, a, rows_of(p, p->rank), p->size.k, p->size.k, 0);
        dense_receive(p, b, p->size.k, own->columns, own->columns, 0);
        return;
    }
    requests[0] = requests[1] = MPI_REQUEST_NULL;
    for (int i = 1; i < p->ranks; i++) {
        int row = dense_cut(p->size.m, p->ranks, i), column = dense_cut(p->size.n, p->ranks, i);

        dense_send(p, p->a + (size_t)row * (size_t)p->size.k, rows_of(p, i), p->size.k, p->size.k,
                   i, &requests[2 * i]);
        dense_send(p, p->b + column, p->size.k, dense_cut(p->size.n, p->ranks, i + 1) - column,
                   p->size.n, i, &requests[2 * i + 1]);
    }
    dense_copy(p, p->a, p->size.k, a, p->size.k, rows_of(p, 0), p->size.k);
    dense_copy(p, p->b, p->size.n, b, own->columns, p->size.k, own->columns);
    dense_wait(p, 2 * p->ranks, requests);
}

/* Multiplies while the row blocks of A travel round the ranks. */
static void roll(const dense_t *p, const dense_rect_t *own, double *a, double *next,
                 const double *b, double *c)
{
    int up = (p->rank + p->ranks - 1) % p->ranks, down = (p->rank + 1) % p->ranks;

    for (int step = 0; step < p->ranks; step++) {
        int part = (p->rank + step) % p->ranks, after = (part + 1) % p->ranks;
        double *other = a;

        dense_multiply(p, rows_of(p, part), own->columns, p->size.k, a, p->size.k, b, own->columns,
                       c + (size_t)dense_cut(p->size.m, p->ranks, part) * (size_t)own->columns,
                       own->columns);
        if (step + 1 == p->ranks)
            break;
        dense_exchange(p, a, rows_of(p, part) * p->size.k, up, next, rows_of(p, after) * p->size.k,
                       down);
        a = next;
        next = other;
    }
}

static void fill_rects(const dense_t *p, dense_rect_t *rects)
{
    for (int i = 0; i < p->ranks; i++) {
        int column = dense_cut(p->size.n, p->ranks, i);

        rects[i] =
            (dense_rect_t){0, p->size.m, column, dense_cut(p->size.n, p->ranks, i + 1) - column};
    }
}

/* Multiplies with column blocks of B and C; returns 0, or 1 on all ranks if memory is missing. */
static int run(const dense_t *p)
{
    dense_rect_t *rects = calloc((size_t)p->ranks, sizeof(*rects)), own = {0};
    MPI_Request *requests = calloc(2 * (size_t)p->ranks, sizeof(*requests));
    int most = p->size.m / p->ranks + 1;
    double *a = dense_make(p, most, p->size.k), *next = dense_make(p, most, p->size.k), *b, *c;
    bool is_good = rects != NULL && requests != NULL && a != NULL && next != NULL;

    if (rects != NULL) {
        fill_rects(p, rects);
        own = rects[p->rank];
    }
    b = dense_make(p, p->size.k, own.columns);
    c = dense_make(p, p->size.m, own.columns);
    is_good = dense_all(p, is_good && b != NULL && c != NULL);
    if (is_good) {
        distribute(p, &own, a, b, requests);
        roll(p, &own, a, next, b, c);
        dense_collect(p, rects, c);
    }
    dense_free(p, a);
    dense_free(p, next);
    dense_free(p, b);
    dense_free(p, c);
    free(requests);
    free(rects);
    return is_good ? 0 : 1;
}

const dense_algorithm_t dense_fox = {.name = "fox", .least = 1, .bound = bound, .run = run};
