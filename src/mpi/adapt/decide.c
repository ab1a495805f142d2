/* SPDX-License-Identifier: BSD-3-Clause */
/* Choose a plan: the candidates, and the chooser's answer. */
#include <math.h>
#include <string.h>

#include "mpi/adapt/adapt.h"

enum {
    MEASURED_MAX = 48, /* plans: the first that were tried */
    PLANS_MAX = 192,
    CALLS = 8 /* collectives whose algorithms are candidates: those that took the most time */
};

/* A forecast may be as wrong as this once there are measured times, which count then. */
#define MEASURED_ERROR 0.25

typedef struct {
    mpi_plan_t plan;
    char word[XMPI_PLAN_WORD];
} named_t;

typedef struct {
    const mpi_adapt_t *adapt;
    double base; /* the time of the default */
    named_t plans[PLANS_MAX];
    xy_candidate_t candidates[PLANS_MAX];
    xy_estimate_of_t of[PLANS_MAX];
    size_t count, measured; /* the first so many were measured; the default is 0 */
    xy_history_t history;   /* with predictions as they are made now */
} deciding_t;

/* ---- What was measured ---- */

static const xy_run_t *run_at(const mpi_adapt_t *a, size_t i)
{
    return &XY_VEC_AT(&a->history->runs, xy_run_t, i);
}

/* The mean time of the default; 0: it was not measured. */
static double find_base(const mpi_adapt_t *a, size_t *runs_p)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < a->history->runs.count; i++)
        if (strcmp(run_at(a, i)->alternative, XMPI_ADAPT_DEFAULT) == 0) {
            sum += log(run_at(a, i)->measured);
            n++;
        }
    *runs_p = n;
    return n > 0 ? exp(sum / (double)n) : 0;
}

static size_t find_plan(const deciding_t *d, const char *word)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->plans[i].word, word) == 0)
            return i;
    return XY_CHOOSE_NONE;
}

static bool may_keep(const mpi_adapt_t *a, int k)
{
    return k == 0 || (a->may_keep_cores && k < a->node_cores &&
                      (a->may_share_cores || a->ranks <= a->cores - k * a->nodes));
}

static bool is_possible(const mpi_adapt_t *a, const mpi_plan_t *p)
{
    return (!p->is_placed || a->may_place) && (!p->is_split || a->may_split) &&
           may_keep(a, p->comm_cores);
}

/* A plan is looked at once. */
static void add_plan(deciding_t *d, const mpi_plan_t *plan)
{
    named_t *n = &d->plans[d->count];

    if (d->count == PLANS_MAX || !is_possible(d->adapt, plan) || !mpi_plan_format(plan, n->word) ||
        find_plan(d, n->word) != XY_CHOOSE_NONE)
        return;
    n->plan = *plan;
    d->candidates[d->count] = mpi_forecast(d->adapt, plan, d->base);
    d->candidates[d->count].name = n->word;
    d->count++;
}

/* Add the default plan and all plans of earlier runs as candidates. */
static void add_measured(deciding_t *d)
{
    const mpi_adapt_t *a = d->adapt;
    mpi_plan_t plan = {0};

    add_plan(d, &plan);
    d->candidates[0].error = 0;
    for (size_t i = 0; i < a->history->runs.count && d->count < MEASURED_MAX; i++)
        if (mpi_plan_parse(run_at(a, i)->alternative, &plan))
            add_plan(d, &plan);
    d->measured = d->count;
    for (size_t i = 1; i < d->measured; i++)
        d->candidates[i].error = MEASURED_ERROR;
}

/* The runs, with what is predicted for them now: predictions begin with the mean time of
 * the default, which changes. Plans that are none now only count as time. */
static xy_status_t take_runs(deciding_t *d)
{
    const mpi_adapt_t *a = d->adapt;

    d->history.runs = XY_VEC_INIT(xy_run_t);
    for (size_t i = 0; i < a->history->runs.count; i++) {
        xy_run_t run = *run_at(a, i);
        size_t plan = find_plan(d, run.alternative);

        if (plan != XY_CHOOSE_NONE)
            run.predicted = d->candidates[plan].predicted;
        if (xy_vec_append(&d->history.runs, &run) != XY_OK)
            return xy_fail_memory("choosing");
    }
    return XY_OK;
}

/* ---- What else could be done ---- */

static const xy_coll_pick_t *find_pick(const mpi_plan_t *p, const xy_vjob_calls_t *c)
{
    for (size_t i = 0; i < p->pick_count; i++)
        if (p->picks[i].collective == c->collective && p->picks[i].procs == c->procs &&
            p->picks[i].step == xy_coll_step(c->bytes))
            return &p->picks[i];
    return NULL;
}

/* `plan` with another algorithm for these calls; NULL: with none of its own. */
static mpi_plan_t with_algorithm(const mpi_plan_t *plan, const xy_vjob_calls_t *c,
                                 const xy_coll_algorithm_t *algorithm)
{
    const xy_coll_pick_t *old = find_pick(plan, c);
    size_t at = old != NULL ? (size_t)(old - plan->picks) : plan->pick_count;
    mpi_plan_t p = *plan;

    if (algorithm == NULL) {
        memmove(&p.picks[at], &p.picks[at + 1], (p.pick_count - at - 1) * sizeof(p.picks[0]));
        p.pick_count--;
    } else if (at < XMPI_PLAN_PICKS) {
        p.picks[at] = (xy_coll_pick_t){c->collective, c->procs, xy_coll_step(c->bytes), algorithm};
        p.pick_count += at == p.pick_count;
    }
    return p;
}

/* Add the plans that differ in the algorithm of one call. */
static void add_algorithms(deciding_t *d, const mpi_plan_t *plan, size_t call)
{
    const xy_vjob_calls_t *c = &d->adapt->profile->calls[call];
    const mpi_ways_t *ways = &d->adapt->profile->ways[call];
    int n = (d->adapt->fixed >> c->collective & 1) == 0 ? ways->count : 0;
    mpi_plan_t p;

    if (find_pick(plan, c) != NULL) {
        p = with_algorithm(plan, c, NULL);
        add_plan(d, &p);
    }
    for (int i = 1; i < n; i++) {
        p = with_algorithm(plan, c, ways->algorithm[i]);
        add_plan(d, &p);
    }
}

static bool has_nonblocking(const mpi_profile_t *p)
{
    for (size_t i = 0; i < p->call_count; i++)
        if (p->calls[i].is_nonblocking)
            return true;
    return false;
}

/* A gain of the placement below this is not worth a run. */
#define GAIN 0.02

/* The plans that differ from this one in one thing. */
static void add_neighbours(deciding_t *d, const mpi_plan_t *plan)
{
    const mpi_profile_t *profile = d->adapt->profile;
    mpi_plan_t p = *plan;

    p.is_placed = !p.is_placed;
    if (plan->is_placed || profile->gain < 1 - GAIN)
        add_plan(d, &p);
    for (size_t i = 0; i < profile->call_count && i < CALLS; i++)
        add_algorithms(d, plan, i);
    if (!has_nonblocking(profile))
        return;
    p = *plan;
    p.is_split = !p.is_split;
    add_plan(d, &p);
    for (int k = 0; k <= 2; k++) {
        p = *plan;
        p.comm_cores = k;
        add_plan(d, &p);
    }
}

/* ---- The decision ---- */

#define LEAST_GAIN 0.002

/* A measured plan that gains next to nothing is no reason to leave the default. */
static bool is_worth_it(const deciding_t *d, const xy_choice_t *c)
{
    return d->of[c->chosen].runs == 0 ||
           d->of[c->chosen].seconds < (1 - LEAST_GAIN) * d->of[0].seconds;
}

/* Ask the chooser; a gain that is too small gives the default. */
static xy_status_t ask(deciding_t *d, bool is_settled, xy_choice_t *c)
{
    xy_choose_t q = {.instance = d->adapt->instance,
                     .candidates = d->candidates,
                     .count = d->count,
                     .history = &d->history,
                     .reference = 0,
                     .loss = XMPI_ADAPT_LOSS,
                     .noise = d->adapt->noise,
                     .is_settled = is_settled};

    xy_status_t st = xy_choose(&q, d->of, c);

    if (st == XY_OK && c->chosen != 0 && !is_worth_it(d, c)) {
        c->chosen = 0;
        c->instead = 0;
    }
    return st;
}

/* Neighbours of the best so far, whose time is better known than a formula tells. */
static void look_further(deciding_t *d, size_t best)
{
    double known = d->of[best].seconds / d->candidates[best].predicted;

    add_neighbours(d, &d->plans[best].plan);
    for (size_t i = d->measured; i < d->count; i++)
        d->candidates[i].predicted *= known;
}

/* Fill in the choice from the estimate of the chosen plan. */
static void tell(const deciding_t *d, const xy_choice_t *c, mpi_adapt_choice_t *choice)
{
    const xy_estimate_of_t *of = &d->of[c->chosen];

    choice->plan = d->plans[c->chosen].plan;
    memcpy(choice->word, d->plans[c->chosen].word, sizeof(choice->word));
    choice->predicted = d->candidates[c->chosen].predicted;
    choice->expected = of->seconds;
    choice->low = of->low;
    choice->high = of->high;
    choice->otherwise = d->of[0].seconds;
    choice->instead = c->instead;
    choice->runs = of->runs;
    choice->lost = c->spent;
    choice->measured = c->measured;
}

/* Choose a plan: the best measured one or, while learning, one that is worth a try. */
static xy_status_t decide(deciding_t *d, mpi_adapt_choice_t *choice)
{
    xy_choice_t c;
    xy_status_t st;
    size_t settled;

    add_measured(d);
    st = take_runs(d);
    if (st == XY_OK)
        st = ask(d, true, &c);
    if (st != XY_OK)
        return st;
    settled = c.chosen;
    if (d->adapt->learns && d->adapt->profile != NULL) {
        look_further(d, settled);
        st = ask(d, false, &c);
    }
    if (st == XY_OK)
        tell(d, &c, choice);
    choice->is_settled = c.chosen == settled;
    return st;
}

xy_status_t mpi_adapt_choose(const mpi_adapt_t *adapt, mpi_adapt_choice_t *choice_p)
{
    mpi_adapt_choice_t choice = {.word = XMPI_ADAPT_DEFAULT, .is_settled = true};
    double base = find_base(adapt, &choice.default_runs);
    deciding_t *d;
    xy_status_t st = XY_OK;

    if (base > 0) {
        d = xy_calloc(1, sizeof(*d));
        if (d == NULL)
            return xy_fail_memory("choosing");
        d->adapt = adapt;
        d->base = base;
        st = decide(d, &choice);
        xy_vec_cleanup(&d->history.runs);
        xy_free(d);
    }
    if (st == XY_OK)
        *choice_p = choice;
    return st;
}
