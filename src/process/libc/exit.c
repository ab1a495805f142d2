/* SPDX-License-Identifier: BSD-3-Clause */
/* exit, atexit and their families end the process, not the host. */
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

#include "process/libc/affinity.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* A program compiled with -pg starts the profile of its process, which processes of several workers
 * would start again while others are counted in it. What processes do it does not see (debug.c). */
XY_INTERPOSE void __monstartup(unsigned long low, unsigned long high)
{
    if (process_self == NULL)
        XY_NEXT(__monstartup)(low, high);
}

XY_INTERPOSE void exit(int code)
{
    /* A child made by fork is a process of its own. */
    if (process_self != NULL && getpid() == process_pid)
        process_exit(process_self, code);
    if (process_self != NULL)
        process_streams_flush(process_self);
    XY_NEXT(exit)(code);
    __builtin_unreachable();
}

XY_INTERPOSE void _exit(int code)
{
    process_t *process = process_self;

    if (process != NULL && getpid() == process_pid)
        process_end(process, code);
    XY_NEXT(_exit)(code);
    __builtin_unreachable();
}

XY_INTERPOSE void _Exit(int code)
{
    _exit(code);
}

XY_INTERPOSE void quick_exit(int code)
{
    process_t *process = process_self;

    if (process != NULL) {
        process_run_atexit(process, 1u << PROCESS_ATEXIT_QUICK, NULL, code);
        process_exit_now(process, code);
    }
    XY_NEXT(quick_exit)(code);
    __builtin_unreachable();
}

/* The first thread of a process that ends as a thread leaves the others running. Cleanup handlers
 * and objects on the stack of main are not visited. */
XY_INTERPOSE void pthread_exit(void *value)
{
    if (process_is_main())
        process_threads_end(process_self, 0, true);
    XY_NEXT(pthread_exit)(value);
    __builtin_unreachable();
}

XY_INTERPOSE void thrd_exit(int value)
{
    if (process_is_main())
        process_threads_end(process_self, 0, true);
    XY_NEXT(thrd_exit)(value);
    __builtin_unreachable();
}

static int add(process_t *process, process_atexit_kind_t kind, void *function, void *argument,
               void *dso)
{
    process_atexit_t entry = {.kind = kind, .function = function, .argument = argument, .dso = dso};

    return xy_vec_append(&process->atexit, &entry) == XY_OK ? 0 : -1;
}

/* Only what an image registers is the process's; a shared library registers for itself, whichever
 * process happens to make it do so. With one image for all, the caller's process is meant. */
static bool is_of_image(const void *dso)
{
    const process_program_t *program;
    const process_module_t *module;

    return process_image_find(dso, &program, &module) != NULL;
}

XY_INTERPOSE int __cxa_atexit(void (*function)(void *), void *argument, void *dso)
{
    process_t *process = process_self;

    if (process == NULL || !is_of_image(dso))
        return XY_NEXT(__cxa_atexit)(function, argument, dso);
    return add(process, PROCESS_ATEXIT_CXA, (void *)function, argument, dso);
}

XY_INTERPOSE int on_exit(void (*function)(int, void *), void *argument)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(on_exit)(function, argument);
    return add(process, PROCESS_ATEXIT_ON_EXIT, (void *)function, argument, NULL);
}

XY_INTERPOSE int __cxa_at_quick_exit(void (*function)(void *), void *dso)
{
    process_t *process = process_self;

    if (process == NULL || !is_of_image(dso))
        return XY_NEXT(__cxa_at_quick_exit)(function, dso);
    return add(process, PROCESS_ATEXIT_QUICK, (void *)function, NULL, dso);
}

/* Destructors of thread_local objects: a process's fiber is its thread. */
XY_INTERPOSE int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *dso)
{
    if (!process_is_main())
        return XY_NEXT(__cxa_thread_atexit_impl)(function, argument, dso);
    return add(process_self, PROCESS_ATEXIT_THREAD, (void *)function, argument, dso);
}

XY_INTERPOSE void __cxa_finalize(void *dso)
{
    process_t *process = process_self;

    if (process != NULL && dso != NULL && is_of_image(dso))
        process_run_atexit(process, 1u << PROCESS_ATEXIT_CXA, dso, 0);
    else
        XY_NEXT(__cxa_finalize)(dso);
}
