/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multilevel bisection. Heavy edges are contracted until the graph is small; the small graph is cut
 * several times by growing one side from a random vertex; the best cut is carried back level by
 * level and refined on each.            Cost: O(edges), times a constant of about ten.
 */
#include "place/bisect.h"

#include <string.h>

/* TRIES: initial cuts of the coarsest graph. */
enum { COARSEST = 60, LEVELS_MAX = 40, TRIES = 6, MEDIUM = 5000, LARGE = 20000 };

xy_status_t place_bisector_init(place_bisector_t *b, uint32_t n, uint64_t seed)
{
    size_t count = (size_t)n + 1;
    bool ok;

    memset(b, 0, sizeof(*b));
    b->random = seed;
    b->passes = 4;
    b->capacity = n;
    ok = (b->gain = xy_malloc(count * sizeof(*b->gain))) != NULL;
    ok = ok && (b->total = xy_malloc(count * sizeof(*b->total))) != NULL;
    ok = ok && (b->next = xy_malloc(count * sizeof(uint32_t))) != NULL;
    ok = ok && (b->prev = xy_malloc(count * sizeof(uint32_t))) != NULL;
    ok = ok && (b->bucket = xy_malloc(count * sizeof(uint32_t))) != NULL;
    ok = ok && (b->order = xy_malloc(count * sizeof(uint32_t))) != NULL;
    ok = ok && (b->class_of = xy_malloc(count * sizeof(uint32_t))) != NULL;
    ok = ok && (b->moved = xy_malloc(count * sizeof(uint32_t))) != NULL;
    ok = ok && (b->best = xy_malloc(count)) != NULL;
    if (ok)
        return XY_OK;
    place_bisector_cleanup(b);
    return XY_ENOMEM;
}

void place_bisector_cleanup(place_bisector_t *b)
{
    xy_free(b->gain);
    xy_free(b->total);
    xy_free(b->next);
    xy_free(b->prev);
    xy_free(b->bucket);
    xy_free(b->order);
    xy_free(b->class_of);
    xy_free(b->moved);
    xy_free(b->best);
    memset(b, 0, sizeof(*b));
}

static uint32_t size_of(const place_graph_t *g, uint32_t v)
{
    return g->size != NULL ? g->size[v] : 1;
}

/* The partner of a vertex whose neighbours are all taken: another such vertex beside its heaviest
 * neighbour, or, without neighbours, another such vertex. Stars would never shrink otherwise. */
static uint32_t far_partner(place_bisector_t *b, const place_graph_t *g, uint32_t v,
                            uint32_t largest)
{
    uint32_t *waiting = b->moved, at = g->n, other;
    double most = 0;

    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
        if (g->w[k] > most) {
            most = g->w[k];
            at = g->to[k];
        }
    other = waiting[at];
    if (other != UINT32_MAX && size_of(g, v) + size_of(g, other) <= largest) {
        waiting[at] = UINT32_MAX;
        return other;
    }
    waiting[at] = v;
    return UINT32_MAX;
}

/* Number the classes by their first members: what is near in memory stays near. */
static void number_classes(place_bisector_t *b, uint32_t n)
{
    uint32_t *number = b->order, next = 0;

    memset(number, 0xff, (size_t)n * sizeof(*number));
    for (uint32_t v = 0; v < n; v++) {
        uint32_t *c = &b->class_of[v];

        if (number[*c] == UINT32_MAX)
            number[*c] = next++;
        *c = number[*c];
    }
}

/* Pair each vertex with the unpaired neighbour that it talks to most; returns how many classes. A
 * faithful one stays alone this time when that neighbour is a poor second to one that is taken
 * already: what belongs together then becomes one vertex before strangers join it. */
static uint32_t match(place_bisector_t *b, const place_graph_t *g, uint32_t largest, bool is_far)
{
    uint32_t classes = 0;

    place_shuffle_near(b->order, g->n, &b->random);
    memset(b->class_of, 0xff, (size_t)g->n * sizeof(*b->class_of));
    memset(b->moved, 0xff, ((size_t)g->n + 1) * sizeof(*b->moved));
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t v = b->order[i], partner = UINT32_MAX;
        double most = 0, heaviest = 0;

        if (b->class_of[v] != UINT32_MAX)
            continue;
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
            uint32_t u = g->to[k];

            if (g->w[k] <= most || size_of(g, v) + size_of(g, u) > largest)
                continue;
            heaviest = g->w[k] > heaviest ? g->w[k] : heaviest;
            if (b->class_of[u] == UINT32_MAX) {
                most = g->w[k];
                partner = u;
            }
        }
        if (!is_far && most < b->faithful * heaviest)
            partner = UINT32_MAX;
        if (partner == UINT32_MAX && is_far)
            partner = far_partner(b, g, v, largest);
        if (partner != UINT32_MAX && b->class_of[partner] != UINT32_MAX) {
            b->class_of[v] = b->class_of[partner]; /* it waited in a class of its own */
            continue;
        }
        b->class_of[v] = classes;
        if (partner != UINT32_MAX)
            b->class_of[partner] = classes;
        classes++;
    }
    number_classes(b, g->n);
    return classes;
}

/* A number that differs from one set of vertices to another: theirs, added up. */
static uint64_t mark_of(uint32_t v)
{
    uint64_t x = (v + 1) * UINT64_C(0x9e3779b97f4a7c15);

    return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Side 0 grows from one vertex, always by the vertex that cuts least. Returns its mark. */
static uint64_t grow(place_bisector_t *b, const place_graph_t *g, uint32_t low, uint32_t high,
                     uint8_t *side)
{
    uint64_t mark = 0;
    uint32_t filled = 0, wanted = low + (high - low) / 2, listed = 0;
    uint32_t *list = b->order;

    memset(side, 1, g->n);
    memset(b->class_of, 0, (size_t)g->n * sizeof(*b->class_of)); /* 1: in the list */
    for (uint32_t v = 0; v < g->n; v++)
        b->gain[v] = 0;
    while (filled < wanted) {
        uint32_t best = 0, v;

        if (listed == 0) {
            do
                v = place_random_below(&b->random, g->n);
            while (side[v] == 0);
            list[listed++] = v;
            b->class_of[v] = 1;
        }
        for (uint32_t i = 1; i < listed; i++)
            if (b->gain[list[i]] > b->gain[list[best]])
                best = i;
        v = list[best];
        list[best] = list[--listed];
        side[v] = 0;
        mark += mark_of(v);
        filled += size_of(g, v);
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
            uint32_t u = g->to[k];

            if (side[u] == 0)
                continue;
            if (b->class_of[u] == 0) {
                b->class_of[u] = 1;
                list[listed++] = u;
                for (uint32_t e = g->first[u]; e < g->first[u + 1]; e++)
                    b->gain[u] += side[g->to[e]] == 0 ? g->w[e] : -g->w[e];
            } else {
                b->gain[u] += 2 * g->w[k];
            }
        }
    }
    return mark;
}

static bool is_better(place_cut_t a, place_cut_t b)
{
    return a.off < b.off || (a.off == b.off && a.cut < b.cut);
}

static bool is_among(uint64_t mark, const uint64_t *marks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (marks[i] == mark)
            return true;
    return false;
}

/* Small graphs often grow the same side from different vertices: it is refined once. */
static void cut_coarsest(place_bisector_t *b, const place_graph_t *g, uint32_t low, uint32_t high,
                         uint8_t *side)
{
    uint64_t marks[TRIES];
    place_cut_t best = {0};

    for (uint32_t i = 0; i < TRIES; i++) {
        place_cut_t c;

        marks[i] = grow(b, g, low, high, side);
        if (is_among(marks[i], marks, i))
            continue;
        c = place_bisect_refine(b, g, low, high, b->passes, side);
        if (i == 0 || is_better(c, best)) {
            best = c;
            memcpy(b->best, side, g->n);
        }
    }
    memcpy(side, b->best, g->n);
}

typedef struct {
    place_graph_t graph;
    uint32_t *class_of; /* of the vertices of the finer graph */
} level_t;

/* Coarser and coarser graphs; returns how many, or -1 when memory ran out. */
static int coarsen(place_bisector_t *b, const place_graph_t *g, level_t *levels)
{
    int count = 0;
    uint32_t largest = g->n / 20 + 1;

    while (g->n > COARSEST && count < LEVELS_MAX) {
        uint32_t classes = match(b, g, largest, false);
        level_t *l = &levels[count];

        if (classes > g->n - g->n / 4)
            classes = match(b, g, largest, true);
        if (classes > g->n - g->n / 10)
            break;
        l->class_of = xy_malloc((size_t)g->n * sizeof(*l->class_of));
        if (l->class_of == NULL)
            return -1;
        count++;
        memcpy(l->class_of, b->class_of, (size_t)g->n * sizeof(*l->class_of));
        if (place_graph_contract(g, l->class_of, classes, &l->graph) != XY_OK)
            return -1;
        g = &l->graph;
    }
    return count;
}

/* How much the sizes of the sides of a graph of n vertices may be off. Exact sizes made of large
 * vertices tear apart what is long and thin; smaller vertices make up later for what is missing. */
static uint32_t slack_of(const place_bisector_t *b, const place_graph_t *whole, uint32_t n)
{
    return b->is_loose && n < whole->n ? whole->n / n : 0;
}

xy_status_t place_bisect(place_bisector_t *b, const place_graph_t *g, uint32_t low, uint32_t high,
                         uint8_t *side)
{
    level_t levels[LEVELS_MAX] = {0};
    int count = coarsen(b, g, levels);
    uint8_t *coarse_side = count > 0 ? xy_malloc(g->n) : NULL;
    xy_status_t st = count < 0 || (count > 0 && coarse_side == NULL) ? XY_ENOMEM : XY_OK;

    if (st == XY_OK) {
        const place_graph_t *coarsest = count > 0 ? &levels[count - 1].graph : g;
        uint32_t slack = slack_of(b, g, coarsest->n);

        cut_coarsest(b, coarsest, low > slack ? low - slack : 0, high + slack, side);
    }
    for (int i = count - 1; st == XY_OK && i >= 0; i--) {
        const place_graph_t *finer = i > 0 ? &levels[i - 1].graph : g;
        uint32_t slack = slack_of(b, g, finer->n);

        memcpy(coarse_side, side, levels[i].graph.n);
        for (uint32_t v = 0; v < finer->n; v++)
            side[v] = coarse_side[levels[i].class_of[v]];
        place_bisect_refine(b, finer, low > slack ? low - slack : 0, high + slack,
                            finer->n > LARGE    ? 1
                            : finer->n > MEDIUM ? 2
                                                : b->passes,
                            side);
    }
    for (int i = 0; i < LEVELS_MAX; i++) {
        xy_free(levels[i].class_of);
        place_graph_cleanup(&levels[i].graph);
    }
    xy_free(coarse_side);
    return st;
}
