/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of BLAS and LAPACK by their names in C, with the arguments that are sizes.
 * Predictions and virtual runs both use this table, so that they charge the same.
 *
 *   xy_blas_sizes("cblas_dgemm")       "345": arguments 3, 4 and 5, counted from 0
 *
 * xy_kernel_base_name() gives the kernel of the store for a function (shape.h).
 */
#ifndef XY_COST_BLAS_H
#define XY_COST_BLAS_H

/* Numbers of arguments, one character each, all in front of the first floating-point one; NULL: the
 * function is not known. */
const char *xy_blas_sizes(const char *function);

#endif
