/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels whose sizes are known, and the value of a shape. */
#include <math.h>
#include <string.h>

#include "cost/shape_internal.h"

/* LU and QR of m x n: n^2 (m - n / 3) for m >= n, the same with m and n exchanged otherwise. */
static double factor_operations(const double *sizes)
{
    double low = fmin(sizes[0], sizes[1]), high = fmax(sizes[0], sizes[1]);

    return low * low * (3 * high - low);
}

/* Triangles stand on the left: dtrmm and dtrsm of an m x m triangle and m x n. */
static const xy_kernel_form_t forms[] = {
    {"dgemm",
     3,
     {"m", "n", "k"},
     {1, 1, 1},
     NULL,
     3,
     {{1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {0, 0, 0}},
     4},
    {"dsyrk", 2, {"n", "k"}, {2, 1}, NULL, 3, {{2, 0}, {1, 1}, {0, 0}}, 3},
    {"dtrmm", 2, {"m", "n"}, {2, 1}, NULL, 3, {{2, 0}, {1, 1}, {0, 0}}, 3},
    {"dtrsm", 2, {"m", "n"}, {2, 1}, NULL, 3, {{2, 0}, {1, 1}, {0, 0}}, 3},
    {"dgemv", 2, {"m", "n"}, {1, 1}, NULL, 2, {{1, 0}, {0, 1}, {0, 0}}, 3},
    {"dgetrf", 2, {"m", "n"}, {0}, factor_operations, 3, {{0}}, 0},
    {"dgeqrf", 2, {"m", "n"}, {0}, factor_operations, 3, {{0}}, 0},
    {"dtrtri", 1, {"n"}, {3}, NULL, 3, {{0}}, 0},
    {"dpotrf", 1, {"n"}, {3}, NULL, 3, {{0}}, 0},
    {"daxpy", 1, {"n"}, {1}, NULL, 1, {{0}}, 0},
    {"ddot", 1, {"n"}, {1}, NULL, 1, {{0}}, 0},
};

const char *xy_kernel_base_name(const char *name)
{
    static const char *const prefixes[] = {"cblas_", "LAPACKE_", "clapack_"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return name + strlen(prefixes[i]);
    return name;
}

const xy_kernel_form_t *xy_kernel_form(const char *name)
{
    name = xy_kernel_base_name(name);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

double cost_shape_product(const unsigned char *power, const double *sizes, size_t count)
{
    double p = 1;

    for (size_t i = 0; i < count; i++)
        for (unsigned char k = 0; k < power[i]; k++)
            p *= sizes[i];
    return p;
}

static int degree_of(const unsigned char *power, size_t count)
{
    int sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += power[i];
    return sum;
}

/* x^(1/degree); the cube root is exact for cubes, so that equal sizes are their own equal. */
static double root(double x, int degree)
{
    double r = degree == 3 ? cbrt(x) : degree == 2 ? sqrt(x) : pow(x, 1.0 / degree);
    double near = round(r);

    return pow(near, degree) == x ? near : r;
}

static double form_size(const xy_kernel_form_t *form, const double *sizes)
{
    static const double ones[XY_SIZES_MAX] = {1, 1, 1};

    if (form->operations == NULL)
        return root(cost_shape_product(form->work, sizes, form->sizes), form->degree);
    return root(form->operations(sizes) / form->operations(ones), form->degree);
}

double xy_kernel_equal_size(const xy_shape_t *shape, const xy_kernel_form_t *form,
                            const double *sizes, size_t count)
{
    static const unsigned char once[XY_SIZES_MAX] = {1, 1, 1};
    bool is_equal = true;

    for (size_t i = 0; i < count; i++) {
        if (!(sizes[i] > 0))
            return 0;
        is_equal = is_equal && sizes[i] == sizes[0];
    }
    if (is_equal)
        return sizes[0];
    if (shape != NULL && shape->sizes == count)
        return root(cost_shape_product(shape->work, sizes, count), degree_of(shape->work, count));
    if (form != NULL && form->sizes == count)
        return form_size(form, sizes);
    return root(cost_shape_product(once, sizes, count), (int)count);
}

static double value(const xy_shape_t *shape, const double *sizes)
{
    double sum = cost_shape_product(shape->work, sizes, shape->sizes);

    for (size_t i = 0; i < shape->count; i++)
        sum +=
            shape->term[i].factor * cost_shape_product(shape->term[i].power, sizes, shape->sizes);
    return sum;
}

double xy_shape_ratio(const xy_shape_t *shape, const double *sizes)
{
    double equal = xy_kernel_equal_size(shape, NULL, sizes, shape->sizes);
    const double cube[XY_SIZES_MAX] = {equal, equal, equal};
    double ratio = value(shape, sizes) / value(shape, cube);

    /* Factors of a file may be beyond all reason. */
    return ratio >= 0 && isfinite(ratio) ? ratio : 1;
}

void xy_shape_cleanup(xy_shape_t *shape)
{
    xy_free(shape->samples);
    *shape = (xy_shape_t){0};
}
