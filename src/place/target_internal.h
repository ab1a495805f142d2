/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the makers of targets. Private to the component. */
#ifndef XY_PLACE_TARGET_INTERNAL_H
#define XY_PLACE_TARGET_INTERNAL_H

#include "place/target.h"

/* Room for `leaves` leaves and up to `nodes` nodes, all zero; NULL: memory ran out. */
xy_target_t *place_target_allocate(uint32_t leaves, uint32_t nodes);

/* The next node of the tree below or at object `o`: one that branches, or a leaf. Its links up to
 * `from` are added to the heights of node `k`. */
xy_obj_t place_target_descend(const xy_machine_t *m, xy_obj_t from, xy_obj_t o,
                              const double *weight, xy_target_t *t, uint32_t k);
/* Add the children of node `i`, which is object[i], or number it as a leaf. `weight`: of the link
 * above each level. */
void place_target_expand(const xy_machine_t *m, const double *weight, xy_obj_t *object,
                         xy_target_t *t, uint32_t i);

/* All nodes of a target with the room for them, where the nodes of the machine are cells of `grid`.
 * ENOMEM is reported. */
xy_status_t place_target_cells(const xy_machine_t *m, const xy_grid_t *grid, const double *weight,
                               xy_obj_t *object, xy_target_t *t);
/* The cells of a target as leaves of another one. Silent ENOMEM. */
xy_status_t place_target_of_cells(const xy_target_t *t, xy_target_t **cells_p);

/* xy_target_live from the files below `root` ("/sys"). */
xy_status_t place_target_read(const char *root, const int *cpus, uint32_t count,
                              xy_target_t **target_p);

#endif
