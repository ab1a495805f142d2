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

/* ---- Formatted output ---- */

#define XY_FORMAT_CHARACTER char
#define XY_FORMAT_SOURCE    own
#define XY_FORMAT_STREAM    stdout

#define XY_FORMAT_NAME(kind) kind##printf
#define XY_FORMAT_NEXT       "vfprintf"
#include "process/libc/format.inc"

/* The names for programs compiled with _FORTIFY_SOURCE. */
#define XY_FORMAT_NAME(kind) __##kind##printf_chk
#define XY_FORMAT_NEXT       "__vfprintf_chk"
#define XY_FORMAT_FLAG       int flag,
#define XY_FORMAT_PASS       flag,
#include "process/libc/format.inc"

/* ---- Plain output ---- */

XY_INTERPOSE int fputs(const char *s, FILE *file)
{
    return XY_NEXT(fputs)(s, own(file));
}

XY_INTERPOSE int fputs_unlocked(const char *s, FILE *file)
{
    return XY_NEXT(fputs_unlocked)(s, own(file));
}

/* With its newline in one piece on an unbuffered stream as well. */
XY_INTERPOSE int puts(const char *s)
{
    process_t *process = process_self;
    FILE *file;
    int result;

    if (process == NULL)
        return XY_NEXT(puts)(s);
    file = own(stdout);
    flockfile(file);
    result = fputs(s, file) == EOF || fputc('\n', file) == EOF ? EOF : 1;
    funlockfile(file);
    return result;
}

XY_INTERPOSE int fputc(int c, FILE *file)
{
    return XY_NEXT(fputc)(c, own(file));
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
    return XY_NEXT(fwrite)(data, size, n, own(file));
}

XY_INTERPOSE size_t fwrite_unlocked(const void *data, size_t size, size_t n, FILE *file)
{
    return XY_NEXT(fwrite_unlocked)(data, size, n, own(file));
}

XY_INTERPOSE int putw(int word, FILE *file)
{
    return XY_NEXT(putw)(word, own(file));
}
