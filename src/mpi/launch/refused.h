/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of the job that turn out to be MPI programs (bindings/one_of_several.c). */
#ifndef XY_MPI_LAUNCH_REFUSED_H
#define XY_MPI_LAUNCH_REFUSED_H

#include <stdbool.h>

#include "base/base.h"

/* Where they write; *fd_p is -1 where there is no such socket, and they print themselves then. The
 * value of XYLEM_LAUNCHED for the processes, in memory of its own; NULL: memory ran out. */
char *mpi_refused_open(int *fd_p);
/* Read one; true: say what to type instead, and end the job. */
bool mpi_refused_take(int fd, const xy_vec_t *parts);

#endif
