/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the program in Fortran: operations, error handlers, attributes, generalized requests
 * and data representations. The object that holds such a function calls it through one of C; where
 * C's function has a state of its own (generalized requests, data representations), a function of C
 * stands in front of it.
 */
#include "mpi/bindings/fortran.h"
#include "mpi/bindings/fortran_calls.h"
#include "mpi/datatype/datatype.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC visibility push(default)

#define HERE __builtin_return_address(0)

/* ---- Operations and error handlers ---- */

static void apply_op(mpi_any_fn *fn, void *in, void *inout, void *length, MPI_Datatype type)
{
    MPI_Fint number = mpi_handle_to_int(type);

    ((void (*)(void *, void *, void *, MPI_Fint *))fn)(in, inout, length, &number);
}

static void handle_error(mpi_any_fn *fn, void *handle, int *code)
{
    MPI_Fint number = mpi_handle_to_int(handle);

    ((void (*)(MPI_Fint *, MPI_Fint *))fn)(&number, code);
}

void pmpi_op_create_(MPI_User_function *fn, const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror)
{
    MPI_Op made = MPI_OP_NULL;
    int error = at_op_create(HERE, fn, *commute, &made);

    if (error == MPI_SUCCESS)
        mpi_op_set_through(made, apply_op);
    *op = mpi_handle_to_int(made);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(op_create, MPI_User_function *, const MPI_Fint *, MPI_Fint *, MPI_Fint *)

void pmpi_op_create_c_(MPI_User_function_c *fn, const MPI_Fint *commute, MPI_Fint *op,
                       MPI_Fint *ierror)
{
    MPI_Op made = MPI_OP_NULL;
    int error = at_op_create_c(HERE, fn, *commute, &made);

    if (error == MPI_SUCCESS)
        mpi_op_set_through(made, apply_op);
    *op = mpi_handle_to_int(made);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(op_create_c, MPI_User_function_c *, const MPI_Fint *, MPI_Fint *, MPI_Fint *)

#define ERRHANDLER(name, type)                                                                     \
    void pmpi_##name##_(type *fn, MPI_Fint *errhandler, MPI_Fint *ierror)                          \
    {                                                                                              \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                 \
        int error = at_##name(HERE, fn, &made);                                                    \
                                                                                                   \
        if (error == MPI_SUCCESS)                                                                  \
            mpi_errhandler_set_through(made, handle_error);                                        \
        *errhandler = mpi_handle_to_int(made);                                                     \
        fortran_return(ierror, error);                                                             \
    }                                                                                              \
    FORTRAN_ALIAS(name, type *, MPI_Fint *, MPI_Fint *)

ERRHANDLER(comm_create_errhandler, MPI_Comm_errhandler_function)
ERRHANDLER(errhandler_create, MPI_Comm_errhandler_function)
ERRHANDLER(file_create_errhandler, MPI_File_errhandler_function)
ERRHANDLER(session_create_errhandler, MPI_Session_errhandler_function)
ERRHANDLER(win_create_errhandler, MPI_Win_errhandler_function)

/* ---- Attributes ---- */

#define KEYVAL(name, copy_type, delete_type, kind, integer, language)                              \
    void pmpi_##name##_(copy_type *copy, delete_type *delete, MPI_Fint *keyval,                    \
                        const integer *extra, MPI_Fint *ierror)                                    \
    {                                                                                              \
        int error = at_##name(HERE, copy, delete, keyval, (void *)(MPI_Aint)*extra);               \
                                                                                                   \
        if (error == MPI_SUCCESS)                                                                  \
            mpi_keyval_set_language(kind, *keyval, language);                                      \
        fortran_return(ierror, error);                                                             \
    }                                                                                              \
    FORTRAN_ALIAS(name, copy_type *, delete_type *, MPI_Fint *, const integer *, MPI_Fint *)

KEYVAL(comm_create_keyval, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function,
       XMPI_ATTR_COMM, MPI_Aint, XMPI_FROM_FORTRAN)
KEYVAL(type_create_keyval, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function,
       XMPI_ATTR_TYPE, MPI_Aint, XMPI_FROM_FORTRAN)
KEYVAL(win_create_keyval, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function, XMPI_ATTR_WIN,
       MPI_Aint, XMPI_FROM_FORTRAN)
KEYVAL(keyval_create, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function, XMPI_ATTR_COMM,
       MPI_Fint, XMPI_FROM_FORTRAN_1)

#define SET_ATTR(name, handle, integer, language)                                                  \
    void pmpi_##name##_(const MPI_Fint *object, const MPI_Fint *keyval, const integer *value,      \
                        MPI_Fint *ierror)                                                          \
    {                                                                                              \
        int error;                                                                                 \
                                                                                                   \
        mpi_attributes_language(language);                                                         \
        error = at_##name(HERE, (handle)mpi_handle_from_int(*object), *keyval,                     \
                          (void *)(MPI_Aint)*value);                                               \
        mpi_attributes_language(XMPI_FROM_C); /* also of a call that was refused */                \
        fortran_return(ierror, error);                                                             \
    }                                                                                              \
    FORTRAN_ALIAS(name, const MPI_Fint *, const MPI_Fint *, const integer *, MPI_Fint *)

SET_ATTR(comm_set_attr, MPI_Comm, MPI_Aint, XMPI_FROM_FORTRAN)
SET_ATTR(type_set_attr, MPI_Datatype, MPI_Aint, XMPI_FROM_FORTRAN)
SET_ATTR(win_set_attr, MPI_Win, MPI_Aint, XMPI_FROM_FORTRAN)
SET_ATTR(attr_put, MPI_Comm, MPI_Fint, XMPI_FROM_FORTRAN_1)

/* Predefined attributes: C gets the address of the number, Fortran the number; a window's memory
 * is its address in both. */
static MPI_Aint attribute(int keyval, void *value)
{
    if ((keyval >= MPI_TAG_UB && keyval <= MPI_LASTUSEDCODE) || keyval == MPI_WIN_DISP_UNIT ||
        keyval == MPI_WIN_CREATE_FLAVOR || keyval == MPI_WIN_MODEL)
        return *(const int *)value;
    if (keyval == MPI_WIN_SIZE)
        return *(const MPI_Aint *)value;
    return (MPI_Aint)value;
}

#define GET_ATTR(name, handle, integer)                                                            \
    void pmpi_##name##_(const MPI_Fint *object, const MPI_Fint *keyval, integer *value,            \
                        MPI_Fint *flag, MPI_Fint *ierror)                                          \
    {                                                                                              \
        void *found = NULL;                                                                        \
        int error;                                                                                 \
                                                                                                   \
        mpi_attributes_language(XMPI_FROM_FORTRAN);                                                \
        error =                                                                                    \
            at_##name(HERE, (handle)mpi_handle_from_int(*object), *keyval, (void *)&found, flag);  \
        mpi_attributes_language(XMPI_FROM_C);                                                      \
        if (error == MPI_SUCCESS && *flag)                                                         \
            *value = (integer)attribute(*keyval, found);                                           \
        fortran_return(ierror, error);                                                             \
    }                                                                                              \
    FORTRAN_ALIAS(name, const MPI_Fint *, const MPI_Fint *, integer *, MPI_Fint *, MPI_Fint *)

GET_ATTR(comm_get_attr, MPI_Comm, MPI_Aint)
GET_ATTR(type_get_attr, MPI_Datatype, MPI_Aint)
GET_ATTR(win_get_attr, MPI_Win, MPI_Aint)
GET_ATTR(attr_get, MPI_Comm, MPI_Fint)

/* MPI_COMM_NULL_COPY_FN and its relatives: functions like any other, which Fortran can also call.
 */
#define COPY_FN(name, integer, keeps)                                                              \
    void name##_(MPI_Fint *object, MPI_Fint *keyval, integer *extra, integer *from, integer *to,   \
                 MPI_Fint *flag, MPI_Fint *ierror)                                                 \
    {                                                                                              \
        (void)object, (void)keyval, (void)extra;                                                   \
        if (keeps)                                                                                 \
            *to = *from;                                                                           \
        *flag = keeps;                                                                             \
        fortran_return(ierror, MPI_SUCCESS);                                                       \
    }
#define DELETE_FN(name, integer)                                                                   \
    void name##_(MPI_Fint *object, MPI_Fint *keyval, integer *value, integer *extra,               \
                 MPI_Fint *ierror)                                                                 \
    {                                                                                              \
        (void)object, (void)keyval, (void)value, (void)extra;                                      \
        fortran_return(ierror, MPI_SUCCESS);                                                       \
    }

COPY_FN(mpi_comm_null_copy_fn, MPI_Aint, 0)
COPY_FN(mpi_comm_dup_fn, MPI_Aint, 1)
DELETE_FN(mpi_comm_null_delete_fn, MPI_Aint)
COPY_FN(mpi_type_null_copy_fn, MPI_Aint, 0)
COPY_FN(mpi_type_dup_fn, MPI_Aint, 1)
DELETE_FN(mpi_type_null_delete_fn, MPI_Aint)
COPY_FN(mpi_win_null_copy_fn, MPI_Aint, 0)
COPY_FN(mpi_win_dup_fn, MPI_Aint, 1)
DELETE_FN(mpi_win_null_delete_fn, MPI_Aint)
COPY_FN(mpi_null_copy_fn, MPI_Fint, 0)
COPY_FN(mpi_dup_fn, MPI_Fint, 1)
DELETE_FN(mpi_null_delete_fn, MPI_Fint)

/* ---- Generalized requests ---- */

typedef struct {
    void (*query)(MPI_Aint *extra, MPI_Status *status, MPI_Fint *ierror);
    void (*free)(MPI_Aint *extra, MPI_Fint *ierror);
    void (*cancel)(MPI_Aint *extra, MPI_Fint *complete, MPI_Fint *ierror);
    MPI_Aint extra;
    MPI_Aint *given; /* the program's variable, as long as its functions change the value */
} grequest_t;

/* A function of the program may have changed the state, which is its variable. Where it has not,
 * the variable need not be there any more: it may be the value of an expression. */
static int called(grequest_t *g, MPI_Aint before, MPI_Fint error)
{
    if (g->extra != before)
        *g->given = g->extra;
    return error;
}

static int query(void *state, MPI_Status *status)
{
    grequest_t *g = state;
    MPI_Aint before = g->extra;
    MPI_Fint error = MPI_SUCCESS;

    g->query(&g->extra, status, &error);
    return called(g, before, error);
}

static int free_state(void *state)
{
    grequest_t *g = state;
    MPI_Aint before = g->extra;
    MPI_Fint error = MPI_SUCCESS;

    g->free(&g->extra, &error);
    error = called(g, before, error);
    xy_free(g);
    return error;
}

static int cancel(void *state, int complete)
{
    grequest_t *g = state;
    MPI_Aint before = g->extra;
    MPI_Fint error = MPI_SUCCESS, flag = complete != 0;

    g->cancel(&g->extra, &flag, &error);
    return called(g, before, error);
}

void pmpi_grequest_start_(void (*query_fn)(MPI_Aint *, MPI_Status *, MPI_Fint *),
                          void (*free_fn)(MPI_Aint *, MPI_Fint *),
                          void (*cancel_fn)(MPI_Aint *, MPI_Fint *, MPI_Fint *), MPI_Aint *extra,
                          MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made = MPI_REQUEST_NULL;
    grequest_t *g = xy_malloc(sizeof *g);
    int error;

    if (!g) {
        fortran_return(ierror, mpi_error_memory(NULL, "a request"));
        return;
    }
    *g = (grequest_t){query_fn, free_fn, cancel_fn, *extra, extra};
    error = at_grequest_start(HERE, query, free_state, cancel, g, &made);
    if (error != MPI_SUCCESS)
        xy_free(g);
    *request = mpi_handle_to_int(made);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(grequest_start, void (*)(MPI_Aint *, MPI_Status *, MPI_Fint *),
              void (*)(MPI_Aint *, MPI_Fint *), void (*)(MPI_Aint *, MPI_Fint *, MPI_Fint *),
              MPI_Aint *, MPI_Fint *, MPI_Fint *)

/* ---- Data representations: they stay until the end ---- */

typedef void(convert_t)(void *userbuf, MPI_Fint *datatype, MPI_Fint *count, void *filebuf,
                        MPI_Offset *position, MPI_Aint *extra, MPI_Fint *ierror);
typedef void(convert_c_t)(void *userbuf, MPI_Fint *datatype, MPI_Count *count, void *filebuf,
                          MPI_Offset *position, MPI_Aint *extra, MPI_Fint *ierror);
typedef void(extent_t)(MPI_Fint *datatype, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *ierror);

typedef struct {
    convert_t *read, *write;
    convert_c_t *read_c, *write_c;
    extent_t *extent;
    MPI_Aint extra;
} datarep_t;

static int convert(datarep_t *d, convert_t *fn, void *userbuf, MPI_Datatype datatype, int count,
                   void *filebuf, MPI_Offset position)
{
    MPI_Fint error = MPI_SUCCESS, type = mpi_handle_to_int(datatype);

    fn(userbuf, &type, &count, filebuf, &position, &d->extra, &error);
    return error;
}

static int convert_c(datarep_t *d, convert_c_t *fn, void *userbuf, MPI_Datatype datatype,
                     MPI_Count count, void *filebuf, MPI_Offset position)
{
    MPI_Fint error = MPI_SUCCESS, type = mpi_handle_to_int(datatype);

    fn(userbuf, &type, &count, filebuf, &position, &d->extra, &error);
    return error;
}

static int read_fn(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,
                   MPI_Offset position, void *state)
{
    datarep_t *d = state;

    return convert(d, d->read, userbuf, datatype, count, filebuf, position);
}

static int write_fn(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,
                    MPI_Offset position, void *state)
{
    datarep_t *d = state;

    return convert(d, d->write, userbuf, datatype, count, filebuf, position);
}

static int read_c_fn(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf,
                     MPI_Offset position, void *state)
{
    datarep_t *d = state;

    return convert_c(d, d->read_c, userbuf, datatype, count, filebuf, position);
}

static int write_c_fn(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf,
                      MPI_Offset position, void *state)
{
    datarep_t *d = state;

    return convert_c(d, d->write_c, userbuf, datatype, count, filebuf, position);
}

static int extent_fn(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    datarep_t *d = state;
    MPI_Fint error = MPI_SUCCESS, type = mpi_handle_to_int(datatype);

    d->extent(&type, extent, &d->extra, &error);
    return error;
}

/* No conversion: a name only; the calls below know it. */
void mpi_conversion_fn_null_(void) {}

void mpi_conversion_fn_null_c_(void) {}

static void ended(datarep_t *d, int error, char *name, MPI_Fint *ierror)
{
    if (error != MPI_SUCCESS)
        xy_free(d);
    xy_free(name);
    fortran_return(ierror, error);
}

void pmpi_register_datarep_(const char *datarep, convert_t *read, convert_t *write,
                            extent_t *extent, const MPI_Aint *extra, MPI_Fint *ierror,
                            size_t length)
{
    convert_t *none = (convert_t *)(void (*)(void))mpi_conversion_fn_null_;
    char *name = fortran_text(datarep, length);
    datarep_t *d = xy_malloc(sizeof *d);

    if (!d) {
        ended(NULL, mpi_error_memory(NULL, "a data representation"), name, ierror);
        return;
    }
    *d = (datarep_t){.read = read, .write = write, .extent = extent, .extra = *extra};
    ended(d,
          at_register_datarep(HERE, name, read == none ? MPI_CONVERSION_FN_NULL : read_fn,
                              write == none ? MPI_CONVERSION_FN_NULL : write_fn, extent_fn, d),
          name, ierror);
}
FORTRAN_ALIAS(register_datarep, const char *, convert_t *, convert_t *, extent_t *,
              const MPI_Aint *, MPI_Fint *, size_t)

void pmpi_register_datarep_c_(const char *datarep, convert_c_t *read, convert_c_t *write,
                              extent_t *extent, const MPI_Aint *extra, MPI_Fint *ierror,
                              size_t length)
{
    convert_c_t *none = (convert_c_t *)(void (*)(void))mpi_conversion_fn_null_c_;
    char *name = fortran_text(datarep, length);
    datarep_t *d = xy_malloc(sizeof *d);

    if (!d) {
        ended(NULL, mpi_error_memory(NULL, "a data representation"), name, ierror);
        return;
    }
    *d = (datarep_t){.read_c = read, .write_c = write, .extent = extent, .extra = *extra};
    ended(d,
          at_register_datarep_c(HERE, name, read == none ? MPI_CONVERSION_FN_NULL_C : read_c_fn,
                                write == none ? MPI_CONVERSION_FN_NULL_C : write_c_fn, extent_fn,
                                d),
          name, ierror);
}
FORTRAN_ALIAS(register_datarep_c, const char *, convert_c_t *, convert_c_t *, extent_t *,
              const MPI_Aint *, MPI_Fint *, size_t)
#pragma GCC visibility pop
