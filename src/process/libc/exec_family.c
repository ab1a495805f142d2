/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exec: the new program would take the place of all processes, which share one host. It is
 * refused, unless the job is one process, or the caller is a child that a process has made. The
 * environment is the process's, and so is the PATH that is searched.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/libc/affinity.h"
#include "process/libc/interpose.h"
#include "process/libc/path.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The job of one process: as a process would, on all its cores again. */
static void leave_job(process_t *process)
{
    process_streams_flush(process);
    process_affinity_apply(process);
}

/* 0: continue. */
static int refuse(const char *function, const char *path)
{
    process_t *process = process_self;
    int count;

    if (process == NULL || getpid() != process_pid)
        return 0;
    count = process_runtime.count();
    if (count == 1) {
        leave_job(process);
        return 0;
    }
    process_say("%s %d: %s of '%s' is refused: it would replace all %d %ss, which share one "
                "process; start the program with posix_spawn, system, or fork and exec",
                process_runtime.noun, process->number, function, path != NULL ? path : "", count,
                process_runtime.noun);
    errno = ENOTSUP;
    return -1;
}

static int plain_execve(const char *path, char *const arguments[], char *const environment[])
{
    return XY_NEXT(execve)(path, arguments, process_environment_for(environment));
}

XY_INTERPOSE int execve(const char *path, char *const arguments[], char *const environment[])
{
    return refuse("execve", path) != 0 ? -1 : plain_execve(path, arguments, environment);
}

XY_INTERPOSE int fexecve(int fd, char *const arguments[], char *const environment[])
{
    if (refuse("fexecve", "a descriptor") != 0)
        return -1;
    return XY_NEXT(fexecve)(fd, arguments, process_environment_for(environment));
}

XY_INTERPOSE int execveat(int directory, const char *path, char *const arguments[],
                          char *const environment[], int flags)
{
    if (refuse("execveat", path) != 0)
        return -1;
    return XY_NEXT(execveat)(directory, path, arguments, process_environment_for(environment),
                             flags);
}

XY_INTERPOSE int execv(const char *path, char *const arguments[])
{
    return refuse("execv", path) != 0 ? -1 : plain_execve(path, arguments, environ);
}

/* The C library's runs a script without a first line with the shell. */
static int search_and_exec(const char *file, char *const arguments[], char *const environment[])
{
    char path[PROCESS_PATH_SIZE];

    return XY_NEXT(execvpe)(process_path_find(file, path), arguments,
                            process_environment_for(environment));
}

XY_INTERPOSE int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    return refuse("execvpe", file) != 0 ? -1 : search_and_exec(file, arguments, environment);
}

XY_INTERPOSE int execvp(const char *file, char *const arguments[])
{
    return refuse("execvp", file) != 0 ? -1 : search_and_exec(file, arguments, environ);
}

/* ---- The forms with a list ---- */

static size_t count_list(va_list list)
{
    size_t n = 1;

    while (va_arg(list, char *) != NULL)
        n++;
    return n;
}

typedef int (*exec_fn)(const char *path, char *const arguments[], char *const environment[]);

/* On the stack: the caller may be a child that shares its memory with the process (vfork). */
static int exec_list(exec_fn run, const char *path, const char *first, va_list list,
                     bool has_environment)
{
    va_list again;
    char **arguments, *const *environment = environ;
    size_t count;

    va_copy(again, list);
    count = count_list(list);
    arguments = __builtin_alloca((count + 1) * sizeof(char *));
    arguments[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i <= count; i++)
        arguments[i] = va_arg(again, char *);
    if (has_environment)
        environment = va_arg(again, char *const *);
    va_end(again);
    return run(path, arguments, environment);
}

XY_INTERPOSE int execl(const char *path, const char *first, ...)
{
    va_list list;
    int code;

    if (refuse("execl", path) != 0)
        return -1;
    va_start(list, first);
    code = exec_list(plain_execve, path, first, list, false);
    va_end(list);
    return code;
}

XY_INTERPOSE int execlp(const char *file, const char *first, ...)
{
    va_list list;
    int code;

    if (refuse("execlp", file) != 0)
        return -1;
    va_start(list, first);
    code = exec_list(search_and_exec, file, first, list, false);
    va_end(list);
    return code;
}

/* The environment follows the end of the list. */
XY_INTERPOSE int execle(const char *path, const char *first, ...)
{
    va_list list;
    int code;

    if (refuse("execle", path) != 0)
        return -1;
    va_start(list, first);
    code = exec_list(plain_execve, path, first, list, true);
    va_end(list);
    return code;
}

/* daemon ends the process that calls it. */
XY_INTERPOSE int daemon(int keeps_directory, int keeps_streams)
{
    if (refuse("daemon", "the background") != 0)
        return -1;
    return XY_NEXT(daemon)(keeps_directory, keeps_streams);
}
