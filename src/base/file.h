/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files: read whole and bounded; written beside and renamed, so that no half-written file is left.
 *
 *   static xy_status_t print(const void *arg, FILE *file) { fprintf(file, ...); return XY_OK; }
 *   st = xy_out_write("report.html", print, report);          ("-" is standard output)
 *
 * or, where a callback does not fit:
 *
 *   xy_out_t *out;
 *   st = xy_out_open("report.html", &out);
 *   fprintf(xy_out_file(out), ...);
 *   st = st == XY_OK ? xy_out_commit(out) : (xy_out_cancel(out), st);
 *
 * Until the commit the data is in a temporary file in the same directory. SIGINT, SIGTERM, SIGHUP,
 * SIGPIPE, SIGQUIT, SIGXCPU and SIGXFSZ remove such files when xy_out_guard_signals() was called.
 * A file that is replaced keeps its permissions, and links to it keep pointing to it, but for links
 * that another user has made in a directory where others may write: they are refused. Devices,
 * pipes and names such as /dev/fd/3 are written directly.
 */
#ifndef XY_BASE_FILE_H
#define XY_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/* Read a whole regular file or pipe ("-": standard input) of at most `limit` bytes. On success the
 * caller owns *data_p, which is NUL-terminated behind its *size_p bytes. Directories, devices,
 * missing files, missing permission and sizes beyond the limit are reported with the remedy. */
xy_status_t xy_file_read(const char *path, size_t limit, char **data_p, size_t *size_p);

/* The same for a text file: one with NUL bytes is refused (EPARSE). */
xy_status_t xy_file_read_text(const char *path, size_t limit, char **text_p);
/* The refusal alone, for the content of a file that is in memory. */
xy_status_t xy_text_check(const char *path, const char *data, size_t size);

/* The same for a file that is known by its first bytes: `check` sees at least XY_FILE_HEAD of them,
 * or all there are, before the rest is read; what it does not accept (and reports) is not read. */
enum { XY_FILE_HEAD = 64 };
typedef xy_status_t (*xy_head_fn)(const char *path, const void *head, size_t size);
xy_status_t xy_file_read_known(const char *path, size_t limit, xy_head_fn check, char **data_p,
                               size_t *size_p);

/* Write all bytes to a descriptor where it stands, or at an offset; 0 or the errno of the write
 * that failed. */
int xy_write_all(int fd, const void *bytes, size_t size);
int xy_write_all_at(int fd, const void *bytes, size_t size, uint64_t offset);

typedef struct xy_out xy_out_t;
xy_status_t xy_out_open(const char *path, xy_out_t **out_p);
/* The same for a name that the user has not chosen, a file in a directory that was: a link of that
 * name is replaced, not followed. */
xy_status_t xy_out_open_new(const char *path, xy_out_t **out_p);
/* For writing; the descriptor of a plain file can be read too. */
FILE *xy_out_file(xy_out_t *out);
/* Flush, check for errors (a full disk is reported here), rename. Frees `out` in all cases. */
xy_status_t xy_out_commit(xy_out_t *out);
/* Remove what was written. Frees `out`; NULL is fine. */
void xy_out_cancel(xy_out_t *out);

/* Open, let `write` fill the file, and commit; what `write` could not finish leaves no file. A
 * `path` of NULL is a file that was not asked for: nothing happens. */
typedef xy_status_t (*xy_write_fn)(const void *arg, FILE *file);
xy_status_t xy_out_write(const char *path, xy_write_fn write, const void *arg);

/* Install the handlers: temporary files go, then the signal has its default effect. */
void xy_out_guard_signals(void);

/* A file or a directory of one's own that the same signals remove, files first, when it is there.
 * Releasing it leaves it where it is. NULL: it is not guarded, for lack of memory; it can be
 * released. */
typedef struct xy_scratch xy_scratch_t;
xy_scratch_t *xy_scratch_guard(const char *path);
void xy_scratch_release(xy_scratch_t *scratch);

/* Where a file of the user is: what the environment variable says, else `name` below
 * $XDG_CACHE_HOME/xylem or ~/.cache/xylem. The caller frees it. NULL, in silence: neither HOME nor
 * XDG_CACHE_HOME is set, or no memory. */
char *xy_cache_path(const char *variable, const char *name);
/* A file of the installed tree, by its path relative to the directory of this executable:
 * "mpiexec", "../lib/xylem/libxylem-translate.so". The caller frees it. NULL: no memory. */
char *xy_beside(const char *relative);
/* mkdir -p of the part of the path in front of the last slash. The second is silent, for files that
 * a program can do without: 0 or the number of the error. */
xy_status_t xy_make_directories(const char *path);
int xy_try_directories(const char *path);

/* Flush standard output and say so when it could not be written (a full disk behind `>`). */
xy_status_t xy_stdout_check(void);

#endif
