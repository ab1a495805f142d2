/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Moments of some samples: of powers of u = (x - x[first]) / range, and of these times y -
 * y[first]. */
typedef struct {
    double u[2 * COST_SEGMENT_TERMS_MAX - 1], y[COST_SEGMENT_TERMS_MAX];
    double range;
    size_t count;
} sums_t;

typedef struct {
    const cost_points_t *points;
    bool *is_out;             /* of the segment that is looked at */
    double *price;            /* price[j]: of the best explanation of the first j samples */
    size_t *from;             /* from[j]: where its last segment begins */
    size_t least;             /* samples of a segment */
    double interval, outlier; /* prices */
} search_t;

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

xy_status_t cost_noise(const double *x, const double *t, size_t n, double least, bool has_spikes,
                       double *noise_p)
{
    /* A normal error is below 0.385 of its deviation three times in ten, below 0.674 of it in half
     * of all cases; the difference to the mean of two others has a deviation greater by the root of
     * 1.5. */
    const double part = has_spikes ? 0.3 : 0.5, most = 0.07;
    const double scale = (has_spikes ? 0.385 : 0.674) * 1.22;
    double *apart;

    *noise_p = least;
    if (n < 3)
        return XY_OK;
    apart = xy_calloc(n - 2, sizeof(*apart));
    if (apart == NULL)
        return xy_fail_memory("fitting a model");
    for (size_t i = 1; i + 1 < n; i++) {
        double share = (log(x[i]) - log(x[i - 1])) / (log(x[i + 1]) - log(x[i - 1]));

        apart[i - 1] = fabs(log(t[i]) - (1 - share) * log(t[i - 1]) - share * log(t[i + 1]));
    }
    qsort(apart, n - 2, sizeof(*apart), by_value);
    *noise_p =
        fmin(fmax(apart[(size_t)(part * (double)(n - 3))] / scale, least), fmax(most, least));
    xy_free(apart);
    return XY_OK;
}

static double weight(const cost_points_t *p, size_t i)
{
    return p->scale != NULL ? 1 / (p->scale[i] * p->scale[i]) : 1;
}

static void add(const cost_points_t *p, size_t first, size_t i, double sign, sums_t *s)
{
    double w = sign * weight(p, i), u = (p->x[i] - p->x[first]) / s->range;
    double y = p->y[i] - p->y[first];

    for (int k = 0; k < 2 * p->terms - 1; k++, w *= u) {
        s->u[k] += w;
        if (k < p->terms)
            s->y[k] += w * y;
    }
    s->count += sign > 0 ? 1 : (size_t)-1;
}

/* Gauss without pivots: the matrix is symmetric and positive. The number of terms that could be
 * told apart. */
static int solve(const sums_t *s, int terms, double c[COST_SEGMENT_TERMS_MAX])
{
    double m[COST_SEGMENT_TERMS_MAX][COST_SEGMENT_TERMS_MAX + 1];

    for (int i = 0; i < terms; i++) {
        for (int k = 0; k < terms; k++)
            m[i][k] = s->u[i + k];
        m[i][terms] = s->y[i];
    }
    for (int i = 0; i < terms; i++) {
        if (!(m[i][i] > 1e-11 * s->u[2 * i]))
            return i;
        for (int r = i + 1; r < terms; r++)
            for (int k = terms; k >= i; k--)
                m[r][k] -= m[r][i] / m[i][i] * m[i][k];
    }
    for (int i = terms; i-- > 0;) {
        c[i] = m[i][terms];
        for (int k = i + 1; k < terms; k++)
            c[i] -= m[i][k] * c[k];
        c[i] /= m[i][i];
    }
    return terms;
}

/* Returns the least-squares curve of points [first, end); lines never fall. */
static cost_segment_t curve_of(const cost_points_t *p, const sums_t *s, size_t first, size_t end)
{
    cost_segment_t g = {.first = first, .end = end};
    int terms = (int)s->count < p->terms ? (int)s->count : p->terms;

    for (int told; terms > 0 && (told = solve(s, terms, g.c)) < terms;)
        terms = told;
    if (p->terms == 2 && !(g.c[1] >= 0)) {
        g.c[0] = s->y[0] / s->u[0];
        g.c[1] = 0;
    }
    g.c[0] += p->y[first];
    g.c[1] /= s->range;
    g.c[2] /= s->range * s->range;
    return g;
}

static double value_at(const cost_points_t *p, const cost_segment_t *g, double x)
{
    double u = x - p->x[g->first];

    return g->c[0] + u * (g->c[1] + u * g->c[2]);
}

double cost_segment_value(const cost_points_t *p, const cost_segment_t *g, size_t i)
{
    return value_at(p, g, p->x[i]);
}

/* Above the curve; in units of the scale. */
static double above(const cost_points_t *p, const cost_segment_t *g, size_t i)
{
    double e = p->y[i] - cost_segment_value(p, g, i);

    return p->scale != NULL ? e / p->scale[i] : e;
}

/* Left of its first sample a line says what happens there, too: not what lies far from both. */
static bool is_sane_before(const cost_points_t *p, const cost_segment_t *g)
{
    const double slack = 0.4;
    double y, low, high;

    if (g->first == 0 || p->scale == NULL)
        return true;
    y = value_at(p, g, p->x[g->first - 1]);
    low = fmin(p->y[g->first - 1], p->y[g->first]);
    high = fmax(p->y[g->first - 1], p->y[g->first]);
    return y >= low * (1 - slack) && y <= high * (1 + slack);
}

/* The sample that is farthest above the curve; false: none is an outlier. */
static bool find_outlier(const search_t *s, const cost_segment_t *g, size_t *at_p)
{
    const cost_points_t *p = s->points;
    double most = fmax(p->far, sqrt(s->outlier) * p->noise);
    bool is_found = false;

    for (size_t i = g->first; i < g->end; i++)
        if (!s->is_out[i] && above(p, g, i) > most) {
            most = above(p, g, i);
            *at_p = i;
            is_found = true;
        }
    return is_found;
}

/* The curve of the samples first .. end - 1 without its outliers, which are marked; its price.
 * INFINITY: there is no such curve. */
static double fit(const search_t *s, size_t first, size_t end, cost_segment_t *g)
{
    const cost_points_t *p = s->points;
    sums_t sums = {.range = end - first > 1 ? p->x[end - 1] - p->x[first] : 1};
    double price = s->interval;
    size_t at;

    memset(s->is_out + first, 0, (end - first) * sizeof(*s->is_out));
    for (size_t i = first; i < end; i++)
        add(p, first, i, 1, &sums);
    *g = curve_of(p, &sums, first, end);
    while (find_outlier(s, g, &at)) {
        if (sums.count <= s->least)
            return INFINITY;
        s->is_out[at] = true;
        add(p, first, at, -1, &sums);
        *g = curve_of(p, &sums, first, end);
    }
    /* Larger sizes are not faster, in the long run; a jump down lies between two segments. */
    if (p->scale == NULL &&
        cost_segment_value(p, g, end - 1) < cost_segment_value(p, g, first) - p->far)
        return INFINITY;
    /* At a border what is far above one curve may belong to the other. */
    if ((s->is_out[first] && first > 0) || (s->is_out[end - 1] && end < p->n))
        price += s->outlier / 2;
    if (!is_sane_before(p, g)) {
        g->c[0] = p->y[first] + sums.y[0] / sums.u[0];
        g->c[1] = g->c[2] = 0;
    }
    for (size_t i = first; i < end; i++)
        price += s->is_out[i] ? s->outlier : pow(above(p, g, i) / p->noise, 2);
    return price;
}

/* Where nothing is sane all in one is the answer. */
static void search(search_t *s)
{
    size_t n = s->points->n;

    s->price[0] = 0;
    for (size_t j = 1; j <= n; j++) {
        s->price[j] = INFINITY;
        for (size_t i = 0; i + s->least <= j; i++) {
            cost_segment_t g;
            double price;

            if (!(s->price[i] + s->interval < s->price[j]))
                continue;
            price = s->price[i] + fit(s, i, j, &g);
            if (price < s->price[j]) {
                s->price[j] = price;
                s->from[j] = i;
            }
        }
    }
}

/* From the last segment to the first, and turned round. */
static size_t take(const search_t *s, cost_segment_t *segments, bool *marks)
{
    size_t count = 0;

    for (size_t j = s->points->n; j > 0; j = s->from[j]) {
        fit(s, s->from[j], j, &segments[count++]);
        if (marks != NULL)
            memcpy(marks + s->from[j], s->is_out + s->from[j], (j - s->from[j]) * sizeof(*marks));
    }
    for (size_t i = 0; i < count / 2; i++) {
        cost_segment_t t = segments[i];

        segments[i] = segments[count - 1 - i];
        segments[count - 1 - i] = t;
    }
    return count;
}

xy_status_t cost_segments(const cost_points_t *points, cost_segment_t *segments, size_t *count_p,
                          bool *marks)
{
    size_t n = points->n;
    search_t s = {.points = points,
                  .is_out = xy_calloc(n, sizeof(bool)),
                  .price = xy_calloc(n + 1, sizeof(double)),
                  .from = xy_calloc(n + 1, sizeof(size_t)),
                  .least = points->least < n ? points->least : n,
                  .interval = (points->terms + 1) * log((double)n + 1),
                  .outlier = 2 * log((double)n + 1)};
    xy_status_t st = XY_OK;

    if (s.is_out == NULL || s.price == NULL || s.from == NULL) {
        st = xy_fail_memory("fitting a model");
    } else {
        do {
            search(&s);
            *count_p = take(&s, segments, marks);
            s.interval *= 1.3; /* with fewer, should there be too many */
        } while (points->most > 0 && *count_p > points->most && *count_p > 1);
    }
    xy_free(s.is_out);
    xy_free(s.price);
    xy_free(s.from);
    return st;
}
