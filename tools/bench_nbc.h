/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xylem bench nbc, between its files: bench_nbc.c has the command line, bench_nbc_sim.c the
 * simulated half, bench_nbc_real.c the measured one, bench_nbc_libs.c the MPI libraries it runs,
 * bench_nbc_write.c what it prints.
 */
#ifndef XY_TOOLS_BENCH_NBC_H
#define XY_TOOLS_BENCH_NBC_H

#include "coll/coll.h"
#include "sim/sim.h"
#include "verbs.h"

typedef struct {
    const char *simulate, *mode, *ranks, *threads, *order, *split, *algorithm;
    const char *kernel, *against, *let_arrive;
    const char *csv, *html, *svg, *trace;
    xy_vec_t collectives, sizes, progress;
    double compute, factor, limit;
    long comm_cores, priority, repetitions, turns, work;
    bool json;
} nbc_values_t;

extern const char *const nbc_modes[]; /* cpu-exploit, equivalent-compute */
extern const char *const nbc_ways[];  /* of progress: none, threads, split-tree, tasks */

/* The options as both halves understand them, with the memory of its lists. */
typedef struct {
    xy_vec_t collectives; /* of xy_collective_t */
    xy_vec_t sizes;       /* of uint64_t */
    xy_vec_t ranks;       /* of int, growing */
} nbc_lists_t;

/* `usual` are the collectives when none is named; `cores` makes the number of ranks when none is
 * given. The caller cleans up in all cases. */
xy_status_t nbc_lists_read(const nbc_values_t *v, const char *const *usual, int ranks,
                           nbc_lists_t *lists);
void nbc_lists_cleanup(nbc_lists_t *lists);

xy_status_t nbc_simulate(const nbc_values_t *v);
xy_status_t nbc_measure(const nbc_values_t *v);

/* Write a file with `write`, or nothing when `path` is NULL. */

/* ---- Measuring ---- */

enum { NBC_TURNS_MAX = 32 };
typedef enum { NBC_COMM, NBC_COMP, NBC_OVRL, NBC_PHASES } nbc_phase_t;

typedef struct {
    double medians[NBC_TURNS_MAX]; /* of each turn, seconds, growing */
    double mean, min, max;         /* over all turns */
} nbc_time_t;

/* One collective, size and number of ranks under one library. */
typedef struct {
    int turns; /* with a result; 0: there is none */
    nbc_time_t times[NBC_PHASES];
    double overlaps[NBC_TURNS_MAX]; /* percent, growing */
    long kernels;                   /* that each rank computes */
    bool is_right;
} nbc_result_t;

/* The median over the turns; not a number when there is none. */
double nbc_median(const nbc_result_t *result, nbc_phase_t phase);
/* In percent: the median over the turns, of the medians of their repetitions. */
double nbc_overlap(const nbc_result_t *result);

/* A library, or a progress mode of this one, that runs the program. */
typedef struct {
    const char *name; /* in tables */
    const char *peer; /* NULL: Xylem's own */
    const char *progress;
    char *program; /* compiled; owned */
} nbc_library_t;

typedef struct {
    const nbc_values_t *values;
    nbc_lists_t lists;
    xy_vec_t libraries; /* of nbc_library_t; the first sizes the computation of all */
    xy_vec_t results;   /* of nbc_result_t: by collective, size, ranks, library */
    char *algorithms;   /* COLLECTIVE=NAME,... or NULL */
    char *folder;       /* of compiled programs */
    int cores, comm_cores;
    xy_progress_t bar;
} nbc_study_t;

nbc_result_t *nbc_result_at(const nbc_study_t *study, size_t collective, size_t size, size_t ranks,
                            size_t library);

/* The libraries that the options name, each with the program compiled in a folder of its own. A
 * peer that is not installed is reported in one line and left out. */
xy_status_t nbc_libraries_make(nbc_study_t *study);
void nbc_libraries_cleanup(nbc_study_t *study);

/* Run the program with `ranks` ranks under a library and `arguments` (NULL at the end); each line
 * it prints goes to `line`. *is_good_p: it ended well and in time. */
typedef void (*nbc_line_fn)(void *arg, const char *line);
xy_status_t nbc_library_run(const nbc_study_t *study, const nbc_library_t *library, int ranks,
                            char *const *arguments, nbc_line_fn line, void *arg, bool *is_good_p);

/* Writers; arg is a const nbc_study_t. */
void nbc_write_text(const void *arg, FILE *file);
xy_status_t nbc_write_csv(const void *arg, FILE *file);
void nbc_write_json(const void *arg, FILE *file);
xy_status_t nbc_write_svg(const void *arg, FILE *file);
xy_status_t nbc_write_html(const void *arg, FILE *file);

#endif
