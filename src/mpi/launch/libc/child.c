/* SPDX-License-Identifier: BSD-3-Clause */
/* Child processes see the environment of the rank that starts them. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

static char **environment_of(mpi_process_t *process)
{
    return XMPI_PROCESS_VARIABLE(process, char **, XMPI_VARIABLE_ENVIRON);
}

XY_INTERPOSE int execv(const char *path, char *const arguments[])
{
    static XY_NEXT(int, next, (const char *, char *const[]));
    mpi_process_t *process = mpi_process_self;

    if (process == NULL)
        return XY_CALL_NEXT(next, "execv")(path, arguments);
    return execve(path, arguments, environment_of(process));
}

XY_INTERPOSE int execvp(const char *file, char *const arguments[])
{
    static XY_NEXT(int, next, (const char *, char *const[]));
    mpi_process_t *process = mpi_process_self;

    if (process == NULL)
        return XY_CALL_NEXT(next, "execvp")(file, arguments);
    return execvpe(file, arguments, environment_of(process));
}

/* The worker waits with the rank: its other ranks do not run meanwhile. */
XY_INTERPOSE int system(const char *command)
{
    static XY_NEXT(int, next, (const char *));
    mpi_process_t *process = mpi_process_self;
    char shell[] = "sh", option[] = "-c";
    char *arguments[] = {shell, option, (char *)(uintptr_t)command, NULL};
    int status = -1, code;
    pid_t pid;

    if (process == NULL || command == NULL)
        return XY_CALL_NEXT(next, "system")(command);
    mpi_streams_flush(process);
    code = posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environment_of(process));
    if (code != 0) {
        errno = code;
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}
