/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for Fortran whose arguments are not those of C, or that take functions of the program.
 */
#include "mpi/abi/translated_fortran.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define HERE __builtin_return_address(0)

char *fortran_text(const char *text, size_t length)
{
    char *made;

    length = fortran_length(length);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    for (; length > 0 && text[0] == ' '; length--)
        text++;
    made = abi_list_large((long)length + 1, 1);
    memcpy(made, text, length);
    made[length] = '\0';
    return made;
}

void fortran_text_back(char *text, size_t length, const char *from)
{
    size_t size = strnlen(from, fortran_length(length));

    memcpy(text, from, size);
    memset(text + size, ' ', fortran_length(length) - size);
}

void fortran_missing(const char *name)
{
    fprintf(stderr,
            "MPI: %s of Fortran programs for another MPI is not supported; compile the "
            "program with the mpifort of Xylem\n",
            name);
    xylem_mpi_table.Abort(HERE, MPI_COMM_WORLD, 1);
    abort();
}

#pragma GCC visibility push(default)

void pmpi_init_(MPI_Fint *ierror)
{
    fortran_return(ierror, error_out(xylem_mpi_table.Init(HERE, NULL, NULL)));
}
FORTRAN_ALIAS(init)

void pmpi_init_thread_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    int level = 0;
    int error = xylem_mpi_table.Init_thread(HERE, NULL, NULL, thread_in(*required), &level);

    if (error == MPI_SUCCESS)
        *provided = thread_out(level);
    fortran_return(ierror, error_out(error));
}
FORTRAN_ALIAS(init_thread)

void pmpi_pcontrol_(const MPI_Fint *level)
{
    xylem_mpi_table.Pcontrol(*level);
}
FORTRAN_ALIAS(pcontrol)

/* A call that the compiler cannot see through, so that a variable is in memory. */
void pmpi_f_sync_reg_(const void *variable)
{
    (void)variable;
}
FORTRAN_ALIAS(f_sync_reg)

void pmpi_get_version_(MPI_Fint *version, MPI_Fint *subversion, MPI_Fint *ierror)
{
    *version = F_VERSION;
    *subversion = F_SUBVERSION;
    fortran_return(ierror, 0);
}
FORTRAN_ALIAS(get_version)

/* Lengths in Fortran do not count a terminating zero. */
void pmpi_info_get_(const MPI_Fint *info, const char *key, const MPI_Fint *valuelen, char *value,
                    MPI_Fint *flag, MPI_Fint *ierror, size_t key_length, size_t value_length)
{
    char *c_key = fortran_text(key, key_length), c_value[MPI_MAX_INFO_VAL];
    int most = *valuelen < MPI_MAX_INFO_VAL ? *valuelen : MPI_MAX_INFO_VAL - 1;
    int error = xylem_mpi_table.Info_get(HERE, (MPI_Info)abi_info_from_fortran(*info), c_key, most,
                                         c_value, flag);

    if (error == MPI_SUCCESS && *flag)
        fortran_text_back(value, value_length, c_value);
    abi_list_free(c_key);
    fortran_return(ierror, error_out(error));
}
FORTRAN_ALIAS(info_get)

void pmpi_buffer_detach_(void *buffer, MPI_Fint *size, MPI_Fint *ierror)
{
    void *address;

    (void)buffer;
    fortran_return(ierror, error_out(xylem_mpi_table.Buffer_detach(HERE, (void *)&address, size)));
}
FORTRAN_ALIAS(buffer_detach)

/* ---- Operations and error handlers ---- */

static void apply_op(mpi_any_fn *fn, void *in, void *inout, void *length, MPI_Datatype type)
{
    MPI_Fint number = abi_to_fortran(type);

    ((void (*)(void *, void *, void *, MPI_Fint *))fn)(in, inout, length, &number);
}

static void handle_error(mpi_any_fn *fn, void *handle, int *code)
{
    MPI_Fint number = abi_to_fortran(handle), error = error_out(*code);

    ((void (*)(MPI_Fint *, MPI_Fint *))fn)(&number, &error);
    *code = error_in(error);
}

void pmpi_op_create_(MPI_User_function *fn, const MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror)
{
    MPI_Op made = MPI_OP_NULL;
    int error = xylem_mpi_table.Op_create(HERE, fn, *commute, &made);

    if (error == MPI_SUCCESS)
        xylem_mpi_services.op_set_through(made, apply_op);
    *op = abi_to_fortran(made);
    fortran_return(ierror, error_out(error));
}
FORTRAN_ALIAS(op_create)

#define ERRHANDLER(name, function, type)                                                           \
    void pmpi_##name##_(type *fn, MPI_Fint *errhandler, MPI_Fint *ierror)                          \
    {                                                                                              \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                 \
        int error = xylem_mpi_table.function(HERE, fn, &made);                                     \
                                                                                                   \
        if (error == MPI_SUCCESS)                                                                  \
            xylem_mpi_services.errhandler_set_through(made, handle_error);                         \
        *errhandler = abi_to_fortran(made);                                                        \
        fortran_return(ierror, error_out(error));                                                  \
    }                                                                                              \
    FORTRAN_ALIAS(name)

ERRHANDLER(comm_create_errhandler, Comm_create_errhandler, MPI_Comm_errhandler_function)
ERRHANDLER(errhandler_create, Comm_create_errhandler, MPI_Comm_errhandler_function)
ERRHANDLER(file_create_errhandler, File_create_errhandler, MPI_File_errhandler_function)
ERRHANDLER(win_create_errhandler, Win_create_errhandler, MPI_Win_errhandler_function)

/* ---- Attributes ---- */

typedef void(copy_fn)(MPI_Fint *, MPI_Fint *, void *, void *, void *, MPI_Fint *, MPI_Fint *);
typedef void(delete_fn)(MPI_Fint *, MPI_Fint *, void *, void *, MPI_Fint *);

#define THROUGH(name, integer)                                                                     \
    static int copy_##name(mpi_any_fn *fn, void *handle, int keyval, void *extra_state,            \
                           void *value, void **copy_p, int *flag_p)                                \
    {                                                                                              \
        MPI_Fint object = abi_to_fortran(handle), key = keyval_out(keyval), error = 0;             \
        integer extra = (integer)(MPI_Aint)extra_state, from = (integer)(MPI_Aint)value, to = 0;   \
                                                                                                   \
        ((copy_fn *)fn)(&object, &key, &extra, &from, &to, flag_p, &error);                        \
        *copy_p = (void *)(MPI_Aint)to;                                                            \
        return error_in(error);                                                                    \
    }                                                                                              \
    static int delete_##name(mpi_any_fn *fn, void *handle, int keyval, void *value,                \
                             void *extra_state)                                                    \
    {                                                                                              \
        MPI_Fint object = abi_to_fortran(handle), key = keyval_out(keyval), error = 0;             \
        integer extra = (integer)(MPI_Aint)extra_state, old = (integer)(MPI_Aint)value;            \
                                                                                                   \
        ((delete_fn *)fn)(&object, &key, &old, &extra, &error);                                    \
        return error_in(error);                                                                    \
    }                                                                                              \
    static const mpi_attr_through_t through_##name = {copy_##name, delete_##name};

THROUGH(wide, MPI_Aint)
THROUGH(narrow, MPI_Fint)

#define KEYVAL(name, function, copy_type, delete_type, kind, integer, language, through)           \
    void pmpi_##name##_(copy_type *copy, delete_type *delete, MPI_Fint *keyval,                    \
                        const integer *extra, MPI_Fint *ierror)                                    \
    {                                                                                              \
        int made = MPI_KEYVAL_INVALID;                                                             \
        int error = xylem_mpi_table.function(HERE, copy, delete, &made, (void *)(MPI_Aint)*extra); \
                                                                                                   \
        if (error == MPI_SUCCESS) {                                                                \
            xylem_mpi_services.keyval_set_language(kind, made, language);                          \
            xylem_mpi_services.keyval_set_through(kind, made, &through);                           \
            *keyval = keyval_out(made);                                                            \
        }                                                                                          \
        fortran_return(ierror, error_out(error));                                                  \
    }                                                                                              \
    FORTRAN_ALIAS(name)

KEYVAL(comm_create_keyval, Comm_create_keyval, MPI_Comm_copy_attr_function,
       MPI_Comm_delete_attr_function, XMPI_ATTR_COMM, MPI_Aint, XMPI_FROM_FORTRAN, through_wide)
KEYVAL(type_create_keyval, Type_create_keyval, MPI_Type_copy_attr_function,
       MPI_Type_delete_attr_function, XMPI_ATTR_TYPE, MPI_Aint, XMPI_FROM_FORTRAN, through_wide)
KEYVAL(win_create_keyval, Win_create_keyval, MPI_Win_copy_attr_function,
       MPI_Win_delete_attr_function, XMPI_ATTR_WIN, MPI_Aint, XMPI_FROM_FORTRAN, through_wide)
KEYVAL(keyval_create, Comm_create_keyval, MPI_Comm_copy_attr_function,
       MPI_Comm_delete_attr_function, XMPI_ATTR_COMM, MPI_Fint, XMPI_FROM_FORTRAN_1, through_narrow)

#define SET_ATTR(name, function, handle, kind, integer, language)                                  \
    void pmpi_##name##_(const MPI_Fint *object, const MPI_Fint *keyval, const integer *value,      \
                        MPI_Fint *ierror)                                                          \
    {                                                                                              \
        int error;                                                                                 \
                                                                                                   \
        xylem_mpi_services.attributes_language(language);                                          \
        error = xylem_mpi_table.function(HERE, (handle)abi_##kind##_from_fortran(*object),         \
                                         keyval_in(*keyval), (void *)(MPI_Aint)*value);            \
        xylem_mpi_services.attributes_language(XMPI_FROM_C);                                       \
        fortran_return(ierror, error_out(error));                                                  \
    }                                                                                              \
    FORTRAN_ALIAS(name)

SET_ATTR(comm_set_attr, Comm_set_attr, MPI_Comm, comm, MPI_Aint, XMPI_FROM_FORTRAN)
SET_ATTR(type_set_attr, Type_set_attr, MPI_Datatype, datatype, MPI_Aint, XMPI_FROM_FORTRAN)
SET_ATTR(win_set_attr, Win_set_attr, MPI_Win, win, MPI_Aint, XMPI_FROM_FORTRAN)
SET_ATTR(attr_put, Comm_set_attr, MPI_Comm, comm, MPI_Fint, XMPI_FROM_FORTRAN_1)

/* Predefined attributes: C gets the address of the number, Fortran the number. */
static MPI_Aint attribute(int keyval, void *value)
{
    switch (keyval) {
    case MPI_IO:
    case MPI_HOST:
        return rank_out(*(const int *)value);
    case MPI_LASTUSEDCODE:
        return *(const int *)value - MPI_ERR_LASTCODE + F_ERR_LASTCODE;
    case MPI_WIN_CREATE_FLAVOR:
        return flavor_out(*(const int *)value);
    case MPI_WIN_MODEL:
        return model_out(*(const int *)value);
    case MPI_TAG_UB:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_UNIVERSE_SIZE:
    case MPI_APPNUM:
    case MPI_WIN_DISP_UNIT:
        return *(const int *)value;
    case MPI_WIN_SIZE:
        return *(const MPI_Aint *)value;
    default:
        return (MPI_Aint)value;
    }
}

#define GET_ATTR(name, function, handle, kind, integer)                                            \
    int abi_##name(MPI_Fint object, MPI_Fint keyval, MPI_Aint *value, MPI_Fint *flag)              \
    {                                                                                              \
        int own = fortran_keyval_in(keyval), error;                                                \
        void *found = NULL;                                                                        \
                                                                                                   \
        xylem_mpi_services.attributes_language(XMPI_FROM_FORTRAN);                                 \
        error = xylem_mpi_table.function(HERE, (handle)abi_##kind##_from_fortran(object), own,     \
                                         (void *)&found, flag);                                    \
        xylem_mpi_services.attributes_language(XMPI_FROM_C);                                       \
        if (error == MPI_SUCCESS && *flag)                                                         \
            *value = attribute(own, found);                                                        \
        return error_out(error);                                                                   \
    }                                                                                              \
    void pmpi_##name##_(const MPI_Fint *object, const MPI_Fint *keyval, integer *value,            \
                        MPI_Fint *flag, MPI_Fint *ierror)                                          \
    {                                                                                              \
        MPI_Aint found = 0;                                                                        \
        int error = abi_##name(*object, *keyval, &found, flag);                                    \
                                                                                                   \
        if (error == 0 && *flag)                                                                   \
            *value = (integer)found;                                                               \
        fortran_return(ierror, error);                                                             \
    }                                                                                              \
    FORTRAN_ALIAS(name)

GET_ATTR(comm_get_attr, Comm_get_attr, MPI_Comm, comm, MPI_Aint)
GET_ATTR(type_get_attr, Type_get_attr, MPI_Datatype, datatype, MPI_Aint)
GET_ATTR(win_get_attr, Win_get_attr, MPI_Win, win, MPI_Aint)
GET_ATTR(attr_get, Comm_get_attr, MPI_Comm, comm, MPI_Fint)

/* ---- Results that come later ---- */

static void give(void *place, MPI_Comm comm)
{
    *(MPI_Fint *)place = abi_to_fortran(comm);
}

static void started(int error, MPI_Request made, MPI_Fint *newcomm, MPI_Fint *request,
                    MPI_Fint *ierror)
{
    if (error == MPI_SUCCESS)
        xylem_mpi_services.idup_set_place(made, newcomm, give);
    *request = abi_to_fortran(made);
    fortran_return(ierror, error_out(error));
}

void pmpi_comm_idup_(const MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made = MPI_REQUEST_NULL;
    MPI_Comm unused;
    int error =
        xylem_mpi_table.Comm_idup(HERE, (MPI_Comm)abi_comm_from_fortran(*comm), &unused, &made);

    started(error, made, newcomm, request, ierror);
}
FORTRAN_ALIAS(comm_idup)

void pmpi_comm_idup_with_info_(const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *newcomm,
                               MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made = MPI_REQUEST_NULL;
    MPI_Comm unused;
    int error =
        xylem_mpi_table.Comm_idup_with_info(HERE, (MPI_Comm)abi_comm_from_fortran(*comm),
                                            (MPI_Info)abi_info_from_fortran(*info), &unused, &made);

    started(error, made, newcomm, request, ierror);
}
FORTRAN_ALIAS(comm_idup_with_info)

void pmpi_type_get_contents_(const MPI_Fint *type, const MPI_Fint *max_integers,
                             const MPI_Fint *max_addresses, const MPI_Fint *max_datatypes,
                             MPI_Fint integers[], MPI_Aint addresses[], MPI_Fint datatypes[],
                             MPI_Fint *ierror)
{
    F_Datatype few[ABI_FEW], *list = abi_list(few, *max_datatypes, sizeof *list);
    extern int PMPI_Type_get_contents(F_Datatype, int, int, int, int[], MPI_Aint[], F_Datatype[]);
    int n, count = 0, error;
    MPI_Datatype own = (MPI_Datatype)abi_datatype_from_fortran(*type);

    error = PMPI_Type_get_contents(datatype_out(own), *max_integers, *max_addresses, *max_datatypes,
                                   integers, addresses, list);
    if (error == MPI_SUCCESS)
        xylem_mpi_table.Type_get_envelope(HERE, own, &n, &n, &count, &n);
    for (int i = 0; i < count; i++)
        datatypes[i] = datatype_c2f(list[i]);
    abi_list_end(list, few);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(type_get_contents)

/* ---- MPI-1: addresses and distances in an INTEGER ---- */

static void shorten(MPI_Aint value, MPI_Fint *place, int error, MPI_Fint *ierror)
{
    if (error == MPI_SUCCESS && (value > INT_MAX || value < INT_MIN))
        error = MPI_ERR_ARG;
    if (error == MPI_SUCCESS)
        *place = (MPI_Fint)value;
    fortran_return(ierror, error_out(error));
}

void pmpi_address_(void *location, MPI_Fint *address, MPI_Fint *ierror)
{
    MPI_Aint value = 0;
    int error = xylem_mpi_table.Get_address(HERE, fortran_buffer(location), &value);

    shorten(value, address, error, ierror);
}
FORTRAN_ALIAS(address)

#define OLD_EXTENT(name, function)                                                                 \
    void pmpi_##name##_(const MPI_Fint *datatype, MPI_Fint *place, MPI_Fint *ierror)               \
    {                                                                                              \
        MPI_Aint value = 0;                                                                        \
        int error = xylem_mpi_table.function(                                                      \
            HERE, (MPI_Datatype)abi_datatype_from_fortran(*datatype), &value);                     \
                                                                                                   \
        shorten(value, place, error, ierror);                                                      \
    }                                                                                              \
    FORTRAN_ALIAS(name)

OLD_EXTENT(type_extent, Type_extent)
OLD_EXTENT(type_lb, Type_lb)
OLD_EXTENT(type_ub, Type_ub)

static void made_type(MPI_Datatype made, int error, MPI_Fint *newtype, MPI_Fint *ierror)
{
    *newtype = abi_to_fortran(made);
    fortran_return(ierror, error_out(error));
}

void pmpi_type_hvector_(const MPI_Fint *count, const MPI_Fint *blocklength, const MPI_Fint *stride,
                        const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int error = xylem_mpi_table.Type_create_hvector(
        HERE, *count, *blocklength, *stride, (MPI_Datatype)abi_datatype_from_fortran(*oldtype),
        &made);

    made_type(made, error, newtype, ierror);
}
FORTRAN_ALIAS(type_hvector)

static MPI_Aint *lengthen(const MPI_Fint from[], int count)
{
    MPI_Aint *made = abi_list_large(count > 0 ? count : 1, sizeof *made);

    for (int i = 0; i < count; i++)
        made[i] = from[i];
    return made;
}

void pmpi_type_hindexed_(const MPI_Fint *count, MPI_Fint blocklengths[],
                         const MPI_Fint displacements[], const MPI_Fint *oldtype, MPI_Fint *newtype,
                         MPI_Fint *ierror)
{
    MPI_Aint *distances = lengthen(displacements, *count);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int error = xylem_mpi_table.Type_create_hindexed(
        HERE, *count, blocklengths, distances, (MPI_Datatype)abi_datatype_from_fortran(*oldtype),
        &made);

    abi_list_free(distances);
    made_type(made, error, newtype, ierror);
}
FORTRAN_ALIAS(type_hindexed)

void pmpi_type_struct_(const MPI_Fint *count, MPI_Fint blocklengths[],
                       const MPI_Fint displacements[], const MPI_Fint types[], MPI_Fint *newtype,
                       MPI_Fint *ierror)
{
    MPI_Aint *distances = lengthen(displacements, *count);
    MPI_Datatype few[ABI_FEW], *list = abi_list(few, *count, sizeof *list);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int error;

    for (int i = 0; i < *count; i++)
        list[i] = (MPI_Datatype)abi_datatype_from_fortran(types[i]);
    error = xylem_mpi_table.Type_create_struct(HERE, *count, blocklengths, distances, list, &made);
    abi_list_end(list, few);
    abi_list_free(distances);
    made_type(made, error, newtype, ierror);
}
FORTRAN_ALIAS(type_struct)
#pragma GCC visibility pop
