/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that wait in the kernel. The worker of a process that waits would keep its other processes
 * waiting, too: such a call is handed to a thread that has nothing else to do, and the process's
 * fiber is parked until it returns.
 *
 *   XY_INTERPOSE int flock(int fd, int operation)
 *   {
 *       ...
 *       if (!XY_MAY_PARK())
 *           return XY_NEXT(flock)(fd, operation);
 *       return (int)process_block_call(SYS_flock, XY_ARGUMENTS(fd, operation));
 */
#ifndef XY_PROCESS_LIBC_BLOCK_H
#define XY_PROCESS_LIBC_BLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "process/image/image.h"

/* Is the caller a process in its own code, with other processes on its core? Calls of this library
 * itself never park: it may hold locks, or be changing fibers. */
#define XY_MAY_PARK() process_block_may(__builtin_return_address(0))
bool process_block_may(const void *caller);
/* The same for a process that waits for the end of a thread, also where it is alone: the thread may
 * spawn processes, which come to the same core. */
#define XY_MAY_JOIN() process_block_may_join(__builtin_return_address(0))
bool process_block_may_join(const void *caller);
/* Has the core of this process others? */
bool process_block_shares_core(void);

/* For locks of this library: while a thread has one, none of its calls parks. The address of the
 * caller does not tell where a sanitizer stands between. */
void process_block_lock(pthread_mutex_t *lock);
void process_block_unlock(pthread_mutex_t *lock);

/* Run fn(arg) on another thread while other processes run; on this one where no thread can be had.
 */
void process_block_run(void (*fn)(void *), void *arg);
/* The same in two steps: what lies between them runs beside fn. */
typedef struct process_blocked {
    void (*fn)(void *);
    void *arg;
    struct xy_fiber *fiber;
    struct process *process; /* that waits for it */
    struct process_blocked *next;
    _Atomic bool is_done;
} process_blocked_t;
bool process_block_start(process_blocked_t *block);
void process_block_wait(process_blocked_t *block);

/* A system call on another thread; -1 with errno. */
#define XY_ARGUMENTS(...) ((const long[6]){__VA_ARGS__})
long process_block_call(long number, const long arguments[6]);

/* In virtual time (process_runtime.clock) nothing is handed to a thread where a look tells as
 * much: the process looks until is_over(arg), or until `seconds` have passed on its clock
 * (negative: no limit), which is false. `is_outside`: what it waits for may be done in real time,
 * by another process or a thread; then its clock stands still at first, for a tenth of a second or
 * the limit.
 */
bool process_block_look(bool (*is_over)(void *arg), void *arg, double seconds, bool is_outside);
/* The caller leaves the program's code, because others run, and is back. */
void process_block_begin_wait(process_t *process);
void process_block_end_wait(process_t *process);
/* Has the process threads that may do what it waits for, in real time? */
bool process_block_has_threads(void);

/* Let the other processes of the core run: once, and for a time. */
void process_yield(void);
void process_sleep(double seconds);
/* One round of a loop that tries again and again: longer and longer pauses, up to a millisecond. */
void process_back_off(unsigned *round);
/* clock_gettime as the calling process sees it: in virtual time where the job is. */
void process_clock_gettime(clockid_t clock, struct timespec *now);
/* Seconds until `deadline` on `clock`. */
double process_seconds_until(clockid_t clock, const struct timespec *deadline);

/* Lock it, yielding to other processes (mutex.c); not one that checks its owner. */
int process_mutex_lock(pthread_mutex_t *mutex);

/* Print the functions of a program that still keep the other processes of a core waiting: one line,
 * if there are any (still_waits.c). */
void process_block_tell(const process_program_t *program);

/* The files of descriptors 0 to 2 of this process: its own standard input (the end of it, but for
 * process 0), and the files that freopen gave it. For reading and writing. */
#define XY_OWN_DESCRIPTOR(fd) process_descriptor_of(fd, __builtin_return_address(0))
int process_descriptor_of(int fd, const void *caller);

/* Descriptors (descriptor_kind.c). Regular files never wait for another process. */
bool process_descriptor_is_file(int fd);
void process_descriptor_forget(int fd);
/* A process is about to read a FILE whose buffer is empty: let others run until there is input. */
void process_descriptor_await_input(int fd);

#endif
