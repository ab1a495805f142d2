/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/errhandler.h"

#include "mpi/object/calls.h"
#include "mpi/object/comm.h"
#include "mpi/object/env.h"
#include "mpi/object/error.h"
#include "mpi/runtime/runtime.h"

void mpi_errhandler_hold(mpi_errhandler_t *handler)
{
    if (handler)
        handler->references++;
}

void mpi_errhandler_release(mpi_errhandler_t *handler)
{
    if (handler && --handler->references == 0)
        mpi_life_bury(handler);
}

MPI_Errhandler mpi_errhandler_give(MPI_Errhandler handle)
{
    mpi_errhandler_t *handler = mpi_errhandler_of(handle);

    mpi_errhandler_hold(handler);
    if (handler && handler->handles++ == 0)
        mpi_life_begin(&handler->life, XMPI_LIFE_ERRHANDLER);
    return handle;
}

/* Create an error handler; MPI_ERR_ARG without a function. */
static int create(mpi_errhandler_t filled, MPI_Errhandler *handle_p)
{
    mpi_errhandler_t *handler;

    if (!filled.comm_fn)
        return mpi_error_null(NULL, "errhandler_fn");
    handler = xy_malloc(sizeof *handler);
    if (!handler)
        return mpi_error_memory(NULL, "an error handler");
    *handler = filled;
    handler->handles = handler->references = 1;
    mpi_life_begin(&handler->life, XMPI_LIFE_ERRHANDLER);
    *handle_p = (MPI_Errhandler)(void *)handler;
    return MPI_SUCCESS;
}

const char *mpi_errhandler_refuse(MPI_Errhandler handle, mpi_handler_kind_t kind)
{
    const mpi_errhandler_t *handler = mpi_errhandler_of(handle);

    if (handler && !mpi_life_is(&handler->life, XMPI_LIFE_ERRHANDLER)) {
        mpi_life_refuse(&handler->life, XMPI_LIFE_ERRHANDLER);
        return "the error handler is not a handle";
    }
    if (handler ? handler->kind == kind
                : handle == MPI_ERRORS_ARE_FATAL || handle == MPI_ERRORS_RETURN ||
                      handle == MPI_ERRORS_ABORT)
        return NULL;
    if (handler)
        return "the error handler was created for another kind of object";
    return handle == MPI_ERRHANDLER_NULL ? "the error handler is MPI_ERRHANDLER_NULL"
                                         : "the error handler is not a handle";
}

void mpi_errhandler_set_through(MPI_Errhandler handle, mpi_errhandler_through_fn *through)
{
    mpi_errhandler_of(handle)->through = through;
}

int mpi_errhandler_call(const mpi_errhandler_t *handler, void *handle, int code)
{
    int returned = code;
    mpi_env_t *env;

    if (handler->through)
        handler->through((mpi_any_fn *)handler->comm_fn, handle, &returned);
    else /* the kinds differ in the type of the handle only */
        handler->comm_fn((MPI_Comm *)&handle, &returned);
    if (returned != MPI_SUCCESS)
        return returned;
    env = mpi_env_self();
    if (env)
        env->is_pardoned = true;
    return code; /* so that the call ends */
}

int mpi_error_pardoned(int error)
{
    mpi_env_t *env = mpi_self ? mpi_self->env : NULL;
    bool is_pardoned = env && env->is_pardoned;

    if (env)
        env->is_pardoned = false;
    return is_pardoned ? MPI_SUCCESS : error;
}

void mpi_errhandler_replace(MPI_Errhandler *place, MPI_Errhandler handle)
{
    mpi_errhandler_hold(mpi_errhandler_of(handle));
    mpi_errhandler_release(mpi_errhandler_of(*place));
    *place = handle;
}

int impl_comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
                                MPI_Errhandler *errhandler)
{
    mpi_errhandler_t filled = {.kind = XMPI_HANDLER_COMM, .comm_fn = comm_errhandler_fn};

    return create(filled, errhandler);
}

int impl_win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
                               MPI_Errhandler *errhandler)
{
    mpi_errhandler_t filled = {.kind = XMPI_HANDLER_WIN, .win_fn = win_errhandler_fn};

    return create(filled, errhandler);
}

int impl_file_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
                                MPI_Errhandler *errhandler)
{
    mpi_errhandler_t filled = {.kind = XMPI_HANDLER_FILE, .file_fn = file_errhandler_fn};

    return create(filled, errhandler);
}

int impl_session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
                                   MPI_Errhandler *errhandler)
{
    mpi_errhandler_t filled = {.kind = XMPI_HANDLER_SESSION, .session_fn = session_errhandler_fn};

    return create(filled, errhandler);
}

int impl_errhandler_free(MPI_Errhandler *errhandler)
{
    mpi_errhandler_t *handler = mpi_errhandler_of(*errhandler);

    if (*errhandler == MPI_ERRHANDLER_NULL)
        return mpi_error(NULL, MPI_ERR_ERRHANDLER, "the error handler is MPI_ERRHANDLER_NULL");
    if (handler && !mpi_life_is(&handler->life, XMPI_LIFE_ERRHANDLER)) {
        mpi_life_refuse(&handler->life, XMPI_LIFE_ERRHANDLER);
        return mpi_error(NULL, MPI_ERR_ERRHANDLER, "the error handler is not a handle");
    }
    /* MPI_Errhandler_get returns predefined handles too, and programs free what they got. */
    if (handler && --handler->handles == 0)
        mpi_life_end(&handler->life);
    mpi_errhandler_release(handler);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

int mpi_errhandler_set(mpi_comm_t *comm, mpi_handler_kind_t kind, MPI_Errhandler errhandler)
{
    const char *why = mpi_errhandler_refuse(errhandler, kind);

    if (why)
        return mpi_error_raise(comm, MPI_ERR_ERRHANDLER, why);
    mpi_errhandler_replace(&comm->errhandler, errhandler);
    return MPI_SUCCESS;
}

int mpi_errhandler_get(mpi_comm_t *comm, MPI_Errhandler *errhandler)
{
    if (!errhandler)
        return mpi_error_null(comm, "errhandler");
    *errhandler = mpi_errhandler_give(comm->errhandler);
    return MPI_SUCCESS;
}

int impl_comm_set_errhandler(mpi_comm_t *comm, MPI_Errhandler errhandler)
{
    return mpi_errhandler_set(comm, XMPI_HANDLER_COMM, errhandler);
}

int impl_comm_get_errhandler(mpi_comm_t *comm, MPI_Errhandler *errhandler)
{
    return mpi_errhandler_get(comm, errhandler);
}

int impl_comm_call_errhandler(mpi_comm_t *comm, int errorcode)
{
    mpi_error_raise(comm, errorcode, "the program raised this error");
    return MPI_SUCCESS;
}

/* ---- MPI_FILE_NULL ---- */

static int file_env(mpi_env_t **env_p)
{
    *env_p = mpi_env_self();
    return *env_p ? MPI_SUCCESS : mpi_error_raise_file(MPI_ERR_NO_MEM, "memory ran out");
}

int mpi_errhandler_file_set(MPI_Errhandler errhandler)
{
    const char *why = mpi_errhandler_refuse(errhandler, XMPI_HANDLER_FILE);
    mpi_env_t *env;
    int code = file_env(&env);

    if (code != MPI_SUCCESS)
        return code;
    if (why)
        return mpi_error_raise_file(MPI_ERR_ERRHANDLER, why);
    mpi_errhandler_replace(&env->file_errhandler, errhandler);
    return MPI_SUCCESS;
}

int mpi_errhandler_file_get(MPI_Errhandler *errhandler)
{
    mpi_env_t *env;
    int code = file_env(&env);

    if (code == MPI_SUCCESS)
        *errhandler = mpi_errhandler_give(env->file_errhandler);
    return code;
}
