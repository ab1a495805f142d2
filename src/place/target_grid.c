/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tori and meshes as targets. The tree that strategies walk halves the longest side, so that what
 * is near in the tree is near in the grid; refinement then works with the real distances. Cells are
 * leaves, or nodes of a machine, whose own trees are below.
 */
#include <stdlib.h>
#include <string.h>

#include "place/target_internal.h"

typedef struct {
    uint32_t from[XY_GRID_DIMENSIONS_MAX];
    uint32_t size[XY_GRID_DIMENSIONS_MAX];
} box_t;

/* A target that is being made, of cells that are leaves or (`m`) nodes of a machine. */
typedef struct {
    xy_target_t *t;
    uint32_t *leaves_in; /* [cells]; NULL: one each */
    box_t *boxes;        /* [nodes] of the tree above the cells */
    const xy_machine_t *m;
    const double *weight; /* of the link above each level of the machine */
    xy_obj_t *object;     /* [nodes] of the machine; XY_OBJ_NONE: a box */
    xy_obj_t *object_in;  /* [cells] */
} maker_t;

bool xy_target_is_grid_text(const char *text)
{
    const char *sizes = strchr(text, ':');

    return (strncmp(text, "torus:", 6) == 0 || strncmp(text, "mesh:", 5) == 0) &&
           strpbrk(sizes, "( \t") == NULL;
}

/* Reads "torus:AxBxC" or "mesh:AxB" into sizes. */
static xy_status_t parse(const char *text, xy_grid_t *shape)
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
        if (shape->dimensions == XY_GRID_DIMENSIONS_MAX)
            return xy_fail(XY_ELIMIT, "machine '%.60s': more than %d dimensions", text,
                           XY_GRID_DIMENSIONS_MAX);
        if (n > XY_MACHINE_OBJECTS_MAX || cells * n > XY_MACHINE_OBJECTS_MAX / 2)
            return xy_fail(XY_ELIMIT, "machine '%.60s': more than %d nodes", text,
                           XY_MACHINE_OBJECTS_MAX / 2);
        cells *= n;
        shape->size[shape->dimensions++] = (uint32_t)n;
        if (*end == '\0')
            break;
        at = end + 1;
    }
    return XY_OK;
}

/* ---- The tree ---- */

static uint32_t cell_at(const xy_grid_t *g, const box_t *b, const uint32_t *at)
{
    uint32_t cell = 0;

    for (uint32_t d = g->dimensions; d-- > 0;)
        cell = cell * g->size[d] + b->from[d] + at[d];
    return cell;
}

/* The leaves in the cells of a box. */
static uint32_t count_leaves(const maker_t *k, const box_t *b)
{
    const xy_grid_t *g = &k->t->grid;
    uint32_t at[XY_GRID_DIMENSIONS_MAX] = {0}, sum = 0, cells = 1, d;

    for (d = 0; d < g->dimensions; d++)
        cells *= b->size[d];
    if (k->leaves_in == NULL)
        return cells;
    do {
        sum += k->leaves_in[cell_at(g, b, at)];
        for (d = 0; d < g->dimensions && ++at[d] == b->size[d]; d++)
            at[d] = 0;
    } while (d < g->dimensions);
    return sum;
}

/* Halve a box along its longest side; false: it is a cell. */
static bool halve(const xy_grid_t *g, const box_t *b, box_t *low, box_t *high)
{
    uint32_t longest = 0;

    *low = *high = *b;
    for (uint32_t d = 1; d < g->dimensions; d++)
        if (b->size[d] > b->size[longest])
            longest = d;
    low->size[longest] -= high->size[longest] / 2;
    high->size[longest] /= 2;
    high->from[longest] += low->size[longest];
    return b->size[longest] > 1;
}

/* Add a box as a node, without halves that have no leaf. */
static void add_box(maker_t *k, uint32_t parent, box_t b, uint32_t leaf)
{
    xy_target_t *t = k->t;
    uint32_t i = t->nodes++;

    for (box_t low, high; halve(&t->grid, &b, &low, &high);) {
        bool has_low = count_leaves(k, &low) > 0, has_high = count_leaves(k, &high) > 0;

        if (has_low && has_high)
            break;
        b = has_low ? low : high;
    }
    k->boxes[i] = b;
    if (k->m != NULL)
        k->object[i] = XY_OBJ_NONE;
    t->parent[i] = parent;
    t->level[i] = i == 0 ? 0 : t->level[parent] + 1;
    t->hops[i] = t->weight[i] = t->level[i];
    t->first_leaf[i] = leaf;
    t->leaf_count[i] = count_leaves(k, &b);
    if (t->level[i] + 1 > t->depth)
        t->depth = t->level[i] + 1;
}

/* A box of one cell: a leaf, or the node of the machine that is there. */
static void enter_cell(maker_t *k, uint32_t i)
{
    static const uint32_t zero[XY_GRID_DIMENSIONS_MAX];
    xy_target_t *t = k->t;
    uint32_t cell = cell_at(&t->grid, &k->boxes[i], zero), leaf = t->first_leaf[i];

    for (uint32_t l = leaf; l < leaf + t->leaf_count[i]; l++) {
        t->cell[l] = cell;
        t->box[l] = i;
    }
    if (k->m != NULL) {
        xy_obj_t o = k->object_in[cell];

        k->object[i] = place_target_descend(k->m, o, o, k->weight, t, i);
        place_target_expand(k->m, k->weight, k->object, t, i);
    } else {
        t->node_of[leaf] = i;
        t->logical[leaf] = t->physical[leaf] = cell;
    }
}

/* Add the children of node `i`: halves of its box, or objects of the machine. */
static void split(maker_t *k, uint32_t i)
{
    xy_target_t *t = k->t;
    box_t low, high;

    if (k->m != NULL && k->object[i] != XY_OBJ_NONE) {
        place_target_expand(k->m, k->weight, k->object, t, i);
        return;
    }
    if (!halve(&t->grid, &k->boxes[i], &low, &high)) {
        enter_cell(k, i);
        return;
    }
    t->first_child[i] = t->nodes;
    t->child_count[i] = 2;
    add_box(k, i, low, t->first_leaf[i]);
    add_box(k, i, high, t->first_leaf[i] + t->leaf_count[t->first_child[i]]);
}

/* Make the tree of a target that has its grid. Silent ENOMEM. */
static xy_status_t make(maker_t *k)
{
    xy_target_t *t = k->t;
    box_t whole = {0};

    k->boxes = xy_malloc((size_t)2 * t->leaves * sizeof(*k->boxes));
    if (k->boxes == NULL)
        return XY_ENOMEM;
    memcpy(whole.size, t->grid.size, sizeof(whole.size));
    add_box(k, 0, whole, 0);
    for (uint32_t i = 0; i < t->nodes; i++)
        split(k, i);
    xy_free(k->boxes);
    return XY_OK;
}

/* ---- Of cells ---- */

/* Make a target of the cells for which leaves_in is 1, or (NULL) all. Silent ENOMEM. */
static xy_status_t make_cells(const xy_grid_t *grid, const double *step, uint32_t leaves,
                              uint32_t *leaves_in, xy_target_t **target_p)
{
    maker_t k = {.t = place_target_allocate(leaves, 2 * leaves), .leaves_in = leaves_in};
    xy_status_t st = XY_ENOMEM;

    if (k.t != NULL) {
        k.t->grid = *grid;
        memcpy(k.t->step, step, sizeof(k.t->step));
        st = make(&k);
    }
    if (st == XY_OK)
        *target_p = k.t;
    else
        xy_target_destroy(k.t);
    return st;
}

xy_status_t xy_target_grid(const char *text, const xy_weights_t *weights, xy_target_t **target_p)
{
    double step[XY_GRID_DIMENSIONS_MAX];
    xy_grid_t grid = {0};
    xy_status_t st = parse(text, &grid);

    if (st != XY_OK)
        return st;
    for (int d = 0; d < XY_GRID_DIMENSIONS_MAX; d++)
        step[d] = weights != NULL && d < weights->count ? weights->value[d] : 1;
    st = make_cells(&grid, step, xy_grid_cells(&grid), NULL, target_p);
    return st == XY_OK ? XY_OK : xy_fail_memory("preparing a grid for placing");
}

xy_status_t place_target_of_cells(const xy_target_t *t, xy_target_t **cells_p)
{
    uint32_t *leaves_in = xy_calloc(xy_grid_cells(&t->grid), sizeof(*leaves_in)), count = 0;
    xy_status_t st = XY_ENOMEM;

    for (uint32_t i = 0; leaves_in != NULL && i < t->leaves; i++) {
        count += leaves_in[t->cell[i]] == 0;
        leaves_in[t->cell[i]] = 1;
    }
    if (leaves_in != NULL)
        st = make_cells(&t->grid, t->step, count, leaves_in, cells_p);
    xy_free(leaves_in);
    return st;
}

/* ---- Of nodes ---- */

xy_status_t place_target_cells(const xy_machine_t *m, const xy_grid_t *grid, const double *weight,
                               xy_obj_t *object, xy_target_t *t)
{
    uint32_t cells = xy_grid_cells(grid);
    xy_obj_t top = grid->object;
    maker_t k = {.t = t,
                 .m = m,
                 .weight = weight,
                 .object = object,
                 .leaves_in = xy_calloc(cells, sizeof(uint32_t)),
                 .object_in = xy_calloc(cells, sizeof(xy_obj_t))};
    xy_status_t st = XY_ENOMEM;

    t->grid = *grid;
    for (uint32_t d = 0; d < grid->dimensions; d++)
        t->step[d] = weight[m->level[top] + 1];
    for (uint32_t c = 0; k.leaves_in != NULL && k.object_in != NULL && c < m->child_count[top];
         c++) {
        uint32_t cell = m->cells[grid->first_cell + c];

        k.object_in[cell] = m->first_child[top] + c;
        k.leaves_in[cell] = xy_machine_usable(m, k.object_in[cell]);
    }
    if (k.leaves_in != NULL && k.object_in != NULL)
        st = make(&k);
    xy_free(k.leaves_in);
    xy_free(k.object_in);
    return st == XY_OK ? XY_OK : xy_fail_memory("preparing a machine for placing");
}
