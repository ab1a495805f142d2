/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges on a torus or mesh. A process should be beside its partners, so it tries the leaves of
 * their cells and of the cells around, and exchanges with the process there if that reduces the
 * cost. Cells of several leaves first do the same as wholes.
 */
#include <string.h>

#include "place/refine.h"
#include "place/target_internal.h"

enum { TRIES_MAX = 64 }; /* leaves around a partner */

typedef struct {
    const place_graph_t *g;
    const xy_target_t *t;
    const uint32_t *capacity; /* of each leaf */
    bool is_weighted;
    uint32_t *leaf_of;
    uint32_t *first_at, *count_at; /* leaves of each cell */
    uint32_t most;                 /* leaves of a cell */
    uint32_t *holder;              /* a process of each leaf; UINT32_MAX: none */
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

    if (leaf == here || other == v || s->capacity[leaf] == 0)
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

/* The cell one step along a dimension from another one, or UINT32_MAX at the border of a mesh. */
static uint32_t step(const xy_grid_t *g, uint32_t cell, uint32_t dimension, bool is_up)
{
    uint32_t stride = 1, n = g->size[dimension], x;

    for (uint32_t d = 0; d < dimension; d++)
        stride *= g->size[d];
    x = cell / stride % n;
    if (!g->is_torus && (is_up ? x + 1 == n : x == 0))
        return UINT32_MAX;
    return cell - x * stride + (is_up ? (x + 1) % n : (x + n - 1) % n) * stride;
}

/* Try the leaves of a cell, or every few of them. */
static bool try_cell(state_t *s, uint32_t v, uint32_t cell)
{
    uint32_t stride = 1 + s->most * (2 * s->t->grid.dimensions + 1) / TRIES_MAX;
    bool is_better = false;

    for (uint32_t i = v % stride; i < s->count_at[cell]; i += stride)
        is_better |= try_leaf(s, v, s->first_at[cell] + i);
    return is_better;
}

/* Try the cells of the partners of v, where they have several leaves, and those around them. */
static bool improve(state_t *s, uint32_t v)
{
    const xy_grid_t *grid = &s->t->grid;
    bool is_better = false;

    for (uint32_t k = s->g->first[v]; k < s->g->first[v + 1]; k++) {
        if (s->most > 1)
            is_better |= try_cell(s, v, s->t->cell[s->leaf_of[s->g->to[k]]]);
        for (uint32_t d = 0; d < 2 * grid->dimensions; d++) {
            uint32_t cell = step(grid, s->t->cell[s->leaf_of[s->g->to[k]]], d / 2, d % 2 == 0);

            if (cell != UINT32_MAX)
                is_better |= try_cell(s, v, cell);
        }
    }
    return is_better;
}

/* Sweeps of exchanges of single processes. */
static void refine_leaves(state_t *s, uint32_t sweeps)
{
    bool is_better = true;

    memset(s->holder, 0xff, (size_t)s->t->leaves * sizeof(*s->holder));
    for (uint32_t v = 0; v < s->g->n; v++)
        s->holder[s->leaf_of[v]] = v;
    for (uint32_t i = 0; is_better && i < sweeps; i++) {
        is_better = false;
        for (uint32_t v = 0; v < s->g->n; v++)
            if (s->holder[s->leaf_of[v]] == v) /* of several on a leaf, one is exchanged */
                is_better |= improve(s, v);
    }
}

/* ---- Whole cells ---- */

/* Have all cells with leaves equally many, which may run equally many processes? */
static bool are_alike(const state_t *s)
{
    for (uint32_t i = 0; i < s->t->leaves; i++) {
        uint32_t cell = s->t->cell[i];

        if (s->count_at[cell] != s->most || s->capacity[i] != s->capacity[i - s->first_at[cell]])
            return false;
    }
    return true;
}

/* Exchange what whole cells run: each is a process of the graph between them. */
static xy_status_t refine_cells(const state_t *s, uint32_t sweeps)
{
    uint32_t n = s->g->n, cells = 0;
    uint32_t *class_of = xy_malloc((size_t)n * sizeof(*class_of));
    uint32_t *leaf_of = xy_malloc((size_t)s->t->leaves * sizeof(*leaf_of));
    uint32_t *number = xy_malloc((size_t)s->t->leaves * sizeof(*number)); /* by first leaf */
    uint32_t *ones = xy_malloc((size_t)s->t->leaves * sizeof(*ones));
    xy_target_t *u = NULL;
    place_graph_t coarse = {0};
    xy_status_t st = class_of != NULL && leaf_of != NULL && number != NULL && ones != NULL
                         ? place_target_of_cells(s->t, &u)
                         : XY_ENOMEM;

    if (st == XY_OK) {
        memset(number, 0xff, (size_t)s->t->leaves * sizeof(*number));
        for (uint32_t v = 0; v < n; v++) {
            uint32_t first = s->first_at[s->t->cell[s->leaf_of[v]]];

            if (number[first] == UINT32_MAX) {
                leaf_of[cells] = first / s->most; /* cells have their order in both targets */
                number[first] = cells++;
            }
            class_of[v] = number[first];
        }
        for (uint32_t i = 0; i < u->leaves; i++)
            ones[i] = 1;
        st = place_graph_contract(s->g, class_of, cells, &coarse);
    }
    if (st == XY_OK)
        st = place_refine_grid(&coarse, u, ones, sweeps, s->is_weighted, leaf_of);
    for (uint32_t v = 0; st == XY_OK && v < n; v++)
        s->leaf_of[v] = s->leaf_of[v] % s->most + leaf_of[class_of[v]] * s->most;
    place_graph_cleanup(&coarse);
    xy_target_destroy(u);
    xy_free(class_of);
    xy_free(leaf_of);
    xy_free(number);
    xy_free(ones);
    return st;
}

xy_status_t place_refine_grid(const place_graph_t *g, const xy_target_t *t,
                              const uint32_t *capacity, uint32_t sweeps, bool is_weighted,
                              uint32_t *leaf_of)
{
    size_t cells = xy_grid_cells(&t->grid);
    state_t s = {
        .g = g, .t = t, .capacity = capacity, .is_weighted = is_weighted, .leaf_of = leaf_of};
    xy_status_t st = XY_OK;

    s.first_at = xy_malloc(cells * sizeof(*s.first_at));
    s.count_at = xy_calloc(cells, sizeof(*s.count_at));
    s.holder = xy_malloc((size_t)t->leaves * sizeof(*s.holder));
    if (s.first_at == NULL || s.count_at == NULL || s.holder == NULL)
        st = XY_ENOMEM;
    for (uint32_t i = 0; st == XY_OK && i < t->leaves; i++) {
        uint32_t cell = t->cell[i];

        if (s.count_at[cell]++ == 0)
            s.first_at[cell] = i;
        s.most = s.count_at[cell] > s.most ? s.count_at[cell] : s.most;
    }
    if (st == XY_OK && s.most > 1 && are_alike(&s))
        st = refine_cells(&s, sweeps);
    if (st == XY_OK)
        refine_leaves(&s, sweeps);
    xy_free(s.first_at);
    xy_free(s.count_at);
    xy_free(s.holder);
    return st;
}
