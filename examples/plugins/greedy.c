/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A placement strategy of one's own: processes one after the other, next the one that talks most to
 * those that have their places, each to the free leaf where that costs least.    O(p^2 + p e)
 *
 *   cc -O2 -shared -fPIC -o greedy.so greedy.c $(pkg-config --cflags xylem)
 *   xylem place app.mat --strategy ./greedy.so
 *   mpiexec -n 64 --place ./greedy.so --matrix app.mat ./app
 */
#include <stdlib.h>
#include <xylem_plugin.h>

static const uint32_t NONE = UINT32_MAX;

/* The cost of putting process r on this leaf, counting peers that already have places. */
static double cost_at(const xylem_place_problem *p, const uint32_t *leaf_of, uint32_t r,
                      uint32_t leaf)
{
    double cost = 0;

    for (uint32_t k = p->first[r]; k < p->first[r + 1]; k++)
        if (leaf_of[p->peer[k]] != NONE)
            cost += p->weight[k] * p->distance(p, leaf, leaf_of[p->peer[k]]);
    return cost;
}

/* The process without a place that talks most to those with one; the lowest among equals. */
static uint32_t next_process(const xylem_place_problem *p, const uint32_t *leaf_of,
                             const double *pull)
{
    uint32_t best = NONE;

    for (uint32_t r = 0; r < p->processes; r++)
        if (leaf_of[r] == NONE && (best == NONE || pull[r] > pull[best]))
            best = r;
    return best;
}

static uint32_t best_leaf(const xylem_place_problem *p, const uint32_t *leaf_of,
                          const uint32_t *left, uint32_t r)
{
    uint32_t best = NONE;
    double least = 0;

    for (uint32_t leaf = 0; leaf < p->leaves; leaf++) {
        double cost = left[leaf] > 0 ? cost_at(p, leaf_of, r, leaf) : 0;

        if (left[leaf] > 0 && (best == NONE || cost < least)) {
            best = leaf;
            least = cost;
        }
    }
    return best;
}

static int place(const xylem_place_problem *p, uint32_t *leaf_of)
{
    uint32_t *left = calloc((size_t)p->leaves + 1, sizeof(*left));
    double *pull = calloc((size_t)p->processes + 1, sizeof(*pull));
    int is_made = left != NULL && pull != NULL;

    for (uint32_t leaf = 0; is_made && leaf < p->leaves; leaf++)
        left[leaf] = p->capacity[leaf];
    for (uint32_t r = 0; r < p->processes; r++)
        leaf_of[r] = NONE;
    for (uint32_t i = 0; is_made && i < p->processes; i++) {
        uint32_t r = next_process(p, leaf_of, pull), leaf = best_leaf(p, leaf_of, left, r);

        leaf_of[r] = leaf;
        left[leaf]--;
        for (uint32_t k = p->first[r]; k < p->first[r + 1]; k++)
            pull[p->peer[k]] += p->weight[k];
    }
    free(left);
    free(pull);
    return is_made ? 0 : 1;
}

const xylem_strategy xylem_plugin_strategy = {
    .version = XYLEM_PLUGIN_VERSION,
    .needs_matrix = 1,
    .limit = 4096,
    .place = place,
};
