/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a placement. */
#include <string.h>

#include "place/strategy.h"

/* Add `value` to every link of the way in the tree. */
static void load_tree(const xy_target_t *t, uint32_t a, uint32_t b, double value, double *load)
{
    a = t->node_of[a];
    b = t->node_of[b];
    while (a != b) {
        uint32_t *deeper = t->level[a] >= t->level[b] ? &a : &b;

        load[*deeper] += value;
        *deeper = t->parent[*deeper];
    }
}

typedef struct {
    double value, *load;
} wires_t;

static void load_wire(void *arg, const xy_wire_t *wire)
{
    const wires_t *w = arg;

    w->load[wire->number] += w->value;
}

/* Adds `value` to every link of the way in the grid. Link d of a cell leads to the next cell along
 * dimension d. */
static void load_grid(const xy_target_t *t, uint32_t a, uint32_t b, double value, double *load)
{
    xy_grid_t grid = {.dimensions = (uint32_t)t->dimensions, .is_torus = t->is_torus};
    wires_t wires = {value, load};

    memcpy(grid.size, t->size, (size_t)t->dimensions * sizeof(*t->size));
    xy_grid_route(&grid, 0, t->cell[a], t->cell[b], load_wire, &wires);
}

xy_status_t xy_place_evaluate(const xy_matrix_t *m, xy_metric_t metric, const xy_target_t *t,
                              const uint32_t *leaf_of, xy_place_cost_t *cost_p)
{
    size_t links = t->dimensions > 0 ? (size_t)t->leaves * (size_t)t->dimensions : t->nodes;
    double *load = xy_calloc(links, sizeof(*load));
    xy_place_cost_t cost = {0};

    if (load == NULL)
        return xy_fail_memory("measuring a placement");
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            uint32_t a = leaf_of[i], b = leaf_of[m->to[k]];
            double value = xy_matrix_value(m, metric, k);

            if (a == b)
                continue;
            cost.hop_bytes += value * xy_target_hops(t, a, b);
            cost.weighted += value * xy_target_weighted(t, a, b);
            (t->dimensions > 0 ? load_grid : load_tree)(t, a, b, value, load);
        }
    for (size_t i = 0; i < links; i++)
        if (load[i] > cost.max_load)
            cost.max_load = load[i];
    xy_free(load);
    *cost_p = cost;
    return XY_OK;
}
