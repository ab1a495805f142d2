/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strong scaling: runs of one problem on different numbers of cores.
 *
 *   xy_scaling_t *s;
 *   st = xy_scaling_create(analyses, count, &s);
 *   xy_scaling_text(s, stdout);
 *   xy_scaling_destroy(s);
 *
 * The run with the fewest ranks is the base. Ideally, a run takes the time of the base divided by
 * its number of cores relative to the base. So for every run
 *
 *   speed-up = ideal speed-up * global efficiency / global efficiency of the base
 *
 * Runs in virtual time beside real ones are their prediction. Without them, Amdahl's law is fitted
 * to the runs: the serial fraction f of the base takes as long on any number of cores.
 *
 *   predicted speed-up on n times the cores = n / (1 + f (n - 1))
 */
#ifndef XY_REPORT_SCALING_H
#define XY_REPORT_SCALING_H

#include "report/analyse.h"

/* NAN: not known. */
typedef struct {
    uint32_t ranks, cores;
    double run;       /* measured, in seconds: the shortest of several */
    double ideal;     /* base run * cores of the base / cores */
    double predicted; /* seconds */
    double speedup, ideal_speedup, predicted_speedup;
    xy_efficiency_t efficiency;
} xy_scaling_point_t;

typedef enum { XY_SCALING_BY_NOTHING, XY_SCALING_BY_FIT, XY_SCALING_BY_MODEL } xy_scaling_by_t;

typedef struct {
    const char *program; /* of the base's profile */
    bool is_virtual;     /* all runs are in virtual time */
    xy_vec_t points;     /* of xy_scaling_point_t, by ranks; the base is the first run */
    size_t base;
    xy_scaling_by_t by; /* the method of the prediction */
    double serial;      /* by fit: the serial fraction */
    char finding[320];
} xy_scaling_t;

/* The analyses of `count` runs (1 or more) have to outlive *scaling_p, which the caller owns on
 * success. ENOMEM (reported). */
xy_status_t xy_scaling_create(const xy_analysis_t *const *runs, size_t count,
                              xy_scaling_t **scaling_p);
void xy_scaling_destroy(xy_scaling_t *s); /* NULL is fine */

/* Output; write errors stay in the FILE. */
void xy_scaling_text(const xy_scaling_t *s, FILE *file);
void xy_scaling_json(const xy_scaling_t *s, FILE *file);
/* One self-contained page. */
void xy_scaling_html(const xy_scaling_t *s, FILE *file);

#endif
