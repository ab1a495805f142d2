/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calibration of several hosts through the installed MPI library, one process on each.
 *
 *   xy_hosts_calibration_t c = {.hosts = "hosts.txt"};
 *   st = xy_calibrate_hosts(&c, costs, &failed);
 *
 * Latencies of all pairs are measured in rounds in which every host takes part in one measurement,
 * so that there are about as many rounds as hosts; ECO finds the clusters and sites; then messages
 * of growing size are measured inside each cluster and between each two, by one representative
 * each, and inside that; then the bandwidth of several pairs at once; then kernels. Call it from
 * one thread only.
 */
#ifndef XY_MEASURE_MEASURE_HOSTS_H
#define XY_MEASURE_MEASURE_HOSTS_H

#include "cost/cost.h"

typedef struct {
    const char *hosts;     /* file: a host per line, '#' starts a comment */
    const char *launcher;  /* NULL: mpirun, mpiexec or srun, whichever is here */
    const char *compiler;  /* NULL: mpicc */
    const char *agent;     /* how to reach a host: COMMAND HOST WORD...; NULL: ssh */
    const xy_vec_t *extra; /* of const char *: more words for the launcher; NULL: none */
    double rho, rho_site;  /* of ECO; 0: XY_ECO_RHO, XY_ECO_RHO_SITE */
    double largest;        /* message in bytes; 0: 4 MiB */
    const xy_vec_t *sizes; /* of uint64_t: these messages instead; NULL or empty: chosen */
    double seconds;        /* for one size of one pair; 0: 0.1 */
    double budget;         /* seconds for all messages; 0: as long as it takes */
    bool has_inside;       /* messages inside hosts with several cores, too */
    /* A command, as const char *, that measures kernels where it runs, to which "--seconds S" and
     * "--output FILE" are added. NULL or empty: no kernels. */
    const xy_vec_t *kernels;
    double kernel_seconds; /* for all hosts on which they are measured */
    bool on_every_host;    /* kernels: not only on the first host of each cluster */
    xy_progress_t *bar;    /* in thousandths; NULL: none */
    FILE *report;          /* for the findings; NULL: silent */
} xy_hosts_calibration_t;

/* Clusters, machines, messages, kernels and the machine that they make go into `costs`; a pair of
 * clusters whose messages are too noisy is reported and has none, and *failed_p counts it on. A
 * host that does not answer, or is listed under two names, is reported and left out. ENOENT: no
 * launcher or compiler here, or no host answers. EIO: the launcher failed (what it says goes to
 * standard error). */
xy_status_t xy_calibrate_hosts(const xy_hosts_calibration_t *c, xy_costs_t *costs, int *failed_p);

#endif
