/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the program: operations, error handlers, attributes, generalized requests and data
 * representations. Xylem calls them through functions here, which convert what they get.
 */
#include <stdlib.h>

#include "mpi/abi/abi.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

mpi_attr_kind_t abi_last_keyval;
char abi_last_errhandler;

#pragma GCC visibility push(default)

#define HERE __builtin_return_address(0)
#define ABI_ALIAS(name, ...)                                                                       \
    int MPI_##name(__VA_ARGS__) __attribute__((weak, alias("PMPI_" #name)));

/* ---- Operations ---- */

static void apply_op(mpi_any_fn *fn, void *in, void *inout, void *length, MPI_Datatype type)
{
    F_Datatype handle = datatype_out(type);

    ((void (*)(void *, void *, void *, F_Datatype *))fn)(in, inout, length, &handle);
}

#define OP(name, type)                                                                             \
    int PMPI_##name(type *fn, int commute, F_Op *op)                                               \
    {                                                                                              \
        MPI_Op made = MPI_OP_NULL;                                                                 \
        int error = xylem_mpi_table.name(HERE, fn, commute, op ? &made : NULL);                    \
                                                                                                   \
        if (error == MPI_SUCCESS && op) {                                                          \
            xylem_mpi_services.op_set_through(made, apply_op);                                     \
            *op = op_out(made);                                                                    \
        }                                                                                          \
        return error_out(error);                                                                   \
    }                                                                                              \
    ABI_ALIAS(name, type *fn, int commute, F_Op *op)

OP(Op_create, MPI_User_function)
OP(Op_create_c, MPI_User_function_c)

/* ---- Error handlers ---- */

#define ERRHANDLER(name, kind, handle, type)                                                       \
    static void handle_##kind##_error(mpi_any_fn *fn, void *object, int *code)                     \
    {                                                                                              \
        F_##handle foreign = kind##_out((MPI_##handle)object);                                     \
        int error = error_out(*code);                                                              \
                                                                                                   \
        ((void (*)(F_##handle *, int *, ...))fn)(&foreign, &error);                                \
        *code = error_in(error);                                                                   \
    }                                                                                              \
    int PMPI_##name(type *fn, F_Errhandler *errhandler)                                            \
    {                                                                                              \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                 \
        int error = xylem_mpi_table.name(HERE, fn, errhandler ? &made : NULL);                     \
                                                                                                   \
        if (error == MPI_SUCCESS && errhandler) {                                                  \
            xylem_mpi_services.errhandler_set_through(made, handle_##kind##_error);                \
            *errhandler = errhandler_out(made);                                                    \
            abi_last_errhandler = #kind[0];                                                        \
        }                                                                                          \
        return error_out(error);                                                                   \
    }                                                                                              \
    ABI_ALIAS(name, type *fn, F_Errhandler *errhandler)

ERRHANDLER(Comm_create_errhandler, comm, Comm, MPI_Comm_errhandler_function)
ERRHANDLER(File_create_errhandler, file, File, MPI_File_errhandler_function)
ERRHANDLER(Session_create_errhandler, session, Session, MPI_Session_errhandler_function)
ERRHANDLER(Win_create_errhandler, win, Win, MPI_Win_errhandler_function)

int PMPI_Errhandler_create(MPI_Comm_errhandler_function *fn, F_Errhandler *errhandler)
    __attribute__((alias("PMPI_Comm_create_errhandler")));
ABI_ALIAS(Errhandler_create, MPI_Comm_errhandler_function *fn, F_Errhandler *errhandler)

/* ---- Attributes ---- */

#define KEYVAL(name, kind, handle, attributes, copy_type, delete_type)                             \
    static int copy_##kind(mpi_any_fn *fn, void *object, int keyval, void *extra, void *value,     \
                           void **copy_p, int *flag_p)                                             \
    {                                                                                              \
        return error_in(((int (*)(F_##handle, int, void *, void *, void *, int *))fn)(             \
            kind##_out((MPI_##handle)object), keyval_out(keyval), extra, value, copy_p, flag_p));  \
    }                                                                                              \
    static int delete_##kind(mpi_any_fn *fn, void *object, int keyval, void *value, void *extra)   \
    {                                                                                              \
        return error_in(((int (*)(F_##handle, int, void *, void *))fn)(                            \
            kind##_out((MPI_##handle)object), keyval_out(keyval), value, extra));                  \
    }                                                                                              \
    int PMPI_##name(copy_type *copy, delete_type *delete, int *keyval, void *extra)                \
    {                                                                                              \
        static const mpi_attr_through_t through = {copy_##kind, delete_##kind};                    \
        int made = MPI_KEYVAL_INVALID;                                                             \
        int error = xylem_mpi_table.name(HERE, (copy_type *)abi_copy_in((mpi_any_fn *)copy),       \
                                         (delete_type *)abi_delete_in((mpi_any_fn *)delete),       \
                                         keyval ? &made : NULL, extra);                            \
                                                                                                   \
        if (error == MPI_SUCCESS && keyval) {                                                      \
            xylem_mpi_services.keyval_set_through(attributes, made, &through);                     \
            *keyval = keyval_out(made);                                                            \
            abi_last_keyval = attributes;                                                          \
        }                                                                                          \
        return error_out(error);                                                                   \
    }                                                                                              \
    ABI_ALIAS(name, copy_type *copy, delete_type *delete, int *keyval, void *extra)

KEYVAL(Comm_create_keyval, comm, Comm, XMPI_ATTR_COMM, MPI_Comm_copy_attr_function,
       MPI_Comm_delete_attr_function)
KEYVAL(Type_create_keyval, datatype, Datatype, XMPI_ATTR_TYPE, MPI_Type_copy_attr_function,
       MPI_Type_delete_attr_function)
KEYVAL(Win_create_keyval, win, Win, XMPI_ATTR_WIN, MPI_Win_copy_attr_function,
       MPI_Win_delete_attr_function)

int PMPI_Keyval_create(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete,
                       int *keyval, void *extra) __attribute__((alias("PMPI_Comm_create_keyval")));
ABI_ALIAS(Keyval_create, MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete,
          int *keyval, void *extra)

/* ---- Generalized requests ---- */

typedef struct {
    int (*query)(void *extra, F_Status *status);
    int (*free)(void *extra);
    int (*cancel)(void *extra, int complete);
    void *extra;
    bool is_fortran; /* they are subroutines, whose last argument is the error */
} grequest_t;

static grequest_t *last_grequest;

void abi_last_grequest_is_fortran(void)
{
    last_grequest->is_fortran = true;
}

/* Query function of a generalized request: call the program's with a status of its own MPI. */
static int query(void *state, MPI_Status *status)
{
    const grequest_t *g = state;
    F_Status foreign;
    int code = 0;

    /* The function sets what it wants; the rest stays what it is in an empty status. */
    abi_status_empty(&foreign);
    foreign.MPI_ERROR = error_out(status->MPI_ERROR);
    if (g->is_fortran)
        ((void (*)(void *, F_Status *, int *))g->query)(g->extra, &foreign, &code);
    else
        code = g->query(g->extra, &foreign);
    status_in(&foreign, status);
    return error_in(code);
}

static int free_state(void *state)
{
    grequest_t *g = state;
    int code = 0;

    if (g->is_fortran)
        ((void (*)(void *, int *))g->free)(g->extra, &code);
    else
        code = g->free(g->extra);
    free(g);
    return error_in(code);
}

static int cancel(void *state, int complete)
{
    const grequest_t *g = state;
    int code = 0;

    if (g->is_fortran)
        ((void (*)(void *, int *, int *))g->cancel)(g->extra, &complete, &code);
    else
        code = g->cancel(g->extra, complete);
    return error_in(code);
}

int PMPI_Grequest_start(int (*query_fn)(void *, F_Status *), int (*free_fn)(void *),
                        int (*cancel_fn)(void *, int), void *extra, F_Request *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    grequest_t *g = abi_list_large(1, sizeof *g);
    int error;

    *g = (grequest_t){query_fn, free_fn, cancel_fn, extra, false};
    last_grequest = g;
    error =
        xylem_mpi_table.Grequest_start(HERE, query_fn ? query : NULL, free_fn ? free_state : NULL,
                                       cancel_fn ? cancel : NULL, g, request ? &made : NULL);
    if (error == MPI_SUCCESS && request)
        *request = request_out(made);
    else
        free(g);
    return error_out(error);
}
ABI_ALIAS(Grequest_start, int (*)(void *, F_Status *), int (*)(void *), int (*)(void *, int),
          void *, F_Request *)

/* ---- Data representations: they stay until the end ---- */

typedef int(convert_fn)(void *userbuf, F_Datatype type, int count, void *filebuf,
                        MPI_Offset position, void *extra);
typedef int(convert_c_fn)(void *userbuf, F_Datatype type, MPI_Count count, void *filebuf,
                          MPI_Offset position, void *extra);
typedef int(extent_fn)(F_Datatype type, MPI_Aint *extent, void *extra);

typedef struct {
    convert_fn *read, *write;
    convert_c_fn *read_c, *write_c;
    extent_fn *extent;
    void *extra;
} datarep_t;

#define CONVERT(name, number)                                                                      \
    static int convert_##name(void *userbuf, MPI_Datatype type, number count, void *filebuf,       \
                              MPI_Offset position, void *state)                                    \
    {                                                                                              \
        const datarep_t *d = state;                                                                \
                                                                                                   \
        return error_in(d->name(userbuf, datatype_out(type), count, filebuf, position, d->extra)); \
    }

CONVERT(read, int)
CONVERT(write, int)
CONVERT(read_c, MPI_Count)
CONVERT(write_c, MPI_Count)

static int extent(MPI_Datatype type, MPI_Aint *extent_p, void *state)
{
    const datarep_t *d = state;

    return error_in(d->extent(datatype_out(type), extent_p, d->extra));
}

/* Subroutines of Fortran, which the installed library gives as they are; in translated_callbacks.c.
 */
int abi_fortran_datarep(const void *site, const char *name, void *read, void *write, void *of_file,
                        const MPI_Aint *extra) __attribute__((visibility("hidden")));

/* MPI_CONVERSION_FN_NULL is NULL everywhere. */
int PMPI_Register_datarep(const char *name, convert_fn *read, convert_fn *write, extent_fn *of_file,
                          void *extra)
{
    datarep_t *d;
    int error;

    if (abi_is_of_fortran(HERE))
        return abi_fortran_datarep(HERE, name, (void *)read, (void *)write, (void *)of_file, extra);
    d = abi_list_large(1, sizeof *d);
    *d = (datarep_t){.read = read, .write = write, .extent = of_file, .extra = extra};
    error =
        xylem_mpi_table.Register_datarep(HERE, name, read ? convert_read : NULL,
                                         write ? convert_write : NULL, of_file ? extent : NULL, d);
    if (error != MPI_SUCCESS)
        free(d);
    return error_out(error);
}
ABI_ALIAS(Register_datarep, const char *, convert_fn *, convert_fn *, extent_fn *, void *)

int PMPI_Register_datarep_c(const char *name, convert_c_fn *read, convert_c_fn *write,
                            extent_fn *of_file, void *extra)
{
    datarep_t *d = abi_list_large(1, sizeof *d);
    int error;

    *d = (datarep_t){.read_c = read, .write_c = write, .extent = of_file, .extra = extra};
    error = xylem_mpi_table.Register_datarep_c(HERE, name, read ? convert_read_c : NULL,
                                               write ? convert_write_c : NULL,
                                               of_file ? extent : NULL, d);
    if (error != MPI_SUCCESS)
        free(d);
    return error_out(error);
}
ABI_ALIAS(Register_datarep_c, const char *, convert_c_fn *, convert_c_fn *, extent_fn *, void *)
#pragma GCC visibility pop
