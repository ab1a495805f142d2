/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/lapack.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/base.h"

/* LAPACKE's C interface, which has been stable since its first release: declared here because the
 * library is found at run time. Integers are 32 bits wide in what distributions call LAPACKE. */
enum { COLUMN_MAJOR = 102, TERMS_MAX = 8 };
typedef int (*dgeqrf_fn)(int layout, int m, int n, double *a, int lda, double *tau);
typedef int (*dorgqr_fn)(int layout, int m, int n, int k, double *a, int lda, const double *tau);

static struct {
    pthread_once_t once;
    dgeqrf_fn dgeqrf;
    dorgqr_fn dorgqr;
} lapack = {.once = PTHREAD_ONCE_INIT};

/* Loads the LAPACKE functions from a library; returns false if it lacks them. */
static bool try_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return false;
    *(void **)&lapack.dgeqrf = dlsym(library, "LAPACKE_dgeqrf");
    *(void **)&lapack.dorgqr = dlsym(library, "LAPACKE_dorgqr");
    if (lapack.dgeqrf != NULL && lapack.dorgqr != NULL)
        return true;
    lapack.dgeqrf = NULL;
    dlclose(library);
    return false;
}

/* Loads the first library with LAPACKE, or that of XYLEM_LAPACKE. */
static void load(void)
{
    static const char *const names[] = {"liblapacke.so.3", "libopenblas.so.0", "liblapacke.so",
                                        "libmkl_rt.so", NULL};
    const char *given = getenv("XYLEM_LAPACKE");
    /* OpenBLAS starts its threads while it is loaded; systems of six unknowns need none. */
    bool is_set = getenv("OPENBLAS_NUM_THREADS") != NULL;
    bool is_loaded = false;

    if (!is_set)
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
    if (given != NULL && *given != '\0')
        is_loaded = try_library(given);
    else
        for (size_t i = 0; !is_loaded && names[i] != NULL; i++)
            is_loaded = try_library(names[i]);
    if (!is_set)
        unsetenv("OPENBLAS_NUM_THREADS");
}

xy_status_t cost_lapack_load(void)
{
    pthread_once(&lapack.once, load);
    if (lapack.dgeqrf != NULL)
        return XY_OK;
    if (getenv("XYLEM_LAPACKE") != NULL)
        return xy_fail(XY_EUNSUPPORTED,
                       "XYLEM_LAPACKE=%s is not a LAPACKE library, which fits the models; name "
                       "another, or unset the variable",
                       getenv("XYLEM_LAPACKE"));
    return xy_fail(XY_EUNSUPPORTED, "LAPACKE, which fits the models, was not found; install "
                                    "liblapacke, or name the library in XYLEM_LAPACKE");
}

/* Solve R c = y, R upper triangular in the first rows of `a`. */
static bool solve_upper(const double r[TERMS_MAX][TERMS_MAX], size_t terms, const double *y,
                        double *c)
{
    double largest = 0;

    for (size_t k = 0; k < terms; k++)
        largest = fmax(largest, fabs(r[k][k]));
    for (size_t k = terms; k-- > 0;) {
        double sum = y[k];

        if (!(fabs(r[k][k]) > 1e-13 * largest))
            return false;
        for (size_t j = k + 1; j < terms; j++)
            sum -= r[k][j] * c[j];
        c[k] = sum / r[k][k];
    }
    return true;
}

bool cost_least_squares(double *a, size_t rows, size_t terms, const double *b, double *c,
                        double *leverage)
{
    double tau[TERMS_MAX], r[TERMS_MAX][TERMS_MAX] = {{0}}, y[TERMS_MAX];
    int m = (int)rows, n = (int)terms;

    if (lapack.dgeqrf(COLUMN_MAJOR, m, n, a, m, tau) != 0)
        return false;
    for (size_t k = 0; k < terms; k++)
        for (size_t j = k; j < terms; j++)
            r[k][j] = a[j * rows + k];
    if (lapack.dorgqr(COLUMN_MAJOR, m, n, n, a, m, tau) != 0)
        return false;
    for (size_t k = 0; k < terms; k++) {
        y[k] = 0;
        for (size_t i = 0; i < rows; i++)
            y[k] += a[k * rows + i] * b[i];
    }
    for (size_t i = 0; i < rows; i++) {
        leverage[i] = 0;
        for (size_t k = 0; k < terms; k++)
            leverage[i] += a[k * rows + i] * a[k * rows + i];
    }
    return solve_upper((const double(*)[TERMS_MAX])r, terms, y, c);
}
