/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into mpiexec: the machine has XYLEM_TEST_CORES cores, whatever it has. Workers are not
 * bound, so that several share a real core and the kernel preempts them anywhere, as it does on a
 * busy machine; and jobs have as many workers and communication cores as on a large one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    const char *text = getenv("XYLEM_TEST_CORES");
    int cores = text != NULL ? atoi(text) : 1;

    (void)pid;
    memset(set, 0, size);
    for (int c = 0; c < cores; c++)
        CPU_SET_S(c, size, set);
    return 0;
}

EXPORT int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    (void)pid;
    (void)size;
    (void)set;
    return 0;
}

EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    (void)thread;
    (void)size;
    (void)set;
    return 0;
}

EXPORT int pthread_attr_setaffinity_np(pthread_attr_t *attributes, size_t size,
                                       const cpu_set_t *set)
{
    (void)attributes;
    (void)size;
    (void)set;
    return 0;
}
