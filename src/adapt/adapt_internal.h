/* SPDX-License-Identifier: BSD-3-Clause */
/* Problems, between their files. */
#ifndef XY_ADAPT_ADAPT_INTERNAL_H
#define XY_ADAPT_ADAPT_INTERNAL_H

#include "adapt/adapt.h"
#include "program/program.h"

enum { ADAPT_LINE_MAX = 8192, ADAPT_ITEMS_MAX = 64 };

typedef struct {
    const char *name;
    bool has_default;
    double value;
} adapt_parameter_t;

typedef struct {
    const char *name;
    xy_formula_t *formula;
} adapt_named_t;

typedef struct {
    const char *name, *cluster; /* of the models; NULL: any */
    xy_vec_t values;            /* of adapt_named_t */
} adapt_node_t;

/* Rows with a value for each parameter of the problem, and a time. */
typedef struct {
    size_t parameters, rows;
    double *values; /* [rows][parameters + 1], sorted; the time is the last */
} adapt_table_t;

typedef struct {
    const char *name;
    const char *how;    /* "formula", "table", or a verb */
    const char *words;  /* of a verb; or NULL */
    xy_vec_t terms;     /* of xy_formula_t *: what is added up */
    xy_formula_t *when; /* NULL: always */
    adapt_table_t table;
    long line;
    const char *run; /* words of what runs it; NULL: there is no such line */
    bool is_program; /* else a function of a shared object */
    long run_line;
} adapt_alternative_t;

struct xy_adapt {
    xy_arena_t *words;
    const char *path, *name;
    bool is_independent;
    xy_vec_t parameters;   /* of adapt_parameter_t */
    xy_vec_t lets;         /* of adapt_named_t; each sees those before it */
    xy_vec_t nodes;        /* of adapt_node_t */
    xy_vec_t alternatives; /* of adapt_alternative_t */
};

/* ---- Tables (problem_table.c) ---- */

/* Rows of a CSV file whose first line names its columns: the parameters, "seconds" and, where it
 * has one, "alternative", which selects rows. */
xy_status_t adapt_table_read(const xy_adapt_t *problem, const char *path, const char *alternative,
                             adapt_table_t *table_p);
xy_status_t adapt_table_parse(const xy_adapt_t *problem, char *data, const char *path,
                              const char *alternative, adapt_table_t *table_p);
void adapt_table_cleanup(adapt_table_t *table);
/* Between rows by straight lines in logarithms, one parameter after the other; *is_outside_p: it
 * had to continue beyond the rows. */
double adapt_table_value(const adapt_table_t *table, const double *values, bool *is_outside_p);

/* ---- Earlier answers (cache.c) ---- */

/* The key of a command: its words, the files that they name and the salt. */
uint64_t adapt_cache_key(const char *salt, const char *verb, int argc, char **argv);
bool adapt_cache_find(const char *path, uint64_t key, xy_simulated_t *simulated_p);
/* Failed writes are ignored, in silence. */
void adapt_cache_add(const char *path, uint64_t key, const xy_simulated_t *simulated);

/* ---- Values (value.c) ---- */

typedef struct {
    const xy_adapt_t *problem;
    const xy_costs_t *costs;
    const double *values; /* of the parameters */
    size_t lets;          /* visible */
    const adapt_node_t *node;
    double error; /* the most of the models that were asked; < 0: none was */
    int depth;
} adapt_scope_t;

xy_status_t adapt_value(adapt_scope_t *scope, const xy_formula_t *formula, double *value_p);
/* "{EXPRESSION}" in a text becomes its value; into the arena. */
xy_status_t adapt_expand(adapt_scope_t *scope, const char *text, long line, xy_arena_t *arena,
                         char **text_p);

#endif
