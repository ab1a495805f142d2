/* SPDX-License-Identifier: BSD-3-Clause */
/* A program description as XML: one line per element, indented as the C was. */
#include <string.h>

#include "program/tree.h"

static void print_attr(FILE *file, const char *name, const char *value)
{
    fprintf(file, " %s=\"", name);
    xy_xml_escape(file, value);
    fputc('"', file);
}

/* Prints an element and its children; a file name only where it differs from the parent's. */
static void print_node(const xy_node_t *node, int depth, FILE *file)
{
    const char *name = xy_node_name(node->kind);

    fprintf(file, "%*s<%s", 2 * depth, "", name);
    for (const xy_node_attr_t *attr = node->attr; attr != NULL; attr = attr->next)
        print_attr(file, attr->name, attr->value);
    if (node->parent == NULL)
        fprintf(file, " version=\"%d\"", XY_PROGRAM_VERSION);
    else if (strcmp(node->file, node->parent->file) != 0)
        print_attr(file, "file", node->file);
    if (node->line > 0)
        fprintf(file, " line=\"%ld\"", node->line);
    if (node->child == NULL) {
        fputs("/>\n", file);
        return;
    }
    fputs(">\n", file);
    for (const xy_node_t *n = node->child; n != NULL; n = n->next)
        print_node(n, depth + 1, file);
    fprintf(file, "%*s</%s>\n", 2 * depth, "", name);
}

void xy_program_print(const xy_program_t *program, FILE *file)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", file);
    print_node(xy_program_root(program), 0, file);
}

static xy_status_t write_file(const void *arg, FILE *file)
{
    xy_program_print(arg, file);
    return XY_OK;
}

xy_status_t xy_program_write(const xy_program_t *program, const char *path)
{
    return xy_out_write(path, write_file, program);
}
