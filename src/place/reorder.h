/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reordering: processes stay where they are and get other numbers, so that partners are near each
 * other. Each leaf of the target gets as many numbers as it has members; when fewer numbers are
 * needed than there are members, they are spread evenly. Members who may keep their number do.
 *
 *   leaf_of   0 0 1 1     0 and 2 talk, 1 and 3     ->  member  0 2 1 3
 */
#ifndef XY_PLACE_REORDER_H
#define XY_PLACE_REORDER_H

#include "place/matrix.h"
#include "place/target.h"

/* member[i], [points], becomes the process that gets number i: 0 .. size - 1, each at most once.
 * leaf_of[size] is where processes are; the entries, of numbers below `points`, are sorted in
 * place. Without an order that is better, or when something fails, numbers stay as they are. Takes
 * some kilobytes of stack, however many processes there are. */
void xy_place_reorder(const xy_target_t *target, const uint32_t *leaf_of, int size, int points,
                      xy_vec_t *entries, int *member);
/* The messages of the points of a grid: each equally much to its neighbours along every dimension,
 * the last coordinate running fastest. Appends xy_matrix_entry_t; XY_ENOMEM in silence. */
xy_status_t xy_place_grid_pattern(int ndims, const int *dims, const int *periods, int points,
                                  xy_vec_t *entries);
/* The leaf of each process that runs on core core_of[i] of `machine`, on the target of its cores
 * (xy_cores_machine). On success the caller destroys *target_p. */
xy_status_t xy_place_core_leaves(const xy_machine_t *machine, const int32_t *core_of, int size,
                                 uint32_t *leaf_of, xy_target_t **target_p);

#endif
