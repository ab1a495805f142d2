/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of matrices that are stored by rows. */
#include <stdlib.h>
#include <string.h>

#include "matmul/matmul.h"

enum { TAG = 1 };

double *matmul_make(int rows, int columns)
{
    return calloc((size_t)rows * (size_t)columns + 1, sizeof(double));
}

void matmul_copy(const double *from, int from_ld, double *to, int to_ld, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        memcpy(to + (size_t)i * (size_t)to_ld, from + (size_t)i * (size_t)from_ld,
               (size_t)columns * sizeof(double));
}

static MPI_Datatype make_type(int rows, int columns, int ld)
{
    MPI_Datatype type;

    MPI_Type_vector(rows, columns, ld, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

void matmul_send(const matmul_t *p, const double *from, int rows, int columns, int ld, int to,
                 MPI_Request *request)
{
    MPI_Datatype type;

    *request = MPI_REQUEST_NULL;
    if (rows == 0 || columns == 0)
        return;
    type = make_type(rows, columns, ld);
    MPI_Isend(from, 1, type, to, TAG, p->comm, request);
    MPI_Type_free(&type);
}

void matmul_receive(const matmul_t *p, double *to, int rows, int columns, int ld, int from)
{
    MPI_Datatype type;

    if (rows == 0 || columns == 0)
        return;
    type = make_type(rows, columns, ld);
    MPI_Recv(to, 1, type, from, TAG, p->comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
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

void matmul_multiply(const matmul_t *p, int m, int n, int k, const double *a, int lda,
                     const double *b, int ldb, double *c, int ldc)
{
    if (m == 0 || n == 0 || k == 0)
        return;
    if (p->kernel != NULL)
        p->kernel(m, n, k, a, lda, b, ldb, c, ldc, p->arg);
    else
        multiply_plain(m, n, k, a, lda, b, ldb, c, ldc);
}

void matmul_collect(const matmul_t *p, const matmul_rect_t *rects, const double *own)
{
    const matmul_rect_t *r = &rects[p->rank];
    MPI_Request request;

    if (p->rank > 0) {
        matmul_send(p, own, r->rows, r->columns, r->columns, 0, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    for (int i = 0; i < p->ranks; i++) {
        double *to = p->c + (size_t)rects[i].row * (size_t)p->size.n + rects[i].column;

        if (i == 0)
            matmul_copy(own, r->columns, to, p->size.n, r->rows, r->columns);
        else
            matmul_receive(p, to, rects[i].rows, rects[i].columns, p->size.n, i);
    }
}

bool matmul_all(const matmul_t *p, bool is_good)
{
    int good = is_good;

    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, p->comm);
    return good != 0;
}
