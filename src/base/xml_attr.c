/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading attributes of a parsed document with errors that name file and line; XML text out. */
#include <string.h>

#include "base/text.h"
#include "base/xml.h"

const char *xy_xml_attr(const xy_xml_node_t *node, const char *name)
{
    for (const xy_xml_attr_t *attr = node->attr; attr != NULL; attr = attr->next)
        if (strcmp(attr->name, name) == 0)
            return attr->value;
    return NULL;
}

xy_status_t xy_xml_attr_long(const xy_xml_t *doc, const xy_xml_node_t *node, const char *name,
                             long min, long max, long *value_p)
{
    const char *text = xy_xml_attr(node, name);
    long value;

    if (text == NULL)
        return XY_OK;
    if (!xy_parse_long(text, &value))
        return xy_fail_at(XY_EPARSE, xy_xml_path(doc), node->line,
                          "%s=\"%s\" of <%s> is not a whole number", name, text, node->name);
    if (value < min || value > max)
        return xy_fail_at(XY_ELIMIT, xy_xml_path(doc), node->line,
                          "%s=\"%s\" of <%s> is outside %ld to %ld", name, text, node->name, min,
                          max);
    *value_p = value;
    return XY_OK;
}

xy_status_t xy_xml_attr_double(const xy_xml_t *doc, const xy_xml_node_t *node, const char *name,
                               double min, double max, double *value_p)
{
    const char *text = xy_xml_attr(node, name);
    double value;

    if (text == NULL)
        return XY_OK;
    if (!xy_parse_double(text, &value))
        return xy_fail_at(XY_EPARSE, xy_xml_path(doc), node->line,
                          "%s=\"%s\" of <%s> is not a finite number", name, text, node->name);
    if (value < min || value > max)
        return xy_fail_at(XY_ELIMIT, xy_xml_path(doc), node->line,
                          "%s=\"%s\" of <%s> is outside %g to %g", name, text, node->name, min,
                          max);
    *value_p = value;
    return XY_OK;
}

xy_status_t xy_xml_attr_size(const xy_xml_t *doc, const xy_xml_node_t *node, const char *name,
                             uint64_t *value_p)
{
    const char *text = xy_xml_attr(node, name);

    if (text == NULL || xy_parse_size(text, value_p))
        return XY_OK;
    return xy_fail_at(XY_EPARSE, xy_xml_path(doc), node->line,
                      "%s=\"%s\" of <%s> is not a size; write it like 4096 or 16GiB", name, text,
                      node->name);
}

static bool is_listed(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static xy_status_t fail_unknown(const xy_xml_t *doc, long line, const char *kind, const char *name,
                                const char *parent, const char *const *names)
{
    const char *nearest = xy_nearest_word(name, names);

    return xy_fail_at(XY_EPARSE, xy_xml_path(doc), line, "unknown %s '%s' in <%s>%s%s%s", kind,
                      name, parent, nearest != NULL ? "; did you mean '" : "",
                      nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

xy_status_t xy_xml_check_names(const xy_xml_t *doc, const xy_xml_node_t *node,
                               const char *const *attrs, const char *const *children)
{
    if (attrs != NULL)
        for (const xy_xml_attr_t *attr = node->attr; attr != NULL; attr = attr->next)
            if (!is_listed(attr->name, attrs))
                return fail_unknown(doc, node->line, "attribute", attr->name, node->name, attrs);
    if (children != NULL)
        for (const xy_xml_node_t *child = node->child; child != NULL; child = child->next)
            if (!is_listed(child->name, children))
                return fail_unknown(doc, child->line, "element", child->name, node->name, children);
    return XY_OK;
}
