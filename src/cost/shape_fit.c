/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fitting a shape. A sample of sizes x with the same work as the equal sizes s says
 *
 *   q = T(x) / T(s) = S(x) / S(s),     S = work + sum of c_j p_j
 *
 * so that  sum of c_j (p_j(x) - q p_j(s)) = (q - 1) work, which is linear in the c_j. Each equation
 * is divided by q work: what is left of it is about the relative error of the sample. The terms are
 * few, so that all sets of them are tried, and those with a negative factor are passed over.
 */
#include <math.h>
#include <string.h>

#include "cost/lapack.h"
#include "cost/shape_internal.h"

/* A larger set must lessen the error by this factor. */
static const double slack = 1.1;

typedef struct {
    const xy_kernel_form_t *form;
    size_t count;  /* equations */
    double *right; /* count */
    double *all;   /* beside_count columns of count */
    double *work;  /* the same, and count for leverages */
} equations_t;

/* Adds one sample as a row of the linear system for the factors of a shape. */
static void add_equation(equations_t *e, const xy_fit_t *cubes, const xy_shape_sample_t *s,
                         size_t row)
{
    const xy_kernel_form_t *f = e->form;
    double equal = xy_kernel_equal_size(NULL, f, s->size, f->sizes);
    const double cube[XY_SIZES_MAX] = {equal, equal, equal};
    double work = cost_shape_product(f->work, s->size, f->sizes);
    double q = s->t / fmax(xy_fit_value(cubes, equal).seconds, 1e-300);

    e->right[row] = (q - 1) / q;
    for (size_t j = 0; j < f->beside_count; j++)
        e->all[j * e->count + row] = (cost_shape_product(f->beside[j], s->size, f->sizes) -
                                      q * cost_shape_product(f->beside[j], cube, f->sizes)) /
                                     (q * work);
}

/* Solve for the terms of `set` (bits). false: they depend on each other, or one is negative. The
 * score is the root of the mean square of the errors when each sample is left out in turn. */
static bool solve(const equations_t *e, unsigned set, double factors[XY_SHAPE_TERMS_MAX],
                  double *score_p)
{
    double c[XY_SHAPE_TERMS_MAX], norm[XY_SHAPE_TERMS_MAX], sum = 0;
    double *leverage = e->work + e->form->beside_count * e->count;
    size_t terms = 0;

    memset(leverage, 0, e->count * sizeof(*leverage));
    memset(factors, 0, XY_SHAPE_TERMS_MAX * sizeof(*factors));
    for (size_t j = 0; j < e->form->beside_count; j++) {
        double *column = e->work + terms * e->count;

        if ((set >> j & 1) == 0)
            continue;
        norm[terms] = 0;
        for (size_t i = 0; i < e->count; i++)
            norm[terms] = fmax(norm[terms], fabs(e->all[j * e->count + i]));
        for (size_t i = 0; i < e->count; i++)
            column[i] = e->all[j * e->count + i] / fmax(norm[terms], 1e-300);
        terms++;
    }
    if (terms >= e->count ||
        (terms > 0 && !cost_least_squares(e->work, e->count, terms, e->right, c, leverage)))
        return false;
    for (size_t j = 0, k = 0; j < e->form->beside_count; j++) {
        if ((set >> j & 1) == 0)
            continue;
        factors[j] = c[k] / fmax(norm[k], 1e-300);
        k++;
        if (!(factors[j] > 0) || !isfinite(factors[j]))
            return false;
    }
    for (size_t i = 0; i < e->count; i++) {
        double left = e->right[i];

        for (size_t j = 0; j < e->form->beside_count; j++)
            left -= factors[j] * e->all[j * e->count + i];
        sum += pow(left / fmax(1 - leverage[i], 1e-9), 2);
    }
    *score_p = sqrt(sum / (double)e->count);
    return true;
}

static int bits_of(unsigned set)
{
    return __builtin_popcount(set);
}

/* The set of least error; a smaller one that is nearly as good is preferred. */
static void choose_terms(const equations_t *e, xy_shape_t *shape)
{
    double best[XY_SHAPE_TERMS_MAX] = {0}, trial[XY_SHAPE_TERMS_MAX], least = INFINITY;

    for (int size = 0; size <= (int)e->form->beside_count; size++) {
        double before = least;

        for (unsigned set = 0; set < 1u << e->form->beside_count; set++) {
            double score;

            if (bits_of(set) == size && solve(e, set, trial, &score) && score < least &&
                score * slack < before) {
                least = score;
                memcpy(best, trial, sizeof(best));
            }
        }
    }
    for (size_t j = 0; j < e->form->beside_count; j++)
        if (best[j] > 0) {
            xy_shape_term_t *term = &shape->term[shape->count++];

            memcpy(term->power, e->form->beside[j], sizeof(term->power));
            term->factor = best[j];
        }
}

static double error_of(const xy_shape_t *shape, const xy_fit_t *cubes, const xy_shape_sample_t *s)
{
    double equal = xy_kernel_equal_size(shape, NULL, s->size, shape->sizes);
    double t = xy_fit_value(cubes, equal).seconds * xy_shape_ratio(shape, s->size);

    return fabs(t - s->t) / s->t;
}

static double aspect_of(const xy_shape_sample_t *s, size_t sizes)
{
    double low = s->size[0], high = low;

    for (size_t i = 1; i < sizes; i++) {
        low = fmin(low, s->size[i]);
        high = fmax(high, s->size[i]);
    }
    return high / low;
}

/* Sets the errors of a shape on fitted and on held-out samples, and its largest aspect ratio. */
static void measure_errors(xy_shape_t *shape, const xy_fit_t *cubes)
{
    double held = 0, shown = 0;

    for (size_t i = 0; i < shape->sample_count; i++) {
        const xy_shape_sample_t *s = &shape->samples[i];
        double error = error_of(shape, cubes, s);

        shape->aspect = fmax(shape->aspect, aspect_of(s, shape->sizes));
        if (s->is_held) {
            shape->held_out += error;
            held++;
            continue;
        }
        shape->error_mean += error;
        shape->error_max = fmax(shape->error_max, error);
        shown++;
    }
    shape->error_mean /= fmax(shown, 1);
    shape->held_out /= fmax(held, 1);
}

/* Checks the form of a kernel and its samples. */
static xy_status_t check(const xy_kernel_form_t *form, const xy_shape_sample_t *samples,
                         size_t count)
{
    if (form == NULL || form->sizes < 2 || form->beside_count == 0 || count == 0)
        return xy_fail(XY_EINVAL, "there are no samples of several sizes to fit a shape to");
    for (size_t i = 0; i < count; i++) {
        bool is_good = samples[i].t > 0 && isfinite(samples[i].t);

        for (size_t k = 0; k < form->sizes; k++)
            is_good = is_good && samples[i].size[k] > 0 && isfinite(samples[i].size[k]);
        if (!is_good)
            return xy_fail(XY_EINVAL, "a size or the time of sample %zu is not positive", i + 1);
    }
    return XY_OK;
}

static xy_status_t start_shape(const xy_kernel_form_t *form, const xy_shape_sample_t *samples,
                               size_t count, xy_shape_t *shape)
{
    *shape = (xy_shape_t){.sizes = form->sizes, .sample_count = count};
    memcpy(shape->work, form->work, sizeof(shape->work));
    for (size_t i = 0; i < form->sizes; i++)
        snprintf(shape->name[i], sizeof(shape->name[i]), "%s", form->size_name[i]);
    shape->samples = xy_calloc(count, sizeof(*samples));
    if (shape->samples == NULL)
        return xy_fail_memory("fitting a shape");
    memcpy(shape->samples, samples, count * sizeof(*samples));
    return XY_OK;
}

xy_status_t xy_shape_fit(const xy_kernel_form_t *form, const xy_fit_t *cubes,
                         const xy_shape_sample_t *samples, size_t count, xy_shape_t *shape_p)
{
    equations_t e = {.form = form};
    xy_shape_t shape = {0};
    double *memory = NULL;
    xy_status_t st = check(form, samples, count);

    if (st == XY_OK)
        st = cost_lapack_load();
    if (st == XY_OK)
        st = start_shape(form, samples, count, &shape);
    if (st == XY_OK) {
        for (size_t i = 0; i < count; i++)
            e.count += !samples[i].is_held;
        memory = xy_calloc((e.count + 1) * (2 + 2 * form->beside_count), sizeof(*memory));
        if (memory == NULL)
            st = xy_fail_memory("fitting a shape");
    }
    if (st == XY_OK) {
        size_t row = 0;

        e.right = memory;
        e.all = e.right + e.count;
        e.work = e.all + form->beside_count * e.count;
        for (size_t i = 0; i < count; i++)
            if (!samples[i].is_held)
                add_equation(&e, cubes, &samples[i], row++);
        choose_terms(&e, &shape);
        measure_errors(&shape, cubes);
        *shape_p = shape;
    } else {
        xy_shape_cleanup(&shape);
    }
    xy_free(memory);
    return st;
}
