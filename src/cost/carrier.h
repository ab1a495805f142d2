/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs of messages of an installed MPI, for jobs whose messages it carries: the eager limit, and
 * the numbers that choose collectives.
 *
 *   xy_carrier_cost_t list[XY_CARRIERS_MAX];
 *   int n = xy_carriers_read(true, list);             (0: nothing was calibrated)
 *
 * As link.h, they are in a file of their own beside the store, written with it, one library per
 * line. Any thread; nothing parks.
 */
#ifndef XY_COST_CARRIER_H
#define XY_COST_CARRIER_H

#include "cost/store.h"

enum { XY_CARRIERS_MAX = 8, XY_CARRIER_NAME = 32 };

typedef struct {
    char name[XY_CARRIER_NAME]; /* "Open MPI" or "MPICH" */
    bool is_between;            /* processes of two hosts; else of one */
    double latency;             /* seconds of the smallest message */
    double bandwidth;           /* bytes per second of messages of 1 MiB */
    double eager; /* bytes of the largest message whose send ended before its receive began; 0: not
                     measured */
} xy_carrier_cost_t;

/* From the messages of a store: of each library and distance, the slowest that was measured. How
 * many. */
int xy_carriers_make(const xy_costs_t *costs, xy_carrier_cost_t list[XY_CARRIERS_MAX]);

/* The file beside the store. Writing: silent when nothing was measured, said otherwise. Reading:
 * those of the user's own store that hold for processes of several hosts or of one, each library
 * once; 0 when there is no such file. What is damaged is left out, in silence. */
xy_status_t xy_carriers_write(const xy_costs_t *costs, const char *store_path);
int xy_carriers_read(bool is_between, xy_carrier_cost_t list[XY_CARRIERS_MAX]);

#endif
