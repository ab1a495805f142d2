/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the component. */
#ifndef XY_ADVISE_ADVISE_INTERNAL_H
#define XY_ADVISE_ADVISE_INTERNAL_H

#include "advise/advise.h"
#include "place/place.h"
#include "program/program.h"
#include "sim/sim.h"

enum { ADVISE_RANGE = 3 }; /* replays of a case: costs as fitted, smaller, larger */

typedef struct {
    const xy_trace_log_t *log;
    const xy_profile_t *profile;
    const xy_advise_options_t *options;
    xy_analysis_t *analysis;
    xy_machine_t *machine;
    int32_t ranks, cores; /* cores of the machine, */
    int32_t used;         /* ... and those that had ranks */
    int32_t *core_of;     /* [ranks] in the run */
    xy_vjob_costs_t costs;
    double *stolen;     /* [steps of the log]: from the computation before a call, in seconds */
    bool leaves_stolen; /* replays are without it */
    double base[ADVISE_RANGE]; /* seconds of the unchanged replay */
    double rest;               /* left over by the fit, of the run time */
    xy_advice_t *out;
} advise_t;

/* The changes of a replay; all 0: none. */
typedef struct {
    xy_replay_t *replay;    /* NULL: as recorded */
    const int32_t *core_of; /* NULL: likewise */
    const int32_t *comm_cores;
    int32_t comm_core_count;
    uint64_t eager; /* 0: that of the run */
    const xy_coll_picks_t *picks;
} advise_case_t;

/* A replay of the run from the return of MPI_Init. The caller destroys it. */
xy_status_t advise_replay(const advise_t *a, xy_replay_t **replay_p);
/* Replay a case, and list the remedy if it is worth it: one of each kind that changes options, the
 * best. gain, low and high are set. A case that cannot be replayed is left out, in silence. */
xy_status_t advise_try(advise_t *a, const advise_case_t *c, const xy_remedy_t *remedy);

/* Find what other programs had of the computation: a->stolen and its share. And take it from the
 * computation of a replay. */
xy_status_t advise_find_stolen(advise_t *a);
void advise_leave_out_stolen(const advise_t *a, xy_script_proc_t *p);

/* The site of an operation's call, in the profile. */
uint32_t advise_site(const advise_t *a, const xy_script_op_t *op);

/* Add remedies that change options, or the program. */
xy_status_t advise_settings(advise_t *a);
xy_status_t advise_changes(advise_t *a);

#endif
