/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unnamed locks of OpenMP. Its runtime is shared, and has one lock for `#pragma omp critical`
 * without a name and one for atomic operations that the processor lacks. In programs they are the
 * process's: two processes may meet in a barrier inside, and threads of other processes do not
 * wait. Locks with a name, and both of clang for critical, are variables of the program.
 */
#include <string.h>

#include "process/libc/block.h"
#include "process/libc/process_state.h"

enum { CRITICAL, ATOMIC };

static pthread_mutex_t others[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t *lock_of(int which)
{
    return process_self != NULL ? &process_self->openmp[which] : &others[which];
}

/* A process that waits for one of its threads lets others run. */
static void start(int which)
{
    if (process_has_turn())
        process_mutex_lock(lock_of(which));
    else
        pthread_mutex_lock(lock_of(which));
}

static void start_critical(void)
{
    start(CRITICAL);
}

static void end_critical(void)
{
    pthread_mutex_unlock(lock_of(CRITICAL));
}

static void start_atomic(void)
{
    start(ATOMIC);
}

static void end_atomic(void)
{
    pthread_mutex_unlock(lock_of(ATOMIC));
}

void *process_openmp_substitute(const char *name, void *found)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } functions[] = {
        {"GOMP_critical_start", start_critical}, {"GOMP_critical_end", end_critical},
        {"GOMP_atomic_start", start_atomic},     {"GOMP_atomic_end", end_atomic},
        {"__kmpc_atomic_start", start_atomic},   {"__kmpc_atomic_end", end_atomic},
    };

    if (found == NULL || (name[0] != 'G' && name[0] != '_'))
        return found;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(functions[i].name, name) == 0)
            return (void *)functions[i].function;
    return found;
}
