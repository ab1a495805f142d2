/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prediction: walk a description once per process, on a machine, by the virtual clock.
 *
 *   xy_predict_config_t c = {.machine = m, .procs = 64, .core_of = core_of, .costs = costs, ...};
 *   xy_prediction_t *p;
 *   st = xy_predict(program, &c, &p);
 *   printf("%g s\n", p->seconds);
 *   xy_prediction_destroy(p);
 *
 * sim/job.h gives the costs of messages, the models of the store those of kernels. Equal input
 * gives equal predictions, to the last bit, and those of a real run in virtual time whose
 * computation is modelled. One thread; nothing parks.
 */
#ifndef XY_PROGRAM_PREDICT_H
#define XY_PROGRAM_PREDICT_H

#include "cost/cost.h"
#include "program/program.h"
#include "program/recorded.h"
#include "sim/sim.h"

/* A value that is not known, or what a pass of a loop costs: NAME=TEXT. */
typedef struct {
    const char *name, *text;
} xy_predict_given_t;

typedef struct {
    xy_vjob_config_t job; /* all but the callbacks: machine, procs, core_of, costs, progress, ... */
    const xy_costs_t *costs;       /* models of kernels; or NULL */
    const char *const *cluster_of; /* [procs] for the models of kernels; or NULL: of any cluster */
    const int32_t *node_of;        /* [procs] which share memory; or NULL: all do */
    double message_error;          /* relative, of the models of messages; < 0: not known */
    int32_t team_most;             /* threads of a team of OpenMP; 0: any */
    double speed;                  /* computation is so many times as fast; 0: 1 */
    int argc;
    const char *const *argv; /* with the name of the program */
    const char *const *env;  /* NAME=VALUE of its environment */
    size_t env_count;
    const xy_predict_given_t *assumed;
    size_t assumed_count;
    const xy_predict_given_t *loop_costs; /* seconds per pass of <compute> elements, by name */
    size_t loop_cost_count;
    double cost_all;    /* seconds per pass of all others; 0: they are free */
    long limit;         /* passes of loops per process; 0: 10^8 */
    bool allow_missing; /* kernels without a model are free; else an error that lists them */
    const xy_learned_t *learned; /* values of a recorded run (recorded.h); or NULL */
} xy_predict_config_t;

typedef struct {
    const char *file; /* of the description, which must live as long */
    long line;
    const char *what; /* "MPI_Bcast", "dgemm"; NULL: computation */
    xy_vjob_kind_t kind;
    double seconds; /* on the critical path */
} xy_predict_line_t;

typedef struct {
    const char *name;
    bool is_kernel;  /* else a loop */
    bool is_missing; /* there is no model or cost: it was free */
    bool is_extrapolated;
    uint64_t calls;
    double seconds; /* of all processes together */
    double error;   /* mean relative error of its model at sizes that it was not fitted to */
} xy_predict_kernel_t;

typedef struct {
    double seconds;
    double error; /* relative: how far off the models may be; < 0: not known */
    int32_t procs;
    xy_vjob_totals_t totals;
    uint64_t kernel_calls;
    xy_vjob_proc_t *proc; /* [procs] */
    xy_vec_t lines;       /* of xy_predict_line_t, longest first */
    xy_vec_t kernels;     /* of xy_predict_kernel_t */
    xy_vec_t pairs;       /* of xy_vjob_pair_t, when the job was to count them */
} xy_prediction_t;

/* EINVAL: the program is wrong, or its processes wait for each other, and the waits are listed.
 * ENOENT: models are missing. EUSAGE: an assumption without an unknown. All are reported. */
xy_status_t xy_predict(const xy_program_t *program, const xy_predict_config_t *config,
                       xy_prediction_t **prediction_p);
void xy_prediction_destroy(xy_prediction_t *prediction); /* NULL is fine */

/* Values from a recorded run; `config` is for its processes. EINVAL (reported): walk and run part.
 * On success the caller owns *learned_p. */
xy_status_t xy_predict_learn(const xy_program_t *program, const xy_predict_config_t *config,
                             const xy_recorded_t *recorded, xy_learned_t **learned_p);

#endif
