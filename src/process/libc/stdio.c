/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard output, error and input of the process in place of the host's.
 *
 * An image's own references to stdout lead to the process's FILE already. These functions serve
 * those that imply a stream (printf, puts, getchar) and the shared libraries, which hold the C
 * library's (std::cout writes to it through fwrite and putc).
 */
#include <stdarg.h>
#include <stdio.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#undef putc
#undef putchar
#undef fputc_unlocked
#undef putc_unlocked
#undef putchar_unlocked
#undef fwrite_unlocked

static FILE *own(FILE *file)
{
    return process_stream_of(process_self, file);
}

/* ---- Formatted output: everything ends in the two functions that take a va_list ---- */

static int format_to(FILE *file, const char *format, va_list arguments)
{
    static XY_NEXT(int, next, (FILE *, const char *, va_list));

    return XY_CALL_NEXT(next, "vfprintf")(own(file), format, arguments);
}

static int format_checked_to(FILE *file, int flag, const char *format, va_list arguments)
{
    static XY_NEXT(int, next, (FILE *, int, const char *, va_list));

    return XY_CALL_NEXT(next, "__vfprintf_chk")(own(file), flag, format, arguments);
}

XY_INTERPOSE int vfprintf(FILE *file, const char *format, va_list arguments)
{
    return format_to(file, format, arguments);
}

XY_INTERPOSE int vprintf(const char *format, va_list arguments)
{
    return format_to(stdout, format, arguments);
}

XY_INTERPOSE int __vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments)
{
    return format_checked_to(file, flag, format, arguments);
}

XY_INTERPOSE int __vprintf_chk(int flag, const char *format, va_list arguments)
{
    return format_checked_to(stdout, flag, format, arguments);
}

XY_INTERPOSE int fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = format_to(file, format, arguments);
    va_end(arguments);
    return n;
}

XY_INTERPOSE int printf(const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = format_to(stdout, format, arguments);
    va_end(arguments);
    return n;
}

XY_INTERPOSE int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = format_checked_to(file, flag, format, arguments);
    va_end(arguments);
    return n;
}

XY_INTERPOSE int __printf_chk(int flag, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = format_checked_to(stdout, flag, format, arguments);
    va_end(arguments);
    return n;
}

/* ---- Plain output ---- */

XY_INTERPOSE int fputs(const char *s, FILE *file)
{
    static XY_NEXT(int, next, (const char *, FILE *));

    return XY_CALL_NEXT(next, "fputs")(s, own(file));
}

XY_INTERPOSE int fputs_unlocked(const char *s, FILE *file)
{
    static XY_NEXT(int, next, (const char *, FILE *));

    return XY_CALL_NEXT(next, "fputs_unlocked")(s, own(file));
}

/* With its newline in one piece on an unbuffered stream as well. */
XY_INTERPOSE int puts(const char *s)
{
    static XY_NEXT(int, next, (const char *));
    process_t *process = process_self;
    FILE *file;
    int result;

    if (process == NULL)
        return XY_CALL_NEXT(next, "puts")(s);
    file = own(stdout);
    flockfile(file);
    result = fputs(s, file) == EOF || fputc('\n', file) == EOF ? EOF : 1;
    funlockfile(file);
    return result;
}

XY_INTERPOSE int fputc(int c, FILE *file)
{
    static XY_NEXT(int, next, (int, FILE *));

    return XY_CALL_NEXT(next, "fputc")(c, own(file));
}

XY_INTERPOSE int putc(int c, FILE *file)
{
    return fputc(c, file);
}

XY_INTERPOSE int _IO_putc(int c, FILE *file)
{
    return fputc(c, file);
}

XY_INTERPOSE int putchar(int c)
{
    return fputc(c, stdout);
}

XY_INTERPOSE int fputc_unlocked(int c, FILE *file)
{
    return fputc(c, file);
}

XY_INTERPOSE int putc_unlocked(int c, FILE *file)
{
    return fputc(c, file);
}

XY_INTERPOSE int putchar_unlocked(int c)
{
    return fputc(c, stdout);
}

XY_INTERPOSE size_t fwrite(const void *data, size_t size, size_t n, FILE *file)
{
    static XY_NEXT(size_t, next, (const void *, size_t, size_t, FILE *));

    return XY_CALL_NEXT(next, "fwrite")(data, size, n, own(file));
}

XY_INTERPOSE size_t fwrite_unlocked(const void *data, size_t size, size_t n, FILE *file)
{
    static XY_NEXT(size_t, next, (const void *, size_t, size_t, FILE *));

    return XY_CALL_NEXT(next, "fwrite_unlocked")(data, size, n, own(file));
}

XY_INTERPOSE int putw(int word, FILE *file)
{
    static XY_NEXT(int, next, (int, FILE *));

    return XY_CALL_NEXT(next, "putw")(word, own(file));
}
