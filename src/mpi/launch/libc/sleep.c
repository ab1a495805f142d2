/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for time to pass lets other ranks run. So do sched_yield and the forms of select and poll
 * that only wait.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "fiber/fiber.h"
#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

static bool is_valid(const struct timespec *t)
{
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000L;
}

/* Other ranks run meanwhile. */
static void rank_sleep(double seconds)
{
    mpi_rank_t *self = mpi_self;

    mpi_go_inside(self);
    xy_fiber_sleep(seconds);
    mpi_go_outside(self);
}

static double seconds_of(const struct timespec *t)
{
    return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

XY_INTERPOSE unsigned sleep(unsigned seconds)
{
    static XY_NEXT(unsigned, next, (unsigned));

    if (!mpi_process_is_rank())
        return XY_CALL_NEXT(next, "sleep")(seconds);
    rank_sleep((double)seconds);
    return 0;
}

XY_INTERPOSE int usleep(useconds_t microseconds)
{
    static XY_NEXT(int, next, (useconds_t));

    if (!mpi_process_is_rank())
        return XY_CALL_NEXT(next, "usleep")(microseconds);
    rank_sleep(1e-6 * (double)microseconds);
    return 0;
}

XY_INTERPOSE int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    static XY_NEXT(int, next, (const struct timespec *, struct timespec *));

    if (!mpi_process_is_rank())
        return XY_CALL_NEXT(next, "nanosleep")(wanted, left);
    if (!is_valid(wanted)) {
        errno = EINVAL;
        return -1;
    }
    rank_sleep(seconds_of(wanted));
    return 0;
}

XY_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                                 struct timespec *left)
{
    static XY_NEXT(int, next, (clockid_t, int, const struct timespec *, struct timespec *));
    struct timespec now = {0};
    double seconds;

    if (!mpi_process_is_rank() || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
        return XY_CALL_NEXT(next, "clock_nanosleep")(clock, flags, wanted, left);
    if (!is_valid(wanted))
        return EINVAL;
    if ((flags & TIMER_ABSTIME) != 0)
        clock_gettime(clock, &now);
    seconds =
        (double)(wanted->tv_sec - now.tv_sec) + 1e-9 * (double)(wanted->tv_nsec - now.tv_nsec);
    if (seconds > 0)
        rank_sleep(seconds);
    return 0;
}

XY_INTERPOSE int sched_yield(void)
{
    static XY_NEXT(int, next, (void));

    if (!mpi_process_is_rank())
        return XY_CALL_NEXT(next, "sched_yield")();
    mpi_go_inside(mpi_self);
    xy_fiber_yield();
    mpi_go_outside(mpi_self);
    return 0;
}

XY_INTERPOSE int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *limit)
{
    static XY_NEXT(int, next, (int, fd_set *, fd_set *, fd_set *, struct timeval *));

    if (n != 0 || limit == NULL || !mpi_process_is_rank())
        return XY_CALL_NEXT(next, "select")(n, in, out, except, limit);
    rank_sleep((double)limit->tv_sec + 1e-6 * (double)limit->tv_usec);
    limit->tv_sec = 0;
    limit->tv_usec = 0;
    return 0;
}

XY_INTERPOSE int poll(struct pollfd *fds, nfds_t n, int milliseconds)
{
    static XY_NEXT(int, next, (struct pollfd *, nfds_t, int));

    if (n != 0 || milliseconds < 0 || !mpi_process_is_rank())
        return XY_CALL_NEXT(next, "poll")(fds, n, milliseconds);
    rank_sleep(1e-3 * (double)milliseconds);
    return 0;
}
