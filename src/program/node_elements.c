/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a program description. */
#include "program/tree.h"

#define BIT(kind) (1u << XY_NODE_##kind)
#define TOP       BIT(PROGRAM)
#define CODE                                                                                       \
    (BIT(FUNCTION) | BIT(BLOCK) | BIT(IF) | BIT(ELSE) | BIT(FOR) | BIT(WHILE) | BIT(REPEAT) |      \
     BIT(SWITCH))

const program_element_t program_elements[XY_NODE_KINDS] = {
    [XY_NODE_PROGRAM] = {"program", 0, {{"name", false}, {"version", true}}},
    [XY_NODE_STRUCT] = {"struct", TOP, {{"name", true}}},
    [XY_NODE_FIELD] = {"field", BIT(STRUCT), {{"name", true}, {"type", true}}},
    [XY_NODE_VARIABLE] = {"variable",
                          TOP | CODE,
                          {{"name", true}, {"type", true}, {"value", false}}},
    [XY_NODE_FUNCTION] = {"function", TOP, {{"name", true}, {"type", false}}},
    [XY_NODE_PARAMETER] = {"parameter", BIT(FUNCTION), {{"name", true}, {"type", true}}},
    [XY_NODE_DO] = {"do", CODE, {{"c", true}}},
    [XY_NODE_BLOCK] = {"block", CODE, {{NULL, false}}},
    [XY_NODE_IF] = {"if", CODE, {{"c", true}}},
    [XY_NODE_ELSE] = {"else", BIT(IF), {{NULL, false}}},
    [XY_NODE_FOR] = {"for", CODE, {{"start", false}, {"test", false}, {"step", false}}},
    [XY_NODE_WHILE] = {"while", CODE, {{"c", true}}},
    [XY_NODE_REPEAT] = {"repeat", CODE, {{"c", true}}},
    [XY_NODE_SWITCH] = {"switch", CODE, {{"c", true}}},
    [XY_NODE_CASE] = {"case", CODE, {{"value", true}}},
    [XY_NODE_DEFAULT] = {"default", CODE, {{NULL, false}}},
    [XY_NODE_BREAK] = {"break", CODE, {{NULL, false}}},
    [XY_NODE_CONTINUE] = {"continue", CODE, {{NULL, false}}},
    [XY_NODE_GOTO] = {"goto", CODE, {{"label", true}}},
    [XY_NODE_LABEL] = {"label", CODE, {{"name", true}}},
    [XY_NODE_RETURN] = {"return", CODE, {{"c", false}}},
    [XY_NODE_MPI] = {"mpi", CODE, {{"call", true}}}, /* the rest is in the table of calls */
    [XY_NODE_KERNEL] = {"kernel", CODE, {{"name", true}, {"sizes", false}}},
    [XY_NODE_COMPUTE] = {"compute", CODE, {{"name", true}, {"count", false}}},
    [XY_NODE_TEAM] = {"team", CODE, {{"name", true}, {"sizes", false}}},
    [XY_NODE_UNKNOWN] = {"unknown",
                         CODE,
                         {{"name", true}, {"reason", true}, {"target", false}, {"bytes", false}}},
};

const char *xy_node_name(xy_node_kind_t kind)
{
    return program_elements[kind].name;
}
