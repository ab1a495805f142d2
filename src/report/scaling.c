/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/scaling.h"

#include <math.h>
#include <stdlib.h>

#include "report/report_internal.h"

enum { BALANCE, COMMUNICATION, SCALABILITY, FACTORS, EXTRAPOLATED = 2 };

static const xy_efficiency_t unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};

static xy_scaling_point_t *point_at(const xy_scaling_t *s, size_t i)
{
    return &XY_VEC_AT(&s->points, xy_scaling_point_t, i);
}

static double factor_of(const xy_efficiency_t *e, int factor)
{
    return factor == BALANCE         ? e->load_balance
           : factor == COMMUNICATION ? e->communication
                                     : e->scalability;
}

/* ---- Points ---- */

/* The point of a run's numbers of ranks and cores, made on first use; NULL: memory ran out. */
static xy_scaling_point_t *point_of(xy_scaling_t *s, uint32_t ranks, uint32_t cores)
{
    xy_scaling_point_t *p;

    for (size_t i = 0; i < s->points.count; i++)
        if (point_at(s, i)->ranks == ranks && point_at(s, i)->cores == cores)
            return point_at(s, i);
    p = xy_vec_push(&s->points);
    if (p != NULL)
        *p = (xy_scaling_point_t){ranks, cores, NAN, NAN, NAN, NAN, NAN, NAN, unknown};
    return p;
}

/* Add a run, as a measured one or as a prediction. Of several the shortest counts. */
static bool add_run(xy_scaling_t *s, const xy_analysis_t *a, bool is_prediction)
{
    xy_scaling_point_t *p = point_of(s, (uint32_t)a->profile->ranks.count, a->cores);

    if (p == NULL)
        return false;
    if (is_prediction)
        p->predicted = fmin(p->predicted, a->run); /* fmin ignores NAN */
    else if (!(p->run <= a->run)) {
        p->run = a->run;
        p->efficiency = a->efficiency;
        p->efficiency.scalability = a->compute; /* until the base is known */
    }
    return true;
}

static int by_ranks(const void *left, const void *right)
{
    const xy_scaling_point_t *a = left, *b = right;

    if (a->ranks != b->ranks)
        return a->ranks < b->ranks ? -1 : 1;
    return a->cores < b->cores ? -1 : a->cores > b->cores;
}

/* Efficiencies between the base and each other run. */
static void scale(xy_scaling_t *s)
{
    double first;

    qsort(s->points.data, s->points.count, sizeof(xy_scaling_point_t), by_ranks);
    while (isnan(point_at(s, s->base)->run))
        s->base++;
    first = point_at(s, s->base)->efficiency.scalability;
    for (size_t i = 0; i < s->points.count; i++) {
        xy_efficiency_t *e = &point_at(s, i)->efficiency;

        if (!isnan(point_at(s, i)->run))
            xy_efficiency_scale(e->scalability, first, e);
    }
}

/* Fill the times and speed-ups that follow from the base. */
static void complete(xy_scaling_t *s)
{
    const xy_scaling_point_t base = *point_at(s, s->base);

    for (size_t i = 0; i < s->points.count; i++) {
        xy_scaling_point_t *p = point_at(s, i);

        p->ideal_speedup = (double)p->cores / (double)base.cores;
        p->ideal = base.run / p->ideal_speedup;
        p->speedup = p->run > 0 ? base.run / p->run : NAN;
        p->predicted_speedup = p->predicted > 0 ? base.run / p->predicted : NAN;
    }
}

/* ---- Extrapolation ---- */

/* How many times more cores than the base a run has. */
static double more_cores(const xy_scaling_point_t *base, const xy_scaling_point_t *p)
{
    return fmax(0, (double)p->cores / (double)base->cores - 1);
}

/* Fit Amdahl's law, run time * n = base run * (1 + f (n - 1)), by least squares. NAN: all runs have
 * as many cores. A speed-up above the ideal is that of caches, and is taken to end: f is 0 then. */
static double fit(const xy_scaling_t *s)
{
    const xy_scaling_point_t *base = point_at(s, s->base);
    double up = 0, down = 0;

    for (size_t i = 0; i < s->points.count; i++) {
        const xy_scaling_point_t *p = point_at(s, i);
        double more = more_cores(base, p);

        if (!isnan(p->run) && base->run > 0) {
            up += more * (p->run / base->run * (more + 1) - 1);
            down += more * more;
        }
    }
    return down > 0 ? fmin(1, fmax(0, up / down)) : NAN;
}

/* Predict all points, and two further ones, each with twice the cores of the one before. */
static bool extrapolate(xy_scaling_t *s)
{
    const xy_scaling_point_t base = *point_at(s, s->base), last = *point_at(s, s->points.count - 1);

    s->serial = fit(s);
    if (isnan(s->serial) || last.cores > UINT32_MAX >> EXTRAPOLATED ||
        last.ranks > UINT32_MAX >> EXTRAPOLATED)
        return true;
    for (int k = 1; k <= EXTRAPOLATED; k++)
        if (point_of(s, last.ranks << k, last.cores << k) == NULL)
            return false;
    s->by = XY_SCALING_BY_FIT;
    for (size_t i = 0; i < s->points.count; i++) {
        xy_scaling_point_t *p = point_at(s, i);

        p->predicted = base.run * (double)base.cores / (double)p->cores *
                       (1 + s->serial * more_cores(&base, p));
    }
    return true;
}

/* ---- The finding ---- */

/* The measured point with most cores. */
static const xy_scaling_point_t *last_measured(const xy_scaling_t *s)
{
    size_t i = s->points.count - 1;

    while (isnan(point_at(s, i)->run))
        i--;
    return point_at(s, i);
}

/* The factor that falls most from the base to `p`, as text; "": none falls. */
static void describe_loss(const xy_scaling_t *s, const xy_scaling_point_t *p, char *text,
                          size_t size)
{
    static const char *const names[FACTORS] = {"load balance", "communication efficiency",
                                               "computation scalability"};
    const xy_efficiency_t *base = &point_at(s, s->base)->efficiency;
    double least = 0.995;

    *text = '\0';
    for (int f = 0; f < FACTORS; f++) {
        double from = factor_of(base, f), to = factor_of(&p->efficiency, f);

        if (to / from < least) {
            least = to / from;
            snprintf(text, size, ": %s falls most, from %.1f %% to %.1f %%", names[f], 100 * from,
                     100 * to);
        }
    }
}

static const char *ranks_of(const xy_scaling_t *s, const xy_scaling_point_t *p, char text[64])
{
    bool is_shared =
        p->ranks != p->cores || point_at(s, s->base)->ranks != point_at(s, s->base)->cores;

    if (is_shared)
        snprintf(text, 64, "%u ranks on %u core%s", p->ranks, p->cores, p->cores == 1 ? "" : "s");
    else
        snprintf(text, 64, "%u rank%s", p->ranks, p->ranks == 1 ? "" : "s");
    return text;
}

/* Put the main result into one sentence. */
static void find(xy_scaling_t *s)
{
    const xy_scaling_point_t *base = point_at(s, s->base), *last = last_measured(s),
                             *furthest = point_at(s, s->points.count - 1);
    char why[128], text[3][64];
    int n;

    describe_loss(s, last, why, sizeof(why));
    n = snprintf(s->finding, sizeof(s->finding), "%s: %.3g times as fast as %s, ideal %.3g%s",
                 ranks_of(s, last, text[0]), last->speedup, ranks_of(s, base, text[1]),
                 last->ideal_speedup, why);
    if (furthest != last && furthest->predicted > 0)
        snprintf(s->finding + n, sizeof(s->finding) - (size_t)n, "; predicted for %s: %.3g times",
                 ranks_of(s, furthest, text[2]), furthest->predicted_speedup);
}

xy_status_t xy_scaling_create(const xy_analysis_t *const *runs, size_t count,
                              xy_scaling_t **scaling_p)
{
    xy_scaling_t *s = xy_calloc(1, sizeof(*s));
    size_t real = 0;
    bool is_good = s != NULL;

    for (size_t i = 0; i < count; i++)
        real += !runs[i]->profile->is_virtual;
    if (is_good) {
        s->points = (xy_vec_t)XY_VEC_INIT(xy_scaling_point_t);
        s->program = runs[0]->profile->program;
        s->is_virtual = real == 0;
        s->by = real > 0 && real < count ? XY_SCALING_BY_MODEL : XY_SCALING_BY_NOTHING;
    }
    for (size_t i = 0; i < count && is_good; i++)
        is_good = add_run(s, runs[i], runs[i]->profile->is_virtual && real > 0);
    if (is_good) {
        scale(s);
        is_good = s->by == XY_SCALING_BY_MODEL || extrapolate(s);
    }
    if (!is_good) {
        xy_scaling_destroy(s);
        return xy_fail_memory("comparing runs");
    }
    complete(s);
    find(s);
    *scaling_p = s;
    return XY_OK;
}

void xy_scaling_destroy(xy_scaling_t *s)
{
    if (s == NULL)
        return;
    xy_vec_cleanup(&s->points);
    xy_free(s);
}
