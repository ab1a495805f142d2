/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A placement as a picture: the tree from the root down with the ranks on its leaves, every link as
 * thick as what crosses it, and beside each level how much that is of all traffic. A tree with too
 * many leaves is drawn as far down as there is room.
 */
#include <math.h>

#include "place/place_svg.h"

enum { SHOWN_MAX = 256, PARTS_MAX = 128, LEVEL = 74, MARGIN = 14, TOP = 76 };

static const xy_ink_t inks[] = {
    {".box", "fill", "#e3e6ea", "#2d323b"},
    {".box", "stroke", "#8b93a3", "#6b7382"},
    {".leaf", "fill", "#dcebf9", "#1f3a54"},
    {".leaf", "stroke", "#5d8fbd", "#5d8fbd"},
    {".free", "fill", "#f6f7f9", "#1b1e24"},
    {".free", "stroke", "#b9c0cc", "#4a5261"},
    {".link", "stroke", "#c2571a", "#ff9a5c"},
    {".idle", "stroke", "#c9cfd9", "#3a404b"},
    {".bar", "fill", "#c2571a", "#ff9a5c"},
    {".rail", "fill", "#e9ecf0", "#23272e"},
    {NULL, NULL, NULL, NULL},
};

static const char style[] = "svg text{font-size:11px}svg .title{font-size:13px}"
                            ".box,.leaf,.free{rx:3}.free{stroke-dasharray:3 2}"
                            ".link,.idle{fill:none}\n";

typedef struct {
    place_drawing_t d;
    uint32_t bottom; /* the last level that is drawn */
    uint32_t ends;   /* nodes without a child that is drawn */
    double *load;    /* through the link above each node */
    double *x;       /* of each node */
    double total, most;
} tree_t;

/* The traffic on the link above each node. */
static void add_loads(tree_t *r)
{
    const xy_target_t *t = r->d.t;
    const xy_matrix_t *m = r->d.matrix;
    const uint32_t *leaf_of = r->d.place->leaf_of;

    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            uint32_t a = t->node_of[leaf_of[i]], b = t->node_of[leaf_of[m->to[k]]];
            double value = m->to[k] == i ? 0 : xy_matrix_value(m, r->d.metric, k);

            r->total += value;
            while (a != b) {
                uint32_t *deeper = t->level[a] >= t->level[b] ? &a : &b;

                r->load[*deeper] += value;
                *deeper = t->parent[*deeper];
            }
        }
    for (uint32_t i = 1; i < t->nodes; i++)
        r->most = r->load[i] > r->most ? r->load[i] : r->most;
}

static bool is_end(const tree_t *r, uint32_t node)
{
    return r->d.t->child_count[node] == 0 || r->d.t->level[node] == r->bottom;
}

/* The most levels whose ends fit. */
static void choose_bottom(tree_t *r)
{
    const xy_target_t *t = r->d.t;

    for (r->bottom = t->depth;; r->bottom--) {
        r->ends = 0;
        for (uint32_t i = 0; i < t->nodes; i++)
            if (t->level[i] <= r->bottom && is_end(r, i))
                r->ends++;
        if (r->ends <= (r->bottom == t->depth ? SHOWN_MAX : PARTS_MAX) || r->bottom == 0)
            return;
    }
}

/* Ends in the order of their leaves; what is above stands over the middle of its children. */
static void set_positions(tree_t *r)
{
    const xy_target_t *t = r->d.t;
    uint32_t last = UINT32_MAX, count = 0;

    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) {
        uint32_t node = t->node_of[leaf];

        while (t->level[node] > r->bottom)
            node = t->parent[node];
        if (node == last)
            continue;
        r->x[node] = MARGIN + PLACE_SVG_CELL * (count++ + 0.5);
        last = node;
    }
    for (uint32_t i = t->nodes; i > 0; i--) {
        uint32_t node = i - 1, first = t->first_child[node];

        if (t->level[node] < r->bottom && t->child_count[node] > 0)
            r->x[node] = (r->x[first] + r->x[first + t->child_count[node] - 1]) / 2;
    }
}

static double level_y(const tree_t *r, uint32_t node)
{
    const xy_target_t *t = r->d.t;
    uint32_t lowest = r->bottom < t->depth - 1 ? r->bottom : t->depth - 1;

    return TOP + LEVEL * (double)(t->child_count[node] == 0 ? lowest : t->level[node]);
}

/* Draws the links of the tree, as thick as their traffic. */
static void draw_links(const tree_t *r)
{
    const xy_target_t *t = r->d.t;

    for (uint32_t i = 1; i < t->nodes; i++) {
        uint32_t parent = t->parent[i];
        double y0 = level_y(r, parent) + PLACE_SVG_BOX, y1 = level_y(r, i);
        char number[32], tip[64];

        if (t->level[i] > r->bottom)
            continue;
        snprintf(tip, sizeof(tip), "%s cross this link", place_svg_number(r->load[i], number));
        xy_svg_bend(&r->d.svg, r->load[i] > 0 ? "link" : "idle",
                    r->most > 0 ? 0.6 + 9 * r->load[i] / r->most : 0.6, r->x[parent], y0, r->x[i],
                    y1, tip);
    }
}

void place_svg_leaf(const place_drawing_t *d, uint32_t leaf, double x, double y)
{
    uint32_t count = d->on_leaf[leaf];
    char tip[64];

    if (count == 0)
        snprintf(tip, sizeof(tip), "core %u: free", d->t->logical[leaf]);
    else
        snprintf(tip, sizeof(tip), "core %u: rank %u%s", d->t->logical[leaf], d->rank[leaf],
                 count > 1 ? " and others" : "");
    xy_svg_group_begin(&d->svg, tip);
    xy_svg_rect(&d->svg, count > 0 ? "leaf" : "free", x - PLACE_SVG_CELL / 2.0 + 1, y,
                PLACE_SVG_CELL - 2, PLACE_SVG_BOX, NULL);
    if (count > 0)
        xy_svg_text(&d->svg, "mid", x, y + 15, "%u%s", d->rank[leaf], count > 1 ? "+" : "");
    xy_svg_text(&d->svg, "note mid", x, y + PLACE_SVG_BOX + 13, "%u", d->t->logical[leaf]);
    xy_svg_group_end(&d->svg);
}

/* A node that holds leaves, drawn or not: how many ranks are on it. */
static void draw_node(const tree_t *r, uint32_t node)
{
    const xy_target_t *t = r->d.t;
    uint32_t first = t->first_leaf[node], leaves = t->leaf_count[node], ranks = 0;
    uint32_t child = t->first_child[node];
    double w = PLACE_SVG_CELL - 2;
    char tip[64];

    for (uint32_t i = 0; i < leaves; i++)
        ranks += r->d.on_leaf[first + i];
    if (!is_end(r, node)) {
        w = 0.5 * (r->x[child + t->child_count[node] - 1] - r->x[child] + PLACE_SVG_CELL);
        w = w < 30 ? 30 : w > 130 ? 130 : w;
    }
    snprintf(tip, sizeof(tip), "%u ranks on %u cores", ranks, leaves);
    xy_svg_group_begin(&r->d.svg, tip);
    xy_svg_rect(&r->d.svg, ranks > 0 ? "box" : "free", r->x[node] - w / 2, level_y(r, node), w,
                PLACE_SVG_BOX, NULL);
    xy_svg_text(&r->d.svg, "mid", r->x[node], level_y(r, node) + 15, "%u%s", ranks,
                w >= 60 ? " ranks" : "");
    xy_svg_group_end(&r->d.svg);
}

void place_svg_bar(const xy_svg_t *svg, double x, double y, double share, const char *text)
{
    xy_svg_rect(svg, "rail", x, y, 120, 8, NULL);
    xy_svg_rect(svg, "bar", x, y, 120 * fmin(share, 1), 8, NULL);
    xy_svg_text(svg, "", x, y - 5, "%s", text);
}

/* The traffic upwards from each level, of all traffic. */
static void draw_levels(const tree_t *r, double x)
{
    const xy_target_t *t = r->d.t;

    for (uint32_t level = 1; level < t->depth; level++) {
        double crossing = 0, share;
        char text[64];

        for (uint32_t i = 1; i < t->nodes; i++)
            if (t->level[i] == level)
                crossing += r->load[i] / 2;
        share = r->total > 0 ? crossing / r->total : 0;
        snprintf(text, sizeof(text), "%.1f %% cross %s", 100 * share,
                 level <= r->bottom ? "these links" : "links that are not drawn");
        place_svg_bar(&r->d.svg, x, TOP + LEVEL * (level - 0.5) + 8, share, text);
    }
}

static void draw_tree(const tree_t *r)
{
    draw_links(r);
    for (uint32_t i = 0; i < r->d.t->nodes; i++)
        if (r->d.t->level[i] > r->bottom)
            continue;
        else if (r->d.t->child_count[i] == 0)
            place_svg_leaf(&r->d, r->d.t->first_leaf[i], r->x[i], level_y(r, i));
        else
            draw_node(r, i);
    draw_levels(r, MARGIN + (double)PLACE_SVG_CELL * r->ends + 24);
}

/* Draw everything around the tree or grid, whose size is given. */
static void draw_page(place_drawing_t *d, const char *machine_name, const char *legend,
                      double width, double height)
{
    const xy_place_cost_t *cost = &d->place->cost;
    char hops[32], weighted[32], load[32];

    d->svg = xy_svg_begin(d->file, &(xy_svg_head_t){.width = fmax(width, 560),
                                                    .height = height,
                                                    .title = "Placement",
                                                    .inks = inks,
                                                    .style = style});
    xy_svg_text(&d->svg, "title", MARGIN, 20, "%u processes on %s by %s", d->place->n, machine_name,
                d->place->strategy);
    xy_svg_text(&d->svg, "note", MARGIN, 37, "hop-bytes %s, weighted %s, busiest link %s",
                place_svg_number(cost->hop_bytes, hops), place_svg_number(cost->weighted, weighted),
                place_svg_number(cost->max_load, load));
    xy_svg_text(&d->svg, "note", MARGIN, 54, "%s", legend);
}

/* Draws a placement on a tree or a grid. */
static xy_status_t draw(place_drawing_t *d, const char *machine_name)
{
    tree_t r = {.d = *d};
    const char *legend = d->place->n > d->t->leaves
                             ? "blue: the first rank on a core, + where there are more; below it "
                               "the number of the core"
                             : "blue: the rank on a core; below it the number of the core";
    double width, height;

    if (d->t->grid.dimensions > 0) {
        place_svg_grid_size(d->t, &width, &height);
        draw_page(d, machine_name, legend, width + 2 * MARGIN, height + TOP + MARGIN);
        place_svg_grid(d, MARGIN, TOP);
        xy_svg_end(&d->svg);
        return XY_OK;
    }
    r.load = xy_calloc(d->t->nodes, sizeof(*r.load));
    r.x = xy_calloc(d->t->nodes, sizeof(*r.x));
    if (r.load != NULL && r.x != NULL) {
        add_loads(&r);
        choose_bottom(&r);
        set_positions(&r);
        if (r.ends < d->t->leaves)
            legend = "boxes: how many ranks run there; single cores are not drawn";
        draw_page(&r.d, machine_name, legend,
                  MARGIN + (double)PLACE_SVG_CELL * r.ends + 24 + PLACE_SVG_NOTES + MARGIN,
                  TOP + LEVEL * (double)d->t->depth);
        draw_tree(&r);
        xy_svg_end(&r.d.svg);
    }
    xy_free(r.load);
    xy_free(r.x);
    return r.load != NULL && r.x != NULL ? XY_OK : XY_ENOMEM;
}

xy_status_t xy_place_print_svg(const xy_place_t *p, const xy_matrix_t *m, xy_metric_t metric,
                               const xy_target_t *t, const char *machine_name, FILE *file)
{
    place_drawing_t d = {.place = p, .matrix = m, .metric = metric, .t = t, .file = file};
    xy_status_t st = XY_ENOMEM;

    d.rank = xy_calloc(t->leaves, sizeof(*d.rank));
    d.on_leaf = xy_calloc(t->leaves, sizeof(*d.on_leaf));
    if (d.rank != NULL && d.on_leaf != NULL) {
        for (uint32_t i = p->n; i > 0; i--) {
            d.rank[p->leaf_of[i - 1]] = i - 1;
            d.on_leaf[p->leaf_of[i - 1]]++;
        }
        st = draw(&d, machine_name);
    }
    xy_free(d.rank);
    xy_free(d.on_leaf);
    return st == XY_OK ? XY_OK : xy_fail_memory("drawing a placement");
}
