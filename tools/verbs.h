/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs of the command. Each is one file verb_NAME.c that ends in a table `verb_NAME`, listed
 * in verbs.c; the rest (help, man page, completion, suggestions) follows from the table.
 */
#ifndef XY_TOOLS_VERBS_H
#define XY_TOOLS_VERBS_H

#include "base/base.h"

/* All verbs in the order in which help lists them, ended by NULL. */
extern const xy_command_t *const verbs[];

/* The verb of this name. ENOENT is never returned: an unknown name is wrong usage (XY_EUSAGE) and
 * said with the nearest verb. */
xy_status_t verb_find(const char *name, const xy_command_t **verb_p);

/* Offer the topics of xylem explain to the shell. */
void explain_offer_topics(xy_offer_fn offer, void *to);

/* Programs beside this one, for their man pages and completion. */
extern const xy_command_t command_mpicc, command_mpicxx, command_mpifort;

#endif
