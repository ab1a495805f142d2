/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/machine_network.h"

#include <math.h>
#include <string.h>

enum {
    WIDE_MAX = 160,   /* objects in a row */
    LINES_MAX = 8,    /* drawn of a bundle */
    CELLS_MAX = 2048, /* of a grid */
    GRIDS_MAX = 4,
    ROW = 74,
    PITCH = 22,
    BOX = 14,
    CELL = 30,
    GAP = 26,
    CAPTION = 22,
    NOTES = 260, /* beside a row */
    ACROSS = 1100
};

/* ---- Trees ---- */

typedef struct {
    const xy_machine_t *m;
    const xy_svg_t *svg;
    uint32_t top, bottom; /* levels */
    double *x;            /* of each object, its middle */
    double left, upper;
} tree_t;

static bool has_bundles(const xy_machine_t *m)
{
    for (uint32_t i = 0; i < m->link_count; i++)
        if (m->links[i].count > 1)
            return true;
    return false;
}

/* Counts the objects of a level; returns false if one is smaller than a node. */
static bool count_level(const xy_machine_t *m, uint32_t level, uint32_t *count_p)
{
    *count_p = 0;
    for (xy_obj_t o = 0; o < m->count && m->level[o] <= level; o++) {
        if (m->level[o] != level)
            continue;
        ++*count_p;
        if (m->type[o] > XY_OBJ_NODE)
            return false;
    }
    return *count_p > 0;
}

/* The levels to draw, without those at the top that are one object, and the objects of the widest.
 * Returns 0 if there is nothing to draw. */
static uint32_t choose_levels(const xy_machine_t *m, uint32_t *top_p, uint32_t *bottom_p)
{
    uint32_t widest = 0, count;

    *top_p = *bottom_p = 0;
    for (uint32_t l = 1; l < m->depth && count_level(m, l, &count) && count <= WIDE_MAX; l++) {
        if (count == 1)
            *top_p = l;
        *bottom_p = l;
        widest = count > widest ? count : widest;
    }
    return has_bundles(m) && *bottom_p > *top_p ? widest : 0;
}

/* Sets the places of the objects below `o` and of itself. */
static void place(tree_t *t, xy_obj_t o, uint32_t *next)
{
    const xy_machine_t *m = t->m;
    xy_obj_t first = m->first_child[o], last = first + m->child_count[o] - 1;

    if (m->level[o] == t->bottom || m->child_count[o] == 0) {
        t->x[o] = t->left + PITCH * (*next)++ + PITCH / 2.0;
        return;
    }
    for (xy_obj_t c = first; c <= last; c++)
        place(t, c, next);
    t->x[o] = (t->x[first] + t->x[last]) / 2;
}

static double y_of(const tree_t *t, xy_obj_t o)
{
    return t->upper + ROW * (double)(t->m->level[o] - t->top);
}

static uint32_t lines_of(const tree_t *t, xy_obj_t o)
{
    uint32_t n = xy_machine_parallel(t->m, o);

    return n < LINES_MAX ? n : LINES_MAX;
}

/* A switch is as wide as the links that leave it. */
static double width_of(const tree_t *t, xy_obj_t o)
{
    const xy_machine_t *m = t->m;
    double lines = lines_of(t, o);

    if (m->level[o] < t->bottom && m->child_count[o] > 0)
        lines = fmax(lines, lines_of(t, m->first_child[o]) * 2);
    return fmax(BOX, 4 * lines);
}

/* Draws the links of an object upwards. */
static void draw_bundle(const tree_t *t, xy_obj_t o)
{
    xy_obj_t up = t->m->parent[o];
    uint32_t n = lines_of(t, o);
    double from = fmin(4, width_of(t, o) / n), to = width_of(t, up) / (n + 1);

    for (uint32_t k = 0; k < n; k++) {
        double at = k - (n - 1) / 2.0;

        xy_svg_line(t->svg, "soft", t->x[o] + at * from, y_of(t, o), t->x[up] + at * to,
                    y_of(t, up) + BOX);
    }
}

/* Draws an object as a box, with what it is as its tooltip. */
static void draw_object(const tree_t *t, xy_obj_t o)
{
    const xy_machine_t *m = t->m;
    double w = width_of(t, o);
    char tip[160], below[48] = "";

    if (m->level[o] == t->bottom && m->child_count[o] > 0)
        snprintf(below, sizeof(below), ", %u leaves below", m->leaf_count[o]);
    snprintf(tip, sizeof(tip), "%s %u%s%.60s%s", xy_obj_type_title(m->type[o]), m->logical[o],
             m->name_of[o] != 0 ? " " : "", xy_machine_object_name(m, o), below);
    xy_svg_rect(t->svg, xy_obj_type_name(m->type[o]), t->x[o] - w / 2, y_of(t, o), w, BOX, tip);
}

/* "12 nodes: 4 links each up, 1 us, 10 GB/s" at the end of a row, for its first object. */
static void draw_caption(const tree_t *t, uint32_t level, double x)
{
    const xy_machine_t *m = t->m;
    uint32_t count;
    xy_obj_t o = 0;
    xy_link_t link;
    char latency[32], bandwidth[32];

    while (m->level[o] != level)
        o++;
    count_level(m, level, &count);
    link = xy_machine_link(m, o);
    xy_svg_text(t->svg, "note", x, y_of(t, o) + BOX - 3, "%u %s%s: %u link%s up%s%s%s%s", count,
                xy_obj_type_title(m->type[o]),
                count == 1                    ? ""
                : m->type[o] == XY_OBJ_SWITCH ? "es"
                                              : "s",
                xy_machine_parallel(m, o), xy_machine_parallel(m, o) == 1 ? "" : "s each",
                link.latency > 0 ? ", " : "",
                link.latency > 0 ? xy_format_seconds(link.latency, latency) : "",
                link.bandwidth > 0 ? ", " : "",
                link.bandwidth > 0 ? xy_format_bandwidth(link.bandwidth, bandwidth) : "");
}

/* Draws the rows of a tree: links first, so that boxes hide their ends. */
static xy_status_t draw_tree(const xy_machine_t *m, const xy_svg_t *svg, double left, double top)
{
    tree_t t = {.m = m, .svg = svg, .left = left, .upper = top};
    uint32_t next = 0;

    choose_levels(m, &t.top, &t.bottom);
    t.x = xy_calloc(m->count, sizeof(*t.x));
    if (t.x == NULL)
        return xy_fail_memory("drawing the network");
    for (xy_obj_t o = 0; o < m->count; o++)
        if (m->level[o] == t.top)
            place(&t, o, &next);
    for (xy_obj_t o = 0; o < m->count; o++)
        if (m->level[o] > t.top && m->level[o] <= t.bottom)
            draw_bundle(&t, o);
    for (xy_obj_t o = 0; o < m->count; o++)
        if (m->level[o] >= t.top && m->level[o] <= t.bottom)
            draw_object(&t, o);
    for (uint32_t l = t.top + 1; l <= t.bottom; l++)
        draw_caption(&t, l, left + PITCH * (double)(next + 1));
    xy_free(t.x);
    return XY_OK;
}

/* ---- Grids ---- */

typedef struct {
    const xy_grid_t *g;
    uint32_t wide, high, planes, in_row;
    double width, height; /* of all */
} planes_t;

static planes_t planes_of(const xy_grid_t *g)
{
    planes_t p = {.g = g, .wide = g->size[0], .high = g->dimensions > 1 ? g->size[1] : 1};
    double plane = p.wide * (double)CELL + GAP;

    p.planes = xy_grid_cells(g) / (p.wide * p.high);
    p.in_row = (uint32_t)fmin(p.planes, fmax(1, floor(ACROSS / plane)));
    p.width = p.in_row * plane;
    p.height = CAPTION + (p.planes + p.in_row - 1) / p.in_row * (p.high * (double)CELL + GAP);
    return p;
}

static bool is_drawn(const xy_machine_t *m, uint32_t g)
{
    return g < GRIDS_MAX && xy_grid_cells(&m->grids[g]) <= CELLS_MAX;
}

/* Draws the links of a cell to the next ones of its plane; those that lead around are cut. */
static void draw_links(const planes_t *p, const xy_svg_t *svg, uint32_t i, uint32_t j, double x,
                       double y)
{
    const double cut = CELL * 0.55;
    bool is_torus = p->g->is_torus;

    if (i + 1 < p->wide)
        xy_svg_line(svg, "soft", x, y, x + CELL, y);
    else if (is_torus && p->wide > 1)
        xy_svg_line(svg, "soft dash", x, y, x + cut, y);
    if (is_torus && i == 0 && p->wide > 1)
        xy_svg_line(svg, "soft dash", x, y, x - cut, y);
    if (j + 1 < p->high)
        xy_svg_line(svg, "soft", x, y, x, y + CELL);
    else if (is_torus && p->high > 1)
        xy_svg_line(svg, "soft dash", x, y, x, y + cut);
    if (is_torus && j == 0 && p->high > 1)
        xy_svg_line(svg, "soft dash", x, y, x, y - cut);
}

/* Draws the cells that hold an object, with its number; `object_in` has 0 for empty ones. */
static void draw_cells(const xy_machine_t *m, const planes_t *p, const xy_svg_t *svg,
                       const xy_obj_t *object_in, double left, double top)
{
    uint32_t cells = xy_grid_cells(p->g);

    for (int pass = 0; pass < 2; pass++)
        for (uint32_t c = 0; c < cells; c++) {
            uint32_t i = c % p->wide, j = c / p->wide % p->high, z = c / (p->wide * p->high);
            double x = left + z % p->in_row * (p->wide * (double)CELL + GAP) + (i + 0.9) * CELL;
            double y =
                top + CAPTION + z / p->in_row * (p->high * (double)CELL + GAP) + (j + 0.9) * CELL;
            xy_obj_t o = object_in[c];
            char tip[96];

            if (pass == 0) {
                draw_links(p, svg, i, j, x, y);
                continue;
            }
            snprintf(tip, sizeof(tip), "cell %u: %s %u", c,
                     o != 0 ? xy_obj_type_title(m->type[o]) : "no object",
                     o != 0 ? m->logical[o] : c);
            xy_svg_rect(svg, o != 0 ? xy_obj_type_name(m->type[o]) : "machine x", x - CELL / 3.0,
                        y - CELL / 3.0, 2 * CELL / 3.0, 2 * CELL / 3.0, tip);
            if (o != 0)
                xy_svg_text(svg, "mid", x, y + 4, "%u", m->logical[o]);
        }
}

/* Draws a grid below its caption. */
static xy_status_t draw_grid(const xy_machine_t *m, const planes_t *p, const xy_svg_t *svg,
                             double left, double top)
{
    const xy_grid_t *g = p->g;
    xy_obj_t *object_in = xy_calloc(xy_grid_cells(g), sizeof(*object_in));
    char size[96], latency[32], bandwidth[32];

    if (object_in == NULL)
        return xy_fail_memory("drawing the network");
    for (uint32_t k = 0; k < m->child_count[g->object]; k++)
        object_in[m->cells[g->first_cell + k]] = m->first_child[g->object] + k;
    xy_svg_text(svg, "note", left, top + 14, "%s %s%s%s%s%s%s", g->is_torus ? "torus" : "mesh",
                machine_grid_format(g, size), g->link.latency > 0 ? ", each link " : "",
                g->link.latency > 0 ? xy_format_seconds(g->link.latency, latency) : "",
                g->link.bandwidth > 0 ? ", " : "",
                g->link.bandwidth > 0 ? xy_format_bandwidth(g->link.bandwidth, bandwidth) : "",
                p->planes > 1 ? "; planes are joined at equal places" : "");
    draw_cells(m, p, svg, object_in, left, top);
    xy_free(object_in);
    return XY_OK;
}

/* ---- All ---- */

void machine_network_size(const xy_machine_t *m, double *width_p, double *height_p)
{
    uint32_t top, bottom, widest = choose_levels(m, &top, &bottom);

    *width_p = widest > 0 ? PITCH * (double)(widest + 1) + NOTES : 0;
    *height_p = widest > 0 ? ROW * (double)(bottom - top) + BOX + CAPTION : 0;
    for (uint32_t g = 0; g < m->grid_count; g++) {
        planes_t p = planes_of(&m->grids[g]);

        if (!is_drawn(m, g))
            continue;
        *width_p = fmax(*width_p, p.width);
        *height_p += p.height;
    }
}

xy_status_t machine_network_draw(const xy_machine_t *m, const xy_svg_t *svg, double left,
                                 double top)
{
    uint32_t upper, bottom, widest = choose_levels(m, &upper, &bottom);
    xy_status_t st = widest > 0 ? draw_tree(m, svg, left, top) : XY_OK;

    if (widest > 0)
        top += ROW * (double)(bottom - upper) + BOX + CAPTION;
    for (uint32_t g = 0; st == XY_OK && g < m->grid_count; g++) {
        planes_t p = planes_of(&m->grids[g]);

        if (!is_drawn(m, g))
            continue;
        st = draw_grid(m, &p, svg, left, top);
        top += p.height;
    }
    return st;
}
