/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns that are grids: processes of a 2D or 3D box that exchange messages with their neighbours
 * along the axes, whatever their ranks. With coordinates a box can be cut into bricks directly.
 * Private to the component.
 */
#ifndef XY_PLACE_GRID_PATTERN_H
#define XY_PLACE_GRID_PATTERN_H

#include "place/matrix_graph.h"

typedef struct {
    int dimensions; /* 2 or 3; 0: the pattern is no grid */
    uint32_t size[3];
    uint32_t *at[3]; /* coordinates of each vertex; NULL beyond the dimensions */
} place_grid_pattern_t;

/* Find coordinates, or dimensions 0. Silent ENOMEM. */
xy_status_t place_grid_pattern_find(const place_graph_t *g, place_grid_pattern_t *l);
void place_grid_pattern_cleanup(place_grid_pattern_t *l);

/* Cut g, the part of the grid whose vertices are ids[0 .. g->n) of the whole, into bricks of at
 * most room[i] vertices: slabs along one axis, columns in each slab, bricks in each column, in the
 * numbers that cut least. Silent ENOMEM. */
xy_status_t place_grid_pattern_cut(const place_grid_pattern_t *l, const place_graph_t *g,
                                   const uint32_t *ids, uint32_t parts, const uint64_t *room,
                                   uint32_t *part_of);

#endif
