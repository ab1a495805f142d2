/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/platform.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Streams that carry less than this part of what each carries alone share something. */
static const double shared_below = 0.8;

xy_link_t measure_platform_link(const xy_costs_t *costs, uint32_t cluster1, uint32_t cluster2)
{
    const xy_message_cost_t *cost;
    const xy_message_lines_t *k;
    xy_link_t link = {0};
    char a[16], b[16];
    double slope;

    snprintf(a, sizeof(a), "C%u", cluster1 + 1);
    snprintf(b, sizeof(b), "C%u", cluster2 + 1);
    cost = xy_costs_message(costs, a, b);
    if (cost == NULL || cost->model.kind[XY_MESSAGE_BLOCKING].time.count == 0)
        return link;
    k = &cost->model.kind[XY_MESSAGE_BLOCKING];
    slope = k->time.line[k->time.count - 1].a;
    link.latency = fmax(k->latency - 2 * cost->model.loggp.overhead, k->latency / 2);
    link.bandwidth = slope > 0 ? 1 / slope : 0;
    return link;
}

/* ---- What is known of links ---- */

static xy_link_t link_between(const measure_platform_t *p, uint32_t c, uint32_t d)
{
    xy_link_t link = measure_platform_link(p->costs, c < d ? c : d, c < d ? d : c);

    /* Too noisy for a model: latencies were measured all the same. */
    if (!(link.latency > 0))
        link.latency = p->eco->between[(size_t)c * p->eco->clusters + d];
    return link;
}

/* The largest bandwidth from or to a host of the cluster. */
static double fastest(const measure_platform_t *p, uint32_t c)
{
    double most = 0;

    for (uint32_t d = 0; d < p->eco->clusters; d++)
        most = fmax(most, link_between(p, c, d).bandwidth);
    return most;
}

static measure_share_t share_of(const measure_share_t *all, uint32_t n, uint32_t i, uint32_t j)
{
    if (all == NULL)
        return (measure_share_t){0};
    return i < j ? all[(size_t)i * n + j] : all[(size_t)j * n + i];
}

static bool is_shared(measure_share_t s)
{
    return s.pairs > 1 && s.times < shared_below * s.pairs;
}

/* The capacity of the way between two clusters. */
static double capacity(const measure_platform_t *p, uint32_t c, uint32_t d, double bandwidth)
{
    const xy_eco_t *eco = p->eco;
    measure_share_t share = share_of(p->between_clusters, eco->clusters, c, d);
    double pairs = fmin(eco->cluster[c].machines, eco->cluster[d].machines);

    return is_shared(share) ? fmax(share.rate, bandwidth) : bandwidth * pairs;
}

/* Whether clusters of two sites anywhere share a way. Then all routes between sites are between
 * whole sites: of the routes at both ends only the topmost ones count. */
static bool has_shared_sites(const measure_platform_t *p)
{
    uint32_t n = p->eco->sites;

    for (uint32_t s = 0; s < n; s++)
        for (uint32_t t = s + 1; t < n; t++)
            if (is_shared(share_of(p->between_sites, n, s, t)))
                return true;
    return false;
}

static double hosts_of_site(const xy_eco_t *eco, uint32_t s)
{
    double n = 0;

    for (uint32_t c = 0; c < eco->clusters; c++)
        n += eco->site_of[c] == s ? eco->cluster[c].machines : 0;
    return n;
}

/* ---- Text ---- */

static void put_link(FILE *file, xy_link_t link)
{
    char text[32];

    if (link.latency > 0)
        fprintf(file, " latency=\"%s\"", xy_format_double(link.latency, text));
    if (link.bandwidth > 0)
        fprintf(file, " bandwidth=\"%s\"", xy_format_double(link.bandwidth, text));
}

/* Writes the node of a host. */
static void put_node(const measure_platform_t *p, uint32_t i, FILE *file)
{
    uint32_t c = p->eco->cluster_of[i], cores = p->cores != NULL ? p->cores[i] : 1;
    xy_link_t link = {.bandwidth = fastest(p, c)};

    /* Two of them are between two hosts. */
    if (p->eco->cluster[c].machines > 1)
        link.latency = link_between(p, c, c).latency / 2;
    fputs("<node name=\"", file);
    xy_xml_escape(file, p->matrix->name[i]);
    fputc('"', file);
    put_link(file, link);
    fprintf(file, "><core count=\"%u\"/></node>\n", cores > 0 ? cores : 1);
}

static void put_cluster(const measure_platform_t *p, uint32_t c, FILE *file)
{
    fprintf(file, "<cluster id=\"C%u\" name=\"C%u\">\n", c + 1, c + 1);
    for (uint32_t i = 0; i < p->eco->machines; i++)
        if (p->eco->cluster_of[i] == c)
            put_node(p, i, file);
    fputs("</cluster>\n", file);
}

static void put_site(const measure_platform_t *p, uint32_t s, FILE *file)
{
    fprintf(file, "<site id=\"S%u\" name=\"S%u\">\n", s + 1, s + 1);
    for (uint32_t c = 0; c < p->eco->clusters; c++)
        if (p->eco->site_of[c] == s)
            put_cluster(p, c, file);
    fputs("</site>\n", file);
}

static void put_route(FILE *file, char kind, uint32_t from, uint32_t to, xy_link_t link)
{
    fprintf(file, "<route from=\"%c%u\" to=\"%c%u\"", kind, from + 1, kind, to + 1);
    put_link(file, link);
    fputs("/>\n", file);
}

/* One way for all clusters of two sites: the least latency, so that what the models of pairs say
 * beyond it is still theirs. */
static void put_site_route(const measure_platform_t *p, uint32_t s, uint32_t t, FILE *file)
{
    const xy_eco_t *eco = p->eco;
    measure_share_t share = share_of(p->between_sites, eco->sites, s, t);
    xy_link_t all = {.latency = INFINITY};

    for (uint32_t c = 0; c < eco->clusters; c++)
        for (uint32_t d = 0; d < eco->clusters; d++)
            if (eco->site_of[c] == s && eco->site_of[d] == t) {
                xy_link_t link = link_between(p, c, d);

                all.latency = fmin(all.latency, link.latency);
                all.bandwidth = fmax(all.bandwidth, link.bandwidth);
            }
    all.bandwidth = is_shared(share)
                        ? fmax(share.rate, all.bandwidth)
                        : all.bandwidth * fmin(hosts_of_site(eco, s), hosts_of_site(eco, t));
    put_route(file, 'S', s, t, all);
}

/* Writes the routes between clusters, or between sites if those share links. */
static void put_routes(const measure_platform_t *p, FILE *file)
{
    const xy_eco_t *eco = p->eco;
    bool by_site = has_shared_sites(p);

    for (uint32_t c = 0; c < eco->clusters; c++)
        for (uint32_t d = c + 1; d < eco->clusters; d++) {
            xy_link_t link = link_between(p, c, d);

            if (by_site && eco->site_of[c] != eco->site_of[d])
                continue;
            link.bandwidth = capacity(p, c, d, link.bandwidth);
            put_route(file, 'C', c, d, link);
        }
    for (uint32_t s = 0; by_site && s < eco->sites; s++)
        for (uint32_t t = s + 1; t < eco->sites; t++)
            put_site_route(p, s, t, file);
}

xy_status_t measure_platform_make(const measure_platform_t *p, const char *name,
                                  xy_machine_t **machine_p)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    xy_status_t st;

    if (file == NULL)
        return xy_fail_memory("describing the hosts");
    fputs("<machine name=\"", file);
    xy_xml_escape(file, name);
    fputs("\" version=\"1\">\n", file);
    for (uint32_t s = 0; s < p->eco->sites; s++)
        put_site(p, s, file);
    put_routes(p, file);
    fputs("</machine>\n", file);
    if (fclose(file) != 0)
        st = xy_fail_memory("describing the hosts");
    else
        st = xy_machine_parse(text, length, name, machine_p);
    free(text);
    return st;
}
