/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of op_kernels.inc, compiled for the instruction set the rest is compiled for. */
#define KERNELS      mpi_op_kernels_plain
#define KERNELS_NAME "plain"
#include "mpi/datatype/op_kernels.inc"
