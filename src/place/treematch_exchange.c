/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges between the groups of one level: the level is a tree of its own, in which all groups
 * are equally far from each other.
 *
 *      root        distance of two items: 0 in one group, 2 otherwise
 *      / | \
 *     groups of k
 */
#include "place/refine.h"
#include "place/treematch.h"

enum { SWEEPS = 8 };

typedef struct {
    xy_target_t t;
    double *height;
    uint32_t *capacity;
} level_t;

static void level_cleanup(level_t *l)
{
    xy_free(l->t.parent);
    xy_free(l->t.first_child);
    xy_free(l->t.child_count);
    xy_free(l->t.first_leaf);
    xy_free(l->t.leaf_count);
    xy_free(l->t.level);
    xy_free(l->t.node_of);
    xy_free(l->height);
    xy_free(l->capacity);
}

/* Allocates the arrays of a level; returns false without memory. */
static bool level_allocate(level_t *l)
{
    size_t nodes = l->t.nodes * sizeof(uint32_t), leaves = l->t.leaves * sizeof(uint32_t);

    l->t.parent = xy_malloc(nodes);
    l->t.first_child = xy_malloc(nodes);
    l->t.child_count = xy_malloc(nodes);
    l->t.first_leaf = xy_malloc(nodes);
    l->t.leaf_count = xy_malloc(nodes);
    l->t.level = xy_malloc(nodes);
    l->t.node_of = xy_malloc(leaves);
    l->height = xy_malloc(l->t.nodes * sizeof(double));
    l->capacity = xy_malloc(leaves);
    return l->t.parent != NULL && l->t.first_child != NULL && l->t.child_count != NULL &&
           l->t.first_leaf != NULL && l->t.leaf_count != NULL && l->t.level != NULL &&
           l->t.node_of != NULL && l->height != NULL && l->capacity != NULL;
}

static void set_node(level_t *l, uint32_t i, uint32_t parent, uint32_t level, uint32_t first_child,
                     uint32_t children, uint32_t first_leaf, uint32_t leaves)
{
    l->t.parent[i] = parent;
    l->t.level[i] = level;
    l->t.first_child[i] = first_child;
    l->t.child_count[i] = children;
    l->t.first_leaf[i] = first_leaf;
    l->t.leaf_count[i] = leaves;
    l->height[i] = level > 0 ? 1 : 0;
}

/* A root, groups of k, and their leaves. */
static xy_status_t level_init(level_t *l, uint32_t n, uint32_t k)
{
    uint32_t groups = n / k;

    *l = (level_t){.t = {.leaves = n, .nodes = 1 + groups + n, .depth = 3}};
    if (!level_allocate(l)) {
        level_cleanup(l);
        return XY_ENOMEM;
    }
    set_node(l, 0, 0, 0, 1, groups, 0, n);
    for (uint32_t i = 0; i < groups; i++)
        set_node(l, 1 + i, 0, 1, 1 + groups + i * k, k, i * k, k);
    for (uint32_t i = 0; i < n; i++) {
        set_node(l, 1 + groups + i, 1 + i / k, 2, 0, 0, i, 1);
        l->t.node_of[i] = 1 + groups + i;
        l->capacity[i] = 1;
    }
    return XY_OK;
}

xy_status_t treematch_exchange(const place_graph_t *g, uint32_t k, uint64_t seed,
                               uint32_t *group_of)
{
    uint32_t *leaf_of = xy_malloc((size_t)g->n * sizeof(*leaf_of));
    uint32_t *next = xy_malloc((size_t)g->n * sizeof(*next));
    xy_status_t st = leaf_of != NULL && next != NULL ? XY_OK : XY_ENOMEM;
    level_t l;

    if (st == XY_OK)
        st = level_init(&l, g->n, k);
    if (st == XY_OK) {
        for (uint32_t i = 0; i < g->n / k; i++)
            next[i] = i * k;
        for (uint32_t v = 0; v < g->n; v++)
            leaf_of[v] = next[group_of[v]]++;
        st = place_refine_tree(g, &l.t, l.capacity, l.height, SWEEPS, seed, leaf_of);
        for (uint32_t v = 0; st == XY_OK && v < g->n; v++)
            group_of[v] = leaf_of[v] / k;
        level_cleanup(&l);
    }
    xy_free(leaf_of);
    xy_free(next);
    return st;
}
