/* SPDX-License-Identifier: BSD-3-Clause */
/* A program description from XML, strictly: what is not known is an error with its line. */
#include <limits.h>
#include <string.h>

#include "program/tree.h"

static const xy_xml_limits_t limits = {.bytes = 256 << 20, .nodes = 10000000, .depth = 200};

static bool find_kind(const char *name, xy_node_kind_t *kind_p)
{
    for (int k = 0; k < XY_NODE_KINDS; k++)
        if (strcmp(program_elements[k].name, name) == 0) {
            *kind_p = (xy_node_kind_t)k;
            return true;
        }
    return false;
}

static xy_status_t fail_element(const xy_xml_t *doc, const xy_xml_node_t *x)
{
    const char *names[XY_NODE_KINDS + 1] = {NULL}, *nearest;

    for (int k = 0; k < XY_NODE_KINDS; k++)
        names[k] = program_elements[k].name;
    nearest = xy_nearest_word(x->name, names);
    return xy_fail_at(XY_EPARSE, xy_xml_path(doc), x->line,
                      "unknown element <%s> in a program description%s%s%s", x->name,
                      nearest != NULL ? "; did you mean <" : "", nearest != NULL ? nearest : "",
                      nearest != NULL ? ">?" : "");
}

/* The names that an element may have: its own, `line` and `file`, and of a call its parameters. */
static xy_status_t check_attrs(const xy_xml_t *doc, const xy_xml_node_t *x, xy_node_kind_t kind)
{
    const char *names[PROGRAM_ATTRS_MAX + XY_MPI_ARGS_MAX + 3] = {"line", "file"};
    const program_element_t *e = &program_elements[kind];
    int count = kind == XY_NODE_PROGRAM ? 0 : 2; /* the root is of no line */

    for (int i = 0; i < PROGRAM_ATTRS_MAX && e->attrs[i].name != NULL; i++) {
        names[count++] = e->attrs[i].name;
        if (e->attrs[i].is_needed && xy_xml_attr(x, e->attrs[i].name) == NULL)
            return xy_fail_at(XY_EPARSE, xy_xml_path(doc), x->line, "<%s> needs %s=\"...\"",
                              x->name, e->attrs[i].name);
    }
    if (kind == XY_NODE_MPI) {
        const xy_mpi_call_t *call = xy_mpi_call_find(xy_xml_attr(x, "call"));

        if (call == NULL)
            return xy_fail_at(XY_EPARSE, xy_xml_path(doc), x->line,
                              "'%s' is not an MPI call that a description may have",
                              xy_xml_attr(x, "call"));
        for (int i = 0; i < XY_MPI_ARGS_MAX && call->args[i] != NULL; i++)
            names[count++] = call->args[i];
    }
    names[count] = NULL;
    return xy_xml_check_names(doc, x, names, NULL);
}

static xy_status_t read_node(const xy_xml_t *doc, const xy_xml_node_t *x, xy_node_kind_t kind,
                             xy_node_t *node, xy_program_t *program);

/* Adds the child elements of `x` to the program; fails for elements out of place. */
static xy_status_t read_children(const xy_xml_t *doc, const xy_xml_node_t *x, xy_node_t *parent,
                                 xy_program_t *program)
{
    for (const xy_xml_node_t *c = x->child; c != NULL; c = c->next) {
        xy_node_kind_t kind;
        xy_node_t *node;
        xy_status_t st;
        long line = 0;

        if (!find_kind(c->name, &kind))
            return fail_element(doc, c);
        if ((program_elements[kind].parents & 1u << parent->kind) == 0)
            return xy_fail_at(XY_EPARSE, xy_xml_path(doc), c->line, "<%s> cannot stand in <%s>",
                              c->name, x->name);
        st = xy_xml_attr_long(doc, c, "line", 0, LONG_MAX, &line);
        if (st != XY_OK)
            return st;
        node = xy_program_add(program, parent, kind, xy_xml_attr(c, "file"), line);
        st = node != NULL ? read_node(doc, c, kind, node, program)
                          : xy_fail_memory("describing a program");
        if (st != XY_OK)
            return st;
    }
    return XY_OK;
}

/* Copies the attributes of an element, except version, file and line, and reads its children. */
static xy_status_t read_node(const xy_xml_t *doc, const xy_xml_node_t *x, xy_node_kind_t kind,
                             xy_node_t *node, xy_program_t *program)
{
    xy_status_t st = check_attrs(doc, x, kind);

    if (st != XY_OK)
        return st;
    for (const xy_xml_attr_t *a = x->attr; a != NULL; a = a->next)
        if (strcmp(a->name, "line") != 0 && strcmp(a->name, "file") != 0 &&
            (kind != XY_NODE_PROGRAM || strcmp(a->name, "version") != 0))
            xy_program_set(program, node, a->name, a->value);
    if (xy_program_failed(program))
        return xy_fail_memory("describing a program");
    return read_children(doc, x, node, program);
}

/* Checks name and version of the document element and reads the tree below it. */
static xy_status_t read_root(const xy_xml_t *doc, xy_program_t *program)
{
    const xy_xml_node_t *x = xy_xml_root(doc);
    xy_node_t *root = xy_program_root(program);
    long version = XY_PROGRAM_VERSION;
    xy_status_t st;

    if (strcmp(x->name, "program") != 0)
        return xy_fail_at(XY_EPARSE, xy_xml_path(doc), x->line,
                          "<%s> is no program description; 'xylem scan' writes one", x->name);
    st = xy_xml_attr_long(doc, x, "version", 1, LONG_MAX, &version);
    if (st != XY_OK)
        return st;
    if (version != XY_PROGRAM_VERSION)
        return xy_fail_at(XY_EPARSE, xy_xml_path(doc), x->line,
                          "version %ld of program descriptions, not %d; scan the program again",
                          version, XY_PROGRAM_VERSION);
    return read_node(doc, x, XY_NODE_PROGRAM, root, program);
}

/* Creates the program of a document; the caller owns it. */
static xy_status_t read_document(xy_xml_t *doc, xy_program_t **program_p)
{
    xy_program_t *program;
    xy_status_t st = xy_program_create(NULL, &program);

    if (st != XY_OK)
        return st;
    st = read_root(doc, program);
    if (st == XY_OK)
        *program_p = program;
    else
        xy_program_destroy(program);
    return st;
}

xy_status_t xy_program_parse(const char *data, size_t size, const char *path,
                             xy_program_t **program_p)
{
    xy_xml_t *doc;
    xy_status_t st = xy_xml_parse(data, size, path, &limits, &doc);

    if (st != XY_OK)
        return st;
    st = read_document(doc, program_p);
    xy_xml_free(doc);
    return st;
}

xy_status_t xy_program_read(const char *path, xy_program_t **program_p)
{
    xy_xml_t *doc;
    xy_status_t st = xy_xml_read(path, &limits, &doc);

    if (st != XY_OK)
        return st;
    st = read_document(doc, program_p);
    xy_xml_free(doc);
    return st;
}
