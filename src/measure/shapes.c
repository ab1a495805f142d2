/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/shapes.h"

#include <math.h>

#include "measure/curve.h"

enum { SHAPES_MAX = 32, SHAPES_MIN = 8, AGAIN_MAX = 3 };

/* The part of the time in which all are measured once. */
static const double once = 0.6;
/* The largest ratio of two sizes; a time that is so many times what the model says is doubted. */
static const double aspect = 32, doubtful = 1.25;

typedef struct {
    const measure_shapes_t *shapes;
    xy_shape_sample_t sample[SHAPES_MAX];
    size_t count;
    double end; /* by the clock */
    uint64_t random;
} session_t;

/* Sizes of random shape with about the work of the equal size. */
static void draw(session_t *s, double equal, double *sizes)
{
    const xy_kernel_form_t *form = s->shapes->form;
    double u[XY_SIZES_MAX], mean = 0;

    for (size_t k = 0; k < form->sizes; k++) {
        u[k] = xy_random_unit(&s->random) * log(aspect) / 2;
        mean += form->work[k] * u[k] / form->degree;
    }
    for (size_t k = 0; k < form->sizes; k++)
        sizes[k] = fmax(round(equal * exp(u[k] - mean)), 1);
}

static double predicted(const session_t *s, const double *sizes)
{
    const measure_shapes_t *p = s->shapes;

    return xy_fit_value(p->cubes, xy_kernel_equal_size(NULL, p->form, sizes, p->form->sizes))
        .seconds;
}

static xy_status_t measure_one(session_t *s, xy_shape_sample_t *sample)
{
    double left = fmax(s->end - measure_now(), 0), share = once * s->shapes->seconds / SHAPES_MAX,
           t;
    xy_status_t st =
        s->shapes->measure(s->shapes->arg, sample->size, fmin(share, left + share / 4), &t);

    if (st == XY_OK && (sample->t == 0 || t < sample->t))
        sample->t = fmax(t, 1e-10);
    return st;
}

/* From small to large and back, spread by the golden ratio; what takes too long for the time that
 * is left is passed over. */
static xy_status_t measure_all(session_t *s)
{
    const xy_fit_t *cubes = s->shapes->cubes;
    double low = 1.1 * cubes->intervals[0].start,
           high = 0.9 * cubes->intervals[cubes->count - 1].end;
    xy_status_t st = XY_OK;

    for (int k = 0; k < SHAPES_MAX && st == XY_OK; k++) {
        double part = fmod(0.618034 * (k + 1), 1), left = s->end - measure_now();
        xy_shape_sample_t *sample = &s->sample[s->count];

        *sample = (xy_shape_sample_t){.is_held = s->count % 4 == 3};
        draw(s, low * pow(high / low, part), sample->size);
        if (s->count >= SHAPES_MIN && 4 * predicted(s, sample->size) > left)
            continue;
        st = measure_one(s, sample);
        s->count++;
    }
    return st;
}

/* The time of equal sizes of the same work, by the shape. */
static double model_time(const session_t *s, const xy_shape_t *shape, const double *sizes)
{
    return predicted(s, sizes) * xy_shape_ratio(shape, sizes);
}

/* Measure again what is much slower than the model of the others says. *again_p: some were. */
static xy_status_t settle(session_t *s, const xy_shape_t *shape, bool *again_p)
{
    xy_status_t st = XY_OK;

    *again_p = false;
    for (size_t i = 0; i < s->count && st == XY_OK; i++) {
        double t = s->sample[i].t;

        if (t < doubtful * model_time(s, shape, s->sample[i].size) ||
            s->end - measure_now() < 2 * model_time(s, shape, s->sample[i].size))
            continue;
        st = measure_one(s, &s->sample[i]);
        *again_p = true;
    }
    return st;
}

static xy_status_t judge(const session_t *s, const xy_shape_t *shape)
{
    measure_trust_t trust = {.samples = (long)s->count, .error_mean = shape->error_mean};
    char what[160];

    snprintf(what, sizeof(what), "shapes of %.120s", s->shapes->what);
    for (size_t i = 0; i < s->count; i++)
        if (s->sample[i].is_held)
            measure_trust_held(&trust, model_time(s, shape, s->sample[i].size), s->sample[i].t);
    return measure_trust(what, &trust);
}

xy_status_t measure_shapes_run(const measure_shapes_t *shapes, xy_shape_t *shape_p)
{
    session_t s = {.shapes = shapes, .end = measure_now() + shapes->seconds, .random = 7};
    xy_shape_t shape = {0};
    bool again = true;
    xy_status_t st = measure_all(&s);

    if (st == XY_OK)
        st = xy_shape_fit(shapes->form, shapes->cubes, s.sample, s.count, &shape);
    for (int k = 0; k < AGAIN_MAX && again && st == XY_OK; k++) {
        st = settle(&s, &shape, &again);
        xy_shape_cleanup(&shape);
        if (st == XY_OK)
            st = xy_shape_fit(shapes->form, shapes->cubes, s.sample, s.count, &shape);
    }
    if (st == XY_OK)
        st = judge(&s, &shape);
    if (st == XY_OK)
        *shape_p = shape;
    else
        xy_shape_cleanup(&shape);
    return st;
}
