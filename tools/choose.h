/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem choose, between its files. */
#ifndef XY_TOOLS_CHOOSE_H
#define XY_TOOLS_CHOOSE_H

#include "adapt/adapt.h"

typedef struct {
    const char *costs, *ran, *reference, *history, *host, *svg;
    xy_vec_t set, map;
    double loss;
    bool run, explain, json, no_history, no_cache;
} choose_values_t;

/* A problem that is asked about: for one instance after the other. */
typedef struct {
    const choose_values_t *v;
    xy_adapt_t *problem;
    xy_costs_t *costs; /* or NULL */
    char *host, *path, *cache, *salt;
    xy_history_t *history; /* or NULL */
    xy_vec_t given;        /* of xy_parameter_t, names in fresh memory */
} choose_t;

/* An answer. */
typedef struct {
    xy_adapt_times_t *times;
    xy_instance_t instance;
    xy_estimate_of_t *of;
    xy_choice_t choice;
} choose_answer_t;

xy_status_t choose_answer(const choose_t *c, const xy_parameter_t *given, size_t count,
                          choose_answer_t *answer_p);
void choose_answer_cleanup(choose_answer_t *answer);

void choose_print_text(const choose_t *c, const choose_answer_t *a, FILE *file);
void choose_print_json(const choose_t *c, const choose_answer_t *a, FILE *file);

/* Draw the winners over two parameters: as text, and as a picture. */
xy_status_t choose_map(const choose_t *c);

/* --history: show, export, import, clear. */
xy_status_t choose_history(const choose_values_t *v, int argc, char **argv);
extern const char *const choose_history_actions[];

/* Alternatives that are simulated: the time of `xylem predict WORD...` and of `xylem stencil
 * WORD...`; argv[0] is the first word. */
xy_status_t predict_simulate(int argc, char **argv, xy_simulated_t *simulated_p);
xy_status_t stencil_simulate(int argc, char **argv, xy_simulated_t *simulated_p);

/* Alternatives of the user (choose_own.c): the number of seconds that the program WORD... prints;
 * and what a function of a shared object returns for some numbers. Likewise what runs them: the
 * program must end with 0, the function return 0; EINVAL, said: it does not. */
xy_status_t choose_ask(const char *verb, int argc, char **argv, xy_simulated_t *simulated_p);
xy_status_t choose_run(void *arg, const char *verb, int argc, char **argv);

#endif
