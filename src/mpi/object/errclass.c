/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes, codes and their texts: the predefined ones in a table, and those that the program
 * adds, which belong to the rank that added them (as they would with processes).
 */
#include <stdbool.h>
#include <string.h>

#include "mpi/object/calls.h"
#include "mpi/object/env.h"
#include "mpi/object/error.h"
#include "mpi/runtime/runtime.h"

/* One number that the program added: a class when `error_class` is its own number. */
typedef struct {
    int error_class;
    bool is_removed;
    char *text; /* NULL: none given yet */
} mpi_code_t;

typedef struct {
    const char *name;
    const char *text;
} class_t;

#define CLASS(name, text) [name] = {#name, text}
static const class_t classes[] = {
    CLASS(MPI_SUCCESS, "no error"),
    CLASS(MPI_ERR_BUFFER, "invalid buffer pointer"),
    CLASS(MPI_ERR_COUNT, "invalid count"),
    CLASS(MPI_ERR_TYPE, "invalid datatype"),
    CLASS(MPI_ERR_TAG, "invalid tag"),
    CLASS(MPI_ERR_COMM, "invalid communicator"),
    CLASS(MPI_ERR_RANK, "invalid rank"),
    CLASS(MPI_ERR_REQUEST, "invalid request"),
    CLASS(MPI_ERR_ROOT, "invalid root"),
    CLASS(MPI_ERR_GROUP, "invalid group"),
    CLASS(MPI_ERR_OP, "invalid operation"),
    CLASS(MPI_ERR_TOPOLOGY, "invalid topology"),
    CLASS(MPI_ERR_DIMS, "invalid dimension"),
    CLASS(MPI_ERR_ARG, "invalid argument"),
    CLASS(MPI_ERR_UNKNOWN, "unknown error"),
    CLASS(MPI_ERR_TRUNCATE, "message longer than the receive buffer"),
    CLASS(MPI_ERR_OTHER, "error of no other class"),
    CLASS(MPI_ERR_INTERN, "internal error"),
    CLASS(MPI_ERR_PENDING, "pending request"),
    CLASS(MPI_ERR_IN_STATUS, "the error code is in the status"),
    CLASS(MPI_ERR_ACCESS, "permission denied"),
    CLASS(MPI_ERR_AMODE, "invalid access mode"),
    CLASS(MPI_ERR_ASSERT, "invalid assertion"),
    CLASS(MPI_ERR_BAD_FILE, "invalid file name"),
    CLASS(MPI_ERR_BASE, "invalid base address"),
    CLASS(MPI_ERR_CONVERSION, "data conversion failed"),
    CLASS(MPI_ERR_DISP, "invalid displacement"),
    CLASS(MPI_ERR_DUP_DATAREP, "data representation already defined"),
    CLASS(MPI_ERR_FILE_EXISTS, "file exists"),
    CLASS(MPI_ERR_FILE_IN_USE, "file in use"),
    CLASS(MPI_ERR_FILE, "invalid file handle"),
    CLASS(MPI_ERR_INFO_KEY, "invalid info key"),
    CLASS(MPI_ERR_INFO_NOKEY, "no such info key"),
    CLASS(MPI_ERR_INFO_VALUE, "invalid info value"),
    CLASS(MPI_ERR_INFO, "invalid info object"),
    CLASS(MPI_ERR_IO, "input or output failed"),
    CLASS(MPI_ERR_KEYVAL, "invalid attribute key"),
    CLASS(MPI_ERR_LOCKTYPE, "invalid lock type"),
    CLASS(MPI_ERR_NAME, "name not published"),
    CLASS(MPI_ERR_NO_MEM, "memory ran out"),
    CLASS(MPI_ERR_NOT_SAME, "argument differs between ranks"),
    CLASS(MPI_ERR_NO_SPACE, "not enough space"),
    CLASS(MPI_ERR_NO_SUCH_FILE, "no such file"),
    CLASS(MPI_ERR_PORT, "invalid port name"),
    CLASS(MPI_ERR_QUOTA, "quota exceeded"),
    CLASS(MPI_ERR_READ_ONLY, "read-only file or file system"),
    CLASS(MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
    CLASS(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    CLASS(MPI_ERR_RMA_RANGE, "target memory is not part of the window"),
    CLASS(MPI_ERR_RMA_SHARED, "memory cannot be shared"),
    CLASS(MPI_ERR_RMA_SYNC, "wrong synchronization of accesses to a window"),
    CLASS(MPI_ERR_SERVICE, "invalid service name"),
    CLASS(MPI_ERR_SIZE, "invalid size"),
    CLASS(MPI_ERR_SPAWN, "processes could not be spawned"),
    CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    CLASS(MPI_ERR_WIN, "invalid window"),
    CLASS(MPI_ERR_RMA_FLAVOR, "wrong flavor of window"),
    CLASS(MPI_ERR_PROC_ABORTED, "a peer process has aborted"),
    CLASS(MPI_ERR_VALUE_TOO_LARGE, "value too large for its type"),
    CLASS(MPI_ERR_SESSION, "invalid session"),
    CLASS(MPI_ERR_ERRHANDLER, "invalid error handler"),
    CLASS(MPIX_ERR_PROC_FAILED, "a rank has failed"),
    CLASS(MPIX_ERR_PROC_FAILED_PENDING, "a rank has failed that may have been the sender"),
    CLASS(MPIX_ERR_REVOKED, "the communicator was revoked"),
};
#undef CLASS
enum { CLASSES = sizeof classes / sizeof classes[0], FIRST_ADDED = MPI_ERR_LASTCODE + 1 };

/* The added entry `code` of the calling rank, or NULL. */
static mpi_code_t *find(int code)
{
    mpi_env_t *env = mpi_self ? mpi_self->env : NULL;
    mpi_code_t *found;

    if (!env || code < FIRST_ADDED || (size_t)(code - FIRST_ADDED) >= env->codes.count)
        return NULL;
    found = &XY_VEC_AT(&env->codes, mpi_code_t, code - FIRST_ADDED);
    return found->is_removed ? NULL : found;
}

static bool is_predefined(int code)
{
    return (code >= 0 && code < CLASSES && classes[code].name != NULL) ||
           (code >= MPI_T_ERR_CANNOT_INIT && code <= MPI_T_ERR_PVAR_NO_ATOMIC);
}

const char *mpi_error_class_name(int error_class)
{
    if (error_class >= 0 && error_class < CLASSES)
        return classes[error_class].name;
    return is_predefined(error_class) ? "MPI_T error" : NULL;
}

int mpi_error_class_of(int code)
{
    const mpi_code_t *added = find(code);

    if (added)
        return added->error_class;
    return is_predefined(code) ? code : MPI_ERR_UNKNOWN;
}

int mpi_error_last_used(void)
{
    const mpi_env_t *env = mpi_self ? mpi_self->env : NULL;

    return MPI_ERR_LASTCODE + (env ? (int)env->codes.count : 0);
}

int impl_error_class(int code, int *class_p)
{
    if (!is_predefined(code) && !find(code))
        return mpi_error(NULL, MPI_ERR_ARG, "%d is not an error code", code);
    *class_p = mpi_error_class_of(code);
    return MPI_SUCCESS;
}

int impl_error_string(int code, char *string, int *resultlen)
{
    const mpi_code_t *added = find(code);

    if (!is_predefined(code) && !added)
        return mpi_error(NULL, MPI_ERR_ARG, "%d is not an error code", code);
    if (added)
        *resultlen = snprintf(string, MPI_MAX_ERROR_STRING, "%s", added->text ? added->text : "");
    else if (code < CLASSES)
        *resultlen = snprintf(string, MPI_MAX_ERROR_STRING, "%s: %s", classes[code].name,
                              classes[code].text);
    else
        *resultlen = snprintf(string, MPI_MAX_ERROR_STRING, "error %d of the tool interface", code);
    return MPI_SUCCESS;
}

/* Add a number: a code of `error_class`, or a class of its own when that is 0. */
static int add(int error_class, int *number_p)
{
    mpi_env_t *env = mpi_env_self();
    mpi_code_t *added;
    int number;

    if (error_class && mpi_error_class_of(error_class) != error_class)
        return mpi_error(NULL, MPI_ERR_ARG, "%d is not an error class", error_class);
    added = env ? xy_vec_push(&env->codes) : NULL;
    if (!added)
        return mpi_error_memory(NULL, "an error code");
    number = FIRST_ADDED + (int)env->codes.count - 1;
    added->error_class = error_class ? error_class : number;
    *number_p = number;
    return MPI_SUCCESS;
}

int impl_add_error_string(int code, const char *string)
{
    mpi_code_t *added = find(code);
    char *text;

    if (!added)
        return mpi_error(NULL, MPI_ERR_ARG, "%d is not an error code that the program added", code);
    if (strlen(string) >= MPI_MAX_ERROR_STRING)
        return mpi_error(NULL, MPI_ERR_ARG, "the text has %zu bytes; at most %d are kept",
                         strlen(string), MPI_MAX_ERROR_STRING - 1);
    text = xy_strdup(string);
    if (!text)
        return mpi_error_memory(NULL, "the text of an error code");
    xy_free(added->text);
    added->text = text;
    return MPI_SUCCESS;
}

/* A class with codes, or either with a text, cannot be removed. */
int part_error_remove(int number, bool is_class)
{
    mpi_code_t *added = find(number);

    if (!added || is_class != (added->error_class == number))
        return mpi_error(NULL, MPI_ERR_ARG, "%d is not an error %s that the program added", number,
                         is_class ? "class" : "code");
    for (int code = number + 1; is_class && code <= mpi_error_last_used(); code++) {
        const mpi_code_t *other = find(code);
        if (other && other->error_class == number)
            return mpi_error(NULL, MPI_ERR_OTHER, "class %d still has code %d", number, code);
    }
    if (added->text)
        return mpi_error(NULL, MPI_ERR_OTHER,
                         "%d still has a text; call MPI_Remove_error_string first", number);
    added->is_removed = true;
    return MPI_SUCCESS;
}

int impl_remove_error_string(int code)
{
    mpi_code_t *added = find(code);

    if (!added || !added->text)
        return mpi_error(NULL, MPI_ERR_ARG, "%d has no text that the program added", code);
    xy_free(added->text);
    added->text = NULL;
    return MPI_SUCCESS;
}

void mpi_error_codes_cleanup(xy_vec_t *codes)
{
    for (size_t i = 0; i < codes->count; i++)
        xy_free(XY_VEC_AT(codes, mpi_code_t, i).text);
    xy_vec_cleanup(codes);
}

void mpi_error_codes_init(xy_vec_t *codes)
{
    *codes = XY_VEC_INIT(mpi_code_t);
}

int impl_add_error_class(int *errorclass)
{
    return add(0, errorclass);
}

int impl_add_error_code(int errorclass, int *errorcode)
{
    if (errorclass == MPI_SUCCESS)
        return mpi_error(NULL, MPI_ERR_ARG, "MPI_SUCCESS can have no codes");
    return add(errorclass, errorcode);
}
