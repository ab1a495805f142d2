/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of op_kernels.inc, compiled for avx2. */
#define KERNELS      mpi_op_kernels_avx2
#define KERNELS_NAME "avx2"
#include "mpi/datatype/op_kernels.inc"
