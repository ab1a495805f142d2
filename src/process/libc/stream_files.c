/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that processes print to (--output-filename, -outfile-pattern, -errfile-pattern). Processes
 * whose files have one name share it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "process/libc/process_state.h"

typedef struct {
    char *path;
    int fd;
} opened_t;

static xy_vec_t all; /* of opened_t */

/* The descriptor of an open file, or of a new one. */
static xy_status_t open_once(char *path, int *fd_p)
{
    opened_t new = {path, -1};

    if (all.size == 0)
        all = XY_VEC_INIT(opened_t);
    for (size_t i = 0; i < all.count; i++)
        if (strcmp(XY_VEC_AT(&all, opened_t, i).path, path) == 0) {
            *fd_p = XY_VEC_AT(&all, opened_t, i).fd;
            xy_free(path);
            return XY_OK;
        }
    new.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (new.fd < 0)
        return xy_fail_errno(errno, path, "write");
    *fd_p = new.fd;
    return xy_vec_append(&all, &new) == XY_OK ? XY_OK : xy_fail_memory("opening output files");
}

/* "DIR:nojobid,nocopy" as Open MPI has it: DIR/1/rank.N/stdout. Zeros make names sort. */
static xy_status_t open_in_directory(const process_streams_config_t *c, process_stream_t *stream,
                                     const char *name)
{
    const char *colon = strrchr(c->directory, ':');
    bool has_id = colon == NULL || strstr(colon, "nojobid") == NULL;
    bool is_copied = colon == NULL || strstr(colon, "nocopy") == NULL;
    int length = colon != NULL ? (int)(colon - c->directory) : (int)strlen(c->directory), fd;
    char *path = xy_sprintf("%.*s/%srank.%d/%s", length, c->directory, has_id ? "1/" : "",
                            stream->process->number, name);
    xy_status_t st =
        path == NULL ? xy_fail_memory("opening output files") : xy_make_directories(path);

    if (st == XY_OK)
        st = open_once(path, &fd);
    if (st != XY_OK)
        return st;
    stream->copy = is_copied ? fd : -1;
    if (!is_copied)
        stream->fd = fd;
    return XY_OK;
}

/* MPICH's pattern: %r, %h, %p, %g. */
static xy_status_t open_pattern(const process_streams_config_t *c, process_stream_t *stream,
                                const char *pattern)
{
    xy_text_t path = XY_TEXT_INIT;
    char own[256] = "";

    gethostname(own, sizeof(own) - 1);
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at != '%')
            xy_text_add_bytes(&path, at, 1);
        else if (*++at == 'r')
            xy_text_addf(&path, "%d", stream->process->number);
        else if (*at == 'h')
            xy_text_addf(&path, "%s", c->host != NULL ? c->host : own);
        else if (*at == 'p')
            xy_text_addf(&path, "%d", c->process);
        else if (*at == 'g')
            xy_text_addf(&path, "0");
        else if (*at == '%')
            xy_text_addf(&path, "%%");
        else {
            xy_text_cleanup(&path);
            return xy_fail(XY_EUSAGE,
                           "'%s': expected r (rank), h (host), p (process), g or %% after %%",
                           pattern);
        }
    }
    if (path.failed) {
        xy_text_cleanup(&path);
        return xy_fail_memory("opening output files");
    }
    return open_once(path.s, &stream->fd);
}

xy_status_t process_stream_route(const process_streams_config_t *c, process_t *process)
{
    process_stream_t *const streams[] = {&process->out, &process->err};
    xy_status_t st = XY_OK;

    for (int i = 0; i < 2 && st == XY_OK; i++) {
        streams[i]->copy = -1;
        if (c->directory != NULL)
            st = open_in_directory(c, streams[i], i == 0 || c->is_merged ? "stdout" : "stderr");
        else if (c->patterns[i] != NULL)
            st = open_pattern(c, streams[i], c->patterns[i]);
    }
    if (st == XY_OK && c->is_merged) {
        process->err.fd = process->out.fd;
        process->err.copy = process->out.copy;
    }
    return st;
}
