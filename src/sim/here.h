/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine that this program runs on, for its own predictions. In a rank that is the machine of
 * the job, which mpiexec passes in the environment (src/launch/tell_machine.c): the rank is bound
 * to one core, and with --virtual the relevant cores are those of the simulated machine. Elsewhere
 * it is the part of the machine that the operating system lets the process use.
 */
#ifndef XY_SIM_HERE_H
#define XY_SIM_HERE_H

#include <stdbool.h>

#include "base/base.h"
#include "cost/cost.h"
#include "machine/machine.h"

/* On success the caller destroys it. */
xy_status_t sim_here_machine(xy_machine_t **machine_p);
/* The stored data for it; none (NULL) is not an error. */
xy_status_t sim_here_costs(xy_costs_t **costs_p);
/* The cores of as many ranks as the job has, of `cores`. False: nothing is known of so many. */
bool sim_here_place(int ranks, int cores, int *core_of);

#endif
