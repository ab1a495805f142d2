/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the component. */
#ifndef XY_SIM_LEVELS_H
#define XY_SIM_LEVELS_H

#include "sim/sim_internal.h"

typedef struct {
    int *nodes; /* [ranks]: numbered in the order of their first ranks */
    int count;
    xy_coll_link_t between; /* cost of a message between two nodes */
} sim_levels_t;

/* Errors are those of xy_sim_create, and a way between nodes without figures. Clean up in any case.
 */
xy_status_t sim_levels_make(const xy_sim_node_t *node, int ranks, sim_levels_t *levels);
void sim_levels_cleanup(sim_levels_t *levels);

#endif
