/* SPDX-License-Identifier: BSD-3-Clause */
/* ScaLAPACK: solve a system on a grid of ranks, with BLACS below it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void Cblacs_pinfo(int *rank, int *size);
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);
void Cblacs_exit(int go_on);
int numroc_(const int *n, const int *block, const int *at, const int *first, const int *of);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *row,
               const int *column, const int *context, const int *lead, int *info);
void pdgesv_(const int *n, const int *nrhs, double *a, const int *ia, const int *ja,
             const int *desca, int *pivots, double *b, const int *ib, const int *jb,
             const int *descb, int *info);
void Cdgsum2d(int context, const char *scope, const char *topology, int m, int n, double *a,
              int lead, int row, int column);

static double element(int i, int j)
{
    return i == j ? 100 : 1.0 / (1 + (i * 7 + j * 3) % 11);
}

int main(void)
{
    enum { N = 120, BLOCK = 8 };
    const int n = N, block = BLOCK, zero = 0, one = 1;
    int rank, size, context, rows = 1, columns, row, column, info, desca[9], descb[9];
    double sums[2] = {0, 0};

    Cblacs_pinfo(&rank, &size);
    while ((rows + 1) * (rows + 1) <= size)
        rows++;
    columns = size / rows;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, columns);
    Cblacs_gridinfo(context, &rows, &columns, &row, &column);
    int high = numroc_(&n, &block, &row, &zero, &rows);
    int wide = numroc_(&n, &block, &column, &zero, &columns);
    int lead = high > 1 ? high : 1;
    double *a = calloc((size_t)lead * (size_t)(wide + 1), sizeof *a);
    double *b = calloc((size_t)lead, sizeof *b);
    int *pivots = calloc((size_t)(high + BLOCK), sizeof *pivots);

    for (int j = 0; j < wide; j++)
        for (int i = 0; i < high; i++)
            a[j * lead + i] = element((i / BLOCK * rows + row) * BLOCK + i % BLOCK,
                                      (j / BLOCK * columns + column) * BLOCK + j % BLOCK);
    /* The right side is the sum of each row: the solution is 1. */
    for (int i = 0; i < high; i++)
        for (int j = 0; j < N; j++)
            b[i] += element((i / BLOCK * rows + row) * BLOCK + i % BLOCK, j);
    descinit_(desca, &n, &n, &block, &block, &zero, &zero, &context, &lead, &info);
    descinit_(descb, &n, &one, &block, &block, &zero, &zero, &context, &lead, &info);
    pdgesv_(&n, &one, a, &one, &one, desca, pivots, b, &one, &one, descb, &info);
    for (int i = 0; i < high && column == 0; i++) {
        sums[0] += b[i];
        sums[1] += fabs(b[i] - 1);
    }
    Cdgsum2d(context, "All", " ", 2, 1, sums, 2, -1, -1);
    if (rank == 0)
        printf("info %d sum %.9f error %s\n", info, sums[0], sums[1] < 1e-9 ? "small" : "LARGE");
    Cblacs_gridexit(context);
    Cblacs_exit(0);
    return sums[1] < 1e-9 ? 0 : 1;
}
