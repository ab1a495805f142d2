/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts of a job: from the command line, a file, or the batch system that has given them.
 *
 *   a:4,b            --hosts, -host, -H: names with slots
 *   a slots=4        --hostfile, -machinefile, -f: a line each, as Open MPI writes them,
 *   a:4                  or as MPICH does; '#' begins a comment
 *   a                    a name that is repeated counts its lines (PBS)
 *   a[1-3,7],b       SLURM_JOB_NODELIST
 */
#ifndef XY_LAUNCH_HOSTS_H
#define XY_LAUNCH_HOSTS_H

#include "launch/options.h"

typedef struct {
    char *name;
    long slots; /* 0: as many as it has cores */
    int named;  /* how often */
} mpi_host_t;

typedef struct {
    mpi_host_t *all;
    size_t count, capacity;
    size_t named; /* how often all are */
} mpi_hosts_t;

void mpi_hosts_cleanup(mpi_hosts_t *hosts);
/* Add what a list or a text names. `where` is for messages. EPARSE: it is not as above. */
xy_status_t mpi_hosts_add_list(mpi_hosts_t *hosts, const char *list, const char *where);
xy_status_t mpi_hosts_add_file(mpi_hosts_t *hosts, const char *text, const char *where);
xy_status_t mpi_hosts_add_slurm(mpi_hosts_t *hosts, const char *list, const char *tasks);
/* All hosts that the command line or the batch system names; none: count is 0. */
xy_status_t mpi_hosts_read(const mpi_launch_values_t *values, mpi_hosts_t *hosts);
/* Does the name mean this machine? */
bool mpi_host_is_here(const char *name);

#endif
