/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calibration of the machine we run on: measure, fit, and put the models into a store.
 *
 *   xy_calibration_t c = {.kernels = "dgemm,dtrtri", .seconds = 60};
 *   st = xy_calibrate_kernels(&c, costs);
 *   st = xy_calibrate_memory(&c, machine, costs);
 *   st = xy_costs_save(costs, NULL);
 *
 * Kernels run in a process of their own. Sizes double from 100 on until a run takes `time_max`;
 * then sizes in between are added, and all are measured in rounds until none is in doubt or the
 * time is up. One that fails, crashes, hangs or is too noisy is reported and gets no model (an
 * earlier one stays); the others continue. Each model has an error at sizes that were not used for
 * the fit. Call it from one thread only.
 */
#ifndef XY_MEASURE_CALIBRATE_H
#define XY_MEASURE_CALIBRATE_H

#include "cost/cost.h"

/* A size that was measured along with the others, but not shown to the model: by the clock of the
 * model, twice, each time as often as a sample and at other times. How far `again` is from `t` is
 * what no model can do better. */
typedef struct {
    double x, t, again;
} xy_held_out_t;

typedef struct {
    const char *kernels;     /* names with commas, or "all"; NULL: dgemm,dtrtri; "": none */
    const xy_vec_t *plugins; /* of const char *: "NAME=FILE" or "NAME=FILE:FUNCTION"; NULL: none */
    const char *blas;        /* library of the kernels; NULL: the one that is installed */
    const char *criterion;   /* NULL: the default */
    const char *cluster;     /* NULL: XY_COSTS_LOCAL */
    double time_max;         /* seconds of the longest run; 0: 0.5 s */
    double seconds;          /* for everything one call measures; 0: 60 s */
    const long *threads;     /* numbers of threads, one model each; NULL: 1 */
    size_t threads_count;
    xy_vec_t *held_out;    /* of xy_held_out_t, for each kernel, appended; NULL: none */
    size_t held_out_count; /* 0: a few, for the error of the model */
    bool is_raw;           /* to check: the time that others take from the core counts */
    xy_progress_t *bar;    /* in milliseconds of `seconds`; NULL: none */
    FILE *report;          /* one line for each model; NULL: silent */
    /* Called after each kernel that got a model, so that it can be kept whatever comes; NULL: not.
     * A failure ends the calibration. */
    xy_status_t (*keep)(const void *arg, xy_costs_t *costs);
    const void *arg;
} xy_calibration_t;

/* Whether there are kernels and plug-ins of these names, before anything is measured. EUSAGE: not.
 */
xy_status_t xy_calibrate_validate(const xy_calibration_t *c);

/* Kernels and plug-ins. XY_OK when some got no model too: *failed_p (may be NULL) counts them.
 * EUSAGE: a kernel that does not exist. EUNSUPPORTED: no LAPACKE to fit with. */
xy_status_t xy_calibrate_kernels(const xy_calibration_t *c, xy_costs_t *costs, int *failed_p);

/* Copies ("copy") and sums ("reduce": doubles, y += x) of bytes by one core and by several at once,
 * in memory of the nearest and of farther NUMA nodes; the hand-over of a cache line between PUs
 * ("handover"). XY_OK when some were too noisy for a model too: *failed_p counts them on. */
xy_status_t xy_calibrate_memory(const xy_calibration_t *c, const xy_machine_t *live,
                                xy_costs_t *costs, int *failed_p);

/* One number that was measured `n` times elsewhere (a switch of fibers): its median goes into the
 * store under `name`, between two PUs or -1, and is reported as `text`. `seconds` is sorted. */
xy_status_t xy_calibrate_constant(const xy_calibration_t *c, const char *name, const char *text,
                                  long from, long to, double *seconds, long n, xy_costs_t *costs);

/* Begin and end of a team of OpenMP, a barrier and a step to the next chunk, for 1, 2, 4, ... and
 * `cores` threads, as constants (cost/store.h). Without the runtime of gcc there is a warning. */
xy_status_t xy_calibrate_teams(const xy_calibration_t *c, long cores, xy_costs_t *costs);

/* ---- Do the models still hold? ---- */

typedef struct {
    char name[64];    /* "dgemm", "copy", "message" */
    char detail[192]; /* "2 threads", "1 core at distance 21", "local - local by Open MPI 4.1.4" */
    long threads;     /* or cores; 0: of messages */
    bool is_measured; /* false: it could not be; nothing below is known, and it does not hold */
    bool holds;
    double middle, least, greatest; /* relative errors: 0.1 is a tenth slower than the model says */
} xy_check_result_t;

/* Measure five sizes of each model of the store whose unit is "n" (kernels) or "B" (copies and
 * sums, by one core and by several) again, between its samples. A model holds when the middle of
 * its errors is within `tolerance` (0: 10 %) and the mean error that it had when it was made.
 * `results` (of xy_check_result_t) gets one for each. */
xy_status_t xy_calibrate_check(const xy_calibration_t *c, const xy_machine_t *live,
                               const xy_costs_t *costs, const char *unit, double tolerance,
                               xy_vec_t *results);

/* The same for messages: sizes (of uint64_t) to measure, and, when they were measured into another
 * store, what `costs` said about them. A library that has no model there is warned of. */
xy_status_t xy_calibrate_check_sizes(const xy_costs_t *costs, xy_vec_t *sizes);
xy_status_t xy_calibrate_check_messages(const xy_calibration_t *c, const xy_costs_t *measured,
                                        const xy_costs_t *costs, double tolerance,
                                        xy_vec_t *results);

/* ---- Watching a platform ---- */

/* A model that is measured round after round: stale once two rounds in a row do not agree with it,
 * and valid again once two do. */
typedef struct {
    xy_check_result_t last;
    bool is_stale;
    int against; /* rounds in a row that contradict `is_stale` */
} xy_watched_t;

/* Take in the results of a round, in the order of the first one: `watched` (of xy_watched_t) gets
 * one for each. A line with the date for each change goes to c->report; *changed_p: how many. */
xy_status_t xy_calibrate_watch(const xy_calibration_t *c, const xy_vec_t *results,
                               xy_vec_t *watched, size_t *changed_p);

/* EINVAL, said: some of these do not hold. ENOENT: there are none. */
xy_status_t xy_calibrate_conclude(const xy_vec_t *results);

/* Measure the kernel of a model of the store again at the sizes x of the samples, and fill in the
 * rest of them, by the clock of the model. EUNSUPPORTED: it was no kernel ("copy"). EINVAL: it
 * failed; it was reported. */
xy_status_t xy_calibrate_measure(const xy_calibration_t *c, const xy_costs_t *costs,
                                 const xy_kernel_cost_t *k, xy_sample_t *samples, size_t count);

/* Kernels of the table: name and what it computes. false: no more. */
bool xy_calibrate_kernel_name(size_t i, const char **name_p, const char **text_p);

#endif
