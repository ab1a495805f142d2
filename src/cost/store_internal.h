/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of the reader of cost files (private to the component). */
#ifndef XY_COST_STORE_INTERNAL_H
#define XY_COST_STORE_INTERNAL_H

#include "cost/store.h"

typedef struct {
    const xy_xml_t *doc;
    xy_costs_t *costs;
} costs_reader_t;

typedef struct {
    const char *name;
    double *value;
    double min;
    bool is_required;
} costs_field_t;

bool costs_is_named(const xy_xml_node_t *node, const char *name);
/* EPARSE with the line: "<Name> `what`". */
xy_status_t costs_fail_node(const costs_reader_t *r, const xy_xml_node_t *node, const char *what);
/* Attributes that are numbers; the list ends with a NULL name. */
xy_status_t costs_read_fields(const costs_reader_t *r, const xy_xml_node_t *node,
                              const costs_field_t *fields);
/* The attribute in fresh memory; an absent one reads "". */
xy_status_t costs_read_text(const xy_xml_node_t *node, const char *name, char **text_p);

/* A SeqKernel with its clusters. */
xy_status_t costs_read_kernel(const costs_reader_t *r, const xy_xml_node_t *node);

#endif
