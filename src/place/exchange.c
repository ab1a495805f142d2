/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/exchange.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_MAX = 60, PROCESSES_MAX = 1024, TABLE_MAX = 1 << 21 };

void place_exchange_cleanup(place_exchange_t *x)
{
    xy_free(x->leaf);
    xy_free(x->holder);
    xy_free(x->slot_of);
    xy_free(x->distance);
    xy_free(x->pay);
    xy_free(x->paid);
    xy_free(x->least);
    xy_free(x->link);
}

xy_status_t place_exchange_init(place_exchange_t *x, const xy_problem_t *q,
                                const uint32_t *capacity, uint32_t slots_max)
{
    size_t n = q->graph->n;
    uint64_t all = 0;
    uint32_t slot = 0;

    for (uint32_t leaf = 0; leaf < q->target->leaves; leaf++)
        all += capacity[leaf];
    *x = (place_exchange_t){.q = q, .slots = (uint32_t)(all < slots_max ? all : slots_max)};
    x->leaf = xy_malloc(x->slots * sizeof(*x->leaf));
    x->holder = xy_malloc(x->slots * sizeof(*x->holder));
    x->slot_of = xy_malloc(n * sizeof(*x->slot_of));
    x->paid = xy_malloc(n * sizeof(*x->paid));
    x->least = xy_malloc(n * sizeof(*x->least));
    x->link = xy_calloc(n, sizeof(*x->link));
    if (x->leaf == NULL || x->holder == NULL || x->slot_of == NULL || x->paid == NULL ||
        x->least == NULL || x->link == NULL)
        return XY_ENOMEM;
    for (uint32_t leaf = 0; slot < x->slots; leaf++)
        for (uint32_t k = 0; k < capacity[leaf] && slot < x->slots; k++) {
            x->leaf[slot++] = leaf;
            x->leaves = leaf + 1;
        }
    x->distance = xy_malloc((size_t)x->leaves * x->leaves * sizeof(*x->distance));
    x->pay = xy_malloc(x->leaves * n * sizeof(*x->pay));
    if (x->distance == NULL || x->pay == NULL)
        return XY_ENOMEM;
    for (uint32_t a = 0; a < x->leaves; a++)
        for (uint32_t b = 0; b < x->leaves; b++)
            x->distance[(size_t)a * x->leaves + b] = q->objective == XY_OBJECTIVE_HOPS
                                                         ? xy_target_hops(q->target, a, b)
                                                         : xy_target_weighted(q->target, a, b);
    return XY_OK;
}

static uint32_t leaf_of(const place_exchange_t *x, uint32_t v)
{
    return x->leaf[x->slot_of[v]];
}

static double *pay_of(const place_exchange_t *x, uint32_t v)
{
    return &x->pay[(size_t)v * x->leaves];
}

static double add(double *pay, uint32_t n, double w, const double *distance)
{
    double least = INFINITY;

    for (uint32_t l = 0; l < n; l++) {
        pay[l] += w * distance[l];
        least = pay[l] < least ? pay[l] : least;
    }
    return least;
}

/* The neighbours of u pay from now on for u on `to`, and no longer for u on `from` (UINT32_MAX: u
 * was nowhere). */
static void charge(place_exchange_t *x, uint32_t u, uint32_t from, uint32_t to)
{
    const place_graph_t *g = x->q->graph;

    for (uint32_t k = g->first[u]; k < g->first[u + 1]; k++) {
        uint32_t v = g->to[k];
        double *pay = pay_of(x, v);

        if (from != UINT32_MAX)
            add(pay, x->leaves, -g->w[k], &x->distance[(size_t)from * x->leaves]);
        x->least[v] = add(pay, x->leaves, g->w[k], &x->distance[(size_t)to * x->leaves]);
        x->paid[v] = pay[leaf_of(x, v)];
    }
}

static void move(place_exchange_t *x, uint32_t v, uint32_t slot)
{
    uint32_t from = leaf_of(x, v);

    x->slot_of[v] = slot;
    x->holder[slot] = v;
    x->paid[v] = pay_of(x, v)[x->leaf[slot]];
    charge(x, v, from, x->leaf[slot]);
}

/* The slot that it is best to exchange that of v with; v's own: nothing gains. x->link is set for
 * the neighbours of v: what they exchange with it stays as far apart as it was. */
static uint32_t best_slot(const place_exchange_t *x, uint32_t v)
{
    uint32_t from = x->slot_of[v], here = x->leaf[from], best = from;
    const double *away = &x->distance[(size_t)here * x->leaves], *pay = pay_of(x, v);
    double most = 0;

    for (uint32_t slot = 0; slot < x->slots; slot++) {
        uint32_t there = x->leaf[slot], u = x->holder[slot];
        double paid = x->paid[v], gain = paid - pay[there], enough;

        if (u != UINT32_MAX) {
            gain += x->paid[u] - x->least[u]; /* it cannot save more, wherever it goes */
            paid += x->paid[u];
        }
        /* The table is added to and taken from: what is less than its rounding is no gain. */
        enough = most + 1e-9 * paid;
        if (gain <= enough || there == here)
            continue;
        if (u != UINT32_MAX)
            gain += x->least[u] - pay_of(x, u)[here] - 2 * x->link[u] * away[there];
        if (gain > enough) {
            most = gain;
            best = slot;
        }
    }
    return best;
}

/* Moves a process to its best slot, in exchange with the process there; returns false if it
 * stays. */
static bool exchange(place_exchange_t *x, uint32_t v)
{
    const place_graph_t *g = x->q->graph;
    uint32_t from = x->slot_of[v], best, other;

    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
        x->link[g->to[k]] = g->w[k];
    best = best_slot(x, v);
    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
        x->link[g->to[k]] = 0;
    if (best == from)
        return false;
    other = x->holder[best];
    x->holder[from] = UINT32_MAX;
    move(x, v, best);
    if (other != UINT32_MAX)
        move(x, other, from);
    return true;
}

double place_exchange_cost(const place_exchange_t *x)
{
    double sum = 0;

    for (uint32_t v = 0; v < x->q->graph->n; v++)
        sum += x->paid[v];
    return sum;
}

void place_exchange_start(place_exchange_t *x, const uint32_t *slot_of)
{
    uint32_t n = x->q->graph->n;

    memset(x->holder, 0xff, (size_t)x->slots * sizeof(*x->holder));
    memset(x->pay, 0, (size_t)x->leaves * n * sizeof(*x->pay));
    memset(x->paid, 0, (size_t)n * sizeof(*x->paid));
    memset(x->least, 0, (size_t)n * sizeof(*x->least));
    for (uint32_t v = 0; v < n; v++) {
        x->slot_of[v] = slot_of[v];
        x->holder[slot_of[v]] = v;
    }
    for (uint32_t v = 0; v < n; v++)
        charge(x, v, UINT32_MAX, leaf_of(x, v));
}

void place_exchange_run(place_exchange_t *x)
{
    bool is_better = true;

    for (int round = 0; is_better && round < ROUNDS_MAX; round++) {
        is_better = false;
        for (uint32_t v = 0; v < x->q->graph->n; v++)
            is_better |= exchange(x, v);
    }
}

/* The slots of a placement: of each leaf the first ones. */
static void find_slots(const place_exchange_t *x, const uint32_t *answer, uint32_t *next,
                       uint32_t *slot_of)
{
    for (uint32_t slot = x->slots; slot > 0; slot--)
        next[x->leaf[slot - 1]] = slot - 1;
    for (uint32_t v = 0; v < x->q->graph->n; v++)
        slot_of[v] = next[answer[v]]++;
}

xy_status_t place_exchange(const xy_problem_t *q, const uint32_t *capacity, uint32_t *answer)
{
    uint64_t n = q->graph->n, leaves = q->target->leaves;
    uint32_t *next, *slot_of;
    place_exchange_t x;
    xy_status_t st;

    if (n > PROCESSES_MAX || n * leaves > TABLE_MAX || leaves * leaves > TABLE_MAX)
        return XY_OK;
    st = place_exchange_init(&x, q, capacity, UINT32_MAX);
    next = xy_malloc(leaves * sizeof(*next));
    slot_of = xy_malloc(n * sizeof(*slot_of));
    if (st == XY_OK && next != NULL && slot_of != NULL) {
        find_slots(&x, answer, next, slot_of);
        place_exchange_start(&x, slot_of);
        place_exchange_run(&x);
        for (uint32_t v = 0; v < n; v++)
            answer[v] = leaf_of(&x, v);
    } else {
        st = XY_ENOMEM;
    }
    xy_free(next);
    xy_free(slot_of);
    place_exchange_cleanup(&x);
    return st;
}
