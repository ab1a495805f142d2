/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A placement on a torus or mesh as a picture: planes of cells side by side, the first dimension
 * to the right and the second down, the cores of a cell side by side, and beside them how many
 * links what is sent travels.
 */
#include "place/place_svg.h"

enum { SHOWN_MAX = 4096, ROW = 40, GAP = 18, INSIDE = 8, ACROSS = 1200, FARTHEST = 8 };

typedef struct {
    uint32_t wide, high; /* cells of a plane */
    uint32_t cores;      /* beside each other in a cell, at most */
    uint32_t planes, in_row;
    double cell, plane; /* their widths */
} layout_t;

/* Planes of cells in rows that fit beside each other. */
static layout_t layout_of(const xy_target_t *t)
{
    layout_t l = {.wide = t->grid.size[0], .high = t->grid.dimensions > 1 ? t->grid.size[1] : 1};

    for (uint32_t leaf = 0; leaf < t->leaves; leaf++)
        if (t->leaf_count[t->box[leaf]] > l.cores)
            l.cores = t->leaf_count[t->box[leaf]];
    l.cell = PLACE_SVG_CELL * (double)l.cores + (l.cores > 1 ? INSIDE : 0);
    l.plane = l.wide * l.cell + GAP;
    l.planes = xy_grid_cells(&t->grid) / (l.wide * l.high);
    l.in_row = (uint32_t)(ACROSS / l.plane);
    l.in_row = l.in_row < 1 ? 1 : l.in_row > l.planes ? l.planes : l.in_row;
    if (t->leaves > SHOWN_MAX)
        l.planes = 0;
    return l;
}

void place_svg_grid_size(const xy_target_t *t, double *width_p, double *height_p)
{
    layout_t l = layout_of(t);
    double notes = 36.0 * (FARTHEST + 1);
    uint32_t rows = (l.planes + l.in_row - 1) / l.in_row;

    *width_p = l.planes > 0 ? l.in_row * l.plane : 0;
    *height_p = rows * (l.high * (double)ROW + GAP);
    *width_p += PLACE_SVG_NOTES;
    *height_p = *height_p < notes ? notes : *height_p;
}

/* Draws the share of the traffic by the number of links it crosses. */
static void draw_travel(const place_drawing_t *d, double x, double y)
{
    const xy_matrix_t *m = d->matrix;
    double by[FARTHEST + 1] = {0}, total = 0;
    int last = 0;

    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            double hops = xy_target_hops(d->t, d->place->leaf_of[i], d->place->leaf_of[m->to[k]]);
            double value = m->to[k] == i ? 0 : xy_matrix_value(m, d->metric, k);
            int bin = hops < FARTHEST ? (int)hops : FARTHEST;

            by[bin] += value;
            total += value;
            last = value > 0 && bin > last ? bin : last;
        }
    for (int h = 0; h <= last && total > 0; h++) {
        char text[64];

        if (h == 0 && by[0] == 0)
            continue; /* no two processes share a cell */
        snprintf(text, sizeof(text), "%.1f %% travel %d%s link%s", 100 * by[h] / total, h,
                 h == FARTHEST ? " or more" : "", h == 1 ? "" : "s");
        place_svg_bar(&d->svg, x, y, by[h] / total, text);
        y += 36;
    }
}

void place_svg_grid(const place_drawing_t *d, double left, double top)
{
    layout_t l = layout_of(d->t);
    double width, height;

    place_svg_grid_size(d->t, &width, &height);
    for (uint32_t leaf = 0; l.planes > 0 && leaf < d->t->leaves; leaf++) {
        uint32_t cell = d->t->cell[leaf], z = cell / (l.wide * l.high);
        uint32_t row = z / l.in_row, line = cell / l.wide % l.high;
        uint32_t core = leaf - d->t->first_leaf[d->t->box[leaf]];

        place_svg_leaf(d, leaf,
                       left + z % l.in_row * l.plane + cell % l.wide * l.cell +
                           (core + 0.5) * PLACE_SVG_CELL,
                       top + row * (l.high * (double)ROW + GAP) + line * (double)ROW);
    }
    draw_travel(d, left + width - PLACE_SVG_NOTES, top + 14);
}
