/* SPDX-License-Identifier: BSD-3-Clause */
/* The chooser, between its files. */
#ifndef XY_CHOOSE_CHOOSE_INTERNAL_H
#define XY_CHOOSE_CHOOSE_INTERNAL_H

#include "choose/choose.h"

/* How far apart two instances are: 0 for equal ones, ln 2 when one parameter doubles; < 0: they
 * have other parameters. */
double choose_distance(const xy_instance_t *a, const xy_instance_t *b);

/* The estimates of the candidates by the history. ENOMEM is reported. */
xy_status_t choose_estimate(const xy_choose_t *request, xy_estimate_of_t *of);

/* The treatment of invalid lines. */
typedef enum { CHOOSE_REFUSE, CHOOSE_WARN, CHOOSE_DROP } choose_bad_t;
xy_status_t choose_history_parse(const char *data, size_t size, const char *path, choose_bad_t bad,
                                 xy_history_t **history_p);
enum { CHOOSE_FILE_MAX = 64 << 20 };

/* One line of the file, without its end; false, in silence: it is none. What it points to lives in
 * `words`, where parameters are, too. *status_p: ENOMEM. */
bool choose_line_parse(const char *line, size_t length, xy_arena_t *words, xy_run_t *run_p,
                       xy_status_t *status_p);
/* Append it with its end; false: it cannot be written. */
bool choose_line_format(const xy_run_t *run, xy_text_t *text);
/* Remove the profiles of a problem on a host (NULL: of all) that are beside the history. */
xy_status_t choose_profiles_clear(const char *path, const char *problem, const char *host);
/* Whether two runs are written the same. */
bool choose_line_equal(const xy_run_t *a, const xy_run_t *b);

#endif
