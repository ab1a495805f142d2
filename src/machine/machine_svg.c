/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine as a picture: nested boxes, in the light or the dark as the reader prefers. */
#include <stdlib.h>
#include <string.h>

#include "machine/machine_layout.h"

/* One hue per kind of thing: network blue, processors grey, memory rose, caches sand, GPUs green;
 * deeper is lighter, so that nested boxes stay apart. */
static const char style[] =
    "text{font:11px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2430}\n"
    ".title{font-size:13px;font-weight:600}.note{fill:#5b6475}.run{font-weight:700}\n"
    "rect{stroke:#8b93a3;stroke-width:1;rx:3}\n"
    ".page{fill:#fff;stroke:none;rx:0}.machine{fill:#f6f7f9}.site{fill:#dbe7f6}"
    ".cluster{fill:#e4edf9}.switch{fill:#eaf2fb}.node{fill:#f3f5f8}.package{fill:#e3e6ea}"
    ".numa{fill:#f6e3e6}.group{fill:#ecebf5}.l3{fill:#f7efdc}.l2{fill:#faf4e6}.l1{fill:#fcf9f0}"
    ".core{fill:#d9dee5}.pu{fill:#fff}.gpus{fill:#dcefe0}.gpu{fill:#eff9f1}\n"
    ".x{stroke:#c0392b;stroke-dasharray:4 3;opacity:.55}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.note{fill:#a2abba}"
    "rect{stroke:#6b7382}.page{fill:#14161a}.machine{fill:#1b1e24}.site{fill:#1b2a3f}"
    ".cluster{fill:#203149}.switch{fill:#253852}.node{fill:#23272e}.package{fill:#2d323b}"
    ".numa{fill:#40292f}.group{fill:#2f2d40}.l3{fill:#3b3423}.l2{fill:#443c2a}.l1{fill:#4c4432}"
    ".core{fill:#3a414d}.pu{fill:#14161a}.gpus{fill:#1f3626}.gpu{fill:#294532}"
    ".x{stroke:#ff7b6b}}\n";

enum { MARGIN = 12, TITLE_LINE = 18, ROUTE = 16 };

static const double title_letter = 8.2;

typedef struct {
    const xy_machine_t *m;
    const xy_vec_t *boxes;
    FILE *file;
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

static void draw_text(const drawing_t *d, double x, double y, const char *attributes,
                      const char *text)
{
    fprintf(d->file, "<text x=\"%.4g\" y=\"%.4g\"%s>", x, y, attributes);
    xy_xml_escape(d->file, text);
    fputs("</text>", d->file);
}

/* What the pointer tells: numbers and the link upwards. */
static void draw_tooltip(const drawing_t *d, const layout_box_t *b)
{
    const xy_machine_t *m = d->m;
    xy_obj_t o = b->object;
    char text[32];
    xy_link_t link;

    if (o == XY_OBJ_NONE || o == 0)
        return;
    link = xy_machine_link(m, o);
    fputs("<title>", d->file);
    xy_xml_escape(d->file, b->label);
    if (b->run > 1)
        fprintf(d->file, " x %u", b->run);
    else if (b->is_single)
        fprintf(d->file, ", logical %u", m->logical[o]);
    if (b->run == 1 && b->is_single && m->physical[o] != XY_OBJ_NONE)
        fprintf(d->file, ", physical %u", m->physical[o]);
    if (link.latency > 0)
        fprintf(d->file, ", link %s", xy_format_seconds(link.latency, text));
    if (link.bandwidth > 0)
        fprintf(d->file, ", %s", xy_format_bandwidth(link.bandwidth, text));
    fprintf(d->file, "%s%s%s</title>",
            m->flags[o] & XY_EXCLUDED_CGROUP ? ", excluded by the cgroup" : "",
            m->flags[o] & XY_EXCLUDED_AFFINITY ? ", excluded by the affinity mask" : "",
            m->flags[o] & XY_EXCLUDED_FILE ? ", excluded by the machine file" : "");
}

static void draw_head(const drawing_t *d, const layout_box_t *b, double x, double y, double w)
{
    char count[16];
    /* A leaf is centred; the others have their label in the upper left corner. */
    bool is_leaf = b->first == 0 && b->run == 1 && b->note[0] == '\0';

    if (is_leaf)
        draw_text(d, x + w / 2, y + 15, " text-anchor=\"middle\"", b->label);
    else
        draw_text(d, x + LAYOUT_PAD, y + (b->first == 0 ? 15 : 13), "", b->label);
    if (b->run > 1) {
        snprintf(count, sizeof(count), "x %u", b->run);
        draw_text(d, x + w - LAYOUT_PAD, y + (b->first == 0 ? 15 : 13),
                  " text-anchor=\"end\" class=\"run\"", count);
        w -= 8 + 6.3 * (double)strlen(count);
    }
    if (b->note[0] != '\0')
        draw_text(d, x + w - LAYOUT_PAD, y + (b->first == 0 ? 15 : 13),
                  " text-anchor=\"end\" class=\"note\"", b->note);
}

static void draw(const drawing_t *d, uint32_t i, double x, double y)
{
    const layout_box_t *b = box(d, i);
    int behind = b->run > 1 ? 2 * LAYOUT_STACK : 0;
    double w = b->w - behind, h = b->h - behind;

    fputs("<g>", d->file);
    draw_tooltip(d, b);
    for (int s = behind; s >= 0; s -= LAYOUT_STACK)
        fprintf(d->file,
                "<rect class=\"%s%s\" x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\"/>",
                class_of(d, b), excluded(d, b), x + s, y + s, w, h);
    draw_head(d, b, x, y, w);
    fputs("\n", d->file);
    for (uint32_t c = b->first; c != 0; c = box(d, c)->next)
        draw(d, c, x + box(d, c)->x, y + box(d, c)->y);
    fputs("</g>\n", d->file);
}

static char *end_name(const drawing_t *d, xy_obj_t o, char buffer[64])
{
    if (d->m->name_of[o] != 0)
        snprintf(buffer, 64, "%s", xy_machine_object_name(d->m, o));
    else
        snprintf(buffer, 64, "%s %u", xy_obj_type_title(d->m->type[o]), d->m->logical[o]);
    return buffer;
}

static void draw_routes(const drawing_t *d, double y)
{
    char a[64], b[64], latency[32], bandwidth[32], line[256];

    for (uint32_t i = 0; i < d->m->route_count && i < 40; i++) {
        const xy_route_t *r = &d->m->routes[i];

        snprintf(line, sizeof(line), "%s - %s: %s%s%s", end_name(d, r->a, a), end_name(d, r->b, b),
                 r->link.latency > 0 ? xy_format_seconds(r->link.latency, latency) : "",
                 r->link.latency > 0 && r->link.bandwidth > 0 ? ", " : "",
                 r->link.bandwidth > 0 ? xy_format_bandwidth(r->link.bandwidth, bandwidth) : "");
        draw_text(d, MARGIN, y + ROUTE * (i + 1), " class=\"note\"", line);
        fputc('\n', d->file);
    }
}

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
        char line[256];

        n = line_length(title, room);
        if (!is_drawn)
            continue;
        snprintf(line, sizeof(line), "%.*s", (int)n, title);
        draw_text(d, MARGIN, MARGIN + 12 + TITLE_LINE * lines, " class=\"title\"", line);
        fputc('\n', d->file);
    }
    return lines;
}

static void draw_page(const drawing_t *d, const char *title)
{
    uint32_t routes = d->m->route_count < 40 ? d->m->route_count : 40;
    double w = box(d, 0)->w > 480 ? box(d, 0)->w : 480;
    size_t room = (size_t)(w / title_letter);
    double top = MARGIN + 8 + TITLE_LINE * draw_title(d, title, room, false);
    double width = w + 2 * MARGIN, height = top + box(d, 0)->h + MARGIN + ROUTE * routes;

    fprintf(d->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.6g %.6g\" "
            "width=\"%.6g\" height=\"%.6g\" style=\"max-width:100%%;height:auto\" role=\"img\">\n"
            "<style>%s</style>\n<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n",
            width, height, width, height, style);
    draw_title(d, title, room, true);
    draw(d, 0, MARGIN, top);
    draw_routes(d, top + box(d, 0)->h);
    fputs("</svg>\n", d->file);
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
        draw_page(&(drawing_t){m, &boxes, file}, title);
        xy_vec_cleanup(&boxes);
    }
    free(title);
    return st;
}
