/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank: plain kernel threads that share the rank's environment and streams and run on
 * the rank's cores (not on the one of the worker that made them). They must not call MPI.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <threads.h>

#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

typedef struct {
    mpi_process_t *process;
    void *(*function)(void *);
    int (*c11_function)(void *);
    void *argument;
    bool is_placed; /* the program has said where it runs */
} thread_t;

static thread_t begin(void *argument)
{
    thread_t thread = *(thread_t *)argument;

    xy_free(argument);
    mpi_process_self = thread.process;
    mpi_thread_owner = thread.process->rank;
    mpi_locals_fill(thread.process->program, thread.process->image);
    if (!thread.is_placed && thread.process->cores != NULL)
        sched_setaffinity(0, sizeof(cpu_set_t), thread.process->cores);
    return thread;
}

static void *run(void *argument)
{
    thread_t thread = begin(argument);

    return thread.function(thread.argument);
}

static int run_c11(void *argument)
{
    thread_t thread = begin(argument);

    return thread.c11_function(thread.argument);
}

static bool has_affinity(const pthread_attr_t *attributes)
{
    cpu_set_t set;

    /* All cores: nothing was chosen. */
    return attributes != NULL && pthread_attr_getaffinity_np(attributes, sizeof(set), &set) == 0 &&
           CPU_COUNT(&set) < CPU_SETSIZE;
}

XY_INTERPOSE int pthread_create(pthread_t *handle, const pthread_attr_t *attributes,
                                void *(*function)(void *), void *argument)
{
    static XY_NEXT(int, next, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *));
    mpi_process_t *process = mpi_process_self;
    thread_t *thread;
    int code;

    if (process == NULL)
        return XY_CALL_NEXT(next, "pthread_create")(handle, attributes, function, argument);
    thread = xy_malloc(sizeof(*thread));
    if (thread == NULL)
        return EAGAIN;
    *thread = (thread_t){.process = process,
                         .function = function,
                         .argument = argument,
                         .is_placed = has_affinity(attributes)};
    code = XY_CALL_NEXT(next, "pthread_create")(handle, attributes, run, thread);
    if (code != 0)
        xy_free(thread);
    return code;
}

XY_INTERPOSE int thrd_create(thrd_t *handle, int (*function)(void *), void *argument)
{
    static XY_NEXT(int, next, (thrd_t *, int (*)(void *), void *));
    mpi_process_t *process = mpi_process_self;
    thread_t *thread;
    int code;

    if (process == NULL)
        return XY_CALL_NEXT(next, "thrd_create")(handle, function, argument);
    thread = xy_malloc(sizeof(*thread));
    if (thread == NULL)
        return thrd_nomem;
    *thread = (thread_t){.process = process, .c11_function = function, .argument = argument};
    code = XY_CALL_NEXT(next, "thrd_create")(handle, run_c11, thread);
    if (code != thrd_success)
        xy_free(thread);
    return code;
}
