/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the component. */
#ifndef XY_REPORT_INTERNAL_H
#define XY_REPORT_INTERNAL_H

#include "report/analyse.h"

/* Put the main result into one sentence: a->finding. */
void report_find(xy_analysis_t *a);
/* Part of a whole in percent; 0 of nothing. */
double report_percent(double part, double whole);

#endif
