/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard output and standard error of ranks.
 *
 * A rank prints to a FILE of its own. What it flushes arrives here; whole lines are written at once
 * under one lock, so that no line is torn by another rank's, and the beginning of a line waits for
 * its end, for fflush or for the end of the rank. Standard input belongs to rank 0; the others read
 * an end of file.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "mpi/launch/libc/process.h"

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static mpi_tag_t tags;
static FILE *nothing; /* the standard input of ranks other than 0 */
static FILE *shared[3];

enum { TAG_SIZE = 48 };

void mpi_streams_setup(mpi_tag_t tag)
{
    tags = tag;
    shared[0] = stdin;
    shared[1] = stdout;
    shared[2] = stderr;
}

static int write_tag(const mpi_stream_t *stream, char tag[TAG_SIZE])
{
    if (tags == XMPI_TAG_RANK)
        return snprintf(tag, TAG_SIZE, "[%d] ", stream->process->world);
    if (tags == XMPI_TAG_STREAM)
        return snprintf(tag, TAG_SIZE, "[1,%d]<%s>:", stream->process->world,
                        stream->fd == STDOUT_FILENO ? "stdout" : "stderr");
    return 0;
}

/* EAGAIN: the terminal or pipe is in non-blocking mode; wait as a blocking one would. */
static void write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);

        struct pollfd until = {.fd = fd, .events = POLLOUT};

        if (n < 0 && errno == EAGAIN)
            poll(&until, 1, 1000);
        else if (n < 0 && errno != EINTR)
            return;
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        }
    }
}

/* Write `size` bytes with a tag at the beginning of every line. */
static void write_tagged(mpi_stream_t *stream, const char *bytes, size_t size)
{
    xy_text_t text = XY_TEXT_INIT;
    char tag[TAG_SIZE];
    int tag_size = write_tag(stream, tag);

    while (size > 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t n = end != NULL ? (size_t)(end - bytes) + 1 : size;

        if (!stream->is_inside_line)
            xy_text_add_bytes(&text, tag, (size_t)tag_size);
        xy_text_add_bytes(&text, bytes, n);
        stream->is_inside_line = end == NULL;
        bytes += n;
        size -= n;
    }
    if (!text.failed)
        write_all(stream->fd, text.s, text.length);
    xy_text_cleanup(&text);
}

static void emit(mpi_stream_t *stream, const char *bytes, size_t size)
{
    if (size == 0)
        return;
    if (tags == XMPI_TAG_NONE)
        write_all(stream->fd, bytes, size);
    else
        write_tagged(stream, bytes, size);
}

static bool keep(mpi_stream_t *stream, const char *bytes, size_t size)
{
    size_t needed = stream->partial_size + size;

    if (needed > stream->partial_capacity) {
        size_t capacity = needed < 256 ? 256 : 2 * needed;
        char *grown = xy_realloc(stream->partial, capacity);

        if (grown == NULL)
            return false;
        stream->partial = grown;
        stream->partial_capacity = capacity;
    }
    memcpy(stream->partial + stream->partial_size, bytes, size);
    stream->partial_size = needed;
    return true;
}

static void emit_partial(mpi_stream_t *stream)
{
    emit(stream, stream->partial, stream->partial_size);
    stream->partial_size = 0;
}

/* Called with the lock held. Lines without an end are not kept for ever. */
static void take(mpi_stream_t *stream, const char *bytes, size_t size)
{
    enum { LONGEST_LINE = 1 << 20 };
    const char *last = memrchr(bytes, '\n', size);
    size_t whole = last != NULL ? (size_t)(last - bytes) + 1 : 0;

    if (whole > 0 && stream->partial_size == 0) {
        emit(stream, bytes, whole);
    } else if (whole > 0) {
        if (!keep(stream, bytes, whole)) {
            emit_partial(stream);
            emit(stream, bytes, whole);
        }
        emit_partial(stream);
    }
    if (whole == size)
        return;
    if (stream->partial_size > LONGEST_LINE || !keep(stream, bytes + whole, size - whole)) {
        emit_partial(stream);
        emit(stream, bytes + whole, size - whole);
    }
}

void mpi_stream_take(mpi_stream_t *stream, const char *bytes, size_t size)
{
    pthread_mutex_lock(&output);
    take(stream, bytes, size);
    pthread_mutex_unlock(&output);
}

static ssize_t on_write(void *cookie, const char *bytes, size_t size)
{
    mpi_stream_take(cookie, bytes, size);
    return (ssize_t)size;
}

static xy_status_t open_stream(mpi_process_t *process, mpi_stream_t *stream, int fd)
{
    stream->process = process;
    stream->fd = fd;
    stream->file = fopencookie(stream, "w", (cookie_io_functions_t){.write = on_write});
    if (stream->file == NULL)
        return xy_fail_memory("opening a rank's streams");
    if (fd == STDERR_FILENO)
        setvbuf(stream->file, NULL, _IONBF, 0);
    else
        setvbuf(stream->file, process->line, _IOLBF, sizeof(process->line));
    return XY_OK;
}

xy_status_t mpi_streams_open(mpi_process_t *process)
{
    xy_status_t st = open_stream(process, &process->out, STDOUT_FILENO);

    if (st == XY_OK)
        st = open_stream(process, &process->err, STDERR_FILENO);
    if (st != XY_OK)
        return st;
    if (process->world != 0 && nothing == NULL)
        nothing = fopen("/dev/null", "re");
    XMPI_PROCESS_VARIABLE(process, FILE *, XMPI_VARIABLE_STDIN) =
        process->world == 0 || nothing == NULL ? shared[0] : nothing;
    XMPI_PROCESS_VARIABLE(process, FILE *, XMPI_VARIABLE_STDOUT) = process->out.file;
    XMPI_PROCESS_VARIABLE(process, FILE *, XMPI_VARIABLE_STDERR) = process->err.file;
    return XY_OK;
}

FILE *mpi_stream_of(mpi_process_t *process, FILE *file)
{
    if (process == NULL)
        return file;
    if (file == shared[1])
        return process->out.file;
    if (file == shared[2])
        return process->err.file;
    if (file == shared[0] && process->world != 0 && nothing != NULL)
        return nothing;
    return file;
}

void mpi_stream_flush(mpi_stream_t *stream)
{
    pthread_mutex_lock(&output);
    emit_partial(stream);
    pthread_mutex_unlock(&output);
}

void mpi_streams_flush(mpi_process_t *process)
{
    fflush(process->out.file);
    fflush(process->err.file);
    mpi_stream_flush(&process->out);
    mpi_stream_flush(&process->err);
}

static void flush_if_free(mpi_stream_t *stream)
{
    if (stream->file == NULL || (__fpending(stream->file) == 0 && stream->partial_size == 0))
        return;
    if (ftrylockfile(stream->file) != 0)
        return;
    fflush_unlocked(stream->file);
    funlockfile(stream->file);
    mpi_stream_flush(stream);
}

void mpi_streams_flush_all(mpi_process_t *processes, int count)
{
    for (int i = 0; i < count; i++) {
        flush_if_free(&processes[i].out);
        flush_if_free(&processes[i].err);
    }
}
