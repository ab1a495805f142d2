/* SPDX-License-Identifier: BSD-3-Clause */
#define REAL         float
#define KERNELS      stencil_kernels_plain_single
#define KERNELS_NAME "plain"
#include "stencil/kernels.inc"
