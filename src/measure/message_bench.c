/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/message_bench.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "measure/curve.h"
#include "measure/message_bench_internal.h"
#include "measure/timing.h"

/* More than that is other work on this machine, which is no concern of a model; two hardware
 * threads of a core take twice as long at most. */
static const double pace_max = 1.4, compute_max = 2;

/* ---- Beyond the caches ---- */

/* Some sizes in one launch; with both ways, source and target, they are 32 to 256 MiB. */
static xy_status_t measure_beyond(bench_t *r)
{
    static const double sizes[] = {8 << 20, 16 << 20, 32 << 20, 64 << 20};
    const long room = sysconf(_SC_PHYS_PAGES) / (1 << 20) * sysconf(_SC_PAGESIZE); /* MiB */
    const double *last = &XY_VEC_AT(&r->samples, xy_message_sample_t, r->samples.count - 1).bytes;

    if (r->pair->alone == NULL || room < 2048 || *last >= sizes[0])
        return XY_OK;
    return bench_measure_sizes(r, sizes, sizeof(sizes) / sizeof(sizes[0]));
}

/* ---- The model ---- */

/* The errors at the sizes that were held out, of the faster of both times; and whether to trust. */
static xy_status_t judge(const bench_t *r, xy_message_model_t *model)
{
    char what[192];

    snprintf(what, sizeof(what), "messages of %s",
             r->library[0] != '\0' ? r->library : "the probe");
    for (int k = 0; k < XY_MESSAGE_WAYS; k++) {
        xy_message_lines_t *lines = &model->kind[k];
        measure_trust_t trust = {.samples = (long)model->count,
                                 .dropped = lines->dropped,
                                 .error_mean = lines->error_mean};
        xy_status_t st;

        for (size_t i = 0; lines->latency > 0 && i + 1 < r->held.count; i += 2) {
            const xy_message_sample_t *a = &XY_VEC_AT(&r->held, xy_message_sample_t, i);
            double t = bench_time(a, (xy_message_kind_t)k);

            bench_take_faster(&t, bench_time(a + 1, (xy_message_kind_t)k));
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

/* The factor from medians to means: a program sees the mean of many messages, and the measured
 * medians do not show that others have the cores now and then. By one figure of all timings of a
 * launch: of each size there are too few to tell a mean. */
static double find_pace(bench_t *r)
{
    double pace = r->paced > 0 ? bench_middle(r->pace, (size_t)r->paced) : 1;

    return pace > 1 && pace <= pace_max ? pace : 1;
}

static double find_compute(bench_t *r)
{
    double times = bench_middle(r->compute, (size_t)r->paced);

    return times <= compute_max ? times : 0;
}

/* Scales all times by the pace of the clock. */
static void scale_samples(xy_vec_t *samples, double pace)
{
    for (size_t i = 0; i < samples->count; i++) {
        xy_message_sample_t *s = &XY_VEC_AT(samples, xy_message_sample_t, i);

        s->blocking *= pace;
        s->nonblocking *= pace;
        s->send *= pace;
        s->receive *= pace;
        s->gap *= pace;
        s->exchange *= pace;
        s->hold *= pace;
    }
}

static double middle_meeting(bench_t *r, int meeting)
{
    return fmax(0, bench_middle(r->meet[meeting], (size_t)r->met));
}

/* Sets the times of collectives of two processes, scaled by the pace. */
static void set_meetings(bench_t *r, double pace, xy_message_model_t *m)
{
    m->barrier = pace * middle_meeting(r, BENCH_BARRIER);
    m->copy = pace * middle_meeting(r, BENCH_COPY);
    m->reduce = pace * middle_meeting(r, BENCH_REDUCE);
    m->allreduce = pace * middle_meeting(r, BENCH_ALLREDUCE);
    m->small_bcast = pace * middle_meeting(r, BENCH_SMALL_BCAST);
    m->small_allreduce = pace * middle_meeting(r, BENCH_SMALL_ALLREDUCE);
    m->issue = pace * middle_meeting(r, BENCH_ISSUE);
    m->small_reduce = pace * middle_meeting(r, BENCH_SMALL_REDUCE);
    m->small_scatter = pace * middle_meeting(r, BENCH_SMALL_SCATTER);
    m->small_gather = pace * middle_meeting(r, BENCH_SMALL_GATHER);
    m->small_bcast_back = pace * middle_meeting(r, BENCH_SMALL_BCAST_BACK);
}

/* How long a large send keeps its sender, in units of its message; 0: not measured. Of the largest
 * that a socket may take at once: of smaller ones latencies count, too. */
static double find_hold(const xy_message_model_t *m)
{
    const double socket = 1 << 20;
    double hold = 0;

    for (size_t i = 0; i < m->count && m->samples[i].bytes <= socket; i++) {
        const xy_message_sample_t *s = &m->samples[i];

        if (s->hold > 0 && s->blocking > 0)
            hold = s->hold / s->blocking;
    }
    return hold;
}

/* Fits the model to the samples of all launches; nothing is left allocated on failure. */
static xy_status_t fit_model(bench_t *r, xy_message_cost_t *m)
{
    double pace = find_pace(r);
    xy_status_t st;

    scale_samples(&r->samples, pace);
    scale_samples(&r->held, pace);
    st = xy_message_fit(r->samples.data, r->samples.count, &m->model);
    if (st == XY_OK) {
        m->model.eager = r->eager > 0 ? r->eager : 0;
        m->model.hold = find_hold(&m->model);
    }
    if (st == XY_OK && r->met > 0)
        set_meetings(r, pace, &m->model);
    if (st == XY_OK && r->paced > 0) {
        m->model.pace = pace;
        m->model.compute = find_compute(r);
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
    bench_t r = {.pair = pair,
                 .share = 1.0 / bench_launches(pair),
                 .begin = measure_now(),
                 .samples = XY_VEC_INIT(xy_message_sample_t),
                 .held_out = XY_VEC_INIT(uint64_t),
                 .held = XY_VEC_INIT(xy_message_sample_t)};
    double sizes[BENCH_SIZES_MAX] = {0};
    xy_message_cost_t m = {0};
    bool is_given = pair->sizes != NULL && pair->sizes->count > 0;
    size_t count = is_given ? bench_take_sizes(pair->sizes, sizes)
                            : bench_list_sizes(pair->largest > 0 ? pair->largest : 4 << 20, sizes);
    xy_status_t st = bench_list_held(&r, sizes, count, is_given);

    if (st == XY_OK)
        st = bench_measure_all(&r, sizes, count, is_given);
    if (st == XY_OK)
        st = bench_measure_again(&r);
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
