/* SPDX-License-Identifier: BSD-3-Clause */
/* Between affinity.c, thread.c and system_call.c. */
#ifndef XY_MPI_LAUNCH_LIBC_AFFINITY_H
#define XY_MPI_LAUNCH_LIBC_AFFINITY_H

#include "mpi/launch/libc/process.h"

enum { XMPI_AFFINITY_PLAIN = 1 }; /* not the rank's: the kernel's business */

/* sched_setaffinity by a rank or a thread of it: 0, -1 with errno, or XMPI_AFFINITY_PLAIN. */
int mpi_affinity_set(pid_t id, size_t size, const void *set);
/* What sched_getaffinity has answered becomes the rank's, where it was asked for that. */
void mpi_affinity_answer(pid_t id, size_t size, void *set);

/* Threads that ranks have made (thread.c): is this one of them? */
bool mpi_threads_has(mpi_process_t *process, pid_t id);
/* A thread of this library, which belongs to no rank; with what a sanitizer does for new threads.
 */
int mpi_thread_create_plain(pthread_t *handle, const pthread_attr_t *attributes,
                            void *(*function)(void *), void *argument);
/* The rank ends as a thread does (pthread_exit): it waits for its other threads, then its process
 * is over with `code`; `runs_exit`: with its exit functions. */
void mpi_threads_end_rank(mpi_process_t *process, int code, bool runs_exit)
    __attribute__((noreturn));

#endif
