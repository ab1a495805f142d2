/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Status codes, and the one place where errors are reported.
 *
 * The function that detects an error reports it once, in one line: what, where, what to do.
 * Functions that pass the status on are silent.
 *
 *   if (n > limit)
 *       return xy_fail_at(XY_ELIMIT, file, line, "%ld cores; at most %ld are read", n, limit);
 *   ...
 *   st = read_levels(&tree);
 *   if (st != XY_OK)
 *       return st;
 */
#ifndef XY_BASE_STATUS_H
#define XY_BASE_STATUS_H

typedef enum {
    XY_OK = 0,
    XY_EINVAL,       /* an argument is wrong */
    XY_ENOMEM,       /* memory ran out */
    XY_ENOENT,       /* a file, a name or an object does not exist */
    XY_EACCES,       /* no permission */
    XY_EIO,          /* reading or writing failed */
    XY_EPARSE,       /* the input is not what it should be */
    XY_ELIMIT,       /* a size is beyond what is accepted */
    XY_EUNSUPPORTED, /* valid, but this build or machine cannot do it */
    XY_EUSAGE,       /* the command line is wrong */
    XY_EINTERRUPTED, /* a signal or the user ended it */
    XY_STATUS_LAST
} xy_status_t;

/* A short English text; never NULL. Any thread; does not park. */
const char *xy_status_text(xy_status_t status);

/* The exit code of a command that ends with `status`: 0, 2 for XY_EUSAGE, 130 for
 * XY_EINTERRUPTED, 1 for the rest. Any thread. */
int xy_status_exit_code(xy_status_t status);

/* Say an error and return `status`, so that `return xy_fail(...)` reads well. The message is one
 * line without a final newline or full stop; control characters in it are replaced. Any thread. */
xy_status_t xy_fail(xy_status_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with a place in front: "file:line: message"; line 0 leaves the line out. */
xy_status_t xy_fail_at(xy_status_t status, const char *file, long line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Say that `what` (a path) could not be used because of errno `err`; returns the matching status
 * (ENOENT -> XY_ENOENT, EACCES and EPERM -> XY_EACCES, ENOMEM -> XY_ENOMEM, else XY_EIO). */
xy_status_t xy_fail_errno(int err, const char *what, const char *action);

/* Say something that is no failure ("xylem: warning: ..."). */
void xy_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where messages go. The default prints "xylem: MESSAGE\n" on standard error with one write.
 * `message` is valid during the call only. Set once, before threads start; NULL restores the
 * default. Tests use it to read messages. */
typedef void (*xy_error_fn)(void *arg, xy_status_t status, const char *message);
void xy_error_handler_set(xy_error_fn fn, void *arg);

/* The name in front of default messages, "xylem" unless set (mpiexec sets its own). */
void xy_error_program_set(const char *name);

/* The analyzer sees one file at a time: here it learns that what reports a failure returns one, so
 * that it does not follow callers that would continue after it. */
#if defined(__clang_analyzer__) && !defined(XY_STATUS_DEFINES)
#define xy_fail(status, ...)             ((void)xy_fail(status, __VA_ARGS__), (status))
#define xy_fail_at(status, ...)          ((void)xy_fail_at(status, __VA_ARGS__), (status))
#define xy_fail_errno(err, what, action) ((void)xy_fail_errno(err, what, action), XY_EIO)
#endif

#endif
