/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refined regression: polynomials on intervals.
 *
 *   all samples      o o o o o o o | o o o o o      one polynomial misses the first seven
 *   split            [-----------]   [-------]      each side fitted apart, and looked at again
 *   borders          [---------]   [---------]      moved to where the errors are least
 *   join                                            neighbours that one polynomial can serve
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/lapack.h"
#include "cost/outlier.h"
#include "cost/polynomial.h"
#include "cost/segment.h"

enum { PIECE_MIN = 3, SWEEPS_MAX = 8 };

typedef struct {
    size_t first, end;
    xy_interval_t model;
    double score; /* the criterion's */
} piece_t;

typedef struct {
    cost_regression_t regression;
    double threshold;
    double noise; /* relative; segment.h */
    size_t given; /* samples of different sizes, outliers too */
    long dropped;
    xy_vec_t pieces; /* of piece_t, in order */
} refinement_t;

static double error_at(const refinement_t *r, const xy_interval_t *model, size_t i)
{
    const xy_sample_t *s = &r->regression.samples[i];

    return fabs(cost_polynomial_value(model, s->x) - s->t) / s->t;
}

static double squares(const refinement_t *r, const piece_t *p)
{
    double sum = 0;

    for (size_t i = p->first; i < p->end; i++)
        sum += pow(error_at(r, &p->model, i), 2);
    return sum;
}

static piece_t fit_piece(const refinement_t *r, size_t first, size_t end)
{
    piece_t p = {.first = first, .end = end};

    cost_polynomial_fit(&r->regression, first, end, &p.model, &p.score);
    return p;
}

/* The longest run of neighbours that are missed; false: none of three or more. */
static bool find_missed(const refinement_t *r, const piece_t *p, size_t *first_p, size_t *end_p)
{
    size_t longest = 0, run = 0;

    for (size_t i = p->first; i < p->end; i++) {
        run = error_at(r, &p->model, i) > r->threshold ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            *first_p = i + 1 - run;
            *end_p = i + 1;
        }
    }
    return longest >= PIECE_MIN;
}

static double cost_of_border(const refinement_t *r, size_t first, size_t border, size_t end)
{
    piece_t left = fit_piece(r, first, border), right = fit_piece(r, border, end);

    return squares(r, &left) + squares(r, &right);
}

/* Where to cut first .. end in two: steps that halve, so that many samples take few fits. */
static size_t find_border(const refinement_t *r, size_t first, size_t end, size_t guess)
{
    size_t low = first + PIECE_MIN, high = end - PIECE_MIN, best = guess;
    size_t step = (high - low) / 32 + 1;
    double least = cost_of_border(r, first, best, end);

    for (;; step = (step + 3) / 4) {
        size_t centre = best;
        size_t from = step * 32 >= high - low || centre < low + 4 * step ? low : centre - 4 * step;
        size_t to = step * 32 >= high - low || centre + 4 * step > high ? high : centre + 4 * step;

        for (size_t at = from; at <= to; at += step) {
            double cost = cost_of_border(r, first, at, end);

            if (cost < least) {
                least = cost;
                best = at;
            }
        }
        if (step == 1)
            return best;
    }
}

/* Whether the criterion gains much from a cut in two, and has an error that is worth it. */
static bool is_cut_worth_it(const refinement_t *r, const piece_t *whole, size_t border)
{
    piece_t left = fit_piece(r, whole->first, border), right = fit_piece(r, border, whole->end);
    double apart = (double)(border - whole->first) * left.score * left.score +
                   (double)(whole->end - border) * right.score * right.score;
    double together = (double)(whole->end - whole->first) * whole->score * whole->score;

    return r->regression.criterion->gain > 0 && whole->score > r->threshold / 5 &&
           apart * r->regression.criterion->gain < together;
}

/* Find the samples of a piece to fit separately; false: none. */
static bool find_cut(const refinement_t *r, const piece_t *p, size_t *from_p, size_t *to_p)
{
    size_t border;

    if (p->end - p->first < 2 * PIECE_MIN)
        return false;
    if (find_missed(r, p, from_p, to_p))
        return true;
    if (!(r->regression.criterion->gain > 0) || !(p->score > r->threshold / 5))
        return false;
    border = find_border(r, p->first, p->end, p->first + (p->end - p->first) / 2);
    *from_p = p->first;
    *to_p = border;
    return is_cut_worth_it(r, p, border);
}

/* Fits samples [first, end) with one polynomial, or recursively with several where a run of samples
 * fits badly. */
static xy_status_t refine(refinement_t *r, size_t first, size_t end)
{
    piece_t piece = fit_piece(r, first, end);
    size_t from, to;
    xy_status_t st;

    if (!find_cut(r, &piece, &from, &to)) {
        st = xy_vec_append(&r->pieces, &piece);
        return st == XY_OK ? st : xy_fail_memory("fitting a model");
    }
    /* A rest too short to stand alone goes with the run; a run that is everything is cut where
     * that helps most. */
    if (from - first < PIECE_MIN)
        from = first;
    if (end - to < PIECE_MIN)
        to = end;
    if (from == first && to == end)
        to = find_border(r, first, end, first + (end - first) / 2);
    st = from > first ? refine(r, first, from) : XY_OK;
    if (st == XY_OK)
        st = refine(r, from, to);
    if (st == XY_OK && to < end)
        st = refine(r, to, end);
    return st;
}

/* Move each border between its neighbours until none moves. */
static void settle_borders(refinement_t *r)
{
    bool is_moving = true;

    for (int sweep = 0; is_moving && sweep < SWEEPS_MAX; sweep++) {
        is_moving = false;
        for (size_t i = 0; i + 1 < r->pieces.count; i++) {
            piece_t *a = &XY_VEC_AT(&r->pieces, piece_t, i), *b = a + 1;
            size_t border;

            if (b->end - a->first < 2 * PIECE_MIN)
                continue;
            border = find_border(r, a->first, b->end, a->end);
            if (border != a->end) {
                *a = fit_piece(r, a->first, border);
                *b = fit_piece(r, border, b->end);
                is_moving = true;
            }
        }
    }
}

static void remove_piece(refinement_t *r, size_t i)
{
    piece_t *p = &XY_VEC_AT(&r->pieces, piece_t, i);

    memmove(p, p + 1, (r->pieces.count - i - 1) * sizeof(*p));
    xy_vec_pop(&r->pieces);
}

/* Whether two pieces lessen the squares of one by more than their coefficients must gain. */
static bool pays(const refinement_t *r, const piece_t *both, const piece_t *a, const piece_t *b)
{
    double gain = squares(r, both) - squares(r, a) - squares(r, b);
    double added = a->model.degree + b->model.degree - both->model.degree + 2;

    return gain > r->noise * r->noise * log((double)r->regression.count) * added;
}

/* Join neighbours where one polynomial leaves no run of missed samples and little is lost, and
 * where two do not pay. */
static bool join_neighbours(refinement_t *r)
{
    bool is_joined = false;

    for (size_t i = 0; i + 1 < r->pieces.count;) {
        piece_t *a = &XY_VEC_AT(&r->pieces, piece_t, i), *b = a + 1;
        piece_t both = fit_piece(r, a->first, b->end);
        size_t from, to;

        if (pays(r, &both, a, b) &&
            (find_missed(r, &both, &from, &to) || is_cut_worth_it(r, &both, a->end))) {
            i++;
            continue;
        }
        *a = both;
        remove_piece(r, i + 1);
        is_joined = true;
    }
    return is_joined;
}

/* A piece that sits astride a jump: its neighbours, with one border between them, do as well. */
static bool dissolve_pieces(refinement_t *r)
{
    bool is_changed = false;

    for (size_t i = 1; i + 1 < r->pieces.count; i++) {
        piece_t *b = &XY_VEC_AT(&r->pieces, piece_t, i), *a = b - 1, *c = b + 1;
        size_t border = find_border(r, a->first, c->end, b->first);
        piece_t left = fit_piece(r, a->first, border), right = fit_piece(r, border, c->end);

        if (squares(r, &left) + squares(r, &right) > squares(r, a) + squares(r, b) + squares(r, c))
            continue;
        *a = left;
        *b = right;
        remove_piece(r, i + 1);
        is_changed = true;
    }
    return is_changed;
}

/* Copies the pieces into a fit; the caller owns it. */
static xy_status_t take_pieces(const refinement_t *r, xy_fit_t *fit_p)
{
    xy_fit_t fit = {.count = r->pieces.count, .samples = (long)r->given, .dropped = r->dropped};

    fit.intervals = xy_calloc(fit.count, sizeof(*fit.intervals));
    if (fit.intervals == NULL)
        return xy_fail_memory("fitting a model");
    for (size_t i = 0; i < fit.count; i++) {
        const xy_interval_t *model = &XY_VEC_AT(&r->pieces, piece_t, i).model;

        fit.intervals[i] = *model;
        fit.error_mean += model->error_mean * (double)model->samples / (double)r->regression.count;
        fit.error_max = fmax(fit.error_max, model->error_max);
    }
    *fit_p = fit;
    return XY_OK;
}

/* Fits one polynomial, or as many as the samples need. */
static xy_status_t compute(refinement_t *r, bool is_single, xy_fit_t *fit_p)
{
    size_t n = r->regression.count;
    xy_status_t st;

    if (is_single) {
        piece_t piece = fit_piece(r, 0, n);

        st = xy_vec_append(&r->pieces, &piece);
        return st == XY_OK ? take_pieces(r, fit_p) : xy_fail_memory("fitting a model");
    }
    st = refine(r, 0, n);
    if (st != XY_OK)
        return st;
    settle_borders(r);
    while (join_neighbours(r) || dissolve_pieces(r))
        settle_borders(r);
    return take_pieces(r, fit_p);
}

static int by_size(const void *a, const void *b)
{
    const xy_sample_t *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->t > q->t) - (p->t < q->t);
}

/* Sort, and keep the median of each size. The number that is left. */
static size_t tidy_samples(xy_sample_t *samples, size_t count)
{
    size_t kept = 0;

    qsort(samples, count, sizeof(*samples), by_size);
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i + 1; j < count && samples[j].x == samples[i].x;)
            j++;
        samples[kept++] = samples[i + (j - i - 1) / 2];
    }
    return kept;
}

/* Leave out samples that contradict their neighbours, where that is wanted, and find the noise of
 * the others. */
static xy_status_t clean_samples(refinement_t *r, xy_sample_t *samples, bool keeps_all)
{
    size_t n = r->given, kept = 0, count;
    double *x = xy_calloc(3 * n, sizeof(*x)), *t = x, *expected = x;
    bool *is_out = xy_calloc(n, sizeof(*is_out));
    xy_status_t st = x != NULL && is_out != NULL ? XY_OK : xy_fail_memory("fitting a model");

    if (st == XY_OK) {
        t += n;
        expected += 2 * n;
    }
    for (size_t i = 0; st == XY_OK && i < n; i++) {
        x[i] = samples[i].x;
        t[i] = samples[i].t;
    }
    if (st == XY_OK && !keeps_all)
        st = xy_outliers(x, t, n, is_out, &count, expected);
    for (size_t i = 0; st == XY_OK && i < n; i++)
        /* The ends are the range of the model: they stay, with what their neighbours say. */
        if (!is_out[i] || i == 0 || i + 1 == n) {
            samples[kept] = samples[i];
            samples[kept].t = t[kept] = is_out[i] ? expected[i] : t[i];
            x[kept++] = x[i];
            r->dropped += is_out[i];
        } else {
            r->dropped++;
        }
    r->regression.count = kept;
    if (st == XY_OK)
        st = cost_noise(x, t, kept, r->threshold / 5, false, &r->noise);
    xy_free(x);
    xy_free(is_out);
    return st;
}

/* Checks the samples and the name of the criterion. */
static xy_status_t check(const xy_sample_t *samples, size_t count, const xy_fit_options_t *options)
{
    if (count == 0)
        return xy_fail(XY_EINVAL, "there are no samples to fit a model to");
    for (size_t i = 0; i < count; i++)
        if (!(samples[i].x > 0 && samples[i].t > 0) || !isfinite(samples[i].x) ||
            !isfinite(samples[i].t))
            return xy_fail(XY_EINVAL, "sample %zu (size %g, %g s) is not positive", i + 1,
                           samples[i].x, samples[i].t);
    if (cost_criterion_find(options->criterion) == NULL)
        return xy_fail(XY_EINVAL, "unknown criterion '%s'; use relative, adjusted or r2",
                       options->criterion);
    return XY_OK;
}

xy_status_t xy_fit_compute(const xy_sample_t *samples, size_t count,
                           const xy_fit_options_t *options, xy_fit_t *fit_p)
{
    refinement_t r = {.pieces = XY_VEC_INIT(piece_t)};
    xy_sample_t *sorted = NULL;
    xy_status_t st = check(samples, count, options);

    if (st == XY_OK)
        st = cost_lapack_load();
    if (st != XY_OK)
        return st;
    sorted = xy_calloc(count, sizeof(*sorted));
    r.regression.work = xy_calloc(cost_polynomial_work(count), sizeof(double));
    if (sorted == NULL || r.regression.work == NULL) {
        st = xy_fail_memory("fitting a model");
    } else {
        memcpy(sorted, samples, count * sizeof(*sorted));
        r.given = r.regression.count = tidy_samples(sorted, count);
        r.regression.samples = sorted;
        r.regression.criterion = cost_criterion_find(options->criterion);
        r.regression.degree_max = options->degree_max == 0  ? XY_FIT_DEGREE_MAX
                                  : options->degree_max < 0 ? 0
                                                            : options->degree_max;
        r.threshold = options->threshold > 0 ? options->threshold : 0.05;
        /* A single polynomial was requested, of everything. */
        st = clean_samples(&r, sorted, options->is_single);
        if (st == XY_OK)
            st = compute(&r, options->is_single, fit_p);
    }
    xy_vec_cleanup(&r.pieces);
    xy_free(r.regression.work);
    xy_free(sorted);
    return st;
}

void xy_fit_cleanup(xy_fit_t *fit)
{
    xy_free(fit->intervals);
    *fit = (xy_fit_t){0};
}
