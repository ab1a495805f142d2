/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Problems with several algorithms: a file names the alternatives, and for each a way to predict
 * its time.
 *
 *   xy_adapt_t *p;
 *   xy_adapt_given_t g = {.parameters = &n, .count = 1, .costs = costs, .simulate = simulate};
 *   xy_adapt_times_t *times;
 *   st = xy_adapt_read("matmul.problem", &p);
 *   st = xy_adapt_evaluate(p, &g, &times);
 *   ... times->candidates is what xy_choose() takes ...
 *
 * docs/adapt.md has the format. An alternative is a formula over parameters and models of costs, a
 * table of measured times, or a command whose simulation the caller runs; answers of simulations
 * may be kept in a file. One thread at a time per problem; nothing parks.
 */
#ifndef XY_ADAPT_ADAPT_H
#define XY_ADAPT_ADAPT_H

#include "choose/choose.h"
#include "cost/cost.h"

typedef struct xy_adapt xy_adapt_t;

/* EPARSE with file and line. On success the caller owns *problem_p. */
xy_status_t xy_adapt_read(const char *path, xy_adapt_t **problem_p);
xy_status_t xy_adapt_parse(const char *data, size_t size, const char *path, xy_adapt_t **problem_p);
void xy_adapt_destroy(xy_adapt_t *problem); /* NULL is fine */
const char *xy_adapt_name(const xy_adapt_t *problem);

enum { XY_ADAPT_WHERE = 256 };

/* The answer of a simulation. */
typedef struct {
    double seconds, error;      /* relative; < 0: not known */
    char where[XY_ADAPT_WHERE]; /* where the time goes, in words */
} xy_simulated_t;

/* Simulate `xylem VERB WORD...`, where VERB is "predict" or "stencil"; ask the program WORD...
 * ("program"), or call a function of a shared object ("plugin": FILE FUNCTION NUMBER...). argv[0]
 * is the first word behind the verb. Failures are reported. */
typedef xy_status_t (*xy_simulate_fn)(void *arg, const char *verb, int argc, char **argv,
                                      xy_simulated_t *simulated_p);

typedef struct {
    const xy_parameter_t *parameters;
    size_t count;
    const xy_costs_t *costs; /* NULL: formulas may not ask for models */
    xy_simulate_fn simulate; /* NULL: alternatives that need it are errors */
    void *arg;
    const char *cache; /* file of earlier answers of simulations; NULL: none */
    const char *salt;  /* on which answers depend besides their words and the files among them */
} xy_adapt_given_t;

typedef struct {
    xy_parameter_t *parameters; /* all of the problem, in its order */
    size_t parameter_count;
    size_t count, nodes;        /* nodes: 1 where the problem names none */
    xy_candidate_t *candidates; /* [count]: predicted is the most over all nodes */
    double *seconds;            /* [count][nodes] */
    const char **node;          /* [nodes] names; NULL in a problem without nodes */
    const char **where;         /* [count] where the time goes; "": not known */
    const char **how;           /* [count] "formula", "table", "predict", ... */
    size_t cached;              /* answers that came from the file */
    bool is_independent;        /* each node may use its own best */
    xy_arena_t *words;
} xy_adapt_times_t;

/* EUSAGE: a parameter without a value, or a value for none. ENOENT: a model is missing. All
 * failures are reported. On success the caller owns *times_p, which points into the problem. */
xy_status_t xy_adapt_evaluate(const xy_adapt_t *problem, const xy_adapt_given_t *given,
                              xy_adapt_times_t **times_p);
/* Hand the words of the 'run' line of alternative `i` to `run`, with "program" or "plugin" as the
 * verb, and return what it does. EUSAGE: there is no such line. */
typedef xy_status_t (*xy_run_fn)(void *arg, const char *verb, int argc, char **argv);
xy_status_t xy_adapt_run(const xy_adapt_t *problem, const xy_adapt_given_t *given, size_t i,
                         xy_run_fn run, void *arg);
void xy_adapt_times_destroy(xy_adapt_times_t *times); /* NULL is fine */

#endif
