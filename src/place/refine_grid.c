/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges on a torus or mesh. A process should be beside its partners, so it tries their
 * leaves' neighbours in the grid and exchanges with the process there if that reduces the cost.
 */
#include <string.h>

#include "place/refine.h"

typedef struct {
    const place_graph_t *g;
    const xy_target_t *t;
    bool is_weighted;
    uint32_t *leaf_of, *leaf_at; /* leaf_at: of each cell */
    uint32_t *holder;            /* a process of each leaf; UINT32_MAX: none */
} state_t;

static double distance(const state_t *s, uint32_t a, uint32_t b)
{
    return s->is_weighted ? xy_target_weighted(s->t, a, b) : xy_target_hops(s->t, a, b);
}

static double saving(const state_t *s, uint32_t v, uint32_t leaf, uint32_t but)
{
    double sum = 0;

    for (uint32_t k = s->g->first[v]; k < s->g->first[v + 1]; k++)
        if (s->g->to[k] != but) {
            uint32_t other = s->leaf_of[s->g->to[k]];

            sum += s->g->w[k] * (distance(s, s->leaf_of[v], other) - distance(s, leaf, other));
        }
    return sum;
}

/* Exchange v with the holder of a leaf, or move it there, when that saves something. */
static bool try_leaf(state_t *s, uint32_t v, uint32_t leaf)
{
    uint32_t here = s->leaf_of[v], other = s->holder[leaf];
    double sum;

    if (leaf == here || other == v)
        return false;
    sum = saving(s, v, leaf, other);
    if (other != UINT32_MAX)
        sum += saving(s, other, here, v);
    if (!(sum > 1e-9))
        return false;
    s->leaf_of[v] = leaf;
    s->holder[leaf] = v;
    if (other != UINT32_MAX)
        s->leaf_of[other] = here;
    s->holder[here] = other;
    return true;
}

/* The leaf one step along a dimension from another one, or UINT32_MAX at the border of a mesh. */
static uint32_t step(const state_t *s, uint32_t leaf, int dimension, bool is_up)
{
    uint32_t cell = s->t->cell[leaf], stride = 1, n = s->t->size[dimension], x;

    for (int d = 0; d < dimension; d++)
        stride *= s->t->size[d];
    x = cell / stride % n;
    if (!s->t->is_torus && (is_up ? x + 1 == n : x == 0))
        return UINT32_MAX;
    return s->leaf_at[cell - x * stride + (is_up ? (x + 1) % n : (x + n - 1) % n) * stride];
}

static bool improve(state_t *s, uint32_t v)
{
    bool is_better = false;

    for (uint32_t k = s->g->first[v]; k < s->g->first[v + 1]; k++)
        for (int d = 0; d < 2 * s->t->dimensions; d++) {
            uint32_t leaf = step(s, s->leaf_of[s->g->to[k]], d / 2, d % 2 == 0);

            if (leaf != UINT32_MAX)
                is_better |= try_leaf(s, v, leaf);
        }
    return is_better;
}

xy_status_t place_refine_grid(const place_graph_t *g, const xy_target_t *t, uint32_t sweeps,
                              bool is_weighted, uint32_t *leaf_of)
{
    state_t s = {.g = g, .t = t, .is_weighted = is_weighted, .leaf_of = leaf_of};
    bool is_better = true;

    s.leaf_at = xy_malloc((size_t)t->leaves * sizeof(*s.leaf_at));
    s.holder = xy_malloc((size_t)t->leaves * sizeof(*s.holder));
    if (s.leaf_at == NULL || s.holder == NULL) {
        xy_free(s.leaf_at);
        xy_free(s.holder);
        return XY_ENOMEM;
    }
    memset(s.holder, 0xff, (size_t)t->leaves * sizeof(*s.holder));
    for (uint32_t i = 0; i < t->leaves; i++)
        s.leaf_at[t->cell[i]] = i;
    for (uint32_t v = 0; v < g->n; v++)
        s.holder[leaf_of[v]] = v;
    for (uint32_t i = 0; is_better && i < sweeps; i++) {
        is_better = false;
        for (uint32_t v = 0; v < g->n; v++)
            if (s.holder[leaf_of[v]] == v) /* of several on a leaf, one is exchanged */
                is_better |= improve(&s, v);
    }
    xy_free(s.leaf_at);
    xy_free(s.holder);
    return XY_OK;
}
