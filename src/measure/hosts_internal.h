/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of a calibration of hosts (private to the component). */
#ifndef XY_MEASURE_HOSTS_INTERNAL_H
#define XY_MEASURE_HOSTS_INTERNAL_H

#include "measure/discover.h"
#include "measure/launcher.h"
#include "measure/measure_hosts.h"
#include "measure/platform.h"

/* One calibration in progress. Hosts are numbered in two ways: by their line in the user's file,
 * and by the rank of the process that the launcher starts on them. */
typedef struct {
    const xy_hosts_calibration_t *c;
    measure_discovery_t hosts; /* the hosts of the file that answered, by line */
    xy_vec_t rank_of;          /* of uint32_t: the rank of the host of each line */
    xy_vec_t cores;            /* of uint32_t: of the host of each line */
    measure_launcher_t launcher;
    xy_vec_t words;       /* of char *, owned: the command line that starts the processes */
    xy_latency_t *matrix; /* latencies between hosts, by line */
    double *by_rank;      /* the same latencies, by rank */
    uint32_t *cores_by_rank;
    xy_eco_t *eco; /* their clusters and sites */
    double budget; /* seconds for the messages of one pair; 0: any */
    double done;   /* the part of the progress bar that is filled, 0 to 1 */
    double share;  /* the part of the bar that the current step fills */
    int failed;    /* models that were too noisy */
} hosts_session_t;

uint32_t hosts_rank(const hosts_session_t *s, uint32_t host);
/* The first host of the cluster, by line, after `after`; the number of hosts: there is none. */
uint32_t hosts_next(const xy_eco_t *eco, uint32_t cluster, uint32_t after);

/* The bandwidth of several pairs of hosts at once: see platform.h. The caller frees both arrays. */
xy_status_t hosts_measure_shares(hosts_session_t *s, const xy_costs_t *costs,
                                 measure_share_t **clusters_p, measure_share_t **sites_p);

/* Kernels of each cluster, on its first host or on all. */
xy_status_t hosts_measure_kernels(hosts_session_t *s, xy_costs_t *costs);

#endif
