/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading from standard input: process 0's is the host's, the others are at their end. */
#include <stdarg.h>
#include <stdio.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#undef getc
#undef getchar
#undef fgetc_unlocked
#undef getc_unlocked
#undef getchar_unlocked
#undef fread_unlocked

/* The header gives these names to the newer functions. */
int old_vfscanf(FILE *file, const char *format, va_list arguments) __asm__("vfscanf");
int old_vscanf(const char *format, va_list arguments) __asm__("vscanf");
int old_fscanf(FILE *file, const char *format, ...) __asm__("fscanf");
int old_scanf(const char *format, ...) __asm__("scanf");

/* The FILE to read from. Where its buffer is empty and its descriptor has nothing yet, the other
 * processes of the core run before the C library waits. */
static FILE *own(FILE *file)
{
    FILE *mine = process_stream_of(process_self, file);
    const process_stream_t *stream;

    if (process_self != NULL && mine->_IO_read_ptr >= mine->_IO_read_end &&
        process_block_may(NULL)) {
        stream = process_stream_find(process_self, mine);
        process_descriptor_await_input(stream != NULL ? stream->fd : mine->_fileno);
    }
    return mine;
}

/* ---- Formatted input: three dialects, which differ in %a and in binary integers ---- */

#define XY_FORMAT_CHARACTER char
#define XY_FORMAT_SOURCE    own
#define XY_FORMAT_STREAM    stdin

/* The names for programs compiled for C90 and C++98. */
#define XY_FORMAT_NAME(kind) old_##kind##scanf
#define XY_FORMAT_NEXT       "vfscanf"
#include "process/libc/format.inc"

#define XY_FORMAT_NAME(kind) __isoc99_##kind##scanf
#define XY_FORMAT_NEXT       "__isoc99_vfscanf"
#include "process/libc/format.inc"

/* The names for programs compiled for C23. */
#define XY_FORMAT_NAME(kind) __isoc23_##kind##scanf
#define XY_FORMAT_NEXT       "__isoc23_vfscanf"
#include "process/libc/format.inc"

/* ---- Plain input ---- */

XY_INTERPOSE int fgetc(FILE *file)
{
    return XY_NEXT(fgetc)(own(file));
}

XY_INTERPOSE int getc(FILE *file)
{
    return fgetc(file);
}

XY_INTERPOSE int _IO_getc(FILE *file)
{
    return fgetc(file);
}

XY_INTERPOSE int getchar(void)
{
    return fgetc(stdin);
}

XY_INTERPOSE int fgetc_unlocked(FILE *file)
{
    return fgetc(file);
}

XY_INTERPOSE int getc_unlocked(FILE *file)
{
    return fgetc(file);
}

XY_INTERPOSE int getchar_unlocked(void)
{
    return fgetc(stdin);
}

XY_INTERPOSE int ungetc(int c, FILE *file)
{
    return XY_NEXT(ungetc)(c, process_stream_of(process_self, file));
}

XY_INTERPOSE char *fgets(char *buffer, int size, FILE *file)
{
    return XY_NEXT(fgets)(buffer, size, own(file));
}

XY_INTERPOSE char *fgets_unlocked(char *buffer, int size, FILE *file)
{
    return fgets(buffer, size, file);
}

XY_INTERPOSE char *__fgets_chk(char *buffer, size_t room, int size, FILE *file)
{
    return XY_NEXT(__fgets_chk)(buffer, room, size, own(file));
}

XY_INTERPOSE char *__fgets_unlocked_chk(char *buffer, size_t room, int size, FILE *file)
{
    return XY_NEXT(__fgets_unlocked_chk)(buffer, room, size, own(file));
}

XY_INTERPOSE size_t fread(void *data, size_t size, size_t n, FILE *file)
{
    return XY_NEXT(fread)(data, size, n, own(file));
}

XY_INTERPOSE size_t fread_unlocked(void *data, size_t size, size_t n, FILE *file)
{
    return fread(data, size, n, file);
}

XY_INTERPOSE size_t __fread_chk(void *data, size_t room, size_t size, size_t n, FILE *file)
{
    return XY_NEXT(__fread_chk)(data, room, size, n, own(file));
}

XY_INTERPOSE size_t __fread_unlocked_chk(void *data, size_t room, size_t size, size_t n, FILE *file)
{
    return XY_NEXT(__fread_unlocked_chk)(data, room, size, n, own(file));
}

XY_INTERPOSE int getw(FILE *file)
{
    return XY_NEXT(getw)(own(file));
}

XY_INTERPOSE ssize_t getdelim(char **line, size_t *size, int delimiter, FILE *file)
{
    return process_own_malloc_line(XY_NEXT(getdelim), line, size, delimiter, own(file));
}

XY_INTERPOSE ssize_t __getdelim(char **line, size_t *size, int delimiter, FILE *file)
{
    return getdelim(line, size, delimiter, file);
}

XY_INTERPOSE ssize_t getline(char **line, size_t *size, FILE *file)
{
    return getdelim(line, size, '\n', file);
}
