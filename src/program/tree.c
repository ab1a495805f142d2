/* SPDX-License-Identifier: BSD-3-Clause */
/* The description in memory: a tree of elements with text attributes, in one arena. */
#include <string.h>

#include "program/tree.h"

struct xy_program {
    xy_arena_t *arena;
    xy_node_t *root;
    bool is_failed; /* memory ran out while it was built */
};

static char *copy(xy_program_t *program, const char *text)
{
    char *s = xy_arena_strndup(program->arena, text, strlen(text));

    if (s == NULL)
        program->is_failed = true;
    return s;
}

xy_node_t *xy_program_add(xy_program_t *program, xy_node_t *parent, xy_node_kind_t kind,
                          const char *file, long line)
{
    xy_node_t *node;

    if (program->is_failed)
        return NULL;
    if (parent == NULL)
        parent = program->root;
    node = xy_arena_alloc(program->arena, sizeof(*node));
    if (node == NULL) {
        program->is_failed = true;
        return NULL;
    }
    node->kind = kind;
    node->line = line;
    node->parent = parent;
    if (file == NULL || (parent != NULL && strcmp(file, parent->file) == 0))
        node->file = parent != NULL ? parent->file : "";
    else
        node->file = copy(program, file);
    if (program->is_failed)
        return NULL;
    if (parent != NULL) {
        *(parent->last != NULL ? &parent->last->next : &parent->child) = node;
        parent->last = node;
    }
    return node;
}

void xy_program_set(xy_program_t *program, xy_node_t *node, const char *name, const char *value)
{
    xy_node_attr_t **at, *attr;

    if (program->is_failed || node == NULL)
        return;
    for (at = &node->attr; *at != NULL && strcmp((*at)->name, name) != 0; at = &(*at)->next)
        ;
    if (value == NULL) {
        if (*at != NULL)
            *at = (*at)->next;
        return;
    }
    attr = *at;
    if (attr == NULL) {
        attr = xy_arena_alloc(program->arena, sizeof(*attr));
        program->is_failed = attr == NULL;
        if (attr == NULL || (attr->name = copy(program, name)) == NULL)
            return;
        attr->value = "";
        *at = attr;
    }
    value = copy(program, value);
    if (value != NULL)
        attr->value = value;
}

xy_node_t *xy_program_add_mpi(xy_program_t *program, xy_node_t *parent, const char *file, long line,
                              const char *call, int count, const char *const texts[])
{
    const xy_mpi_call_t *c = xy_mpi_call_find(call);
    xy_node_t *node = xy_program_add(program, parent, XY_NODE_MPI, file, line);

    xy_program_set(program, node, "call", call);
    for (int i = 0; c != NULL && i < count && c->args[i] != NULL; i++)
        if (texts[i] != NULL)
            xy_program_set(program, node, c->args[i], texts[i]);
    return node;
}

xy_status_t xy_program_create(const char *name, xy_program_t **program_p)
{
    xy_program_t *program = xy_calloc(1, sizeof(*program));

    if (program == NULL)
        return xy_fail_memory("describing a program");
    if (xy_arena_create(&program->arena) != XY_OK) {
        xy_free(program);
        return xy_fail_memory("describing a program");
    }
    program->root = xy_program_add(program, NULL, XY_NODE_PROGRAM, "", 0);
    if (name != NULL)
        xy_program_set(program, program->root, "name", name);
    if (program->is_failed) {
        xy_program_destroy(program);
        return xy_fail_memory("describing a program");
    }
    *program_p = program;
    return XY_OK;
}

void xy_program_destroy(xy_program_t *program)
{
    if (program == NULL)
        return;
    xy_arena_destroy(program->arena);
    xy_free(program);
}

xy_node_t *xy_program_root(const xy_program_t *program)
{
    return program->root;
}

bool xy_program_failed(const xy_program_t *program)
{
    return program->is_failed;
}

const char *xy_node_attr(const xy_node_t *node, const char *name)
{
    for (const xy_node_attr_t *attr = node->attr; attr != NULL; attr = attr->next)
        if (strcmp(attr->name, name) == 0)
            return attr->value;
    return NULL;
}
