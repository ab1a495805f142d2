/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports about one-sided communication. */
#ifndef XY_MPI_CHECK_WINDOWS_H
#define XY_MPI_CHECK_WINDOWS_H

#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

/* ", for rank 0, which rank 1 has locked exclusively": what the call `name`, which begins with
 * MPI_Win_, waits for; or nothing. Any thread. */
void check_describe_window(const char *name, const mpi_call_t *call, char *text, size_t size);

/* The rank with the exclusive lock that a call of MPI_Win_lock or MPI_Win_lock_all waits for: a
 * rank of the window, and *target_p is that of the lock. MPI_UNDEFINED: none has, or it is not
 * known. */
int check_lock_owner(const mpi_call_t *call, int *target_p);
/* The question of another process about the locks of a window of a rank here:
 * mpi_network_answer. */
uint64_t check_tell_locks(uint64_t question);

#endif
