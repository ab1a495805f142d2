/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compute kernels (private to the room): routines of BLAS and LAPACK from a table, and plug-ins.
 */
#ifndef XY_MEASURE_KERNEL_H
#define XY_MEASURE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/timing.h"

/* What a kernel works on; freed with cost_kernel_release. */
typedef struct cost_kernel_state {
    void (*routine)(void); /* cast to its type by the kernel */
    size_t n;
    double *a, *b, *c, *spare;
    int *pivots;
} cost_kernel_state_t;

typedef struct {
    const char *name;
    const char *symbol;
    const char *describe;
    bool (*prepare)(cost_kernel_state_t *s); /* memory for n; false: it ran out */
    cost_run_fn run;
    cost_run_fn before; /* NULL: nothing is spoilt by a run */
} cost_kernel_t;

extern const cost_kernel_t cost_kernels[]; /* ended by a NULL name */

/* By name, also as "cblas_dgemm", "LAPACKE_dtrtri" or "clapack_dtrtri"; NULL: none. */
const cost_kernel_t *cost_kernel_find(const char *name);

void cost_kernel_release(cost_kernel_state_t *s);

#endif
