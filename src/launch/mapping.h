/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement of ranks by the options of other launchers: --map-by, --rank-by, --bind-to, --rankfile.
 *
 *   mpi_mapping_read(&values, false);      (changes --threads-per-rank, --ppn and others)
 *   if (mpi_mapping_is_given(&values))
 *       mpi_mapping_place(&values, &cores, NULL, ranks, core_of);
 */
#ifndef XY_LAUNCH_MAPPING_H
#define XY_LAUNCH_MAPPING_H

#include "launch/launch.h"

/* Check these options, warn about parts without an effect, and set the equivalent options.
 * EUSAGE: one of them is wrong (reported). */
xy_status_t mpi_mapping_read(mpi_launch_values_t *values, bool is_quiet);
/* Do they say where ranks run? */
bool mpi_mapping_is_given(const mpi_launch_values_t *values);
/* Do ranks go to each host in turn? */
bool mpi_mapping_is_by_node(const mpi_launch_values_t *values);
/* Warn of options that place ranks: the system places processes of a program that is no rank. */
void mpi_mapping_warn_processes(const mpi_launch_values_t *values, const char *program);
/* EUNSUPPORTED: they name parts of a machine in a job of several processes (reported). */
xy_status_t mpi_mapping_check_several(const mpi_launch_values_t *values);
/* The number of ranks without -n: one for each core, or that of --ppn or ppr:N:WHAT. */
xy_status_t mpi_mapping_default_count(const mpi_launch_values_t *values, int *count_p);
/* As mpi_placement_place. */
xy_status_t mpi_mapping_place(const mpi_launch_values_t *values, const xy_cores_t *cores,
                              const xy_machine_t *machine, int ranks, int *core_of);

#endif
