/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that wait in the kernel. The worker of a rank that waits would keep its other ranks
 * waiting, too: such a call is handed to a thread that has nothing else to do, and the rank's fiber
 * is parked until it returns.
 *
 *   XY_INTERPOSE int flock(int fd, int operation)
 *   {
 *       ...
 *       if (!XY_MAY_PARK())
 *           return XY_CALL_NEXT(next, "flock")(fd, operation);
 *       return (int)mpi_block_call(SYS_flock, XY_ARGUMENTS(fd, operation));
 */
#ifndef XY_MPI_LAUNCH_LIBC_BLOCK_H
#define XY_MPI_LAUNCH_LIBC_BLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "mpi/launch/image/image.h"

/* Is the caller a rank in its own code, with other ranks on its core? Calls of this library itself
 * never park: it may hold locks, or be changing fibers. */
#define XY_MAY_PARK() mpi_block_may(__builtin_return_address(0))
bool mpi_block_may(const void *caller);
/* The same for a rank that waits for the end of a thread, also where it is alone: the thread may
 * spawn ranks, which come to the same core. */
#define XY_MAY_JOIN() mpi_block_may_join(__builtin_return_address(0))
bool mpi_block_may_join(const void *caller);
/* Has the core of this rank others? */
bool mpi_block_shares_core(void);

/* For locks of this library: while a thread has one, none of its calls parks. The address of the
 * caller does not tell where a sanitizer stands between. */
void mpi_block_lock(pthread_mutex_t *lock);
void mpi_block_unlock(pthread_mutex_t *lock);

/* Run fn(arg) on another thread while other ranks run; on this one where no thread can be had. */
void mpi_block_run(void (*fn)(void *), void *arg);
/* The same in two steps: what lies between them runs beside fn. */
typedef struct mpi_blocked {
    void (*fn)(void *);
    void *arg;
    struct xy_fiber *fiber;
    struct mpi_process *process; /* that waits for it */
    struct mpi_blocked *next;
    _Atomic bool is_done;
} mpi_blocked_t;
bool mpi_block_start(mpi_blocked_t *block);
void mpi_block_wait(mpi_blocked_t *block);

/* A system call on another thread; -1 with errno. */
#define XY_ARGUMENTS(...) ((const long[6]){__VA_ARGS__})
long mpi_block_call(long number, const long arguments[6]);

/* In virtual time (mpi_process_runtime.clock) nothing is handed to a thread where a look tells as
 * much: the rank looks until is_over(arg), or until `seconds` have passed on its clock (negative:
 * no limit), which is false. `is_outside`: what it waits for may be done in real time, by another
 * process or a thread; then its clock stands still at first, for a tenth of a second or the limit.
 */
bool mpi_block_look(bool (*is_over)(void *arg), void *arg, double seconds, bool is_outside);
/* Has the rank threads that may do what it waits for? */
bool mpi_block_has_threads(void);

/* Let the other ranks of the core run: once, and for a time. */
void mpi_rank_yield(void);
void mpi_rank_sleep(double seconds);
/* One round of a loop that tries again and again: longer and longer pauses, up to a millisecond. */
void mpi_rank_back_off(unsigned *round);
/* clock_gettime as the calling rank sees it: in virtual time where the job is. */
void mpi_clock_gettime(clockid_t clock, struct timespec *now);
/* Seconds until `deadline` on `clock`. */
double mpi_seconds_until(clockid_t clock, const struct timespec *deadline);

/* Lock it as a rank that lets others run (mutex.c); not one that checks its owner. */
int mpi_mutex_lock(pthread_mutex_t *mutex);

/* Which functions of a program still keep the other ranks of a core waiting: one line, if there are
 * any (still_waits.c). */
void mpi_block_tell(const mpi_program_t *program);

/* What the descriptors 0 to 2 are to this rank: its own standard input (the end of it, but for rank
 * 0), and the files that freopen gave it. For reading and writing. */
#define XY_OWN_DESCRIPTOR(fd) mpi_descriptor_of(fd, __builtin_return_address(0))
int mpi_descriptor_of(int fd, const void *caller);

/* Descriptors (descriptor.c). Regular files never wait for another rank. */
bool mpi_descriptor_is_file(int fd);
void mpi_descriptor_forget(int fd);
/* A rank is about to read a FILE whose buffer is empty: let others run until there is input. */
void mpi_descriptor_await_input(int fd);

#endif
