/* SPDX-License-Identifier: BSD-3-Clause */
#define XY_STATUS_DEFINES /* the functions themselves, not their declarations for the analyzer */
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set before threads start, read by all. */
static xy_error_fn handler;
static void *handler_arg;
static const char *program = "xylem";

enum { MESSAGE_SIZE = 2048 };

const char *xy_status_text(xy_status_t status)
{
    static const char *const texts[XY_STATUS_LAST] = {
        [XY_OK] = "success",
        [XY_EINVAL] = "invalid argument",
        [XY_ENOMEM] = "out of memory",
        [XY_ENOENT] = "not found",
        [XY_EACCES] = "permission denied",
        [XY_EIO] = "input or output error",
        [XY_EPARSE] = "malformed input",
        [XY_ELIMIT] = "beyond a limit",
        [XY_EUNSUPPORTED] = "not supported here",
        [XY_EUSAGE] = "wrong usage",
        [XY_EINTERRUPTED] = "interrupted",
    };

    if ((unsigned)status >= XY_STATUS_LAST)
        return "unknown status";
    return texts[status];
}

int xy_status_exit_code(xy_status_t status)
{
    switch (status) {
    case XY_OK:
        return 0;
    case XY_EUSAGE:
        return 2;
    case XY_EINTERRUPTED:
        return 130;
    default:
        return 1;
    }
}

/* A message is one line whatever was put into it: file names and input may hold anything. */
static void make_one_line(char *message)
{
    for (unsigned char *c = (unsigned char *)message; *c != '\0'; c++)
        if (*c < ' ' || *c == 0x7f)
            *c = '?';
}

static bool has_colours(void)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(STDERR_FILENO) && (no == NULL || no[0] == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

/* "mpiexec: warning: ..."; on a terminal the words in front are coloured. */
static int make_line(xy_status_t status, const char *message, char *line, size_t size)
{
    static const char warning[] = "warning: ";
    bool is_warning = strncmp(message, warning, sizeof(warning) - 1) == 0;

    if (!has_colours())
        return snprintf(line, size, "%s: %s\n", program, message);
    if (is_warning)
        return snprintf(line, size, "\033[1m%s:\033[0m \033[1;35mwarning:\033[0m %s\n", program,
                        message + sizeof(warning) - 1);
    return snprintf(line, size, "\033[1%sm%s:\033[0m %s\n", status != XY_OK ? ";31" : "", program,
                    message);
}

/* Pass a message to the handler of the program, or write it to standard error. */
static void say(xy_status_t status, const char *message)
{
    char line[MESSAGE_SIZE + 64];
    int n;

    if (handler != NULL) {
        handler(handler_arg, status, message);
        return;
    }
    n = make_line(status, message, line, sizeof(line));
    if (n > (int)sizeof(line) - 1)
        n = (int)sizeof(line) - 1;
    /* One write, so that lines of several threads do not mix; a failure cannot be reported.
     */
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return;
}

static void __attribute__((format(printf, 3, 0)))
say_formatted(xy_status_t status, const char *place, const char *format, va_list args)
{
    char message[MESSAGE_SIZE];
    size_t used = (size_t)snprintf(message, sizeof(message), "%s", place);

    if (used < sizeof(message))
        vsnprintf(message + used, sizeof(message) - used, format, args);
    make_one_line(message);
    say(status, message);
}

xy_status_t xy_fail(xy_status_t status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_formatted(status, "", format, args);
    va_end(args);
    return status;
}

xy_status_t xy_fail_at(xy_status_t status, const char *file, long line, const char *format, ...)
{
    char place[MESSAGE_SIZE / 2];
    va_list args;

    if (line > 0)
        snprintf(place, sizeof(place), "%s:%ld: ", file, line);
    else
        snprintf(place, sizeof(place), "%s: ", file);
    va_start(args, format);
    say_formatted(status, place, format, args);
    va_end(args);
    return status;
}

xy_status_t xy_fail_errno(int err, const char *what, const char *action)
{
    xy_status_t status = err == ENOENT                   ? XY_ENOENT
                         : err == EACCES || err == EPERM ? XY_EACCES
                         : err == ENOMEM                 ? XY_ENOMEM
                                                         : XY_EIO;
    const char *remedy = err == ENOENT   ? "; check the path"
                         : err == EACCES ? "; check the permissions"
                         : err == ENOSPC ? "; free some space"
                                         : "";

    return xy_fail(status, "%s: cannot %s: %s%s", what, action, strerror(err), remedy);
}

void xy_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_formatted(XY_OK, "warning: ", format, args);
    va_end(args);
}

void xy_error_handler_set(xy_error_fn fn, void *arg)
{
    handler = fn;
    handler_arg = arg;
}

void xy_error_program_set(const char *name)
{
    program = name;
}
