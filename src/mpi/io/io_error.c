/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of files, and their handlers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpi/io/calls.h"
#include "mpi/io/io.h"

int io_error_null(int error_class, const char *format, ...)
{
    char message[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return mpi_error_raise_file(error_class, message);
}

int mpi_file_refuse(MPI_File handle)
{
    char freed[192];

    mpi_life_explain(freed, sizeof(freed));
    return io_error_null(MPI_ERR_FILE, "the file is %s%s",
                         handle == MPI_FILE_NULL ? "MPI_FILE_NULL: it was not opened, or is closed"
                                                 : "not an open file",
                         freed);
}

int mpi_file_refuse_null(const char *name, const void *site, MPI_File handle, const char *argument)
{
    mpi_rank_t *self = mpi_enter_any(name, site);
    mpi_file_t *file = self && mpi_phase_is_running(self->phase) ? mpi_file_of(handle) : NULL;
    int error = file != NULL ? mpi_error_null(file->comm, argument)
                             : io_error_null(MPI_ERR_ARG, "the argument %s is NULL", argument);

    return mpi_leave_any(self, error);
}

int io_error_class(int code)
{
    switch (code) {
    case 0:
        return MPI_SUCCESS;
    case ENOENT:
        return MPI_ERR_NO_SUCH_FILE;
    case EACCES:
    case EPERM:
        return MPI_ERR_ACCESS;
    case EEXIST:
        return MPI_ERR_FILE_EXISTS;
    case EROFS:
        return MPI_ERR_READ_ONLY;
    case ENOSPC:
    case EFBIG:
        return MPI_ERR_NO_SPACE;
    case EDQUOT:
        return MPI_ERR_QUOTA;
    case EBUSY:
    case ETXTBSY:
        return MPI_ERR_FILE_IN_USE;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
        return MPI_ERR_BAD_FILE;
    case ENOMEM:
        return MPI_ERR_NO_MEM;
    default:
        return MPI_ERR_IO;
    }
}

int io_error_errno(mpi_file_t *file, int code)
{
    char text[128];

    if (code == 0)
        return MPI_SUCCESS;
    return mpi_error(file->comm, io_error_class(code), "%s: %s", file->shared->name,
                     strerror_r(code, text, sizeof(text)));
}

int io_refuse_mode(mpi_file_t *file, int mode)
{
    if (mode == MPI_MODE_SEQUENTIAL)
        return mpi_error(file->comm, MPI_ERR_UNSUPPORTED_OPERATION,
                         "%s was opened with MPI_MODE_SEQUENTIAL, which leaves only the shared "
                         "pointer",
                         file->shared->name);
    if (mode == MPI_MODE_RDONLY)
        return mpi_error(file->comm, MPI_ERR_READ_ONLY, "%s was opened with MPI_MODE_RDONLY",
                         file->shared->name);
    return mpi_error(file->comm, MPI_ERR_ACCESS, "%s was opened with MPI_MODE_WRONLY",
                     file->shared->name);
}

/* ---- Handlers: those of MPI_FILE_NULL are what files begin with ---- */

int impl_file_set_errhandler(MPI_File handle, MPI_Errhandler errhandler)
{
    mpi_file_t *file = mpi_file_of(handle);

    if (handle == MPI_FILE_NULL)
        return mpi_errhandler_file_set(errhandler);
    if (file == NULL)
        return mpi_file_refuse(handle);
    return mpi_errhandler_set(file->comm, XMPI_HANDLER_FILE, errhandler);
}

int impl_file_get_errhandler(MPI_File handle, MPI_Errhandler *errhandler)
{
    mpi_file_t *file = mpi_file_of(handle);

    if (handle == MPI_FILE_NULL)
        return mpi_errhandler_file_get(errhandler);
    if (file == NULL)
        return mpi_file_refuse(handle);
    return mpi_errhandler_get(file->comm, errhandler);
}

int impl_file_call_errhandler(MPI_File handle, int errorcode)
{
    mpi_file_t *file = mpi_file_of(handle);

    if (handle == MPI_FILE_NULL)
        mpi_error_raise_file(errorcode, "the program raised this error");
    else if (file == NULL)
        return mpi_file_refuse(handle);
    else
        mpi_error_raise(file->comm, errorcode, "the program raised this error");
    return MPI_SUCCESS;
}
