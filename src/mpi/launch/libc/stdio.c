/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard output, error and input of the rank in place of the process's.
 *
 * An image's own references to stdout lead to the rank's FILE already. These functions serve those
 * that imply a stream (printf, puts, getchar) and the shared libraries, which hold the C library's
 * (std::cout writes to it through fwrite and putc).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#undef putc
#undef getc
#undef putchar
#undef getchar
#undef putwc
#undef getwc
#undef putwchar
#undef getwchar
#undef fflush_unlocked
#undef fwrite_unlocked

static FILE *own(FILE *file)
{
    return mpi_stream_of(mpi_process_self, file);
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

XY_INTERPOSE int vfwprintf(FILE *file, const wchar_t *format, va_list arguments)
{
    static XY_NEXT(int, next, (FILE *, const wchar_t *, va_list));

    return XY_CALL_NEXT(next, "vfwprintf")(own(file), format, arguments);
}

XY_INTERPOSE int vwprintf(const wchar_t *format, va_list arguments)
{
    return vfwprintf(stdout, format, arguments);
}

XY_INTERPOSE int fwprintf(FILE *file, const wchar_t *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vfwprintf(file, format, arguments);
    va_end(arguments);
    return n;
}

XY_INTERPOSE int wprintf(const wchar_t *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vfwprintf(stdout, format, arguments);
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
    mpi_process_t *process = mpi_process_self;
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

XY_INTERPOSE wint_t fputwc(wchar_t c, FILE *file)
{
    static XY_NEXT(wint_t, next, (wchar_t, FILE *));

    return XY_CALL_NEXT(next, "fputwc")(c, own(file));
}

XY_INTERPOSE wint_t putwc(wchar_t c, FILE *file)
{
    return fputwc(c, file);
}

XY_INTERPOSE wint_t putwchar(wchar_t c)
{
    return fputwc(c, stdout);
}

XY_INTERPOSE int fputws(const wchar_t *s, FILE *file)
{
    static XY_NEXT(int, next, (const wchar_t *, FILE *));

    return XY_CALL_NEXT(next, "fputws")(s, own(file));
}

XY_INTERPOSE void perror(const char *s)
{
    static XY_NEXT(void, next, (const char *));
    int code = errno;
    char text[128];

    if (mpi_process_self == NULL) {
        XY_CALL_NEXT(next, "perror")(s);
        return;
    }
    if (s != NULL && *s != '\0')
        fprintf(stderr, "%s: %s\n", s, strerror_r(code, text, sizeof(text)));
    else
        fprintf(stderr, "%s\n", strerror_r(code, text, sizeof(text)));
    errno = code;
}

XY_INTERPOSE void __assert_fail(const char *assertion, const char *file, unsigned line,
                                const char *function)
{
    static XY_NEXT(void, next, (const char *, const char *, unsigned, const char *));
    mpi_process_t *process = mpi_process_self;

    if (process != NULL) {
        fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line,
                function != NULL ? function : "?", assertion);
        mpi_streams_flush(process);
        abort();
    }
    XY_CALL_NEXT(next, "__assert_fail")(assertion, file, line, function);
    __builtin_unreachable();
}

/* ---- Streams as such ---- */

XY_INTERPOSE int fflush(FILE *file)
{
    static XY_NEXT(int, next, (FILE *));
    mpi_process_t *process = mpi_process_self;
    FILE *mine = own(file);
    int result = XY_CALL_NEXT(next, "fflush")(mine);

    if (process == NULL)
        return result;
    if (mine == process->out.file || mine == NULL)
        mpi_stream_flush(&process->out);
    if (mine == process->err.file || mine == NULL)
        mpi_stream_flush(&process->err);
    return result;
}

XY_INTERPOSE int fflush_unlocked(FILE *file)
{
    static XY_NEXT(int, next, (FILE *));

    return mpi_process_self != NULL ? fflush(file) : XY_CALL_NEXT(next, "fflush_unlocked")(file);
}

/* A rank that closes its standard streams leaves those of other ranks open. */
XY_INTERPOSE int fclose(FILE *file)
{
    static XY_NEXT(int, next, (FILE *));
    mpi_process_t *process = mpi_process_self;
    FILE *mine = own(file);

    if (process != NULL && (mine == process->out.file || mine == process->err.file))
        return fflush(mine);
    if (process != NULL && mine == own(stdin))
        return 0;
    return XY_CALL_NEXT(next, "fclose")(mine);
}

XY_INTERPOSE FILE *freopen(const char *path, const char *mode, FILE *file)
{
    static XY_NEXT(FILE *, next, (const char *, const char *, FILE *));

    return XY_CALL_NEXT(next, "freopen")(path, mode, own(file));
}

XY_INTERPOSE int setvbuf(FILE *file, char *buffer, int mode, size_t size)
{
    static XY_NEXT(int, next, (FILE *, char *, int, size_t));

    return XY_CALL_NEXT(next, "setvbuf")(own(file), buffer, mode, size);
}

XY_INTERPOSE void setbuf(FILE *file, char *buffer)
{
    setvbuf(file, buffer, buffer != NULL ? _IOFBF : _IONBF, BUFSIZ);
}

XY_INTERPOSE void setlinebuf(FILE *file)
{
    setvbuf(file, NULL, _IOLBF, 0);
}

/* The rank's FILE has no descriptor; the process's is the answer that programs expect. */
XY_INTERPOSE int fileno(FILE *file)
{
    static XY_NEXT(int, next, (FILE *));
    mpi_process_t *process = mpi_process_self;
    FILE *mine = own(file);

    if (process != NULL && mine == process->out.file)
        return process->out.fd;
    if (process != NULL && mine == process->err.file)
        return process->err.fd;
    return XY_CALL_NEXT(next, "fileno")(mine);
}

XY_INTERPOSE int feof(FILE *file)
{
    static XY_NEXT(int, next, (FILE *));

    return XY_CALL_NEXT(next, "feof")(own(file));
}

XY_INTERPOSE int ferror(FILE *file)
{
    static XY_NEXT(int, next, (FILE *));

    return XY_CALL_NEXT(next, "ferror")(own(file));
}

XY_INTERPOSE void clearerr(FILE *file)
{
    static XY_NEXT(void, next, (FILE *));

    XY_CALL_NEXT(next, "clearerr")(own(file));
}
