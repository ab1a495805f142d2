/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of cores as they are made, and the operating system's own list. */
#ifndef XY_PLACE_CORE_LIST_H
#define XY_PLACE_CORE_LIST_H

#include "place/place.h"

/* An empty list with room for `count` cores. */
xy_status_t place_cores_allocate(xy_cores_t *cores, int count);
/* Add a core behind the others; nodes come one after the other. */
void place_cores_append(xy_cores_t *cores, int cpu, bool is_new_node);

/* The cores of `allowed`, from the files below `root` ("/sys"). */
xy_status_t place_cores_read(const char *root, const xy_bitset_t *allowed, bool is_each_thread,
                             xy_cores_t *cores);

#endif
