/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --stdin all: each process reads all of standard input. A thread reads it once, keeps it, and
 * writes it to a pipe for each process as far as that has room: a process that reads late, or
 * never, holds up no other.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "process/libc/libc.h"
#include "process/libc/process_state.h"

typedef struct {
    int pipe;    /* -1: closed */
    size_t sent; /* of the text */
} reader_t;

static xy_vec_t readers; /* of reader_t */
static xy_text_t text = XY_TEXT_INIT;
static bool is_shared; /* the thread runs: processes that come later read nothing */

int process_input_of_all(void)
{
    reader_t reader = {0};
    int ends[2];

    if (is_shared)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (readers.size == 0)
        readers = XY_VEC_INIT(reader_t);
    if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) {
        xy_fail_errno(errno, "standard input of a rank", "open");
        return -1;
    }
    reader.pipe = ends[1];
    if (xy_vec_append(&readers, &reader) == XY_OK)
        return ends[0];
    close(ends[0]);
    close(ends[1]);
    return -1;
}

/* Read a piece; false: there is no more. */
static bool read_piece(void)
{
    char bytes[16384];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

    if (n > 0)
        xy_text_add_bytes(&text, bytes, (size_t)n);
    if (text.failed)
        xy_fail_memory("keeping standard input for the ranks");
    return (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN))) && !text.failed;
}

/* Write what it takes; close it when it has all there is, or does not read any more. */
static void write_piece(reader_t *reader, bool is_over)
{
    size_t left = text.length - reader->sent;
    ssize_t n = left > 0 ? write(reader->pipe, text.s + reader->sent, left) : 0;

    if (n > 0)
        reader->sent += (size_t)n;
    if ((n < 0 && errno != EAGAIN && errno != EINTR) || (is_over && reader->sent == text.length)) {
        close(reader->pipe);
        reader->pipe = -1;
    }
}

/* Thread: read standard input once and write it to the pipes of all readers until they are closed.
 */
static void *share(void *unused)
{
    size_t n = readers.count;
    struct pollfd *fds = xy_calloc(n + 1, sizeof(*fds));
    bool is_over = fds == NULL;
    int open = (int)n;

    (void)unused;
    if (fds == NULL)
        xy_fail_memory("sharing standard input between the ranks");
    while (fds != NULL && open > 0) {
        open = 0;
        fds[n] = (struct pollfd){.fd = is_over ? -1 : STDIN_FILENO, .events = POLLIN};
        for (size_t i = 0; i < n; i++) {
            const reader_t *reader = &XY_VEC_AT(&readers, reader_t, i);
            bool has_more = reader->sent < text.length || is_over;

            open += reader->pipe >= 0;
            fds[i] = (struct pollfd){.fd = has_more ? reader->pipe : -1, .events = POLLOUT};
        }
        if (open == 0)
            break;
        if (poll(fds, n + 1, -1) < 0) {
            if (errno == EINTR)
                continue;
            xy_fail_errno(errno, "standard input of the ranks", "write");
            break;
        }
        if (fds[n].revents != 0 && !read_piece())
            is_over = true;
        for (size_t i = 0; i < n; i++)
            if (fds[i].revents != 0 && fds[i].fd >= 0)
                write_piece(&XY_VEC_AT(&readers, reader_t, i), is_over);
    }
    xy_free(fds);
    for (size_t i = 0; i < n; i++) /* processes that still read find the end */
        if (XY_VEC_AT(&readers, reader_t, i).pipe >= 0)
            close(XY_VEC_AT(&readers, reader_t, i).pipe);
    return NULL;
}

xy_status_t process_input_share(void)
{
    int code = readers.count > 0 ? process_thread_without_signals(share, NULL) : 0;

    is_shared = true;
    return code == 0 ? XY_OK : xy_fail_errno(code, "a thread for standard input", "start");
}
