/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A placement as a picture: the tree from the root down with the ranks on its leaves, every link as
 * thick as what crosses it, and beside each level how much that is of all traffic.
 */
#include <math.h>

#include "place/output.h"

enum { SHOWN_MAX = 256, LEVEL = 74, MARGIN = 14, TOP = 58, NOTES = 210, CELL = 26, LEAF = 22 };

static const char style[] =
    "text{font:11px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2430}"
    ".title{font-size:13px;font-weight:600}.note{fill:#5b6475}.page{fill:#fff}"
    ".box{fill:#e3e6ea;stroke:#8b93a3}.leaf{fill:#dcebf9;stroke:#5d8fbd}"
    ".free{fill:#f6f7f9;stroke:#b9c0cc;stroke-dasharray:3 2}.link{stroke:#c2571a;fill:none}"
    ".bar{fill:#c2571a}.rail{fill:#e9ecf0}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.note{fill:#a2abba}.page{fill:#14161a}"
    ".box{fill:#2d323b;stroke:#6b7382}.leaf{fill:#1f3a54;stroke:#5d8fbd}"
    ".free{fill:#1b1e24;stroke:#4a5261}.link{stroke:#ff9a5c}.bar{fill:#ff9a5c}"
    ".rail{fill:#23272e}}";

typedef struct {
    const xy_target_t *t;
    FILE *file;
    double *load;      /* through the link above each node */
    double *x;         /* of each node */
    uint32_t *rank;    /* the first rank of each leaf, UINT32_MAX: none */
    uint32_t *on_leaf; /* how many */
    double total, most;
    double width;
} drawing_t;

/* What crosses the link above each node. */
static void add_loads(drawing_t *d, const xy_place_t *p, const xy_matrix_t *m, xy_metric_t metric)
{
    const xy_target_t *t = d->t;

    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            uint32_t a = t->node_of[p->leaf_of[i]], b = t->node_of[p->leaf_of[m->to[k]]];
            double value = m->to[k] == i ? 0 : xy_matrix_value(m, metric, k);

            d->total += value;
            while (a != b) {
                uint32_t *deeper = t->level[a] >= t->level[b] ? &a : &b;

                d->load[*deeper] += value;
                *deeper = t->parent[*deeper];
            }
        }
    for (uint32_t i = 1; i < t->nodes; i++)
        d->most = d->load[i] > d->most ? d->load[i] : d->most;
}

static void set_positions(drawing_t *d)
{
    const xy_target_t *t = d->t;

    for (uint32_t i = t->nodes; i > 0; i--) {
        uint32_t node = i - 1;

        d->x[node] = MARGIN + CELL * (t->first_leaf[node] + t->leaf_count[node] / 2.0);
    }
    d->width = MARGIN + (double)CELL * t->leaves;
}

static double level_y(const drawing_t *d, uint32_t node)
{
    const xy_target_t *t = d->t;

    return TOP + LEVEL * (double)(t->child_count[node] == 0 ? t->depth - 1 : t->level[node]);
}

static void draw_links(const drawing_t *d)
{
    for (uint32_t i = 1; i < d->t->nodes; i++) {
        uint32_t parent = d->t->parent[i];
        double y0 = level_y(d, parent) + LEAF, y1 = level_y(d, i);

        fprintf(d->file,
                "<path class=\"link\" stroke-width=\"%.3g\" d=\"M%.5g %.5gC%.5g %.5g %.5g %.5g "
                "%.5g %.5g\"><title>%.6g cross this link</title></path>\n",
                d->most > 0 ? 0.6 + 9 * d->load[i] / d->most : 0.6, d->x[parent], y0, d->x[parent],
                y0 + 20, d->x[i], y1 - 20, d->x[i], y1, d->load[i]);
    }
}

static void draw_leaf(const drawing_t *d, uint32_t node)
{
    uint32_t leaf = d->t->first_leaf[node], count = d->on_leaf[leaf];
    double x = d->x[node] - CELL / 2.0 + 1, y = level_y(d, node);

    fprintf(d->file, "<g><title>core %u: ", d->t->logical[leaf]);
    if (count == 0)
        fputs("free", d->file);
    else
        fprintf(d->file, "rank %u%s", d->rank[leaf], count > 1 ? " and others" : "");
    fprintf(d->file,
            "</title><rect class=\"%s\" rx=\"3\" x=\"%.5g\" y=\"%.5g\" width=\"%d\" "
            "height=\"%d\"/>",
            count > 0 ? "leaf" : "free", x, y, CELL - 2, LEAF);
    if (count > 0)
        fprintf(d->file, "<text text-anchor=\"middle\" x=\"%.5g\" y=\"%.5g\">%u%s</text>",
                d->x[node], y + 15, d->rank[leaf], count > 1 ? "+" : "");
    fprintf(d->file,
            "<text class=\"note\" text-anchor=\"middle\" x=\"%.5g\" y=\"%.5g\">%u</text></g>\n",
            d->x[node], y + LEAF + 13, d->t->logical[leaf]);
}

static void draw_nodes(const drawing_t *d)
{
    const xy_target_t *t = d->t;

    for (uint32_t i = 0; i < t->nodes; i++) {
        double w = CELL * (double)t->leaf_count[i] * 0.5;

        if (t->child_count[i] == 0) {
            draw_leaf(d, i);
            continue;
        }
        w = w < 30 ? 30 : w > 130 ? 130 : w;
        fprintf(d->file,
                "<rect class=\"box\" rx=\"3\" x=\"%.5g\" y=\"%.5g\" width=\"%.5g\" height=\"%d\"/>"
                "<text text-anchor=\"middle\" x=\"%.5g\" y=\"%.5g\">%u</text>\n",
                d->x[i] - w / 2, level_y(d, i), w, LEAF, d->x[i], level_y(d, i) + 15,
                t->leaf_count[i]);
    }
}

/* What goes up from each level, of all that is sent. */
static void draw_levels(const drawing_t *d, double x)
{
    const xy_target_t *t = d->t;

    for (uint32_t level = 1; level < t->depth; level++) {
        double crossing = 0, share, y = TOP + LEVEL * (level - 0.5) + 8;

        for (uint32_t i = 1; i < t->nodes; i++)
            if (t->level[i] == level)
                crossing += d->load[i] / 2;
        share = d->total > 0 ? crossing / d->total : 0;
        fprintf(d->file,
                "<rect class=\"rail\" x=\"%.5g\" y=\"%.5g\" width=\"120\" height=\"8\"/>"
                "<rect class=\"bar\" x=\"%.5g\" y=\"%.5g\" width=\"%.4g\" height=\"8\"/>"
                "<text x=\"%.5g\" y=\"%.5g\">%.1f %% cross level %u</text>\n",
                x, y, x, y, 120 * (share > 1 ? 1 : share), x, y - 5, 100 * share, level);
    }
}

static void draw(const drawing_t *d, const xy_place_t *p, const char *machine_name)
{
    bool is_shown = d->t->leaves <= SHOWN_MAX && d->t->dimensions == 0;
    double tree = is_shown ? d->width + 10 : 0;
    double width = MARGIN + tree + NOTES + MARGIN, height = TOP + LEVEL * (double)d->t->depth;

    width = width < 480 ? 480 : width;
    fprintf(d->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.5g %.5g\" width=\"%.5g\" "
            "height=\"%.5g\" style=\"max-width:100%%;height:auto\" role=\"img\">\n"
            "<style>%s</style>\n<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n"
            "<text class=\"title\" x=\"%d\" y=\"20\">%u processes on ",
            width, height, width, height, style, MARGIN, p->n);
    xy_xml_escape(d->file, machine_name);
    fprintf(d->file,
            " by %s</text>\n<text class=\"note\" x=\"%d\" y=\"37\">hop-bytes %.6g, weighted %.6g, "
            "busiest link %.6g</text>\n",
            p->strategy, MARGIN, p->cost.hop_bytes, p->cost.weighted, p->cost.max_load);
    if (is_shown) {
        draw_links(d);
        draw_nodes(d);
    }
    draw_levels(d, MARGIN + tree);
    fputs("</svg>\n", d->file);
}

xy_status_t xy_place_print_svg(const xy_place_t *p, const xy_matrix_t *m, xy_metric_t metric,
                               const xy_target_t *t, const char *machine_name, FILE *file)
{
    drawing_t d = {.t = t, .file = file};
    xy_status_t st = XY_OK;

    d.load = xy_calloc(t->nodes, sizeof(*d.load));
    d.x = xy_calloc(t->nodes, sizeof(*d.x));
    d.rank = xy_calloc(t->leaves, sizeof(*d.rank));
    d.on_leaf = xy_calloc(t->leaves, sizeof(*d.on_leaf));
    if (d.load == NULL || d.x == NULL || d.rank == NULL || d.on_leaf == NULL) {
        st = xy_fail_memory("drawing a placement");
    } else {
        for (uint32_t i = p->n; i > 0; i--) {
            d.rank[p->leaf_of[i - 1]] = i - 1;
            d.on_leaf[p->leaf_of[i - 1]]++;
        }
        add_loads(&d, p, m, metric);
        set_positions(&d);
        draw(&d, p, machine_name);
    }
    xy_free(d.load);
    xy_free(d.x);
    xy_free(d.rank);
    xy_free(d.on_leaf);
    return st;
}
