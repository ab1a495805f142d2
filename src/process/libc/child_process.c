/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Child processes see the environment of the process that starts them, and waiting for them lets
 * the other processes of the core run.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/path.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* ---- Starting ---- */

XY_INTERPOSE int posix_spawn(pid_t *pid, const char *path,
                             const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const arguments[],
                             char *const environment[])
{
    return XY_NEXT(posix_spawn)(pid, path, actions, attributes, arguments,
                                process_environment_for(environment));
}

XY_INTERPOSE int posix_spawnp(pid_t *pid, const char *file,
                              const posix_spawn_file_actions_t *actions,
                              const posix_spawnattr_t *attributes, char *const arguments[],
                              char *const environment[])
{
    char path[PROCESS_PATH_SIZE];

    return XY_NEXT(posix_spawnp)(pid, process_path_find(file, path), actions, attributes, arguments,
                                 process_environment_for(environment));
}

static int start_shell(const char *command, const posix_spawn_file_actions_t *actions, pid_t *pid)
{
    char shell[] = "sh", option[] = "-c";
    char *arguments[] = {shell, option, (char *)(uintptr_t)command, NULL};

    return posix_spawn(pid, "/bin/sh", actions, NULL, arguments, environ);
}

/* ---- Waiting ---- */

/* The status of a child that has ended already, or what another thread waits for. */
static pid_t wait_for(pid_t pid, int *status, int options, struct rusage *usage, bool may_park)
{
    pid_t ended;

    if (!may_park)
        return XY_NEXT(wait4)(pid, status, options, usage);
    ended = XY_NEXT(wait4)(pid, status, options | WNOHANG, usage);
    if (ended != 0)
        return ended;
    if ((options & WNOHANG) == 0)
        return (pid_t)process_block_call(SYS_wait4,
                                         XY_ARGUMENTS(pid, (long)status, options, (long)usage));
    process_yield();
    return 0;
}

XY_INTERPOSE pid_t waitpid(pid_t pid, int *status, int options)
{
    return wait_for(pid, status, options, NULL, XY_MAY_PARK());
}

XY_INTERPOSE pid_t wait(int *status)
{
    return wait_for(-1, status, 0, NULL, XY_MAY_PARK());
}

XY_INTERPOSE pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait_for(-1, status, options, usage, XY_MAY_PARK());
}

XY_INTERPOSE pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    return wait_for(pid, status, options, usage, XY_MAY_PARK());
}

XY_INTERPOSE int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    if ((options & WNOHANG) != 0 || !XY_MAY_PARK())
        return XY_NEXT(waitid)(type, id, info, options);
    return (int)process_block_call(SYS_waitid,
                                   XY_ARGUMENTS(type, (long)id, (long)info, options, 0));
}

static int wait_to_end(pid_t pid, bool may_park)
{
    int status = -1;

    while (wait_for(pid, &status, 0, NULL, may_park) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

XY_INTERPOSE int system(const char *command)
{
    bool may_park = XY_MAY_PARK();
    pid_t pid;
    int code;

    if (process_self == NULL || command == NULL)
        return XY_NEXT(system)(command);
    process_streams_flush(process_self);
    code = start_shell(command, NULL, &pid);
    if (code != 0) {
        errno = code;
        return -1;
    }
    return wait_to_end(pid, may_park);
}

/* ---- popen ---- */

typedef struct pipe_end {
    struct pipe_end *next;
    FILE *file;
    pid_t pid;
} pipe_end_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pipe_end_t *pipes; /* under lock */

static void keep(pipe_end_t *pipe)
{
    pthread_mutex_lock(&lock);
    pipe->next = pipes;
    pipes = pipe;
    pthread_mutex_unlock(&lock);
}

/* The child behind it; 0: it is not from here. */
static pid_t forget(const FILE *file)
{
    pipe_end_t *found = NULL;
    pid_t pid;

    pthread_mutex_lock(&lock);
    for (pipe_end_t **at = &pipes; *at != NULL && found == NULL; at = &(*at)->next)
        if ((*at)->file == file) {
            found = *at;
            *at = found->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    pid = found != NULL ? found->pid : 0;
    xy_free(found);
    return pid;
}

/* The shell has ends[there] as its input or output; the process ends[1 - there]. */
static int start_with_pipe(const char *command, const int ends[2], int there, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);

    if (code != 0)
        return code;
    code = posix_spawn_file_actions_adddup2(&actions, ends[there], there);
    if (code == 0)
        code = start_shell(command, &actions, pid);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Start a shell command with a pipe and return our end of it as a stream; NULL with errno on
 * failure. */
static FILE *open_pipe(const char *command, bool is_read, pipe_end_t *pipe)
{
    int ends[2], there = is_read ? STDOUT_FILENO : STDIN_FILENO, code;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pipe->file = fdopen(ends[1 - there], is_read ? "r" : "w");
    code = pipe->file != NULL ? start_with_pipe(command, ends, there, &pipe->pid) : errno;
    close(ends[there]);
    if (code == 0)
        return pipe->file;
    if (pipe->file != NULL)
        fclose(pipe->file);
    else
        close(ends[1 - there]);
    errno = code;
    return NULL;
}

XY_INTERPOSE FILE *popen(const char *command, const char *mode)
{
    pipe_end_t *pipe;

    if (process_self == NULL)
        return XY_NEXT(popen)(command, mode);
    if (mode[0] != 'r' && mode[0] != 'w') {
        errno = EINVAL;
        return NULL;
    }
    pipe = xy_calloc(1, sizeof(*pipe));
    if (pipe == NULL)
        return NULL;
    process_streams_flush(process_self);
    if (open_pipe(command, mode[0] == 'r', pipe) == NULL) {
        xy_free(pipe);
        return NULL;
    }
    keep(pipe);
    return pipe->file;
}

XY_INTERPOSE int pclose(FILE *file)
{
    bool may_park = XY_MAY_PARK();
    pid_t pid = forget(file);

    if (pid == 0)
        return XY_NEXT(pclose)(file);
    fclose(file);
    return wait_to_end(pid, may_park);
}
