/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which hosts there are (private to the room).
 *
 *   cost_asked_t hosts = COST_ASKED_INIT;
 *   st = cost_asked_read("hosts.txt", &hosts);
 *   st = cost_asked_ask("hosts.txt", NULL, 10, &hosts);
 *   cost_asked_cleanup(&hosts);
 */
#ifndef XY_MEASURE_DISCOVER_H
#define XY_MEASURE_DISCOVER_H

#include "base/base.h"

typedef struct {
    xy_vec_t names;  /* of char *: as the file calls them, each once */
    xy_vec_t called; /* of char *: as they call themselves; empty: not asked */
} cost_asked_t;

#define COST_ASKED_INIT                                                                            \
    (cost_asked_t)                                                                                 \
    {                                                                                              \
        .names = XY_VEC_INIT(char *), .called = XY_VEC_INIT(char *)                                \
    }

/* The names in a file, one on each line; '#' starts a comment. EPARSE: there are none. The caller
 * cleans up, also on failure. */
xy_status_t cost_asked_read(const char *path, cost_asked_t *hosts);

/* Ask all at once what they call themselves, through `agent` (NULL: ssh); they have `patience`
 * seconds. Those that do not answer, and those that turn out to be one that was asked already, are
 * warned of and left out. ENOENT: none of `path` answers. */
xy_status_t cost_asked_ask(const char *path, const char *agent, double patience,
                           cost_asked_t *hosts);

void cost_asked_cleanup(cost_asked_t *hosts);

#endif
