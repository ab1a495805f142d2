/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers on command lines: 4, 1..64*2, 100..500+100. */
#ifndef XY_TOOLS_VALUES_H
#define XY_TOOLS_VALUES_H

#include "base/base.h"

enum { VALUES_MAX = 100000 };

/* Put the values of an item, one of those between commas, behind the doubles of `values`. What is
 * wrong is reported with the option and its whole text. */
xy_status_t values_add(xy_vec_t *values, const char *item, const char *option, const char *text);
xy_status_t values_fail(const char *option, const char *text);

#endif
