/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/cut_tree.h"

#include <string.h>

typedef struct {
    const xy_problem_t *q;
    uint32_t spare;
    place_cut_fn cut;
    void *arg;
    uint64_t *room_before; /* capacity of the leaves before each leaf */
    uint32_t *index;       /* of each process in the graph of its part */
    uint32_t *leaf_of;
} walk_t;

static uint64_t room_of(const walk_t *w, uint32_t node)
{
    const xy_target_t *t = w->q->target;

    return w->room_before[t->first_leaf[node] + t->leaf_count[node]] -
           w->room_before[t->first_leaf[node]];
}

/* Returns whether all children are leaves for one process each, so that any order is as good. */
static bool are_equal_leaves(const walk_t *w, uint32_t node)
{
    const xy_target_t *t = w->q->target;

    for (uint32_t i = 0; i < t->child_count[node]; i++) {
        uint32_t child = t->first_child[node] + i, leaf = t->first_leaf[child];

        if (t->child_count[child] > 0 || w->q->capacity[leaf] != 1 ||
            t->cell[leaf] != t->cell[t->first_leaf[node]])
            return false;
    }
    return true;
}

/* The next smaller room among the children, below `bound`. */
static uint64_t largest_below(const walk_t *w, uint32_t node, uint64_t bound)
{
    const xy_target_t *t = w->q->target;
    uint64_t largest = 0;

    for (uint32_t i = 0; i < t->child_count[node]; i++) {
        uint64_t r = room_of(w, t->first_child[node] + i);

        if (r < bound && r > largest)
            largest = r;
    }
    return largest;
}

/* The smallest child that holds all, or the largest when there is to be spare room; UINT32_MAX:
 * none does. */
static uint32_t find_one(const walk_t *w, uint32_t node, uint32_t n)
{
    const xy_target_t *t = w->q->target;
    uint64_t bound = UINT64_MAX, largest;

    while ((largest = largest_below(w, node, bound)) >= n && (w->spare == 0 || bound == UINT64_MAX))
        bound = largest;
    for (uint32_t i = 0; bound != UINT64_MAX && i < t->child_count[node]; i++)
        if (room_of(w, t->first_child[node] + i) == bound)
            return t->first_child[node] + i;
    return UINT32_MAX;
}

/* The children to use and their rooms; returns how many. */
static uint32_t choose(const walk_t *w, uint32_t node, uint32_t n, uint32_t *chosen, uint64_t *room)
{
    const xy_target_t *t = w->q->target;
    uint64_t bound = UINT64_MAX, have = 0, largest;
    uint32_t count = 0, spare = w->spare;

    chosen[0] = find_one(w, node, n);
    if (chosen[0] != UINT32_MAX) {
        room[0] = room_of(w, chosen[0]);
        return 1;
    }
    while ((largest = largest_below(w, node, bound)) > 0 && (have < n || spare > 0)) {
        bound = largest;
        for (uint32_t i = 0; i < t->child_count[node] && (have < n || spare > 0); i++)
            if (room_of(w, t->first_child[node] + i) == largest) {
                spare -= have >= n;
                chosen[count] = t->first_child[node] + i;
                room[count++] = largest;
                have += largest;
            }
    }
    return count;
}

static xy_status_t visit(walk_t *w, const place_graph_t *g, const uint32_t *ids, uint32_t node);

/* The subgraph of some vertices of g, all of one part, and on with a child. */
static xy_status_t visit_part(walk_t *w, const place_graph_t *g, const uint32_t *ids,
                              const uint32_t *part_of, const uint32_t *member, uint32_t n,
                              uint32_t child)
{
    uint32_t edges = 0, out = 0, *below = xy_malloc(((size_t)n + 1) * sizeof(*below));
    place_graph_t sub;
    xy_status_t st;

    for (uint32_t i = 0; i < n; i++) {
        w->index[member[i]] = i;
        edges += g->first[member[i] + 1] - g->first[member[i]];
    }
    if (below == NULL || place_graph_init(&sub, n, edges, false) != XY_OK) {
        xy_free(below);
        return XY_ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = member[i];

        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
            if (part_of[g->to[k]] == part_of[v]) {
                sub.to[out] = w->index[g->to[k]];
                sub.w[out++] = g->w[k];
            }
        below[i] = ids[v];
        sub.first[i + 1] = out;
    }
    st = visit(w, &sub, below, child);
    place_graph_cleanup(&sub);
    xy_free(below);
    return st;
}

/* Go on with every part and its child. */
static xy_status_t visit_parts(walk_t *w, const place_graph_t *g, const uint32_t *ids,
                               const uint32_t *part_of, uint32_t parts, const uint32_t *child)
{
    uint32_t *start = xy_calloc((size_t)parts + 2, sizeof(*start));
    uint32_t *member = xy_malloc(((size_t)g->n + 1) * sizeof(*member));
    xy_status_t st = start != NULL && member != NULL ? XY_OK : XY_ENOMEM;

    if (st == XY_OK) {
        for (uint32_t v = 0; v < g->n; v++)
            start[part_of[v] + 2]++;
        for (uint32_t p = 1; p <= parts; p++)
            start[p + 1] += start[p];
        for (uint32_t v = 0; v < g->n; v++)
            member[start[part_of[v] + 1]++] = v;
    }
    for (uint32_t p = 0; st == XY_OK && p < parts; p++)
        st = visit_part(w, g, ids, part_of, &member[start[p]], start[p + 1] - start[p], child[p]);
    xy_free(start);
    xy_free(member);
    return st;
}

/* Cuts the vertices `ids` among the children of a node, recursively. */
static xy_status_t visit(walk_t *w, const place_graph_t *g, const uint32_t *ids, uint32_t node)
{
    const xy_target_t *t = w->q->target;
    uint32_t children = t->child_count[node], count, *chosen, *part_of;
    uint64_t *room;
    xy_status_t st = XY_ENOMEM;

    if (g->n == 0 || children == 0 || are_equal_leaves(w, node)) {
        for (uint32_t v = 0; v < g->n; v++)
            w->leaf_of[ids[v]] = t->first_leaf[node] + (children == 0 ? 0 : v);
        return XY_OK;
    }
    chosen = xy_malloc(children * sizeof(*chosen));
    room = xy_malloc(children * sizeof(*room));
    part_of = xy_calloc(g->n, sizeof(*part_of));
    if (chosen != NULL && room != NULL && part_of != NULL) {
        count = choose(w, node, g->n, chosen, room);
        st = count == 1 ? XY_OK : w->cut(w->arg, g, ids, count, room, part_of);
        if (st == XY_OK)
            st = visit_parts(w, g, ids, part_of, count, chosen);
    }
    xy_free(chosen);
    xy_free(room);
    xy_free(part_of);
    return st;
}

xy_status_t place_cut_tree(const xy_problem_t *q, uint32_t spare, place_cut_fn cut, void *arg,
                           uint32_t *leaf_of)
{
    walk_t w = {.q = q, .spare = spare, .cut = cut, .arg = arg, .leaf_of = leaf_of};
    uint32_t n = q->graph->n, *ids = xy_malloc(((size_t)n + 1) * sizeof(*ids));
    xy_status_t st = XY_ENOMEM;

    w.index = xy_malloc(((size_t)n + 1) * sizeof(*w.index));
    w.room_before = xy_calloc((size_t)q->target->leaves + 1, sizeof(*w.room_before));
    if (ids != NULL && w.index != NULL && w.room_before != NULL) {
        for (uint32_t i = 0; i < q->target->leaves; i++)
            w.room_before[i + 1] = w.room_before[i] + q->capacity[i];
        for (uint32_t v = 0; v < n; v++)
            ids[v] = v;
        st = visit(&w, q->graph, ids, 0);
    }
    xy_free(ids);
    xy_free(w.index);
    xy_free(w.room_before);
    return st;
}
