/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The analysis of a profile: efficiencies, the most expensive calls, the ranks that others wait
 * for, and one sentence.
 *
 *   xy_analysis_t *a;
 *   st = xy_analyse(profile, 0, &a);
 *   puts(a->finding);
 *   xy_analysis_destroy(a);
 *
 * Times are in seconds. Efficiencies are those of the POP methodology: 1 is ideal.
 */
#ifndef XY_REPORT_ANALYSE_H
#define XY_REPORT_ANALYSE_H

#include "report/profile.h"

/* NAN: not known. */
typedef struct {
    double load_balance;  /* mean / longest computation */
    double communication; /* longest computation / run time */
    double parallel;      /* their product */
    double serialization; /* longest computation / run time on an ideal network */
    double transfer;      /* run time on an ideal network / run time */
    double scalability;   /* computation of the smaller run / computation of this one */
    double global;        /* parallel * scalability */
} xy_efficiency_t;

/* The efficiencies of `count` cores that compute so long in a run of `run` seconds, which takes
 * `ideal` seconds on an ideal network (0: not known). */
void xy_efficiency(const double *compute, size_t count, double run, double ideal,
                   xy_efficiency_t *e);
/* The same between two runs of one problem; `sum` is all computation of the first. */
void xy_efficiency_scale(double sum, double first_sum, xy_efficiency_t *e);

typedef struct {
    double run; /* counted */
    double compute, part[XY_PARTS];
    double wait;   /* the waits among the parts */
    double blamed; /* that others wait because of this rank, which does not wait itself */
    double ended;  /* after its end, until the last rank has ended */
} xy_rank_time_t;

typedef struct {
    uint32_t site;
    uint64_t calls, bytes;
    double compute, time, wait, part[XY_PARTS];
    double most_compute; /* of one rank, before these calls; */
    uint32_t most_rank;  /* that one */
    uint32_t ranks;      /* that make these calls */
    xy_blame_t blame[XY_PROFILE_BLAMES];
} xy_site_time_t;

typedef struct {
    uint64_t calls, bytes;
} xy_size_count_t;

typedef struct {
    const xy_profile_t *profile;
    double run; /* of the longest rank */
    uint32_t cores;
    double compute, time, wait, part[XY_PARTS], ended; /* sums over ranks */
    xy_efficiency_t efficiency;
    xy_rank_time_t *ranks; /* [ranks] */
    xy_site_time_t *sites; /* [site_count], by time, most first; without those nobody called */
    size_t site_count;
    xy_size_count_t sizes[XY_PROFILE_CLASSES];
    int32_t culprit; /* the rank that is waited for most, or XY_PROFILE_NOBODY */
    char finding[512];
} xy_analysis_t;

/* The analysis refers to the profile. `ideal`: seconds on an ideal network, or 0. On success the
 * caller owns *analysis_p. */
xy_status_t xy_analyse(const xy_profile_t *p, double ideal, xy_analysis_t **analysis_p);
void xy_analysis_destroy(xy_analysis_t *a); /* NULL is fine */

/* "MPI_Recv at ring.c:25"; `text` is returned. */
const char *xy_site_describe(const xy_profile_t *p, uint32_t site, char *text, size_t size);

/* ---- Output; write errors stay in the FILE ---- */

/* At most 25 lines, the first of which is the finding. */
void xy_report_brief(const xy_analysis_t *a, FILE *file);
void xy_report_text(const xy_analysis_t *a, FILE *file);
void xy_report_json(const xy_analysis_t *a, FILE *file);
/* One line for each record, after one with the names of the columns. */
void xy_report_csv(const xy_profile_t *p, FILE *file);
/* One self-contained page. */
xy_status_t xy_report_html(const xy_analysis_t *a, FILE *file);

#endif
