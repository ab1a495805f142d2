/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of op_kernels.inc, compiled for avx512. */
#define KERNELS      mpi_op_kernels_avx512
#define KERNELS_NAME "avx512"
#define EXACT        __attribute__((target("no-avx512f,no-fma")))
#include "mpi/datatype/op_kernels.inc"
