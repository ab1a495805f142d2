/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/eco.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    float cost; /* as measured: a float's 24 bits are more than a latency has */
    uint32_t a, b;
} edge_t;

/* The state of the search. `cluster` is a forest: a root stands for its cluster. */
typedef struct {
    uint32_t n;
    const xy_latency_t *matrix;
    double rho;
    const double *own; /* edge of each machine to itself; NULL: there is none */
    uint32_t *cluster;
    double *edge_min;   /* of each machine */
    double *inside_min; /* of each root; INFINITY: single */
    edge_t *edges;
    size_t edge_count;
} eco_t;

static double cost_between(const xy_latency_t *m, uint32_t a, uint32_t b)
{
    return fmin(m->second[(size_t)a * m->count + b], m->second[(size_t)b * m->count + a]);
}

static uint32_t find_root(eco_t *e, uint32_t i)
{
    while (e->cluster[i] != i)
        i = e->cluster[i] = e->cluster[e->cluster[i]];
    return i;
}

/* Ties by position, so that the outcome is the same whatever qsort does. */
static int by_cost(const void *a, const void *b)
{
    const edge_t *p = a, *q = b;

    if (p->cost != q->cost)
        return p->cost < q->cost ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/* The rule: may an edge of this cost join the clusters of a and b? */
static xy_eco_reason_t judge(eco_t *e, uint32_t a, uint32_t b, double cost, double *bound_p)
{
    double machine = e->rho * fmin(e->edge_min[a], e->edge_min[b]);
    double cluster = e->rho * fmin(e->inside_min[find_root(e, a)], e->inside_min[find_root(e, b)]);

    *bound_p = fmin(machine, cluster);
    if (cost > machine)
        return XY_ECO_FAR_MACHINE;
    return cost > cluster ? XY_ECO_FAR_CLUSTER : XY_ECO_JOINED;
}

/* Lists all pairs of machines, cheapest first, with each machine in a cluster of its own. */
static void list_edges(eco_t *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        e->cluster[i] = i;
        e->edge_min[i] = e->inside_min[i] = e->own != NULL ? e->own[i] : INFINITY;
    }
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t j = i + 1; j < e->n; j++) {
            double cost = cost_between(e->matrix, i, j);

            e->edges[e->edge_count++] = (edge_t){.cost = (float)cost, .a = i, .b = j};
            e->edge_min[i] = fmin(e->edge_min[i], cost);
            e->edge_min[j] = fmin(e->edge_min[j], cost);
        }
    qsort(e->edges, e->edge_count, sizeof(*e->edges), by_cost);
}

static void join(eco_t *e)
{
    for (size_t i = 0; i < e->edge_count; i++) {
        uint32_t a = e->edges[i].a, b = e->edges[i].b;
        uint32_t p = find_root(e, a), q = find_root(e, b);
        double cost = cost_between(e->matrix, a, b), bound;

        if (p == q || judge(e, a, b, cost, &bound) != XY_ECO_JOINED)
            continue;
        e->inside_min[p] = fmin(cost, fmin(e->inside_min[p], e->inside_min[q]));
        e->cluster[q] = p;
    }
}

/* Number the roots in order of their first machines. */
static uint32_t number_clusters(eco_t *e, uint32_t *cluster_of)
{
    uint32_t clusters = 0;

    for (uint32_t i = 0; i < e->n; i++)
        cluster_of[i] = UINT32_MAX;
    for (uint32_t i = 0; i < e->n; i++) {
        uint32_t root = find_root(e, i);

        if (cluster_of[root] == UINT32_MAX)
            cluster_of[root] = clusters++;
        if (root != i && cluster_of[i] == UINT32_MAX)
            cluster_of[i] = cluster_of[root];
    }
    return clusters;
}

/* Fills size, inner latency and nearest other cluster of each cluster, and sums the latencies
 * between them. */
static void describe_clusters(eco_t *e, xy_eco_t *eco)
{
    for (uint32_t c = 0; c < eco->clusters; c++)
        eco->cluster[c] = (xy_eco_cluster_t){.nearest = c, .distance = INFINITY};
    for (uint32_t i = e->n; i-- > 0;) {
        xy_eco_cluster_t *c = &eco->cluster[eco->cluster_of[i]];
        double inside = e->inside_min[find_root(e, i)];

        c->machines++;
        c->first = i;
        c->inside = isfinite(inside) ? inside : 0;
    }
    /* Edges come from the cheapest on: the first one that leaves a cluster is its nearest. */
    for (size_t i = 0; i < e->edge_count; i++) {
        uint32_t a = e->edges[i].a, b = e->edges[i].b;
        uint32_t ends[] = {eco->cluster_of[a], eco->cluster_of[b]};
        double cost = cost_between(e->matrix, a, b);

        eco->between[(size_t)ends[0] * eco->clusters + ends[1]] += cost;
        for (int k = 0; k < 2 && ends[0] != ends[1]; k++) {
            xy_eco_cluster_t *c = &eco->cluster[ends[k]];

            if (!isinf(c->distance))
                continue;
            c->nearest = ends[1 - k];
            c->distance = cost;
            c->reason = judge(e, a, b, cost, &c->bound);
        }
    }
}

/* Sums in either triangle to means in both. */
static void average(xy_eco_t *eco)
{
    size_t n = eco->clusters;

    for (size_t i = 0; i < n; i++) {
        double size = eco->cluster[i].machines, pairs = size * (size - 1) / 2;

        eco->between[i * n + i] /= pairs > 0 ? pairs : 1;
        eco->cluster[i].inside_mean = eco->between[i * n + i];
        for (size_t j = i + 1; j < n; j++) {
            double sum = eco->between[i * n + j] + eco->between[j * n + i];

            eco->between[i * n + j] = eco->between[j * n + i] =
                sum / (size * eco->cluster[j].machines);
        }
        if (isinf(eco->cluster[i].distance))
            eco->cluster[i].distance = 0;
    }
}

/* Checks that latencies are finite and not negative and that both ratios are valid. */
static xy_status_t check(const xy_latency_t *m, double rho, double rho_site)
{
    if (m->count == 0)
        return xy_fail(XY_EINVAL, "the matrix has no machines; clusters need at least one");
    if (!(rho >= 1))
        return xy_fail(XY_EINVAL, "rho is %g; clusters need at least 1", rho);
    if (!(rho_site >= rho))
        return xy_fail(XY_EINVAL, "rho of sites is %g; they need at least that of clusters, %g",
                       rho_site, rho);
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t j = 0; j < m->count; j++) {
            double s = m->second[(size_t)i * m->count + j];

            if (i != j && (!(s >= 0) || !isfinite(s)))
                return xy_fail(XY_EINVAL,
                               "the latency from %s to %s is %g s; it must not be negative",
                               m->name[i], m->name[j], s);
        }
    return XY_OK;
}

static xy_status_t eco_init(eco_t *e)
{
    size_t n = e->n;

    e->cluster = xy_calloc(n, sizeof(*e->cluster));
    e->edge_min = xy_calloc(2 * n, sizeof(*e->edge_min));
    e->edges = xy_calloc(n * (n - 1) / 2 + 1, sizeof(*e->edges));
    if (e->cluster == NULL || e->edge_min == NULL || e->edges == NULL)
        return xy_fail_memory("finding clusters");
    e->inside_min = e->edge_min + n;
    return XY_OK;
}

static void eco_cleanup(eco_t *e)
{
    xy_free(e->edges);
    xy_free(e->edge_min);
    xy_free(e->cluster);
}

/* Finds and describes the clusters; `eco` owns the arrays, also after a failure. */
static xy_status_t find_clusters(eco_t *e, xy_eco_t *eco)
{
    list_edges(e);
    join(e);
    eco->clusters = number_clusters(e, eco->cluster_of);
    eco->cluster = xy_calloc(eco->clusters, sizeof(*eco->cluster));
    eco->between = xy_calloc((size_t)eco->clusters * eco->clusters, sizeof(*eco->between));
    eco->site_of = xy_calloc(eco->clusters, sizeof(*eco->site_of));
    if (eco->cluster == NULL || eco->between == NULL || eco->site_of == NULL)
        return xy_fail_memory("finding clusters");
    describe_clusters(e, eco);
    average(eco);
    return XY_OK;
}

/* The latency that a cluster has of its own. A single machine has none: that of the nearest two
 * machines anywhere stands for it, so that its only neighbours, however far, are not near. */
static void own_latencies(const xy_eco_t *eco, double *own)
{
    double least = INFINITY;

    for (uint32_t c = 0; c < eco->clusters; c++)
        if (eco->cluster[c].machines > 1)
            least = fmin(least, eco->cluster[c].inside);
    for (uint32_t c = 0; c < eco->clusters; c++)
        own[c] = eco->cluster[c].machines > 1 ? eco->cluster[c].inside_mean : least;
}

/* The same rule one level up, between clusters, where the latency inside a cluster counts as an
 * edge: two clusters are not near because all others are farther. */
static xy_status_t find_sites(xy_eco_t *eco, double rho)
{
    const xy_latency_t clusters = {.count = eco->clusters, .second = eco->between};
    double *own = xy_calloc(eco->clusters, sizeof(*own));
    eco_t e = {.n = eco->clusters, .matrix = &clusters, .rho = rho, .own = own};
    xy_status_t st = own != NULL ? eco_init(&e) : xy_fail_memory("finding sites");

    if (st == XY_OK) {
        own_latencies(eco, own);
        list_edges(&e);
        join(&e);
        eco->sites = number_clusters(&e, eco->site_of);
    }
    eco_cleanup(&e);
    xy_free(own);
    return st;
}

xy_status_t xy_eco_compute(const xy_latency_t *matrix, double rho, double rho_site,
                           xy_eco_t **eco_p)
{
    eco_t e = {.n = matrix->count, .matrix = matrix, .rho = rho};
    xy_eco_t *eco = NULL;
    xy_status_t st = check(matrix, rho, rho_site);

    if (st != XY_OK)
        return st;
    st = eco_init(&e);
    eco = xy_calloc(1, sizeof(*eco));
    if (eco != NULL)
        eco->cluster_of = xy_calloc(matrix->count, sizeof(*eco->cluster_of));
    if (st == XY_OK && (eco == NULL || eco->cluster_of == NULL))
        st = xy_fail_memory("finding clusters");
    if (st == XY_OK) {
        eco->rho = rho;
        eco->rho_site = rho_site;
        eco->machines = matrix->count;
        st = find_clusters(&e, eco);
    }
    eco_cleanup(&e);
    if (st == XY_OK)
        st = find_sites(eco, rho_site);
    if (st == XY_OK)
        *eco_p = eco;
    else
        xy_eco_destroy(eco);
    return st;
}

void xy_eco_destroy(xy_eco_t *eco)
{
    if (eco == NULL)
        return;
    xy_free(eco->cluster_of);
    xy_free(eco->site_of);
    xy_free(eco->cluster);
    xy_free(eco->between);
    xy_free(eco);
}
