/* SPDX-License-Identifier: BSD-3-Clause */
/* Wide output to a process's standard streams. The process's FILE takes bytes: text is converted
 * here. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#undef putwc
#undef putwchar

static process_stream_t *stream_of(const FILE *file)
{
    return process_stream_find(process_self, file);
}

XY_INTERPOSE int fwide(FILE *file, int mode)
{
    process_stream_t *stream = stream_of(file);

    if (stream == NULL)
        return XY_NEXT(fwide)(file, mode);
    if (stream->orientation == 0)
        stream->orientation = mode > 0 ? 1 : mode < 0 ? -1 : 0;
    return stream->orientation;
}

/* The number of bytes, or -1 with errno. */
static int put_one(process_stream_t *stream, wchar_t c)
{
    char bytes[MB_LEN_MAX];
    size_t n = wcrtomb(bytes, c, &stream->shift);

    if (n == (size_t)-1)
        return -1;
    return fwrite(bytes, 1, n, stream->file) == n ? (int)n : -1;
}

static int put_all(process_stream_t *stream, const wchar_t *text, size_t n)
{
    int result = 0;

    stream->orientation = 1;
    flockfile(stream->file);
    for (size_t i = 0; i < n && result >= 0; i++)
        result = put_one(stream, text[i]);
    funlockfile(stream->file);
    return result < 0 ? -1 : 0;
}

typedef int (*format_fn)(FILE *file, int flag, const wchar_t *format, va_list arguments);

static int format_plain(FILE *file, int flag, const wchar_t *format, va_list arguments)
{
    (void)flag;
    return XY_NEXT(vfwprintf)(file, format, arguments);
}

static int format_checked(FILE *file, int flag, const wchar_t *format, va_list arguments)
{
    return XY_NEXT_AS(format_checked, "__vfwprintf_chk")(file, flag, format, arguments);
}

/* Format wide text to a stream, through memory for standard streams of the process; -1 on failure.
 * */
static int format_to(FILE *file, format_fn write, int flag, const wchar_t *format,
                     va_list arguments)
{
    process_stream_t *stream = stream_of(file);
    wchar_t *text = NULL;
    size_t length = 0;
    FILE *memory;
    int n;

    if (stream == NULL)
        return write(file, flag, format, arguments);
    memory = open_wmemstream(&text, &length);
    if (memory == NULL)
        return -1;
    n = write(memory, flag, format, arguments);
    if (fclose(memory) != 0)
        n = -1;
    if (n >= 0 && put_all(stream, text, length) != 0)
        n = -1;
    free(text);
    return n;
}

static int to_wprintf(FILE *file, const wchar_t *format, va_list arguments)
{
    return format_to(file, format_plain, 0, format, arguments);
}

static int __to_wprintf_chk(FILE *file, int flag, const wchar_t *format, va_list arguments)
{
    return format_to(file, format_checked, flag, format, arguments);
}

#define XY_FORMAT_CHARACTER wchar_t
#define XY_FORMAT_STREAM    stdout

#define XY_FORMAT_NAME(kind) kind##wprintf
#include "process/libc/format.inc"

#define XY_FORMAT_NAME(kind) __##kind##wprintf_chk
#define XY_FORMAT_FLAG       int flag,
#define XY_FORMAT_PASS       flag,
#include "process/libc/format.inc"

XY_INTERPOSE wint_t fputwc(wchar_t c, FILE *file)
{
    process_stream_t *stream = stream_of(file);

    if (stream == NULL)
        return XY_NEXT(fputwc)(c, file);
    return put_all(stream, &c, 1) == 0 ? (wint_t)c : WEOF;
}

XY_INTERPOSE int fputws(const wchar_t *s, FILE *file)
{
    process_stream_t *stream = stream_of(file);

    if (stream == NULL)
        return XY_NEXT(fputws)(s, file);
    return put_all(stream, s, wcslen(s)) == 0 ? 1 : EOF;
}

XY_INTERPOSE wint_t putwc(wchar_t c, FILE *file)
{
    return fputwc(c, file);
}

XY_INTERPOSE wint_t fputwc_unlocked(wchar_t c, FILE *file)
{
    return fputwc(c, file);
}

XY_INTERPOSE wint_t putwc_unlocked(wchar_t c, FILE *file)
{
    return fputwc(c, file);
}

XY_INTERPOSE wint_t putwchar(wchar_t c)
{
    return fputwc(c, stdout);
}

XY_INTERPOSE wint_t putwchar_unlocked(wchar_t c)
{
    return fputwc(c, stdout);
}

XY_INTERPOSE int fputws_unlocked(const wchar_t *s, FILE *file)
{
    return fputws(s, file);
}
