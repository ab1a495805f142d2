/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Improving a placement by exchanges, with the real distances. Private to the component.
 */
#ifndef XY_PLACE_REFINE_H
#define XY_PLACE_REFINE_H

#include "place/matrix_graph.h"
#include "place/target.h"

/* Processes from which on time counts more than the last percent. */
enum { PLACE_LARGE = 50000 };

/* On a tree: exchanges between the groups of leaves, then between the groups of groups, up to the
 * root. `capacity` is per leaf; `height` is target->hops or target->weight; leaf_of is changed in
 * place and costs no more than before. Silent ENOMEM. */
xy_status_t place_refine_tree(const place_graph_t *g, const xy_target_t *t,
                              const uint32_t *capacity, const double *height, uint32_t sweeps,
                              uint64_t seed, uint32_t *leaf_of);

/* On a grid, where every cell is at its own distance: where all nodes are alike, what each runs
 * changes places as a whole; then each process tries the leaves beside and around its partners. An
 * exchange keeps the number of processes of both leaves. Silent ENOMEM. */
xy_status_t place_refine_grid(const place_graph_t *g, const xy_target_t *t,
                              const uint32_t *capacity, uint32_t sweeps, bool is_weighted,
                              uint32_t *leaf_of);

#endif
