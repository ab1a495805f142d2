/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Working directories of processes. All have that of the host, until one is
 * spawned with another: from then on each process has its own.
 */
#ifndef XY_PROCESS_LIBC_DIRECTORY_H
#define XY_PROCESS_LIBC_DIRECTORY_H

#include "process/libc/process_state.h"

/* A process that is about to be started gets the directory `path`, from where the caller is; NULL:
 * that of the process `parent`. Reports what is wrong. */
xy_status_t process_directory_give(process_t *process, const process_t *parent, const char *path);
/* The process has ended. */
void process_directory_drop(process_t *process);
/* From now on the calling thread acts for `process`. */
void process_directory_enter(const process_t *process);

/* The calling thread is new. */
void process_directory_begin_thread(void);

static inline bool process_directory_is_used(void)
{
    return (atomic_load_explicit(&process_switch_more, memory_order_relaxed) &
            PROCESS_SWITCH_DIRECTORIES) != 0;
}

#endif
