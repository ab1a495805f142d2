/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of the winners: choices over one or two parameters, as text and as a picture. */
#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "draw/draw.h"
#include "values.h"

enum { DIMENSIONS = 2, LEFT = 64, TOP = 62, WIDE = 560, HIGH = 280 };

typedef struct {
    const choose_t *c;
    char *name[DIMENSIONS];
    xy_vec_t values[DIMENSIONS]; /* of double */
    size_t count;                /* of dimensions */
    size_t *winner;              /* [second][first] */
    const char **names;          /* of alternatives */
    size_t alternatives;
} map_t;

/* ---- Reading ---- */

/* Reads "NAME=VALUES" of --map as the next axis. */
static xy_status_t read_axis(map_t *m, const char *text)
{
    char *copy = xy_strdup(text), *rest, *item;
    size_t i = m->count++;
    xy_status_t st = XY_OK;

    m->values[i] = XY_VEC_INIT(double);
    m->name[i] = copy;
    if (copy == NULL)
        return xy_fail_memory("reading the options");
    rest = strchr(copy, '=');
    if (rest == NULL || rest == copy)
        return values_fail("--map", text);
    *rest++ = '\0';
    while (st == XY_OK && (item = strsep(&rest, ",")) != NULL)
        st = values_add(&m->values[i], item, "--map", text);
    if (st == XY_OK && m->values[i].count == 0)
        st = values_fail("--map", text);
    return st;
}

static size_t length(const map_t *m, size_t i)
{
    return i < m->count ? m->values[i].count : 1;
}

static double value(const map_t *m, size_t axis, size_t i)
{
    return XY_VEC_AT(&m->values[axis], double, i);
}

/* Reads the axes of a map and allocates its cells. */
static xy_status_t read_map(map_t *m)
{
    const choose_values_t *v = m->c->v;
    xy_status_t st = XY_OK;

    if (v->map.count > DIMENSIONS)
        return xy_fail(XY_EUSAGE, "--map: at most two parameters");
    if (v->svg != NULL && v->map.count < 2)
        return xy_fail(XY_EUSAGE, "--svg draws a map of two parameters; add another --map");
    for (size_t i = 0; st == XY_OK && i < v->map.count; i++)
        st = read_axis(m, XY_VEC_AT(&v->map, const char *, i));
    if (st == XY_OK && length(m, 0) * length(m, 1) > VALUES_MAX)
        st = xy_fail(XY_ELIMIT, "--map: too many choices");
    if (st == XY_OK &&
        (m->winner = xy_calloc(length(m, 0) * length(m, 1), sizeof(*m->winner))) == NULL)
        st = xy_fail_memory("making a map");
    return st;
}

/* ---- Choosing ---- */

static xy_status_t keep_names(map_t *m, const xy_adapt_times_t *t)
{
    if (m->names != NULL)
        return XY_OK;
    m->names = xy_calloc(t->count, sizeof(*m->names));
    if (m->names == NULL)
        return xy_fail_memory("making a map");
    m->alternatives = t->count;
    for (size_t i = 0; i < t->count; i++)
        m->names[i] = t->candidates[i].name; /* they live as long as the problem */
    return XY_OK;
}

/* Chooses for one cell of the map. */
static xy_status_t choose_at(map_t *m, size_t x, size_t y)
{
    const choose_t *c = m->c;
    xy_parameter_t given[XY_CHOOSE_PARAMETERS_MAX + DIMENSIONS];
    choose_answer_t a;
    size_t count = c->given.count;
    xy_status_t st;

    if (count > XY_CHOOSE_PARAMETERS_MAX)
        return xy_fail(XY_EUSAGE, "too many parameters");
    for (size_t i = 0; i < count; i++)
        given[i] = XY_VEC_AT(&c->given, xy_parameter_t, i);
    for (size_t i = 0; i < m->count; i++)
        given[count++] = (xy_parameter_t){m->name[i], value(m, i, i == 0 ? x : y)};
    st = choose_answer(c, given, count, &a);
    if (st != XY_OK)
        return st;
    m->winner[y * length(m, 0) + x] = a.choice.best;
    st = keep_names(m, a.times);
    choose_answer_cleanup(&a);
    return st;
}

/* ---- Text ---- */

/* Prints the map as CSV. */
static void print_text(const map_t *m)
{
    char number[32];

    printf("%s", m->name[0]);
    if (m->count > 1)
        printf(",%s", m->name[1]);
    puts(",choice");
    for (size_t y = 0; y < length(m, 1); y++)
        for (size_t x = 0; x < length(m, 0); x++) {
            printf("%s", xy_format_double(value(m, 0, x), number));
            if (m->count > 1)
                printf(",%s", xy_format_double(value(m, 1, y), number));
            printf(",%s\n", m->names[m->winner[y * length(m, 0) + x]]);
        }
}

/* ---- Picture: one cell per choice, as wide as it is in the list ---- */

/* The headline: the part of the cases in which each alternative is the best. */
static void draw_finding(const map_t *m, const xy_svg_t *svg)
{
    size_t cells = length(m, 0) * length(m, 1);
    xy_text_t text = XY_TEXT_INIT;

    for (size_t i = 0; i < m->alternatives; i++) {
        size_t won = 0;

        for (size_t cell = 0; cell < cells; cell++)
            won += m->winner[cell] == i;
        if (won > 0 && text.length == 0)
            xy_text_addf(&text, "%s is the best in %zu of %zu cases", m->names[i], won, cells);
        else if (won > 0)
            xy_text_addf(&text, ", %s in %zu", m->names[i], won);
    }
    if (!text.failed && text.s != NULL)
        xy_svg_text(svg, "title", LEFT, 20, "%s", text.s);
    xy_text_cleanup(&text);
}

static void draw_names(const map_t *m, const xy_svg_t *svg)
{
    double at = LEFT;

    for (size_t i = 0; i < m->alternatives; i++) {
        xy_svg_rect(svg, xy_colour_fill[i % XY_COLOURS], at, TOP - 24, 10, 10, NULL);
        xy_svg_text(svg, "note", at + 14, TOP - 15, "%s", m->names[i]);
        at += 30 + xy_text_width(m->names[i]);
    }
}

/* About ten values of an axis, so that they do not touch. */
static size_t every(size_t count)
{
    return count / 10 + 1;
}

static void draw_values(const map_t *m, const xy_svg_t *svg, double wide, double high)
{
    char number[32];

    for (size_t x = 0; x < length(m, 0); x += every(length(m, 0)))
        xy_svg_text(svg, "note mid", LEFT + ((double)x + 0.5) * wide, TOP + HIGH + 16, "%s",
                    xy_format_double(value(m, 0, x), number));
    for (size_t y = 0; y < length(m, 1); y += every(length(m, 1)))
        xy_svg_text(svg, "note end", LEFT - 6, TOP + HIGH - ((double)y + 0.5) * high + 4, "%s",
                    xy_format_double(value(m, 1, y), number));
    xy_svg_text(svg, "note mid", LEFT + WIDE / 2.0, TOP + HIGH + 34, "%s", m->name[0]);
    xy_svg_text_up(svg, "note mid", 16, TOP + HIGH / 2.0, m->name[1]);
}

/* Draws a map of two parameters; the callback of xy_out_write(). */
static xy_status_t draw(const void *arg, FILE *file)
{
    const map_t *m = arg;
    double wide = WIDE / (double)length(m, 0), high = HIGH / (double)length(m, 1);
    xy_svg_t svg = xy_svg_begin(file, &(xy_svg_head_t){.width = LEFT + WIDE + 20,
                                                       .height = TOP + HIGH + 44,
                                                       .title = "the best alternative"});

    for (size_t y = 0; y < length(m, 1); y++)
        for (size_t x = 0; x < length(m, 0); x++) {
            size_t winner = m->winner[y * length(m, 0) + x];

            xy_svg_rect(&svg, xy_colour_fill[winner % XY_COLOURS], LEFT + (double)x * wide,
                        TOP + HIGH - ((double)y + 1) * high, wide, high, m->names[winner]);
        }
    draw_finding(m, &svg);
    draw_names(m, &svg);
    draw_values(m, &svg, wide, high);
    xy_svg_end(&svg);
    return XY_OK;
}

xy_status_t choose_map(const choose_t *c)
{
    map_t m = {.c = c};
    xy_status_t st = read_map(&m);

    for (size_t y = 0; st == XY_OK && y < length(&m, 1); y++)
        for (size_t x = 0; st == XY_OK && x < length(&m, 0); x++)
            st = choose_at(&m, x, y);
    if (st == XY_OK)
        st = xy_out_write(c->v->svg, draw, &m);
    if (st == XY_OK) {
        print_text(&m);
        st = xy_stdout_check();
    }
    for (size_t i = 0; i < m.count; i++) {
        xy_free(m.name[i]);
        xy_vec_cleanup(&m.values[i]);
    }
    xy_free(m.names);
    xy_free(m.winner);
    return st;
}
