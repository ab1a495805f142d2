/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem predict, between its files. */
#ifndef XY_TOOLS_PREDICT_H
#define XY_TOOLS_PREDICT_H

#include "place/place.h"
#include "program/program.h"
#include "sched/sched.h"

typedef struct {
    const char *machine, *hosts, *place, *progress, *comm_cores, *split, *progress_place,
        *progress_order, *library, *algorithm, *costs;
    const char *html, *trace, *matrix, *csv, *svg, *what_if, *from_trace;
    xy_vec_t arg, env, assume, cost, sweep, includes, defines, kernels;
    double cost_all;
    uint64_t eager;
    long procs, limit, lines, threads;
    bool json, verbose, oversubscribe, free_kernels;
} predict_values_t;

/* The input of a prediction: the description, and the machine with its models. */
typedef struct {
    const predict_values_t *v;
    const char *name; /* of the program */
    const xy_program_t *program;
    xy_program_t *read; /* where it was read; or */
    xy_scan_t *scan;    /* made from C */
    xy_machine_t *machine;
    xy_costs_t *costs; /* or NULL */
    xy_cores_t cores;  /* all of it; cpu[i] is i */
    xy_cores_t ranks;  /* without those for communication; cpu[i] is the number in `cores` */
    int32_t *comm;     /* cores for communication */
    int32_t comm_count;
    const xy_threads_t *places[XY_COLL_COUNT]; /* of progress threads, as */
    const xy_order_t *orders[XY_COLL_COUNT];   /* ... in a job */
    int split;
    xy_obj_t *leaf_of; /* [cores.count] */
    double speed;
    xy_learned_t *learned; /* values of a recorded run; or NULL */
} predict_t;

/* A prediction of it for some processes: all that one may change from one to the next. */
typedef struct {
    int32_t procs;
    const char *const *argv; /* after the name of the program */
    int argc;
    const xy_predict_given_t *assumed;
    size_t assumed_count;
    const int32_t *core_of; /* NULL: as the options say */
    const char *trace;      /* file; or NULL */
    bool has_path, has_matrix;
} predict_case_t;

/* A description, or C sources. */
xy_status_t predict_read(predict_t *p, int count, char **paths);
xy_status_t predict_load(predict_t *p);
void predict_cleanup(predict_t *p);
/* Values from --from-trace; once, when all is loaded. */
xy_status_t predict_learn(predict_t *p);
xy_status_t predict_run(const predict_t *p, const predict_case_t *c,
                        xy_prediction_t **prediction_p);

/* Cores by --hosts, --place or the default; [procs], which the caller frees. With a strategy that
 * needs a matrix: by the default (and *needs_matrix_p). */
xy_status_t predict_place(const predict_t *p, int32_t procs, int32_t **core_of_p,
                          bool *needs_matrix_p);
/* By the strategy of --place, from what a prediction has counted. */
xy_status_t predict_place_again(const predict_t *p, const xy_prediction_t *counted,
                                int32_t **core_of_p);
xy_status_t predict_matrix(const xy_prediction_t *counted, xy_matrix_t **matrix_p);

/* "bandwidth*2,local.Barrier=1us": change the machine, the models, the speed, or one figure; or
 * check that it can be done. */
xy_status_t predict_change(predict_t *p, const char *text, bool is_check);

/* "NAME=TEXT" lists; the caller frees the array (whose strings it then owns) with given_free. */
xy_status_t predict_given(const xy_vec_t *list, const char *option, xy_predict_given_t **given_p);
void predict_given_free(xy_predict_given_t *given, size_t count);

/* Change the figure of this name: "=" to the value, "*" or "/" by a factor. EUSAGE: there is none.
 */
xy_status_t predict_figures_change(predict_t *p, const char *name, char sign, const char *text,
                                   bool is_check);

/* ---- Output ---- */

/* All figures that the model has. */
void predict_figures_text(const predict_t *p, FILE *file);
void predict_figures_json(const predict_t *p, xy_json_t *json);

void predict_print_text(const predict_t *p, const xy_prediction_t *r, FILE *file);
/* `before`: its time before it was placed by what it sends; 0: it was not. */
void predict_print_json(const predict_t *p, const xy_prediction_t *r, double before, FILE *file);
xy_status_t predict_sweep(const predict_t *p);

#endif
