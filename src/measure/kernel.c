/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of kernels. Matrices are in columns; vectors have n elements. The routines are found at
 * run time, in whatever BLAS is installed; their types are those of the reference C interfaces.
 */
#include "measure/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cost/cost.h"

enum { COLUMNS = 102, PLAIN = 111, UPPER = 121, LOWER = 122, NON_UNIT = 131, LEFT = 141 };

typedef void (*gemm_fn)(int, int, int, int, int, int, double, const double *, int, const double *,
                        int, double, double *, int);
typedef void (*syrk_fn)(int, int, int, int, int, double, const double *, int, double, double *,
                        int);
typedef void (*trxm_fn)(int, int, int, int, int, int, int, double, const double *, int, double *,
                        int);
typedef void (*gemv_fn)(int, int, int, int, double, const double *, int, const double *, int,
                        double, double *, int);
typedef void (*axpy_fn)(int, double, const double *, int, double *, int);
typedef double (*dot_fn)(int, const double *, int, const double *, int);
typedef int (*trtri_fn)(int, char, char, int, double *, int);
typedef int (*potrf_fn)(int, char, int, double *, int);
typedef int (*getrf_fn)(int, int, int, double *, int, int *);
typedef int (*geqrf_fn)(int, int, int, double *, int, double *);

/* Aligned to a cache line, in fresh pages that are touched here: page faults are no arithmetic. */
static double *allocate(size_t count)
{
    void *p = NULL;

    if (count > (size_t)1 << 40 || posix_memalign(&p, 64, (count + 8) * sizeof(double)) != 0)
        return NULL;
    return p;
}

void measure_kernel_release(measure_kernel_state_t *s)
{
    free(s->a);
    free(s->b);
    free(s->c);
    free(s->spare);
    free(s->pivots);
    s->a = s->b = s->c = s->spare = NULL;
    s->pivots = NULL;
}

/* Values near 1 / n off the diagonal and near 2 on it: products neither grow nor vanish, and
 * triangular, symmetric and general solvers all find it well conditioned. */
static void fill(double *x, size_t rows, size_t columns)
{
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++)
            x[j * rows + i] =
                (i == j ? 2.0 : 0.0) + (double)((i + 3 * j) % 7) / (14.0 * (double)rows);
}

static bool prepare_two(measure_kernel_state_t *s)
{
    s->a = allocate(s->n * s->n);
    s->b = allocate(s->n * s->n);
    if (s->a == NULL || s->b == NULL)
        return false;
    fill(s->a, s->n, s->n);
    fill(s->b, s->n, s->n);
    return true;
}

/* A of m x k, B of k x n, C of m x n. */
static bool prepare_gemm(measure_kernel_state_t *s)
{
    size_t m = s->size[0], n = s->size[1], k = s->size[2];

    s->a = allocate(m * k);
    s->b = allocate(k * n);
    s->c = allocate(m * n);
    if (s->a == NULL || s->b == NULL || s->c == NULL)
        return false;
    fill(s->a, m, k);
    fill(s->b, k, n);
    memset(s->c, 0, m * n * sizeof(*s->c));
    return true;
}

/* A of n x k, C of n x n. */
static bool prepare_syrk(measure_kernel_state_t *s)
{
    size_t n = s->size[0], k = s->size[1];

    s->a = allocate(n * k);
    s->b = allocate(n * n);
    if (s->a == NULL || s->b == NULL)
        return false;
    fill(s->a, n, k);
    fill(s->b, n, n);
    return true;
}

/* A triangle of m x m, and m x n that is overwritten, with a copy to start from again. */
static bool prepare_triangle(measure_kernel_state_t *s)
{
    size_t m = s->size[0], n = s->size[1];

    s->a = allocate(m * n);
    s->b = allocate(m * m);
    s->spare = allocate(m * n);
    if (s->a == NULL || s->b == NULL || s->spare == NULL)
        return false;
    fill(s->a, m, n);
    fill(s->b, m, m);
    fill(s->spare, m, n);
    return true;
}

static int restore_product(void *arg)
{
    measure_kernel_state_t *s = arg;

    memcpy(s->a, s->spare, s->size[0] * s->size[1] * sizeof(*s->a));
    return 0;
}

static bool prepare_vectors(measure_kernel_state_t *s)
{
    s->b = allocate(s->n);
    s->c = allocate(s->n);
    if (s->b == NULL || s->c == NULL)
        return false;
    fill(s->b, s->n, 1);
    fill(s->c, s->n, 1);
    return true;
}

/* A of m x n, x of n, y of m. */
static bool prepare_matrix_vector(measure_kernel_state_t *s)
{
    size_t m = s->size[0], n = s->size[1];

    s->a = allocate(m * n);
    s->b = allocate(n);
    s->c = allocate(m);
    if (s->a == NULL || s->b == NULL || s->c == NULL)
        return false;
    fill(s->a, m, n);
    fill(s->b, n, 1);
    fill(s->c, m, 1);
    return true;
}

/* For routines that overwrite their matrix: a copy to start from again. */
static bool prepare_factor(measure_kernel_state_t *s)
{
    s->spare = allocate(s->n);
    s->pivots = calloc(s->n + 1, sizeof(*s->pivots));
    return s->spare != NULL && s->pivots != NULL && prepare_two(s);
}

static int restore(void *arg)
{
    measure_kernel_state_t *s = arg;

    memcpy(s->a, s->b, s->n * s->n * sizeof(*s->a));
    return 0;
}

static int run_dgemm(void *arg)
{
    measure_kernel_state_t *s = arg;
    int m = (int)s->size[0], n = (int)s->size[1], k = (int)s->size[2];

    ((gemm_fn)s->routine)(COLUMNS, PLAIN, PLAIN, m, n, k, 1, s->a, m, s->b, k, 0, s->c, m);
    return 0;
}

static int run_dsyrk(void *arg)
{
    measure_kernel_state_t *s = arg;
    int n = (int)s->size[0], k = (int)s->size[1];

    ((syrk_fn)s->routine)(COLUMNS, LOWER, PLAIN, n, k, 1, s->a, n, 0, s->b, n);
    return 0;
}

static int run_dtrxm(void *arg)
{
    measure_kernel_state_t *s = arg;
    int m = (int)s->size[0], n = (int)s->size[1];

    ((trxm_fn)s->routine)(COLUMNS, LEFT, LOWER, PLAIN, NON_UNIT, m, n, 1, s->b, m, s->a, m);
    return 0;
}

static int run_dgemv(void *arg)
{
    measure_kernel_state_t *s = arg;
    int m = (int)s->size[0], n = (int)s->size[1];

    ((gemv_fn)s->routine)(COLUMNS, PLAIN, m, n, 1, s->a, m, s->b, 1, 0, s->c, 1);
    return 0;
}

static int run_daxpy(void *arg)
{
    measure_kernel_state_t *s = arg;

    ((axpy_fn)s->routine)((int)s->n, 1e-9, s->b, 1, s->c, 1);
    return 0;
}

static int run_ddot(void *arg)
{
    measure_kernel_state_t *s = arg;
    volatile double kept = ((dot_fn)s->routine)((int)s->n, s->b, 1, s->c, 1);

    (void)kept;
    return 0;
}

static int run_dtrtri(void *arg)
{
    measure_kernel_state_t *s = arg;

    return ((trtri_fn)s->routine)(COLUMNS, 'L', 'N', (int)s->n, s->a, (int)s->n);
}

static int run_dpotrf(void *arg)
{
    measure_kernel_state_t *s = arg;

    return ((potrf_fn)s->routine)(COLUMNS, 'L', (int)s->n, s->a, (int)s->n);
}

static int run_dgetrf(void *arg)
{
    measure_kernel_state_t *s = arg;
    int n = (int)s->n;

    return ((getrf_fn)s->routine)(COLUMNS, n, n, s->a, n, s->pivots);
}

static int run_dgeqrf(void *arg)
{
    measure_kernel_state_t *s = arg;
    int n = (int)s->n;

    return ((geqrf_fn)s->routine)(COLUMNS, n, n, s->a, n, s->spare);
}

const measure_kernel_t measure_kernels[] = {
    {"dgemm", "cblas_dgemm", "C = A B", prepare_gemm, run_dgemm, NULL},
    {"dtrtri", "LAPACKE_dtrtri", "inverse of a triangle", prepare_factor, run_dtrtri, restore},
    {"dsyrk", "cblas_dsyrk", "C = A A'", prepare_syrk, run_dsyrk, NULL},
    {"dtrmm", "cblas_dtrmm", "triangle times matrix", prepare_triangle, run_dtrxm, restore_product},
    {"dtrsm", "cblas_dtrsm", "triangular systems", prepare_triangle, run_dtrxm, restore_product},
    {"dpotrf", "LAPACKE_dpotrf", "Cholesky", prepare_factor, run_dpotrf, restore},
    {"dgetrf", "LAPACKE_dgetrf", "LU with pivots", prepare_factor, run_dgetrf, restore},
    {"dgeqrf", "LAPACKE_dgeqrf", "QR", prepare_factor, run_dgeqrf, restore},
    {"dgemv", "cblas_dgemv", "y = A x", prepare_matrix_vector, run_dgemv, NULL},
    {"daxpy", "cblas_daxpy", "y = y + a x", prepare_vectors, run_daxpy, NULL},
    {"ddot", "cblas_ddot", "x . y", prepare_vectors, run_ddot, NULL},
    {0},
};

const measure_kernel_t *measure_kernel_find(const char *name)
{
    name = xy_kernel_base_name(name);
    for (const measure_kernel_t *k = measure_kernels; k->name != NULL; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}
