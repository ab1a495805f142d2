/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that are not known, from a recorded run: see recorded.h. */
#ifndef XY_PROGRAM_WALK_ORACLE_H
#define XY_PROGRAM_WALK_ORACLE_H

#include "program/recorded_calls.h"
#include "program/walk.h"

typedef struct walk_oracle walk_oracle_t;

/* For the sites of `code`, whose `index` is set. NULL: memory ran out, in silence. */
walk_oracle_t *walk_oracle_new(const xy_recorded_t *recorded, const code_t *code);
void walk_oracle_free(walk_oracle_t *oracle); /* NULL is fine */
/* The first recorded call of a rank. */
size_t walk_oracle_first(const walk_oracle_t *oracle, int32_t rank);
/* The learned values; the caller owns them. */
xy_learned_t *walk_oracle_take(walk_oracle_t *oracle);

/* The process makes this call; it is complete. False (reported): the recorded one did not. */
bool walk_oracle_follow(walker_t *w, const code_site_t *site);
bool walk_oracle_end(walker_t *w);
/* A value that is not known; false (reported): it cannot be told. */
bool walk_oracle_ask(walker_t *w, int32_t unknown, double *value_p);
/* ... that was learned. */
bool walk_learned_next(walker_t *w, int32_t unknown, double *value_p);

#endif
