/* SPDX-License-Identifier: BSD-3-Clause */
#define REAL   double
#define UPDATE stencil_plain_update_double
#include "stencil/plain_loop.inc"
