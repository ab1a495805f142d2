/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XML in: a small read-only tree with line numbers, made through libxml2 and safe for files from
 * anywhere: no network, no external files, no entity definitions, bounded size, depth and count.
 *
 *   xy_xml_t *doc;
 *   st = xy_xml_read("machine.xml", &xy_xml_default_limits, &doc);
 *   for (const xy_xml_node_t *n = xy_xml_root(doc)->child; n; n = n->next)
 *       if (!strcmp(n->name, "node")) ...
 *   xy_xml_free(doc);
 *
 * XML out: xy_xml_escape for attribute values and text.
 */
#ifndef XY_BASE_XML_H
#define XY_BASE_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

typedef struct xy_xml xy_xml_t;

typedef struct xy_xml_attr {
    const char *name;
    const char *value;
    struct xy_xml_attr *next;
} xy_xml_attr_t;

typedef struct xy_xml_node {
    const char *name;
    const char *text; /* characters directly inside; "" if none or only blanks */
    xy_xml_attr_t *attr;
    struct xy_xml_node *child;
    struct xy_xml_node *next;
    struct xy_xml_node *parent;
    long line;
} xy_xml_node_t;

typedef struct {
    size_t bytes;
    size_t nodes;
    int depth;
} xy_xml_limits_t;

extern const xy_xml_limits_t xy_xml_default_limits; /* 1 GiB, 10^8 elements, 256 deep */

/* Parse a file, or `size` bytes that came from `path` (named in messages). On success the caller
 * owns *doc_p. EUNSUPPORTED: built without libxml2. */
xy_status_t xy_xml_read(const char *path, const xy_xml_limits_t *limits, xy_xml_t **doc_p);
xy_status_t xy_xml_parse(const char *data, size_t size, const char *path,
                         const xy_xml_limits_t *limits, xy_xml_t **doc_p);
void xy_xml_free(xy_xml_t *doc); /* NULL is fine */
const xy_xml_node_t *xy_xml_root(const xy_xml_t *doc);
const char *xy_xml_path(const xy_xml_t *doc);

/* The attribute's value, or NULL. */
const char *xy_xml_attr(const xy_xml_node_t *node, const char *name);

/* Typed attributes: *value_p is untouched when the attribute is absent; a value that is no number
 * or is outside [min, max] is reported with file and line. */
xy_status_t xy_xml_attr_long(const xy_xml_t *doc, const xy_xml_node_t *node, const char *name,
                             long min, long max, long *value_p);
xy_status_t xy_xml_attr_double(const xy_xml_t *doc, const xy_xml_node_t *node, const char *name,
                               double min, double max, double *value_p);
xy_status_t xy_xml_attr_size(const xy_xml_t *doc, const xy_xml_node_t *node, const char *name,
                             uint64_t *value_p);

/* Say that `node` has an attribute or a child that is not in the NULL-terminated list (with the
 * nearest one that is); XY_OK when all are known. Either list may be NULL: not checked. */
xy_status_t xy_xml_check_names(const xy_xml_t *doc, const xy_xml_node_t *node,
                               const char *const *attrs, const char *const *children);

/* Write `value` with the five special characters escaped and what XML cannot hold dropped. */
void xy_xml_escape(FILE *file, const char *value);

#endif
