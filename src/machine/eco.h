/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clusters from latencies: ECO (Lowekamp and Beguelin, "ECO: Efficient Collective Operations").
 *
 *   xy_latency_t *matrix;
 *   xy_eco_t *eco;
 *   st = xy_latency_read("latencies.txt", &matrix);
 *   st = xy_eco_compute(matrix, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco);
 *   cluster = eco->cluster_of[machine];
 *   site = eco->site_of[cluster];
 *
 * Machines that are about as near to each other as to anything else form a cluster. Edges are taken
 * from the cheapest on; one joins the clusters of its ends unless it costs more than rho times the
 * cheapest edge of either end, or of either cluster. Later measurements are made once in each
 * cluster and once between each two.
 *
 * Clusters form sites by the same rule, one level up: an edge is the mean latency between two
 * clusters, the mean latency inside a cluster counts as one of its edges, and rho is larger. (If it
 * did not count, the two least distant of several sites would always be one.)
 *
 * All functions may be called from any thread; none parks.
 */
#ifndef XY_MACHINE_ECO_H
#define XY_MACHINE_ECO_H

#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

enum { XY_LATENCY_MACHINES_MAX = 16384 };

/* Lowekamp's; and how much farther than inside a cluster the next one on its site may be: networks
 * of a site are a few times slower than those of its clusters, networks between sites a hundred. */
#define XY_ECO_RHO      1.20
#define XY_ECO_RHO_SITE 10.0

/* A full matrix; the diagonal means nothing. */
typedef struct {
    uint32_t count;
    char **name;    /* count names, never NULL */
    double *second; /* second[i * count + j] from i to j */
} xy_latency_t;

/* Zeroed, with the names "m1", "m2", ... On success the caller owns *matrix_p. ELIMIT: too many
 * machines. */
xy_status_t xy_latency_create(uint32_t count, xy_latency_t **matrix_p);
void xy_latency_destroy(xy_latency_t *matrix); /* NULL is fine */

/* Text: one row per machine, in microseconds, separated by blanks or commas, with an optional name
 * in front; '#' starts a comment. EPARSE is reported with file and line. */
xy_status_t xy_latency_read(const char *path, xy_latency_t **matrix_p); /* "-": standard input */
xy_status_t xy_latency_parse(const char *data, size_t size, const char *path,
                             xy_latency_t **matrix_p);

/* Why the cheapest edge between two clusters did not join them. */
typedef enum {
    XY_ECO_JOINED = 0,  /* it did */
    XY_ECO_FAR_MACHINE, /* it costs more than rho times the cheapest edge of one of its ends */
    XY_ECO_FAR_CLUSTER, /* the same of the cheapest edge inside one of the clusters */
} xy_eco_reason_t;

/* A cluster, and its nearest neighbour. */
typedef struct {
    uint32_t machines, first; /* how many; the first of them */
    double inside;            /* cheapest edge inside, seconds; 0: a single machine */
    double inside_mean;       /* over all pairs inside */
    uint32_t nearest;         /* the nearest other cluster; itself when there is none */
    double distance;          /* cheapest edge to it */
    xy_eco_reason_t reason;   /* why they are two */
    double bound;             /* the largest cost of that edge for which they would be one */
} xy_eco_cluster_t;

typedef struct {
    double rho, rho_site;
    uint32_t machines, clusters, sites;
    uint32_t *cluster_of;      /* 0 .. clusters - 1, in order of their first machines */
    uint32_t *site_of;         /* of each cluster, 0 .. sites - 1, in order of their first ones */
    xy_eco_cluster_t *cluster; /* clusters of them */
    double *between;           /* clusters x clusters: mean latency of all pairs; 0: no pair */
} xy_eco_t;

/* Both directions of a pair count as the cheaper one. On success the caller owns *eco_p. EINVAL: no
 * machines, a negative latency, rho below 1, rho of sites below rho. */
xy_status_t xy_eco_compute(const xy_latency_t *matrix, double rho, double rho_site,
                           xy_eco_t **eco_p);
void xy_eco_destroy(xy_eco_t *eco); /* NULL is fine */

/* For people: each cluster, its machines, and why it is one. For programs: clusters are numbered
 * from 1 there, as C1, C2, ..., and so are sites, S1, ... */
void xy_eco_print(const xy_eco_t *eco, const xy_latency_t *matrix, FILE *file);
void xy_eco_print_json(const xy_eco_t *eco, const xy_latency_t *matrix, FILE *file);

#endif
