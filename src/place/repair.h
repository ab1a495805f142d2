/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of other libraries made legal. Private to the component. */
#ifndef XY_PLACE_REPAIR_H
#define XY_PLACE_REPAIR_H

#include "place/strategy.h"

/* Leaves that hold more processes than their capacity give the one that talks least with the rest
 * of the leaf to the nearest leaf with room, again and again; the capacities together hold all
 * processes. Silent ENOMEM. */
xy_status_t place_repair(const xy_problem_t *q, uint32_t *leaf_of);

/* The same for a partition: part_of[v] < parts, at most room[part] vertices in each; vertices go
 * where they lose least. Silent ENOMEM. */
xy_status_t place_repair_parts(const place_graph_t *g, uint32_t parts, const uint64_t *room,
                               uint32_t *part_of);

#endif
