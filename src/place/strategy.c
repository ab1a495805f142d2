/* SPDX-License-Identifier: BSD-3-Clause */
/* Running a strategy: the problem it is given, and what its answer costs. */
#include <string.h>

#include "place/balance.h"
#include "place/strategy_internal.h"

void xy_place_destroy(xy_place_t *p)
{
    if (p == NULL)
        return;
    xy_free(p->leaf_of);
    xy_free(p);
}

/* Processes per leaf: one, or the whole shares of p / n when there are more processes. Rounding
 * goes along the leaves, so that every subtree has its share too. */
uint32_t *place_capacities(uint32_t n, const xy_target_t *t, const uint32_t *given)
{
    uint32_t *capacity = xy_malloc((size_t)t->leaves * sizeof(*capacity));

    if (capacity != NULL && given != NULL) {
        memcpy(capacity, given, (size_t)t->leaves * sizeof(*capacity));
        return capacity;
    }
    for (uint32_t i = 0; capacity != NULL && i < t->leaves; i++)
        capacity[i] =
            n <= t->leaves
                ? 1
                : (uint32_t)(((uint64_t)i + 1) * n / t->leaves - (uint64_t)i * n / t->leaves);
    return capacity;
}

static uint64_t room_of(const uint32_t *capacity, const xy_target_t *t)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < t->leaves; i++)
        sum += capacity[i];
    return sum;
}

/* Processor time: what a strategy takes does not depend on who else is using the machine. */
static xy_status_t solve(const xy_strategy_t *strategy, const xy_problem_t *q, xy_place_t *p)
{
    double begin = xy_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    xy_status_t st = XY_OK;

    if (p->n > 0)
        st = strategy->place(q, p->leaf_of);
    if (st == XY_OK && q->load != NULL)
        st = place_balance(q, q->load, p->leaf_of);
    p->seconds = xy_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    if (st == XY_ENOMEM)
        return xy_fail_memory("placing");
    return st;
}

xy_status_t xy_place_compute(const xy_matrix_t *m, const xy_target_t *t,
                             const xy_place_options_t *options, xy_place_t **place_p)
{
    xy_place_t *p = NULL;
    uint32_t *capacity = NULL;
    place_graph_t g = {0};
    const xy_strategy_t *strategy;
    xy_status_t st = xy_strategy_find(options->strategy, &strategy);

    if (st != XY_OK)
        return st;
    if (options->capacity != NULL && room_of(options->capacity, t) < m->n)
        return xy_fail(XY_EINVAL, "%u processes do not fit on leaves that may run %llu", m->n,
                       (unsigned long long)room_of(options->capacity, t));
    if (strategy->limit > 0 && m->n > strategy->limit)
        return xy_fail(XY_ELIMIT, "strategy %s takes too long for %u processes; at most %u",
                       strategy->name, m->n, strategy->limit);
    st = place_graph_build(m, options->metric, &g);
    if (st != XY_OK)
        return st;
    p = xy_calloc(1, sizeof(*p));
    capacity = place_capacities(m->n, t, options->capacity);
    if (p == NULL || capacity == NULL ||
        (p->leaf_of = xy_calloc((size_t)m->n + 1, sizeof(*p->leaf_of))) == NULL) {
        st = xy_fail_memory("placing");
    } else {
        bool is_hops = options->objective == XY_OBJECTIVE_HOPS;
        xy_problem_t q = {.n = m->n,
                          .graph = &g,
                          .target = t,
                          .capacity = capacity,
                          .is_capacity_given = options->capacity != NULL,
                          .height = is_hops ? t->hops : t->weight,
                          .objective = options->objective,
                          .seed = options->seed,
                          .restarts = options->restarts > 0 ? options->restarts : 5,
                          .load = options->load,
                          .winner_p = &p->winner,
                          .strategy = strategy};

        p->strategy = p->winner = strategy->name;
        p->n = m->n;
        st = solve(strategy, &q, p);
    }
    if (st == XY_OK)
        st = xy_place_evaluate(m, options->metric, t, p->leaf_of, &p->cost);
    place_graph_cleanup(&g);
    xy_free(capacity);
    if (st == XY_OK)
        *place_p = p;
    else
        xy_place_destroy(p);
    return st;
}
