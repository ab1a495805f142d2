/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparison of two runs of one program by line.
 *
 *   xy_comparison_t *c;
 *   st = xy_comparison_create(before, after, &c);
 *   xy_comparison_text(c, stdout);
 *   xy_comparison_destroy(c);
 *
 * Times of a line are means over ranks, so that runs with different numbers of ranks compare.
 */
#ifndef XY_REPORT_COMPARE_H
#define XY_REPORT_COMPARE_H

#include "report/analyse.h"

/* The time of a line: computation before its calls, waiting in them, and all else in them. */
typedef enum { XY_LINE_COMPUTE, XY_LINE_WAIT, XY_LINE_MOVE, XY_LINE_KINDS } xy_line_kind_t;

typedef struct {
    const xy_profile_t *profile; /* that has the site */
    uint32_t site;
    double before[XY_LINE_KINDS], after[XY_LINE_KINDS]; /* seconds of a rank, in the mean */
    double most_before, most_after; /* computation of the rank that computes longest, */
    uint32_t most_rank;             /* ... which is this one, after */
    double change;                  /* of all kinds together: positive, it got slower */
} xy_line_change_t;

typedef struct {
    const xy_analysis_t *before, *after;
    xy_vec_t lines; /* of xy_line_change_t, the largest change first */
    char finding[512];
} xy_comparison_t;

/* The analyses have to outlive *comparison_p, which the caller owns on success. ENOMEM (reported).
 */
xy_status_t xy_comparison_create(const xy_analysis_t *before, const xy_analysis_t *after,
                                 xy_comparison_t **comparison_p);
void xy_comparison_destroy(xy_comparison_t *c); /* NULL is fine */

/* Output; write errors stay in the FILE. */
void xy_comparison_text(const xy_comparison_t *c, FILE *file);
void xy_comparison_json(const xy_comparison_t *c, FILE *file);
/* One self-contained page. */
void xy_comparison_html(const xy_comparison_t *c, FILE *file);

#endif
