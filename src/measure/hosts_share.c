/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bandwidth of several pairs of hosts at once. One pair cannot tell a fast host behind a slow
 * line, which all share, from a slow host: pairs of different hosts are measured alone and
 * together.
 */
#include <math.h>
#include <string.h>

#include "measure/hosts_internal.h"
#include "measure/message_bench.h"

enum { PAIRS_MAX = 4 };

static const double stream_seconds = 0.4;

/* The sets of one run, as the probe wants them, and where the answers go. */
typedef struct {
    hosts_session_t *s;
    xy_text_t text;
    xy_vec_t to; /* of measure_share_t * */
} sets_t;

/* Sixteen messages are a stream; about eight streams fit into the time. */
static double message_bytes(const xy_costs_t *costs, uint32_t c, uint32_t d)
{
    double rate = measure_platform_link(costs, c < d ? c : d, c < d ? d : c).bandwidth;

    return floor(fmin(1 << 20, fmax(1024, rate * stream_seconds / 8 / 16)));
}

/* Hosts of the clusters for which `is_in` holds, one of each cluster in turn; how many. */
static uint32_t list_hosts(const xy_eco_t *eco, const bool *is_in, uint32_t hosts[PAIRS_MAX])
{
    uint32_t n = 0;

    for (uint32_t round = 0, found = 1; n < PAIRS_MAX && found > 0; round++) {
        found = 0;
        for (uint32_t c = 0; c < eco->clusters && n < PAIRS_MAX; c++) {
            uint32_t host = is_in[c] ? eco->cluster[c].first : eco->machines;

            for (uint32_t k = 0; k < round && host < eco->machines; k++)
                host = hosts_next(eco, c, host);
            if (host < eco->machines) {
                hosts[n++] = host;
                found++;
            }
        }
    }
    return n;
}

/* The pairs of the hosts of both lists as a set, if there are several. */
static xy_status_t add_set(sets_t *sets, const xy_costs_t *costs, const bool *left,
                           const bool *right, measure_share_t *to)
{
    const xy_eco_t *eco = sets->s->eco;
    uint32_t a[PAIRS_MAX], b[PAIRS_MAX];
    uint32_t n = list_hosts(eco, left, a), m = list_hosts(eco, right, b);

    n = n < m ? n : m;
    if (n < 2)
        return XY_OK;
    xy_text_addf(&sets->text, "%s%.0f@", sets->to.count > 0 ? ";" : "",
                 message_bytes(costs, eco->cluster_of[a[0]], eco->cluster_of[b[0]]));
    for (uint32_t i = 0; i < n; i++)
        xy_text_addf(&sets->text, "%s%u:%u", i > 0 ? "," : "", hosts_rank(sets->s, a[i]),
                     hosts_rank(sets->s, b[i]));
    return !sets->text.failed && xy_vec_append(&sets->to, &to) == XY_OK
               ? XY_OK
               : xy_fail_memory("listing pairs of hosts");
}

/* Two clusters of one site. */
static xy_status_t add_clusters(sets_t *sets, const xy_costs_t *costs, bool *left, bool *right,
                                measure_share_t *to)
{
    const xy_eco_t *eco = sets->s->eco;
    size_t n = eco->clusters;
    xy_status_t st = XY_OK;

    for (size_t c = 0; c < n; c++)
        for (size_t d = c + 1; d < n && st == XY_OK; d++) {
            if (eco->site_of[c] != eco->site_of[d])
                continue;
            memset(left, 0, n * sizeof(*left));
            memset(right, 0, n * sizeof(*right));
            left[c] = right[d] = true;
            st = add_set(sets, costs, left, right, &to[c * n + d]);
        }
    return st;
}

/* Adds a set of pairs for each two sites, to measure the bandwidth they share. */
static xy_status_t add_sites(sets_t *sets, const xy_costs_t *costs, bool *left, bool *right,
                             measure_share_t *to)
{
    const xy_eco_t *eco = sets->s->eco;
    xy_status_t st = XY_OK;

    for (uint32_t s = 0; s < eco->sites; s++)
        for (uint32_t t = s + 1; t < eco->sites && st == XY_OK; t++) {
            for (uint32_t c = 0; c < eco->clusters; c++) {
                left[c] = eco->site_of[c] == s;
                right[c] = eco->site_of[c] == t;
            }
            st = add_set(sets, costs, left, right, &to[(size_t)s * eco->sites + t]);
        }
    return st;
}

static xy_status_t read_share(void *arg, char *line)
{
    sets_t *sets = arg;
    measure_share_t share;
    unsigned set;

    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "together %u %u %lf %lf", &set, &share.pairs, &share.times, &share.rate) ==
            4 &&
        set < sets->to.count)
        *XY_VEC_AT(&sets->to, measure_share_t *, set) = share;
    return XY_OK;
}

static xy_status_t run_sets(sets_t *sets)
{
    char seconds[32];
    const char *const arguments[] = {"together", sets->text.s, seconds, NULL};

    if (sets->to.count == 0)
        return XY_OK;
    snprintf(seconds, sizeof(seconds), "%g", stream_seconds);
    return measure_probe_run(&sets->s->words, arguments, COST_PROBE_LIMIT, read_share, sets);
}

xy_status_t hosts_measure_shares(hosts_session_t *s, const xy_costs_t *costs,
                                 measure_share_t **clusters_p, measure_share_t **sites_p)
{
    size_t n = s->eco->clusters, m = s->eco->sites;
    sets_t sets = {.s = s, .text = XY_TEXT_INIT, .to = XY_VEC_INIT(measure_share_t *)};
    measure_share_t *clusters = xy_calloc(n * n, sizeof(*clusters));
    measure_share_t *sites = xy_calloc(m * m, sizeof(*sites));
    bool *chosen = xy_calloc(2 * n, sizeof(*chosen));
    xy_status_t st = clusters != NULL && sites != NULL && chosen != NULL
                         ? add_clusters(&sets, costs, chosen, chosen + n, clusters)
                         : xy_fail_memory("listing pairs of hosts");

    if (st == XY_OK)
        st = add_sites(&sets, costs, chosen, chosen + n, sites);
    if (st == XY_OK)
        st = run_sets(&sets);
    if (st == XY_OK) {
        *clusters_p = clusters;
        *sites_p = sites;
    } else {
        xy_free(clusters);
        xy_free(sites);
    }
    xy_free(chosen);
    xy_text_cleanup(&sets.text);
    xy_vec_cleanup(&sets.to);
    return st;
}
