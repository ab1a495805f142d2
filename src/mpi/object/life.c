/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/life.h"

#include <stdio.h>

#include "mpi/object/env.h"

void mpi_life_end(mpi_life_t *life)
{
    life->mark += XMPI_LIFE_FREED - XMPI_LIFE_LIVE;
    life->freed_at = mpi_self ? mpi_self->call.caller : NULL;
}

void *mpi_life_refuse(const mpi_life_t *life, mpi_life_kind_t kind)
{
    mpi_env_t *env = mpi_env_self();

    if (env && ((uintptr_t)life & 7) == 0 && life->mark == XMPI_LIFE_FREED + kind) {
        env->refused_in = mpi_self->call.caller;
        env->freed_at = life->freed_at;
    }
    return NULL;
}

void mpi_life_explain(char *text, size_t size)
{
    mpi_env_t *env = mpi_self ? mpi_self->env : NULL;
    char place[160];

    text[0] = '\0';
    if (!env || !env->refused_in || env->refused_in != mpi_self->call.caller)
        return;
    env->refused_in = NULL;
    mpi_caller_describe(env->freed_at, place, sizeof place);
    snprintf(text, size, ": it was freed%s%s", place[0] ? " " : "", place);
}

void mpi_life_bury(void *memory)
{
    mpi_env_t *env = memory ? mpi_env_self() : NULL;

    if (!env) {
        xy_free(memory);
        return;
    }
    xy_free(env->ended[env->next_ended]);
    env->ended[env->next_ended] = memory;
    env->next_ended = (env->next_ended + 1) % XMPI_ENDED;
}
