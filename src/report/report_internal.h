/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the component. */
#ifndef XY_REPORT_REPORT_INTERNAL_H
#define XY_REPORT_REPORT_INTERNAL_H

#include "report/analyse.h"
#include "report/insight.h"

/* Put the main result into one sentence: a->finding. */
void report_find(xy_analysis_t *a);
/* Part of a whole in percent; 0 of nothing. */
double report_percent(double part, double whole);
/* "before MPI_Send at ring.c:12", "in MPI_Send at ring.c:12"; `text` is returned. */
const char *report_part(const xy_profile_t *p, const xy_path_part_t *part, char *text, size_t size);
/* The member "efficiency" of an object. */
void report_put_efficiency(xy_json_t *j, const xy_efficiency_t *e);
/* The members "function" and "place". */
void report_put_site(xy_json_t *j, const xy_profile_t *p, uint32_t site);

#endif
