/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * freopen of a process's standard stream: the FILE stays, and leads to a descriptor of the
 * process's own. Other processes keep theirs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "process/libc/process_state.h"

/* The flags of open for a mode of fopen; -1 when it is none. */
static int flags_of(const char *mode)
{
    int flags = O_CLOEXEC, access = O_WRONLY;

    switch (*mode) {
    case 'r':
        access = O_RDONLY;
        break;
    case 'w':
        flags |= O_CREAT | O_TRUNC;
        break;
    case 'a':
        flags |= O_CREAT | O_APPEND;
        break;
    default:
        return -1;
    }
    if (strchr(mode, '+') != NULL)
        access = O_RDWR;
    if (strchr(mode, 'x') != NULL)
        flags |= O_EXCL;
    return flags | access;
}

/* freopen(NULL, ...): the same file, if its descriptor has the access. */
static int keep_descriptor(process_stream_t *stream, int flags)
{
    int now = fcntl(stream->fd, F_GETFL);

    if (now < 0)
        return -1;
    if ((now & O_ACCMODE) != O_RDWR && (now & O_ACCMODE) != (flags & O_ACCMODE)) {
        errno = EBADF;
        return -1;
    }
    if (stream->is_redirected && (flags & O_APPEND) != (now & O_APPEND))
        return fcntl(stream->fd, F_SETFL, (now & ~O_APPEND) | (flags & O_APPEND));
    return 0;
}

static void close_own(process_stream_t *stream)
{
    if (stream->is_redirected && stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
    stream->is_redirected = true;
}

/* A file is written in large pieces; standard error stays unbuffered. */
static void buffer_as_file(process_stream_t *stream)
{
    process_t *process = stream->process;

    if (stream == &process->out)
        setvbuf(stream->file, process->line, isatty(stream->fd) ? _IOLBF : _IOFBF,
                sizeof(process->line));
}

static int lead_to(process_stream_t *stream, const char *path, int flags)
{
    int fd, code;

    close_own(stream);
    fd = open(path, flags, 0666);
    code = errno;
    stream->fd = fd;
    if (fd >= 0)
        buffer_as_file(stream);
    errno = code;
    return fd;
}

FILE *process_stream_reopen(process_stream_t *stream, const char *path, const char *mode)
{
    int flags = flags_of(mode), done;

    if (flags < 0) {
        errno = EINVAL;
        return NULL;
    }
    flockfile(stream->file);
    if (stream != &stream->process->in || stream->is_redirected)
        fflush(stream->file);
    if (path != NULL || stream == &stream->process->in)
        __fpurge(stream->file);
    clearerr(stream->file);
    if (stream->wide != NULL)
        fclose(stream->wide);
    stream->wide = NULL;
    stream->orientation = 0;
    done = path == NULL ? keep_descriptor(stream, flags) : lead_to(stream, path, flags);
    funlockfile(stream->file);
    return done < 0 ? NULL : stream->file;
}
