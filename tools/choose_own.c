/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alternatives of the user: programs, and functions of shared objects.
 *
 *   double seconds(int count, const double *values);       (what it is predicted to take)
 *   int run(int count, const double *values);              (0: it worked)
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "choose.h"

extern char **environ;

enum { NUMBERS_MAX = 64, ANSWER_MAX = 128 };

/* ---- Programs ---- */

/* Starts a program, its standard output in `output` where that is not negative. */
static xy_status_t start(char **argv, int output, pid_t *pid_p)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return xy_fail_memory("starting a program");
    if (output >= 0)
        error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawnp(pid_p, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? XY_OK : xy_fail(XY_ENOENT, "cannot run '%s': %s", argv[0], strerror(error));
}

static xy_status_t await(pid_t pid, const char *name)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        continue;
    if (WIFSIGNALED(status))
        return xy_fail(XY_EINVAL, "'%s' ended by signal %d", name, WTERMSIG(status));
    return WEXITSTATUS(status) == 0
               ? XY_OK
               : xy_fail(XY_EINVAL, "'%s' ended with exit code %d", name, WEXITSTATUS(status));
}

/* Read a program's output, cut after ANSWER_MAX characters; the rest is read and forgotten. */
static void read_answer(int from, char answer[ANSWER_MAX + 1])
{
    char rest[1024];
    size_t length = 0;

    for (ssize_t n;
         length < ANSWER_MAX && (n = read(from, answer + length, ANSWER_MAX - length)) > 0;)
        length += (size_t)n;
    while (read(from, rest, sizeof(rest)) > 0)
        continue;
    answer[length] = '\0';
    answer[strcspn(answer, "\r\n")] = '\0';
}

/* Runs a program and reads the seconds that it prints. */
static xy_status_t ask_program(char **argv, double *seconds_p)
{
    char answer[ANSWER_MAX + 1];
    int ends[2];
    pid_t pid;
    xy_status_t st;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return xy_fail(XY_ELIMIT, "cannot run '%s': %s", argv[0], strerror(errno));
    st = start(argv, ends[1], &pid);
    close(ends[1]);
    if (st == XY_OK) {
        read_answer(ends[0], answer);
        st = await(pid, argv[0]);
    }
    close(ends[0]);
    if (st == XY_OK && !xy_parse_seconds(answer, seconds_p) && !xy_parse_double(answer, seconds_p))
        st =
            xy_fail(XY_EINVAL, "'%s' printed '%s'; a time in seconds is expected, as in 0.5 or 3ms",
                    argv[0], answer);
    return st;
}

/* ---- Shared objects ---- */

/* Finds the function argv[1] of the shared object argv[0], and reads the numbers behind them. */
static xy_status_t find_function(int argc, char **argv, double values[NUMBERS_MAX],
                                 void **function_p)
{
    const char *path = argv[0];
    char *beside = argc > 0 && strchr(path, '/') == NULL ? xy_sprintf("./%s", path) : NULL;
    void *library;

    if (argc < 2 || argc - 2 > NUMBERS_MAX) {
        xy_free(beside);
        return xy_fail(XY_EINVAL, "write 'plugin FILE FUNCTION NUMBER...', with %d numbers at most",
                       NUMBERS_MAX);
    }
    library = dlopen(beside != NULL ? beside : path, RTLD_NOW | RTLD_LOCAL);
    xy_free(beside);
    if (library == NULL)
        return xy_fail(XY_ENOENT, "cannot load the shared object: %s", dlerror());
    *function_p = dlsym(library, argv[1]);
    if (*function_p == NULL)
        return xy_fail(XY_ENOENT, "'%s' has no function '%s'", path, argv[1]);
    for (int i = 2; i < argc; i++)
        if (!xy_parse_double(argv[i], &values[i - 2]))
            return xy_fail(XY_EINVAL, "'%s' of '%s': '%s' is not a number", argv[1], path, argv[i]);
    return XY_OK;
}

static xy_status_t ask_function(int argc, char **argv, double *seconds_p)
{
    double values[NUMBERS_MAX], (*function)(int count, const double *values);
    void *found;
    xy_status_t st = find_function(argc, argv, values, &found);

    if (st != XY_OK)
        return st;
    *(void **)&function = found;
    *seconds_p = function(argc - 2, values);
    return XY_OK;
}

/* Calls a function of a shared object; 0 means that it worked. */
static xy_status_t run_function(int argc, char **argv)
{
    double values[NUMBERS_MAX];
    int (*function)(int count, const double *values), code;
    void *found;
    xy_status_t st = find_function(argc, argv, values, &found);

    if (st != XY_OK)
        return st;
    *(void **)&function = found;
    code = function(argc - 2, values);
    return code == 0 ? XY_OK
                     : xy_fail(XY_EINVAL, "'%s' of '%s' returned %d", argv[1], argv[0], code);
}

/* ---- Both ---- */

xy_status_t choose_ask(const char *verb, int argc, char **argv, xy_simulated_t *s)
{
    xy_status_t st = strcmp(verb, "program") == 0 ? ask_program(argv, &s->seconds)
                                                  : ask_function(argc, argv, &s->seconds);

    s->error = -1;
    s->where[0] = '\0';
    if (st == XY_OK && !(s->seconds > 0 && isfinite(s->seconds)))
        st = xy_fail(XY_EINVAL, "'%s' answered %g seconds; a time must be positive", argv[0],
                     s->seconds);
    return st;
}

xy_status_t choose_run(void *arg, const char *verb, int argc, char **argv)
{
    pid_t pid;
    xy_status_t st;

    (void)arg;
    if (strcmp(verb, "plugin") == 0)
        return run_function(argc, argv);
    st = start(argv, -1, &pid);
    return st == XY_OK ? await(pid, argv[0]) : st;
}
