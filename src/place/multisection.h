/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the default strategy. Private to the component. */
#ifndef XY_PLACE_MULTISECTION_H
#define XY_PLACE_MULTISECTION_H

#include "place/bisect.h"
#include "place/refine.h"
#include "place/strategy.h"

/* The cuts down the tree alone, without exchanges; `faithful` as in place_bisector_t. Silent
 * ENOMEM. */
xy_status_t place_multisect(const xy_problem_t *q, double faithful, uint32_t *leaf_of);

#endif
