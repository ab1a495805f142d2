/* SPDX-License-Identifier: BSD-3-Clause */
#define KERNELS      stencil_kernels_avx512
#define KERNELS_NAME "avx512"
#include "stencil/kernels.inc"
