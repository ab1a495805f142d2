/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPIPP: from a random placement, processes change places in pairs as long as some exchange makes
 * it cheaper; the best of several starts (--restarts: MPIPP1, MPIPP5, ...).
 *                                                     Cost = O(restarts * rounds * p^2 * degree)
 */
#include <string.h>

#include "place/strategy.h"
#include "place/strategy_internal.h"

enum { ROUNDS_MAX = 60 };

typedef struct {
    const xy_problem_t *q;
    uint32_t slots;
    uint32_t *leaf;   /* of each slot */
    uint32_t *holder; /* process in each slot; UINT32_MAX: free */
    uint32_t *slot_of;
} state_t;

static double distance(const xy_problem_t *q, uint32_t a, uint32_t b)
{
    return q->objective == XY_OBJECTIVE_HOPS ? xy_target_hops(q->target, a, b)
                                             : xy_target_weighted(q->target, a, b);
}

/* What v would save by going to `leaf` while `but` comes to where v is. */
static double saving(const state_t *s, uint32_t v, uint32_t leaf, uint32_t but)
{
    const place_graph_t *g = s->q->graph;
    uint32_t here = s->leaf[s->slot_of[v]];
    double sum = 0;

    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
        uint32_t other = s->leaf[s->slot_of[g->to[k]]];

        if (g->to[k] != but)
            sum += g->w[k] * (distance(s->q, here, other) - distance(s->q, leaf, other));
    }
    return sum;
}

/* The best exchange of process v with any slot; makes it when it saves something. */
static bool exchange(state_t *s, uint32_t v)
{
    uint32_t from = s->slot_of[v], best = from, other;
    double most = 0;

    for (uint32_t slot = 0; slot < s->slots; slot++) {
        double sum;

        other = s->holder[slot];
        if (s->leaf[slot] == s->leaf[from])
            continue;
        sum = saving(s, v, s->leaf[slot], other);
        if (other != UINT32_MAX)
            sum += saving(s, other, s->leaf[from], v);
        if (sum > most * (1 + 1e-9) + 1e-9) {
            most = sum;
            best = slot;
        }
    }
    if (best == from)
        return false;
    other = s->holder[best];
    s->holder[best] = v;
    s->holder[from] = other;
    s->slot_of[v] = best;
    if (other != UINT32_MAX)
        s->slot_of[other] = from;
    return true;
}

static double cost_of(const state_t *s)
{
    const place_graph_t *g = s->q->graph;
    double sum = 0;

    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
            sum += g->w[k] * distance(s->q, s->leaf[s->slot_of[v]], s->leaf[s->slot_of[g->to[k]]]);
    return sum;
}

static void start(state_t *s, uint64_t *random, uint32_t *order)
{
    place_shuffle(order, s->slots, random);
    memset(s->holder, 0xff, (size_t)s->slots * sizeof(*s->holder));
    for (uint32_t v = 0; v < s->q->graph->n; v++) {
        s->slot_of[v] = order[v];
        s->holder[order[v]] = v;
    }
}

static void search(state_t *s, uint32_t *order, uint32_t *leaf_of)
{
    uint64_t random = s->q->seed;
    double least = 0;

    for (uint32_t i = 0; i < s->q->restarts; i++) {
        double cost;
        bool is_better = true;

        start(s, &random, order);
        for (int round = 0; is_better && round < ROUNDS_MAX; round++) {
            is_better = false;
            for (uint32_t v = 0; v < s->q->graph->n; v++)
                is_better |= exchange(s, v);
        }
        cost = cost_of(s);
        if (i > 0 && cost >= least)
            continue;
        least = cost;
        for (uint32_t v = 0; v < s->q->graph->n; v++)
            leaf_of[v] = s->leaf[s->slot_of[v]];
    }
}

/* Slots that are worth trying: with many more leaves than processes, twice as many as needed. */
static uint32_t count_slots(const xy_problem_t *q)
{
    uint64_t all = 0, wanted = (uint64_t)2 * q->graph->n + 64;

    for (uint32_t leaf = 0; leaf < q->target->leaves; leaf++)
        all += q->capacity[leaf];
    return (uint32_t)(all < wanted ? all : wanted);
}

static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    state_t s = {.q = q, .slots = count_slots(q)};
    uint32_t *order = xy_malloc((size_t)s.slots * sizeof(*order));
    xy_status_t st = XY_ENOMEM;

    s.leaf = xy_malloc((size_t)s.slots * sizeof(*s.leaf));
    s.holder = xy_malloc((size_t)s.slots * sizeof(*s.holder));
    s.slot_of = xy_malloc((size_t)q->graph->n * sizeof(*s.slot_of));
    if (order != NULL && s.leaf != NULL && s.holder != NULL && s.slot_of != NULL) {
        uint32_t slot = 0;

        for (uint32_t leaf = 0; leaf < q->target->leaves; leaf++)
            for (uint32_t k = 0; k < q->capacity[leaf] && slot < s.slots; k++)
                s.leaf[slot++] = leaf;
        search(&s, order, leaf_of);
        st = XY_OK;
    }
    xy_free(order);
    xy_free(s.leaf);
    xy_free(s.holder);
    xy_free(s.slot_of);
    return st;
}

const xy_strategy_t place_strategy_mpipp = {
    .name = "mpipp",
    .describe = "pairwise exchanges from random starts, the best of several",
    .limit = 1024,
    .needs_matrix = true,
    .place = place,
};
