/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Least squares through LAPACKE (private to the component). The library is loaded when it is first
 * needed, so that commands and programs that only read models carry no linear algebra, and start
 * none of its threads.
 */
#ifndef XY_COST_LAPACK_H
#define XY_COST_LAPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/* Load it. EUNSUPPORTED is reported with the remedy, each time. Any thread. */
xy_status_t cost_lapack_load(void);

/* Minimise |A c - b| by QR. `a` holds `terms` columns of `rows` values and is overwritten by Q;
 * `c` gets the solution and `leverage` (rows values) the diagonal of the projection A A^+. false:
 * the columns are not independent. Load first. rows >= terms, terms <= 8. Any thread. */
bool cost_least_squares(double *a, size_t rows, size_t terms, const double *b, double *c,
                        double *leverage);

#endif
