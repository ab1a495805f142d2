/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/pair.h"

#include <math.h>
#include <string.h>

#include "cost/launcher.h"

enum { SIZES_MAX = 200, PASSES = 3 };

/* A time that is so far from the line through the two before it is a jump. */
static const double jump = 0.12;

typedef struct {
    const cost_pair_t *pair;
    double done, share; /* of all there is to do: before this run, of this run */
    char library[128];
    xy_vec_t samples; /* of xy_message_sample_t */
} reading_t;

xy_status_t cost_probe_run(const xy_vec_t *words, const char *const *arguments, double seconds,
                           cost_line_fn line, void *arg)
{
    const cost_last_t last = {.line = "end", .grace = 5};
    xy_vec_t all = XY_VEC_INIT(char *);
    char *end = NULL, life[32];
    int code = 0;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < words->count && st == XY_OK; i++)
        st = cost_words_push(&all, XY_VEC_AT(words, char *, i));
    for (; *arguments != NULL && st == XY_OK; arguments++)
        st = cost_words_push(&all, *arguments);
    /* The launcher's daemons on other hosts are out of reach of a signal: the probe ends itself. */
    snprintf(life, sizeof(life), "%.0f", ceil(seconds) + 5);
    if (st == XY_OK)
        st = cost_words_push(&all, life);
    if (st == XY_OK && xy_vec_append(&all, &end) != XY_OK)
        st = xy_fail_memory("starting processes");
    if (st == XY_OK)
        st = cost_command_run_to(all.data, seconds, &last, line, arg, &code);
    cost_words_cleanup(&all);
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
    if (sscanf(line, "step %u %u", &i, &j) == 2) {
        if (r->pair->step != NULL && j > 0 && i <= j)
            r->pair->step(r->pair->arg, r->done + r->share * i / j);
        return XY_OK;
    }
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "message %u %u %lf %lf %lf %lf %lf %lf", &i, &j, &m.bytes, &m.blocking,
               &m.nonblocking, &m.send, &m.receive, &m.gap) != 8)
        return XY_OK;
    return xy_vec_append(&r->samples, &m) == XY_OK ? XY_OK : xy_fail_memory("reading messages");
}

static xy_status_t measure_sizes(reading_t *r, const double *sizes, size_t count)
{
    const cost_pair_t *p = r->pair;
    char a[16], b[16], seconds[32], passes[16];
    xy_text_t list = XY_TEXT_INIT;
    xy_status_t st;

    for (size_t i = 0; i < count; i++)
        xy_text_addf(&list, "%s%.0f", i > 0 ? "," : "", sizes[i]);
    snprintf(a, sizeof(a), "%u", p->a);
    snprintf(b, sizeof(b), "%u", p->b);
    snprintf(seconds, sizeof(seconds), "%g", p->seconds > 0 ? p->seconds : 0.1);
    snprintf(passes, sizeof(passes), "%d", PASSES);
    if (list.failed) {
        st = xy_fail_memory("listing sizes");
    } else {
        const char *const arguments[] = {"pair", a, b, list.s, seconds, passes, NULL};

        st = cost_probe_run(p->words, arguments, COST_PROBE_LIMIT, read_line, r);
    }
    xy_text_cleanup(&list);
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

/* Sizes that halve the gaps in which the time jumps. */
static size_t list_jumps(const xy_vec_t *samples, double sizes[SIZES_MAX])
{
    const xy_message_sample_t *s = samples->data;
    size_t n = 0;

    for (size_t i = 2; i < samples->count && n + 2 < SIZES_MAX; i++) {
        double slope = (s[i - 1].blocking - s[i - 2].blocking) / (s[i - 1].bytes - s[i - 2].bytes);
        double gap = s[i].bytes - s[i - 1].bytes;
        double expected = s[i - 1].blocking + fmax(slope, 0) * gap;

        if (gap < 3 || fabs(s[i].blocking - expected) < jump * expected)
            continue;
        sizes[n++] = round(s[i - 1].bytes + gap / 3);
        sizes[n++] = round(s[i - 1].bytes + 2 * gap / 3);
    }
    return n;
}

xy_status_t cost_pair_measure(const cost_pair_t *pair, xy_message_cost_t *message_p)
{
    reading_t r = {.pair = pair, .share = 0.8, .samples = XY_VEC_INIT(xy_message_sample_t)};
    double sizes[SIZES_MAX];
    xy_message_cost_t m = {0};
    bool is_given = pair->sizes != NULL && pair->sizes->count > 0;
    size_t count = is_given ? take_sizes(pair->sizes, sizes)
                            : list_sizes(pair->largest > 0 ? pair->largest : 4 << 20, sizes);
    xy_status_t st = measure_sizes(&r, sizes, count);

    if (st == XY_OK && !is_given && (count = list_jumps(&r.samples, sizes)) > 0) {
        r.done = r.share;
        r.share = 1 - r.done;
        st = measure_sizes(&r, sizes, count);
    }
    if (st == XY_OK)
        st = xy_message_fit(r.samples.data, r.samples.count, &m.model);
    if (st == XY_OK) {
        m.library = xy_strdup(r.library);
        if (m.library == NULL) {
            xy_message_cost_cleanup(&m);
            st = xy_fail_memory("storing a model");
        }
    }
    if (st == XY_OK)
        *message_p = m;
    xy_vec_cleanup(&r.samples);
    return st;
}

void cost_pair_report(const xy_message_cost_t *m, FILE *report)
{
    const xy_message_lines_t *k = &m->model.kind[XY_MESSAGE_BLOCKING];
    char latency[32], rate[32];
    double slope = k->time.line[k->time.count - 1].a;

    fprintf(report, "message  %s - %s: %s, %s, %zu samples, %zu intervals, error %.2g %% (%s)\n",
            m->cluster1, m->cluster2, xy_format_seconds(k->latency, latency),
            slope > 0 ? xy_format_bandwidth(1 / slope, rate) : "no bandwidth", m->model.count,
            k->time.count, 100 * k->error_mean, m->library);
}
