/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of the file of costs, read: intervals, samples and shapes. */
#include <limits.h>
#include <string.h>

#include "cost/store_internal.h"

enum { POWER_MAX = 6 };

static const double huge = 1e300;

/* Reads the coefficients of an interval, one more than its degree. */
static xy_status_t read_params(const costs_reader_t *r, const xy_xml_node_t *node, xy_interval_t *v)
{
    const xy_xml_node_t *params = node->child;
    char *copy, *save = NULL;
    int n = 0;

    while (params != NULL && !costs_is_named(params, "Params"))
        params = params->next;
    if (params == NULL)
        return costs_fail_node(r, node, "has no Params");
    copy = xy_strdup(params->text);
    if (copy == NULL)
        return xy_fail_memory("reading costs");
    for (char *word = strtok_r(copy, " \t\r\n", &save); word != NULL;
         word = strtok_r(NULL, " \t\r\n", &save), n++)
        if (n > v->degree || !xy_parse_double(word, &v->params[n])) {
            n = -1;
            break;
        }
    xy_free(copy);
    return n == v->degree + 1
               ? XY_OK
               : costs_fail_node(r, params, "must have one number more than the Degree");
}

/* Reads an interval of a fit and appends it; intervals must adjoin. */
static xy_status_t read_interval(const costs_reader_t *r, const xy_xml_node_t *node, xy_fit_t *fit)
{
    xy_interval_t v = {0}, *more;
    long degree = -1;
    const costs_field_t fields[] = {{"Start", &v.start, 0, true},
                                    {"End", &v.end, 0, true},
                                    {"ErrorMean", &v.error_mean, 0, false},
                                    {"ErrorMax", &v.error_max, 0, false},
                                    {0}};
    xy_status_t st = costs_read_fields(r, node, fields);

    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "Degree", 0, XY_FIT_DEGREE_MAX, &degree);
    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "Samples", 0, LONG_MAX, &v.samples);
    if (st != XY_OK)
        return st;
    if (degree < 0)
        return costs_fail_node(r, node, "has no Degree");
    v.degree = (int)degree;
    if (v.end < v.start || (fit->count > 0 && v.start != fit->intervals[fit->count - 1].end))
        return costs_fail_node(
            r, node, "does not start where the previous one ends, or ends before it starts");
    st = read_params(r, node, &v);
    if (st != XY_OK)
        return st;
    more = xy_realloc_array(fit->intervals, fit->count + 1, sizeof(*more));
    if (more == NULL)
        return xy_fail_memory("reading costs");
    fit->intervals = more;
    fit->intervals[fit->count++] = v;
    return XY_OK;
}

/* Reads a sample of a kernel and appends it. */
static xy_status_t read_sample(const costs_reader_t *r, const xy_xml_node_t *node,
                               xy_kernel_cost_t *k)
{
    xy_sample_t s = {0}, *more;
    const costs_field_t fields[] = {{"Size", &s.x, 1e-300, true},
                                    {"Seconds", &s.t, 1e-300, true},
                                    {"Spread", &s.spread, 0, false},
                                    {0}};
    xy_status_t st = costs_read_fields(r, node, fields);

    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "Repetitions", 0, LONG_MAX, &s.repetitions);
    if (st != XY_OK)
        return st;
    more = xy_realloc_array(k->samples, k->sample_count + 1, sizeof(*more));
    if (more == NULL)
        return xy_fail_memory("reading costs");
    k->samples = more;
    k->samples[k->sample_count++] = s;
    return XY_OK;
}

/* ---- Shapes ---- */

/* `count` numbers of a text, each in [low, high]; false: there are others. */
static bool read_numbers(const char *text, double low, double high, double *values, size_t count)
{
    char copy[256], *save = NULL;
    size_t n = 0;

    if (text == NULL || strlen(text) >= sizeof(copy))
        return false;
    memcpy(copy, text, strlen(text) + 1);
    for (char *word = strtok_r(copy, " \t\r\n", &save); word != NULL;
         word = strtok_r(NULL, " \t\r\n", &save), n++)
        if (n >= count || !xy_parse_double(word, &values[n]) ||
            !(values[n] >= low && values[n] <= high))
            return false;
    return n == count;
}

static bool read_powers(const char *text, size_t count, unsigned char powers[XY_SIZES_MAX])
{
    double values[XY_SIZES_MAX] = {0};

    if (!read_numbers(text, 0, POWER_MAX, values, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        powers[i] = (unsigned char)values[i];
        if (powers[i] != values[i])
            return false;
    }
    return true;
}

/* "m n k" */
static bool read_names(const char *text, xy_shape_t *shape)
{
    while (text != NULL && *(text += strspn(text, " \t\r\n")) != '\0') {
        size_t length = strcspn(text, " \t\r\n");

        if (shape->sizes == XY_SIZES_MAX || length >= sizeof(shape->name[0]))
            return false;
        memcpy(shape->name[shape->sizes++], text, length);
        text += length;
    }
    return shape->sizes >= 2;
}

static xy_status_t read_term(const costs_reader_t *r, const xy_xml_node_t *node, xy_shape_t *shape)
{
    xy_shape_term_t *term = &shape->term[shape->count];

    if (shape->count == XY_SHAPE_TERMS_MAX)
        return costs_fail_node(r, node, "is one too many for a Shape");
    if (!read_powers(xy_xml_attr(node, "Powers"), shape->sizes, term->power))
        return costs_fail_node(r, node, "needs Powers, a small whole number for each size");
    if (!xy_parse_double(node->text, &term->factor) || !(term->factor > 0 && term->factor <= huge))
        return costs_fail_node(r, node, "is not a positive number");
    shape->count++;
    return XY_OK;
}

/* Reads a sample of several sizes and appends it. */
static xy_status_t read_shape_sample(const costs_reader_t *r, const xy_xml_node_t *node,
                                     xy_shape_t *shape)
{
    xy_shape_sample_t s = {0}, *more;
    double held = 0;
    const costs_field_t fields[] = {{"Seconds", &s.t, 1e-300, true},
                                    {"Spread", &s.spread, 0, false},
                                    {"HeldOut", &held, 0, false},
                                    {0}};
    xy_status_t st = costs_read_fields(r, node, fields);

    if (st == XY_OK &&
        !read_numbers(xy_xml_attr(node, "Sizes"), 1e-300, huge, s.size, shape->sizes))
        st = costs_fail_node(r, node, "needs Sizes, a positive number for each size");
    if (st != XY_OK)
        return st;
    s.is_held = held > 0;
    more = xy_realloc_array(shape->samples, shape->sample_count + 1, sizeof(*more));
    if (more == NULL)
        return xy_fail_memory("reading costs");
    shape->samples = more;
    shape->samples[shape->sample_count++] = s;
    return XY_OK;
}

/* Reads the shape of a kernel, with its terms and samples. */
static xy_status_t read_shape(const costs_reader_t *r, const xy_xml_node_t *node, xy_shape_t *shape)
{
    const costs_field_t fields[] = {{"ErrorMean", &shape->error_mean, 0, false},
                                    {"ErrorMax", &shape->error_max, 0, false},
                                    {"HeldOut", &shape->held_out, 0, false},
                                    {"Aspect", &shape->aspect, 0, false},
                                    {0}};
    xy_status_t st = shape->sizes > 0 ? costs_fail_node(r, node, "appears twice")
                                      : costs_read_fields(r, node, fields);
    int degree = 0;

    if (st == XY_OK && !read_names(xy_xml_attr(node, "Sizes"), shape))
        st = costs_fail_node(r, node, "needs Sizes, two or three short names");
    if (st == XY_OK && !read_powers(xy_xml_attr(node, "Work"), shape->sizes, shape->work))
        st = costs_fail_node(r, node, "needs Work, a small whole power for each size");
    for (size_t i = 0; i < shape->sizes; i++)
        degree += shape->work[i];
    if (st == XY_OK && degree == 0)
        st = costs_fail_node(r, node, "has a Work that depends on no size");
    for (const xy_xml_node_t *n = node->child; n != NULL && st == XY_OK; n = n->next) {
        if (costs_is_named(n, "Term"))
            st = read_term(r, n, shape);
        else if (costs_is_named(n, "Sample"))
            st = read_shape_sample(r, n, shape);
        else
            st = costs_fail_node(r, n, "is not expected in a Shape; give Term or Sample");
    }
    return st;
}

/* Reads a kernel's fit, samples and shape on one cluster. */
static xy_status_t read_cluster(const costs_reader_t *r, const xy_xml_node_t *node,
                                xy_kernel_cost_t *k)
{
    const costs_field_t fields[] = {{"ErrorMean", &k->fit.error_mean, 0, false},
                                    {"ErrorMax", &k->fit.error_max, 0, false},
                                    {"HeldOut", &k->held_out, 0, false},
                                    {0}};
    xy_status_t st = costs_read_text(node, "Name", &k->cluster);

    if (st == XY_OK)
        st = costs_read_fields(r, node, fields);
    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "Samples", 0, LONG_MAX, &k->fit.samples);
    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, node, "HeldOutSamples", 0, LONG_MAX, &k->held_count);
    for (const xy_xml_node_t *n = node->child; n != NULL && st == XY_OK; n = n->next) {
        if (costs_is_named(n, "Interval"))
            st = read_interval(r, n, &k->fit);
        else if (costs_is_named(n, "Sample"))
            st = read_sample(r, n, k);
        else if (costs_is_named(n, "Shape"))
            st = read_shape(r, n, &k->shape);
        else
            st = costs_fail_node(r, n,
                                 "is not expected in a Cluster; give Interval, Sample or Shape");
    }
    return st;
}

xy_status_t costs_read_kernel(const costs_reader_t *r, const xy_xml_node_t *node)
{
    xy_status_t st = XY_OK;

    if (xy_xml_attr(node, "Name") == NULL)
        return costs_fail_node(r, node, "has no Name");
    for (const xy_xml_node_t *n = node->child; n != NULL && st == XY_OK; n = n->next) {
        xy_kernel_cost_t k = {.threads = 1};

        if (!costs_is_named(n, "Cluster"))
            return costs_fail_node(r, n, "is not expected in a SeqKernel; give Cluster");
        st = costs_read_text(node, "Name", &k.name);
        if (st == XY_OK)
            st = costs_read_text(node, "Unit", &k.unit);
        if (st == XY_OK)
            st = costs_read_text(node, "Library", &k.library);
        if (st == XY_OK)
            st = costs_read_text(node, "Criterion", &k.criterion);
        if (st == XY_OK)
            st = costs_read_text(node, "Clock", &k.clock);
        if (st == XY_OK)
            st = xy_xml_attr_long(r->doc, node, "Threads", 1, LONG_MAX, &k.threads);
        if (st == XY_OK)
            st = xy_xml_attr_long(r->doc, node, "Distance", 0, LONG_MAX, &k.distance);
        if (st == XY_OK)
            st = read_cluster(r, n, &k);
        if (st == XY_OK)
            st = xy_costs_set_kernel(r->costs, &k);
        else
            xy_kernel_cost_cleanup(&k);
    }
    return st;
}
