/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancing loads of leaves that run several processes. Private to the component. */
#ifndef XY_PLACE_BALANCE_H
#define XY_PLACE_BALANCE_H

#include "place/strategy.h"

/* Move and exchange processes between leaves until no leaf carries more than a twentieth above the
 * mean (or above the heaviest process), or nothing helps; among the exchanges that help, the one
 * that adds least to the cost. Leaves with one process each are left alone. Silent ENOMEM. */
xy_status_t place_balance(const xy_problem_t *q, const double *load, uint32_t *leaf_of);

#endif
