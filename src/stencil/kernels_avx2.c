/* SPDX-License-Identifier: BSD-3-Clause */
#define KERNELS      stencil_kernels_avx2
#define KERNELS_NAME "avx2"
#include "stencil/kernels.inc"
