/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of files. Record locks of fcntl and lockf belong to a process, so that processes would not
 * exclude one another: a process's belong to its open file instead. Waiting for a lock lets the
 * other processes of the core run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

XY_INTERPOSE int flock(int fd, int operation)
{
    int result;

    if (!XY_MAY_PARK())
        return XY_NEXT(flock)(fd, operation);
    result = XY_NEXT(flock)(fd, operation | LOCK_NB);
    if (result == 0 || errno != EWOULDBLOCK)
        return result;
    if ((operation & LOCK_NB) == 0)
        return (int)process_block_call(SYS_flock, XY_ARGUMENTS(fd, operation));
    process_yield();
    return result;
}

static int plain_fcntl(int fd, int command, void *argument)
{
    return XY_NEXT(fcntl)(fd, command, argument);
}

/* fcntl() with record locks, as locks of the open file; a waiting process yields its core if
 * `may_park`. */
static int lock_record(int fd, int command, struct flock *lock, bool may_park)
{
    int result;

    lock->l_pid = 0; /* required for such locks */
    if (command == F_GETLK)
        return plain_fcntl(fd, F_OFD_GETLK, lock);
    result = plain_fcntl(fd, F_OFD_SETLK, lock);
    if (result == 0 || (errno != EAGAIN && errno != EACCES))
        return result;
    if (command == F_SETLKW)
        return may_park
                   ? (int)process_block_call(SYS_fcntl, XY_ARGUMENTS(fd, F_OFD_SETLKW, (long)lock))
                   : plain_fcntl(fd, F_OFD_SETLKW, lock);
    if (may_park)
        process_yield();
    return result;
}

static int control(int fd, int command, void *argument, bool may_park)
{
    if (process_self == NULL || process_is_child ||
        (command != F_GETLK && command != F_SETLK && command != F_SETLKW))
        return plain_fcntl(fd, command, argument);
    return lock_record(fd, command, argument, may_park);
}

XY_INTERPOSE int fcntl(int fd, int command, ...)
{
    va_list arguments;
    void *argument;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    return control(fd, command, argument, XY_MAY_PARK());
}

XY_INTERPOSE int fcntl64(int fd, int command, ...)
{
    va_list arguments;
    void *argument;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    return control(fd, command, argument, XY_MAY_PARK());
}

/* lockf() for a range that begins at the file position. */
static int lock_from_here(int fd, int operation, off_t size, bool may_park)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = size};
    int result;

    switch (operation) {
    case F_ULOCK:
        lock.l_type = F_UNLCK;
        return lock_record(fd, F_SETLK, &lock, may_park);
    case F_LOCK:
        return lock_record(fd, F_SETLKW, &lock, may_park);
    case F_TLOCK:
        return lock_record(fd, F_SETLK, &lock, may_park);
    case F_TEST:
        result = lock_record(fd, F_GETLK, &lock, may_park);
        if (result == 0 && lock.l_type != F_UNLCK) {
            errno = EACCES;
            return -1;
        }
        return result;
    default:
        errno = EINVAL;
        return -1;
    }
}

XY_INTERPOSE int lockf(int fd, int operation, off_t size)
{
    if (process_self == NULL || process_is_child)
        return XY_NEXT(lockf)(fd, operation, size);
    return lock_from_here(fd, operation, size, XY_MAY_PARK());
}

XY_INTERPOSE int lockf64(int fd, int operation, off64_t size)
{
    if (process_self == NULL || process_is_child)
        return XY_NEXT(lockf64)(fd, operation, size);
    return lock_from_here(fd, operation, size, XY_MAY_PARK());
}
