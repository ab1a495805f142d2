/* SPDX-License-Identifier: BSD-3-Clause */
/* Wide input from a process's standard streams. The process's FILE gives bytes: a second FILE reads
 * the same descriptor. A stream is either wide or not, so they do not take from one another. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#undef getwc
#undef getwchar

/* The header gives these names to the newer functions. */
int old_vfwscanf(FILE *file, const wchar_t *format, va_list arguments) __asm__("vfwscanf");
int old_vwscanf(const wchar_t *format, va_list arguments) __asm__("vwscanf");
int old_fwscanf(FILE *file, const wchar_t *format, ...) __asm__("fwscanf");
int old_wscanf(const wchar_t *format, ...) __asm__("wscanf");

/* The stream from which wide input of `file` is read; opened on first use for standard streams of
 * the process. */
static FILE *reader(FILE *file)
{
    process_stream_t *stream = process_stream_find(process_self, file);
    int fd;

    if (stream == NULL)
        return file;
    if (stream->wide != NULL)
        return stream->wide;
    fd = fcntl(stream->fd, F_DUPFD_CLOEXEC, 3);
    stream->wide = fd >= 0 ? fdopen(fd, "r") : NULL;
    stream->orientation = 1;
    return stream->wide != NULL ? stream->wide : stream->file;
}

XY_INTERPOSE wint_t fgetwc(FILE *file)
{
    return XY_NEXT(fgetwc)(reader(file));
}

XY_INTERPOSE wint_t ungetwc(wint_t c, FILE *file)
{
    return XY_NEXT(ungetwc)(c, reader(file));
}

XY_INTERPOSE wchar_t *fgetws(wchar_t *buffer, int size, FILE *file)
{
    return XY_NEXT(fgetws)(buffer, size, reader(file));
}

XY_INTERPOSE wchar_t *__fgetws_chk(wchar_t *buffer, size_t room, int size, FILE *file)
{
    return XY_NEXT(__fgetws_chk)(buffer, room, size, reader(file));
}

XY_INTERPOSE wchar_t *fgetws_unlocked(wchar_t *buffer, int size, FILE *file)
{
    return fgetws(buffer, size, file);
}

XY_INTERPOSE wint_t getwc(FILE *file)
{
    return fgetwc(file);
}

XY_INTERPOSE wint_t fgetwc_unlocked(FILE *file)
{
    return fgetwc(file);
}

XY_INTERPOSE wint_t getwc_unlocked(FILE *file)
{
    return fgetwc(file);
}

XY_INTERPOSE wint_t getwchar(void)
{
    return fgetwc(stdin);
}

XY_INTERPOSE wint_t getwchar_unlocked(void)
{
    return fgetwc(stdin);
}

/* ---- Formatted input: the dialects of input.c ---- */

#define XY_FORMAT_CHARACTER wchar_t
#define XY_FORMAT_SOURCE    reader
#define XY_FORMAT_STREAM    stdin

#define XY_FORMAT_NAME(kind) old_##kind##wscanf
#define XY_FORMAT_NEXT       "vfwscanf"
#include "process/libc/format.inc"

#define XY_FORMAT_NAME(kind) __isoc99_##kind##wscanf
#define XY_FORMAT_NEXT       "__isoc99_vfwscanf"
#include "process/libc/format.inc"

#define XY_FORMAT_NAME(kind) __isoc23_##kind##wscanf
#define XY_FORMAT_NEXT       "__isoc23_vfwscanf"
#include "process/libc/format.inc"
