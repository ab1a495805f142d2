/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/blas.h"

#include <stddef.h>
#include <string.h>

/* Without the letter of the precision. */
static const struct {
    const char *prefix, *name, *sizes;
} functions[] = {
    {"cblas_", "gemm", "345"},   {"cblas_", "symm", "34"},   {"cblas_", "hemm", "34"},
    {"cblas_", "syrk", "34"},    {"cblas_", "herk", "34"},   {"cblas_", "syr2k", "34"},
    {"cblas_", "trmm", "56"},    {"cblas_", "trsm", "56"},   {"cblas_", "gemv", "23"},
    {"cblas_", "ger", "12"},     {"cblas_", "symv", "2"},    {"cblas_", "trsv", "4"},
    {"cblas_", "trmv", "4"},     {"cblas_", "axpy", "0"},    {"cblas_", "dot", "0"},
    {"cblas_", "scal", "0"},     {"cblas_", "copy", "0"},    {"cblas_", "swap", "0"},
    {"cblas_", "nrm2", "0"},     {"cblas_", "asum", "0"},    {"LAPACKE_", "getrf", "12"},
    {"LAPACKE_", "potrf", "2"},  {"LAPACKE_", "potri", "2"}, {"LAPACKE_", "trtri", "3"},
    {"LAPACKE_", "gesv", "12"},  {"LAPACKE_", "getri", "1"}, {"LAPACKE_", "getrs", "23"},
    {"LAPACKE_", "geqrf", "12"}, {"LAPACKE_", "syev", "3"},  {"LAPACKE_", "gesvd", "34"},
    {"clapack_", "getrf", "12"}, {"clapack_", "potrf", "2"}, {"clapack_", "trtri", "3"},
    {"clapack_", "gesv", "12"},
};

const char *xy_blas_sizes(const char *function)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        size_t n = strlen(functions[i].prefix);

        if (strncmp(function, functions[i].prefix, n) == 0 && function[n] != '\0' &&
            strcmp(function + n + 1, functions[i].name) == 0)
            return functions[i].sizes;
    }
    return NULL;
}
