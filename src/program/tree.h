/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of descriptions, their allowed contents and attributes. */
#ifndef XY_PROGRAM_TREE_H
#define XY_PROGRAM_TREE_H

#include "program/program.h"

enum { PROGRAM_ATTRS_MAX = 4 };

typedef struct {
    const char *name;
    unsigned parents; /* bit 1 << XY_NODE_...: where it may stand */
    struct {
        const char *name;
        bool is_needed;
    } attrs[PROGRAM_ATTRS_MAX];
} program_element_t;

extern const program_element_t program_elements[XY_NODE_KINDS];

#endif
