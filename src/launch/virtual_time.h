/* SPDX-License-Identifier: BSD-3-Clause */
/* --virtual: a job in virtual time on a machine that need not exist. */
#ifndef XY_LAUNCH_VIRTUAL_TIME_H
#define XY_LAUNCH_VIRTUAL_TIME_H

#include "launch/options.h"
#include "mpi/virtual/virtual.h"

/* Any machine by its name, its file or its text, for options other than --virtual too. It lives to
 * the end of the process. */
xy_status_t mpi_launch_machine(const char *text, xy_machine_t **machine_p);

/* Read the machine, once; how many cores it has. */
xy_status_t mpi_virtual_cores(const mpi_launch_values_t *values, int *count_p);
/* Place `ranks` on it: what the job is made with. *config_p lives to the end of the process. */
xy_status_t mpi_virtual_prepare(const mpi_launch_values_t *values, int ranks, const char *program,
                                const virtual_config_t **config_p);
/* Cores that ranks may have; of a machine on which they are placed. */
int mpi_virtual_usable(void);
/* Spawned ranks with these numbers, which have ended or are new, get cores: those without ranks, by
 * the same rules as the first ones. XY_ELIMIT, reported: there are too few. */
xy_status_t mpi_virtual_place(const int *ranks, int count);
/* The choice of `--adapt` for the prepared job: the algorithms of `settings` and whether they are
 * reconsidered (both must live as long), and whether its messages are counted. */
void mpi_virtual_adapt(const mpi_settings_t *settings, bool counts);
/* How many nodes it has, and the cores of the smallest; of a machine that was read. */
void mpi_virtual_nodes(int *nodes_p, int *least_p);
/* The machine and its cores, counted through. */
xy_status_t mpi_virtual_target(const mpi_launch_values_t *values, const xy_machine_t **machine_p,
                               const xy_cores_t **cores_p);
/* The options for the one real core that everything runs on. */
mpi_launch_values_t mpi_virtual_real_values(const mpi_launch_values_t *values);
/* For the symbols of programs: `found`, or a function in front of it. */
void *mpi_virtual_time_substitute(const char *name, void *found);
/* The run has ended. */
xy_status_t mpi_virtual_finish(const mpi_launch_values_t *values, mpi_job_t *job);

#endif
