/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/repair.h"

#include <math.h>

/* One process more at a leaf: less room there and everywhere above it. */
static void take_room(const xy_target_t *t, uint32_t leaf, uint32_t *room)
{
    uint32_t node = t->node_of[leaf];

    for (;; node = t->parent[node]) {
        room[node]--;
        if (node == 0)
            break;
    }
}

/* The nearest leaf with room: up until a node has some, then down to it. */
static uint32_t nearest_room(const xy_target_t *t, uint32_t leaf, const uint32_t *room)
{
    uint32_t node = t->node_of[leaf];

    while (room[node] == 0)
        node = t->parent[node];
    while (t->child_count[node] > 0) {
        uint32_t child = t->first_child[node];

        while (room[child] == 0)
            child++;
        node = child;
    }
    return t->first_leaf[node];
}

/* How much a process talks with the others on its leaf; of equals, with all. */
static double attachment(const place_graph_t *g, const uint32_t *leaf_of, uint32_t v)
{
    double sum = 0;

    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
        sum += leaf_of[g->to[k]] == leaf_of[v] ? g->w[k] : 1e-6 * g->w[k];
    return sum;
}

/* The processes of each leaf: those of `leaf` are occupants[first[leaf]] .. [first[leaf + 1]). */
typedef struct {
    uint32_t *first, *occupants;
} residence_t;

static void residence_cleanup(residence_t *r)
{
    xy_free(r->first);
    xy_free(r->occupants);
}

/* Lists the occupants of each leaf; nothing is left allocated on failure. */
static xy_status_t residence_init(residence_t *r, const xy_problem_t *q, const uint32_t *leaf_of)
{
    uint32_t leaves = q->target->leaves, n = q->graph->n;

    r->first = xy_calloc((size_t)leaves + 2, sizeof(*r->first));
    r->occupants = xy_malloc(((size_t)n + 1) * sizeof(*r->occupants));
    if (r->first == NULL || r->occupants == NULL) {
        residence_cleanup(r);
        return XY_ENOMEM;
    }
    for (uint32_t v = 0; v < n; v++)
        r->first[leaf_of[v] + 2]++;
    for (uint32_t leaf = 0; leaf < leaves; leaf++)
        r->first[leaf + 2] += r->first[leaf + 1];
    for (uint32_t v = 0; v < n; v++)
        r->occupants[r->first[leaf_of[v] + 1]++] = v;
    return XY_OK;
}

static uint32_t occupants_number(const residence_t *r, uint32_t leaf)
{
    return r->first[leaf + 1] - r->first[leaf];
}

/* The room that is left at each node of the tree. */
static void count_room(const xy_problem_t *q, const residence_t *r, uint32_t *room)
{
    const xy_target_t *t = q->target;

    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) {
        uint32_t number = occupants_number(r, leaf);

        room[t->node_of[leaf]] = number < q->capacity[leaf] ? q->capacity[leaf] - number : 0;
    }
    for (uint32_t i = t->nodes - 1; i > 0; i--)
        room[t->parent[i]] += room[i];
}

/* The least attached process on a leaf; of equals the last. */
static uint32_t least_attached(const xy_problem_t *q, const residence_t *r, const uint32_t *leaf_of,
                               uint32_t leaf)
{
    uint32_t chosen = UINT32_MAX;
    double least = INFINITY;

    for (uint32_t i = r->first[leaf]; i < r->first[leaf + 1]; i++) {
        uint32_t v = r->occupants[i];
        double here;

        if (leaf_of[v] != leaf)
            continue;
        here = attachment(q->graph, leaf_of, v);
        if (here <= least) {
            least = here;
            chosen = v;
        }
    }
    return chosen;
}

xy_status_t place_repair(const xy_problem_t *q, uint32_t *leaf_of)
{
    const xy_target_t *t = q->target;
    uint32_t *room = xy_calloc(t->nodes, sizeof(*room));
    residence_t r;

    if (room == NULL || residence_init(&r, q, leaf_of) != XY_OK) {
        xy_free(room);
        return XY_ENOMEM;
    }
    count_room(q, &r, room);
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) {
        uint32_t number = occupants_number(&r, leaf);

        for (; number > q->capacity[leaf]; number--) {
            uint32_t v = least_attached(q, &r, leaf_of, leaf);

            leaf_of[v] = nearest_room(t, leaf, room);
            take_room(t, leaf_of[v], room);
        }
    }
    residence_cleanup(&r);
    xy_free(room);
    return XY_OK;
}

/* The part with room that v loses least in, and the loss. */
static uint32_t best_part(const place_graph_t *g, const uint32_t *part_of, uint32_t v,
                          const uint64_t *count, const uint64_t *room, uint32_t parts, double *link,
                          double *loss_p)
{
    uint32_t best = UINT32_MAX, here = part_of[v];
    double most = -1;

    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
        link[part_of[g->to[k]]] += g->w[k];
    for (uint32_t p = 0; p < parts; p++)
        if (count[p] < room[p] && link[p] > most) {
            most = link[p];
            best = p;
        }
    *loss_p = link[here] - most;
    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
        link[part_of[g->to[k]]] = 0;
    return best;
}

xy_status_t place_repair_parts(const place_graph_t *g, uint32_t parts, const uint64_t *room,
                               uint32_t *part_of)
{
    uint64_t *count = xy_calloc(parts, sizeof(*count));
    double *link = xy_calloc(parts, sizeof(*link));

    if (count == NULL || link == NULL) {
        xy_free(count);
        xy_free(link);
        return XY_ENOMEM;
    }
    for (uint32_t v = 0; v < g->n; v++)
        count[part_of[v]]++;
    for (uint32_t p = 0; p < parts; p++)
        while (count[p] > room[p]) {
            uint32_t chosen = UINT32_MAX, to = 0;
            double least = INFINITY;

            for (uint32_t v = 0; v < g->n; v++) {
                double loss;
                uint32_t part;

                if (part_of[v] != p)
                    continue;
                part = best_part(g, part_of, v, count, room, parts, link, &loss);
                if (loss < least) {
                    least = loss;
                    chosen = v;
                    to = part;
                }
            }
            part_of[chosen] = to;
            count[p]--;
            count[to]++;
        }
    xy_free(count);
    xy_free(link);
    return XY_OK;
}
