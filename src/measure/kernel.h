/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compute kernels (private to the component): routines of BLAS and LAPACK from a table, and
 * plug-ins.
 */
#ifndef XY_MEASURE_KERNEL_H
#define XY_MEASURE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "cost/cost.h"
#include "measure/timing.h"

/* The data of a kernel; freed with measure_kernel_release. */
typedef struct measure_kernel_state {
    void (*routine)(void);     /* cast to its type by the kernel */
    size_t n;                  /* the size of a kernel with one */
    size_t size[XY_SIZES_MAX]; /* of a kernel with several sizes, in the order of cost/shape.h */
    double *a, *b, *c, *spare;
    int *pivots;
} measure_kernel_state_t;

typedef struct {
    const char *name;
    const char *symbol;
    const char *describe;
    bool (*prepare)(measure_kernel_state_t *s); /* memory for n; false: it ran out */
    measure_run_fn run;
    measure_run_fn before; /* NULL: nothing is spoilt by a run */
} measure_kernel_t;

extern const measure_kernel_t measure_kernels[]; /* ended by a NULL name */

/* By name, also as "cblas_dgemm", "LAPACKE_dtrtri" or "clapack_dtrtri"; NULL: none. */
const measure_kernel_t *measure_kernel_find(const char *name);

void measure_kernel_release(measure_kernel_state_t *s);

#endif
