/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/env.h"

#include <stdio.h>

#include "mpi/object/attr.h"
#include "mpi/object/comm.h"
#include "mpi/object/errhandler.h"
#include "mpi/object/error.h"
#include "mpi/object/made.h"

mpi_env_t *mpi_env_self(void)
{
    mpi_rank_t *self = mpi_self;
    mpi_env_t *env;

    if (!self || self->env)
        return self ? self->env : NULL;
    env = xy_calloc(1, sizeof *env);
    if (!env)
        return NULL;
    mpi_error_codes_init(&env->codes);
    mpi_keyvals_init(env);
    env->names = XY_VEC_INIT(mpi_named_t);
    env->made = XY_VEC_INIT(mpi_made_t);
    env->file_errhandler = MPI_ERRORS_RETURN;
    self->env = env;
    return env;
}

static mpi_named_t *find_name(const mpi_env_t *env, const void *object)
{
    for (size_t i = 0; env && i < env->names.count; i++)
        if (XY_VEC_AT(&env->names, mpi_named_t, i).object == object)
            return &XY_VEC_AT(&env->names, mpi_named_t, i);
    return NULL;
}

const char *mpi_env_name(const void *object)
{
    const mpi_named_t *named = mpi_self ? find_name(mpi_self->env, object) : NULL;

    return named ? named->name : NULL;
}

bool mpi_env_set_name(const void *object, const char *name)
{
    mpi_env_t *env = mpi_env_self();
    mpi_named_t *named = find_name(env, object);

    if (!named)
        named = env ? xy_vec_push(&env->names) : NULL;
    if (!named)
        return false;
    named->object = object;
    snprintf(named->name, sizeof named->name, "%s", name);
    return true;
}

void mpi_env_cleanup(mpi_rank_t *rank)
{
    mpi_env_t *env = rank->env;

    if (!env)
        return;
    mpi_error_codes_cleanup(&env->codes);
    mpi_keyvals_cleanup(env);
    xy_vec_cleanup(&env->names);
    xy_vec_cleanup(&env->made);
    mpi_errhandler_release(mpi_errhandler_of(env->file_errhandler));
    for (int i = 0; i < XMPI_BURIED; i++)
        mpi_comm_unbury(env->buried[i]);
    for (int i = 0; i < XMPI_ENDED; i++)
        xy_free(env->ended[i]);
    xy_free(env);
    rank->env = NULL;
}
