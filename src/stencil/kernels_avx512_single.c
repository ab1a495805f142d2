/* SPDX-License-Identifier: BSD-3-Clause */
#define REAL         float
#define KERNELS      stencil_kernels_avx512_single
#define KERNELS_NAME "avx512"
#include "stencil/kernels.inc"
