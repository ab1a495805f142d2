/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as points of a grid, the last coordinate running fastest: the arithmetic of Cartesian
 * topologies. Any thread.
 *
 *   int dims[2] = {0, 0}, coords[2];
 *   xy_grid_factor(12, 2, dims);                      (4 3)
 *   xy_grid_coords(5, 2, dims, coords);               (1 2)
 */
#ifndef XY_BASE_GRID_H
#define XY_BASE_GRID_H

#include <stdbool.h>

/* Coordinates of a number; all dims are positive. */
void xy_grid_coords(int number, int ndims, const int *dims, int *coords);

/* The number of a point. Coordinates outside wrap around where the dimension is periodic; -1: one
 * is outside of another (*bad_p says which). */
int xy_grid_number(int ndims, const int *dims, const int *periods, const int *coords, int *bad_p);

/* The number `steps` further along a dimension; -1: beyond an open end. */
int xy_grid_shift(int number, int ndims, const int *dims, const int *periods, int direction,
                  long steps);

/* The most nearly cubic grid of n >= 1 points: the entries of dims that are 0 get its sides, in
 * non-increasing order. Of all factorisations it is one whose largest and smallest side differ
 * least, and of those the one of least surface: 5040 in 3 is 21 16 15, and not 20 18 14. False: the
 * entries that are set do not divide n, or none is 0 and they do not make n. No entry is negative.
 */
bool xy_grid_factor(int n, int ndims, int *dims);

#endif
