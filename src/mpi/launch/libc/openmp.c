/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unnamed locks of OpenMP. Its runtime is shared, and has one lock for `#pragma omp critical`
 * without a name and one for atomic operations that the processor lacks. In programs they are the
 * rank's: two ranks may meet in a barrier inside, and threads of other ranks do not wait. Locks
 * with a name, and both of clang for critical, are variables of the program.
 */
#include <string.h>

#include "mpi/launch/libc/block.h"
#include "mpi/launch/libc/process.h"

enum { CRITICAL, ATOMIC };

static pthread_mutex_t others[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t *lock_of(int which)
{
    return mpi_process_self != NULL ? &mpi_process_self->openmp[which] : &others[which];
}

/* A rank that waits for one of its threads lets others run. */
static void start(int which)
{
    if (mpi_process_is_rank())
        mpi_mutex_lock(lock_of(which));
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

void *mpi_openmp_substitute(const char *name, void *found)
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
