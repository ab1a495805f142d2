/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the pictures of this component. */
#ifndef XY_PLACE_PLACE_SVG_H
#define XY_PLACE_PLACE_SVG_H

#include <stdio.h>

#include "draw/draw.h"
#include "place/output.h"

/* "22016", "8.1966 M": five digits, and a letter when that is not enough. */
static inline const char *place_svg_number(double value, char buffer[32])
{
    static const char letters[] = " kMGTPE";
    int k = 0;

    if (value >= 99999.5)
        for (; value >= 999.995 && letters[k + 1] != '\0'; k++)
            value /= 1000;
    if (k == 0)
        snprintf(buffer, 32, "%.5g", value);
    else
        snprintf(buffer, 32, "%.5g %c", value, letters[k]);
    return buffer;
}

/* A bar of `share` of the whole with a line of text above it. */
void place_svg_bar(const xy_svg_t *svg, double x, double y, double share, const char *text);

/* The subject of the picture. */
typedef struct {
    const xy_place_t *place;
    const xy_matrix_t *matrix;
    xy_metric_t metric;
    const xy_target_t *t;
    FILE *file;
    xy_svg_t svg;
    uint32_t *rank;    /* the first rank of each leaf */
    uint32_t *on_leaf; /* how many */
} place_drawing_t;

/* A leaf as a box with its rank around x, its number below. */
void place_svg_leaf(const place_drawing_t *d, uint32_t leaf, double x, double y);

/* The cells of a torus or mesh, and how far what is sent travels: its size, and at its place. */
void place_svg_grid_size(const xy_target_t *t, double *width_p, double *height_p);
void place_svg_grid(const place_drawing_t *d, double left, double top);

enum { PLACE_SVG_CELL = 26, PLACE_SVG_BOX = 22, PLACE_SVG_NOTES = 210 };

#endif
