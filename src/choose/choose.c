/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision, from the estimates and from what trials have lost so far. */
#include <math.h>
#include <string.h>

#include "choose/choose_internal.h"

static bool is_usable(const xy_choose_t *q, size_t i)
{
    return i < q->count && !isinf(q->candidates[i].predicted);
}

/* Checks that predicted times are positive and that an alternative can be used. */
static xy_status_t check(const xy_choose_t *q)
{
    bool has_any = false;

    for (size_t i = 0; i < q->count; i++) {
        if (!(q->candidates[i].predicted > 0))
            return xy_fail(XY_EINVAL, "%s: the predicted time of %s is %g; it must be positive",
                           q->instance.problem, q->candidates[i].name, q->candidates[i].predicted);
        has_any = has_any || is_usable(q, i);
    }
    return has_any ? XY_OK
                   : xy_fail(XY_EINVAL, "%s: no alternative can be used for these parameters",
                             q->instance.problem);
}

/* ---- What was lost ---- */

/* A trial that was faster than what would have run pays for nothing: what would have run is itself
 * only an estimate. */
static void add_up(const xy_choose_t *q, xy_choice_t *c)
{
    for (size_t i = 0; q->history != NULL && i < q->history->runs.count; i++) {
        const xy_run_t *run = &XY_VEC_AT(&q->history->runs, xy_run_t, i);

        if (strcmp(run->instance.problem, q->instance.problem) != 0 ||
            strcmp(run->instance.host, q->instance.host) != 0)
            continue;
        c->measured += run->measured;
        if (run->instead > 0)
            c->spent += fmax(0, run->measured - run->instead);
    }
}

/* Whether all losses, that of this trial at its worst included, are within `loss` of the time that
 * the runs would have taken without trials. */
static bool is_affordable(const xy_choose_t *q, const xy_choice_t *c, double high, double instead)
{
    return c->spent + fmax(0, high - instead) <= q->loss * (c->measured - c->spent + instead);
}

/* ---- The choice ---- */

static size_t find_best(const xy_choose_t *q, const xy_estimate_of_t *of)
{
    size_t best = XY_CHOOSE_NONE;

    for (size_t i = 0; i < q->count; i++)
        if (is_usable(q, i) && (best == XY_CHOOSE_NONE || of[i].seconds < of[best].seconds))
            best = i;
    return best;
}

/* The affordable candidate that may be the best by most: the one with the least `low`; or `safe`.
 */
static size_t find_trial(const xy_choose_t *q, const xy_estimate_of_t *of, const xy_choice_t *c,
                         size_t safe, double instead)
{
    size_t trial = safe;

    if (q->is_settled)
        return safe;
    for (size_t i = 0; i < q->count; i++)
        if (i != safe && is_usable(q, i) && is_affordable(q, c, of[i].high, instead) &&
            of[i].low < (trial == safe ? of[safe].seconds : of[trial].low))
            trial = i;
    return trial;
}

/* The affordable candidate of the least estimate; or the reference. */
static size_t find_better(const xy_choose_t *q, const xy_estimate_of_t *of, const xy_choice_t *c,
                          double instead)
{
    size_t better = q->reference;

    for (size_t i = 0; i < q->count; i++)
        if (i != q->reference && is_usable(q, i) && of[i].seconds < of[better].seconds &&
            is_affordable(q, c, of[i].high, instead))
            better = i;
    return better;
}

static void choose_free(const xy_choose_t *q, const xy_estimate_of_t *of, xy_choice_t *c)
{
    double instead = of[c->best].seconds;

    c->chosen = find_trial(q, of, c, c->best, instead);
    c->is_trial = c->chosen != c->best;
    c->instead = c->is_trial ? instead : 0;
}

/* The reference may be faster than it is estimated to be, also when it was measured with other
 * parameters. */
static void choose_against(const xy_choose_t *q, const xy_estimate_of_t *of, xy_choice_t *c)
{
    const xy_estimate_of_t *reference = &of[q->reference];
    double instead = reference->low;
    size_t better = find_better(q, of, c, instead);

    c->chosen = find_trial(q, of, c, better, instead);
    c->is_trial = c->chosen != q->reference;
    c->instead = c->is_trial ? instead : 0;
}

/* That the best is better than each of the others, as if they were independent. */
static double how_sure(const xy_choose_t *q, const xy_estimate_of_t *of, size_t best)
{
    double sure = 1, own = of[best].deviation;

    for (size_t i = 0; i < q->count; i++) {
        double other = of[i].deviation;

        if (i != best && is_usable(q, i))
            sure *= erfc(-log(of[i].seconds / of[best].seconds) /
                         sqrt(2 * (own * own + other * other))) /
                    2;
    }
    return sure;
}

xy_status_t xy_choose(const xy_choose_t *q, xy_estimate_of_t *of, xy_choice_t *choice_p)
{
    xy_choice_t c = {0};
    xy_status_t st = check(q);

    if (st == XY_OK)
        st = choose_estimate(q, of);
    if (st != XY_OK)
        return st;
    add_up(q, &c);
    c.best = find_best(q, of);
    c.sure = how_sure(q, of, c.best);
    if (is_usable(q, q->reference))
        choose_against(q, of, &c);
    else
        choose_free(q, of, &c);
    *choice_p = c;
    return XY_OK;
}
