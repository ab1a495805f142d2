/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank hands to the programs that it starts (path.c). */
#ifndef XY_MPI_LAUNCH_LIBC_PATH_H
#define XY_MPI_LAUNCH_LIBC_PATH_H

#include "mpi/launch/libc/process.h"

enum { XMPI_PATH_SIZE = 4096 };

/* The rank's environment in place of the launcher's, which shared libraries name; others stay. */
char *const *mpi_environment_for(char *const *environment);
/* `file` as the rank's PATH finds it, in `path`; `file` itself when it does not, or when the caller
 * is no rank. */
const char *mpi_path_find(const char *file, char path[XMPI_PATH_SIZE]);

#endif
