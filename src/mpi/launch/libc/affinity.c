/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The affinity of a rank is the rank's: what it asks for is remembered and answered, and the
 * threads that it makes start there. Its worker stays on its core, with its other ranks. Threads of
 * the rank bind themselves as any thread does.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi/launch/libc/affinity.h"
#include "mpi/launch/libc/interpose.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Does `id` mean the rank itself? The process's id is what a rank takes for its main thread's. */
static bool means_rank(const mpi_process_t *process, pid_t id)
{
    if (id == 0)
        return mpi_process_is_rank();
    return id == mpi_process_pid || id == process->tid;
}

/* Another thread of the job that this rank did not make: a worker, or another rank's. */
static bool is_foreign_thread(mpi_process_t *process, pid_t id)
{
    char name[64];

    if (id == 0 || id == gettid() || mpi_threads_has(process, id))
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

static int record(mpi_process_t *process, const void *set, size_t size)
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
static void answer(const mpi_process_t *process, void *set, size_t size)
{
    size_t n = size < process->affinity_size ? size : process->affinity_size;

    if (process->affinity == NULL)
        return;
    memset(set, 0, size);
    memcpy(set, process->affinity, n);
}

int mpi_affinity_set(pid_t id, size_t size, const void *set)
{
    mpi_process_t *process = mpi_process_self;
    int code;

    if (process == NULL || mpi_process_is_child)
        return XMPI_AFFINITY_PLAIN;
    if (means_rank(process, id)) {
        code = record(process, set, size);
        if (code == 0)
            return 0;
        errno = code;
        return -1;
    }
    return is_foreign_thread(process, id) ? 0 : XMPI_AFFINITY_PLAIN;
}

void mpi_affinity_answer(pid_t id, size_t size, void *set)
{
    mpi_process_t *process = mpi_process_self;

    if (process != NULL && !mpi_process_is_child && means_rank(process, id))
        answer(process, set, size);
}

XY_INTERPOSE int sched_setaffinity(pid_t id, size_t size, const cpu_set_t *set)
{
    static XY_NEXT(int, next, (pid_t, size_t, const cpu_set_t *));
    int result = mpi_affinity_set(id, size, set);

    return result == XMPI_AFFINITY_PLAIN ? XY_CALL_NEXT(next, "sched_setaffinity")(id, size, set)
                                         : result;
}

XY_INTERPOSE int sched_getaffinity(pid_t id, size_t size, cpu_set_t *set)
{
    static XY_NEXT(int, next, (pid_t, size_t, cpu_set_t *));
    int result = XY_CALL_NEXT(next, "sched_getaffinity")(id, size, set);

    if (result == 0)
        mpi_affinity_answer(id, size, set);
    return result;
}

static bool is_rank_thread(const mpi_process_t *process, pthread_t thread)
{
    return process != NULL && !mpi_process_is_child && pthread_equal(thread, process->thread);
}

XY_INTERPOSE int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    static XY_NEXT(int, next, (pthread_t, size_t, const cpu_set_t *));

    if (!is_rank_thread(mpi_process_self, thread))
        return XY_CALL_NEXT(next, "pthread_setaffinity_np")(thread, size, set);
    return record(mpi_process_self, set, size);
}

XY_INTERPOSE int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
    static XY_NEXT(int, next, (pthread_t, size_t, cpu_set_t *));
    int code = XY_CALL_NEXT(next, "pthread_getaffinity_np")(thread, size, set);

    if (code == 0 && is_rank_thread(mpi_process_self, thread))
        answer(mpi_process_self, set, size);
    return code;
}
