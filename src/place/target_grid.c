/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tori and meshes as targets. The tree that strategies walk halves the longest side, so that what
 * is near in the tree is near in the grid; refinement then works with the real distances.
 */
#include <stdlib.h>
#include <string.h>

#include "place/target_internal.h"

typedef struct {
    uint32_t from[XY_TARGET_DIMENSIONS_MAX];
    uint32_t size[XY_TARGET_DIMENSIONS_MAX];
} box_t;

bool xy_target_is_grid_text(const char *text)
{
    const char *sizes = strchr(text, ':');

    return (strncmp(text, "torus:", 6) == 0 || strncmp(text, "mesh:", 5) == 0) &&
           strpbrk(sizes, "( \t") == NULL;
}

/* Reads "torus:AxBxC" or "mesh:AxB" into sizes and the number of cells. */
static xy_status_t parse(const char *text, xy_target_t *shape, uint32_t *cells_p)
{
    const char *at = strchr(text, ':') + 1;
    uint64_t cells = 1;

    shape->is_torus = text[0] == 't';
    for (;;) {
        char *end;
        unsigned long n = strtoul(at, &end, 10);

        if (*at < '0' || *at > '9' || n == 0 || (*end != '\0' && *end != 'x'))
            return xy_fail(XY_EPARSE,
                           "machine '%.60s': a size is expected at character %zu; write it like "
                           "torus:8x8x8 or mesh:32x32",
                           text, (size_t)(at - text) + 1);
        if (shape->dimensions == XY_TARGET_DIMENSIONS_MAX)
            return xy_fail(XY_ELIMIT, "machine '%.60s': more than %d dimensions", text,
                           XY_TARGET_DIMENSIONS_MAX);
        if (n > XY_MACHINE_OBJECTS_MAX || cells * n > XY_MACHINE_OBJECTS_MAX / 2)
            return xy_fail(XY_ELIMIT, "machine '%.60s': more than %d nodes", text,
                           XY_MACHINE_OBJECTS_MAX / 2);
        cells *= n;
        shape->size[shape->dimensions++] = (uint32_t)n;
        if (*end == '\0')
            break;
        at = end + 1;
    }
    *cells_p = (uint32_t)cells;
    return XY_OK;
}

static uint32_t cell_of(const xy_target_t *t, const box_t *b)
{
    uint32_t cell = 0;

    for (int d = t->dimensions - 1; d >= 0; d--)
        cell = cell * t->size[d] + b->from[d];
    return cell;
}

/* Adds a box of cells as a node of the bisection tree. */
static void add_child(xy_target_t *t, box_t *boxes, uint32_t parent, const box_t *b, uint32_t leaf)
{
    uint32_t k = t->nodes++, cells = 1;

    for (int d = 0; d < t->dimensions; d++)
        cells *= b->size[d];
    boxes[k] = *b;
    t->parent[k] = parent;
    t->level[k] = k == 0 ? 0 : t->level[parent] + 1;
    t->hops[k] = t->level[k];
    t->weight[k] = t->level[k];
    t->first_leaf[k] = leaf;
    t->leaf_count[k] = cells;
    if (t->level[k] + 1 > t->depth)
        t->depth = t->level[k] + 1;
}

/* Halve the box of node `i` along its longest side, or make it a leaf. */
static void split(xy_target_t *t, box_t *boxes, uint32_t i)
{
    box_t low = boxes[i], high = boxes[i];
    int longest = 0;

    for (int d = 1; d < t->dimensions; d++)
        if (low.size[d] > low.size[longest])
            longest = d;
    if (low.size[longest] == 1) {
        uint32_t leaf = t->first_leaf[i];

        t->node_of[leaf] = i;
        t->cell[leaf] = cell_of(t, &low);
        t->logical[leaf] = t->physical[leaf] = t->cell[leaf];
        return;
    }
    low.size[longest] -= high.size[longest] / 2;
    high.size[longest] /= 2;
    high.from[longest] += low.size[longest];
    t->first_child[i] = t->nodes;
    t->child_count[i] = 2;
    add_child(t, boxes, i, &low, t->first_leaf[i]);
    add_child(t, boxes, i, &high, t->first_leaf[i] + t->leaf_count[t->first_child[i]]);
}

xy_status_t xy_target_grid(const char *text, const xy_weights_t *weights, xy_target_t **target_p)
{
    xy_target_t shape = {0}, *t;
    box_t whole = {{0}, {0}}, *boxes;
    uint32_t cells = 0;
    xy_status_t st = parse(text, &shape, &cells);

    if (st != XY_OK)
        return st;
    boxes = xy_malloc((size_t)2 * cells * sizeof(*boxes));
    t = place_target_allocate(cells, 2 * cells);
    if (boxes == NULL || t == NULL) {
        xy_free(boxes);
        xy_target_destroy(t);
        return xy_fail_memory("preparing a grid for placing");
    }
    t->dimensions = shape.dimensions;
    t->is_torus = shape.is_torus;
    for (int d = 0; d < t->dimensions; d++) {
        t->size[d] = whole.size[d] = shape.size[d];
        t->step[d] = weights != NULL && d < weights->count ? weights->value[d] : 1;
    }
    add_child(t, boxes, 0, &whole, 0);
    for (uint32_t i = 0; i < t->nodes; i++)
        split(t, boxes, i);
    xy_free(boxes);
    *target_p = t;
    return XY_OK;
}
