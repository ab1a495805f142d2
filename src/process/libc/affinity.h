/* SPDX-License-Identifier: BSD-3-Clause */
/* Between affinity.c, exec_family.c, process_thread.c and system_call.c. */
#ifndef XY_PROCESS_LIBC_AFFINITY_H
#define XY_PROCESS_LIBC_AFFINITY_H

#include "process/libc/process_state.h"

enum { PROCESS_AFFINITY_PLAIN = 1 }; /* not the process's: the kernel's business */

/* sched_setaffinity by a process or a thread of it: 0, -1 with errno, or PROCESS_AFFINITY_PLAIN. */
int process_affinity_set(pid_t id, size_t size, const void *set);
/* Bind the calling thread, which belongs to the kernel, where the process has asked to be; without
 * that on all its cores. */
void process_affinity_apply(const process_t *process);
/* The answer of sched_getaffinity becomes the process's, where it was asked for that. */
void process_affinity_answer(pid_t id, size_t size, void *set);

/* Threads that processes have made (process_thread.c): is this one of them? */
bool process_threads_has(process_t *process, pid_t id);
/* The process ends as a thread does (pthread_exit): it waits for its other threads, then its
 * process has ended with `code`; `runs_exit`: with its exit functions. */
void process_threads_end(process_t *process, int code, bool runs_exit) __attribute__((noreturn));

#endif
