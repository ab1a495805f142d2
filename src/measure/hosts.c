/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/hosts.h"

#include <string.h>

#include "measure/discover.h"
#include "measure/launcher.h"
#include "measure/message_bench.h"

/* The part of the time that latencies take; messages take the rest. */
static const double latency_share = 0.2;

/* How long a host may take to answer. */
static const double answer_seconds = 30;

/* One calibration in progress. Hosts are numbered in two ways: by their line in the user's file,
 * and by the rank of the process that the launcher starts on them. */
typedef struct {
    const xy_hosts_calibration_t *c;
    measure_discovery_t hosts; /* the hosts of the file that answered, by line */
    xy_vec_t rank_of;          /* of uint32_t: the rank of the host of each line */
    measure_launcher_t launcher;
    xy_vec_t words;       /* of char *, owned: the command line that starts the processes */
    xy_latency_t *matrix; /* latencies between hosts, by line */
    double *by_rank;      /* the same latencies, by rank */
    double done;          /* the part of the progress bar that is filled, 0 to 1 */
    double share;         /* the part of the bar that the current step fills */
    int failed;           /* pairs that were too noisy */
} session_t;

/* ---- Hosts ---- */

static bool is_same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, ".");

    return n > 0 && n == strcspn(b, ".") && strncmp(a, b, n) == 0;
}

/* Launchers put processes in an order of their own: process `rank` runs on a host that calls itself
 * `name`. */
static void place_rank(session_t *s, uint32_t rank, const char *name)
{
    for (size_t i = 0; i < s->hosts.called.count; i++)
        if (is_same_host(XY_VEC_AT(&s->hosts.called, char *, i), name))
            XY_VEC_AT(&s->rank_of, uint32_t, i) = rank;
}

static xy_status_t list_ranks(session_t *s)
{
    for (uint32_t i = 0; i < s->hosts.names.count; i++)
        if (xy_vec_append(&s->rank_of, &i) != XY_OK)
            return xy_fail_memory("listing processes");
    return XY_OK;
}

/* ---- What the probe says ---- */

/* The bar is in thousandths of everything. */
static void show_step(void *arg, double part)
{
    const session_t *s = arg;
    uint64_t now = (uint64_t)(1000 * (s->done + s->share * part));

    if (s->c->bar != NULL && now > s->c->bar->done)
        xy_progress_step(s->c->bar, now - s->c->bar->done);
}

static xy_status_t read_latency(void *arg, char *line)
{
    session_t *s = arg;
    uint32_t i, j, n = s->matrix->count;
    double seconds;
    char name[256];

    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "host %u %255s", &i, name) == 2) {
        place_rank(s, i, name);
        return XY_OK;
    }
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "step %u %u", &i, &j) == 2) {
        show_step(s, j > 0 && i <= j ? (double)i / j : 0);
        return XY_OK;
    }
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "latency %u %u %lf", &i, &j, &seconds) != 3)
        return XY_OK;
    if (i >= n || j >= n || !(seconds >= 0))
        return xy_fail(XY_EIO, "the measuring program printed '%s', which is not a result", line);
    s->by_rank[(size_t)i * n + j] = s->by_rank[(size_t)j * n + i] = seconds;
    return XY_OK;
}

static uint32_t rank(const session_t *s, uint32_t host)
{
    return XY_VEC_AT(&s->rank_of, uint32_t, host);
}

static xy_status_t name_matrix(session_t *s)
{
    for (uint32_t i = 0; i < s->matrix->count; i++) {
        char *name = xy_strdup(XY_VEC_AT(&s->hosts.names, char *, i));

        if (name == NULL)
            return xy_fail_memory("naming hosts");
        xy_free(s->matrix->name[i]);
        s->matrix->name[i] = name;
    }
    return XY_OK;
}

static xy_status_t measure_latencies(session_t *s)
{
    static const char *const arguments[] = {"latency", "20", NULL};
    xy_status_t st = xy_latency_create((uint32_t)s->hosts.names.count, &s->matrix);
    uint32_t n;

    if (st == XY_OK)
        st = name_matrix(s);
    if (st != XY_OK)
        return st;
    n = s->matrix->count;
    s->by_rank = xy_calloc((size_t)n * n, sizeof(*s->by_rank));
    if (s->by_rank == NULL)
        return xy_fail_memory("measuring latencies");
    st = measure_probe_run(&s->words, arguments, 120 + (double)n, read_latency, s);
    for (uint32_t i = 0; st == XY_OK && i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            s->matrix->second[(size_t)i * n + j] = s->by_rank[(size_t)rank(s, i) * n + rank(s, j)];
    return st;
}

/* Messages between two processes whose hosts stand for their clusters. */
static xy_status_t measure_pair(session_t *s, uint32_t a, uint32_t b, uint32_t ca, uint32_t cb,
                                xy_costs_t *costs)
{
    measure_bench_t pair = {.words = &s->words,
                            .a = a < b ? a : b,
                            .b = a < b ? b : a,
                            .largest = s->c->largest,
                            .sizes = s->c->sizes,
                            .seconds = s->c->seconds,
                            .step = show_step,
                            .arg = s};
    xy_message_cost_t m = {0};
    xy_status_t st = measure_bench_run(&pair, &m);

    if (st != XY_OK)
        return st;
    m.cluster1 = xy_sprintf("C%u", ca + 1);
    m.cluster2 = xy_sprintf("C%u", cb + 1);
    if (m.cluster1 == NULL || m.cluster2 == NULL) {
        xy_message_cost_cleanup(&m);
        return xy_fail_memory("storing a model");
    }
    if (s->c->report != NULL)
        measure_bench_report(&m, s->c->report);
    return xy_costs_set_message(costs, &m);
}

static uint32_t second_of(const xy_eco_t *eco, uint32_t c)
{
    for (uint32_t i = eco->cluster[c].first + 1; i < eco->machines; i++)
        if (eco->cluster_of[i] == c)
            return i;
    return eco->cluster[c].first;
}

static xy_status_t measure_clusters(session_t *s, const xy_eco_t *eco, xy_costs_t *costs)
{
    double pairs = eco->clusters * (eco->clusters + 1.0) / 2;
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; i < eco->clusters && st == XY_OK; i++)
        for (uint32_t j = i; j < eco->clusters && st == XY_OK; j++) {
            uint32_t a = eco->cluster[i].first,
                     b = i == j ? second_of(eco, i) : eco->cluster[j].first;

            s->done += s->share;
            s->share = (1 - latency_share) / pairs;
            if (a != b)
                st = measure_pair(s, rank(s, a), rank(s, b), i, j, costs);
            /* It was reported; the others continue. */
            if (st == XY_EINVAL) {
                s->failed++;
                st = XY_OK;
            }
        }
    return st;
}

static xy_status_t store_hosts(const session_t *s, const xy_eco_t *eco, xy_costs_t *costs)
{
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; i < eco->machines && st == XY_OK; i++) {
        char cluster[16];

        snprintf(cluster, sizeof(cluster), "C%u", eco->cluster_of[i] + 1);
        st = xy_costs_set_host(costs, s->matrix->name[i], cluster);
    }
    return st;
}

static xy_status_t calibrate(session_t *s, xy_costs_t *costs)
{
    xy_eco_t *eco;
    xy_status_t st = measure_discovery_read(s->c->hosts, &s->hosts);

    if (st == XY_OK)
        st = measure_launcher_find(s->c->launcher, &s->launcher);
    if (st == XY_OK && s->launcher.kind != COST_SLURM)
        st = measure_discover(s->c->hosts, s->c->agent, answer_seconds, &s->hosts);
    if (st == XY_OK)
        st = list_ranks(s);
    if (st == XY_OK)
        st = measure_launcher_prepare(&s->launcher, s->c->compiler, &s->hosts.names);
    if (st == XY_OK)
        st = measure_launcher_words(&s->launcher, s->hosts.names.count, s->c->agent, s->c->extra,
                                    &s->words);
    if (st == XY_OK)
        st = measure_latencies(s);
    if (st == XY_OK)
        st = xy_eco_compute(s->matrix, s->c->rho > 0 ? s->c->rho : 1.20, &eco);
    if (st != XY_OK)
        return st;
    if (s->c->report != NULL)
        xy_eco_print(eco, s->matrix, s->c->report);
    st = store_hosts(s, eco, costs);
    if (st == XY_OK)
        st = measure_clusters(s, eco, costs);
    xy_eco_destroy(eco);
    return st;
}

xy_status_t xy_calibrate_hosts(const xy_hosts_calibration_t *c, xy_costs_t *costs, int *failed_p)
{
    session_t s = {.c = c,
                   .hosts = MEASURE_DISCOVERY_INIT,
                   .words = XY_VEC_INIT(char *),
                   .rank_of = XY_VEC_INIT(uint32_t),
                   .share = latency_share};
    xy_status_t st = calibrate(&s, costs);

    *failed_p += s.failed;
    measure_launcher_cleanup(&s.launcher);
    measure_discovery_cleanup(&s.hosts);
    measure_words_cleanup(&s.words);
    xy_vec_cleanup(&s.rank_of);
    xy_free(s.by_rank);
    xy_latency_destroy(s.matrix);
    return st;
}
