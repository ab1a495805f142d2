/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops of predefined operations, one table per instruction set.
 */
#ifndef XY_MPI_DATATYPE_OP_KERNELS_H
#define XY_MPI_DATATYPE_OP_KERNELS_H

#include <stddef.h>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/op.h"

/* out[i] = a[i] op b[i]; out may be a or b. */
typedef void (*mpi_kernel_fn)(const void *a, const void *b, void *out, size_t n);

typedef struct {
    const char *name;                                  /* "plain", "avx2", "avx512" */
    mpi_kernel_fn fn[XMPI_OP_KINDS][XMPI_BASIC_KINDS]; /* NULL: not defined */
} mpi_op_kernels_t;

extern const mpi_op_kernels_t mpi_op_kernels_plain;
extern const mpi_op_kernels_t mpi_op_kernels_avx2;
extern const mpi_op_kernels_t mpi_op_kernels_avx512;

/* Table number `i` that this machine can run, slowest first; NULL behind the last. */
const mpi_op_kernels_t *mpi_op_kernels_number(int i);
/* The table in use; the last one unless a test says otherwise. */
extern const mpi_op_kernels_t *mpi_op_kernels;

#endif
