/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual clock. This is the header that other rooms include; each part is a chapter of its
 * own:
 *
 *   node.h      one simulated node: graphs of collectives under placements and policies of progress
 *   sweep.h     many of them: tables, curves and heat maps over ranks, sizes and ways of progress
 *   task_sim.h  task graphs on workers with memories, transfers over shared links
 */
#ifndef XY_SIM_SIM_H
#define XY_SIM_SIM_H

#include "sim/node.h"
#include "sim/sweep.h"

#endif
