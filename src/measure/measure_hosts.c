/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/measure_hosts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/hosts_internal.h"
#include "measure/message_bench.h"

/* The part of the time that latencies take; messages take the rest. */
static const double latency_share = 0.2;

/* About so many sizes of messages are measured, with those at jumps. */
static const double sizes_usual = 75;

/* How long a host may take to answer. */
static const double answer_seconds = 30;

/* ---- Hosts ---- */

static bool is_same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, ".");

    return n > 0 && n == strcspn(b, ".") && strncmp(a, b, n) == 0;
}

/* Launchers put processes in an order of their own: process `rank` runs on a host that calls itself
 * `name`. */
static void place_rank(hosts_session_t *s, uint32_t rank, const char *name)
{
    for (size_t i = 0; i < s->hosts.called.count; i++)
        if (is_same_host(XY_VEC_AT(&s->hosts.called, char *, i), name))
            XY_VEC_AT(&s->rank_of, uint32_t, i) = rank;
}

uint32_t hosts_rank(const hosts_session_t *s, uint32_t host)
{
    return XY_VEC_AT(&s->rank_of, uint32_t, host);
}

uint32_t hosts_next(const xy_eco_t *eco, uint32_t cluster, uint32_t after)
{
    uint32_t i = after + 1;

    while (i < eco->machines && eco->cluster_of[i] != cluster)
        i++;
    return i;
}

static xy_status_t list_ranks(hosts_session_t *s)
{
    static const uint32_t one = 1;

    for (uint32_t i = 0; i < s->hosts.names.count; i++)
        if (xy_vec_append(&s->rank_of, &i) != XY_OK || xy_vec_append(&s->cores, &one) != XY_OK)
            return xy_fail_memory("listing processes");
    return XY_OK;
}

/* ---- What the probe says ---- */

/* The bar is in thousandths of everything. */
static void show_step(void *arg, double part)
{
    const hosts_session_t *s = arg;
    uint64_t now = (uint64_t)(1000 * (s->done + s->share * part));

    if (s->c->bar != NULL && now > s->c->bar->done)
        xy_progress_step(s->c->bar, now - s->c->bar->done);
}

/* Reads a line of the measuring program: a host, a step or a latency. */
static xy_status_t read_latency(void *arg, char *line)
{
    hosts_session_t *s = arg;
    uint32_t i, j, n = s->matrix->count;
    double seconds;
    char name[256];

    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "host %u %255s %u", &i, name, &j) == 3) {
        place_rank(s, i, name);
        if (i < n)
            s->cores_by_rank[i] = j;
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

static xy_status_t name_matrix(hosts_session_t *s)
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

/* Measures the latencies between all hosts into the matrix. */
static xy_status_t measure_latencies(hosts_session_t *s)
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
    s->cores_by_rank = xy_calloc(n, sizeof(*s->cores_by_rank));
    if (s->by_rank == NULL || s->cores_by_rank == NULL)
        return xy_fail_memory("measuring latencies");
    st = measure_probe_run(&s->words, arguments, 120 + (double)n, read_latency, s);
    for (uint32_t i = 0; st == XY_OK && i < n; i++) {
        uint32_t r = hosts_rank(s, i);

        XY_VEC_AT(&s->cores, uint32_t, i) = s->cores_by_rank[r];
        for (uint32_t j = 0; j < n; j++)
            s->matrix->second[(size_t)i * n + j] = s->by_rank[(size_t)r * n + hosts_rank(s, j)];
    }
    return st;
}

/* Messages between two processes that the words start; `to`: the other cluster, or that they are on
 * one host. */
static xy_status_t measure_pair(hosts_session_t *s, const xy_vec_t *words, uint32_t a, uint32_t b,
                                uint32_t cluster, const char *to, xy_costs_t *costs)
{
    double seconds = s->c->seconds > 0 ? s->c->seconds : 0.1;
    measure_bench_t pair = {.words = words,
                            .a = a < b ? a : b,
                            .b = a < b ? b : a,
                            .largest = s->c->largest,
                            .sizes = s->c->sizes,
                            .seconds =
                                s->budget > 0 ? fmin(seconds, s->budget / sizes_usual) : seconds,
                            .budget = s->budget,
                            .step = show_step,
                            .arg = s};
    xy_message_cost_t m = {0};
    xy_status_t st = measure_bench_run(&pair, &m);

    if (st != XY_OK)
        return st;
    m.cluster1 = xy_sprintf("C%u", cluster + 1);
    m.cluster2 = xy_strdup(to);
    if (m.cluster1 == NULL || m.cluster2 == NULL) {
        xy_message_cost_cleanup(&m);
        return xy_fail_memory("storing a model");
    }
    if (s->c->report != NULL)
        measure_bench_report(&m, s->c->report);
    return xy_costs_set_message(costs, &m);
}

/* Too noisy: it was reported; the others continue. */
static xy_status_t count_failed(hosts_session_t *s, xy_status_t st)
{
    if (st != XY_EINVAL)
        return st;
    s->failed++;
    return XY_OK;
}

static void next_step(hosts_session_t *s, double steps)
{
    s->done += s->share;
    s->share = (1 - latency_share) / steps;
}

/* Inside each cluster and between each two, by the first hosts of each. */
static xy_status_t measure_clusters(hosts_session_t *s, double steps, xy_costs_t *costs)
{
    const xy_eco_t *eco = s->eco;
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; i < eco->clusters && st == XY_OK; i++)
        for (uint32_t j = i; j < eco->clusters && st == XY_OK; j++) {
            uint32_t a = eco->cluster[i].first;
            uint32_t b = i == j ? hosts_next(eco, i, a) : eco->cluster[j].first;
            char to[16];

            next_step(s, steps);
            snprintf(to, sizeof(to), "C%u", j + 1);
            if (b < eco->machines)
                st = count_failed(s, measure_pair(s, &s->words, hosts_rank(s, a), hosts_rank(s, b),
                                                  i, to, costs));
        }
    return st;
}

/* Two processes on the first host of a cluster. */
static xy_status_t measure_inside(hosts_session_t *s, uint32_t c, xy_costs_t *costs)
{
    xy_vec_t words = XY_VEC_INIT(char *);
    measure_launcher_t one;
    xy_status_t st =
        measure_launcher_one_host(&s->launcher, s->matrix->name[s->eco->cluster[c].first], 2, &one);

    if (st == XY_OK)
        st = measure_launcher_words(&one, 2, s->c->agent, s->c->extra, &words);
    if (st == XY_OK)
        st = count_failed(s, measure_pair(s, &words, 0, 1, c, XY_COSTS_LOCAL, costs));
    measure_words_cleanup(&words);
    return st;
}

/* Measures messages inside one host of each cluster with several cores. */
static xy_status_t measure_hosts(hosts_session_t *s, double steps, xy_costs_t *costs)
{
    xy_status_t st = XY_OK;

    for (uint32_t c = 0; c < s->eco->clusters && st == XY_OK; c++) {
        next_step(s, steps);
        if (XY_VEC_AT(&s->cores, uint32_t, s->eco->cluster[c].first) > 1)
            st = measure_inside(s, c, costs);
    }
    /* Slurm's launcher reads the file of hosts from there. */
    if (s->launcher.kind == COST_SLURM)
        setenv("SLURM_HOSTFILE", s->launcher.hostfile, 1);
    return st;
}

static xy_status_t measure_messages(hosts_session_t *s, xy_costs_t *costs)
{
    double n = s->eco->clusters, steps = n * (n + 1) / 2 + n;
    xy_status_t st;

    s->budget = s->c->budget / steps;
    st = measure_clusters(s, steps, costs);
    return st == XY_OK && s->c->has_inside ? measure_hosts(s, steps, costs) : st;
}

/* Makes a machine of the measured clusters and stores it as the platform. */
static xy_status_t describe(hosts_session_t *s, xy_costs_t *costs)
{
    measure_platform_t p = {
        .eco = s->eco, .matrix = s->matrix, .cores = s->cores.data, .costs = costs};
    measure_share_t *clusters = NULL, *sites = NULL;
    xy_machine_t *machine;
    xy_status_t st = hosts_measure_shares(s, costs, &clusters, &sites);

    p.between_clusters = clusters;
    p.between_sites = sites;
    if (st == XY_OK)
        st = measure_platform_make(&p, s->c->hosts, &machine);
    if (st == XY_OK) {
        xy_machine_destroy(costs->platform);
        costs->platform = machine;
    }
    xy_free(clusters);
    xy_free(sites);
    return st;
}

static xy_status_t store_hosts(const hosts_session_t *s, const xy_eco_t *eco, xy_costs_t *costs)
{
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; i < eco->machines && st == XY_OK; i++) {
        char cluster[16];

        snprintf(cluster, sizeof(cluster), "C%u", eco->cluster_of[i] + 1);
        st = xy_costs_set_host(costs, s->matrix->name[i], cluster);
    }
    return st;
}

/* Reads the hosts, finds the launcher and prepares the measuring program on them. */
static xy_status_t start(hosts_session_t *s)
{
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
    return st;
}

/* Measures latencies, clusters, messages and kernels of all hosts. */
static xy_status_t calibrate(hosts_session_t *s, xy_costs_t *costs)
{
    double rho = s->c->rho > 0 ? s->c->rho : XY_ECO_RHO;
    double rho_site = s->c->rho_site > 0 ? s->c->rho_site : XY_ECO_RHO_SITE;
    xy_status_t st = start(s);

    if (st == XY_OK)
        st = measure_latencies(s);
    if (st == XY_OK)
        st = xy_eco_compute(s->matrix, rho, fmax(rho, rho_site), &s->eco);
    if (st != XY_OK)
        return st;
    if (s->c->report != NULL)
        xy_eco_print(s->eco, s->matrix, s->c->report);
    st = store_hosts(s, s->eco, costs);
    if (st == XY_OK)
        st = measure_messages(s, costs);
    if (st == XY_OK)
        st = describe(s, costs);
    return st == XY_OK ? hosts_measure_kernels(s, costs) : st;
}

xy_status_t xy_calibrate_hosts(const xy_hosts_calibration_t *c, xy_costs_t *costs, int *failed_p)
{
    hosts_session_t s = {.c = c,
                         .hosts = MEASURE_DISCOVERY_INIT,
                         .words = XY_VEC_INIT(char *),
                         .rank_of = XY_VEC_INIT(uint32_t),
                         .cores = XY_VEC_INIT(uint32_t),
                         .share = latency_share};
    xy_status_t st = calibrate(&s, costs);

    *failed_p += s.failed;
    measure_launcher_cleanup(&s.launcher);
    measure_discovery_cleanup(&s.hosts);
    measure_words_cleanup(&s.words);
    xy_vec_cleanup(&s.rank_of);
    xy_vec_cleanup(&s.cores);
    xy_free(s.by_rank);
    xy_free(s.cores_by_rank);
    xy_eco_destroy(s.eco);
    xy_latency_destroy(s.matrix);
    return st;
}
