/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual clock. Each part has a header of its own:
 *
 *   event.h  the event core: future events, in the order of time
 *   share.h  a resource that many users share equally: memory
 *   flow.h   links that are crossed by routes, max-min fair: networks, buses
 *   node.h   a model: graphs of collectives under placements and policies of progress
 *   sim_forecast.h  the best placement, order and split of a collective on such a node
 *   job.h    another: an MPI job, whose processes a driver walks through or runs
 *   script.h a job whose processes are known beforehand
 *   sweep.h  many graphs: tables, curves and heat maps over ranks, sizes and progress modes
 *
 * `xylem bench nbc --simulate` uses node.h and sweep.h; src/tasks/sim is another model on the same
 * event core. Simulations are deterministic, to the last bit. One simulation belongs to one thread
 * at a time; several may run at once.
 */
#ifndef XY_SIM_SIM_H
#define XY_SIM_SIM_H

#include "sim/event.h"
#include "sim/flow.h"
#include "sim/job.h"
#include "sim/node.h"
#include "sim/script.h"
#include "sim/share.h"
#include "sim/sim_forecast.h"
#include "sim/sweep.h"

#endif
