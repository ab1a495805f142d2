/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of clusters: the command that measures them runs on a host of each, through the agent,
 * and leaves a file of costs in the directory that hosts share. Hosts are measured one after the
 * other: two of them may be one machine in two names.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/hosts_internal.h"
#include "measure/measure_process.h"

/* Beyond the time that the command was given. */
static const double patience = 600;

/* A host that is so much slower or faster than another of its cluster is reported. */
static const double alike = 1.10;

static xy_status_t ignore_line(void *arg, char *line)
{
    (void)arg, (void)line;
    return XY_OK;
}

/* COMMAND HOST, for any way to reach one. */
static xy_status_t push_reach(const hosts_session_t *s, const char *host, xy_vec_t *words)
{
    const char *const slurm[] = {s->launcher.command, "--ntasks=1", "-w", host, NULL};
    const char *const agent[] = {s->c->agent, host, NULL};
    const char *const ssh[] = {"ssh", "-oBatchMode=yes", host, NULL};

    if (s->launcher.kind == COST_SLURM)
        return measure_words_push_all(words, slurm);
    return measure_words_push_all(words, s->c->agent != NULL ? agent : ssh);
}

/* Runs xylem calibrate on a host, with its output in `file`; *code_p is its exit code. */
static xy_status_t run_on(const hosts_session_t *s, const char *host, const char *file, int *code_p)
{
    xy_vec_t words = XY_VEC_INIT(char *);
    char *end = NULL, seconds[32];
    const char *const last[] = {"--seconds", seconds, "--output", file, NULL};
    xy_status_t st = push_reach(s, host, &words);

    for (size_t i = 0; st == XY_OK && i < s->c->kernels->count; i++)
        st = measure_words_push(&words, XY_VEC_AT(s->c->kernels, const char *, i));
    snprintf(seconds, sizeof(seconds), "%.0fms",
             1000 * s->c->kernel_seconds /
                 (s->c->on_every_host ? s->eco->machines : s->eco->clusters));
    if (st == XY_OK)
        st = measure_words_push_all(&words, last);
    if (st == XY_OK && xy_vec_append(&words, &end) != XY_OK)
        st = xy_fail_memory("starting processes");
    if (st == XY_OK)
        st = measure_command_run(words.data, patience, ignore_line, NULL, code_p);
    measure_words_cleanup(&words);
    return st;
}

/* The measurements of a host; NULL: none (reported). The caller owns it. */
static xy_status_t measure_on(hosts_session_t *s, uint32_t host, xy_costs_t **costs_p)
{
    const char *name = s->matrix->name[host];
    char file[128];
    xy_scratch_t *guard;
    int code = 0;
    xy_status_t st;

    *costs_p = NULL;
    snprintf(file, sizeof(file), "%s/kernels.xml", s->launcher.directory);
    guard = xy_scratch_guard(file);
    st = run_on(s, name, file, &code);
    /* 1: some were too noisy, which the host has said; the others are there. */
    s->failed += code != 0;
    if (st == XY_OK && access(file, R_OK) == 0)
        st = xy_costs_load(file, costs_p);
    else if (st == XY_OK)
        xy_warn("host %s measured no kernels ('%s' failed there with exit code %d); is Xylem "
                "installed on it, and its home directory shared?",
                name, XY_VEC_AT(s->c->kernels, const char *, 0), code);
    unlink(file);
    xy_scratch_release(guard);
    return st;
}

/* ---- Several hosts of a cluster ---- */

/* How slow a host is, in units of another: the mean over the kernels of both, at their largest
 * sizes. */
static double slowness(const xy_costs_t *costs, const xy_costs_t *unit)
{
    double sum = 0;
    int n = 0;

    for (size_t i = 0; i < unit->kernels.count; i++) {
        const xy_kernel_cost_t *a = &XY_VEC_AT(&unit->kernels, xy_kernel_cost_t, i);
        const xy_kernel_cost_t *b = xy_costs_kernel(costs, a->name, NULL, a->threads);
        double size = a->fit.count > 0 ? a->fit.intervals[a->fit.count - 1].end : 0;

        if (b == NULL || b->fit.count == 0 || !(size > 0))
            continue;
        size = fmin(size, b->fit.intervals[b->fit.count - 1].end);
        sum += log(xy_fit_value(&b->fit, size).seconds / xy_fit_value(&a->fit, size).seconds);
        n++;
    }
    return n > 0 ? exp(sum / n) : 1;
}

typedef struct {
    uint32_t host;
    xy_costs_t *costs;
    double slowness; /* in units of the first */
} measured_t;

static int by_slowness(const void *a, const void *b)
{
    const measured_t *p = a, *q = b;

    if (p->slowness != q->slowness)
        return p->slowness < q->slowness ? -1 : 1;
    return (p->host > q->host) - (p->host < q->host);
}

/* The host in the middle stands for all; those that differ are reported. */
static const measured_t *choose(const hosts_session_t *s, xy_vec_t *measured)
{
    measured_t *m = measured->data, *middle;

    if (measured->count == 0)
        return NULL;
    for (size_t i = measured->count; i-- > 0;)
        m[i].slowness = slowness(m[i].costs, m[0].costs);
    qsort(m, measured->count, sizeof(*m), by_slowness);
    middle = &m[(measured->count - 1) / 2];
    for (size_t i = 0; i < measured->count; i++) {
        double times = m[i].slowness / middle->slowness;

        if (times > alike || times < 1 / alike)
            xy_warn("kernels take %.2f times as long on %s as on %s, which stands for its cluster",
                    times, s->matrix->name[m[i].host], s->matrix->name[middle->host]);
    }
    return middle;
}

/* Move the kernels into the store, as those of the cluster. */
static xy_status_t keep(const hosts_session_t *s, xy_costs_t *from, uint32_t host, xy_costs_t *to)
{
    uint32_t c = s->eco->cluster_of[host];
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < from->kernels.count && st == XY_OK; i++) {
        xy_kernel_cost_t *k = &XY_VEC_AT(&from->kernels, xy_kernel_cost_t, i);
        char *cluster = xy_sprintf("C%u", c + 1);

        if (cluster == NULL)
            return xy_fail_memory("storing a model");
        xy_free(k->cluster);
        k->cluster = cluster;
        if (s->c->report != NULL && k->fit.count > 0)
            fprintf(s->c->report, "%-8s of C%u, measured on %s: %ld samples, error %.2g %%\n",
                    k->name, c + 1, s->matrix->name[host], k->fit.samples, 100 * k->fit.error_mean);
        st = xy_costs_set_kernel(to, k);
    }
    return st;
}

/* Measures the kernels on one host of a cluster, or on all of them, and keeps one result. */
static xy_status_t measure_cluster(hosts_session_t *s, uint32_t c, xy_costs_t *costs)
{
    xy_vec_t measured = XY_VEC_INIT(measured_t);
    const measured_t *one;
    xy_status_t st = XY_OK;

    for (uint32_t i = s->eco->cluster[c].first; i < s->eco->machines && st == XY_OK;
         i = s->c->on_every_host ? hosts_next(s->eco, c, i) : s->eco->machines) {
        measured_t m = {.host = i};

        st = measure_on(s, i, &m.costs);
        if (st == XY_OK && m.costs != NULL && xy_vec_append(&measured, &m) != XY_OK) {
            xy_costs_destroy(m.costs);
            st = xy_fail_memory("measuring kernels");
        }
    }
    one = st == XY_OK ? choose(s, &measured) : NULL;
    if (one != NULL)
        st = keep(s, one->costs, one->host, costs);
    for (size_t i = 0; i < measured.count; i++)
        xy_costs_destroy(XY_VEC_AT(&measured, measured_t, i).costs);
    xy_vec_cleanup(&measured);
    return st;
}

xy_status_t hosts_measure_kernels(hosts_session_t *s, xy_costs_t *costs)
{
    xy_status_t st = XY_OK;

    if (s->c->kernels == NULL || s->c->kernels->count == 0)
        return XY_OK;
    for (uint32_t c = 0; c < s->eco->clusters && st == XY_OK; c++)
        st = measure_cluster(s, c, costs);
    return st;
}
