/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/launcher.h"
#include "measure/message_bench_internal.h"
#include "measure/timing.h"

enum { PASSES = 3, ALONE_FROM = 128 << 10 /* bytes */ };

int bench_launches(const measure_bench_t *pair)
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
    if (st == XY_OK)
        st = measure_words_push_all(&all, arguments);
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

/* Read the times of collectives of two processes, in the order of BENCH_BARRIER and those behind
 * it; a time that a probe does not print was not measured. */
static bool read_meetings(bench_t *r, const char *line)
{
    static const char word[] = "meet ";
    double times[BENCH_MEETINGS] = {0};
    int n = 0;

    if (strncmp(line, word, sizeof(word) - 1) != 0)
        return false;
    line += sizeof(word) - 1;
    for (char *end; n < BENCH_MEETINGS; n++, line = end) {
        times[n] = strtod(line, &end);
        if (end == line)
            break;
    }
    for (int k = 0; k < BENCH_MEETINGS; k++)
        r->meet[k][r->met] = times[k];
    return n >= 3;
}

/* Reads a line of the measuring program; unknown lines are ignored. */
static xy_status_t read_line(void *arg, char *line)
{
    bench_t *r = arg;
    xy_message_sample_t m = {0};
    unsigned i, j;

    if (sscanf(line, "library %127[^\n]", r->library) == 1)
        return XY_OK;
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "eager %lf", &r->eager) == 1)
        return XY_OK;
    if (r->met < COST_LAUNCHES_MAX && read_meetings(r, line)) {
        r->met++;
        return XY_OK;
    }
    if (r->paced < COST_LAUNCHES_MAX &&
        /* NOLINTNEXTLINE(cert-err34-c) */
        sscanf(line, "pace %lf %lf", &r->pace[r->paced], &r->compute[r->paced]) == 2) {
        r->paced++;
        return XY_OK;
    }
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "step %u %u", &i, &j) == 2) {
        if (r->pair->step != NULL && j > 0 && i <= j)
            r->pair->step(r->pair->arg, r->done + r->share * i / j);
        return XY_OK;
    }
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "message %u %u %lf %lf %lf %lf %lf %lf %lf %lf", &i, &j, &m.bytes, &m.blocking,
               &m.nonblocking, &m.send, &m.receive, &m.gap, &m.exchange, &m.hold) < 8)
        return XY_OK;
    return xy_vec_append(&r->samples, &m) == XY_OK ? XY_OK : xy_fail_memory("reading messages");
}

/* Whether another launch, as long as those before it, ends within the time. */
bool bench_has_time(const bench_t *r)
{
    double taken = measure_now() - r->begin;

    return !(r->pair->budget > 0) || r->launched == 0 ||
           taken + taken / r->launched <= r->pair->budget;
}

/* Add the sizes up to `most` bytes, or above it, to the list. */
static void add_sizes(const double *sizes, size_t count, bool is_above, double most,
                      xy_text_t *list)
{
    for (size_t i = 0; i < count; i++)
        if ((sizes[i] > most) == is_above)
            xy_text_addf(list, "%s%.0f", list->length > 0 ? "," : "", sizes[i]);
}

/* Some sizes in one launch. */
static xy_status_t launch(bench_t *r, const xy_vec_t *words, const char *mode, char *list)
{
    const measure_bench_t *p = r->pair;
    char a[16], b[16], seconds[32], passes[16];
    const char *const arguments[] = {mode, a, b, list, seconds, passes, NULL};

    snprintf(a, sizeof(a), "%u", p->a);
    snprintf(b, sizeof(b), "%u", p->b);
    snprintf(seconds, sizeof(seconds), "%g",
             (p->seconds > 0 ? p->seconds : 0.1) / bench_launches(p));
    snprintf(passes, sizeof(passes), "%d", PASSES);
    return measure_probe_run(words, arguments, COST_PROBE_LIMIT, read_line, r);
}

xy_status_t bench_measure_sizes(bench_t *r, const double *sizes, size_t count)
{
    const measure_bench_t *p = r->pair;
    double most = p->alone != NULL ? ALONE_FROM : INFINITY;
    xy_status_t st = XY_OK;

    for (int is_above = 0; is_above < (p->alone != NULL ? 2 : 1) && st == XY_OK; is_above++) {
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
