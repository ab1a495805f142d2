/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kind of file behind a descriptor: a regular file, which never waits for another process, or
 * something that may (a pipe, a socket, a terminal). Asked once per descriptor and remembered until
 * it is closed, so that reading and writing files costs one load more. What another thread asked
 * before the descriptor was closed is forgotten after that.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { REMEMBERED = 4096 };
enum { UNKNOWN, IS_FILE, MAY_WAIT };

static _Atomic unsigned char kinds[REMEMBERED];

static int ask(int fd)
{
    struct stat status;
    int code = errno, kind = IS_FILE; /* a bad descriptor fails at once */

    if (fstat(fd, &status) == 0 &&
        (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
         (status.st_mode & S_IFMT) == 0)) /* 0: eventfd, epoll and their kind */
        kind = MAY_WAIT;
    errno = code;
    return kind;
}

bool process_descriptor_is_file(int fd)
{
    int kind;

    if (fd < 0 || fd >= REMEMBERED)
        return fd < 0 || ask(fd) == IS_FILE;
    kind = atomic_load_explicit(&kinds[fd], memory_order_relaxed);
    if (kind == UNKNOWN) {
        kind = ask(fd);
        atomic_store_explicit(&kinds[fd], (unsigned char)kind, memory_order_relaxed);
    }
    return kind == IS_FILE;
}

void process_descriptor_forget(int fd)
{
    if (fd >= 0 && fd < REMEMBERED)
        atomic_store_explicit(&kinds[fd], UNKNOWN, memory_order_relaxed);
}

void process_descriptor_await_input(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    struct timespec none = {0, 0};

    if (process_descriptor_is_file(fd) || syscall(SYS_ppoll, &one, 1, &none, NULL, 8) != 0)
        return;
    process_streams_flush(process_self); /* a question is seen before its answer is waited for */
    process_block_call(SYS_ppoll, XY_ARGUMENTS((long)&one, 1, 0, 0, 8));
}

XY_INTERPOSE int close(int fd)
{
    int code = XY_NEXT(close)(fd);

    process_descriptor_forget(fd);
    return code;
}

XY_INTERPOSE int dup2(int from, int to)
{
    int code = XY_NEXT(dup2)(from, to);

    process_descriptor_forget(to);
    return code;
}

XY_INTERPOSE int dup3(int from, int to, int flags)
{
    int code = XY_NEXT(dup3)(from, to, flags);

    process_descriptor_forget(to);
    return code;
}

static void forget_from(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < REMEMBERED; fd++)
        process_descriptor_forget((int)fd);
}

XY_INTERPOSE int close_range(unsigned first, unsigned last, int flags)
{
    int code = XY_NEXT(close_range)(first, last, flags);

    forget_from(first, last);
    return code;
}

XY_INTERPOSE void closefrom(int first)
{
    XY_NEXT(closefrom)(first);
    forget_from(first > 0 ? (unsigned)first : 0, REMEMBERED);
}
