/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heaviest leaf gives: one process to a lighter leaf, or one against a lighter one. Every step
 * makes the heavier of the two leaves lighter, so that it ends.       Cost = O(steps * p * degree)
 */
#include "place/balance.h"

#include <string.h>

typedef struct {
    const xy_problem_t *q;
    const double *load;
    uint32_t *leaf_of;
    double *carried; /* by each leaf */
} state_t;

static double distance(const xy_problem_t *q, uint32_t a, uint32_t b)
{
    return q->objective == XY_OBJECTIVE_HOPS ? xy_target_hops(q->target, a, b)
                                             : xy_target_weighted(q->target, a, b);
}

/* The loss when v goes to `leaf`. */
static double loss_of(const state_t *s, uint32_t v, uint32_t leaf)
{
    const place_graph_t *g = s->q->graph;
    double sum = 0;

    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++) {
        uint32_t other = s->leaf_of[g->to[k]];

        sum += g->w[k] * (distance(s->q, leaf, other) - distance(s->q, s->leaf_of[v], other));
    }
    return sum;
}

typedef struct {
    uint32_t v, u, to; /* u UINT32_MAX: a move, no exchange */
    double score;
} choice_t;

/* Would both leaves be lighter than the heavier one is now? */
static void consider(const state_t *s, uint32_t v, uint32_t u, uint32_t to, double goal,
                     choice_t *best)
{
    double given = s->load[v] - (u != UINT32_MAX ? s->load[u] : 0);
    double here = s->carried[s->leaf_of[v]], there = s->carried[to] + given, loss;

    if (given <= 0 || there >= here)
        return;
    loss = loss_of(s, v, to) + (u != UINT32_MAX ? loss_of(s, u, s->leaf_of[v]) : 0);
    /* Overload that remains weighs more than any distance. */
    loss +=
        1e9 * ((there > goal ? there - goal : 0) + (here - given > goal ? here - given - goal : 0));
    if (best->v == UINT32_MAX || loss < best->score)
        *best = (choice_t){v, u, to, loss};
}

/* Moves or exchanges one process of the heaviest leaf at the least cost; returns false if nothing
 * helps. */
static bool relieve(state_t *s, uint32_t heavy, double goal)
{
    uint32_t n = s->q->graph->n;
    choice_t best = {UINT32_MAX, 0, 0, 0};

    for (uint32_t v = 0; v < n; v++) {
        if (s->leaf_of[v] != heavy)
            continue;
        for (uint32_t leaf = 0; leaf < s->q->target->leaves; leaf++)
            if (leaf != heavy)
                consider(s, v, UINT32_MAX, leaf, goal, &best);
        for (uint32_t u = 0; u < n; u++)
            if (s->leaf_of[u] != heavy)
                consider(s, v, u, s->leaf_of[u], goal, &best);
    }
    if (best.v == UINT32_MAX)
        return false;
    s->carried[heavy] -= s->load[best.v];
    s->carried[best.to] += s->load[best.v];
    s->leaf_of[best.v] = best.to;
    if (best.u != UINT32_MAX) {
        s->carried[best.to] -= s->load[best.u];
        s->carried[heavy] += s->load[best.u];
        s->leaf_of[best.u] = heavy;
    }
    return true;
}

static double goal_of(const state_t *s)
{
    double sum = 0, most = 0, mean;

    for (uint32_t v = 0; v < s->q->graph->n; v++) {
        sum += s->load[v];
        if (s->load[v] > most)
            most = s->load[v];
    }
    mean = 1.05 * sum / s->q->target->leaves;
    return mean > most ? mean : most;
}

xy_status_t place_balance(const xy_problem_t *q, const double *load, uint32_t *leaf_of)
{
    state_t s = {q, load, leaf_of, NULL};
    uint32_t leaves = q->target->leaves;
    double goal;

    if (q->graph->n <= leaves)
        return XY_OK;
    s.carried = xy_calloc(leaves, sizeof(*s.carried));
    if (s.carried == NULL)
        return XY_ENOMEM;
    for (uint32_t v = 0; v < q->graph->n; v++)
        s.carried[leaf_of[v]] += load[v];
    goal = goal_of(&s);
    for (uint32_t steps = 0; steps < 4 * q->graph->n; steps++) {
        uint32_t heavy = 0;

        for (uint32_t i = 1; i < leaves; i++)
            if (s.carried[i] > s.carried[heavy])
                heavy = i;
        if (s.carried[heavy] <= goal || !relieve(&s, heavy, goal))
            break;
    }
    xy_free(s.carried);
    return XY_OK;
}
