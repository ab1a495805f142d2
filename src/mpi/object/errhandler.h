/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers: functions of the program that are called instead of ending the job. They belong
 * to the rank that made them; the handle and every object that uses one hold a reference.
 */
#ifndef XY_MPI_OBJECT_ERRHANDLER_H
#define XY_MPI_OBJECT_ERRHANDLER_H

#include <stddef.h>
#include <stdint.h>

#include "mpi.h"
#include "mpi/object/handle.h"
#include "mpi/object/life.h"
#include "mpi/runtime/runtime.h"

typedef enum {
    XMPI_HANDLER_COMM,
    XMPI_HANDLER_WIN,
    XMPI_HANDLER_FILE,
    XMPI_HANDLER_SESSION,
} mpi_handler_kind_t;

typedef struct {
    mpi_life_t life; /* of the handles */
    long handles;    /* that the program holds: it frees what MPI_Comm_get_errhandler returns */
    long references; /* these, and each object that uses it */
    mpi_handler_kind_t kind;
    mpi_errhandler_through_fn *through; /* how the function is called; NULL: it is one of C */
    union {                             /* by kind */
        MPI_Comm_errhandler_function *comm_fn;
        MPI_Win_errhandler_function *win_fn;
        MPI_File_errhandler_function *file_fn;
        MPI_Session_errhandler_function *session_fn;
    };
} mpi_errhandler_t;

/* NULL for the predefined ones (small numbers). Handles of the program are to be checked before. */
static inline mpi_errhandler_t *mpi_errhandler_of(MPI_Errhandler handle)
{
    return (uintptr_t)handle < 4096 ? NULL : (mpi_errhandler_t *)(void *)handle;
}

/* How the function of the handler that was just made is called. */
void mpi_errhandler_set_through(MPI_Errhandler handle, mpi_errhandler_through_fn *through);
/* Call the function for an object. Returns the code that the MPI function returns, which the
 * handler may have changed to that of another error. */
int mpi_errhandler_call(const mpi_errhandler_t *handler, void *handle, int code);

/* The handler of a communicator, or of the window or file that it belongs to; `kind` says what such
 * a handler is made for. Both raise on `comm`. */
int mpi_errhandler_set(mpi_comm_t *comm, mpi_handler_kind_t kind, MPI_Errhandler errhandler);
int mpi_errhandler_get(mpi_comm_t *comm, MPI_Errhandler *errhandler);

/* The error handler of MPI_FILE_NULL, which files begin with; errors are raised on MPI_FILE_NULL.
 */
int mpi_errhandler_file_set(MPI_Errhandler errhandler);
int mpi_errhandler_file_get(MPI_Errhandler *errhandler);

/* Why `handle` cannot be used with objects of `kind`; NULL: it can. The predefined ones go with
 * all. */
const char *mpi_errhandler_refuse(MPI_Errhandler handle, mpi_handler_kind_t kind);

/* The handler of an object for the program, which frees it. */
MPI_Errhandler mpi_errhandler_give(MPI_Errhandler handle);
/* An object that has the handler at `place` uses another from now on. */
void mpi_errhandler_replace(MPI_Errhandler *place, MPI_Errhandler handle);

/* References; NULL is fine. The last release frees. */
void mpi_errhandler_hold(mpi_errhandler_t *handler);
void mpi_errhandler_release(mpi_errhandler_t *handler);

#endif
