/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that print to standard error and may end the program: to the process's, and the
 * process. The C library's own print to the host's and end the host.
 */
#include <err.h>
#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static const char *program_name(void)
{
    return process_self != NULL ? process_self->argv[0] : program_invocation_name;
}

static const char *short_name(void)
{
    return basename(program_name());
}

/* "name:" and " " or "file:line: ", text and ": reason", in one piece. `code` < 0: without a
 * reason. */
static void complain(const char *name, const char *place, const char *format, va_list arguments,
                     int code)
{
    char reason[128];

    flockfile(stderr);
    fprintf(stderr, "%s%s%s", name, *name != '\0' ? ":" : "", place);
    if (format != NULL)
        vfprintf(stderr, format, arguments);
    if (code >= 0)
        fprintf(stderr, "%s%s", format != NULL ? ": " : "",
                strerror_r(code, reason, sizeof(reason)));
    fputc('\n', stderr);
    funlockfile(stderr);
}

XY_INTERPOSE void vwarn(const char *format, va_list arguments)
{
    complain(short_name(), " ", format, arguments, errno);
}

XY_INTERPOSE void vwarnx(const char *format, va_list arguments)
{
    complain(short_name(), " ", format, arguments, -1);
}

XY_INTERPOSE void warn(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vwarn(format, arguments);
    va_end(arguments);
}

XY_INTERPOSE void warnx(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vwarnx(format, arguments);
    va_end(arguments);
}

XY_INTERPOSE void verr(int status, const char *format, va_list arguments)
{
    vwarn(format, arguments);
    exit(status);
}

XY_INTERPOSE void verrx(int status, const char *format, va_list arguments)
{
    vwarnx(format, arguments);
    exit(status);
}

XY_INTERPOSE void err(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    verr(status, format, arguments);
}

XY_INTERPOSE void errx(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    verrx(status, format, arguments);
}

/* error: a function of the program may print the name, and 0 is no reason. */
static void complain_as_error(int status, int code, const char *place, const char *format,
                              va_list arguments)
{
    fflush(stdout);
    flockfile(stderr);
    if (error_print_progname != NULL)
        error_print_progname();
    complain(error_print_progname != NULL ? "" : program_name(), place, format, arguments,
             code != 0 ? code : -1);
    funlockfile(stderr);
    error_message_count++;
    if (status != 0)
        exit(status);
}

XY_INTERPOSE void error(int status, int code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    complain_as_error(status, code, " ", format, arguments);
    va_end(arguments);
}

XY_INTERPOSE void error_at_line(int status, int code, const char *file, unsigned line,
                                const char *format, ...)
{
    va_list arguments;
    char place[512];

    snprintf(place, sizeof(place), "%s:%u: ", file, line);
    va_start(arguments, format);
    complain_as_error(status, code, place, format, arguments);
    va_end(arguments);
}

XY_INTERPOSE void perror(const char *s)
{
    int code = errno;
    char text[128];

    if (s != NULL && *s != '\0')
        fprintf(stderr, "%s: %s\n", s, strerror_r(code, text, sizeof(text)));
    else
        fprintf(stderr, "%s\n", strerror_r(code, text, sizeof(text)));
    errno = code;
}

XY_INTERPOSE void psignal(int number, const char *s)
{
    const char *name = sigdescr_np(number);

    fprintf(stderr, "%s%s%s\n", s != NULL ? s : "", s != NULL && *s != '\0' ? ": " : "",
            name != NULL ? name : "Unknown signal");
}

XY_INTERPOSE void __assert_fail(const char *assertion, const char *file, unsigned line,
                                const char *function)
{
    process_t *process = process_self;

    if (process != NULL) {
        fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line,
                function != NULL ? function : "?", assertion);
        process_streams_flush(process);
        abort();
    }
    XY_NEXT(__assert_fail)(assertion, file, line, function);
    __builtin_unreachable();
}

XY_INTERPOSE void __assert_perror_fail(int code, const char *file, unsigned line,
                                       const char *function)
{
    process_t *process = process_self;
    char text[128];

    if (process != NULL) {
        fprintf(stderr, "%s:%u: %s: Unexpected error: %s.\n", file, line,
                function != NULL ? function : "?", strerror_r(code, text, sizeof(text)));
        process_streams_flush(process);
        abort();
    }
    XY_NEXT(__assert_perror_fail)(code, file, line, function);
    __builtin_unreachable();
}
