/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/target.h"

#include <stdlib.h>
#include <string.h>

#include "place/matrix.h"
#include "place/target_internal.h"

xy_status_t xy_weights_parse(const char *text, xy_weights_t *weights_p)
{
    xy_weights_t w = {0};
    const char *at = text;

    for (;;) {
        size_t length = strcspn(at, ":,");
        char word[32];
        double value;

        if (length >= sizeof(word) || w.count == XY_TARGET_WEIGHTS_MAX)
            return xy_fail(XY_EUSAGE, "weights '%.60s': too long", text);
        memcpy(word, at, length);
        word[length] = '\0';
        if (!xy_parse_double(word, &value) || value < 0 || value > XY_MATRIX_VALUE_MAX)
            return xy_fail(
                XY_EUSAGE,
                "weights '%.60s': '%s' is not a weight; give numbers from the leaves up, "
                "like 1:10:100",
                text, word);
        w.value[w.count++] = value;
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    *weights_p = w;
    return XY_OK;
}

static double weight_at(const xy_weights_t *w, int k)
{
    double value;

    if (w != NULL && w->count > 0 && k < w->count)
        return w->value[k];
    value = w != NULL && w->count > 0 ? w->value[w->count - 1] : 1;
    for (int i = w != NULL && w->count > 0 ? w->count - 1 : 0; i < k; i++)
        value *= 10;
    return value;
}

void xy_target_destroy(xy_target_t *t)
{
    if (t == NULL)
        return;
    xy_free(t->parent);
    xy_free(t->first_child);
    xy_free(t->child_count);
    xy_free(t->first_leaf);
    xy_free(t->leaf_count);
    xy_free(t->level);
    xy_free(t->hops);
    xy_free(t->weight);
    xy_free(t->node_of);
    xy_free(t->logical);
    xy_free(t->host);
    xy_free(t->numa);
    xy_free(t->physical);
    xy_free(t->cell);
    xy_free(t->box);
    xy_free(t);
}

xy_target_t *place_target_allocate(uint32_t leaves, uint32_t nodes)
{
    xy_target_t *t = xy_calloc(1, sizeof(*t));
    bool ok;

    if (t == NULL)
        return NULL;
    t->leaves = leaves;
    ok = (t->parent = xy_calloc(nodes, sizeof(uint32_t))) != NULL;
    ok = ok && (t->first_child = xy_calloc(nodes, sizeof(uint32_t))) != NULL;
    ok = ok && (t->child_count = xy_calloc(nodes, sizeof(uint32_t))) != NULL;
    ok = ok && (t->first_leaf = xy_calloc(nodes, sizeof(uint32_t))) != NULL;
    ok = ok && (t->leaf_count = xy_calloc(nodes, sizeof(uint32_t))) != NULL;
    ok = ok && (t->level = xy_calloc(nodes, sizeof(uint32_t))) != NULL;
    ok = ok && (t->hops = xy_calloc(nodes, sizeof(double))) != NULL;
    ok = ok && (t->weight = xy_calloc(nodes, sizeof(double))) != NULL;
    ok = ok && (t->node_of = xy_calloc(leaves, sizeof(uint32_t))) != NULL;
    ok = ok && (t->logical = xy_calloc(leaves, sizeof(uint32_t))) != NULL;
    ok = ok && (t->host = xy_calloc(leaves, sizeof(uint32_t))) != NULL;
    ok = ok && (t->numa = xy_calloc(leaves, sizeof(uint32_t))) != NULL;
    ok = ok && (t->physical = xy_calloc(leaves, sizeof(uint32_t))) != NULL;
    ok = ok && (t->cell = xy_calloc(leaves, sizeof(uint32_t))) != NULL;
    ok = ok && (t->box = xy_calloc(leaves, sizeof(uint32_t))) != NULL;
    if (!ok) {
        xy_target_destroy(t);
        return NULL;
    }
    return t;
}

/* Children of `o` below which something may be used, and one of them. */
static uint32_t usable_children(const xy_machine_t *m, xy_obj_t o, xy_obj_t *one_p)
{
    uint32_t count = 0;

    for (uint32_t c = 0; c < m->child_count[o]; c++)
        if (xy_machine_usable(m, m->first_child[o] + c) > 0) {
            count++;
            *one_p = m->first_child[o] + c;
        }
    return count;
}

/* The weight of the link above each level: a level in which some parent has a choice counts. */
static void level_weights(const xy_machine_t *m, const xy_weights_t *weights, double *weight)
{
    bool branches[XY_MACHINE_DEPTH_MAX + 1] = {false};
    xy_obj_t one;
    int k = 0;

    for (xy_obj_t o = 0; o < m->count; o++)
        if (usable_children(m, o, &one) > 1)
            branches[m->level[o] + 1] = true;
    for (int level = (int)m->depth - 1; level > 0; level--)
        weight[level] = branches[level] ? weight_at(weights, k++) : 0;
}

/* Follow single children down from `o`. */
static xy_obj_t skip(const xy_machine_t *m, xy_obj_t o)
{
    xy_obj_t one = o;

    while (usable_children(m, o, &one) == 1)
        o = one;
    return o;
}

xy_obj_t place_target_descend(const xy_machine_t *m, xy_obj_t from, xy_obj_t o,
                              const double *weight, xy_target_t *t, uint32_t k)
{
    xy_obj_t found = skip(m, o);

    for (o = found; o != from; o = m->parent[o]) {
        t->hops[k] += 1;
        t->weight[k] += weight[m->level[o]];
    }
    return found;
}

/* The numbers of a leaf: in the machine, of its host, in its host. A leaf without a physical number
 * has its place in the host. */
static void number_leaf(const xy_machine_t *m, xy_obj_t o, xy_target_t *t, uint32_t leaf)
{
    xy_obj_t host = xy_machine_above(m, o, XY_OBJ_NODE);

    t->logical[leaf] = m->first_leaf[o];
    t->host[leaf] = host != XY_OBJ_NONE ? m->logical[host] : 0;
    t->physical[leaf] = m->physical[o] != XY_OBJ_NONE
                            ? m->physical[o]
                            : m->first_leaf[o] - (host != XY_OBJ_NONE ? m->first_leaf[host] : 0);
}

/* Leaves of one NUMA node are neighbours; those of a host without NUMA nodes are one. */
static void number_nodes(const xy_machine_t *m, xy_target_t *t)
{
    xy_obj_t last = XY_OBJ_NONE;
    uint32_t count = 0;

    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) {
        xy_obj_t node = xy_machine_above(m, m->leaf[t->logical[leaf]], XY_OBJ_NUMA);

        count += leaf > 0 && (node != last || t->host[leaf] != t->host[leaf - 1]);
        last = node;
        t->numa[leaf] = count;
    }
}

void place_target_expand(const xy_machine_t *m, const double *weight, xy_obj_t *object,
                         xy_target_t *t, uint32_t i)
{
    uint32_t leaf = t->first_leaf[i];
    xy_obj_t o = object[i];

    t->first_child[i] = t->nodes;
    for (uint32_t c = 0; c < m->child_count[o]; c++) {
        xy_obj_t child = m->first_child[o] + c;
        uint32_t k = t->nodes, usable = xy_machine_usable(m, child);

        if (usable == 0)
            continue;
        t->parent[k] = i;
        t->level[k] = t->level[i] + 1;
        t->hops[k] = t->hops[i];
        t->weight[k] = t->weight[i];
        object[k] = place_target_descend(m, o, child, weight, t, k);
        t->first_leaf[k] = leaf;
        t->leaf_count[k] = usable;
        leaf += usable;
        t->nodes++;
    }
    t->child_count[i] = t->nodes - t->first_child[i];
    if (t->level[i] + 1 > t->depth)
        t->depth = t->level[i] + 1;
    if (t->child_count[i] == 0) {
        t->node_of[t->first_leaf[i]] = i;
        number_leaf(m, o, t, t->first_leaf[i]);
    }
}

/* Walk the machine in level order, keeping what branches and what is a leaf. */
static void fill(const xy_machine_t *m, const double *weight, xy_obj_t *object, xy_target_t *t)
{
    object[0] = skip(m, 0);
    t->nodes = 1;
    t->leaf_count[0] = t->leaves;
    for (uint32_t i = 0; i < t->nodes; i++)
        place_target_expand(m, weight, object, t, i);
}

xy_status_t xy_target_check(const xy_machine_t *m)
{
    if (m->grid_count == 0 || (m->grid_count == 1 && m->grids[0].object == skip(m, 0)))
        return XY_OK;
    return xy_fail(
        XY_EUNSUPPORTED,
        "machine %s: a torus or mesh that is a part of a larger network cannot be placed "
        "on; give the torus alone, as in 'torus:8x8x8 core:4', or a tree of switches",
        m->name);
}

xy_status_t xy_target_create(const xy_machine_t *m, const xy_weights_t *weights,
                             xy_target_t **target_p)
{
    double weight[XY_MACHINE_DEPTH_MAX + 1] = {0};
    uint32_t usable = xy_machine_usable(m, 0);
    const xy_grid_t *grid;
    xy_obj_t *object;
    xy_target_t *t;
    xy_status_t st = XY_OK;

    if (usable == 0)
        return xy_fail(XY_EINVAL, "machine %s: no leaf may be used", m->name);
    level_weights(m, weights, weight);
    object = xy_malloc((size_t)2 * usable * sizeof(*object));
    t = place_target_allocate(usable, 2 * usable);
    if (object == NULL || t == NULL) {
        xy_free(object);
        xy_target_destroy(t);
        return xy_fail_memory("preparing a machine for placing");
    }
    grid = xy_machine_grid(m, skip(m, 0));
    if (grid != NULL)
        st = place_target_cells(m, grid, weight, object, t);
    else
        fill(m, weight, object, t);
    xy_free(object);
    if (st != XY_OK) {
        xy_target_destroy(t);
        return st;
    }
    number_nodes(m, t);
    *target_p = t;
    return XY_OK;
}

/* The topmost node at which the paths from both leaves meet. */
static uint32_t common(const xy_target_t *t, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (t->level[a] >= t->level[b])
            a = t->parent[a];
        else
            b = t->parent[b];
    }
    return a;
}

/* By a height of nodes of the tree: the way to the node where both meet, or to their cells and
 * between these. */
static double distance(const xy_target_t *t, const double *height, const double *step, uint32_t a,
                       uint32_t b)
{
    uint32_t x = t->node_of[a], y = t->node_of[b];

    if (t->grid.dimensions == 0 || t->cell[a] == t->cell[b])
        return height[x] + height[y] - 2 * height[common(t, x, y)];
    return height[x] - t->level[t->box[a]] + height[y] - t->level[t->box[b]] +
           xy_grid_weighted(&t->grid, step, t->cell[a], t->cell[b]);
}

double xy_target_hops(const xy_target_t *t, uint32_t a, uint32_t b)
{
    static const double one[XY_GRID_DIMENSIONS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};

    return distance(t, t->hops, one, a, b);
}

double xy_target_weighted(const xy_target_t *t, uint32_t a, uint32_t b)
{
    return distance(t, t->weight, t->step, a, b);
}
