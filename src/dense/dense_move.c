/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of matrices that are stored by rows, and all that algorithms do with them. With a record
 * nothing is computed or sent: what the rank would do is written down.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense/dense.h"

enum { TAG = 1, TAG_EXCHANGE = 2 };

static double none[1]; /* stands for blocks that nothing is stored in */

static unsigned long bytes_of(int rows, int columns)
{
    return (unsigned long)rows * (unsigned long)columns * sizeof(double);
}

double *dense_make(const dense_t *p, int rows, int columns)
{
    if (p->record != NULL)
        return none;
    return calloc((size_t)rows * (size_t)columns + 1, sizeof(double));
}

void dense_free(const dense_t *p, double *block)
{
    if (p->record == NULL)
        free(block);
}

void dense_copy(const dense_t *p, const double *from, int from_ld, double *to, int to_ld, int rows,
                int columns)
{
    for (int i = 0; i < rows && p->record == NULL; i++)
        memcpy(to + (size_t)i * (size_t)to_ld, from + (size_t)i * (size_t)from_ld,
               (size_t)columns * sizeof(double));
}

/* Elements of a block that lies in one piece, which needs no type of its own; 0: it does not. */
static int dense(int rows, int columns, int ld)
{
    return rows == 1 || columns == ld ? rows * columns : 0;
}

static MPI_Datatype make_type(int rows, int columns, int ld)
{
    MPI_Datatype type;

    MPI_Type_vector(rows, columns, ld, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

void dense_send(const dense_t *p, const double *from, int rows, int columns, int ld, int to,
                MPI_Request *request)
{
    MPI_Datatype type;

    *request = MPI_REQUEST_NULL;
    if (rows == 0 || columns == 0)
        return;
    if (p->record != NULL) {
        dense_record_add(
            p, &(dense_op_t){.kind = DENSE_SEND, .peer = to, .bytes = bytes_of(rows, columns)});
        return;
    }
    if (dense(rows, columns, ld) > 0) {
        MPI_Isend(from, dense(rows, columns, ld), MPI_DOUBLE, to, TAG, p->comm, request);
        return;
    }
    type = make_type(rows, columns, ld);
    MPI_Isend(from, 1, type, to, TAG, p->comm, request);
    MPI_Type_free(&type);
}

void dense_receive(const dense_t *p, double *to, int rows, int columns, int ld, int from)
{
    MPI_Datatype type;

    if (rows == 0 || columns == 0)
        return;
    if (p->record != NULL) {
        dense_record_add(
            p,
            &(dense_op_t){.kind = DENSE_RECEIVE, .peer = from, .bytes = bytes_of(rows, columns)});
        return;
    }
    if (dense(rows, columns, ld) > 0) {
        MPI_Recv(to, dense(rows, columns, ld), MPI_DOUBLE, from, TAG, p->comm, MPI_STATUS_IGNORE);
        return;
    }
    type = make_type(rows, columns, ld);
    MPI_Recv(to, 1, type, from, TAG, p->comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

void dense_wait(const dense_t *p, int count, MPI_Request *requests)
{
    if (p->record != NULL)
        dense_record_add(p, &(dense_op_t){.kind = DENSE_WAIT});
    else
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void write_exchange(const dense_t *p, int elements, int to, int more, int source)
{
    dense_record_add(p, &(dense_op_t){.kind = DENSE_EXCHANGE,
                                      .peer = to,
                                      .bytes = bytes_of(elements, 1),
                                      .source = source,
                                      .more = bytes_of(more, 1)});
}

void dense_exchange(const dense_t *p, const double *from, int elements, int to, double *into,
                    int more, int source)
{
    if (p->record != NULL)
        write_exchange(p, elements, to, more, source);
    else
        MPI_Sendrecv(from, elements, MPI_DOUBLE, to, TAG_EXCHANGE, into, more, MPI_DOUBLE, source,
                     TAG_EXCHANGE, p->comm, MPI_STATUS_IGNORE);
}

void dense_replace(const dense_t *p, double *block, int elements, int to, int source)
{
    if (p->record != NULL)
        write_exchange(p, elements, to, elements, source);
    else
        MPI_Sendrecv_replace(block, elements, MPI_DOUBLE, to, TAG_EXCHANGE, source, TAG_EXCHANGE,
                             p->comm, MPI_STATUS_IGNORE);
}

/* ---- Groups ---- */

/* All members of a group find the one that the first of them has made. */
static int write_group(const dense_t *p, const dense_group_t *g)
{
    dense_record_t *r = p->record;
    int i = 0;

    while (i < r->group_count &&
           (r->groups[i].first != g->first || r->groups[i].stride != g->stride ||
            r->groups[i].count != g->count))
        i++;
    if (i == r->group_count)
        r->groups[r->group_count++] = *g;
    return i;
}

dense_group_t dense_group(const dense_t *p, int first, int stride, int count)
{
    dense_group_t g = {.first = first, .stride = stride, .count = count};

    if (p->record != NULL) {
        p->record->agreements += p->rank == 0;
        g.number = write_group(p, &g);
    } else {
        MPI_Comm_split(p->comm, first, p->rank, &g.comm);
    }
    return g;
}

dense_group_t dense_everyone(const dense_t *p)
{
    dense_group_t g = {.first = 0, .stride = 1, .count = p->ranks, .comm = p->comm};

    if (p->record != NULL)
        g.number = write_group(p, &g);
    return g;
}

void dense_group_free(const dense_t *p, dense_group_t *group)
{
    if (p->record == NULL)
        MPI_Comm_free(&group->comm);
}

void dense_bcast(const dense_t *p, const dense_group_t *group, double *block, int elements,
                 int root)
{
    if (p->record == NULL) {
        MPI_Bcast(block, elements, MPI_DOUBLE, root, group->comm);
        return;
    }
    dense_record_add(p, &(dense_op_t){.kind = DENSE_BCAST,
                                      .group = group->number,
                                      .peer = root,
                                      .bytes = bytes_of(elements, 1)});
}

/* ---- Computing ---- */

/* With a model thin blocks take longer than their number of operations tells. */
static double multiply_seconds(const dense_t *p, int m, int n, int k)
{
    const double sizes[] = {m, n, k};
    double model = p->seconds != NULL    ? p->seconds(m, n, k, p->rank, p->arg)
                   : p->platform != NULL ? xylem_platform_kernel(p->platform, "dgemm", sizes, 3)
                                         : 0;

    return model > 0 ? model : 2.0 * m * n * k / p->speeds[p->rank];
}

/* Loops do not get faster with the kernel. */
static double loop_speed(const dense_t *p)
{
    return fmin(p->speeds[p->rank], p->kernel != NULL ? DENSE_LOOPS : INFINITY);
}

void dense_worked(const dense_t *p, double operations)
{
    if (p->record != NULL)
        dense_record_add(
            p, &(dense_op_t){.kind = DENSE_COMPUTE, .seconds = operations / loop_speed(p)});
    else if (p->worked != NULL)
        p->worked(operations, p->arg);
}

void dense_moved(const dense_t *p, double elements)
{
    dense_worked(p, elements * fmax(1, p->move * loop_speed(p)));
}

bool dense_adds(const dense_t *p, double pairs)
{
    if (p->record == NULL)
        return true;
    dense_record_add(p, &(dense_op_t){.kind = DENSE_COMPUTE, .seconds = pairs * p->sum});
    return false;
}

/* The kernel of programs that bring none: rows of B are read in their order. */
static void multiply_plain(int m, int n, int k, const double *a, int lda, const double *b, int ldb,
                           double *c, int ldc)
{
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++) {
            const double x = a[(size_t)i * (size_t)lda + (size_t)l];
            const double *row = b + (size_t)l * (size_t)ldb;
            double *out = c + (size_t)i * (size_t)ldc;

            for (int j = 0; j < n; j++)
                out[j] += x * row[j];
        }
}

void dense_multiply(const dense_t *p, int m, int n, int k, const double *a, int lda,
                    const double *b, int ldb, double *c, int ldc)
{
    if (m == 0 || n == 0 || k == 0)
        return;
    if (p->record != NULL)
        dense_record_add(
            p, &(dense_op_t){.kind = DENSE_COMPUTE, .seconds = multiply_seconds(p, m, n, k)});
    else if (p->kernel != NULL)
        p->kernel(m, n, k, a, lda, b, ldb, c, ldc, p->arg);
    else
        multiply_plain(m, n, k, a, lda, b, ldb, c, ldc);
}

void dense_collect(const dense_t *p, const dense_rect_t *rects, const double *own)
{
    const dense_rect_t *r = &rects[p->rank];
    MPI_Request request;

    if (p->rank > 0) {
        dense_send(p, own, r->rows, r->columns, r->columns, 0, &request);
        dense_wait(p, 1, &request);
        return;
    }
    for (int i = 0; i < p->ranks; i++) {
        double *to = p->c + (size_t)rects[i].row * (size_t)p->size.n + rects[i].column;

        if (i == 0)
            dense_copy(p, own, r->columns, to, p->size.n, r->rows, r->columns);
        else
            dense_receive(p, to, rects[i].rows, rects[i].columns, p->size.n, i);
    }
}

bool dense_goes_on(const dense_t *p, int step, double done, double whole)
{
    if (p->record == NULL)
        return true;
    p->record->done = fmin(done, whole);
    p->record->whole = whole;
    return p->record->steps == 0 || step < p->record->steps;
}

bool dense_all(const dense_t *p, bool is_good)
{
    int good = is_good;

    if (p->record != NULL) {
        p->record->agreements += p->rank == 0;
        return is_good;
    }
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, p->comm);
    return good != 0;
}
