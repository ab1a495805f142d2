/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strassen-cannon: one level of Strassen, its seven half-size products on seven groups of ranks; in
 * a group of q x q ranks Cannon's algorithm. Needs 7 ranks; 7 q^2 of them compute.
 *
 *   M1 = (A11+A22)(B11+B22)   M2 = (A21+A22) B11   M3 = A11 (B12-B22)   M4 = A22 (B21-B11)
 *   M5 = (A11+A12) B22        M6 = (A21-A11)(B11+B12)                   M7 = (A12-A22)(B21+B22)
 *   C11 = M1+M4-M5+M7   C12 = M3+M5   C21 = M2+M4   C22 = M1-M2+M3+M6
 *
 * Halves are rounded up to multiples of q and filled with zeros. Rank 0 adds, sends and collects.
 *
 * Cost = 7/8 of the products shared by 7 q^2 ranks + sums and 14 halves sent + 7 halves back
 */
#include <stdlib.h>
#include <string.h>

#include "dense/dense.h"

enum { PRODUCTS = 7 };

/* Sums of quarters (11, 12, 21, 22) that are multiplied, and what each product adds to C. */
static const signed char of_a[PRODUCTS][4] = {{1, 0, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 0},
                                              {0, 0, 0, 1}, {1, 1, 0, 0}, {-1, 0, 1, 0},
                                              {0, 1, 0, -1}};
static const signed char of_b[PRODUCTS][4] = {{1, 0, 0, 1},  {1, 0, 0, 0}, {0, 1, 0, -1},
                                              {-1, 0, 1, 0}, {0, 0, 0, 1}, {1, 1, 0, 0},
                                              {0, 0, 1, 1}};
static const signed char of_c[PRODUCTS][4] = {{1, 0, 0, 1}, {0, 0, 1, -1}, {0, 1, 0, 1},
                                              {1, 0, 1, 0}, {-1, 1, 0, 0}, {0, 0, 0, 1},
                                              {1, 0, 0, 0}};

typedef struct {
    int q;       /* of the grids */
    int m, n, k; /* of a block: a q-th of a half */
} shape_t;

static int half(int n, int q)
{
    return ((n + 1) / 2 + q - 1) / q;
}

static shape_t find_shape(const dense_t *p)
{
    int q = 1;

    while (PRODUCTS * (q + 1) * (q + 1) <= p->ranks)
        q++;
    return (shape_t){q, half(p->size.m, q), half(p->size.n, q), half(p->size.k, q)};
}

/* ---- Sums of quarters ---- */

/* to += sign * a quarter of a matrix of rows x columns; what is beyond its edges is 0. */
static void add_quarter(const double *from, int rows, int columns, int quarter, int sign,
                        double *to, int high, int wide)
{
    int row = quarter / 2 * high, column = quarter % 2 * wide;
    int end = row + high < rows ? high : rows - row;
    int wide_end = column + wide < columns ? wide : columns - column;

    for (int i = 0; i < end; i++)
        for (int j = 0; j < wide_end; j++)
            to[(size_t)i * (size_t)wide + (size_t)j] +=
                sign * from[(size_t)(row + i) * (size_t)columns + (size_t)(column + j)];
}

static double count_terms(const signed char signs[4])
{
    double terms = 0;

    for (int quarter = 0; quarter < 4; quarter++)
        terms += signs[quarter] != 0;
    return terms;
}

static void add_up(const dense_t *p, const double *from, int rows, int columns,
                   const signed char signs[4], double *to, int high, int wide)
{
    if (!dense_adds(p, count_terms(signs) * high * wide))
        return;
    memset(to, 0, (size_t)high * (size_t)wide * sizeof(*to));
    for (int quarter = 0; quarter < 4; quarter++)
        if (signs[quarter] != 0)
            add_quarter(from, rows, columns, quarter, signs[quarter], to, high, wide);
}

/* The other way: to the quarters of C, as far as they are inside. */
static void add_product(const dense_t *p, const double *product, int high, int wide,
                        const signed char signs[4])
{
    if (!dense_adds(p, count_terms(signs) * high * wide))
        return;
    for (int quarter = 0; quarter < 4; quarter++) {
        int row = quarter / 2 * high, column = quarter % 2 * wide;

        for (int i = 0; signs[quarter] != 0 && i < high && row + i < p->size.m; i++)
            for (int j = 0; j < wide && column + j < p->size.n; j++)
                p->c[(size_t)(row + i) * (size_t)p->size.n + (size_t)(column + j)] +=
                    signs[quarter] * product[(size_t)i * (size_t)wide + (size_t)j];
    }
}

/* ---- Moving ---- */

typedef struct {
    double *a, *b, *c;             /* blocks of this rank */
    double *all_a, *all_b, *all_c; /* on rank 0: halves */
} blocks_t;

/* Block (i, j) of the grid begins with A(i, i + j) and B(i + j, j): Cannon's first step. */
static void send_product(const dense_t *p, const shape_t *s, const blocks_t *x, int g)
{
    MPI_Request requests[2];

    add_up(p, p->a, p->size.m, p->size.k, of_a[g], x->all_a, s->q * s->m, s->q * s->k);
    add_up(p, p->b, p->size.k, p->size.n, of_b[g], x->all_b, s->q * s->k, s->q * s->n);
    for (int t = 0; t < s->q * s->q; t++) {
        int i = t / s->q, j = t % s->q, skew = (i + j) % s->q, to = g * s->q * s->q + t;
        const double *a = x->all_a + (size_t)(i * s->m) * (size_t)(s->q * s->k) + skew * s->k;
        const double *b = x->all_b + (size_t)(skew * s->k) * (size_t)(s->q * s->n) + j * s->n;

        if (to == 0) {
            dense_copy(p, a, s->q * s->k, x->a, s->k, s->m, s->k);
            dense_copy(p, b, s->q * s->n, x->b, s->n, s->k, s->n);
            continue;
        }
        dense_send(p, a, s->m, s->k, s->q * s->k, to, &requests[0]);
        dense_send(p, b, s->k, s->n, s->q * s->n, to, &requests[1]);
        dense_wait(p, 2, requests);
    }
}

static void collect_product(const dense_t *p, const shape_t *s, const blocks_t *x, int g)
{
    for (int t = 0; t < s->q * s->q; t++) {
        double *to = x->all_c + (size_t)(t / s->q * s->m) * (size_t)(s->q * s->n) + t % s->q * s->n;

        if (g == 0 && t == 0)
            dense_copy(p, x->c, s->n, to, s->q * s->n, s->m, s->n);
        else
            dense_receive(p, to, s->m, s->n, s->q * s->n, g * s->q * s->q + t);
    }
    add_product(p, x->all_c, s->q * s->m, s->q * s->n, of_c[g]);
}

/* ---- Cannon's algorithm in a group ---- */

/* Multiplies the blocks of a group of q x q ranks by Cannon's algorithm. */
static void cannon(const dense_t *p, const shape_t *s, const blocks_t *x)
{
    int group = p->rank / (s->q * s->q) * s->q * s->q, own = p->rank - group;
    int i = own / s->q, j = own % s->q;
    int left = group + i * s->q + (j + s->q - 1) % s->q, right = group + i * s->q + (j + 1) % s->q;
    int up = group + (i + s->q - 1) % s->q * s->q + j, down = group + (i + 1) % s->q * s->q + j;

    for (int step = 0; step < s->q; step++) {
        dense_multiply(p, s->m, s->n, s->k, x->a, s->k, x->b, s->n, x->c, s->n);
        if (step + 1 == s->q)
            break;
        dense_replace(p, x->a, s->m * s->k, left, right);
        dense_replace(p, x->b, s->k * s->n, up, down);
    }
}

/* Computes the seven products of Strassen's algorithm, one per group, and adds them up on rank
 * 0. */
static void run_groups(const dense_t *p, const shape_t *s, const blocks_t *x)
{
    MPI_Request request;

    if (p->rank == 0) {
        /* The longest computation begins first: rank 0 sends its own group's blocks last. */
        for (int g = PRODUCTS; g-- > 0;)
            send_product(p, s, x, g);
    } else {
        dense_receive(p, x->a, s->m, s->k, s->k, 0);
        dense_receive(p, x->b, s->k, s->n, s->n, 0);
    }
    cannon(p, s, x);
    if (p->rank > 0) {
        dense_send(p, x->c, s->m, s->n, s->n, 0, &request);
        dense_wait(p, 1, &request);
        return;
    }
    if (p->record == NULL)
        memset(p->c, 0, (size_t)p->size.m * (size_t)p->size.n * sizeof(double));
    for (int g = 0; g < PRODUCTS; g++)
        collect_product(p, s, x, g);
}

/* Multiplies with seven groups of ranks; returns 0, or 1 on all ranks if memory is missing. */
static int run(const dense_t *p)
{
    shape_t s = find_shape(p);
    int halves = p->rank == 0 ? s.q : 0;
    blocks_t x = {.a = dense_make(p, s.m, s.k),
                  .b = dense_make(p, s.k, s.n),
                  .c = dense_make(p, s.m, s.n),
                  .all_a = dense_make(p, halves * s.m, halves * s.k),
                  .all_b = dense_make(p, halves * s.k, halves * s.n),
                  .all_c = dense_make(p, halves * s.m, halves * s.n)};
    bool is_good = dense_all(p, x.a != NULL && x.b != NULL && x.c != NULL && x.all_a != NULL &&
                                    x.all_b != NULL && x.all_c != NULL);

    if (is_good && p->rank < PRODUCTS * s.q * s.q)
        run_groups(p, &s, &x);
    dense_free(p, x.a);
    dense_free(p, x.b);
    dense_free(p, x.c);
    dense_free(p, x.all_a);
    dense_free(p, x.all_b);
    dense_free(p, x.all_c);
    return is_good ? 0 : 1;
}

const dense_algorithm_t dense_strassen_cannon = {
    .name = "strassen-cannon", .least = PRODUCTS, .run = run};
