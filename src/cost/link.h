/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four numbers that choose a collective algorithm: the cost of a message between cores of this
 * machine, from the calibration.
 *
 *   xy_link_cost_t link;
 *   if (xy_link_read(&link))          (calibrated; else the caller has defaults)
 *
 * They are kept in a file of their own beside the user's store, written with it: programs that are
 * started often read four lines instead of an XML file. Any thread; nothing parks.
 */
#ifndef XY_COST_LINK_H
#define XY_COST_LINK_H

#include "cost/store.h"

typedef struct {
    double alpha; /* seconds per message: a cache line goes from core to core */
    double beta;  /* seconds per byte copied from another core's memory */
    double gamma; /* seconds per byte more when it is reduced instead */
    double copy;  /* seconds per byte copied inside a rank */
} xy_link_cost_t;

/* From the models of a store, at 1 MiB. False: it lacks one of copy, reduce and handover. */
bool xy_link_make(const xy_costs_t *costs, xy_link_cost_t *link_p);

/* The file beside the user's own store. Writing: silent when `costs` lacks models, said otherwise.
 * Reading: false when there is none or it is damaged, in silence. */
xy_status_t xy_link_write(const xy_costs_t *costs, const char *store_path);
bool xy_link_read(xy_link_cost_t *link_p);

#endif
