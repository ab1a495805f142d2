/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the value and the fit of a shape (private to the component). */
#ifndef XY_COST_SHAPE_INTERNAL_H
#define XY_COST_SHAPE_INTERNAL_H

#include "cost/shape.h"

/* The product of the sizes, each to its power. */
double cost_shape_product(const unsigned char *power, const double *sizes, size_t count);

#endif
