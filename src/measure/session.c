/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel: which sizes to measure, when to stop, and whether there is a model in them.
 *
 *   doubling   100      200        400        800     until a run takes the longest time
 *   between    100 . . . 200 . . . 400 . . . 800      everywhere in between, somewhat by chance: a
 *                                                     kernel's own steps must not be met each time
 *   rounds     all sizes in random order, each for a short while, again and again: a bad second of
 *              the machine meets few runs of many sizes and not all runs of one
 *   missed                  .:.                       more sizes where the model misses or jumps
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/calibrate_internal.h"
#include "measure/curve.h"
#include "measure/point.h"
#include "measure/shapes.h"

/* However little time there is, a model has so many sizes. */
static const size_t sizes_min = 3;
/* A sample says too little when its runs do not agree within `noisy`. */
static const double noisy = 0.10;
/* Sizes are added where the model misses by more than `aim`, no nearer than `near` to others. */
static const double aim = 0.02, near = 1.03;
/* A sample that was never on a quiet core, and is slower than the model of the others by this, is
 * not believed. */
static const double outlier = 0.05, restless = 0.10;

enum {
    FIRST_SIZE = 100, /* sizes double from here */
    SAMPLES_MAX = 96,
    HELD_MAX = 40,
    HELD_MIN = 6,      /* sizes that are held out in any case */
    GRID = 48,         /* so many sizes, about, before the model is asked where it misses */
    FAR_VISITS_MAX = 8 /* of a size that stands out */
};

/* One kernel being measured. */
typedef struct {
    const xy_calibration_t *c;
    measure_child_t worker;
    xy_kernel_cost_t result;
    measure_point_t points[SAMPLES_MAX]; /* by size; `paced` is a guess until the first visit */
    measure_point_t held[2 * HELD_MAX];  /* not shown to the model; each size twice */
    size_t count, held_count;
    double deadline;
    uint64_t random;
} session_t;

static bool is_paced(const session_t *s)
{
    return s->worker.options.pace.latency > 0;
}

/* xorshift64*: sizes and their order are the same each time. */
/* The reference was measured while other work was on the core: discard what depends on it. */
static void mend_reference(session_t *s, const measure_pool_t *seen)
{
    if (seen->below < 20 || seen->below < seen->looks / 100)
        return;
    s->worker.options.pace.throughput *= seen->below_ratio;
    for (size_t i = 0; i < s->count + s->held_count; i++) {
        measure_point_t *p = i < s->count ? &s->points[i] : &s->held[i - s->count];

        p->pool = (measure_pool_t){0};
        p->visits = 0;
    }
}

static xy_status_t visit(session_t *s, measure_point_t *p)
{
    double begin = measure_now(), left = fmax(s->deadline - begin, 0.01);
    xy_status_t st =
        measure_point_visit(&s->worker, p->x, fmin(measure_point_time(p->paced), left / 3), p);

    calibrate_step(s->c, measure_now() - begin);
    if (st == XY_OK && is_paced(s))
        mend_reference(s, &p->pool);
    return st;
}

/* Double from the first size; the last one is cut so that it takes about the longest time. */
static xy_status_t measure_doubling(session_t *s)
{
    double n = FIRST_SIZE, expected = 0;
    double longest = s->c->time_max > 0 ? s->c->time_max : 0.5;

    while (s->count < SAMPLES_MAX / 3) {
        measure_point_t *last = &s->points[s->count];
        double growth = 8;
        xy_status_t st;

        *last = (measure_point_t){.x = n, .paced = expected};
        st = visit(s, last);
        if (st != XY_OK)
            return st;
        s->count++;
        if (last->paced >= 0.7 * longest || n >= 1e9 ||
            (s->count >= sizes_min && measure_now() > s->deadline))
            break;
        if (s->count > 1 && last->paced > last[-1].paced)
            growth = fmin(last->paced / last[-1].paced, 64);
        expected = last->paced * growth;
        n = expected <= 1.2 * longest ? 2 * n
                                      : ceil(n * pow(longest / last->paced, log(2) / log(growth)));
    }
    return XY_OK;
}

static int by_size(const void *a, const void *b)
{
    const measure_point_t *p = a, *q = b;

    return (p->x > q->x) - (p->x < q->x);
}

/* A guess, by a power law between two sizes. */
static double guess(const measure_point_t *a, const measure_point_t *b, double x)
{
    return a->paced * pow(x / a->x, log(b->paced / a->paced) / log(b->x / a->x));
}

/* The first size from x on that is neither one of `count` points nor held out. */
static double next_free(const session_t *s, double x, size_t count)
{
    for (size_t i = 0; i < count + s->held_count; i++)
        if ((i < count ? s->points[i].x : s->held[i - count].x) == x) {
            x++;
            i = (size_t)-1;
        }
    return x;
}

/* A size between those of points i and i + 1, put at the end; not when they are too close. */
static void add_between(session_t *s, size_t i, double part, size_t *end_p)
{
    const measure_point_t *a = &s->points[i], *b = a + 1;
    double x = next_free(s, round(a->x * pow(b->x / a->x, part)), *end_p);

    if (*end_p >= SAMPLES_MAX || x < near * a->x || b->x < near * x)
        return;
    s->points[*end_p] = (measure_point_t){.x = x, .paced = guess(a, b, x)};
    ++*end_p;
}

static void sort_in(session_t *s, size_t end)
{
    s->count = end;
    qsort(s->points, s->count, sizeof(*s->points), by_size);
}

/* Beside the ends of the range there is nothing on the other side to hold the model, and the first
 * size is a round number, at which kernels like to be fast. */
static void add_ends(session_t *s, size_t *end_p)
{
    const measure_point_t *low = s->points, *high = low + s->count - 1;
    const double sizes[] = {low->x + 1, low->x + 2, low->x + 3, round(0.98 * high->x)};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && *end_p < SAMPLES_MAX; i++)
        if (sizes[i] > low->x && sizes[i] < high->x && next_free(s, sizes[i], *end_p) == sizes[i])
            s->points[(*end_p)++] = (measure_point_t){
                .x = sizes[i], .paced = i < 3 ? guess(low, low + 1, sizes[i]) : high->paced};
}

/* More of them at small sizes, where a kernel's own steps (remainders of its blocks) are large
 * against the whole, and a run costs little. */
static void add_grid(session_t *s)
{
    size_t gaps = s->count - 1, end = s->count;
    double sum = 0;

    if (gaps == 0)
        return;
    for (size_t i = 0; i < gaps; i++)
        sum += 1 / sqrt((double)i + 1);
    for (size_t i = 0; i < gaps; i++) {
        size_t parts = (size_t)fmax(round(GRID / sum / sqrt((double)i + 1)), 2);

        for (size_t k = 1; k < parts; k++)
            add_between(s, i, ((double)k + xy_random_unit(&s->random) / 4) / (double)parts, &end);
    }
    add_ends(s, &end);
    sort_in(s, end);
}

/* Sizes that the model will not see, spread over the range by the golden ratio. */
static void add_held(session_t *s)
{
    size_t wanted = s->c->held_out != NULL ? s->c->held_out_count : 0;

    wanted = wanted < HELD_MIN ? HELD_MIN : wanted < HELD_MAX ? wanted : HELD_MAX;
    for (size_t k = 0; k < wanted && s->count > 1; k++) {
        double low = s->points[0].x, high = s->points[s->count - 1].x;
        double part = ((double)k + fmod(0.618034 * (double)k, 1)) / (double)wanted;
        double x = fmin(round(low * pow(high / low, part)), high - 1);
        size_t i = 0;

        x = next_free(s, x, s->count);
        while (i + 2 < s->count && s->points[i + 1].x < x)
            i++;
        for (int twice = 0; twice < 2; twice++)
            s->held[s->held_count++] =
                (measure_point_t){.x = x, .paced = guess(&s->points[i], &s->points[i + 1], x)};
    }
}

static xy_status_t fit(const session_t *s, bool by_pace, xy_fit_t *fit_p)
{
    const xy_fit_options_t options = {.criterion = s->c->criterion};
    xy_sample_t samples[SAMPLES_MAX] = {{0}};
    size_t n = 0;

    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].visits > 0)
            samples[n++] = measure_point_sample(&s->points[i], by_pace);
    return xy_fit_compute(samples, n, &options, fit_p);
}

static double miss_of(const measure_point_t *p, const xy_fit_t *model)
{
    return fabs(xy_fit_value(model, p->x).seconds - p->paced) / p->paced;
}

/* Whether the model jumps between points i and i + 1. */
static bool is_jump(const session_t *s, size_t i, const xy_fit_t *model)
{
    double x = s->points[i].x, above = x * (1 + 1e-9);
    double left = xy_fit_value(model, x).seconds, right = xy_fit_value(model, above).seconds;

    return fabs(right - left) > aim * fmin(left, right);
}

/* The middles of the gaps beside points that the model misses, and of those in which it jumps. */
static xy_status_t add_missed(session_t *s)
{
    size_t end = s->count;
    bool was_missed = false;
    xy_fit_t model;
    xy_status_t st = fit(s, true, &model);

    if (st != XY_OK)
        return st;
    for (size_t i = 0; i + 1 < s->count; i++) {
        const measure_point_t *p = &s->points[i], *q = p + 1;
        bool is_missed = q->visits > 0 && miss_of(q, &model) > fmax(aim, 2 * q->error);

        if ((was_missed || is_missed || is_jump(s, i, &model)) &&
            4 * q->paced < s->deadline - measure_now())
            add_between(s, i, 0.5 + xy_random_unit(&s->random) / 8, &end);
        was_missed = is_missed;
    }
    xy_fit_cleanup(&model);
    sort_in(s, end);
    return XY_OK;
}

/* One that stands out is measured again before it is believed. */
static bool wants_visit(const session_t *s, const measure_point_t *p, const xy_fit_t *model)
{
    return p->visits == 0 || measure_point_is_doubtful(p, is_paced(s)) ||
           (model->count > 0 && p->visits < FAR_VISITS_MAX && miss_of(p, model) > 2 * aim);
}

/* All points once that want it, in random order; *visited_p: how many did. */
static xy_status_t visit_round(session_t *s, const xy_fit_t *model, size_t *visited_p)
{
    size_t all = s->count + s->held_count, order[SAMPLES_MAX + 2 * HELD_MAX];
    xy_status_t st = XY_OK;

    *visited_p = 0;
    measure_random_order(order, all, &s->random);
    for (size_t i = 0; i < all && st == XY_OK; i++) {
        measure_point_t *p =
            order[i] < s->count ? &s->points[order[i]] : &s->held[order[i] - s->count];

        if (!wants_visit(s, p, model) || 1.5 * p->paced > s->deadline - measure_now())
            continue;
        st = visit(s, p);
        ++*visited_p;
    }
    return st;
}

/* Measures sizes in rounds, more where the model misses, until the deadline. */
static xy_status_t measure_rounds(session_t *s)
{
    enum { ROUNDS_OF_GRID = 2, ROUNDS_OF_MISSED = 3 };
    size_t visited = 1;
    xy_status_t st = XY_OK;

    for (int round = 0; st == XY_OK && visited > 0 && measure_now() < s->deadline; round++) {
        xy_fit_t model = {0};

        if (round >= ROUNDS_OF_GRID && round < ROUNDS_OF_GRID + ROUNDS_OF_MISSED)
            st = add_missed(s);
        if (st == XY_OK && round >= ROUNDS_OF_GRID)
            st = fit(s, true, &model);
        if (st == XY_OK)
            st = visit_round(s, &model, &visited);
        xy_fit_cleanup(&model);
    }
    return st;
}

static bool is_too_noisy(const session_t *s)
{
    size_t bad = 0, all = 0;

    for (size_t i = 0; i < s->count; i++) {
        all += s->points[i].visits > 0;
        bad += s->points[i].visits > 0 && s->points[i].spread > noisy;
    }
    return 4 * bad > all;
}

/* Leave out single samples that say nothing; too many of them, and there is no model. */
static void drop_noisy(session_t *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].visits > 0 && s->points[i].spread <= noisy)
            s->points[kept++] = s->points[i];
    s->count = kept;
}

/* Leave out samples that the others' model says are far too slow, when they never had the core to
 * themselves: sizes that really are slow (powers of two, say) are so on a quiet core too. */
static xy_status_t drop_outliers(session_t *s)
{
    xy_fit_t model;
    size_t kept = 0;
    double limit;
    xy_status_t st = fit(s, true, &model);

    if (st != XY_OK)
        return st;
    limit = fmax(outlier, 4 * model.error_mean);
    for (size_t i = 0; i < s->count; i++) {
        const measure_point_t *p = &s->points[i];

        if (p->disturbed < restless || p->paced <= (1 + limit) * xy_fit_value(&model, p->x).seconds)
            s->points[kept++] = *p;
    }
    s->count = kept;
    xy_fit_cleanup(&model);
    return XY_OK;
}

/* Fit by either clock. Arithmetic follows the pace of the core, memory and sleep do not: the clock
 * that gives the better model is the right one. */
static xy_status_t choose_clock(session_t *s, bool *by_pace_p)
{
    xy_fit_t paced, wall;
    xy_status_t st = fit(s, true, &paced);

    *by_pace_p = false;
    if (st == XY_OK && !is_paced(s))
        s->result.fit = paced;
    if (st != XY_OK || !is_paced(s))
        return st;
    st = fit(s, false, &wall);
    if (st != XY_OK) {
        xy_fit_cleanup(&paced);
        return st;
    }
    *by_pace_p = paced.error_mean <= wall.error_mean;
    s->result.fit = *by_pace_p ? paced : wall;
    xy_fit_cleanup(*by_pace_p ? &wall : &paced);
    return XY_OK;
}

/* The held-out samples, for the caller. */
static xy_status_t hand_over(const session_t *s, bool by_pace)
{
    for (size_t i = 0; i + 1 < s->held_count; i += 2) {
        const measure_point_t *a = &s->held[i], *b = a + 1;
        xy_held_out_t held = {.x = a->x,
                              .t = measure_point_sample(a, by_pace).t,
                              .again = measure_point_sample(b, by_pace).t};

        if (s->c->held_out != NULL && a->visits > 0 && b->visits > 0 &&
            xy_vec_append(s->c->held_out, &held) != XY_OK)
            return xy_fail_memory("storing samples");
    }
    return XY_OK;
}

/* Compare the model with the sizes that were held out, with the faster of both turns: the model is
 * of an undisturbed run. */
static xy_status_t judge(session_t *s, bool by_pace)
{
    xy_kernel_cost_t *k = &s->result;
    measure_trust_t trust = {
        .samples = k->fit.samples, .dropped = k->fit.dropped, .error_mean = k->fit.error_mean};
    char what[128];

    for (size_t i = 0; i + 1 < s->held_count; i += 2) {
        const measure_point_t *a = &s->held[i], *b = a + 1;
        double t = a->visits > 0 ? measure_point_sample(a, by_pace).t : INFINITY;

        t = b->visits > 0 ? fmin(t, measure_point_sample(b, by_pace).t) : t;
        if (isfinite(t))
            measure_trust_held(&trust, xy_fit_value(&k->fit, a->x).seconds, t);
    }
    k->held_out = trust.held_sum / fmax((double)trust.held, 1);
    k->held_count = trust.held;
    snprintf(what, sizeof(what), "kernel %.100s", k->name);
    return measure_trust(what, &trust);
}

/* Drops noisy samples, chooses the clock and fits the model; XY_EINVAL if it is too noisy. */
static xy_status_t conclude(session_t *s)
{
    xy_kernel_cost_t *k = &s->result;
    bool by_pace;
    xy_status_t st;

    if (is_too_noisy(s))
        return xy_fail(
            XY_EINVAL,
            "too noisy: kernel %s (runs of the same size differ, for more than a quarter "
            "of its sizes), run again on a quiet machine",
            k->name);
    drop_noisy(s);
    st = drop_outliers(s);
    if (st == XY_OK)
        st = choose_clock(s, &by_pace);
    if (st != XY_OK)
        return st;
    k->samples = xy_calloc(s->count, sizeof(*k->samples));
    k->clock = xy_strdup(by_pace ? XY_CLOCK_PACED : XY_CLOCK_WALL);
    if (k->samples == NULL || k->clock == NULL)
        return xy_fail_memory("storing samples");
    for (size_t i = 0; i < s->count; i++)
        k->samples[i] = measure_point_sample(&s->points[i], by_pace);
    k->sample_count = s->count;
    st = judge(s, by_pace);
    return st == XY_OK ? hand_over(s, by_pace) : st;
}

/* ---- Several sizes ---- */

typedef struct {
    session_t *s;
    bool by_pace;
} shapes_arg_t;

/* Measures a kernel at several sizes; a callback. */
static xy_status_t measure_shape(void *arg, const double *sizes, double seconds, double *t_p)
{
    const shapes_arg_t *a = arg;
    double begin = measure_now();
    measure_pool_t pool;
    measure_time_t m;
    xy_status_t st = measure_child_measure_sizes(
        &a->s->worker, sizes, xy_kernel_form(a->s->result.name)->sizes, seconds, &pool);

    calibrate_step(a->s->c, measure_now() - begin);
    if (st != XY_OK)
        return st;
    m = measure_pool_sum(&pool);
    *t_p = a->by_pace ? m.paced : m.seconds;
    return XY_OK;
}

/* The part of the time of a kernel that its shapes get; 0: it has none. */
static double shapes_share(const measure_child_options_t *options)
{
    const xy_kernel_form_t *form = options->symbol == NULL ? xy_kernel_form(options->name) : NULL;

    return form != NULL && form->beside_count > 0 ? 0.3 : 0;
}

/* Shapes that are too noisy leave the model of equal sizes as it is. EINVAL: they were reported. */
static xy_status_t measure_shapes(session_t *s, double seconds)
{
    xy_kernel_cost_t *k = &s->result;
    shapes_arg_t arg = {.s = s, .by_pace = strcmp(k->clock, XY_CLOCK_PACED) == 0};
    char what[128];
    const measure_shapes_t shapes = {.what = what,
                                     .form = xy_kernel_form(k->name),
                                     .cubes = &k->fit,
                                     .measure = measure_shape,
                                     .arg = &arg,
                                     .seconds = seconds};

    snprintf(what, sizeof(what), "kernel %.100s", k->name);
    return measure_shapes_run(&shapes, &k->shape);
}

/* Sets name, cluster, library and criterion of the result. */
static xy_status_t name_result(session_t *s, const measure_child_options_t *options)
{
    xy_kernel_cost_t *k = &s->result;

    k->name = xy_strdup(options->name);
    k->cluster = xy_strdup(s->c->cluster != NULL ? s->c->cluster : XY_COSTS_LOCAL);
    k->unit = xy_strdup("n");
    k->library = xy_strdup(s->worker.library);
    k->criterion = xy_strdup(s->c->criterion != NULL ? s->c->criterion : xy_fit_criteria()[0]);
    k->threads = options->threads;
    return k->name != NULL && k->cluster != NULL && k->unit != NULL && k->library != NULL &&
                   k->criterion != NULL
               ? XY_OK
               : xy_fail_memory("storing a model");
}

/* However little time there is, some of those that are held out are measured: before the others. */
static xy_status_t visit_held(session_t *s)
{
    enum { FIRST = 3 };
    xy_status_t st = XY_OK;

    for (size_t k = 0; k < FIRST && st == XY_OK && s->held_count > 0; k++)
        st = visit(s, &s->held[2 * (k * (s->held_count / 2 - 1) / FIRST)]);
    return st;
}

static xy_status_t measure_all(session_t *s)
{
    xy_status_t st = measure_doubling(s);

    if (st != XY_OK)
        return st;
    add_grid(s);
    add_held(s);
    st = visit_held(s);
    return st == XY_OK ? measure_rounds(s) : st;
}

/* Measure with the process that runs the kernel; the result may be without shapes, *shapes_p. */
static xy_status_t measure_kernel(session_t *s, const measure_child_options_t *options,
                                  double seconds, xy_status_t *shapes_p)
{
    double share = shapes_share(options);
    xy_status_t st = name_result(s, options);

    s->deadline = measure_now() + (1 - share) * seconds;
    if (st == XY_OK)
        st = measure_all(s);
    if (st == XY_OK)
        st = conclude(s);
    if (st == XY_OK && share > 0)
        *shapes_p = measure_shapes(s, share * seconds);
    return *shapes_p == XY_OK || *shapes_p == XY_EINVAL ? st : *shapes_p;
}

xy_status_t calibrate_kernel(const xy_calibration_t *c, const measure_child_options_t *options,
                             double seconds, xy_costs_t *costs)
{
    session_t *s = xy_calloc(1, sizeof(*s));
    xy_status_t st, shapes = XY_OK;

    if (s == NULL)
        return xy_fail_memory("measuring");
    s->c = c;
    s->random = 1;
    st = measure_child_start(options, &s->worker);
    if (st == XY_OK) {
        st = measure_kernel(s, options, seconds, &shapes);
        measure_child_stop(&s->worker);
    }
    if (st == XY_OK && is_paced(s))
        st = calibrate_keep_pace(costs, &s->worker.options.pace);
    if (st == XY_OK) {
        calibrate_report(c, &s->result);
        st = xy_costs_set_kernel(costs, &s->result);
    }
    xy_kernel_cost_cleanup(&s->result);
    xy_free(s);
    return st == XY_OK ? shapes : st;
}
