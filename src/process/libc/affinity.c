/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The affinity of a process is the process's: what it asks for is remembered and answered, and the
 * threads that it makes start there. Its worker stays on its core, with its other processes.
 * Threads of the process bind themselves as any thread does.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/libc/affinity.h"
#include "process/libc/interpose.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Does `id` mean the process itself? The id of the host is what a process takes for its main
 * thread's. */
static bool means_process(const process_t *process, pid_t id)
{
    if (id == 0)
        return process_is_main();
    return id == process_pid || id == process->tid;
}

/* Another thread of the job that this process did not make: a worker, or another process's. */
static bool is_foreign_thread(process_t *process, pid_t id)
{
    char name[64];

    if (id == 0 || id == gettid() || process_threads_has(process, id))
        return false;
    snprintf(name, sizeof(name), "/proc/self/task/%ld", (long)id);
    return access(name, F_OK) == 0;
}

/* Is there a core in it? */
static bool is_possible(const unsigned char *set, size_t size)
{
    long cores = sysconf(_SC_NPROCESSORS_CONF);

    for (long c = 0; c < cores && c < 8 * (long)size; c++)
        if ((set[c / 8] >> (c % 8) & 1) != 0)
            return true;
    return false;
}

/* Remember the affinity that a process asks for; returns an errno value, EINVAL if no CPU of it can
 * be used. */
static int record(process_t *process, const void *set, size_t size)
{
    unsigned char *copy;

    if (!is_possible(set, size))
        return EINVAL;
    copy = xy_malloc(size);
    if (copy == NULL)
        return ENOMEM;
    memcpy(copy, set, size);
    xy_free(process->affinity);
    process->affinity = copy;
    process->affinity_size = size;
    return 0;
}

/* In place of the worker's. */
static void answer(const process_t *process, void *set, size_t size)
{
    size_t n = size < process->affinity_size ? size : process->affinity_size;

    if (process->affinity == NULL)
        return;
    memset(set, 0, size);
    memcpy(set, process->affinity, n);
}

int process_affinity_set(pid_t id, size_t size, const void *set)
{
    process_t *process = process_self;
    int code;

    if (process == NULL || process_is_child)
        return PROCESS_AFFINITY_PLAIN;
    if (means_process(process, id)) {
        code = record(process, set, size);
        if (code == 0)
            return 0;
        errno = code;
        return -1;
    }
    return is_foreign_thread(process, id) ? 0 : PROCESS_AFFINITY_PLAIN;
}

void process_affinity_answer(pid_t id, size_t size, void *set)
{
    process_t *process = process_self;

    if (process != NULL && !process_is_child && means_process(process, id))
        answer(process, set, size);
}

/* The C library's function. The one below would record the set as one that the process asks for. */
static int set_plainly(pid_t id, size_t size, const cpu_set_t *set)
{
    return XY_NEXT(sched_setaffinity)(id, size, set);
}

void process_affinity_apply(const process_t *process)
{
    if (process->affinity != NULL)
        set_plainly(0, process->affinity_size, (const cpu_set_t *)process->affinity);
    else if (process->cores != NULL)
        set_plainly(0, sizeof(*process->cores), process->cores);
}

XY_INTERPOSE int sched_setaffinity(pid_t id, size_t size, const cpu_set_t *set)
{
    int result = process_affinity_set(id, size, set);

    return result == PROCESS_AFFINITY_PLAIN ? set_plainly(id, size, set) : result;
}

XY_INTERPOSE int sched_getaffinity(pid_t id, size_t size, cpu_set_t *set)
{
    int result = XY_NEXT(sched_getaffinity)(id, size, set);

    if (result == 0)
        process_affinity_answer(id, size, set);
    return result;
}

static bool is_main_thread(const process_t *process, pthread_t thread)
{
    return process != NULL && !process_is_child && pthread_equal(thread, process->thread);
}

XY_INTERPOSE int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    if (!is_main_thread(process_self, thread))
        return XY_NEXT(pthread_setaffinity_np)(thread, size, set);
    return record(process_self, set, size);
}

XY_INTERPOSE int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
    int code = XY_NEXT(pthread_getaffinity_np)(thread, size, set);

    if (code == 0 && is_main_thread(process_self, thread))
        answer(process_self, set, size);
    return code;
}
