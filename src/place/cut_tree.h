/* SPDX-License-Identifier: BSD-3-Clause */
/* Walking down the target, cutting the processes among its children. Private to the component. */
#ifndef XY_PLACE_CUT_TREE_H
#define XY_PLACE_CUT_TREE_H

#include "place/strategy.h"

/* Cut g, whose vertices are the processes ids[0 .. g->n), into `parts`, at most room[i] vertices in
 * part i (together they hold all). Silent ENOMEM.
 */
typedef xy_status_t (*place_cut_fn)(void *arg, const place_graph_t *g, const uint32_t *ids,
                                    uint32_t parts, const uint64_t *room, uint32_t *part_of);

/* From the root down, cut the processes of each node among the children that are needed: the fewest
 * that hold them, the largest first. With `spare`, up to as many more, and where one suffices the
 * largest instead of the smallest. Leaves that are all alike are given out in order. Silent ENOMEM.
 */
xy_status_t place_cut_tree(const xy_problem_t *q, uint32_t spare, place_cut_fn cut, void *arg,
                           uint32_t *leaf_of);

#endif
