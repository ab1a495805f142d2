/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/env.h"

#include "mpi/object/attr.h"
#include "mpi/object/errhandler.h"
#include "mpi/object/error.h"

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
    env->file_errhandler = MPI_ERRORS_RETURN;
    self->env = env;
    return env;
}

void mpi_env_cleanup(mpi_rank_t *rank)
{
    mpi_env_t *env = rank->env;

    if (!env)
        return;
    mpi_error_codes_cleanup(&env->codes);
    mpi_keyvals_cleanup(env);
    mpi_errhandler_release(mpi_errhandler_of(env->file_errhandler));
    for (int i = 0; i < XMPI_BURIED; i++)
        xy_free(env->buried[i]);
    xy_free(env);
    rank->env = NULL;
}
