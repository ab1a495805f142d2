/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions inside the C libraries of other MPIs that their C++ interfaces (libmpi_cxx.so.40,
 * libmpichcxx.so.12) use. They stay the installed ones: their classes call functions of C, and
 * these here where a function of the program is one of C++. Such a function is called through one
 * of the C++ library, which gets it as an argument.
 */
#include "mpi/abi/abi.h"

#include <stdio.h>
#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC visibility push(default)

#define HERE __builtin_return_address(0)

#ifdef ABI_OPENMPI

/* ---- Operations ---- */

typedef void(intercept_fn)(void *in, void *inout, int *length, F_Datatype *type, mpi_any_fn *fn);

static intercept_fn *intercept;

static void apply_op(mpi_any_fn *fn, void *in, void *inout, void *length, MPI_Datatype type)
{
    F_Datatype handle = datatype_out(type);

    intercept(in, inout, length, &handle, fn);
}

/* The operation was made with the function of the C++ library. */
void ompi_op_set_cxx_callback(F_Op op, MPI_User_function *fn)
{
    intercept = (intercept_fn *)xylem_mpi_services.op_set_function(op_in(op), fn);
    xylem_mpi_services.op_set_through(op_in(op), apply_op);
}

/* ---- Attributes: the functions and the extra state are those of the C++ library ---- */

/* Defined in callbacks.c. */
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                            MPI_Comm_delete_attr_function *delete, int *keyval, void *extra);
int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy,
                            MPI_Type_delete_attr_function *delete, int *keyval, void *extra);
int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *delete,
                           int *keyval, void *extra);

int ompi_attr_create_keyval(int kind, mpi_any_fn *copy, mpi_any_fn *delete, int *keyval,
                            void *extra, int flags, void *bindings_extra)
{
    enum { COMM = 1, TYPE = 2 };

    (void)flags, (void)bindings_extra;
    if (kind == COMM)
        return PMPI_Comm_create_keyval((MPI_Comm_copy_attr_function *)copy,
                                       (MPI_Comm_delete_attr_function *)delete, keyval, extra);
    if (kind == TYPE)
        return PMPI_Type_create_keyval((MPI_Type_copy_attr_function *)copy,
                                       (MPI_Type_delete_attr_function *)delete, keyval, extra);
    return PMPI_Win_create_keyval((MPI_Win_copy_attr_function *)copy,
                                  (MPI_Win_delete_attr_function *)delete, keyval, extra);
}

/* ---- Error handlers: the C++ library writes into the object who calls the function ---- */

typedef void(dispatch_fn)(void *object, int *code, const char *message, mpi_any_fn *fn);

typedef struct {
    void *own; /* Xylem's handle: an object as abi_handle_in reads it */
    void *unused[ABI_PROXY_WORDS - 2];
    dispatch_fn *dispatch;
} proxy_t;

static const proxy_t *proxies[3]; /* by kind; the dispatcher of a kind is always the same */

#define DISPATCH(kind, handle, index)                                                              \
    static void dispatch_##kind(mpi_any_fn *fn, void *object, int *code)                           \
    {                                                                                              \
        F_##handle foreign = kind##_out((MPI_##handle)object);                                     \
        int error = error_out(*code);                                                              \
                                                                                                   \
        proxies[index]->dispatch(&foreign, &error, NULL, fn);                                      \
        *code = error_in(error);                                                                   \
    }

DISPATCH(comm, Comm, 0)
DISPATCH(win, Win, 1)
DISPATCH(file, File, 2)

void *ompi_errhandler_create(int kind, mpi_any_fn *fn, int language)
{
    static mpi_errhandler_through_fn *const through[3] = {dispatch_comm, dispatch_win,
                                                          dispatch_file};
    static int made;
    proxy_t *proxy;
    MPI_Errhandler own = MPI_ERRHANDLER_NULL;

    (void)language;
    if (made == ABI_PROXIES) {
        fprintf(stderr, "MPI: more than %d error handlers of C++ are not supported\n", ABI_PROXIES);
        xylem_mpi_table.Abort(HERE, MPI_COMM_WORLD, 1);
        abort();
    }
    if (kind == 1)
        xylem_mpi_table.Comm_create_errhandler(HERE, (MPI_Comm_errhandler_function *)fn, &own);
    else if (kind == 2)
        xylem_mpi_table.Win_create_errhandler(HERE, (MPI_Win_errhandler_function *)fn, &own);
    else
        xylem_mpi_table.File_create_errhandler(HERE, (MPI_File_errhandler_function *)fn, &own);
    xylem_mpi_services.errhandler_set_through(own, through[kind - 1]);
    proxy = (proxy_t *)(void *)(abi_proxies + (ptrdiff_t)made++ * ABI_PROXY_WORDS);
    proxy->own = own;
    proxies[kind - 1] = proxy;
    return proxy;
}

/* The C++ library found an argument that is wrong. */
int ompi_errhandler_invoke(void *errhandler, void *object, int kind, int code, const char *message)
{
    (void)errhandler, (void)object, (void)kind, (void)message;
    return error_out(xylem_mpi_table.Comm_call_errhandler(HERE, MPI_COMM_WORLD, error_in(code)));
}

/* ---- Data: a list that the C++ library appends to, and tables of codes that have no entry ---- */

typedef struct list_item {
    void *class, *references;
    struct list_item *next, *before;
    void *is_free;
} list_item_t;

struct {
    void *class, *references;
    list_item_t end;
    size_t length;
} ompi_registered_datareps = {
    .end = {.next = &ompi_registered_datareps.end, .before = &ompi_registered_datareps.end}};
void *ompi_errcodes_intern[16];
int ompi_errcode_intern_lastused;

#else

/* ---- Operations ---- */

typedef void(op_proxy_fn)(void *in, void *inout, int length, F_Datatype type, mpi_any_fn *fn);

static op_proxy_fn *op_proxy;

static void apply_op(mpi_any_fn *fn, void *in, void *inout, void *length, MPI_Datatype type)
{
    op_proxy(in, inout, *(int *)length, datatype_out(type), fn);
}

void MPII_Op_set_cxx(F_Op op, mpi_any_fn *proxy)
{
    op_proxy = (op_proxy_fn *)proxy;
    xylem_mpi_services.op_set_through(op_in(op), apply_op);
}

/* ---- Attributes ---- */

typedef int(copy_proxy_fn)(mpi_any_fn *fn, int object, int keyval, void *extra, int what,
                           void *value, void **copy_p, int *flag_p);
typedef int(delete_proxy_fn)(mpi_any_fn *fn, int object, int keyval, int what, void *value,
                             void *extra);

static copy_proxy_fn *copy_proxies[3];
static delete_proxy_fn *delete_proxies[3];

#define ATTRIBUTE(kind, handle, attributes)                                                        \
    static int copy_##kind(mpi_any_fn *fn, void *object, int keyval, void *extra, void *value,     \
                           void **copy_p, int *flag_p)                                             \
    {                                                                                              \
        return error_in(copy_proxies[attributes](fn, kind##_out((MPI_##handle)object),             \
                                                 keyval_out(keyval), extra, 0, value, copy_p,      \
                                                 flag_p));                                         \
    }                                                                                              \
    static int delete_##kind(mpi_any_fn *fn, void *object, int keyval, void *value, void *extra)   \
    {                                                                                              \
        return error_in(delete_proxies[attributes](fn, kind##_out((MPI_##handle)object),           \
                                                   keyval_out(keyval), 0, value, extra));          \
    }                                                                                              \
    static const mpi_attr_through_t through_##kind = {copy_##kind, delete_##kind};

ATTRIBUTE(comm, Comm, XMPI_ATTR_COMM)
ATTRIBUTE(datatype, Datatype, XMPI_ATTR_TYPE)
ATTRIBUTE(win, Win, XMPI_ATTR_WIN)

/* For the key that was just made. */
void MPII_Keyval_set_proxy(int keyval, copy_proxy_fn *copy, delete_proxy_fn *delete)
{
    static const mpi_attr_through_t *const through[3] = {
        [XMPI_ATTR_COMM] = &through_comm,
        [XMPI_ATTR_TYPE] = &through_datatype,
        [XMPI_ATTR_WIN] = &through_win,
    };
    const mpi_attr_kind_t kind = abi_last_keyval;

    copy_proxies[kind] = copy;
    delete_proxies[kind] = delete;
    if (abi_is_of_fortran((void *)copy))
        xylem_mpi_services.keyval_set_language(kind, keyval_in(keyval), XMPI_FROM_FORTRAN);
    xylem_mpi_services.keyval_set_through(kind, keyval_in(keyval), through[kind]);
}

/* ---- Error handlers ---- */

typedef void(call_fn)(int kind, void *object, int *code, mpi_any_fn *fn);

static call_fn *call;

#define DISPATCH(kind, handle, number)                                                             \
    static void dispatch_##kind(mpi_any_fn *fn, void *object, int *code)                           \
    {                                                                                              \
        F_##handle foreign = kind##_out((MPI_##handle)object);                                     \
        int error = error_out(*code);                                                              \
                                                                                                   \
        call(number, &foreign, &error, fn);                                                        \
        *code = error_in(error);                                                                   \
    }

DISPATCH(comm, Comm, 0)
DISPATCH(file, File, 1)
DISPATCH(win, Win, 2)

/* For the error handler that was just made. */
void MPII_Errhandler_set_cxx(F_Errhandler errhandler, mpi_any_fn *fn)
{
    call = (call_fn *)fn;
    xylem_mpi_services.errhandler_set_through(errhandler_in(errhandler),
                                              abi_last_errhandler == 'c'   ? dispatch_comm
                                              : abi_last_errhandler == 'f' ? dispatch_file
                                                                           : dispatch_win);
}
#endif
#pragma GCC visibility pop
