/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine as a picture: nested boxes, in the light or the dark as the reader prefers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "machine/machine_layout.h"
#include "machine/machine_network.h"

/* One hue per kind of thing: network blue, processors grey, memory rose, caches sand, GPUs green;
 * deeper is lighter, so that nested boxes stay apart. */
static const xy_ink_t inks[] = {
    {"svg rect", "stroke", "#8b93a3", "#6b7382"}, {".machine", "fill", "#f6f7f9", "#1b1e24"},
    {".site", "fill", "#dbe7f6", "#1b2a3f"},      {".cluster", "fill", "#e4edf9", "#203149"},
    {".switch", "fill", "#eaf2fb", "#253852"},    {".node", "fill", "#f3f5f8", "#23272e"},
    {".package", "fill", "#e3e6ea", "#2d323b"},   {".numa", "fill", "#f6e3e6", "#40292f"},
    {".group", "fill", "#ecebf5", "#2f2d40"},     {".l3", "fill", "#f7efdc", "#3b3423"},
    {".l2", "fill", "#faf4e6", "#443c2a"},        {".l1", "fill", "#fcf9f0", "#4c4432"},
    {".core", "fill", "#d9dee5", "#3a414d"},      {".pu", "fill", "#fff", "#14161a"},
    {".gpus", "fill", "#dcefe0", "#1f3626"},      {".gpu", "fill", "#eff9f1", "#294532"},
    {"svg .x", "stroke", "#c0392b", "#ff7b6b"},   {NULL, NULL, NULL, NULL},
};

static const char style[] = "svg text{font-size:11px}svg .title{font-size:13px}"
                            ".run{font-weight:700}svg rect{rx:3}svg .ground{stroke:none}"
                            ".x{stroke-dasharray:4 3;opacity:.55}\n";

enum { MARGIN = 12, TITLE_LINE = 18, ROUTE = 16, ROUTES_MAX = 40, TIP_MAX = 400 };

static const double title_letter = 8.2;

typedef struct {
    const xy_machine_t *m;
    const xy_vec_t *boxes;
    xy_svg_t svg;
} drawing_t;

static const layout_box_t *box(const drawing_t *d, uint32_t i)
{
    return &XY_VEC_AT(d->boxes, layout_box_t, i);
}

static const char *class_of(const drawing_t *d, const layout_box_t *b)
{
    if (b->object != XY_OBJ_NONE)
        return xy_obj_type_name(d->m->type[b->object]);
    return b->first != 0 ? "gpus" : "gpu";
}

static const char *excluded(const drawing_t *d, const layout_box_t *b)
{
    if (b->object != XY_OBJ_NONE)
        return d->m->flags[b->object] & XY_EXCLUDED ? " x" : "";
    return b->first == 0 && d->m->gpus[b->gpu].flags & XY_EXCLUDED ? " x" : "";
}

/* The tooltip: numbers and the link upwards. NULL: none. */
static const char *tip_of(const drawing_t *d, const layout_box_t *b, char tip[TIP_MAX])
{
    const xy_machine_t *m = d->m;
    xy_obj_t o = b->object;
    char latency[32], bandwidth[32], number[64] = "";
    xy_link_t link;

    if (o == XY_OBJ_NONE || o == 0)
        return NULL;
    link = xy_machine_link(m, o);
    if (b->run > 1)
        snprintf(number, sizeof(number), " x %u", b->run);
    else if (b->is_single && m->physical[o] != XY_OBJ_NONE)
        snprintf(number, sizeof(number), ", logical %u, physical %u", m->logical[o],
                 m->physical[o]);
    else if (b->is_single)
        snprintf(number, sizeof(number), ", logical %u", m->logical[o]);
    snprintf(tip, TIP_MAX, "%s%s%s%s%s%s%s%s%s", b->label, number,
             link.latency > 0 ? ", link " : "",
             link.latency > 0 ? xy_format_seconds(link.latency, latency) : "",
             link.bandwidth > 0 ? ", " : "",
             link.bandwidth > 0 ? xy_format_bandwidth(link.bandwidth, bandwidth) : "",
             m->flags[o] & XY_EXCLUDED_CGROUP ? ", excluded by the cgroup" : "",
             m->flags[o] & XY_EXCLUDED_AFFINITY ? ", excluded by the affinity mask" : "",
             m->flags[o] & XY_EXCLUDED_FILE ? ", excluded by the machine file" : "");
    return tip;
}

/* Draws label, count and note of a box. */
static void draw_head(const drawing_t *d, const layout_box_t *b, double x, double y, double w)
{
    double line = y + (b->first == 0 ? 15 : 13);
    char count[16];

    /* A leaf is centred; the others have their label in the upper left corner. */
    if (b->first == 0 && b->run == 1 && b->note[0] == '\0')
        xy_svg_text(&d->svg, "mid", x + w / 2, line, "%s", b->label);
    else
        xy_svg_text(&d->svg, "", x + LAYOUT_PAD, line, "%s", b->label);
    if (b->run > 1) {
        snprintf(count, sizeof(count), "x %u", b->run);
        xy_svg_text(&d->svg, "end run", x + w - LAYOUT_PAD, line, "%s", count);
        w -= 8 + 6.3 * (double)strlen(count);
    }
    if (b->note[0] != '\0')
        xy_svg_text(&d->svg, "end note", x + w - LAYOUT_PAD, line, "%s", b->note);
}

/* Draws a box and those inside it; runs look like a stack. */
static void draw(const drawing_t *d, uint32_t i, double x, double y)
{
    const layout_box_t *b = box(d, i);
    int behind = b->run > 1 ? 2 * LAYOUT_STACK : 0;
    double w = b->w - behind, h = b->h - behind;
    char tip[TIP_MAX], class[32];

    snprintf(class, sizeof(class), "%s%s", class_of(d, b), excluded(d, b));
    xy_svg_group_begin(&d->svg, tip_of(d, b, tip));
    for (int s = behind; s >= 0; s -= LAYOUT_STACK)
        xy_svg_rect(&d->svg, class, x + s, y + s, w, h, NULL);
    draw_head(d, b, x, y, w);
    for (uint32_t c = b->first; c != 0; c = box(d, c)->next)
        draw(d, c, x + box(d, c)->x, y + box(d, c)->y);
    xy_svg_group_end(&d->svg);
}

static char *end_name(const drawing_t *d, xy_obj_t o, char buffer[64])
{
    if (d->m->name_of[o] != 0)
        snprintf(buffer, 64, "%s", xy_machine_object_name(d->m, o));
    else
        snprintf(buffer, 64, "%s %u", xy_obj_type_title(d->m->type[o]), d->m->logical[o]);
    return buffer;
}

/* Lists the first ROUTES_MAX routes below the picture. */
static void draw_routes(const drawing_t *d, double y)
{
    char a[64], b[64], latency[32], bandwidth[32];

    for (uint32_t i = 0; i < d->m->route_count && i < ROUTES_MAX; i++) {
        const xy_route_t *r = &d->m->routes[i];

        xy_svg_text(&d->svg, "note", MARGIN, y + ROUTE * (i + 1), "%s - %s: %s%s%s",
                    end_name(d, r->a, a), end_name(d, r->b, b),
                    r->link.latency > 0 ? xy_format_seconds(r->link.latency, latency) : "",
                    r->link.latency > 0 && r->link.bandwidth > 0 ? ", " : "",
                    r->link.bandwidth > 0 ? xy_format_bandwidth(r->link.bandwidth, bandwidth) : "");
    }
}

/* Returns the one-line summary of a machine, to be freed with free(); NULL without memory. */
static char *summary(const xy_machine_t *m)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL)
        return NULL;
    xy_machine_print_summary(m, file);
    if (fclose(file) != 0) {
        free(text);
        return NULL;
    }
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Where a line of the title ends: behind the last ", " or "; " that fits. */
static size_t line_length(const char *text, size_t room)
{
    size_t best = 0;

    if (strlen(text) <= room)
        return strlen(text);
    for (size_t i = 1; text[i] != '\0' && (i < room || best == 0); i++)
        if (text[i] == ' ' && strchr(",;", text[i - 1]) != NULL)
            best = i + 1;
    return best > 0 ? best : strlen(text);
}

/* The number of lines the title takes. */
static int draw_title(const drawing_t *d, const char *title, size_t room, bool is_drawn)
{
    int lines = 0;

    for (size_t n; *title != '\0'; title += n, lines++) {
        n = line_length(title, room);
        if (is_drawn)
            xy_svg_text(&d->svg, "title", MARGIN, MARGIN + 12 + TITLE_LINE * lines, "%.*s", (int)n,
                        title);
    }
    return lines;
}

/* Draws title, network, boxes and routes. */
static xy_status_t draw_page(drawing_t *d, const char *title, FILE *file)
{
    uint32_t routes = d->m->route_count < ROUTES_MAX ? d->m->route_count : ROUTES_MAX;
    double w, high;
    xy_status_t st;

    machine_network_size(d->m, &w, &high);
    w = fmax(fmax(480, high > 0 ? w : 0), box(d, 0)->w);
    size_t room = (size_t)(w / title_letter);
    double top = MARGIN + 8 + TITLE_LINE * draw_title(d, title, room, false);

    d->svg = xy_svg_begin(
        file, &(xy_svg_head_t){.width = w + 2 * MARGIN,
                               .height = top + high + box(d, 0)->h + MARGIN + ROUTE * routes,
                               .title = title,
                               .inks = inks,
                               .style = style});
    draw_title(d, title, room, true);
    st = machine_network_draw(d->m, &d->svg, MARGIN, top);
    draw(d, 0, MARGIN, top + high);
    draw_routes(d, top + high + box(d, 0)->h);
    xy_svg_end(&d->svg);
    return st;
}

xy_status_t xy_machine_print_svg(const xy_machine_t *m, FILE *file)
{
    xy_vec_t boxes;
    char *title = summary(m);
    xy_status_t st;

    if (title == NULL)
        return xy_fail_memory("drawing the machine");
    st = machine_layout(m, &boxes);
    if (st == XY_OK) {
        st = draw_page(&(drawing_t){.m = m, .boxes = &boxes}, title, file);
        xy_vec_cleanup(&boxes);
    }
    free(title);
    return st;
}
