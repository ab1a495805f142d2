/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the makers of targets. Private to the component. */
#ifndef XY_PLACE_TARGET_INTERNAL_H
#define XY_PLACE_TARGET_INTERNAL_H

#include "place/target.h"

/* Room for `leaves` leaves and up to `nodes` nodes, all zero; NULL: memory ran out. */
xy_target_t *place_target_allocate(uint32_t leaves, uint32_t nodes);

/* xy_target_live from the files below `root` ("/sys"). */
xy_status_t place_target_read(const char *root, const int *cpus, uint32_t count,
                              xy_target_t **target_p);

#endif
