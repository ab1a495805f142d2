/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels: which sizes to measure, when to stop, and whether there is a model in them. */
#include "cost/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/calibrate_internal.h"
#include "cost/kernel.h"
#include "cost/lapack.h"
#include "cost/worker.h"

/* A sample says too little when its fastest runs do not agree within `noisy`, or when half of all
 * runs took more than `unsteady` times as long: a busy neighbour on the same core does less. */
static const double noisy = 0.10, unsteady = 2.5;
/* Sizes are added where the model misses by more than this. */
static const double aim = 0.015;

enum { SAMPLES_MAX = 64 };

/* One kernel being measured. */
typedef struct {
    const xy_calibration_t *c;
    cost_worker_t worker;
    xy_kernel_cost_t result;
    xy_sample_t samples[SAMPLES_MAX];
    size_t count;
    double deadline;
} session_t;

void calibrate_step(const xy_calibration_t *c, double seconds)
{
    if (c->bar != NULL)
        xy_progress_step(c->bar, (uint64_t)(seconds * 1000));
}

static double time_max(const xy_calibration_t *c)
{
    return c->time_max > 0 ? c->time_max : 0.5;
}

/* Enough repetitions to be tight, within the time that is left. */
static double time_for(const session_t *s, double expected)
{
    double left = fmax(s->deadline - cost_now(), 0.01);

    return fmin(fmin(fmax(12 * expected, 0.1), 3), left / 3);
}

static xy_status_t measure(session_t *s, double n, double expected, xy_sample_t *sample_p)
{
    double begin = cost_now();
    cost_measure_t m;
    xy_status_t st = cost_worker_measure(&s->worker, n, time_for(s, expected), &m);

    calibrate_step(s->c, cost_now() - begin);
    if (st != XY_OK)
        return st;
    /* What the clock cannot see took at least something. */
    *sample_p = (xy_sample_t){.x = n,
                              .t = fmax(m.seconds, 1e-10),
                              .spread = m.typical > unsteady * m.seconds ? 1 : m.spread,
                              .repetitions = m.repetitions};
    return XY_OK;
}

/* Double from the first size; the last one is cut so that it takes about the longest time. */
static xy_status_t measure_doubling(session_t *s)
{
    double n = s->c->first > 0 ? s->c->first : 100, longest = time_max(s->c), expected = 0;

    while (s->count < SAMPLES_MAX / 2) {
        xy_sample_t *last = &s->samples[s->count];
        double growth = 8;
        xy_status_t st = measure(s, n, expected, last);

        if (st != XY_OK)
            return st;
        s->count++;
        if (last->t >= 0.7 * longest || n >= 1e9 || cost_now() > s->deadline)
            break;
        if (s->count > 1 && last->t > last[-1].t)
            growth = fmin(last->t / last[-1].t, 64);
        expected = last->t * growth;
        n = expected <= 1.2 * longest ? 2 * n
                                      : ceil(n * pow(longest / last->t, log(2) / log(growth)));
    }
    return XY_OK;
}

static int by_size(const void *a, const void *b)
{
    const xy_sample_t *p = a, *q = b;

    return (p->x > q->x) - (p->x < q->x);
}

static xy_status_t fit(session_t *s, xy_fit_t *fit_p)
{
    const xy_fit_options_t options = {.criterion = s->c->criterion};

    return xy_fit_compute(s->samples, s->count, &options, fit_p);
}

/* One round: measure the middle of each gap beside a sample that was missed. The number of gaps
 * whose middle was missed by more than the aim goes to *missed_p. */
static xy_status_t measure_gaps(session_t *s, bool gap_open[SAMPLES_MAX], int *missed_p)
{
    bool open[SAMPLES_MAX] = {false};
    xy_sample_t added[SAMPLES_MAX];
    bool missed[SAMPLES_MAX];
    size_t n = 0, before = s->count;
    xy_fit_t model;
    xy_status_t st = fit(s, &model);

    *missed_p = 0;
    /* From the large end: there a miss costs most. */
    for (size_t i = before; st == XY_OK && i-- > 1;) {
        double middle = round(sqrt(s->samples[i - 1].x * s->samples[i].x));
        double guess, left = s->deadline - cost_now();

        if (!gap_open[i] || before + n >= SAMPLES_MAX || middle <= s->samples[i - 1].x * 1.04 ||
            middle >= s->samples[i].x)
            continue;
        guess = xy_fit_value(&model, middle).seconds;
        if (4 * guess > left)
            continue;
        st = measure(s, middle, guess, &added[n]);
        if (st == XY_OK) {
            missed[n] = fabs(guess - added[n].t) > aim * added[n].t;
            *missed_p += missed[n];
            n++;
        }
    }
    if (st == XY_OK)
        xy_fit_cleanup(&model);
    memcpy(s->samples + before, added, n * sizeof(*added));
    s->count += n;
    qsort(s->samples, s->count, sizeof(*s->samples), by_size);
    /* Both halves of a gap whose middle was missed are looked at in the next round. */
    for (size_t k = 0; k < n; k++)
        for (size_t i = 1; missed[k] && i < s->count; i++)
            if (s->samples[i].x == added[k].x || s->samples[i - 1].x == added[k].x)
                open[i] = true;
    memcpy(gap_open, open, sizeof(open));
    return st;
}

static xy_status_t measure_between(session_t *s)
{
    bool gap_open[SAMPLES_MAX];
    int missed = 1;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < SAMPLES_MAX; i++)
        gap_open[i] = true;
    while (st == XY_OK && missed > 0 && cost_now() < s->deadline)
        st = measure_gaps(s, gap_open, &missed);
    return st;
}

static bool is_too_noisy(const session_t *s)
{
    size_t bad = 0;

    for (size_t i = 0; i < s->count; i++)
        bad += s->samples[i].spread > noisy;
    return 4 * bad > s->count;
}

/* Leave out single samples that say nothing; too many of them, and there is no model. */
static void drop_noisy(session_t *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++)
        if (s->samples[i].spread <= noisy)
            s->samples[kept++] = s->samples[i];
    s->count = kept;
}

static xy_status_t conclude(session_t *s)
{
    xy_kernel_cost_t *k = &s->result;
    xy_status_t st;

    if (is_too_noisy(s))
        return xy_fail(
            XY_EINVAL,
            "kernel %s is too noisy (runs of the same size differ, for more than a quarter "
            "of its sizes); it gets no model: run it on a quiet machine",
            k->name);
    drop_noisy(s);
    st = fit(s, &k->fit);
    if (st != XY_OK)
        return st;
    k->samples = xy_calloc(s->count, sizeof(*k->samples));
    if (k->samples == NULL)
        return xy_fail_memory("storing samples");
    memcpy(k->samples, s->samples, s->count * sizeof(*k->samples));
    k->sample_count = s->count;
    return XY_OK;
}

static xy_status_t name_result(session_t *s, const cost_worker_options_t *options)
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

void calibrate_report(const xy_calibration_t *c, const xy_kernel_cost_t *k)
{
    char from[32], to[32];

    if (c->report == NULL)
        return;
    if (strcmp(k->unit, "B") == 0) {
        xy_format_size((uint64_t)k->samples[0].x, from);
        xy_format_size((uint64_t)k->samples[k->sample_count - 1].x, to);
    } else {
        snprintf(from, sizeof(from), "%g", k->samples[0].x);
        snprintf(to, sizeof(to), "%g", k->samples[k->sample_count - 1].x);
    }
    fprintf(
        c->report,
        "%-8s %2ld %s%s, %s to %s: %zu samples, %zu interval%s, error %.2g %% (at most %.2g %%)\n",
        k->name, k->threads, strcmp(k->unit, "B") == 0 ? "core" : "thread",
        k->threads == 1 ? "" : "s", from, to, k->sample_count, k->fit.count,
        k->fit.count == 1 ? "" : "s", 100 * k->fit.error_mean, 100 * k->fit.error_max);
}

static xy_status_t calibrate_one(const xy_calibration_t *c, const cost_worker_options_t *options,
                                 double seconds, xy_costs_t *costs)
{
    session_t *s = xy_calloc(1, sizeof(*s));
    double begin = cost_now();
    xy_status_t st;

    if (s == NULL)
        return xy_fail_memory("measuring");
    s->c = c;
    s->deadline = begin + seconds;
    st = cost_worker_start(options, &s->worker);
    if (st == XY_OK) {
        st = name_result(s, options);
        if (st == XY_OK)
            st = measure_doubling(s);
        if (st == XY_OK)
            st = measure_between(s);
        cost_worker_stop(&s->worker);
    }
    if (st == XY_OK)
        st = conclude(s);
    if (st == XY_OK) {
        calibrate_report(c, &s->result);
        st = xy_costs_set_kernel(costs, &s->result);
    }
    xy_kernel_cost_cleanup(&s->result);
    xy_free(s);
    return st;
}

/* ---- Which kernels ---- */

bool xy_calibrate_kernel_name(size_t i, const char **name_p, const char **text_p)
{
    size_t count = 0;

    while (cost_kernels[count].name != NULL)
        count++;
    if (i >= count)
        return false;
    *name_p = cost_kernels[i].name;
    *text_p = cost_kernels[i].describe;
    return true;
}

/* The names of a list with commas, pointing into `copy`, which is cut; "all" stands for the table.
 */
static xy_status_t list_kernels(const xy_calibration_t *c, char *copy, xy_vec_t *list)
{
    char *save = NULL;

    for (char *name = strtok_r(copy, ",", &save); name != NULL; name = strtok_r(NULL, ",", &save)) {
        const cost_kernel_t *k = cost_kernel_find(name);
        bool is_all = strcmp(name, "all") == 0;

        if (k == NULL && !is_all)
            return xy_fail(XY_EUSAGE,
                           "there is no kernel '%s'; 'xylem calibrate --list' names them", name);
        for (const cost_kernel_t *all = cost_kernels; all->name != NULL; all++) {
            cost_worker_options_t o = {.name = all->name, .library = c->blas};

            if ((is_all || all == k) && xy_vec_append(list, &o) != XY_OK)
                return xy_fail_memory("listing kernels");
        }
    }
    return XY_OK;
}

/* "NAME=FILE[:FUNCTION]" cut in place. */
static xy_status_t list_plugin(char *text, xy_vec_t *list)
{
    char *equal = strchr(text, '='), *colon;
    cost_worker_options_t o = {.name = text, .symbol = "kernel"};

    if (equal == NULL || equal == text || equal[1] == '\0')
        return xy_fail(XY_EUSAGE, "plug-in '%s' is no NAME=FILE.so or NAME=FILE.so:FUNCTION", text);
    *equal = '\0';
    o.library = equal + 1;
    colon = strrchr(equal + 1, ':');
    if (colon != NULL) {
        *colon = '\0';
        o.symbol = colon + 1;
    }
    return xy_vec_append(list, &o) == XY_OK ? XY_OK : xy_fail_memory("listing kernels");
}

static xy_status_t calibrate_list(const xy_calibration_t *c, const xy_vec_t *list,
                                  xy_costs_t *costs, int *failed_p)
{
    static const long one = 1;
    const long *threads = c->threads != NULL ? c->threads : &one;
    size_t counts = c->threads != NULL ? c->threads_count : 1, left = list->count * counts;
    double end = cost_now() + (c->seconds > 0 ? c->seconds : 60);
    xy_status_t st = cost_lapack_load();

    for (size_t i = 0; i < list->count && st == XY_OK; i++)
        for (size_t t = 0; t < counts && st == XY_OK; t++, left--) {
            cost_worker_options_t o = XY_VEC_AT(list, cost_worker_options_t, i);

            o.threads = threads[t];
            o.patience = c->patience;
            st = calibrate_one(c, &o, fmax((end - cost_now()) / (double)left, 1), costs);
            /* It was said; the others go on. */
            if (st == XY_EINVAL || st == XY_ENOENT) {
                ++*failed_p;
                st = XY_OK;
            }
        }
    return st;
}

xy_status_t xy_calibrate_kernels(const xy_calibration_t *c, xy_costs_t *costs, int *failed_p)
{
    xy_vec_t list = XY_VEC_INIT(cost_worker_options_t), texts = XY_VEC_INIT(char *);
    char *copy = xy_strdup(c->kernels != NULL ? c->kernels : "dgemm,dtrtri");
    int failed = 0;
    xy_status_t st =
        copy != NULL ? list_kernels(c, copy, &list) : xy_fail_memory("listing kernels");

    for (size_t i = 0; st == XY_OK && c->plugins != NULL && i < c->plugins->count; i++) {
        char *text = xy_strdup(XY_VEC_AT(c->plugins, const char *, i));

        if (text == NULL || xy_vec_append(&texts, &text) != XY_OK) {
            xy_free(text);
            st = xy_fail_memory("listing kernels");
        } else {
            st = list_plugin(text, &list);
        }
    }
    if (st == XY_OK)
        st = calibrate_list(c, &list, costs, &failed);
    if (st == XY_OK && failed_p != NULL)
        *failed_p = failed;
    for (size_t i = 0; i < texts.count; i++)
        xy_free(XY_VEC_AT(&texts, char *, i));
    xy_vec_cleanup(&texts);
    xy_vec_cleanup(&list);
    xy_free(copy);
    return st;
}
