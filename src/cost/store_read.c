/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of costs, read: every number checked, every refusal with its line. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cost/store_internal.h"

static const char *const root_attrs[] = {"version", "machine", "hardware", "date",
                                         "time",    "size",    NULL};
static const char *const root_children[] = {"Machine", "Speed",  "Constant", "SeqKernel",
                                            "Message", "Figure", "machine",  NULL};
static const double huge = 1e300;

bool costs_is_named(const xy_xml_node_t *node, const char *name)
{
    return strcmp(node->name, name) == 0;
}

xy_status_t costs_fail_node(const costs_reader_t *r, const xy_xml_node_t *node, const char *what)
{
    return xy_fail_at(XY_EPARSE, xy_xml_path(r->doc), node->line, "<%s> %s", node->name, what);
}

xy_status_t costs_read_fields(const costs_reader_t *r, const xy_xml_node_t *node,
                              const costs_field_t *fields)
{
    xy_status_t st = XY_OK;

    for (const costs_field_t *f = fields; st == XY_OK && f->name != NULL; f++) {
        if (xy_xml_attr(node, f->name) != NULL)
            st = xy_xml_attr_double(r->doc, node, f->name, f->min, huge, f->value);
        else if (f->is_required)
            st = xy_fail_at(XY_EPARSE, xy_xml_path(r->doc), node->line, "%s has no %s", node->name,
                            f->name);
    }
    return st;
}

/* The attribute in fresh memory; an absent one reads "". */
xy_status_t costs_read_text(const xy_xml_node_t *node, const char *name, char **text_p)
{
    const char *value = xy_xml_attr(node, name);

    *text_p = xy_strdup(value != NULL ? value : "");
    return *text_p != NULL ? XY_OK : xy_fail_memory("reading costs");
}

/* ---- Messages ---- */

/* Reads an interval of a line and appends it; intervals must adjoin. */
static xy_status_t read_line(const costs_reader_t *r, const xy_xml_node_t *node, xy_lines_t *lines)
{
    xy_line_t v = {0}, *more;
    const costs_field_t fields[] = {{"Start", &v.start, 0, true},
                                    {"End", &v.end, 0, true},
                                    {"a", &v.a, -huge, true},
                                    {"b", &v.b, -huge, true},
                                    {"ErrorMax", &v.error_max, 0, false},
                                    {0}};
    xy_status_t st = costs_is_named(node, "Interval")
                         ? costs_read_fields(r, node, fields)
                         : costs_fail_node(r, node, "is not an Interval");

    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "Samples", 0, LONG_MAX, &v.samples);
    if (st != XY_OK)
        return st;
    if (v.end < v.start || (lines->count > 0 && v.start != lines->line[lines->count - 1].end))
        return costs_fail_node(
            r, node, "does not start where the previous one ends, or ends before it starts");
    more = xy_realloc_array(lines->line, lines->count + 1, sizeof(*more));
    if (more == NULL)
        return xy_fail_memory("reading costs");
    lines->line = more;
    lines->line[lines->count++] = v;
    return XY_OK;
}

/* Reads the model of one kind of message. */
static xy_status_t read_kind(const costs_reader_t *r, const xy_xml_node_t *node,
                             xy_message_lines_t *kind)
{
    const costs_field_t fields[] = {{"ErrorMean", &kind->error_mean, 0, false},
                                    {"ErrorMax", &kind->error_max, 0, false},
                                    {"HeldOut", &kind->held_out, 0, false},
                                    {0}};
    xy_status_t st = kind->latency > 0 ? costs_fail_node(r, node, "appears twice")
                                       : costs_read_fields(r, node, fields);

    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "HeldOutSamples", 0, LONG_MAX, &kind->held_count);
    for (const xy_xml_node_t *n = node->child; n != NULL && st == XY_OK; n = n->next) {
        xy_lines_t *lines = costs_is_named(n, "Bandwidth") ? &kind->bandwidth : &kind->time;

        if (costs_is_named(n, "Latency")) {
            if (!xy_parse_double(n->text, &kind->latency) || !(kind->latency > 0))
                st = costs_fail_node(r, n, "is not a positive number of seconds");
            continue;
        }
        if (!costs_is_named(n, "Bandwidth") && !costs_is_named(n, "Time"))
            st = costs_fail_node(r, n, "is not expected here; give Latency, Bandwidth or Time");
        for (const xy_xml_node_t *i = n->child; i != NULL && st == XY_OK; i = i->next)
            st = read_line(r, i, lines);
    }
    if (st == XY_OK && (!(kind->latency > 0) || kind->time.count == 0))
        st = costs_fail_node(r, node, "needs a Latency and a Time with intervals");
    return st;
}

/* Reads the attributes that are figures into a model or a sample. */
static xy_status_t read_figures(const costs_reader_t *r, const xy_xml_node_t *node,
                                const xy_figure_t *figures, void *into)
{
    xy_status_t st = XY_OK;

    for (const xy_figure_t *f = figures; st == XY_OK && f->name != NULL; f++) {
        const costs_field_t field[] = {{f->name, xy_figure_place(into, f), 0, false}, {0}};

        st = costs_read_fields(r, node, field);
    }
    return st;
}

/* Reads a sample of messages; sizes must increase. */
static xy_status_t read_message_sample(const costs_reader_t *r, const xy_xml_node_t *node,
                                       xy_message_model_t *model)
{
    xy_message_sample_t s = {0}, *more;
    const costs_field_t size[] = {{"Size", &s.bytes, 0, true}, {0}};
    xy_status_t st = costs_read_fields(r, node, size);

    if (st == XY_OK)
        st = read_figures(r, node, xy_message_curves(), &s);
    if (st != XY_OK)
        return st;
    if (model->count > 0 && s.bytes <= model->samples[model->count - 1].bytes)
        return costs_fail_node(r, node, "must have a larger size than the one before");
    more = xy_realloc_array(model->samples, model->count + 1, sizeof(*more));
    if (more == NULL)
        return xy_fail_memory("reading costs");
    model->samples = more;
    model->samples[model->count++] = s;
    return XY_OK;
}

/* Reads one child of a message element. */
static xy_status_t read_message_part(const costs_reader_t *r, const xy_xml_node_t *n,
                                     xy_message_model_t *model)
{
    const costs_field_t loggp[] = {{"L", &model->loggp.latency, 0, true},
                                   {"o", &model->loggp.overhead, 0, false},
                                   {"g", &model->loggp.gap, 0, true},
                                   {"G", &model->loggp.per_byte, 0, true},
                                   {0}};
    const costs_field_t plogp[] = {{"L", &model->plogp_latency, 0, true}, {0}};

    for (int k = 0; k < XY_MESSAGE_KINDS; k++)
        if (costs_is_named(n, xy_message_curves()[k].name))
            return read_kind(r, n, &model->kind[k]);
    if (costs_is_named(n, "LogGP"))
        return costs_read_fields(r, n, loggp);
    if (costs_is_named(n, "PLogP"))
        return costs_read_fields(r, n, plogp);
    if (costs_is_named(n, "Sample"))
        return read_message_sample(r, n, model);
    return costs_fail_node(r, n, "is not expected in a Message");
}

/* Reads a message element and adds it to the store. */
static xy_status_t read_message(const costs_reader_t *r, const xy_xml_node_t *node)
{
    xy_message_cost_t m = {0};
    xy_status_t st;

    if (xy_xml_attr(node, "Cluster1") == NULL || xy_xml_attr(node, "Cluster2") == NULL)
        return costs_fail_node(r, node, "needs Cluster1 and Cluster2");
    st = costs_read_text(node, "Cluster1", &m.cluster1);
    if (st == XY_OK)
        st = costs_read_text(node, "Cluster2", &m.cluster2);
    if (st == XY_OK)
        st = costs_read_text(node, "Library", &m.library);
    if (st == XY_OK)
        st = read_figures(r, node, xy_message_figures(), &m.model);
    for (const xy_xml_node_t *n = node->child; n != NULL && st == XY_OK; n = n->next)
        st = read_message_part(r, n, &m.model);
    if (st == XY_OK && m.model.count == 0)
        st = costs_fail_node(r, node, "has no Sample");
    if (st == XY_OK)
        st = xy_message_complete(&m.model);
    if (st == XY_OK)
        return xy_costs_set_message(r->costs, &m);
    xy_message_cost_cleanup(&m);
    return st;
}

/* ---- The rest ---- */

/* Reads a constant and adds it to the store. */
static xy_status_t read_constant(const costs_reader_t *r, const xy_xml_node_t *node)
{
    double seconds = 0, spread = 0;
    long from = -1, to = -1, repetitions = 0;
    const costs_field_t fields[] = {
        {"Seconds", &seconds, 0, true}, {"Spread", &spread, 0, false}, {0}};
    xy_status_t st = costs_read_fields(r, node, fields);

    if (st == XY_OK && xy_xml_attr(node, "Name") == NULL)
        st = costs_fail_node(r, node, "has no Name");
    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "From", -1, LONG_MAX, &from);
    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "To", -1, LONG_MAX, &to);
    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "Repetitions", 0, LONG_MAX, &repetitions);
    return st == XY_OK ? xy_costs_set_constant(r->costs, xy_xml_attr(node, "Name"), from, to,
                                               seconds, spread, repetitions)
                       : st;
}

static xy_status_t read_host(const costs_reader_t *r, const xy_xml_node_t *node)
{
    const char *name = xy_xml_attr(node, "Name"), *cluster = xy_xml_attr(node, "Cluster");

    if (name == NULL || cluster == NULL)
        return costs_fail_node(r, node, "needs Name and Cluster");
    return xy_costs_set_host(r->costs, name, cluster);
}

static xy_status_t read_speed(const costs_reader_t *r, const xy_xml_node_t *node)
{
    const char *cluster = xy_xml_attr(node, "Cluster"), *like = xy_xml_attr(node, "Like");
    double factor = 1;
    const costs_field_t fields[] = {{"Factor", &factor, 1e-9, true}, {0}};
    xy_status_t st = costs_read_fields(r, node, fields);

    if (st == XY_OK && (cluster == NULL || like == NULL))
        st = costs_fail_node(r, node, "needs Cluster and Like");
    return st == XY_OK ? xy_costs_set_speed(r->costs, cluster, like, factor) : st;
}

static xy_status_t read_figure(const costs_reader_t *r, const xy_xml_node_t *node)
{
    const char *name = xy_xml_attr(node, "Name");
    double value = 0;
    const costs_field_t fields[] = {{"Value", &value, 0, true}, {0}};
    xy_status_t st = costs_read_fields(r, node, fields);

    if (st == XY_OK && name == NULL)
        st = costs_fail_node(r, node, "needs a Name");
    return st == XY_OK ? xy_costs_set_figure(r->costs, name, value) : st;
}

/* Checks name and version of the document element. */
static xy_status_t check_root(const xy_xml_t *doc)
{
    const xy_xml_node_t *root = xy_xml_root(doc);
    const char *version = xy_xml_attr(root, "version");
    long number = 0;

    if (!costs_is_named(root, "XylemCosts"))
        return xy_fail_at(XY_EPARSE, xy_xml_path(doc), root->line,
                          "<%s> is not a file of costs; 'xylem calibrate --output FILE' makes one",
                          root->name);
    if (version == NULL || !xy_parse_long(version, &number) || number < 1 ||
        number > XY_COSTS_VERSION)
        return xy_fail_at(
            XY_EUNSUPPORTED, xy_xml_path(doc), root->line,
            "version %s; this Xylem reads versions 1 to %d: measure again with 'xylem "
            "calibrate' (messages with --messages, of hosts with --hosts)",
            version != NULL ? version : "(none)", XY_COSTS_VERSION);
    return xy_xml_check_names(doc, root, root_attrs, root_children);
}

/* Reads all elements of the document into the store. */
static xy_status_t read_all(const xy_xml_t *doc, xy_costs_t *costs)
{
    costs_reader_t r = {.doc = doc, .costs = costs};
    xy_status_t st = XY_OK;

    for (const xy_xml_node_t *n = xy_xml_root(doc)->child; n != NULL && st == XY_OK; n = n->next) {
        if (costs_is_named(n, "Machine"))
            st = read_host(&r, n);
        else if (costs_is_named(n, "Constant"))
            st = read_constant(&r, n);
        else if (costs_is_named(n, "SeqKernel"))
            st = costs_read_kernel(&r, n);
        else if (costs_is_named(n, "Speed"))
            st = read_speed(&r, n);
        else if (costs_is_named(n, "Figure"))
            st = read_figure(&r, n);
        else if (costs_is_named(n, "machine"))
            st = costs->platform != NULL ? costs_fail_node(&r, n, "appears twice")
                                         : xy_machine_parse_element(doc, n, &costs->platform);
        else
            st = read_message(&r, n);
    }
    return st;
}

/* Makes a store of a document; the caller owns it. */
static xy_status_t read_document(const xy_xml_t *doc, xy_costs_t **costs_p)
{
    const xy_xml_node_t *root = xy_xml_root(doc);
    const char *machine = xy_xml_attr(root, "machine"), *hardware = xy_xml_attr(root, "hardware");
    xy_costs_t *costs;
    xy_status_t st = check_root(doc);

    if (st == XY_OK)
        st = xy_costs_create(machine != NULL ? machine : "", hardware != NULL ? hardware : "",
                             &costs);
    if (st != XY_OK)
        return st;
    xy_free(costs->date);
    st = costs_read_text(root, "date", &costs->date);
    if (st == XY_OK)
        st = read_all(doc, costs);
    if (st == XY_OK)
        *costs_p = costs;
    else
        xy_costs_destroy(costs);
    return st;
}

xy_status_t xy_costs_parse(const char *data, size_t size, const char *path, xy_costs_t **costs_p)
{
    xy_xml_t *doc;
    xy_status_t st = xy_xml_parse(data, size, path, &xy_xml_default_limits, &doc);

    if (st != XY_OK)
        return st;
    st = read_document(doc, costs_p);
    xy_xml_free(doc);
    return st;
}

static xy_status_t load_from(const char *path, xy_costs_t **costs_p)
{
    xy_xml_t *doc;
    xy_status_t st = xy_xml_read(path, &xy_xml_default_limits, &doc);

    if (st != XY_OK)
        return st;
    st = read_document(doc, costs_p);
    xy_xml_free(doc);
    return st;
}

xy_status_t xy_costs_load_beside(const char *machine, xy_costs_t **costs_p)
{
    char text[4096];
    FILE *file = machine != NULL ? fopen(machine, "r") : NULL;
    size_t n = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

    if (file != NULL)
        fclose(file);
    text[n] = '\0';
    *costs_p = NULL;
    return strstr(text, "<XylemCosts") != NULL ? load_from(machine, costs_p) : XY_OK;
}

xy_status_t xy_costs_load(const char *path, xy_costs_t **costs_p)
{
    char *own;
    xy_status_t st;

    if (path != NULL)
        return load_from(path, costs_p);
    st = xy_costs_path(&own);
    if (st != XY_OK)
        return st;
    if (access(own, F_OK) != 0)
        st = xy_fail(XY_ENOENT,
                     "no costs were measured here yet (%s does not exist); run 'xylem calibrate'",
                     own);
    else
        st = load_from(own, costs_p);
    xy_free(own);
    return st;
}
