/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a placement. */
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

/* Adds `value` to every link of the way from one cell of a grid to another, and of the ways between
 * these and the leaves. The links of the grid are behind those of the tree. */
static void load_grid(const xy_target_t *t, uint32_t a, uint32_t b, double value, double *load)
{
    wires_t wires = {value, load + t->nodes};

    for (uint32_t n = t->node_of[a]; n != t->box[a]; n = t->parent[n])
        load[n] += value;
    for (uint32_t n = t->node_of[b]; n != t->box[b]; n = t->parent[n])
        load[n] += value;
    xy_grid_route(&t->grid, 0, t->cell[a], t->cell[b], load_wire, &wires);
}

xy_status_t xy_place_evaluate(const xy_matrix_t *m, xy_metric_t metric, const xy_target_t *t,
                              const uint32_t *leaf_of, xy_place_cost_t *cost_p)
{
    bool is_grid = t->grid.dimensions > 0;
    size_t links = t->nodes + (is_grid ? (size_t)xy_grid_cells(&t->grid) * t->grid.dimensions : 0);
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
            if (is_grid && t->cell[a] != t->cell[b])
                load_grid(t, a, b, value, load);
            else
                load_tree(t, a, b, value, load);
        }
    for (size_t i = 0; i < links; i++)
        if (load[i] > cost.max_load)
            cost.max_load = load[i];
    xy_free(load);
    *cost_p = cost;
    return XY_OK;
}
