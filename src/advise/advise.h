/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remedies that would make a recorded run faster, and their gains.
 *
 *   xy_advice_t *advice;
 *   st = xy_advise(log, profile, &(xy_advise_options_t){0}, &advice);
 *   xy_advice_text(advice, stdout);
 *   xy_advice_destroy(advice);
 *
 * Each remedy is a replay of the run by the virtual clock with one thing changed: cores,
 * communication cores, placement, eager limit, the algorithm of a collective; or the program: a
 * blocking call becomes a nonblocking one, small messages are merged, computation is balanced. All
 * gains come from that one mechanism: the time of the changed replay is compared with that of the
 * unchanged one.
 *
 * The costs of messages are fitted to the run: one factor scales all of them, so that the unchanged
 * replay takes as long as the run. Time that other programs used a core is then left out of the
 * computation, where the trace has it. The range of a gain is that of three replays, with costs a
 * third smaller and larger, widened by the residual of the fit and, in real time, by what two runs
 * differ and the replay leaves out. A remedy whose range includes a loss is not listed.
 */
#ifndef XY_ADVISE_ADVISE_H
#define XY_ADVISE_ADVISE_H

#include <stdio.h>

#include "cost/cost.h"
#include "machine/machine.h"
#include "report/report.h"
#include "trace/trace.h"

typedef struct {
    const char *machine;     /* that the run is replayed on; NULL: as many cores as it had, or as
                                there are here */
    const xy_costs_t *store; /* models of messages; NULL: figures that are fitted to the run */
    uint64_t eager;          /* of the run; 0: the default */
} xy_advise_options_t;

typedef struct {
    const char *kind; /* a word: "workers", "overlap" */
    char option[128]; /* of mpiexec: "--workers 2"; "": the program has to change */
    char change[256]; /* the remedy */
    char reason[256]; /* why it helps */
    double gain;      /* of the run time: 0.25 is a quarter less */
    double low, high; /* its range */
    double measured;  /* likewise; NAN: it was not verified */
    double noise;     /* the measured gain is uncertain by so much; NAN: one round does not tell */
} xy_remedy_t;

typedef struct {
    const char *program; /* program of the profile */
    double run;          /* seconds that were recorded */
    double replayed;     /* the same by the unchanged replay */
    double scale;        /* of the costs of messages; 1: those of the store */
    double stolen;       /* part of the computation in which other programs had the core */
    int32_t ranks, cores;
    xy_vec_t remedies; /* of xy_remedy_t, largest gain first; none below XY_ADVISE_LEAST */
    int unsure;        /* replays that gain more than that, and whose range includes a loss */
} xy_advice_t;

#define XY_ADVISE_LEAST  0.01 /* gains below are not listed */
#define XY_ADVISE_LITTLE 0.02 /* if none is above: that is the answer */
#define XY_ADVISE_DOUBT  0.2  /* of the run time: a larger difference of the replay is reported */

/* The profile is that of the log, with its insight. On success the caller owns *advice_p, which
 * refers to the profile. EINVAL (reported): the trace cannot be replayed. */
xy_status_t xy_advise(const xy_trace_log_t *log, const xy_profile_t *profile,
                      const xy_advise_options_t *options, xy_advice_t **advice_p);
void xy_advice_destroy(xy_advice_t *advice); /* NULL is fine */

/* The gain of runs that took with[i] instead of without[i] seconds, measured in turn: the median
 * of the gains of all turns, and half the 95 % interval of that median, by the median deviation.
 * There are `count` turns, 1 or more; `with` is changed. NAN: a run with the remedy failed. */
void xy_remedy_measure(xy_remedy_t *r, const double *without, double *with, size_t count);
/* Is the noise larger than the measured gain, so that its sign is not known? */
bool xy_remedy_is_noise(const xy_remedy_t *r);

/* ---- Output; write errors stay in the FILE ---- */

void xy_advice_text(const xy_advice_t *advice, FILE *file);
void xy_advice_json(const xy_advice_t *advice, FILE *file);

#endif
