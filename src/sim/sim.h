/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual clock. This is the header that other rooms include; each part is a chapter of its
 * own:
 *
 *   task_sim.h  task graphs on workers with memories, transfers over shared links
 */
#ifndef XY_SIM_SIM_H
#define XY_SIM_SIM_H

#include "sim/task_sim.h"

#endif
