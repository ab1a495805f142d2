/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/made.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "mpi/object/env.h"

bool mpi_made_is_noted;

/* Threads of a rank make objects at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void mpi_made_note(const void *handle, const char *what, const char *call, const void *site)
{
    mpi_made_t made = {.handle = handle, .what = what, .call = call, .site = site};
    mpi_env_t *env = (uintptr_t)handle >= 4096 ? mpi_env_self() : NULL;

    if (!env)
        return;
    pthread_mutex_lock(&lock);
    (void)xy_vec_append(&env->made, &made); /* memory ran out: one leak less is reported */
    pthread_mutex_unlock(&lock);
}

/* One group may have been given out several times: the last one is forgotten. */
void mpi_made_forget(const void *handle)
{
    mpi_env_t *env = mpi_self ? mpi_self->env : NULL;
    mpi_made_t *made;

    if (!env)
        return;
    pthread_mutex_lock(&lock);
    made = env->made.data;
    for (size_t i = env->made.count; i-- > 0;)
        if (made[i].handle == handle) {
            memmove(&made[i], &made[i + 1], (env->made.count - i - 1) * sizeof(*made));
            xy_vec_pop(&env->made);
            break;
        }
    pthread_mutex_unlock(&lock);
}
