/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands before the C library's locks, as profilers of locks do, and gives way in them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);

    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    sched_yield();
    nanosleep(&(struct timespec){0, 1000}, NULL);
    return next(mutex);
}
