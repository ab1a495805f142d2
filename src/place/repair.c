/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/repair.h"

#include <string.h>

/* Change the room that is left at a leaf and everywhere above it. */
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

/* How much a process talks with others on its leaf, and with all. */
static double attachment(const place_graph_t *g, const uint32_t *leaf_of, uint32_t v)
{
    double sum = 0;

    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
        sum += leaf_of[g->to[k]] == leaf_of[v] ? g->w[k] : 1e-6 * g->w[k];
    return sum;
}

xy_status_t place_repair(const xy_problem_t *q, uint32_t *leaf_of)
{
    const xy_target_t *t = q->target;
    uint32_t n = q->graph->n;
    uint32_t *room = xy_calloc(t->nodes, sizeof(*room));
    uint32_t *homeless = xy_malloc(((size_t)n + 1) * sizeof(*homeless)), count = 0;
    uint32_t *resident = xy_malloc((size_t)t->leaves * sizeof(*resident));

    if (room == NULL || homeless == NULL || resident == NULL) {
        xy_free(room);
        xy_free(homeless);
        xy_free(resident);
        return XY_ENOMEM;
    }
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++)
        room[t->node_of[leaf]] = q->capacity[leaf];
    for (uint32_t i = t->nodes - 1; i > 0; i--)
        room[t->parent[i]] += room[i];
    memset(resident, 0xff, (size_t)t->leaves * sizeof(*resident));
    for (uint32_t v = 0; v < n; v++) {
        uint32_t leaf = leaf_of[v];

        if (room[t->node_of[leaf]] > 0) {
            take_room(t, leaf, room);
            resident[leaf] = v;
        } else if (attachment(q->graph, leaf_of, v) >
                   attachment(q->graph, leaf_of, resident[leaf])) {
            homeless[count++] = resident[leaf];
            resident[leaf] = v;
        } else {
            homeless[count++] = v;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        leaf_of[homeless[i]] = nearest_room(t, leaf_of[homeless[i]], room);
        take_room(t, leaf_of[homeless[i]], room);
    }
    xy_free(room);
    xy_free(homeless);
    xy_free(resident);
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
            double least = 1e300;

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
