/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multisection: Xylem's own.                                   Cost = O(edges * log leaves)
 *
 * From the root down, the processes of a node are cut into the parts that its children hold, with
 * exact sizes, by halving the list of children again and again:
 *
 *      node of 3 children        children {0} {1 2}      then {1} {2}
 *      with 8 leaves each        cut 24 into 8 + 16      cut 16 into 8 + 8
 *
 * Each cut is multilevel with refinement (bisect.c); a pattern that is a grid is also cut into
 * bricks (grid_pattern_cut.c), and the better placement wins. When there is room to spare, the
 * fewest children that suffice are used, the largest first. Then exchanges between any two groups
 * of leaves, and of groups of them, with the real distances of the tree (refine_tree.c) remove what
 * the greedy order of the cuts left over.
 */
#include <math.h>
#include <string.h>

#include "place/bisect.h"
#include "place/cut_tree.h"
#include "place/grid_pattern.h"
#include "place/refine.h"
#include "place/strategy_internal.h"

/* Processes: from which on two starts are tried, up to which spare room is tried twice, and from
 * which on time counts more than the last percent. */
enum { TINY = 128, SMALL = 2000, LARGE = PLACE_LARGE };

static xy_status_t cut(void *arg, const place_graph_t *g, const uint32_t *ids, uint32_t parts,
                       const uint64_t *room, uint32_t *part_of)
{
    (void)ids;
    return place_bisect_parts(arg, g, parts, room, part_of);
}

/* The cuts down the tree alone, without exchanges; the others as in place_bisector_t. */
static xy_status_t multisect(const xy_problem_t *q, uint32_t spare, double faithful, bool loose,
                             uint32_t *leaf_of)
{
    place_bisector_t b;
    xy_status_t st = place_bisector_init(&b, q->graph->n, q->seed);

    if (st != XY_OK)
        return st;
    b.faithful = faithful;
    b.is_loose = loose;
    st = place_cut_tree(q, spare, cut, &b, leaf_of);
    place_bisector_cleanup(&b);
    return st;
}

static xy_status_t cut_grid_pattern(void *arg, const place_graph_t *g, const uint32_t *ids,
                                    uint32_t parts, const uint64_t *room, uint32_t *part_of)
{
    return place_grid_pattern_cut(arg, g, ids, parts, room, part_of);
}

/* Are groups of leaves joined by the lightest edges alone? */
static bool cuts_light_only(const xy_problem_t *q, const uint32_t *leaf_of)
{
    const place_graph_t *g = q->graph;
    const xy_target_t *t = q->target;
    double least = INFINITY;

    for (uint32_t k = 0; k < g->first[g->n]; k++)
        least = g->w[k] < least ? g->w[k] : least;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
            if (g->w[k] > least &&
                t->parent[t->node_of[leaf_of[v]]] != t->parent[t->node_of[leaf_of[g->to[k]]]])
                return false;
    return true;
}

/* See match() and slack_of() in bisect.c. Each way of pairing, and of keeping to sizes, is the
 * better one for some patterns: where there are two starts, each has its own. Faithful pairs take
 * more levels, and so more time. */
#define FAITHFUL 0.3

static bool is_faithful(uint32_t n, uint32_t number)
{
    return n <= LARGE && (n > SMALL || number > 0);
}

static bool is_loose(uint32_t number)
{
    return number % 2 == 0;
}

/* One placement: start number 0 of a pattern that is a grid cuts bricks. `before` is room for
 * another; is_sure: exchanges found nothing to do, and there is hardly anything to be had. */
static xy_status_t start(const xy_problem_t *q, place_grid_pattern_t *l, uint32_t number,
                         uint32_t spare, uint32_t *before, uint32_t *leaf_of, bool *is_sure)
{
    size_t bytes = (size_t)q->graph->n * sizeof(*leaf_of);
    xy_problem_t again = *q;
    xy_status_t st;

    again.seed = q->seed + number * UINT64_C(0x9e3779b97f4a7c15);
    if (number == 0 && l->dimensions > 0)
        st = place_cut_tree(q, 0, cut_grid_pattern, l, leaf_of);
    else
        st = multisect(&again, spare, is_faithful(q->graph->n, number) ? FAITHFUL : 0,
                       is_loose(number), leaf_of);
    if (st != XY_OK)
        return st;
    memcpy(before, leaf_of, bytes);
    st = place_refine(q, q->capacity, again.seed, leaf_of);
    *is_sure = memcmp(before, leaf_of, bytes) == 0 && cuts_light_only(q, leaf_of);
    return st;
}

static xy_status_t place_sorted(const xy_problem_t *q, uint32_t *leaf_of);

/* Large patterns come in any order; what talks to each other is brought together in memory first.
 */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint32_t n = q->graph->n, *old, *found;
    xy_problem_t sorted = *q;
    place_graph_t g;
    xy_status_t st = XY_ENOMEM;

    if (n <= SMALL)
        return place_sorted(q, leaf_of);
    old = xy_malloc((size_t)n * sizeof(*old));
    found = xy_malloc((size_t)n * sizeof(*found));
    if (old != NULL && found != NULL)
        st = place_graph_sort(q->graph, old, &g);
    if (st == XY_OK) {
        sorted.graph = &g;
        st = place_sorted(&sorted, found);
        for (uint32_t i = 0; st == XY_OK && i < n; i++)
            leaf_of[old[i]] = found[i];
        place_graph_cleanup(&g);
    }
    xy_free(old);
    xy_free(found);
    return st;
}

/* How many starts use the fewest parts of the machine that hold the processes: two, unless the
 * first is sure. Bricks of a grid are quickly cut, too, but not always the best. */
static uint32_t count_starts(uint32_t n)
{
    return n > TINY ? 2 : 1;
}

/* How many more leave room to spare where there is any: groups of processes that do not fill a part
 * of the machine are not torn apart to fill it. */
static uint32_t count_roomy(const xy_problem_t *q)
{
    uint64_t room = 0;

    for (uint32_t i = 0; i < q->target->leaves; i++)
        room += q->capacity[i];
    if (room == q->n || q->n > LARGE)
        return 0;
    return q->n <= SMALL ? 2 : 1;
}

/* Places by several starts and keeps the cheapest answer. */
static xy_status_t place_sorted(const xy_problem_t *q, uint32_t *leaf_of)
{
    uint32_t n = q->graph->n, starts, roomy = count_roomy(q);
    uint32_t *other = xy_malloc((size_t)n * sizeof(*other));
    uint32_t *before = xy_malloc((size_t)n * sizeof(*before));
    place_grid_pattern_t l = {0};
    double least = 0;
    xy_status_t st =
        other == NULL || before == NULL ? XY_ENOMEM : place_grid_pattern_find(q->graph, &l);

    starts = count_starts(n);
    for (uint32_t i = 0; st == XY_OK && i < starts + roomy; i++) {
        uint32_t *answer = i == 0 ? leaf_of : other;
        uint32_t spare = i < starts ? 0 : i == starts ? UINT32_MAX : 1;
        bool is_sure = false;
        double cost;

        st = start(q, &l, i, spare, before, answer, &is_sure);
        if (st != XY_OK || starts + roomy == 1)
            break;
        cost = place_cost(q, answer);
        if (i > 0 && cost < least)
            memcpy(leaf_of, other, (size_t)n * sizeof(*other));
        least = i == 0 || cost < least ? cost : least;
        if (i == 0 && is_sure && l.dimensions == 0)
            i = starts - 1; /* the next with the fewest parts would be the same */
    }
    place_grid_pattern_cleanup(&l);
    xy_free(other);
    xy_free(before);
    return st;
}

const xy_strategy_t place_strategy_multisection = {
    .name = "multisection",
    .describe = "multilevel cuts with exact sizes down the tree, then exchanges by real distances",
    .needs_matrix = true,
    .place = place,
};
