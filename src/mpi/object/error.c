/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raising errors. The fatal handler says one line
 *
 *   xylem: rank 3: MPI_Send: the tag is -7; tags are 0 to 2147483647 (MPI_ERR_TAG; at ring.c:25)
 *
 * and ends the job. A handler that returns says nothing: the program asked to deal with it.
 */
#include "mpi/object/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/object/comm.h"
#include "mpi/object/env.h"
#include "mpi/object/errhandler.h"
#include "mpi/object/life.h"
#include "mpi/runtime/runtime.h"

enum { MESSAGE_SIZE = 512, SITE_SIZE = 256 };

/* "; at ring.c:25": where in the program the call stands, where that is known. */
static const char *site_text(const void *site, char *buffer)
{
    char text[SITE_SIZE - 4];

    mpi_caller_describe(site, text, sizeof(text));
    snprintf(buffer, SITE_SIZE, "%s%s", text[0] != '\0' ? "; " : "", text);
    return buffer;
}

void mpi_abort(int code)
{
    /* A shell sees the low eight bits; a failure must not look like success. */
    if ((code & 0xff) == 0)
        code = 1;
    if (mpi_job && mpi_job->abort)
        mpi_job->abort(code);
    _Exit(code & 0xff);
}

static mpi_finding_kind_t kind_of(int error_class)
{
    if (error_class == MPI_ERR_TRUNCATE)
        return XMPI_FINDING_TRUNCATION;
    return error_class == MPI_ERR_WIN || error_class == MPI_ERR_BASE ||
                   error_class == MPI_ERR_DISP || error_class == MPI_ERR_LOCKTYPE ||
                   error_class == MPI_ERR_ASSERT || error_class == MPI_ERR_RMA_CONFLICT ||
                   error_class == MPI_ERR_RMA_SYNC || error_class == MPI_ERR_RMA_RANGE ||
                   error_class == MPI_ERR_RMA_ATTACH || error_class == MPI_ERR_RMA_SHARED ||
                   error_class == MPI_ERR_RMA_FLAVOR
               ? XMPI_FINDING_RMA_ERROR
               : XMPI_FINDING_CALL_ERROR;
}

/* Report a fatal error with rank, call and line; does not end the job yet. */
static void say_fatal(const mpi_rank_t *self, int code, const char *message)
{
    const mpi_rank_t *owner = self ? self : mpi_thread_owner;
    mpi_finding_t finding = {.kind = kind_of(mpi_error_class_of(code)),
                             .rank = owner ? owner->world : -1,
                             .other = -1,
                             .sites = {self && self->call.name ? self->call.caller : NULL}};
    char site[SITE_SIZE], unnamed[32];
    const char *name = mpi_error_class_name(mpi_error_class_of(code));

    if (!name) {
        snprintf(unnamed, sizeof unnamed, "error %d", code);
        name = unnamed;
    }
    mpi_report_claim();
    if (!self && mpi_thread_owner && mpi_thread_call)
        mpi_finding_end(&finding, "rank %d: %s in a thread: %s (%s)", mpi_thread_owner->world,
                        mpi_thread_call, message, name);
    else if (!self)
        mpi_finding_end(&finding, "%s%s%s (%s)", mpi_thread_call ? mpi_thread_call : "",
                        mpi_thread_call ? ": " : "", message, name);
    else if (!self->call.name)
        mpi_finding_end(&finding, "rank %d: %s (%s)", self->world, message, name);
    else
        mpi_finding_end(&finding, "rank %d: %s: %s (%s%s)", self->world, self->call.name, message,
                        name, site_text(self->call.caller, site));
}

/* The handler may free itself or its object, and may call MPI. */
static int call_comm_handler(const mpi_errhandler_t *handler, mpi_comm_t *comm, int code)
{
    void *handle = handler->kind == XMPI_HANDLER_WIN    ? (void *)comm->window
                   : handler->kind == XMPI_HANDLER_FILE ? (void *)comm->file
                                                        : (void *)mpi_comm_handle(comm);

    mpi_comm_hold(comm);
    code = mpi_errhandler_call(handler, handle, code);
    mpi_comm_release(comm);
    return code;
}

static int call_file_handler(const mpi_errhandler_t *handler, mpi_comm_t *comm, int code)
{
    (void)comm;
    return mpi_errhandler_call(handler, MPI_FILE_NULL, code);
}

/* The object is none of a communicator: it is passed through. */
static int call_session_handler(const mpi_errhandler_t *handler, mpi_comm_t *session, int code)
{
    return mpi_errhandler_call(handler, session, code);
}

/* Call the error handler for an error; returns its code, or ends the job if errors are fatal. */
static int raise_error(MPI_Errhandler handle,
                       int (*call)(const mpi_errhandler_t *, mpi_comm_t *, int), mpi_comm_t *comm,
                       int code, const char *message)
{
    mpi_errhandler_t *handler = mpi_errhandler_of(handle);
    mpi_rank_t *self = mpi_self;
    mpi_env_t *env = self ? self->env : NULL;

    if (env)
        env->is_pardoned = false;
    if (handle == MPI_ERRORS_RETURN) {
        if (mpi_dispatch.check.returned != NULL)
            mpi_dispatch.check.returned(self, code);
        return code;
    }
    if (self)
        mpi_go_inside(self); /* local calls have not done so */
    if (handler && self) {
        const mpi_call_t noted = self->call;

        mpi_errhandler_hold(handler);
        code = call(handler, comm, code);
        mpi_errhandler_release(handler);
        self->call = noted;
        mpi_go_outside(self);
        return code;
    }
    say_fatal(self, code, message);
    mpi_abort(code > 0 && code < 126 ? code : 1);
}

bool mpi_error_is_fatal(const mpi_comm_t *comm)
{
    return comm == NULL ||
           (comm->errhandler != MPI_ERRORS_RETURN && mpi_errhandler_of(comm->errhandler) == NULL);
}

/* Where errors of no object go. */
static mpi_comm_t *common_comm(const mpi_rank_t *self)
{
    if (self->comm_self->errhandler == MPI_ERRORS_ARE_FATAL)
        return self->comm_world;
    return self->comm_self;
}

int mpi_error_raise(mpi_comm_t *comm, int code, const char *message)
{
    const mpi_rank_t *self = mpi_self;
    char whole[MESSAGE_SIZE + SITE_SIZE], freed[SITE_SIZE];

    if (!comm && self && mpi_phase_is_running(self->phase))
        comm = common_comm(self);
    mpi_life_explain(freed, sizeof freed);
    snprintf(whole, sizeof whole, "%s%s", message, freed);
    return raise_error(self && comm ? comm->errhandler : MPI_ERRORS_ARE_FATAL, call_comm_handler,
                       comm, code, whole);
}

int mpi_error_raise_file(int code, const char *message)
{
    const mpi_env_t *env = mpi_self ? mpi_self->env : NULL;

    return raise_error(env ? env->file_errhandler : MPI_ERRORS_RETURN, call_file_handler, NULL,
                       code, message);
}

int mpi_error_raise_session(MPI_Errhandler handler, void *session, int code, const char *message)
{
    return raise_error(handler, call_session_handler, session, code, message);
}

int mpi_error(mpi_comm_t *comm, int error_class, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return mpi_error_raise(comm, error_class, message);
}

int mpi_error_status(mpi_comm_t *comm, xy_status_t status, const char *what)
{
    static const int classes[XY_STATUS_LAST] = {
        [XY_EINVAL] = MPI_ERR_ARG,      [XY_ENOMEM] = MPI_ERR_NO_MEM,
        [XY_ENOENT] = MPI_ERR_ARG,      [XY_EACCES] = MPI_ERR_ACCESS,
        [XY_EIO] = MPI_ERR_IO,          [XY_EPARSE] = MPI_ERR_ARG,
        [XY_ELIMIT] = MPI_ERR_NO_SPACE, [XY_EUNSUPPORTED] = MPI_ERR_UNSUPPORTED_OPERATION,
        [XY_EUSAGE] = MPI_ERR_ARG,      [XY_EINTERRUPTED] = MPI_ERR_OTHER,
    };

    if (status == XY_OK)
        return MPI_SUCCESS;
    return mpi_error(comm, classes[status], "%s: %s", what, xy_status_text(status));
}

int mpi_error_memory(mpi_comm_t *comm, const char *what)
{
    return mpi_error(comm, MPI_ERR_NO_MEM, "memory ran out for %s", what);
}

int mpi_error_null(mpi_comm_t *comm, const char *argument)
{
    return mpi_error(comm, MPI_ERR_ARG, "the argument %s is NULL", argument);
}

int mpi_error_null_on(mpi_comm_t *object, const char *argument)
{
    bool is_fatal = object && object->errhandler == MPI_ERRORS_ARE_FATAL;

    return mpi_error_null(is_fatal ? NULL : object, argument);
}

int mpi_refuse_null(const char *name, const void *site, MPI_Comm comm, const char *argument)
{
    mpi_rank_t *self = mpi_enter_any(name, site);
    bool is_running = self && mpi_phase_is_running(self->phase);

    return mpi_leave_any(self, mpi_error_null_on(is_running ? mpi_comm_of(comm) : NULL, argument));
}
