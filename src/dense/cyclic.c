/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the blocks of a matrix lie on a grid of ranks, and how they get there and back. */
#include <stdlib.h>
#include <string.h>

#include "dense/factor.h"

int factor_before(const factor_t *f, int count, int part, int parts)
{
    int blocks = count / f->block, rest = count % f->block, last = blocks % parts;

    return blocks / parts * f->block + (last > part ? f->block : last == part ? rest : 0);
}

static int begin_of(const factor_t *f, int k)
{
    return k < f->blocks ? k * f->block : f->n;
}

int factor_row_of(const factor_t *f, int k)
{
    return factor_before(f, begin_of(f, k), f->row, f->rows);
}

int factor_column_of(const factor_t *f, int k)
{
    return factor_before(f, begin_of(f, k), f->column, f->columns);
}

int factor_width(const factor_t *f, int k)
{
    return begin_of(f, k + 1) - begin_of(f, k);
}

/* The element of the whole that is number `i` of a part. */
static int whole_of(const factor_t *f, int i, int part, int parts)
{
    return (i / f->block * parts + part) * f->block + i % f->block;
}

static int high_of(const factor_t *f, int rank)
{
    return factor_before(f, f->n, rank / f->columns, f->rows);
}

static int wide_of(const factor_t *f, int rank)
{
    return factor_before(f, f->n, rank % f->columns, f->columns);
}

/* Copies the part of a rank out of the whole matrix, or back into it; of one that is lower only
 * what is not above the diagonal goes back. */
static void move_part(const factor_t *f, int rank, double *part, bool is_back)
{
    int high = high_of(f, rank), wide = wide_of(f, rank);
    int row = rank / f->columns, column = rank % f->columns;

    dense_moved(f->p, (double)high * wide / (is_back && f->kind->is_lower ? 2 : 1));
    for (int i = 0; i < high && f->p->record == NULL; i++)
        for (int j = 0; j < wide; j += f->block) {
            int y = whole_of(f, i, row, f->rows), x = whole_of(f, j, column, f->columns);
            int count = wide - j < f->block ? wide - j : f->block;
            double *at = f->p->c + (size_t)y * (size_t)f->n + x;
            double *own = part + (size_t)i * (size_t)wide + j;

            if (is_back && f->kind->is_lower && x + count > y + 1)
                count = y + 1 > x ? y + 1 - x : 0;
            memcpy(is_back ? at : own, is_back ? own : at, (size_t)count * sizeof(*at));
        }
}

void factor_distribute(factor_t *f)
{
    const dense_t *p = f->p;
    MPI_Request request;

    if (p->rank > 0) {
        dense_receive(p, f->a, f->high, f->wide, f->wide, 0);
        return;
    }
    /* The own part is the largest: others fit in its place before it. */
    for (int i = f->rows * f->columns - 1; i > 0; i--) {
        move_part(f, i, f->a, false);
        dense_send(p, f->a, high_of(f, i), wide_of(f, i), wide_of(f, i), i, &request);
        dense_wait(p, 1, &request);
    }
    move_part(f, 0, f->a, false);
}

void factor_collect(factor_t *f)
{
    const dense_t *p = f->p;
    MPI_Request request;

    if (p->rank > 0) {
        dense_send(p, f->a, f->high, f->wide, f->wide, 0, &request);
        dense_wait(p, 1, &request);
        return;
    }
    move_part(f, 0, f->a, true);
    for (int i = 1; i < f->rows * f->columns; i++) {
        dense_receive(p, f->a, high_of(f, i), wide_of(f, i), wide_of(f, i), i);
        move_part(f, i, f->a, true);
    }
}
