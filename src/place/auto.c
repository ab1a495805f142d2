/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Auto: the cheapest answer of several strategies, made cheaper by exchanges.
 *
 * Multisection comes first. Up to ALL_MAX processes every other strategy is asked too, so that no
 * choice of the user is better than this one. Beyond, those that need no matrix are asked; the
 * others, which take longer than multisection, only where they can win: with cores to spare, with
 * several processes on a core, on a tree that is not regular or not cut into even parts, or when
 * the best answer so far is hardly better than a random one.
 *                                                    Cost = the sum of those that are asked
 */
#include <string.h>

#include "place/balance.h"
#include "place/exchange.h"
#include "place/strategy_internal.h"

enum { ALL_MAX = 4096 };

/* Patterns that can be cut well cost less than this part of a random placement. On others, such as
 * random graphs, exchanges matter more than cuts, and treematch makes more of them. */
#define CUTS_WELL 0.3

typedef struct {
    const xy_problem_t *q;
    uint32_t *answer, *trial, *count;
    double heaviest, cost; /* of the answer: the leaf with most work, 0 without loads */
    double random;         /* cost of a random placement */
    const char *winner;
} contest_t;

/* Work of the leaf that has most; place_balance() has seen to it, but may have to give up. */
static double heaviest_of(const xy_problem_t *q, const uint32_t *leaf_of, double *carried)
{
    double most = 0;

    memset(carried, 0, (size_t)q->target->leaves * sizeof(*carried));
    for (uint32_t v = 0; v < q->n; v++) {
        carried[leaf_of[v]] += q->load[v];
        most = carried[leaf_of[v]] > most ? carried[leaf_of[v]] : most;
    }
    return most;
}

/* Balance the trial as every answer is balanced in the end. */
static xy_status_t weigh(const contest_t *c, double *heaviest_p)
{
    double *carried;
    xy_status_t st;

    *heaviest_p = 0;
    if (c->q->load == NULL)
        return XY_OK;
    st = place_balance(c->q, c->q->load, c->trial);
    carried = st == XY_OK ? xy_malloc((size_t)c->q->target->leaves * sizeof(*carried)) : NULL;
    if (carried == NULL)
        return XY_ENOMEM;
    *heaviest_p = heaviest_of(c->q, c->trial, carried);
    xy_free(carried);
    return XY_OK;
}

/* Is the trial the better one? A twentieth more work on the heaviest leaf is what balancing allows;
 * within that the cost decides. */
static xy_status_t judge(contest_t *c, const char *name)
{
    double heaviest, cost;
    xy_status_t st = weigh(c, &heaviest);
    bool is_lighter, is_heavier;

    if (st != XY_OK)
        return st;
    cost = place_cost(c->q, c->trial);
    if (name == place_strategy_random.name)
        c->random = cost;
    is_lighter = 1.05 * heaviest < c->heaviest;
    is_heavier = heaviest > 1.05 * c->heaviest;
    if (c->winner == NULL || is_lighter || (!is_heavier && cost < c->cost)) {
        memcpy(c->answer, c->trial, (size_t)c->q->n * sizeof(*c->answer));
        c->cost = cost;
        c->heaviest = heaviest;
        c->winner = name;
    }
    return XY_OK;
}

static xy_status_t ask(contest_t *c, const xy_strategy_t *s)
{
    xy_problem_t q = *c->q;
    xy_status_t st;

    if ((s->limit > 0 && q.n > s->limit) || !xy_strategy_is_available(s))
        return XY_OK;
    q.is_trial = true;
    st = s->place(&q, c->trial);
    if (st == XY_EINVAL || st == XY_ELIMIT) /* a library that cannot */
        return XY_OK;
    return st == XY_OK ? judge(c, s->name) : st;
}

/* A cut into five or seven parts is made of cuts into unequal halves, and others may find better.
 */
static bool is_cut_evenly(uint32_t parts)
{
    while (parts % 2 == 0)
        parts /= 2;
    return parts <= 3;
}

/* Do all leaves run one process, and are all nodes of a level alike? Cuts of exact sizes down such
 * a tree leave nothing for others to find. */
static bool is_full_and_regular(const xy_problem_t *q)
{
    const xy_target_t *t = q->target;

    if (t->grid.dimensions > 0 || q->n != t->leaves || q->is_capacity_given)
        return false;
    for (uint32_t i = 1; i < t->nodes; i++)
        if (t->level[i] == t->level[i - 1] && t->child_count[i] != t->child_count[i - 1])
            return false;
    for (uint32_t i = 0; i < t->nodes; i++)
        if (t->child_count[i] > 0 && !is_cut_evenly(t->child_count[i]))
            return false;
    return true;
}

/* All strategies that need the matrix, or all that do not. */
static xy_status_t ask_all(contest_t *c, bool needs_matrix)
{
    xy_status_t st = XY_OK;

    for (int i = 0; st == XY_OK && xy_strategies[i] != NULL; i++) {
        const xy_strategy_t *s = xy_strategies[i];

        if (s != &place_strategy_auto && s != &place_strategy_multisection &&
            s->needs_matrix == needs_matrix)
            st = ask(c, s);
    }
    return st;
}

static xy_status_t ask_others(contest_t *c)
{
    xy_status_t st = ask_all(c, false);

    if (st == XY_OK &&
        (c->q->n <= ALL_MAX || !is_full_and_regular(c->q) || c->cost > CUTS_WELL * c->random))
        st = ask_all(c, true);
    return st;
}

/* Exchanges keep the places that are taken when cores are shared: which of them run one process
 * more is not the same for all strategies. */
static xy_status_t polish(contest_t *c)
{
    const xy_problem_t *q = c->q;
    const uint32_t *capacity = q->capacity;
    xy_status_t st;

    if (q->n > q->target->leaves && !q->is_capacity_given) {
        memset(c->count, 0, (size_t)q->target->leaves * sizeof(*c->count));
        for (uint32_t v = 0; v < q->n; v++)
            c->count[c->answer[v]]++;
        capacity = c->count;
    }
    memcpy(c->trial, c->answer, (size_t)q->n * sizeof(*c->trial));
    st = place_refine(q, capacity, q->seed, c->trial);
    if (st == XY_OK)
        st = place_exchange(q, capacity, c->trial);
    return st == XY_OK ? judge(c, c->winner) : st;
}

/* Places with the best of several strategies and improves the answer by exchanges. */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    contest_t c = {.q = q, .answer = leaf_of};
    xy_status_t st = XY_ENOMEM;

    c.trial = xy_malloc((size_t)q->n * sizeof(*c.trial));
    c.count = xy_malloc((size_t)q->target->leaves * sizeof(*c.count));
    if (c.trial != NULL && c.count != NULL)
        st = ask(&c, &place_strategy_multisection);
    if (st == XY_OK)
        st = ask_others(&c);
    if (st == XY_OK)
        st = polish(&c);
    if (st == XY_OK)
        *q->winner_p = c.winner;
    xy_free(c.trial);
    xy_free(c.count);
    return st;
}

const xy_strategy_t place_strategy_auto = {
    .name = "auto",
    .describe = "the best of multisection and the other strategies, improved by exchanges",
    .needs_matrix = true,
    .place = place,
};
