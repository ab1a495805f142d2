/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * poll, select, epoll_wait and their families. What is ready is answered at once; a process that
 * only looks, or waits for time alone, lets others run; the rest waits on another thread.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { KERNEL_SIGSET = 8 }; /* bytes */

static bool is_zero(const struct timespec *limit)
{
    return limit != NULL && limit->tv_sec == 0 && limit->tv_nsec == 0;
}

static bool is_valid(const struct timespec *limit)
{
    return limit == NULL ||
           (limit->tv_sec >= 0 && limit->tv_nsec >= 0 && limit->tv_nsec < 1000000000L);
}

static double seconds_of(const struct timespec *limit)
{
    return (double)limit->tv_sec + 1e-9 * (double)limit->tv_nsec;
}

/* For process_block_look. */
static double limit_of(const struct timespec *limit)
{
    return limit != NULL ? seconds_of(limit) : -1;
}

static struct timespec *of_milliseconds(int milliseconds, struct timespec *limit)
{
    limit->tv_sec = milliseconds / 1000;
    limit->tv_nsec = milliseconds % 1000 * 1000000L;
    return milliseconds < 0 ? NULL : limit;
}

/* A timed wait for nothing is a sleep, also of a process that has its core for itself: the worker
 * has messages to look after. */
static bool is_sleep(size_t count, const struct timespec *limit)
{
    return count == 0 && limit != NULL && is_valid(limit) && process_has_turn() &&
           process_is_in_program(process_self);
}

/* ---- poll ---- */

typedef struct {
    struct pollfd *fds;
    nfds_t n;
    const sigset_t *mask;
    int count;
} poll_t;

static bool is_any_ready(void *arg)
{
    struct timespec none = {0, 0};
    poll_t *p = arg;

    p->count = (int)syscall(SYS_ppoll, p->fds, p->n, &none, p->mask, KERNEL_SIGSET);
    return p->count != 0;
}

/* ppoll() for a process: test at once, then wait in virtual time, on another thread or by yielding.
 */
static int look(struct pollfd *fds, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
    poll_t p = {.fds = fds, .n = n, .mask = mask};

    if (is_any_ready(&p))
        return p.count;
    if (!is_zero(limit) && process_runtime.clock != NULL)
        return process_block_look(is_any_ready, &p, limit_of(limit), true) ? p.count : 0;
    if (!is_zero(limit))
        return (int)process_block_call(
            SYS_ppoll, XY_ARGUMENTS((long)fds, (long)n, (long)limit, (long)mask, KERNEL_SIGSET));
    process_yield();
    return 0;
}

XY_INTERPOSE int poll(struct pollfd *fds, nfds_t n, int milliseconds)
{
    struct timespec time, *limit = of_milliseconds(milliseconds, &time);

    if (is_sleep(n, limit)) {
        process_sleep(seconds_of(limit));
        return 0;
    }
    if (!XY_MAY_PARK())
        return XY_NEXT(poll)(fds, n, milliseconds);
    return look(fds, n, limit, NULL);
}

XY_INTERPOSE int __poll_chk(struct pollfd *fds, nfds_t n, int milliseconds, size_t room)
{
    struct timespec time, *limit = of_milliseconds(milliseconds, &time);

    if (n > room / sizeof(*fds) || !XY_MAY_PARK())
        return XY_NEXT(__poll_chk)(fds, n, milliseconds, room);
    return look(fds, n, limit, NULL);
}

/* The kernel writes the time that is left; the C library's functions do not. */
XY_INTERPOSE int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit,
                       const sigset_t *mask)
{
    struct timespec time = limit != NULL ? *limit : (struct timespec){0, 0};

    if (mask == NULL && is_sleep(n, limit)) {
        process_sleep(seconds_of(limit));
        return 0;
    }
    if (!XY_MAY_PARK())
        return XY_NEXT(ppoll)(fds, n, limit, mask);
    return look(fds, n, limit != NULL ? &time : NULL, mask);
}

XY_INTERPOSE int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *limit,
                             const sigset_t *mask, size_t room)
{
    struct timespec time = limit != NULL ? *limit : (struct timespec){0, 0};

    if (n > room / sizeof(*fds) || !XY_MAY_PARK())
        return XY_NEXT(__ppoll_chk)(fds, n, limit, mask, room);
    return look(fds, n, limit != NULL ? &time : NULL, mask);
}

/* ---- select ---- */

typedef struct {
    int n;
    fd_set *sets[3];
    fd_set wanted[3];
    const sigset_t *mask;
    int count;
} select_t;

static size_t bytes_of(int n)
{
    size_t words = ((size_t)n + 8 * sizeof(long) - 1) / (8 * sizeof(long));
    size_t bytes = words * sizeof(long);

    return bytes < sizeof(fd_set) ? bytes : sizeof(fd_set);
}

/* The first look destroys what was asked. */
static void keep_sets(select_t *s)
{
    for (int i = 0; i < 3; i++)
        if (s->sets[i] != NULL)
            memcpy(&s->wanted[i], s->sets[i], bytes_of(s->n));
}

static void restore_sets(const select_t *s)
{
    for (int i = 0; i < 3; i++)
        if (s->sets[i] != NULL)
            memcpy(s->sets[i], &s->wanted[i], bytes_of(s->n));
}

static bool is_any_set(void *arg)
{
    select_t *s = arg;
    struct {
        const sigset_t *mask;
        size_t size;
    } extra = {s->mask, KERNEL_SIGSET};
    struct timespec none = {0, 0};

    restore_sets(s);
    s->count = (int)syscall(SYS_pselect6, s->n, s->sets[0], s->sets[1], s->sets[2], &none, &extra);
    return s->count != 0;
}

/* The rest of the limit is not known: all of it, or nothing. */
static int look_at_sets_in_virtual_time(select_t *s, struct timespec *limit)
{
    if (process_block_look(is_any_set, s, limit_of(limit), true))
        return s->count;
    *limit = (struct timespec){0, 0};
    return 0;
}

/* pselect() for a process: test at once, then yield, wait in virtual time or on another thread. */
static int look_at_sets(select_t *s, struct timespec *limit)
{
    struct {
        const sigset_t *mask;
        size_t size;
    } extra = {s->mask, KERNEL_SIGSET};

    keep_sets(s);
    if (is_any_set(s))
        return s->count;
    if (is_zero(limit)) {
        process_yield();
        return 0;
    }
    if (process_runtime.clock != NULL)
        return look_at_sets_in_virtual_time(s, limit);
    restore_sets(s);
    return (int)process_block_call(SYS_pselect6,
                                   XY_ARGUMENTS(s->n, (long)s->sets[0], (long)s->sets[1],
                                                (long)s->sets[2], (long)limit, (long)&extra));
}

XY_INTERPOSE int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *limit)
{
    select_t s = {.n = n, .sets = {in, out, except}};
    struct timespec time = {0, 0}, *left = limit != NULL ? &time : NULL;
    int count;

    if (limit != NULL)
        time = (struct timespec){limit->tv_sec, limit->tv_usec * 1000};
    if (n == 0 && is_sleep(0, left)) {
        process_sleep(seconds_of(left));
        *limit = (struct timeval){0, 0};
        return 0;
    }
    if (n < 0 || n > FD_SETSIZE || !is_valid(left) || !XY_MAY_PARK())
        return XY_NEXT(select)(n, in, out, except, limit);
    count = look_at_sets(&s, left);
    if (limit != NULL)
        *limit = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    return count;
}

XY_INTERPOSE int pselect(int n, fd_set *in, fd_set *out, fd_set *except,
                         const struct timespec *limit, const sigset_t *mask)
{
    select_t s = {.n = n, .sets = {in, out, except}, .mask = mask};
    struct timespec time = limit != NULL ? *limit : (struct timespec){0, 0};

    if (n == 0 && mask == NULL && is_sleep(0, limit)) {
        process_sleep(seconds_of(limit));
        return 0;
    }
    if (n < 0 || n > FD_SETSIZE || !is_valid(limit) || !XY_MAY_PARK())
        return XY_NEXT(pselect)(n, in, out, except, limit, mask);
    return look_at_sets(&s, limit != NULL ? &time : NULL);
}

/* ---- epoll ---- */

typedef struct {
    int fd;
    struct epoll_event *events;
    int room;
    const sigset_t *mask;
    int count;
} epoll_t;

static bool is_any_event(void *arg)
{
    epoll_t *e = arg;

    e->count = (int)syscall(SYS_epoll_pwait, e->fd, e->events, e->room, 0, e->mask, KERNEL_SIGSET);
    return e->count != 0;
}

/* epoll_pwait() for a process: test at once, then wait in virtual time, on another thread or by
 * yielding. */
static int look_at_events(int fd, struct epoll_event *events, int room, int milliseconds,
                          const sigset_t *mask)
{
    epoll_t e = {.fd = fd, .events = events, .room = room, .mask = mask};

    if (is_any_event(&e))
        return e.count;
    if (milliseconds != 0 && process_runtime.clock != NULL)
        return process_block_look(is_any_event, &e, milliseconds < 0 ? -1 : 1e-3 * milliseconds,
                                  true)
                   ? e.count
                   : 0;
    if (milliseconds != 0)
        return (int)process_block_call(
            SYS_epoll_pwait,
            XY_ARGUMENTS(fd, (long)events, room, milliseconds, (long)mask, KERNEL_SIGSET));
    process_yield();
    return 0;
}

XY_INTERPOSE int epoll_wait(int fd, struct epoll_event *events, int room, int milliseconds)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(epoll_wait)(fd, events, room, milliseconds);
    return look_at_events(fd, events, room, milliseconds, NULL);
}

XY_INTERPOSE int epoll_pwait(int fd, struct epoll_event *events, int room, int milliseconds,
                             const sigset_t *mask)
{
    if (!XY_MAY_PARK())
        return XY_NEXT(epoll_pwait)(fd, events, room, milliseconds, mask);
    return look_at_events(fd, events, room, milliseconds, mask);
}

static int round_up_to_milliseconds(const struct timespec *limit)
{
    if (limit == NULL)
        return -1;
    if (limit->tv_sec >= 2000000)
        return 2000000000;
    return (int)(limit->tv_sec * 1000 + (limit->tv_nsec + 999999) / 1000000);
}

XY_INTERPOSE int epoll_pwait2(int fd, struct epoll_event *events, int room,
                              const struct timespec *limit, const sigset_t *mask)
{
    if (!is_valid(limit) || !XY_MAY_PARK())
        return XY_NEXT(epoll_pwait2)(fd, events, room, limit, mask);
    return look_at_events(fd, events, room, round_up_to_milliseconds(limit), mask);
}
