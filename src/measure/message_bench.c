/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/message_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/curve.h"
#include "measure/launcher.h"
#include "measure/timing.h"

enum { SIZES_MAX = 200, PASSES = 3, JUMPS_MAX = 7, HELD = 6, AGAIN_MAX = 2 };
/* Collectives of two, as the probe tells them. */
enum { BARRIER, BCAST, COPY, REDUCE, ALLREDUCE, SMALL_BCAST, SMALL_ALLREDUCE, MEETINGS };
/* Figures of a sample. */
enum { FIGURES = sizeof(xy_message_sample_t) / sizeof(double) };
enum { ALONE_FROM = 128 << 10 }; /* bytes */

/* A time that is so far from the line through its neighbours on one side is a jump; it is looked at
 * until the sizes on both sides of it are as near as `near`. */
static const double jump = 0.10, near = 1.05;

typedef struct {
    const measure_bench_t *pair;
    double done, share; /* of all there is to do: before this run, of this run */
    char library[128];
    xy_vec_t samples;                         /* of xy_message_sample_t */
    xy_vec_t held_out;                        /* of uint64_t: sizes that the model is not shown */
    xy_vec_t held;                            /* of xy_message_sample_t: two of each of them */
    double eager;                             /* bytes, of the last launch; 0: not measured */
    double meet[MEETINGS][COST_LAUNCHES_MAX]; /* seconds of each launch */
    int met;                                  /* launches that told them */
    double begin;                             /* of the first launch */
    int launched;
} reading_t;

static int launches(const measure_bench_t *pair)
{
    if (pair->launches <= 0)
        return 3;
    return pair->launches < COST_LAUNCHES_MAX ? pair->launches : COST_LAUNCHES_MAX;
}

xy_status_t measure_probe_run(const xy_vec_t *words, const char *const *arguments, double seconds,
                              measure_line_fn line, void *arg)
{
    const measure_last_t last = {.line = "end", .grace = 5};
    xy_vec_t all = XY_VEC_INIT(char *);
    char *end = NULL, life[32];
    int code = 0;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < words->count && st == XY_OK; i++)
        st = measure_words_push(&all, XY_VEC_AT(words, char *, i));
    for (; *arguments != NULL && st == XY_OK; arguments++)
        st = measure_words_push(&all, *arguments);
    /* The launcher's daemons on other hosts are out of reach of a signal: the probe ends itself. */
    snprintf(life, sizeof(life), "%.0f", ceil(seconds) + 5);
    if (st == XY_OK)
        st = measure_words_push(&all, life);
    if (st == XY_OK && xy_vec_append(&all, &end) != XY_OK)
        st = xy_fail_memory("starting processes");
    if (st == XY_OK)
        st = measure_command_run_to(all.data, seconds, &last, line, arg, &code);
    measure_words_cleanup(&all);
    if (st == XY_OK && code != 0)
        st = xy_fail(XY_EIO, code == 124 ? "%s did not end within %g s" : "%s failed",
                     XY_VEC_AT(words, char *, 0), seconds);
    return st;
}

static xy_status_t read_line(void *arg, char *line)
{
    reading_t *r = arg;
    xy_message_sample_t m = {0};
    unsigned i, j;

    if (sscanf(line, "library %127[^\n]", r->library) == 1)
        return XY_OK;
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "eager %lf", &r->eager) == 1)
        return XY_OK;
    if (r->met < COST_LAUNCHES_MAX &&
        /* NOLINTNEXTLINE(cert-err34-c) */
        sscanf(line, "meet %lf %lf %lf %lf %lf %lf %lf", &r->meet[BARRIER][r->met],
               &r->meet[BCAST][r->met], &r->meet[COPY][r->met], &r->meet[REDUCE][r->met],
               &r->meet[ALLREDUCE][r->met], &r->meet[SMALL_BCAST][r->met],
               &r->meet[SMALL_ALLREDUCE][r->met]) >= 3) {
        r->met++;
        return XY_OK;
    }
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "step %u %u", &i, &j) == 2) {
        if (r->pair->step != NULL && j > 0 && i <= j)
            r->pair->step(r->pair->arg, r->done + r->share * i / j);
        return XY_OK;
    }
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "message %u %u %lf %lf %lf %lf %lf %lf %lf %lf %lf", &i, &j, &m.bytes,
               &m.blocking, &m.nonblocking, &m.send, &m.receive, &m.gap, &m.exchange, &m.burst,
               &m.self) < 8)
        return XY_OK;
    return xy_vec_append(&r->samples, &m) == XY_OK ? XY_OK : xy_fail_memory("reading messages");
}

/* Whether another launch, as long as those before it, ends within the time. */
static bool has_time(const reading_t *r)
{
    double taken = measure_now() - r->begin;

    return !(r->pair->budget > 0) || r->launched == 0 ||
           taken + taken / r->launched <= r->pair->budget;
}

/* Those of the sizes up to `most` bytes, or above it. */
static void add_sizes(const double *sizes, size_t count, bool is_above, double most,
                      xy_text_t *list)
{
    for (size_t i = 0; i < count; i++)
        if ((sizes[i] > most) == is_above)
            xy_text_addf(list, "%s%.0f", list->length > 0 ? "," : "", sizes[i]);
}

/* Some sizes in one launch. */
static xy_status_t launch(reading_t *r, const xy_vec_t *words, const char *mode, char *list)
{
    const measure_bench_t *p = r->pair;
    char a[16], b[16], seconds[32], passes[16];
    const char *const arguments[] = {mode, a, b, list, seconds, passes, NULL};

    snprintf(a, sizeof(a), "%u", p->a);
    snprintf(b, sizeof(b), "%u", p->b);
    snprintf(seconds, sizeof(seconds), "%g", (p->seconds > 0 ? p->seconds : 0.1) / launches(p));
    snprintf(passes, sizeof(passes), "%d", PASSES);
    return measure_probe_run(words, arguments, COST_PROBE_LIMIT, read_line, r);
}

static xy_status_t measure_sizes(reading_t *r, const double *sizes, size_t count)
{
    const measure_bench_t *p = r->pair;
    double most = p->alone != NULL ? ALONE_FROM : INFINITY;
    xy_status_t st = XY_OK;

    for (int is_above = 0; is_above < 2 && st == XY_OK; is_above++) {
        xy_text_t list = XY_TEXT_INIT;

        add_sizes(sizes, count, is_above, most, &list);
        if (list.failed)
            st = xy_fail_memory("listing sizes");
        else if (list.length > 0)
            st = launch(r, is_above ? p->alone : p->words,
                        is_above           ? "alone"
                        : p->alone != NULL ? "among"
                                           : "pair",
                        list.s);
        xy_text_cleanup(&list);
    }
    r->launched++;
    return st;
}

static size_t list_sizes(double largest, double sizes[SIZES_MAX])
{
    size_t n = 0;

    for (double power = 1; power <= largest && n + 2 < SIZES_MAX; power *= 2) {
        sizes[n++] = power;
        if (power > 1 && 1.5 * power <= largest)
            sizes[n++] = 1.5 * power;
    }
    return n;
}

static size_t take_sizes(const xy_vec_t *given, double sizes[SIZES_MAX])
{
    size_t n = 0;

    for (; n < given->count && n < SIZES_MAX; n++)
        sizes[n] = (double)XY_VEC_AT(given, uint64_t, n);
    return n;
}

static int by_bytes(const void *a, const void *b)
{
    const xy_message_sample_t *p = a, *q = b;

    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

static double middle(double *values, size_t n)
{
    double low, high;

    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && values[k] < values[k - 1]; k--) {
            double t = values[k];

            values[k] = values[k - 1];
            values[k - 1] = t;
        }
    low = values[(n - 1) / 2], high = values[n / 2];
    return (low + high) / 2;
}

/* Several samples of one size, of as many launches, are one: the median of each figure. Where
 * buffers and queues come to lie differs from launch to launch, and so do times. */
static xy_message_sample_t merge(const xy_message_sample_t *s, size_t n)
{
    double result[FIGURES], figures[COST_LAUNCHES_MAX][FIGURES], v[COST_LAUNCHES_MAX];
    xy_message_sample_t one;

    n = n < COST_LAUNCHES_MAX ? n : COST_LAUNCHES_MAX;
    memcpy(figures, s, n * sizeof(*s));
    for (size_t k = 0; k < FIGURES; k++) {
        for (size_t i = 0; i < n; i++)
            v[i] = figures[i][k];
        result[k] = middle(v, n);
    }
    memcpy(&one, result, sizeof(one));
    return one;
}

/* The samples of all launches by size, each size once. */
static xy_status_t merge_samples(xy_vec_t *samples, xy_vec_t *merged)
{
    xy_message_sample_t *s = samples->data;

    merged->count = 0;
    if (samples->count == 0)
        return XY_OK;
    qsort(s, samples->count, sizeof(*s), by_bytes);
    for (size_t i = 0, j; i < samples->count; i = j) {
        xy_message_sample_t one;

        for (j = i + 1; j < samples->count && s[j].bytes == s[i].bytes;)
            j++;
        one = merge(&s[i], j - i);
        if (xy_vec_append(merged, &one) != XY_OK)
            return xy_fail_memory("reading messages");
    }
    return XY_OK;
}

static bool is_held(const reading_t *r, double bytes)
{
    for (size_t i = 0; i < r->held_out.count; i++)
        if ((double)XY_VEC_AT(&r->held_out, uint64_t, i) == bytes)
            return true;
    return false;
}

/* Sizes that are held out stand twice behind the others. */
static size_t add_held(const reading_t *r, double sizes[SIZES_MAX], size_t count)
{
    for (size_t i = 0; i < r->held_out.count && count + 2 <= SIZES_MAX; i++) {
        sizes[count++] = (double)XY_VEC_AT(&r->held_out, uint64_t, i);
        sizes[count] = sizes[count - 1];
        count++;
    }
    return count;
}

/* Move what was held out from the samples of the last launch, which begin at `first`, to `aside`:
 * each launch appends the same sizes in the same order. */
static xy_status_t set_aside(reading_t *r, size_t first, xy_vec_t *aside)
{
    size_t kept = first;

    for (size_t i = first; i < r->samples.count; i++) {
        xy_message_sample_t *s = &XY_VEC_AT(&r->samples, xy_message_sample_t, i);

        if (!is_held(r, s->bytes))
            XY_VEC_AT(&r->samples, xy_message_sample_t, kept++) = *s;
        else if (xy_vec_append(aside, s) != XY_OK)
            return xy_fail_memory("reading messages");
    }
    r->samples.count = kept;
    return XY_OK;
}

/* The median over the launches of each entry of `aside`, which has `each` of them by launch. */
static xy_status_t merge_held(reading_t *r, const xy_vec_t *aside, size_t each)
{
    for (size_t i = 0; i < each; i++) {
        xy_message_sample_t list[COST_LAUNCHES_MAX], one;
        size_t n = 0;

        for (size_t k = i; k < aside->count && n < COST_LAUNCHES_MAX; k += each)
            list[n++] = XY_VEC_AT(aside, xy_message_sample_t, k);
        if (n == 0)
            break;
        one = merge(list, n);
        if (xy_vec_append(&r->held, &one) != XY_OK ||
            (r->pair->held != NULL && xy_vec_append(r->pair->held, &one) != XY_OK))
            return xy_fail_memory("reading messages");
    }
    return XY_OK;
}

/* How far `at` is off the line through a and b, which does not fall. */
static double miss_of(const xy_message_sample_t *a, const xy_message_sample_t *b,
                      const xy_message_sample_t *at)
{
    double slope = (b->blocking - a->blocking) / (b->bytes - a->bytes);
    double expected = a->blocking + fmax(slope, 0) * (at->bytes - a->bytes);

    return fabs(at->blocking - expected) / fmax(fmin(at->blocking, expected), 1e-12);
}

/* How far the line of one side of the gap before sample i is from the other side. */
static double gap_miss(const xy_vec_t *merged, size_t i)
{
    const xy_message_sample_t *s = merged->data;
    double left = i > 1 ? miss_of(&s[i - 2], &s[i - 1], &s[i]) : 0;
    double right = i + 1 < merged->count ? miss_of(&s[i + 1], &s[i], &s[i - 1]) : 0;

    if (s[i].bytes < near * s[i - 1].bytes || s[i].bytes - s[i - 1].bytes < 3)
        return 0;
    return fmax(left, right);
}

/* Sizes that cut in three the gaps in which the time jumps or bends most. The number of all. */
static size_t add_jumps(const reading_t *r, const xy_vec_t *merged, double sizes[SIZES_MAX],
                        size_t count)
{
    const xy_message_sample_t *s = merged->data;
    double last = INFINITY;

    for (int k = 0; k < JUMPS_MAX && count + 2 < SIZES_MAX; k++) {
        size_t at = 0;
        double most = jump, third;

        for (size_t i = 1; i < merged->count; i++) {
            double miss = gap_miss(merged, i);

            if (miss > most && miss < last) {
                most = miss;
                at = i;
            }
        }
        if (at == 0)
            break;
        last = most;
        third = pow(s[at].bytes / s[at - 1].bytes, 1 / 3.0);
        sizes[count] = fmax(floor(s[at - 1].bytes * third), s[at - 1].bytes + 1);
        count += !is_held(r, sizes[count]);
        sizes[count] = fmin(ceil(s[at - 1].bytes * third * third), s[at].bytes - 1);
        count += !is_held(r, sizes[count]);
    }
    return count;
}

/* Whether sizes may be added after launch i: where there are many launches, each size deserves two.
 */
static bool goes_on(const measure_bench_t *pair, int i)
{
    return i + (launches(pair) > 3 ? 2 : 1) < launches(pair);
}

/* All sizes in each launch; after each, sizes are added where the time jumps. */
static xy_status_t measure_all(reading_t *r, double *sizes, size_t count, bool is_given)
{
    xy_vec_t merged = XY_VEC_INIT(xy_message_sample_t), aside = XY_VEC_INIT(xy_message_sample_t);
    size_t held = add_held(r, sizes, count) - count;
    xy_status_t st = XY_OK;

    for (int i = 0; st == XY_OK && i < launches(r->pair) && has_time(r); i++, r->done += r->share) {
        size_t first = r->samples.count;

        st = measure_sizes(r, sizes, add_held(r, sizes, count));
        if (st == XY_OK)
            st = set_aside(r, first, &aside);
        if (st == XY_OK)
            st = merge_samples(&r->samples, &merged);
        if (st == XY_OK && !is_given && goes_on(r->pair, i))
            count = add_jumps(r, &merged, sizes, count);
    }
    if (st == XY_OK)
        st = merge_held(r, &aside, held);
    xy_vec_cleanup(&aside);
    xy_vec_cleanup(&r->samples);
    r->samples = merged;
    return st;
}

/* ---- Contradictions ---- */

static double time_of(const xy_message_sample_t *s, xy_message_kind_t kind)
{
    return kind == XY_MESSAGE_BLOCKING ? s->blocking : s->nonblocking;
}

/* Mark the sizes that contradict their neighbours, by either kind; *count_p: how many. */
static xy_status_t find_outliers(const xy_vec_t *samples, bool is_out[SIZES_MAX], size_t *count_p)
{
    double x[SIZES_MAX], t[SIZES_MAX];
    size_t at[SIZES_MAX];
    bool marks[SIZES_MAX];
    xy_status_t st = XY_OK;

    *count_p = 0;
    for (int kind = 0; kind < XY_MESSAGE_KINDS && st == XY_OK; kind++) {
        size_t n = 0, marked;

        for (size_t i = 0; i < samples->count && i < SIZES_MAX; i++) {
            const xy_message_sample_t *s = &XY_VEC_AT(samples, xy_message_sample_t, i);

            x[n] = s->bytes;
            t[n] = time_of(s, (xy_message_kind_t)kind);
            at[n] = i;
            n += x[n] > 0 && t[n] > 0;
        }
        if (n > 0)
            st = xy_outliers(x, t, n, marks, &marked, NULL);
        for (size_t i = 0; i < n && st == XY_OK; i++)
            if (marks[i] && !is_out[at[i]]) {
                is_out[at[i]] = true;
                ++*count_p;
            }
    }
    return st;
}

static void take_faster(double *t, double other)
{
    if (other > 0 && other < *t)
        *t = other;
}

/* Measure the marked sizes again, three times each in one launch; the faster counts, as
 * disturbances only add. */
static xy_status_t measure_marked(reading_t *r, const bool is_out[SIZES_MAX])
{
    xy_vec_t known = r->samples, merged = XY_VEC_INIT(xy_message_sample_t);
    double sizes[SIZES_MAX];
    size_t count = 0;
    xy_status_t st;

    for (size_t i = 0; i < known.count && i < SIZES_MAX; i++)
        for (int k = 0; k < 3 && is_out[i] && count < SIZES_MAX; k++)
            sizes[count++] = XY_VEC_AT(&known, xy_message_sample_t, i).bytes;
    r->samples = XY_VEC_INIT(xy_message_sample_t);
    st = measure_sizes(r, sizes, count);
    if (st == XY_OK)
        st = merge_samples(&r->samples, &merged);
    for (size_t i = 0; st == XY_OK && i < known.count; i++)
        for (size_t k = 0; k < merged.count; k++) {
            xy_message_sample_t *old = &XY_VEC_AT(&known, xy_message_sample_t, i);
            const xy_message_sample_t *new = &XY_VEC_AT(&merged, xy_message_sample_t, k);

            if (old->bytes == new->bytes) {
                take_faster(&old->blocking, new->blocking);
                take_faster(&old->nonblocking, new->nonblocking);
                take_faster(&old->gap, new->gap);
                take_faster(&old->exchange, new->exchange);
                take_faster(&old->burst, new->burst);
                take_faster(&old->self, new->self);
            }
        }
    xy_vec_cleanup(&merged);
    xy_vec_cleanup(&r->samples);
    r->samples = known;
    return st;
}

static xy_status_t measure_again(reading_t *r)
{
    xy_status_t st = XY_OK;

    for (int k = 0; k < AGAIN_MAX && st == XY_OK && has_time(r); k++) {
        bool is_out[SIZES_MAX] = {false};
        size_t count;

        st = find_outliers(&r->samples, is_out, &count);
        if (st != XY_OK || count == 0)
            return st;
        st = measure_marked(r, is_out);
    }
    return st;
}

/* ---- Beyond the caches ---- */

/* Some sizes in one launch; with both ways, source and target, they are 32 to 256 MiB. */
static xy_status_t measure_beyond(reading_t *r)
{
    static const double sizes[] = {8 << 20, 16 << 20, 32 << 20, 64 << 20};
    const long room = sysconf(_SC_PHYS_PAGES) / (1 << 20) * sysconf(_SC_PAGESIZE); /* MiB */
    const double *last = &XY_VEC_AT(&r->samples, xy_message_sample_t, r->samples.count - 1).bytes;

    if (r->pair->alone == NULL || room < 2048 || *last >= sizes[0])
        return XY_OK;
    return measure_sizes(r, sizes, sizeof(sizes) / sizeof(sizes[0]));
}

/* ---- The model ---- */

/* The errors at the sizes that were held out, of the faster of both times; and whether to trust. */
static xy_status_t judge(const reading_t *r, xy_message_model_t *model)
{
    char what[192];

    snprintf(what, sizeof(what), "messages of %s",
             r->library[0] != '\0' ? r->library : "the probe");
    for (int k = 0; k < XY_MESSAGE_KINDS; k++) {
        xy_message_lines_t *lines = &model->kind[k];
        measure_trust_t trust = {.samples = (long)model->count,
                                 .dropped = lines->dropped,
                                 .error_mean = lines->error_mean};
        xy_status_t st;

        for (size_t i = 0; lines->latency > 0 && i + 1 < r->held.count; i += 2) {
            const xy_message_sample_t *a = &XY_VEC_AT(&r->held, xy_message_sample_t, i);
            double t = time_of(a, (xy_message_kind_t)k);

            take_faster(&t, time_of(a + 1, (xy_message_kind_t)k));
            if (t > 0)
                measure_trust_held(
                    &trust, xy_message_value(model, NULL, (xy_message_kind_t)k, a->bytes).seconds,
                    t);
        }
        lines->held_out = trust.held_sum / fmax((double)trust.held, 1);
        lines->held_count = trust.held;
        st = measure_trust(what, &trust);
        if (st != XY_OK)
            return st;
    }
    return XY_OK;
}

/* What was asked for; else a few sizes between the others, by the golden ratio, unless these were
 * chosen by the user. */
static xy_status_t list_held(reading_t *r, const double *sizes, size_t count, bool is_given)
{
    const xy_vec_t *wanted = r->pair->held_out;
    bool is_wanted = wanted != NULL && wanted->count > 0;
    size_t n = is_wanted ? wanted->count : is_given || count < 8 ? 0 : HELD;

    for (size_t k = 0; k < n; k++) {
        double part = ((double)k + fmod(0.618034 * (double)(k + 1), 1)) / HELD;
        uint64_t bytes = is_wanted ? XY_VEC_AT(wanted, uint64_t, k)
                                   : (uint64_t)(sizes[0] * pow(sizes[count - 1] / sizes[0], part));
        bool is_taken = is_held(r, (double)bytes);

        for (size_t i = 0; !is_wanted && i < count; i++)
            is_taken = is_taken || sizes[i] == (double)bytes;
        if (!is_taken && xy_vec_append(&r->held_out, &bytes) != XY_OK)
            return xy_fail_memory("listing sizes");
    }
    return XY_OK;
}

static double middle_meeting(reading_t *r, int meeting)
{
    return fmax(0, middle(r->meet[meeting], (size_t)r->met));
}

static xy_status_t fit_model(reading_t *r, xy_message_cost_t *m)
{
    xy_status_t st = xy_message_fit(r->samples.data, r->samples.count, &m->model);

    m->model.eager = st == XY_OK && r->eager > 0 ? r->eager : 0;
    if (st == XY_OK && r->met > 0) {
        m->model.barrier = middle_meeting(r, BARRIER);
        m->model.bcast = middle_meeting(r, BCAST);
        m->model.copy = middle_meeting(r, COPY);
        m->model.reduce = middle_meeting(r, REDUCE);
        m->model.allreduce = middle_meeting(r, ALLREDUCE);
        m->model.small_bcast = middle_meeting(r, SMALL_BCAST);
        m->model.small_allreduce = middle_meeting(r, SMALL_ALLREDUCE);
    }
    if (st == XY_OK)
        st = judge(r, &m->model);
    if (st == XY_OK) {
        m->library = xy_strdup(r->library);
        if (m->library == NULL)
            st = xy_fail_memory("storing a model");
    }
    if (st != XY_OK)
        xy_message_cost_cleanup(m);
    return st;
}

xy_status_t measure_bench_run(const measure_bench_t *pair, xy_message_cost_t *message_p)
{
    reading_t r = {.pair = pair,
                   .share = 1.0 / launches(pair),
                   .begin = measure_now(),
                   .samples = XY_VEC_INIT(xy_message_sample_t),
                   .held_out = XY_VEC_INIT(uint64_t),
                   .held = XY_VEC_INIT(xy_message_sample_t)};
    double sizes[SIZES_MAX] = {0};
    xy_message_cost_t m = {0};
    bool is_given = pair->sizes != NULL && pair->sizes->count > 0;
    size_t count = is_given ? take_sizes(pair->sizes, sizes)
                            : list_sizes(pair->largest > 0 ? pair->largest : 4 << 20, sizes);
    xy_status_t st = list_held(&r, sizes, count, is_given);

    if (st == XY_OK)
        st = measure_all(&r, sizes, count, is_given);
    if (st == XY_OK)
        st = measure_again(&r);
    if (st == XY_OK && r.samples.count > 0 && !is_given)
        st = measure_beyond(&r);
    if (st == XY_OK)
        st = fit_model(&r, &m);
    if (st == XY_OK)
        *message_p = m;
    xy_vec_cleanup(&r.samples);
    xy_vec_cleanup(&r.held_out);
    xy_vec_cleanup(&r.held);
    return st;
}

void measure_bench_report(const xy_message_cost_t *m, FILE *report)
{
    const xy_message_lines_t *k = &m->model.kind[XY_MESSAGE_BLOCKING];
    char latency[32], rate[32], held[48] = "none held out";
    double slope = k->time.line[k->time.count - 1].a;

    if (k->held_count > 0)
        snprintf(held, sizeof(held), "held out %.2g %%", 100 * k->held_out);
    fprintf(report,
            "message  %s - %s: %s, %s, %zu samples, %zu interval%s, error %.2g %%, %s (%s)\n",
            m->cluster1, m->cluster2, xy_format_seconds(k->latency, latency),
            slope > 0 ? xy_format_bandwidth(1 / slope, rate) : "no bandwidth", m->model.count,
            k->time.count, k->time.count == 1 ? "" : "s", 100 * k->error_mean, held, m->library);
}
