/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the hosts (private to the component).
 *
 *   measure_discovery_t hosts = MEASURE_DISCOVERY_INIT;
 *   st = measure_discovery_read("hosts.txt", &hosts);
 *   st = measure_discover("hosts.txt", NULL, 10, &hosts);
 *   measure_discovery_cleanup(&hosts);
 */
#ifndef XY_MEASURE_DISCOVER_H
#define XY_MEASURE_DISCOVER_H

#include "base/base.h"

typedef struct {
    xy_vec_t names;  /* of char *: as the file calls them, each once */
    xy_vec_t called; /* of char *: as they call themselves; empty: not asked */
} measure_discovery_t;

#define MEASURE_DISCOVERY_INIT                                                                     \
    (measure_discovery_t)                                                                          \
    {                                                                                              \
        .names = XY_VEC_INIT(char *), .called = XY_VEC_INIT(char *)                                \
    }

/* The names in a file, one on each line; '#' starts a comment. EPARSE: there are none. The caller
 * cleans up, also on failure. */
xy_status_t measure_discovery_read(const char *path, measure_discovery_t *hosts);

/* Ask all at once what they call themselves, through `agent` (NULL: ssh); they have `patience`
 * seconds. Those that do not answer, and those that turn out to be one that was asked already, are
 * warned of and left out. ENOENT: none of `path` answers. */
xy_status_t measure_discover(const char *path, const char *agent, double patience,
                             measure_discovery_t *hosts);

void measure_discovery_cleanup(measure_discovery_t *hosts);

#endif
