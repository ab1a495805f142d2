/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formulas: C expressions whose values are all real numbers.
 *
 *   xy_formula_t *f;
 *   double seconds;
 *   st = xy_formula_parse("dgemm(n / p, n, n) + p * message(8 * n)", "file", 3, &f);
 *   st = xy_formula_value(f, &names, &seconds);
 *   xy_formula_destroy(f);
 *
 * Numbers, + - * / %, comparisons, && || !, ?: and parentheses are those of C, except that 7 / 2 is
 * 3.5. min, max, floor, ceil, round, abs, sqrt, cbrt, log, log2, exp and pow are known; the caller
 * gives names and other functions a value. `infinity` marks an alternative that is never chosen.
 * One thread at a time per formula; nothing parks.
 */
#ifndef XY_PROGRAM_FORMULA_H
#define XY_PROGRAM_FORMULA_H

#include "base/base.h"

typedef struct xy_formula xy_formula_t;

enum { XY_FORMULA_ARGS_MAX = 8 };

/* The values of names and calls in a formula. A value that is not known (false) is reported by the
 * formula, with its place; a known one that fails reports it and sets the status. `each` (may be
 * NULL) gives sum(), most() and least() something to go through: the i-th is looked at from now on;
 * false: there are no more. `each_start` returns what was looked at before, for `each_end`. */
typedef struct {
    void *arg;
    bool (*name)(void *arg, const char *name, double *value_p, xy_status_t *status_p);
    bool (*call)(void *arg, const char *name, const double *args, size_t count, double *value_p,
                 xy_status_t *status_p);
    const void *(*each_start)(void *arg);
    bool (*each)(void *arg, size_t i);
    void (*each_end)(void *arg, const void *before);
} xy_formula_names_t;

/* EPARSE (reported, with file and line): no expression, or one with what formulas do not have. On
 * success the caller owns *formula_p. */
xy_status_t xy_formula_parse(const char *text, const char *file, long line,
                             xy_formula_t **formula_p);
void xy_formula_destroy(xy_formula_t *formula); /* NULL is fine */
const char *xy_formula_text(const xy_formula_t *formula);

/* EINVAL (reported): a name or function that is not known, a wrong number of arguments, or a value
 * that is no number. */
xy_status_t xy_formula_value(const xy_formula_t *formula, const xy_formula_names_t *names,
                             double *value_p);

#endif
