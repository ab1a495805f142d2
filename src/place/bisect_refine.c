/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refinement of a cut (Fiduccia and Mattheyses): vertices cross over one by one, the one that gains
 * most first, each once; then everything after the best moment is taken back. Losing moves are made
 * too, which is how it leaves local minima. Sizes are exact: from a balanced state the next two
 * moves go in opposite directions.
 *
 * Gains are real numbers; buckets hold those of about the same gain, the latest first, so that a
 * move leads to moves beside it. The true gain is what is added up. A vertex without a neighbour on
 * the other side comes into a bucket when it gets one: most never do. In coarse and small graphs
 * all may move: a whole group of processes that is cut off can be what makes the sizes right.
 */
#include <string.h>

#include "place/bisect.h"

enum { FEW = 2000 };

#define NONE   UINT32_MAX
#define LOCKED (UINT32_MAX - 1) /* has crossed: in no bucket any more */

typedef struct {
    place_bisector_t *b;
    const place_graph_t *g;
    uint8_t *side;
    double scale; /* buckets per unit of gain */
    double cut;
    uint32_t size0, low, high, slack;
} cut_t;

static uint32_t size_of(const place_graph_t *g, uint32_t v)
{
    return g->size != NULL ? g->size[v] : 1;
}

static uint32_t bucket_of(const cut_t *c, uint32_t v)
{
    /* NOLINTNEXTLINE(bugprone-integer-division) */
    double x = c->b->gain[v] * c->scale + PLACE_BUCKETS / 2;

    return x <= 0 ? 0 : x >= PLACE_BUCKETS - 1 ? PLACE_BUCKETS - 1 : (uint32_t)x;
}

/* Puts a vertex into bucket `k` of its side. */
static inline void insert(cut_t *c, uint32_t v, uint32_t k)
{
    place_bisector_t *b = c->b;
    uint32_t s = c->side[v];

    b->bucket[v] = k;
    b->prev[v] = NONE;
    b->next[v] = b->head[s][k];
    if (b->next[v] != NONE)
        b->prev[b->next[v]] = v;
    b->head[s][k] = v;
    if (k > b->top[s])
        b->top[s] = k;
}

static inline void take_out(cut_t *c, uint32_t v)
{
    place_bisector_t *b = c->b;

    if (b->prev[v] != NONE)
        b->next[b->prev[v]] = b->next[v];
    else
        b->head[c->side[v]][b->bucket[v]] = b->next[v];
    if (b->next[v] != NONE)
        b->prev[b->next[v]] = b->prev[v];
    b->bucket[v] = LOCKED;
}

static inline uint32_t best_of(const cut_t *c, uint32_t s)
{
    place_bisector_t *b = c->b;

    while (b->top[s] > 0 && b->head[s][b->top[s]] == NONE)
        b->top[s]--;
    return b->head[s][b->top[s]];
}

/* Change the side of v; its neighbours get new gains, those that are still free also new buckets.
 * Each becomes the first of its bucket, so that what was touched last moves next.
 */
static void cross(cut_t *c, uint32_t v)
{
    place_bisector_t *b = c->b;
    const place_graph_t *g = c->g;
    uint8_t s = c->side[v] ^= 1;
    double change[2];

    change[s] = -2;
    change[s ^ 1] = 2;
    c->size0 = s == 0 ? c->size0 + size_of(g, v) : c->size0 - size_of(g, v);
    b->gain[v] = -b->gain[v];
    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
        uint32_t u = g->to[k], was = b->bucket[u], now;

        b->gain[u] += change[c->side[u]] * g->w[k];
        if (was == LOCKED)
            continue;
        now = bucket_of(c, u);
        if (was == now && b->prev[u] == NONE)
            continue;
        if (was != NONE)
            take_out(c, u);
        insert(c, u, now);
    }
}

/* Take back all moves but the first `kept`. Gains are worth it only if another pass needs them. */
static void take_back(cut_t *c, uint32_t moves, uint32_t kept, bool is_last)
{
    place_bisector_t *b = c->b;

    if (is_last || kept == 0) {
        while (moves > kept) {
            uint32_t v = b->moved[--moves];

            c->side[v] ^= 1;
            c->size0 += c->side[v] == 0 ? size_of(c->g, v) : -size_of(c->g, v);
        }
        return;
    }
    for (uint32_t i = 0; i < c->g->n; i++)
        b->bucket[i] = LOCKED;
    while (moves > kept)
        cross(c, b->moved[--moves]);
}

/* Choose the next vertex to move, or NONE. */
static uint32_t choose(const cut_t *c)
{
    uint32_t a = best_of(c, 0), z = best_of(c, 1);

    if (c->size0 > c->high)
        return a;
    if (c->size0 < c->low)
        return z;
    if (a != NONE && c->size0 - size_of(c->g, a) + c->slack < c->low)
        a = NONE;
    if (z != NONE && c->size0 + size_of(c->g, z) > c->high + c->slack)
        z = NONE;
    if (a == NONE || z == NONE)
        return a == NONE ? z : a;
    if (c->b->gain[a] == c->b->gain[z])
        return c->size0 - c->low > c->high - c->size0 ? a : z;
    return c->b->gain[a] > c->b->gain[z] ? a : z;
}

/* Computes the cut, the sizes of its sides and the gain of moving each vertex. */
static void compute_gains(cut_t *c)
{
    const place_graph_t *g = c->g;
    double most = 0;

    c->cut = 0;
    c->size0 = 0;
    c->slack = 1;
    for (uint32_t v = 0; v < g->n; v++) {
        uint8_t s = c->side[v];
        double gain = 0, total = 0, sign[2];

        sign[s] = -1;
        sign[s ^ 1] = 1;
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
            total += g->w[k];
            gain += sign[c->side[g->to[k]]] * g->w[k];
        }
        c->b->gain[v] = gain;
        c->b->total[v] = total;
        if (total > most)
            most = total;
        if (s == 0) {
            c->size0 += size_of(g, v);
            c->cut += (gain + total) / 2;
        }
        if (size_of(g, v) > c->slack)
            c->slack = size_of(g, v);
    }
    /* NOLINTNEXTLINE(bugprone-integer-division) */
    c->scale = most > 0 ? (PLACE_BUCKETS / 2 - 1) / most : 0;
}

/* All vertices, or those with neighbours on the other side. Gains are sums that were rounded. */
static void fill_buckets(cut_t *c, bool all)
{
    place_bisector_t *b = c->b;

    memset(b->head, 0xff, sizeof(b->head));
    b->top[0] = b->top[1] = 0;
    for (uint32_t v = c->g->n; v-- > 0;)
        if (all || b->gain[v] + b->total[v] > 1e-9 * b->total[v])
            insert(c, v, bucket_of(c, v));
        else
            b->bucket[v] = NONE;
}

/* One pass; true when the cut got smaller or came into balance. After the last one, and after one
 * that returns false, the gains are not those of the sides. */
static bool pass(cut_t *c, uint32_t patience, bool is_last)
{
    place_bisector_t *b = c->b;
    bool was_legal = c->size0 >= c->low && c->size0 <= c->high;
    double sum = 0, best = was_legal ? 0 : -1e300;
    uint32_t moves = 0, kept = 0;

    fill_buckets(c, !was_legal || c->g->size != NULL || c->g->n < FEW);
    while (moves < c->g->n && moves < kept + patience) {
        uint32_t v = choose(c);

        if (v == NONE)
            break;
        take_out(c, v);
        sum += b->gain[v];
        cross(c, v);
        b->moved[moves++] = v;
        if (c->size0 >= c->low && c->size0 <= c->high && sum > best + 1e-12 * (1 + best)) {
            best = sum;
            kept = moves;
        } else if (best < -1e299) {
            kept = moves;
        }
    }
    if (best < -1e299)
        kept = 0;
    take_back(c, moves, kept, is_last);
    c->cut -= kept > 0 ? best : 0;
    return kept > 0;
}

place_cut_t place_bisect_refine(place_bisector_t *b, const place_graph_t *g, uint32_t low,
                                uint32_t high, uint32_t passes, uint8_t *side)
{
    cut_t c = {.b = b, .g = g, .side = side, .low = low, .high = high};
    uint32_t patience = g->n / 40 + 20;

    compute_gains(&c);
    for (uint32_t i = 0; i < passes && pass(&c, patience, i + 1 == passes); i++)
        ;
    return (place_cut_t){
        .cut = c.cut,
        .off = c.size0 < low    ? low - c.size0
               : c.size0 > high ? c.size0 - high
                                : 0,
    };
}
