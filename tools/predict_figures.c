/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a prediction: print all of them, and change some for --what-if. */
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "predict.h"

enum { NAME = 160 };

/* One of them, by its name: "send", or "local.Barrier" of messages inside a node. */
typedef struct {
    char name[NAME];
    const char *unit, *text;
    double *value; /* of messages; or NULL, for */
    const xy_vjob_figure_t *figure;
    xy_message_lines_t *curve; /* or NULL */
} view_t;

typedef xy_status_t (*visit_fn)(void *arg, const predict_t *p, const view_t *view);

/* Visits the figures and curves of messages between two clusters; a figure of 0 was not measured.
 */
static xy_status_t visit_message(const predict_t *p, xy_message_cost_t *m, visit_fn visit,
                                 void *arg)
{
    bool is_inside = strcmp(m->cluster1, m->cluster2) == 0;
    xy_status_t st = XY_OK;
    view_t v = {0};
    char pair[NAME / 2];

    snprintf(pair, sizeof(pair), "%s%s%s", m->cluster1, is_inside ? "" : "-",
             is_inside ? "" : m->cluster2);
    for (const xy_figure_t *f = xy_message_figures(); f->name != NULL && st == XY_OK; f++) {
        if ((f->pairs >> xy_costs_pair(m) & 1) == 0)
            continue;
        v = (view_t){.unit = f->unit, .text = f->text, .value = xy_figure_place(&m->model, f)};
        snprintf(v.name, sizeof(v.name), "%s.%s", pair, f->name);
        st = visit(arg, p, &v);
    }
    for (int k = 0; k < XY_MESSAGE_KINDS && st == XY_OK; k++) {
        const xy_figure_t *f = &xy_message_curves()[k];

        v = (view_t){.unit = f->unit, .text = f->text, .curve = &m->model.kind[k]};
        snprintf(v.name, sizeof(v.name), "%s.%s", pair, f->name);
        if (v.curve->latency > 0)
            st = visit(arg, p, &v);
    }
    return st;
}

/* Visits the figures of jobs, then those of all messages in the store. */
static xy_status_t visit_all(const predict_t *p, visit_fn visit, void *arg)
{
    xy_status_t st = XY_OK;
    size_t count;
    const xy_vjob_figure_t *figures = xy_vjob_figures(&count);

    for (size_t i = 0; i < count && st == XY_OK; i++) {
        view_t v = {.unit = figures[i].unit, .text = figures[i].text, .figure = &figures[i]};

        snprintf(v.name, sizeof(v.name), "%s", figures[i].name);
        st = visit(arg, p, &v);
    }
    for (size_t i = 0; p->costs != NULL && i < p->costs->messages.count && st == XY_OK; i++)
        st = visit_message(p, &XY_VEC_AT(&p->costs->messages, xy_message_cost_t, i), visit, arg);
    return st;
}

/* ---- Printing ---- */

static double value_of(const predict_t *p, const view_t *v)
{
    xy_vjob_costs_t costs;

    if (v->value != NULL)
        return *v->value;
    xy_vjob_costs_default(&costs);
    if (xy_vjob_costs_set(&costs, p->costs) == XY_OK && p->v->eager > 0)
        costs.eager = costs.eager_net = (double)p->v->eager;
    return xy_vjob_figure_value(&costs, v->figure);
}

static const char *format(const view_t *v, double value, char text[32])
{
    if (strcmp(v->unit, "s") == 0)
        return xy_format_seconds(value, text);
    if (strcmp(v->unit, "B") == 0)
        return xy_format_size((uint64_t)value, text);
    if (strcmp(v->unit, "B/s") == 0)
        return xy_format_bandwidth(value, text);
    snprintf(text, 32, "%.3g", value);
    return text;
}

/* Prints a figure, or the values of a curve at the ends of its intervals. */
static xy_status_t print_text(void *file, const predict_t *p, const view_t *v)
{
    char text[32], size[32];

    if (v->curve == NULL) {
        double value = value_of(p, v);

        if (v->value == NULL || value != 0)
            fprintf(file, "  %-24s %12s  %s\n", v->name, format(v, value, text), v->text);
        return XY_OK;
    }
    fprintf(file, "  %-24s %12s  %s\n", v->name, "curve", v->text);
    for (size_t i = 0; i < v->curve->time.count; i++) {
        const xy_line_t *line = &v->curve->time.line[i];
        char end[32];

        fprintf(file, "      from %s", xy_format_size((uint64_t)line->start, size));
        fprintf(file, " to %s: %s + size * %.3g ns\n", xy_format_size((uint64_t)line->end, end),
                xy_format_seconds(line->b, text), 1e9 * line->a);
    }
    return XY_OK;
}

void predict_figures_text(const predict_t *p, FILE *file)
{
    fputs("\nfigures of the model (--what-if NAME=VALUE changes one):\n", file);
    visit_all(p, print_text, file);
}

/* Writes a figure, or the lines of a curve. */
static xy_status_t print_json(void *arg, const predict_t *p, const view_t *v)
{
    xy_json_t *j = arg;

    if (v->curve == NULL) {
        double value = value_of(p, v);

        if (v->value == NULL || value != 0)
            xy_fields_object(j, NULL, "name %s unit %s value %g", v->name, v->unit, value);
        return XY_OK;
    }
    xy_json_begin_object(j, NULL);
    xy_fields(j, "name %s unit %s", v->name, v->unit);
    xy_json_begin_array(j, "intervals");
    for (size_t i = 0; i < v->curve->time.count; i++) {
        const xy_line_t *line = &v->curve->time.line[i];

        xy_fields_object(j, NULL, "start %g end %g a %g b %g", line->start, line->end, line->a,
                         line->b);
    }
    xy_json_end(j);
    xy_json_end(j);
    return XY_OK;
}

void predict_figures_json(const predict_t *p, xy_json_t *json)
{
    xy_json_begin_array(json, "figures");
    visit_all(p, print_json, json);
    xy_json_end(json);
}

/* ---- What if ---- */

typedef struct {
    predict_t *p;
    const char *name, *text;
    char sign;
    bool is_check, is_found;
} change_t;

/* A number in the unit of the figure: 200ns, 64K, 8e9. */
static bool parse(const view_t *v, const char *text, double *value_p)
{
    uint64_t bytes;

    if (strcmp(v->unit, "s") == 0)
        return xy_parse_seconds(text, value_p);
    if (strcmp(v->unit, "B") == 0 && xy_parse_size(text, &bytes)) {
        *value_p = (double)bytes;
        return true;
    }
    return xy_parse_double(text, value_p);
}

static void scale_curve(xy_message_lines_t *curve, double factor)
{
    curve->latency *= factor;
    for (size_t i = 0; i < curve->time.count; i++) {
        curve->time.line[i].a *= factor;
        curve->time.line[i].b *= factor;
    }
}

/* Sets the figure of a job in the store, which is made where there is none. */
static xy_status_t set_figure(predict_t *p, const char *name, double value)
{
    xy_status_t st = p->costs != NULL ? XY_OK : xy_costs_create("", "", &p->costs);

    return st == XY_OK ? xy_costs_set_figure(p->costs, name, value) : st;
}

/* Changes the figure if it is the wanted one. */
static xy_status_t change(void *arg, const predict_t *p, const view_t *v)
{
    change_t *c = arg;
    double value;

    if (strcmp(v->name, c->name) != 0)
        return XY_OK;
    c->is_found = true;
    if (c->sign == '=' && v->curve != NULL)
        return xy_fail(XY_EUSAGE, "--what-if '%s': that is a curve; write %s*2 or %s/2", c->name,
                       c->name, c->name);
    if (c->sign == '=' ? !parse(v, c->text, &value) : !xy_parse_double(c->text, &value))
        value = -1;
    if (!(value >= 0) || (c->sign != '=' && !(value > 0)))
        return xy_fail(XY_EUSAGE, "--what-if '%s%c%s': not a value in %s", c->name, c->sign,
                       c->text, c->sign == '=' && *v->unit != '\0' ? v->unit : "numbers");
    if (c->is_check)
        return XY_OK;
    if (c->sign != '=') {
        value = c->sign == '*' ? value : 1 / value;
        if (v->curve != NULL)
            scale_curve(v->curve, value);
        else
            value *= value_of(p, v);
    }
    if (v->value != NULL)
        *v->value = value;
    return v->figure != NULL ? set_figure(c->p, v->name, value) : XY_OK;
}

xy_status_t predict_figures_change(predict_t *p, const char *name, char sign, const char *text,
                                   bool is_check)
{
    change_t c = {.p = p, .name = name, .text = text, .sign = sign, .is_check = is_check};
    xy_status_t st = visit_all(p, change, &c);

    if (st == XY_OK && !c.is_found)
        st = xy_fail(XY_EUSAGE,
                     "--what-if '%s': the model has no such figure; 'xylem predict -v' prints "
                     "all of them",
                     name);
    return st;
}
