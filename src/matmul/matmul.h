/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrix products on MPI, between their files. One file per algorithm, each ending in a table; what
 * include/xylem_matmul.h declares is all that programs see. Nothing here uses another component but
 * through headers for programs, so that the library works with programs as any code of theirs.
 */
#ifndef XY_MATMUL_MATMUL_H
#define XY_MATMUL_MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <xylem_matmul.h>

typedef struct {
    int m, n, k;
} matmul_size_t;

/* The part of C that a rank computes. */
typedef struct {
    int row, rows, column, columns;
} matmul_rect_t;

/* One product. */
typedef struct {
    matmul_size_t size;
    const double *a, *b; /* on rank 0 */
    double *c;
    MPI_Comm comm;
    int rank, ranks, block;
    double *speeds;                /* [ranks] flop/s */
    double latency, per_byte, sum; /* seconds; sum: of two elements */
    xylem_matmul_kernel kernel;
    void *arg;
} matmul_t;

typedef struct {
    const char *name;
    int least; /* ranks that it needs */
    /* Predicted seconds; only sizes, ranks, block, speeds, latency and per_byte are set. */
    double (*seconds)(const matmul_t *p);
    int (*run)(const matmul_t *p); /* 0, or memory ran out */
} matmul_algorithm_t;

extern const matmul_algorithm_t matmul_columns, matmul_cartesian, matmul_fox, matmul_summa,
    matmul_strassen_cannon;

/* ---- Partitions (plan.c) ---- */

/* Where the i-th of `parts` equal parts of n begins; i may be `parts`. */
static inline int matmul_cut(int n, int parts, int i)
{
    return (int)((long long)n * i / parts);
}

/* Lastovetsky's column-based partition: areas in proportion to speeds, in columns, with the least
 * sum of half perimeters. False: memory ran out. */
bool matmul_plan_columns(const matmul_t *p, matmul_rect_t *rects);
/* A grid of rows times columns = ranks, rank = row * columns + column: heights and widths by the
 * speeds in them; the grid of the least time for the slowest. */
bool matmul_plan_grid(const matmul_t *p, int *rows_p, int *columns_p, matmul_rect_t *rects);
/* The most nearly square grid of all ranks. */
void matmul_square_grid(int ranks, int *rows_p, int *columns_p);

/* ---- Blocks of matrices stored by rows (move.c) ---- */

double *matmul_make(int rows, int columns); /* zeroed; NULL: no memory */
void matmul_copy(const double *from, int from_ld, double *to, int to_ld, int rows, int columns);
/* A block out of a matrix whose rows are `ld` apart, as one message; into one likewise. */
void matmul_send(const matmul_t *p, const double *from, int rows, int columns, int ld, int to,
                 MPI_Request *request);
void matmul_receive(const matmul_t *p, double *to, int rows, int columns, int ld, int from);
void matmul_multiply(const matmul_t *p, int m, int n, int k, const double *a, int lda,
                     const double *b, int ldb, double *c, int ldc);
/* Every rank's part of C, stored alone, to rank 0. */
void matmul_collect(const matmul_t *p, const matmul_rect_t *rects, const double *own);
/* Whether all ranks have what they need. */
bool matmul_all(const matmul_t *p, bool is_good);

/* ---- Costs (plan.c) ---- */

double matmul_message(const matmul_t *p, double elements);
/* The bytes of a broadcast, by a tree or by pieces; latencies are counted apart. */
double matmul_bcast(const matmul_t *p, int ranks, double elements);
/* C to rank 0, and what all algorithms do: a communicator, an agreement. */
double matmul_collect_seconds(const matmul_t *p);
int matmul_log2(int n); /* rounded up; of 1: 0 */

#endif
