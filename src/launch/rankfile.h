/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on named cores, as Open MPI and MPICH write them. */
#ifndef XY_LAUNCH_RANKFILE_H
#define XY_LAUNCH_RANKFILE_H

#include "place/place.h"

/* A rankfile: a line 'rank N=HOST slot=CORE' for each rank, cores in the order of the machine;
 * 'slot=SOCKET:CORE' counts those of a socket. `socket_of` [cores]. Errors are reported with file
 * and line. */
xy_status_t mpi_rankfile_read(const char *path, const xy_cores_t *cores, const long *socket_of,
                              int ranks, int *core_of);
/* The same from a text, which is changed. */
xy_status_t mpi_rankfile_parse(char *text, const char *path, const xy_cores_t *cores,
                               const long *socket_of, int ranks, int *core_of);
/* MPICH's list of hardware threads, as the operating system numbers them: of ranks in turn. */
xy_status_t mpi_rankfile_user(const char *list, const xy_cores_t *cores, int ranks, int *core_of);

#endif
