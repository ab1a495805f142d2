/* SPDX-License-Identifier: BSD-3-Clause */
/* All processes that descend from this one, which must be a subreaper (PR_SET_CHILD_SUBREAPER). */
#ifndef XY_LAUNCH_PROCESS_TREE_H
#define XY_LAUNCH_PROCESS_TREE_H

#include <sys/types.h>

/* Wait while *running, at most `grace` seconds; kill what is left of the children and of theirs,
 * until there is none. Calls `note` for every child that has ended. */
void mpi_tree_end(double grace, const int *running, void (*note)(pid_t pid, int status));

#endif
