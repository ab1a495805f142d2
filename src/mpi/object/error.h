/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors at the MPI boundary: an error class, one line that describes it, and the error
 * handler of the communicator (fatal by default).
 *
 *   if (count < 0)
 *       return mpi_error(comm, MPI_ERR_COUNT, "the count is %d; it must not be negative", count);
 */
#ifndef XY_MPI_OBJECT_ERROR_H
#define XY_MPI_OBJECT_ERROR_H

#include "mpi.h"
#include "mpi/runtime/runtime.h"

/* Raise `error_class` on `comm`. NULL: on MPI_COMM_SELF, as MPI-4 says, and on MPI_COMM_WORLD where
 * that one has the fatal handler, as MPI-3 said and programs expect. The line printed by the fatal
 * handler names the rank, the current call (self->call) and its site. Returns the class when the
 * handler returns. */
int mpi_error(mpi_comm_t *comm, int error_class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A number that the MPI of the program does not define (rank -3) becomes one that Xylem does not
 * define either; messages show it as the program passed it. */
enum { XMPI_NUMBER_UNKNOWN = -1500000000, XMPI_NUMBER_UNKNOWN_MOST = 1 << 22 };
static inline int mpi_number_unknown(int number)
{
    return number > -XMPI_NUMBER_UNKNOWN_MOST && number < XMPI_NUMBER_UNKNOWN_MOST
               ? XMPI_NUMBER_UNKNOWN + number
               : number;
}

static inline int mpi_number_passed(int number)
{
    return number > XMPI_NUMBER_UNKNOWN - XMPI_NUMBER_UNKNOWN_MOST &&
                   number < XMPI_NUMBER_UNKNOWN + XMPI_NUMBER_UNKNOWN_MOST
               ? number - XMPI_NUMBER_UNKNOWN
               : number;
}

/* Would an error on `comm` end the job? Only then its line is printed. */
bool mpi_error_is_fatal(const mpi_comm_t *comm);

/* The same with a ready message and a class or a code. */
int mpi_error_raise(mpi_comm_t *comm, int code, const char *message);
/* The same for a call on files: their handler is that of MPI_FILE_NULL, which returns by default.
 */
int mpi_error_raise_file(int code, const char *message);
/* The same for a session, which has `handler`; MPI_SESSION_NULL: it is not made yet. */
int mpi_error_raise_session(MPI_Errhandler handler, void *session, int code, const char *message);

/* The result of a call on a file: an error handler may have written MPI_SUCCESS over the code. The
 * call has ended early all the same. */
int mpi_error_pardoned(int error) __attribute__((cold));
static inline int mpi_error_returned(int error)
{
    return __builtin_expect(error == MPI_SUCCESS, 1) ? error : mpi_error_pardoned(error);
}

/* Common lines: memory ran out for `what`; the argument called `argument` must not be NULL. */
int mpi_error_memory(mpi_comm_t *comm, const char *what);
int mpi_error_null(mpi_comm_t *comm, const char *argument);
/* The result of the MPI function `name` for a NULL argument, before it is entered. Raised on `comm`
 * (its handle, or MPI_COMM_NULL); when its handler is fatal, as an error of no object. */
int mpi_refuse_null(const char *name, const void *site, MPI_Comm comm, const char *argument)
    __attribute__((cold));
/* The same inside the function, on an object that may have none. */
int mpi_error_null_on(mpi_comm_t *object, const char *argument) __attribute__((cold));

/* The same from code that has only a status of the lower components. */
int mpi_error_status(mpi_comm_t *comm, xy_status_t status, const char *what);

/* The class of a code (of itself, for a class); MPI_ERR_UNKNOWN when the program never added it. */
int mpi_error_class_of(int code);
/* "MPI_ERR_COUNT"; NULL for classes that the program added. */
const char *mpi_error_class_name(int error_class);
/* The highest class or code in use (MPI_LASTUSEDCODE). */
int mpi_error_last_used(void);
/* The list of added codes in mpi_env_t. */
void mpi_error_codes_init(xy_vec_t *codes);
void mpi_error_codes_cleanup(xy_vec_t *codes);

#endif
