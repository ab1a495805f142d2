/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the coordinates of a grid. A corner has the fewest neighbours. With d(v) the steps from
 * corner A to v and e(v) those from the corner B at the other end of an axis of n vertices, the
 * coordinate along this axis is (d - e + n - 1) / 2. The result is checked edge by edge, so that a
 * pattern that only looks like a grid is not taken for one.          Cost = O(edges)
 */
#include "place/grid_pattern.h"

#include <string.h>

enum { CORNERS_MAX = 8 };

typedef struct {
    const place_graph_t *g;
    uint32_t corner[CORNERS_MAX], corners;
    uint32_t *steps[4]; /* from A and from the ends of the axes */
    uint32_t *queue;
} search_t;

static uint32_t degree(const place_graph_t *g, uint32_t v)
{
    return g->first[v + 1] - g->first[v];
}

/* Corners of a box: 4 vertices with 2 neighbours or 8 with 3; 0: it is none. */
static int find_corners(search_t *s)
{
    uint32_t least = UINT32_MAX, most = 0;

    for (uint32_t v = 0; v < s->g->n; v++) {
        uint32_t d = degree(s->g, v);

        least = d < least ? d : least;
        most = d > most ? d : most;
    }
    if ((least != 2 && least != 3) || most > 2 * least)
        return 0;
    for (uint32_t v = 0; v < s->g->n; v++)
        if (degree(s->g, v) == least) {
            if (s->corners == CORNERS_MAX)
                return 0;
            s->corner[s->corners++] = v;
        }
    return s->corners == (least == 2 ? 4 : 8) ? (int)least : 0;
}

/* Steps from a vertex to all; false: not all are reached. */
static bool walk(search_t *s, uint32_t from, uint32_t *steps)
{
    uint32_t head = 0, tail = 1;

    memset(steps, 0xff, (size_t)s->g->n * sizeof(*steps));
    steps[from] = 0;
    s->queue[0] = from;
    for (; head < tail; head++) {
        uint32_t v = s->queue[head];

        for (uint32_t k = s->g->first[v]; k < s->g->first[v + 1]; k++)
            if (steps[s->g->to[k]] == UINT32_MAX) {
                steps[s->g->to[k]] = steps[v] + 1;
                s->queue[tail++] = s->g->to[k];
            }
    }
    return tail == s->g->n;
}

/* The corner whose steps to A and to the axis ends found so far say that it ends another axis:
 * nearest to A first, and from each earlier end as far as both axes together. */
static bool next_axis(search_t *s, int found, uint32_t wanted)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 1; i < s->corners; i++) {
        uint32_t c = s->corner[i];
        bool is_new = true;

        for (int k = 0; k < found; k++) {
            const uint32_t *e = s->steps[k + 1];

            is_new &= e[c] == s->steps[0][c] + e[s->corner[0]];
        }
        if (is_new && (wanted == 0 || s->steps[0][c] + 1 == wanted) &&
            (best == UINT32_MAX || s->steps[0][c] < s->steps[0][best]))
            best = c;
    }
    return best != UINT32_MAX && walk(s, best, s->steps[found + 1]);
}

/* Computes the coordinates of all vertices from their distances to corners; returns false if they
 * make no grid. */
static bool set_coordinates(search_t *s, place_grid_pattern_t *l, uint8_t *is_seen)
{
    for (uint32_t v = 0; v < s->g->n; v++) {
        uint64_t cell = 0;

        for (int k = l->dimensions - 1; k >= 0; k--) {
            int64_t twice =
                (int64_t)s->steps[0][v] - (int64_t)s->steps[k + 1][v] + (int64_t)l->size[k] - 1;

            if (twice < 0 || twice % 2 != 0 || twice / 2 >= (int64_t)l->size[k])
                return false;
            l->at[k][v] = (uint32_t)(twice / 2);
            cell = cell * l->size[k] + l->at[k][v];
        }
        if (is_seen[cell])
            return false;
        is_seen[cell] = 1;
    }
    for (uint32_t v = 0; v < s->g->n; v++)
        for (uint32_t e = s->g->first[v]; e < s->g->first[v + 1]; e++) {
            uint32_t apart = 0;

            for (int k = 0; k < l->dimensions; k++) {
                uint32_t a = l->at[k][v], b = l->at[k][s->g->to[e]];

                apart += a > b ? a - b : b - a;
            }
            if (apart != 1)
                return false;
        }
    return true;
}

/* Looks for a grid of this many dimensions in the graph. */
static bool find(search_t *s, int dimensions, place_grid_pattern_t *l, uint8_t *is_seen)
{
    uint64_t cells = 1;

    l->dimensions = dimensions;
    if (!walk(s, s->corner[0], s->steps[0]))
        return false;
    for (int k = 0; k < dimensions; k++) {
        /* The last axis is as long as the rest of the vertices says. */
        uint32_t wanted = k + 1 == dimensions ? (uint32_t)(s->g->n / cells) : 0;

        if (!next_axis(s, k, wanted))
            return false;
        l->size[k] = s->steps[k + 1][s->corner[0]] + 1;
        cells *= l->size[k];
        if (cells > s->g->n)
            return false;
    }
    return cells == s->g->n && set_coordinates(s, l, is_seen);
}

void place_grid_pattern_cleanup(place_grid_pattern_t *l)
{
    for (int k = 0; k < 3; k++)
        xy_free(l->at[k]);
    *l = (place_grid_pattern_t){0};
}

xy_status_t place_grid_pattern_find(const place_graph_t *g, place_grid_pattern_t *l)
{
    search_t s = {.g = g};
    size_t bytes = ((size_t)g->n + 1) * sizeof(uint32_t);
    int dimensions = find_corners(&s);
    uint8_t *is_seen = NULL;
    bool ok = true;

    *l = (place_grid_pattern_t){0};
    if (dimensions == 0)
        return XY_OK;
    for (int k = 0; k <= dimensions; k++)
        ok = ok && (s.steps[k] = xy_malloc(bytes)) != NULL;
    for (int k = 0; k < dimensions; k++)
        ok = ok && (l->at[k] = xy_malloc(bytes)) != NULL;
    ok = ok && (s.queue = xy_malloc(bytes)) != NULL;
    ok = ok && (is_seen = xy_calloc((size_t)g->n + 1, 1)) != NULL;
    if (!ok || !find(&s, dimensions, l, is_seen))
        place_grid_pattern_cleanup(l);
    for (int k = 0; k <= 3; k++)
        xy_free(s.steps[k]);
    xy_free(s.queue);
    xy_free(is_seen);
    return ok ? XY_OK : XY_ENOMEM;
}
