/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that defines malloc itself (an allocator that is linked statically) is entitled to free
 * what the C library gives it. The C library's own calls stay with its own heap, which all
 * processes share; so the functions that leave it to their caller to free something take that from
 * the process's malloc.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#undef strdup
#undef strndup

void process_own_malloc_find(process_t *process)
{
    const process_program_t *program = process->program;

    *(void **)&process->malloc = process_image_symbol(program, process->image, "malloc", NULL);
    *(void **)&process->realloc = process_image_symbol(program, process->image, "realloc", NULL);
    if (process->realloc == NULL)
        process->malloc = NULL;
}

static process_t *owner(void)
{
    return process_self != NULL && process_self->malloc != NULL ? process_self : NULL;
}

/* A copy from the process's malloc in place of the C library's piece. */
static void *exchange(const process_t *process, void *piece, size_t size)
{
    void *own = piece != NULL ? process->malloc(size) : NULL;

    if (own != NULL)
        memcpy(own, piece, size);
    else if (piece != NULL)
        errno = ENOMEM;
    free(piece);
    return own;
}

static char *exchange_text(const process_t *process, char *text)
{
    return exchange(process, text, text != NULL ? strlen(text) + 1 : 0);
}

XY_INTERPOSE char *strndup(const char *text, size_t limit)
{
    const process_t *process = owner();
    size_t n = strnlen(text, limit);
    char *copy = process != NULL ? process->malloc(n + 1) : malloc(n + 1);

    if (copy != NULL) {
        memcpy(copy, text, n);
        copy[n] = '\0';
    }
    return copy;
}

XY_INTERPOSE char *strdup(const char *text)
{
    return strndup(text, SIZE_MAX);
}

XY_INTERPOSE char *__strdup(const char *text)
{
    return strndup(text, SIZE_MAX);
}

XY_INTERPOSE char *__strndup(const char *text, size_t limit)
{
    return strndup(text, limit);
}

XY_INTERPOSE wchar_t *wcsdup(const wchar_t *text)
{
    const process_t *process = owner();
    size_t size = (wcslen(text) + 1) * sizeof(*text);
    wchar_t *copy = process != NULL ? process->malloc(size) : malloc(size);

    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

XY_INTERPOSE int vasprintf(char **result, const char *format, va_list arguments)
{
    const process_t *process = owner();
    int n = XY_NEXT(vasprintf)(result, format, arguments);

    if (n < 0 || process == NULL)
        return n;
    *result = exchange(process, *result, (size_t)n + 1);
    return *result != NULL ? n : -1;
}

XY_INTERPOSE int asprintf(char **result, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vasprintf(result, format, arguments);
    va_end(arguments);
    return n;
}

XY_INTERPOSE int __vasprintf_chk(char **result, int flag, const char *format, va_list arguments)
{
    const process_t *process = owner();
    int n = XY_NEXT(__vasprintf_chk)(result, flag, format, arguments);

    if (n < 0 || process == NULL)
        return n;
    *result = exchange(process, *result, (size_t)n + 1);
    return *result != NULL ? n : -1;
}

XY_INTERPOSE int __asprintf_chk(char **result, int flag, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = __vasprintf_chk(result, flag, format, arguments);
    va_end(arguments);
    return n;
}

XY_INTERPOSE char *realpath(const char *path, char *result)
{
    const process_t *process = owner();
    char *found = XY_NEXT(realpath)(path, result);

    return process != NULL && result == NULL ? exchange_text(process, found) : found;
}

XY_INTERPOSE char *canonicalize_file_name(const char *path)
{
    return realpath(path, NULL);
}

XY_INTERPOSE char *getcwd(char *result, size_t size)
{
    const process_t *process = owner();
    char *found = XY_NEXT(getcwd)(result, size);

    return process != NULL && result == NULL ? exchange_text(process, found) : found;
}

XY_INTERPOSE char *get_current_dir_name(void)
{
    const process_t *process = owner();
    char *found = XY_NEXT(get_current_dir_name)();

    return process != NULL ? exchange_text(process, found) : found;
}

XY_INTERPOSE char *tempnam(const char *directory, const char *prefix)
{
    const process_t *process = owner();
    char *found = XY_NEXT(tempnam)(directory, prefix);

    return process != NULL ? exchange_text(process, found) : found;
}

/* The caller's buffer is the process's, and may grow. */
ssize_t process_own_malloc_line(process_read_line_fn read_line, char **line, size_t *size,
                                int delimiter, FILE *file)
{
    const process_t *process = owner();
    char *text = NULL, *room = *line;
    size_t capacity = 0;
    ssize_t n;

    if (process == NULL)
        return read_line(line, size, delimiter, file);
    n = read_line(&text, &capacity, delimiter, file);
    if (n >= 0 && (*line == NULL || *size < (size_t)n + 1)) {
        room = process->realloc(*line, (size_t)n + 1);
        if (room != NULL) {
            *line = room;
            *size = (size_t)n + 1;
        }
    }
    if (n >= 0 && room != NULL)
        memcpy(room, text, (size_t)n + 1);
    free(text);
    return n >= 0 && room == NULL ? -1 : n;
}
