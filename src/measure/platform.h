/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measurements between hosts as a machine (private to the component).
 *
 *   measure_platform_t p = {.eco = eco, .matrix = matrix, .costs = costs};
 *   st = measure_platform_make(&p, "hosts.txt", &machine);
 *
 * Sites S1, S2, ... hold clusters C1, C2, ..., and these the hosts by their names. A node's link
 * has half of the latency inside its cluster and the largest bandwidth that was measured from it.
 * Between clusters there are routes. The capacity of a route is the bandwidth that several pairs of
 * hosts reached together if they shared it, else one stream for each pair of hosts. Where pairs of
 * different clusters of two sites shared it, routes join sites, not clusters.
 */
#ifndef XY_MEASURE_PLATFORM_H
#define XY_MEASURE_PLATFORM_H

#include "cost/cost.h"
#include "machine/machine.h"

/* `pairs` streams at once carried `times` as much as the first of them alone, `rate` bytes per
 * second in all; 0 pairs: not measured. Whether they share a way is what `times` says. What it
 * carries is `rate`: a stream that waits for acknowledgements leaves a part of the way to others,
 * so `times` what a pair can carry would be too much.
 */
typedef struct {
    uint32_t pairs;
    double times, rate;
} measure_share_t;

typedef struct {
    const xy_eco_t *eco;
    const xy_latency_t *matrix; /* for the names */
    const uint32_t *cores;      /* of each host; NULL: one */
    const xy_costs_t *costs;    /* the messages of pairs of clusters */
    /* [clusters * clusters], [sites * sites], the upper triangles; NULL: not measured. */
    const measure_share_t *between_clusters, *between_sites;
} measure_platform_t;

/* On success the caller owns *machine_p. */
xy_status_t measure_platform_make(const measure_platform_t *p, const char *name,
                                  xy_machine_t **machine_p);

/* Latency without the overheads of both ends, and the bandwidth of long messages; 0: there is no
 * model of them. */
xy_link_t measure_platform_link(const xy_costs_t *costs, uint32_t cluster1, uint32_t cluster2);

#endif
