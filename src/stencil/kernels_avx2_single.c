/* SPDX-License-Identifier: BSD-3-Clause */
#define REAL         float
#define KERNELS      stencil_kernels_avx2_single
#define KERNELS_NAME "avx2"
#include "stencil/kernels.inc"
