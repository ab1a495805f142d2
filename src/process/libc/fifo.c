/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening a FIFO waits for its other end, which another process may be about to open. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static bool is_fifo(int directory, const char *path)
{
    struct stat status;
    int code = errno;
    bool answer = fstatat(directory, path, &status, 0) == 0 && S_ISFIFO(status.st_mode);

    errno = code;
    return answer;
}

static int plain_openat(int directory, const char *path, int flags, mode_t mode)
{
    return XY_NEXT(openat)(directory, path, flags, mode);
}

static int open_for(int directory, const char *path, int flags, mode_t mode, bool may_park)
{
    if (!may_park || (flags & (O_NONBLOCK | O_PATH)) != 0 || !is_fifo(directory, path))
        return plain_openat(directory, path, flags, mode);
    return (int)process_block_call(SYS_openat, XY_ARGUMENTS(directory, (long)path, flags, mode));
}

/* Only these flags have a mode behind them. */
#define XY_HAS_MODE(flags) (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE)

XY_INTERPOSE int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    va_start(arguments, flags);
    if (XY_HAS_MODE(flags))
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return open_for(AT_FDCWD, path, flags, mode, XY_MAY_PARK());
}

XY_INTERPOSE int openat(int directory, const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    va_start(arguments, flags);
    if (XY_HAS_MODE(flags))
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return open_for(directory, path, flags, mode, XY_MAY_PARK());
}

typedef struct {
    const char *path, *mode;
    FILE *file;
    int error;
} stream_t;

static void open_there(void *arg)
{
    stream_t *s = arg;

    s->file = fopen(s->path, s->mode);
    s->error = errno;
}

XY_INTERPOSE FILE *fopen(const char *path, const char *mode)
{
    stream_t s = {.path = path, .mode = mode};

    if (!XY_MAY_PARK() || !is_fifo(AT_FDCWD, path))
        return XY_NEXT(fopen)(path, mode);
    process_block_run(open_there, &s);
    if (s.file == NULL)
        errno = s.error;
    return s.file;
}

/* Files are large in any case on 64-bit machines. */
XY_INTERPOSE int open64(const char *path, int flags, ...) __attribute__((alias("open")));
XY_INTERPOSE int openat64(int directory, const char *path, int flags, ...)
    __attribute__((alias("openat")));
XY_INTERPOSE FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
