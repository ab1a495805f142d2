/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Factorisations of a square matrix, between their files. Private to the component.
 *
 * The matrix is cut in blocks, which lie on a grid of ranks as on a chess board (block-cyclic):
 * block (i, j) belongs to the rank in row i mod rows and column j mod columns of the grid. Step k:
 *
 *   +---+-----------+    the grid column of block column k factors it (the panel) and passes it
 *   | P | U  U  U   |    along the rows of the grid; each rank gets the block row U of its
 *   | P | .  .  .   |    columns; then all subtract P * U from what is below and to the right.
 *   | P | .  .  .   |
 *   +---+-----------+
 *
 * A grid of one row is the distribution in one dimension. `ahead`: the grid column of panel k + 1
 * multiplies for it first, factors it and sends it, and then multiplies for the rest; panels travel
 * from neighbour to neighbour.
 */
#ifndef XY_DENSE_FACTOR_H
#define XY_DENSE_FACTOR_H

#include "dense/dense.h"

/* Panels are factored so many columns at a time; the kernel does what is to the right of them. */
enum { FACTOR_NARROW = 8 };

typedef struct factor factor_t;

/* The steps of a factorisation. */
typedef struct {
    bool is_lower; /* nothing above the diagonal is read or changed */
    /* In the grid column of the panel: factor it in place, and write it with factor_pack(). */
    void (*panel)(factor_t *f, int k);
    /* Fill f->u with the block row for the local columns right of the panel, which are from `from`
     * on. */
    void (*rows)(factor_t *f, int k, int from);
} factor_kind_t;

typedef struct {
    bool is_grid, is_ahead;
} factor_variant_t;

struct factor {
    const dense_t *p;
    const factor_kind_t *kind;
    int n, block, blocks;
    int rows, columns, row, column; /* of the grid, and the place in it */
    int high, wide;                 /* of the own part */
    double *a;                      /* [high][wide] */
    double *panel[2]; /* of steps k and k + 1: own rows from block k on, negated; then the pivots as
                         numbers of rows and the info */
    double *u;        /* the block row: [width of the panel][wide - from] */
    double *space;    /* [3 block wide] */
    double *thin;     /* [high][FACTOR_NARROW] */
    double *small;    /* [block][block + 32], at least */
    int *moved;       /* [5 block] of lu.c */
    dense_group_t along_row, along_column;
    MPI_Request sent[2]; /* panels under way */
    int sending;
    int info;
};

/* ---- Layout (cyclic.c) ---- */

/* How many of the first `count` rows, or columns, are on part `part` of `parts`. */
int factor_before(const factor_t *f, int count, int part, int parts);
/* Where block k, or what comes behind it, begins in the own part. */
int factor_row_of(const factor_t *f, int k);
int factor_column_of(const factor_t *f, int k);
int factor_width(const factor_t *f, int k); /* of block k */

/* The matrix on rank 0 to all ranks, and back. */
void factor_distribute(factor_t *f);
void factor_collect(factor_t *f);

/* ---- Steps (factor.c) ---- */

/* Copy a block, which takes time in predictions. */
void factor_copy(const factor_t *f, const double *from, int from_ld, double *to, int to_ld,
                 int rows, int columns);

/* Write the own part of panel k, which is factored, for messages and products. */
void factor_pack(factor_t *f, int k, const double *pivots, int info);
const double *factor_pivots(const factor_t *f, int k); /* in the panel that arrived */

/* 0, or memory ran out on some rank. */
int factor_run(const dense_t *p, const factor_kind_t *kind, factor_variant_t variant);

extern const factor_kind_t factor_lu, factor_cholesky;
extern const dense_algorithm_t *const factor_lu_algorithms[4], *const factor_cholesky_algorithms[4];

#endif
