/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choices of earlier runs, in a file: a run like one before need not try policies again.
 *
 *   xylem choices 1 0.1.0
 *   KEY <tab> POLICY EVICTION ROUNDS MEMORY GPUS CORES LOOK-AHEAD
 *
 * The key names the machine, the graph, the memory and the options of the run. A file of another
 * version of Xylem, or with a line that makes no sense, is not used, which is reported, and
 * replaced. A file that begins otherwise is not one of choices: it is refused, and left as it is.
 */
#ifndef XY_STENCIL_CHOICES_H
#define XY_STENCIL_CHOICES_H

#include "stencil/real.h"

typedef struct stencil_choices {
    char *text;      /* of the file, cut into lines; NULL: there is none */
    xy_vec_t keys;   /* of const char *, oldest first */
    xy_vec_t values; /* of stencil_choice_t */
} stencil_choices_t;

/* The key of a run; NULL: its choice is not kept (a load from a file, a plug-in), or memory ran
 * out. The caller frees it. */
char *stencil_choices_key(const stencil_real_t *r);
/* A file that does not exist has no choices. XY_EPARSE and others (reported): it is not one of
 * choices, or cannot be read. The caller cleans up in all cases. */
xy_status_t stencil_choices_read(const char *path, stencil_choices_t *c);
/* The same from a text that is cut into pieces; it stays the caller's. */
xy_status_t stencil_choices_parse(char *text, const char *path, stencil_choices_t *c);
void stencil_choices_cleanup(stencil_choices_t *c);
/* Is there one for this key that this run can do? Then *choice is what it says. */
bool stencil_choices_find(const stencil_choices_t *c, const char *key, stencil_choice_t *choice);
/* Write the file with one more, or with another for the same key; the oldest go when there are too
 * many. What cannot be written is reported as a warning. */
void stencil_choices_keep(stencil_choices_t *c, const char *path, const char *key,
                          const stencil_choice_t *choice);

#endif
