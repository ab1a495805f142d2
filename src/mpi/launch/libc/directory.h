/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Working directories of ranks. All ranks of a process have that of the process, until one is
 * spawned with another: from then on each rank has its own.
 */
#ifndef XY_MPI_LAUNCH_LIBC_DIRECTORY_H
#define XY_MPI_LAUNCH_LIBC_DIRECTORY_H

#include "mpi/launch/libc/process.h"

/* A rank that is about to be started gets the directory `path`, from where the caller is; NULL:
 * that of the rank `parent`. Reports what is wrong. */
xy_status_t mpi_directory_give(mpi_process_t *process, const mpi_process_t *parent,
                               const char *path);
/* The rank is over. */
void mpi_directory_drop(mpi_process_t *process);
/* What the calling thread does from now on, it does for `process`. */
void mpi_directory_enter(const mpi_process_t *process);

/* The calling thread is new. */
void mpi_directory_begin_thread(void);

static inline bool mpi_directory_is_used(void)
{
    return (atomic_load_explicit(&mpi_switch_more, memory_order_relaxed) &
            XMPI_SWITCH_DIRECTORIES) != 0;
}

#endif
