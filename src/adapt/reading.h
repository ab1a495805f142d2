/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a problem, between its files. */
#ifndef XY_ADAPT_READING_H
#define XY_ADAPT_READING_H

#include "adapt/adapt_internal.h"

typedef struct {
    xy_adapt_t *problem;
    long line;
} adapt_reading_t;

/* XY_EPARSE, reported with the place, and with the word in quotes where it is not NULL. */
xy_status_t adapt_reading_fail(const adapt_reading_t *r, const char *what, const char *word);
xy_status_t adapt_reading_memory(void); /* XY_ENOMEM, reported */
/* A copy that lives as long as the problem; NULL: memory ran out. */
char *adapt_reading_keep(adapt_reading_t *r, const char *text);
/* The next word; *rest_p continues behind it and the blanks that follow. */
char *adapt_reading_word(char **rest_p);
xy_status_t adapt_reading_formula(adapt_reading_t *r, const char *text, xy_formula_t **formula_p);

/* The rest of a line after its first word (read_definitions.c, read_alternatives.c). */
xy_status_t adapt_read_problem(adapt_reading_t *r, char *rest);
xy_status_t adapt_read_parameter(adapt_reading_t *r, char *rest);
xy_status_t adapt_read_let(adapt_reading_t *r, char *rest);
xy_status_t adapt_read_node(adapt_reading_t *r, char *rest);
xy_status_t adapt_read_independent(adapt_reading_t *r, char *rest);
xy_status_t adapt_read_alternative(adapt_reading_t *r, char *rest);
xy_status_t adapt_read_when(adapt_reading_t *r, char *rest);
xy_status_t adapt_read_run(adapt_reading_t *r, char *rest);

#endif
