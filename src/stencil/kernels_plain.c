/* SPDX-License-Identifier: BSD-3-Clause */
#define KERNELS      stencil_kernels_plain
#define KERNELS_NAME "plain"
#include "stencil/kernels.inc"
