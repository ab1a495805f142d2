/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard streams of processes.
 *
 * A process prints to a FILE of its own. What it flushes arrives here; whole lines are written at
 * once under one lock, so that no line is torn by another process's, and the beginning of a line
 * waits for its end, for fflush or for the end of the process. Standard input belongs to process 0;
 * the others read an end of file. freopen leads a stream to a file of the process's own, without a
 * new FILE: programs and the C library's macros hold its address.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static process_streams_config_t config;
static int nothing = -1; /* the standard input of processes other than 0 */
static FILE *shared[3];
static _Atomic bool is_lost; /* output that could not be written */

enum { TAG_SIZE = 96 };

/* With the access that makes its use an error, as it would be with the descriptor closed. */
void process_streams_reserve(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* ---- Children made by fork: no lock is held by a thread that the child lacks, and what other
 * processes have not printed yet is theirs to print ---- */

static void lock_output(void)
{
    process_block_lock(&output);
}

static void unlock_output(void)
{
    process_block_unlock(&output);
}

static void begin_child(void)
{
    unlock_output();
    process_is_child = true;
    process_main = NULL; /* one thread, no workers: every wait is the C library's own */
    XY_RUNTIME_CALL(forget);
}

void process_streams_setup(const process_streams_config_t *c)
{
    static bool is_registered;

    if (!is_registered)
        is_registered = pthread_atfork(lock_output, unlock_output, begin_child) == 0;
    config = *c;
    shared[0] = stdin;
    shared[1] = stdout;
    shared[2] = stderr;
}

static const char *name_of(const process_stream_t *stream)
{
    return stream == &stream->process->out || config.is_merged ? "stdout" : "stderr";
}

/* The text before a line: "Tue Nov 17 18:08:53 2026[1,0]<stdout>:". */
static int write_tag(const process_stream_t *stream, char tag[TAG_SIZE])
{
    int which = stream->process->number, n = 0;
    time_t now;
    struct tm parts;

    tag[0] = '\0';
    if (config.has_time && time(&now) != (time_t)-1 && localtime_r(&now, &parts) != NULL)
        n = (int)strftime(tag, TAG_SIZE, "%a %b %d %H:%M:%S %Y", &parts);
    if (config.tag == PROCESS_TAG_NUMBER)
        n += snprintf(tag + n, TAG_SIZE - (size_t)n, "[%d] ", which);
    else if (config.tag == PROCESS_TAG_STREAM)
        n += snprintf(tag + n, TAG_SIZE - (size_t)n, "[1,%d]<%s>:", which, name_of(stream));
    else
        n += snprintf(tag + n, TAG_SIZE - (size_t)n, "<%s>:", name_of(stream));
    return n;
}

/* The C library's own: these are called with the lock held, when no other process may run. */
static ssize_t plain_write(int fd, const void *bytes, size_t size)
{
    return XY_NEXT(write)(fd, bytes, size);
}

static void await_room(int fd)
{
    struct pollfd until = {.fd = fd, .events = POLLOUT};

    XY_NEXT(poll)(&until, 1, 1000);
}

/* EAGAIN: the terminal or pipe is in non-blocking mode; wait as a blocking one would. 0 or the
 * error. */
static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = plain_write(fd, bytes, size);

        if (n < 0 && errno == EAGAIN)
            await_room(fd);
        else if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        }
    }
    return 0;
}

/* Output of the job that nobody will see is a failure of the job, reported once. A file of the
 * process's own is the program's to check. */
static int write_out(const process_stream_t *stream, const char *bytes, size_t size)
{
    int code = write_all(stream->fd, bytes, size);

    if (code == 0 && stream->copy >= 0 && !stream->is_redirected)
        code = write_all(stream->copy, bytes, size);
    if (code != 0 && !stream->is_redirected && !atomic_exchange(&is_lost, true))
        process_say("%s %d: cannot write to standard %s: %s; what %ss print is lost",
                    process_runtime.noun, stream->process->number,
                    strcmp(name_of(stream), "stdout") == 0 ? "output" : "error", strerror(code),
                    process_runtime.noun);
    return code;
}

bool process_streams_failed(void)
{
    return is_lost;
}

/* Write `size` bytes with a tag at the beginning of every line. */
static int write_tagged(process_stream_t *stream, const char *bytes, size_t size)
{
    xy_text_t text = XY_TEXT_INIT;
    char tag[TAG_SIZE];
    int tag_size = write_tag(stream, tag), code = ENOMEM;

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
        code = write_out(stream, text.s, text.length);
    xy_text_cleanup(&text);
    return code;
}

static int emit(process_stream_t *stream, const char *bytes, size_t size)
{
    if (size == 0)
        return 0;
    if ((config.tag == PROCESS_TAG_NONE && !config.has_time) || stream->is_redirected)
        return write_out(stream, bytes, size);
    return write_tagged(stream, bytes, size);
}

/* Append bytes to the unfinished line of a stream; false without memory. */
static bool keep(process_stream_t *stream, const char *bytes, size_t size)
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

static int emit_partial(process_stream_t *stream)
{
    int code = emit(stream, stream->partial, stream->partial_size);

    stream->partial_size = 0;
    return code;
}

/* Whole lines behind what was kept, in one piece where memory allows. */
static int emit_lines(process_stream_t *stream, const char *bytes, size_t size)
{
    int code = 0;

    if (stream->partial_size == 0)
        return emit(stream, bytes, size);
    if (keep(stream, bytes, size))
        return emit_partial(stream);
    code = emit_partial(stream);
    return code != 0 ? code : emit(stream, bytes, size);
}

/* Called with the lock held. Lines without an end are not kept for ever. */
static int take(process_stream_t *stream, const char *bytes, size_t size)
{
    enum { LONGEST_LINE = 1 << 20 };
    const char *last = memrchr(bytes, '\n', size);
    size_t whole = last != NULL ? (size_t)(last - bytes) + 1 : 0;
    int code = whole > 0 ? emit_lines(stream, bytes, whole) : 0;

    if (whole == size || code != 0)
        return code;
    if (stream->partial_size <= LONGEST_LINE && keep(stream, bytes + whole, size - whole))
        return 0;
    code = emit_partial(stream);
    return code != 0 ? code : emit(stream, bytes + whole, size - whole);
}

int process_stream_take(process_stream_t *stream, const char *bytes, size_t size)
{
    int code;

    lock_output();
    code = take(stream, bytes, size);
    unlock_output();
    return code;
}

/* ---- What the FILE calls ---- */

/* Cookie function: write what a process has flushed; returns 0 with errno on failure. Children of
 * fork() write only their own. */
static ssize_t on_write(void *cookie, const char *bytes, size_t size)
{
    process_stream_t *stream = cookie;
    int code;

    if (process_is_child && stream->process != process_self)
        return (ssize_t)size;
    code = stream->is_redirected ? write_all(stream->fd, bytes, size)
                                 : process_stream_take(stream, bytes, size);
    if (code == 0)
        return (ssize_t)size;
    errno = code;
    return 0;
}

static ssize_t on_read(void *cookie, char *bytes, size_t size)
{
    return XY_NEXT(read)(((const process_stream_t *)cookie)->fd, bytes, size);
}

/* Lines of several processes on one descriptor have no positions. */
static int on_seek(void *cookie, off64_t *offset, int whence)
{
    const process_stream_t *stream = cookie;
    off64_t at;

    if (stream != &stream->process->in && !stream->is_redirected) {
        errno = ESPIPE;
        return -1;
    }
    at = lseek64(stream->fd, *offset, whence);
    if (at < 0)
        return -1;
    *offset = at;
    return 0;
}

/* Open a standard stream of a process on `fd`; standard error is unbuffered, standard output
 * buffered by lines. */
static xy_status_t open_stream(process_t *process, process_stream_t *stream, int fd)
{
    const cookie_io_functions_t calls = {.read = on_read, .write = on_write, .seek = on_seek};

    stream->process = process;
    stream->fd = fd;
    /* Open for both: what freopen gives it may be either, and the descriptor knows. */
    stream->file = fopencookie(stream, stream == &process->in ? "r+" : "w+", calls);
    if (stream->file == NULL)
        return xy_fail_memory("opening a rank's streams");
    if (stream == &process->err)
        setvbuf(stream->file, NULL, _IONBF, 0);
    else if (stream == &process->out)
        setvbuf(stream->file, process->line, _IOLBF, sizeof(process->line));
    return XY_OK;
}

int process_streams_input(int which)
{
    if (config.input == PROCESS_INPUT_ALL)
        return process_input_of_all();
    if (which != config.input && nothing < 0)
        nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return which == config.input ? STDIN_FILENO : nothing;
}

xy_status_t process_streams_begin(process_t *process)
{
    return process_stream_route(&config, process);
}

xy_status_t process_streams_open(process_t *process)
{
    xy_status_t st = open_stream(process, &process->in, process_streams_input(process->number));

    if (st == XY_OK)
        st = open_stream(process, &process->out, STDOUT_FILENO);
    if (st == XY_OK)
        st = open_stream(process, &process->err, STDERR_FILENO);
    if (st == XY_OK)
        st = process_streams_begin(process);
    if (st != XY_OK)
        return st;
    PROCESS_VARIABLE(process, FILE *, PROCESS_VARIABLE_STDIN) = process->in.file;
    PROCESS_VARIABLE(process, FILE *, PROCESS_VARIABLE_STDOUT) = process->out.file;
    PROCESS_VARIABLE(process, FILE *, PROCESS_VARIABLE_STDERR) = process->err.file;
    return XY_OK;
}

FILE *process_stream_of(process_t *process, FILE *file)
{
    if (process == NULL)
        return file;
    if (file == shared[1])
        return process->out.file;
    if (file == shared[2])
        return process->err.file;
    return file == shared[0] ? process->in.file : file;
}

process_stream_t *process_stream_find(process_t *process, const FILE *file)
{
    if (process == NULL)
        return NULL;
    if (file == process->out.file || file == shared[1])
        return &process->out;
    if (file == process->err.file || file == shared[2])
        return &process->err;
    return file == process->in.file || file == shared[0] ? &process->in : NULL;
}

int process_stream_flush(process_stream_t *stream)
{
    int code;

    lock_output();
    code = emit_partial(stream);
    unlock_output();
    return code;
}

void process_streams_flush(process_t *process)
{
    fflush(process->out.file);
    fflush(process->err.file);
    process_stream_flush(&process->out);
    process_stream_flush(&process->err);
}

static void close_stream(process_stream_t *stream)
{
    if (stream->file != NULL)
        fclose(stream->file);
    if (stream->wide != NULL)
        fclose(stream->wide);
    xy_free(stream->partial);
}

/* A descriptor of the process's own goes with it. */
void process_streams_close(process_t *process)
{
    process_stream_t *const all[] = {&process->in, &process->out, &process->err};

    for (int i = 0; i < 3; i++) {
        close_stream(all[i]);
        if (all[i]->is_redirected && all[i]->fd > STDERR_FILENO)
            close(all[i]->fd);
    }
}

static void flush_if_free(process_stream_t *stream)
{
    if (stream->file == NULL || (__fpending(stream->file) == 0 && stream->partial_size == 0))
        return;
    if (ftrylockfile(stream->file) != 0)
        return;
    fflush_unlocked(stream->file);
    funlockfile(stream->file);
    process_stream_flush(stream);
}

void process_streams_flush_all(process_t *processes, int count)
{
    for (int i = 0; i < count; i++) {
        flush_if_free(&processes[i].out);
        flush_if_free(&processes[i].err);
    }
}
