/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The boxes of a picture of a machine: nested, with identical siblings folded and deep levels left
 * out as needed to stay legible.
 */
#ifndef XY_MACHINE_MACHINE_LAYOUT_H
#define XY_MACHINE_MACHINE_LAYOUT_H

#include "machine/machine_internal.h"

enum { LAYOUT_PAD = 6, LAYOUT_GAP = 5, LAYOUT_HEAD = 17, LAYOUT_STACK = 3 };

typedef struct {
    xy_obj_t object;      /* XY_OBJ_NONE: a GPU or a group of them */
    uint32_t gpu;         /* index of the GPU, or of the group when it has children */
    uint32_t run;         /* how many it stands for */
    bool is_single;       /* nothing around it is folded: its numbers mean something */
    double x, y, w, h;    /* relative to the parent */
    uint32_t first, next; /* child and sibling boxes; 0: none (the root is box 0) */
    uint32_t columns;     /* > 0: the children are a grid of equal boxes */
    char label[128];
    char note[64]; /* on the right, less visible: links */
} layout_box_t;

/* The boxes, the root first. The caller cleans the vector up. ENOMEM is reported. */
xy_status_t machine_layout(const xy_machine_t *m, xy_vec_t *boxes);

#endif
