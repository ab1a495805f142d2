/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading from and writing to descriptors that may wait. When the kernel says that the call will
 * not wait, it is made here; else on another thread, with its own time limits and flags.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static bool is_ready(int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    struct timespec none = {0, 0};

    return syscall(SYS_ppoll, &one, 1, &none, NULL, 8) != 0;
}

static bool is_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 || (flags & O_NONBLOCK) != 0;
}

/* Must the call be made elsewhere? A call that fails at once because nothing is there lets others
 * run first: it is likely to be one of many. */
static bool would_wait(int fd, short events)
{
    if (process_descriptor_is_file(fd) || is_ready(fd, events))
        return false;
    if (!is_nonblocking(fd))
        return true;
    process_yield();
    return false;
}

/* More than a pipe takes at once waits for its reader, ready or not. */
static bool would_wait_for_room(int fd, size_t size)
{
    if (process_descriptor_is_file(fd))
        return false;
    return (size > PIPE_BUF && !is_nonblocking(fd)) || would_wait(fd, POLLOUT);
}

static bool would_wait_with(int fd, short events, int flags)
{
    if ((flags & MSG_DONTWAIT) == 0)
        return (flags & MSG_WAITALL) != 0 ? !is_nonblocking(fd) : would_wait(fd, events);
    if (!is_ready(fd, events))
        process_yield();
    return false;
}

static size_t size_of(const struct iovec *pieces, int count)
{
    size_t size = 0;

    for (int i = 0; i < count; i++)
        size += pieces[i].iov_len;
    return size;
}

/* ---- Input ---- */

XY_INTERPOSE ssize_t read(int fd, void *buffer, size_t size)
{
    fd = XY_OWN_DESCRIPTOR(fd);
    if (!XY_MAY_PARK() || !would_wait(fd, POLLIN))
        return XY_NEXT(read)(fd, buffer, size);
    return process_block_call(SYS_read, XY_ARGUMENTS(fd, (long)buffer, (long)size));
}

XY_INTERPOSE ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
    fd = XY_OWN_DESCRIPTOR(fd);
    if (size > room || !XY_MAY_PARK() || !would_wait(fd, POLLIN))
        return XY_NEXT(__read_chk)(fd, buffer, size, room);
    return process_block_call(SYS_read, XY_ARGUMENTS(fd, (long)buffer, (long)size));
}

XY_INTERPOSE ssize_t readv(int fd, const struct iovec *pieces, int count)
{
    fd = XY_OWN_DESCRIPTOR(fd);
    if (!XY_MAY_PARK() || !would_wait(fd, POLLIN))
        return XY_NEXT(readv)(fd, pieces, count);
    return process_block_call(SYS_readv, XY_ARGUMENTS(fd, (long)pieces, count));
}

static ssize_t receive(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                       socklen_t *from_size)
{
    return process_block_call(SYS_recvfrom, XY_ARGUMENTS(fd, (long)buffer, (long)size, flags,
                                                         (long)from, (long)from_size));
}

XY_INTERPOSE ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    if (!XY_MAY_PARK() || !would_wait_with(fd, POLLIN, flags))
        return XY_NEXT(recv)(fd, buffer, size, flags);
    return receive(fd, buffer, size, flags, NULL, NULL);
}

XY_INTERPOSE ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
    if (size > room || !XY_MAY_PARK() || !would_wait_with(fd, POLLIN, flags))
        return XY_NEXT(__recv_chk)(fd, buffer, size, room, flags);
    return receive(fd, buffer, size, flags, NULL, NULL);
}

XY_INTERPOSE ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                              socklen_t *from_size)
{
    if (!XY_MAY_PARK() || !would_wait_with(fd, POLLIN, flags))
        return XY_NEXT(recvfrom)(fd, buffer, size, flags, from, from_size);
    return receive(fd, buffer, size, flags, from, from_size);
}

XY_INTERPOSE ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    if (!XY_MAY_PARK() || !would_wait_with(fd, POLLIN, flags))
        return XY_NEXT(recvmsg)(fd, message, flags);
    return process_block_call(SYS_recvmsg, XY_ARGUMENTS(fd, (long)message, flags));
}

XY_INTERPOSE int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags,
                          struct timespec *limit)
{
    if ((flags & MSG_DONTWAIT) != 0 || !XY_MAY_PARK() || is_nonblocking(fd))
        return XY_NEXT(recvmmsg)(fd, messages, n, flags, limit);
    return (int)process_block_call(SYS_recvmmsg,
                                   XY_ARGUMENTS(fd, (long)messages, n, flags, (long)limit));
}

XY_INTERPOSE int accept4(int fd, struct sockaddr *from, socklen_t *from_size, int flags)
{
    if (!XY_MAY_PARK() || !would_wait(fd, POLLIN))
        return XY_NEXT(accept4)(fd, from, from_size, flags);
    return (int)process_block_call(SYS_accept4,
                                   XY_ARGUMENTS(fd, (long)from, (long)from_size, flags));
}

XY_INTERPOSE int accept(int fd, struct sockaddr *from, socklen_t *from_size)
{
    if (!XY_MAY_PARK() || !would_wait(fd, POLLIN))
        return XY_NEXT(accept)(fd, from, from_size);
    return (int)process_block_call(SYS_accept4, XY_ARGUMENTS(fd, (long)from, (long)from_size, 0));
}

/* ---- Output ---- */

XY_INTERPOSE ssize_t write(int fd, const void *bytes, size_t size)
{
    fd = XY_OWN_DESCRIPTOR(fd);
    if (!XY_MAY_PARK() || !would_wait_for_room(fd, size))
        return XY_NEXT(write)(fd, bytes, size);
    return process_block_call(SYS_write, XY_ARGUMENTS(fd, (long)bytes, (long)size));
}

/* Called by the private copy of the Fortran runtime: a PRINT goes where printf goes, and no line is
 * torn by another process's. */
XY_INTERPOSE ssize_t xylem_write_lines(int fd, const void *bytes, size_t size)
{
    process_stream_t *stream = NULL;
    int code;

    if (process_self != NULL && (fd == STDOUT_FILENO || fd == STDERR_FILENO))
        stream = fd == STDOUT_FILENO ? &process_self->out : &process_self->err;
    if (stream == NULL || stream->is_redirected)
        return write(fd, bytes, size);
    code = process_stream_take(stream, bytes, size);
    if (code == 0)
        return (ssize_t)size;
    errno = code;
    return -1;
}

XY_INTERPOSE ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    fd = XY_OWN_DESCRIPTOR(fd);
    if (!XY_MAY_PARK() || !would_wait_for_room(fd, size_of(pieces, count)))
        return XY_NEXT(writev)(fd, pieces, count);
    return process_block_call(SYS_writev, XY_ARGUMENTS(fd, (long)pieces, count));
}

static bool send_would_wait(int fd, size_t size, int flags)
{
    if ((flags & MSG_DONTWAIT) != 0)
        return would_wait_with(fd, POLLOUT, flags);
    return would_wait_for_room(fd, size);
}

XY_INTERPOSE ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    if (!XY_MAY_PARK() || !send_would_wait(fd, size, flags))
        return XY_NEXT(send)(fd, bytes, size, flags);
    return process_block_call(SYS_sendto, XY_ARGUMENTS(fd, (long)bytes, (long)size, flags));
}

XY_INTERPOSE ssize_t sendto(int fd, const void *bytes, size_t size, int flags,
                            const struct sockaddr *to, socklen_t to_size)
{
    if (!XY_MAY_PARK() || !send_would_wait(fd, size, flags))
        return XY_NEXT(sendto)(fd, bytes, size, flags, to, to_size);
    return process_block_call(SYS_sendto,
                              XY_ARGUMENTS(fd, (long)bytes, (long)size, flags, (long)to, to_size));
}

XY_INTERPOSE ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (!XY_MAY_PARK() ||
        !send_would_wait(fd, size_of(message->msg_iov, (int)message->msg_iovlen), flags))
        return XY_NEXT(sendmsg)(fd, message, flags);
    return process_block_call(SYS_sendmsg, XY_ARGUMENTS(fd, (long)message, flags));
}

XY_INTERPOSE int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
    if ((flags & MSG_DONTWAIT) != 0 || !XY_MAY_PARK() || is_nonblocking(fd))
        return XY_NEXT(sendmmsg)(fd, messages, n, flags);
    return (int)process_block_call(SYS_sendmmsg, XY_ARGUMENTS(fd, (long)messages, n, flags));
}

XY_INTERPOSE int connect(int fd, const struct sockaddr *to, socklen_t to_size)
{
    if (!XY_MAY_PARK() || is_nonblocking(fd))
        return XY_NEXT(connect)(fd, to, to_size);
    return (int)process_block_call(SYS_connect, XY_ARGUMENTS(fd, (long)to, to_size));
}
