/* SPDX-License-Identifier: BSD-3-Clause */
#define REAL   float
#define UPDATE stencil_plain_update_single
#include "stencil/plain_loop.inc"
