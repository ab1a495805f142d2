/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions whose arguments in Fortran are not those of C: no command line, texts with lengths of
 * their own, results that come later, and the functions of MPI-1 with addresses in an INTEGER.
 */
#include <limits.h>
#include <string.h>

#include "mpi/bindings/fortran.h"
#include "mpi/bindings/fortran_calls.h"
#include "mpi/comm/comm.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC visibility push(default)

#define HERE __builtin_return_address(0)

void pmpi_init_(MPI_Fint *ierror)
{
    fortran_return(ierror, at_init(HERE, NULL, NULL));
}
FORTRAN_ALIAS(init, MPI_Fint *)

void pmpi_init_thread_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    fortran_return(ierror, at_init_thread(HERE, NULL, NULL, *required, provided));
}
FORTRAN_ALIAS(init_thread, const MPI_Fint *, MPI_Fint *, MPI_Fint *)

void pmpi_pcontrol_(const MPI_Fint *level)
{
    xylem_mpi_table.Pcontrol(*level);
}
FORTRAN_ALIAS(pcontrol, const MPI_Fint *)

/* ---- Info ---- */

void pmpi_info_create_env_(MPI_Fint *info, MPI_Fint *ierror)
{
    MPI_Info made = MPI_INFO_NULL;
    int error = at_info_create_env(HERE, 0, NULL, &made);

    *info = mpi_handle_to_int(made);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(info_create_env, MPI_Fint *, MPI_Fint *)

/* Lengths in Fortran do not count a terminating zero. */
void pmpi_info_get_(const MPI_Fint *info, const char *key, const MPI_Fint *valuelen, char *value,
                    MPI_Fint *flag, MPI_Fint *ierror, size_t key_length, size_t value_length)
{
    char *c_key = fortran_text(key, key_length), c_value[MPI_MAX_INFO_VAL];
    int most = *valuelen < MPI_MAX_INFO_VAL ? *valuelen : MPI_MAX_INFO_VAL - 1;
    int error = at_info_get(HERE, (MPI_Info)mpi_handle_from_int(*info), c_key, most, c_value, flag);

    if (error == MPI_SUCCESS && *flag)
        fortran_text_back(value, value_length, c_value);
    xy_free(c_key);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(info_get, const MPI_Fint *, const char *, const MPI_Fint *, char *, MPI_Fint *,
              MPI_Fint *, size_t, size_t)

void pmpi_info_get_string_(const MPI_Fint *info, const char *key, MPI_Fint *buflen, char *value,
                           MPI_Fint *flag, MPI_Fint *ierror, size_t key_length, size_t value_length)
{
    char *c_key = fortran_text(key, key_length), c_value[MPI_MAX_INFO_VAL] = "";
    int room = *buflen <= 0 ? 0 : *buflen < MPI_MAX_INFO_VAL ? *buflen + 1 : MPI_MAX_INFO_VAL;
    int given = room;
    int error =
        at_info_get_string(HERE, (MPI_Info)mpi_handle_from_int(*info), c_key, &room, c_value, flag);

    if (error == MPI_SUCCESS && *flag) {
        if (given > 0)
            fortran_text_back(value, value_length, c_value);
        *buflen = room - 1;
    }
    xy_free(c_key);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(info_get_string, const MPI_Fint *, const char *, MPI_Fint *, char *, MPI_Fint *,
              MPI_Fint *, size_t, size_t)

/* ---- Sessions ---- */

void pmpi_session_get_nth_pset_(const MPI_Fint *session, const MPI_Fint *info, const MPI_Fint *n,
                                MPI_Fint *pset_len, char *pset_name, MPI_Fint *ierror,
                                size_t name_length)
{
    char c_name[MPI_MAX_PSET_NAME_LEN] = "";
    int room = *pset_len <= 0                      ? 0
               : *pset_len < MPI_MAX_PSET_NAME_LEN ? *pset_len + 1
                                                   : MPI_MAX_PSET_NAME_LEN;
    int given = room;
    int error = at_session_get_nth_pset(HERE, (MPI_Session)mpi_handle_from_int(*session),
                                        (MPI_Info)mpi_handle_from_int(*info), *n, &room, c_name);

    if (error == MPI_SUCCESS) {
        if (given > 0)
            fortran_text_back(pset_name, name_length, c_name);
        *pset_len = room - 1;
    }
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(session_get_nth_pset, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *,
              MPI_Fint *, char *, MPI_Fint *, size_t)

/* ---- Detaching buffers: mpi_f08 gets the address, the other interfaces have no type for it ----
 */

#define DETACH(name, integer)                                                                      \
    void pmpi_##name##_f08_(void *address, integer *size, MPI_Fint *ierror)                        \
    {                                                                                              \
        fortran_return(ierror, at_##name(HERE, address, size));                                    \
    }                                                                                              \
    FORTRAN_ALIAS(name##_f08, void *, integer *, MPI_Fint *)                                       \
    void pmpi_##name##_(void *buffer, integer *size, MPI_Fint *ierror)                             \
    {                                                                                              \
        void *address;                                                                             \
                                                                                                   \
        (void)buffer;                                                                              \
        fortran_return(ierror, at_##name(HERE, (void *)&address, size));                           \
    }                                                                                              \
    FORTRAN_ALIAS(name, void *, integer *, MPI_Fint *)
#define DETACH_FROM(name, handle, integer)                                                         \
    void pmpi_##name##_f08_(const MPI_Fint *from, void *address, integer *size, MPI_Fint *ierror)  \
    {                                                                                              \
        fortran_return(ierror,                                                                     \
                       at_##name(HERE, (handle)mpi_handle_from_int(*from), address, size));        \
    }                                                                                              \
    FORTRAN_ALIAS(name##_f08, const MPI_Fint *, void *, integer *, MPI_Fint *)                     \
    void pmpi_##name##_(const MPI_Fint *from, void *buffer, integer *size, MPI_Fint *ierror)       \
    {                                                                                              \
        void *address;                                                                             \
                                                                                                   \
        (void)buffer;                                                                              \
        fortran_return(                                                                            \
            ierror, at_##name(HERE, (handle)mpi_handle_from_int(*from), (void *)&address, size));  \
    }                                                                                              \
    FORTRAN_ALIAS(name, const MPI_Fint *, void *, integer *, MPI_Fint *)

DETACH(buffer_detach, MPI_Fint)
DETACH(buffer_detach_c, MPI_Count)
DETACH_FROM(comm_detach_buffer, MPI_Comm, MPI_Fint)
DETACH_FROM(comm_detach_buffer_c, MPI_Comm, MPI_Count)
DETACH_FROM(session_detach_buffer, MPI_Session, MPI_Fint)
DETACH_FROM(session_detach_buffer_c, MPI_Session, MPI_Count)

/* MPI_ALLOC_MEM and the like with a pointer of C for the address, which is passed in the same way.
 */
void mpi_alloc_mem_cptr_(const MPI_Aint *size, const MPI_Fint *info, void *baseptr,
                         MPI_Fint *ierror)
{
    fortran_return(ierror, xylem_mpi_table.Alloc_mem(
                               HERE, *size, (MPI_Info)mpi_handle_from_int(*info), baseptr));
}

void mpi_win_allocate_cptr_(const MPI_Aint *size, const MPI_Fint *disp_unit, const MPI_Fint *info,
                            const MPI_Fint *comm, void *baseptr, MPI_Fint *win, MPI_Fint *ierror)
{
    MPI_Win made = MPI_WIN_NULL;
    int error =
        xylem_mpi_table.Win_allocate(HERE, *size, *disp_unit, (MPI_Info)mpi_handle_from_int(*info),
                                     (MPI_Comm)mpi_handle_from_int(*comm), baseptr, &made);

    *win = mpi_handle_to_int(made);
    fortran_return(ierror, error);
}

void mpi_win_allocate_shared_cptr_(const MPI_Aint *size, const MPI_Fint *disp_unit,
                                   const MPI_Fint *info, const MPI_Fint *comm, void *baseptr,
                                   MPI_Fint *win, MPI_Fint *ierror)
{
    MPI_Win made = MPI_WIN_NULL;
    int error = xylem_mpi_table.Win_allocate_shared(
        HERE, *size, *disp_unit, (MPI_Info)mpi_handle_from_int(*info),
        (MPI_Comm)mpi_handle_from_int(*comm), baseptr, &made);

    *win = mpi_handle_to_int(made);
    fortran_return(ierror, error);
}

void mpi_win_shared_query_cptr_(const MPI_Fint *win, const MPI_Fint *rank, MPI_Aint *size,
                                MPI_Fint *disp_unit, void *baseptr, MPI_Fint *ierror)
{
    fortran_return(ierror,
                   xylem_mpi_table.Win_shared_query(HERE, (MPI_Win)mpi_handle_from_int(*win), *rank,
                                                    size, disp_unit, baseptr));
}

/* ---- The new communicator comes when the request is completed ---- */

static void give_number(void *place, MPI_Comm comm)
{
    *(MPI_Fint *)place = mpi_handle_to_int(comm);
}

static void started(MPI_Request request, MPI_Fint *newcomm, MPI_Fint *number, int error)
{
    if (error == MPI_SUCCESS)
        mpi_comm_idup_set_place(request, newcomm, give_number);
    *number = mpi_handle_to_int(request);
}

void pmpi_comm_idup_(const MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made = MPI_REQUEST_NULL;
    MPI_Comm unused;
    int error = at_comm_idup(HERE, (MPI_Comm)mpi_handle_from_int(*comm), &unused, &made);

    started(made, newcomm, request, error);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(comm_idup, const MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *)

void pmpi_comm_idup_with_info_(const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *newcomm,
                               MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made = MPI_REQUEST_NULL;
    MPI_Comm unused;
    int error = at_comm_idup_with_info(HERE, (MPI_Comm)mpi_handle_from_int(*comm),
                                       (MPI_Info)mpi_handle_from_int(*info), &unused, &made);

    started(made, newcomm, request, error);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(comm_idup_with_info, const MPI_Fint *, const MPI_Fint *, MPI_Fint *, MPI_Fint *,
              MPI_Fint *)

/* ---- New ranks: lists of texts end with one of blanks ---- */

static void texts_end(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        xy_free(list[i]);
    xy_free(list);
}

/* As C has it, which ends with NULL. Elements of `length` bytes are `step` elements apart; `count`
 * below 0: until one has nothing but blanks. NULL: memory ran out. */
static char **texts(const char *first, size_t length, long step, long count)
{
    xy_vec_t list = XY_VEC_INIT(char *);
    char *none = NULL;

    for (long i = 0; count < 0 || i < count; i++) {
        char *text = fortran_text(first + (size_t)(i * step) * length, length);

        if (text && text[0] == '\0' && count < 0) {
            xy_free(text);
            break;
        }
        if (!text || xy_vec_append(&list, &text) != XY_OK) {
            xy_free(text);
            (void)xy_vec_append(&list, &none);
            texts_end(list.data);
            return NULL;
        }
    }
    return xy_vec_append(&list, &none) == XY_OK ? list.data : NULL;
}

static int *errcodes(MPI_Fint *codes)
{
    return fortran_buffer(codes);
}

void pmpi_comm_spawn_(const char *command, char *argv, const MPI_Fint *maxprocs,
                      const MPI_Fint *info, const MPI_Fint *root, const MPI_Fint *comm,
                      MPI_Fint *intercomm, MPI_Fint *array_of_errcodes, MPI_Fint *ierror,
                      size_t command_length, size_t argv_length)
{
    bool has_arguments = fortran_offset(argv) != FORTRAN_ARGV_NULL;
    char **arguments = has_arguments ? texts(argv, argv_length, 1, -1) : MPI_ARGV_NULL;
    char *name = fortran_text(command, command_length);
    MPI_Comm made = MPI_COMM_NULL;
    int error =
        at_comm_spawn(HERE, name, arguments, *maxprocs, (MPI_Info)mpi_handle_from_int(*info), *root,
                      (MPI_Comm)mpi_handle_from_int(*comm), &made, errcodes(array_of_errcodes));

    *intercomm = mpi_handle_to_int(made);
    xy_free(name);
    texts_end(arguments);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(comm_spawn, const char *, char *, const MPI_Fint *, const MPI_Fint *,
              const MPI_Fint *, const MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, size_t,
              size_t)

/* The arguments of program i are row i of the array: an array of Fortran lies by columns. */
static char ***rows(const char *argv, size_t length, int count)
{
    char ***made = xy_calloc((size_t)count + 1, sizeof *made);

    for (int i = 0; made && i < count; i++)
        made[i] = texts(argv + (size_t)i * length, length, count, -1);
    return made;
}

void pmpi_comm_spawn_multiple_(const MPI_Fint *count, const char *commands, char *argv,
                               const MPI_Fint maxprocs[], const MPI_Fint infos[],
                               const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *intercomm,
                               MPI_Fint *array_of_errcodes, MPI_Fint *ierror, size_t command_length,
                               size_t argv_length)
{
    bool has_arguments = fortran_offset(argv) != FORTRAN_ARGVS_NULL;
    int n = *count > 0 ? *count : 0;
    char **names = texts(commands, command_length, 1, n);
    char ***arguments = has_arguments ? rows(argv, argv_length, n) : MPI_ARGVS_NULL;
    void *few[FORTRAN_FEW];
    void **c_infos = fortran_list(few, n, infos);
    MPI_Comm made = MPI_COMM_NULL;
    int error = at_comm_spawn_multiple(
        HERE, *count, names, arguments, maxprocs, (const MPI_Info *)c_infos, *root,
        (MPI_Comm)mpi_handle_from_int(*comm), &made, errcodes(array_of_errcodes));

    *intercomm = mpi_handle_to_int(made);
    fortran_list_end(c_infos, few);
    for (int i = 0; arguments && i < n; i++)
        texts_end(arguments[i]);
    xy_free(arguments);
    texts_end(names);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(comm_spawn_multiple, const MPI_Fint *, const char *, char *, const MPI_Fint[],
              const MPI_Fint[], const MPI_Fint *, const MPI_Fint *, MPI_Fint *, MPI_Fint *,
              MPI_Fint *, size_t, size_t)

/* ---- MPI-1: addresses and distances in an INTEGER ---- */

/* One that does not fit is an error, not another one. */
static int shorten(MPI_Aint value, MPI_Fint *place, int error, const char *instead)
{
    if (error != MPI_SUCCESS)
        return error;
    if (value > INT_MAX || value < INT_MIN)
        return mpi_error(NULL, MPI_ERR_ARG, "the result does not fit into an INTEGER; call %s",
                         instead);
    *place = (MPI_Fint)value;
    return MPI_SUCCESS;
}

void pmpi_address_(void *location, MPI_Fint *address, MPI_Fint *ierror)
{
    MPI_Aint value = 0;
    int error = at_address(HERE, fortran_buffer(location), &value);

    fortran_return(ierror, shorten(value, address, error, "MPI_GET_ADDRESS"));
}
FORTRAN_ALIAS(address, void *, MPI_Fint *, MPI_Fint *)

#define OLD_EXTENT(name, instead)                                                                  \
    void pmpi_##name##_(const MPI_Fint *datatype, MPI_Fint *place, MPI_Fint *ierror)               \
    {                                                                                              \
        MPI_Aint value = 0;                                                                        \
        int error = at_##name(HERE, (MPI_Datatype)mpi_handle_from_int(*datatype), &value);         \
                                                                                                   \
        fortran_return(ierror, shorten(value, place, error, instead));                             \
    }                                                                                              \
    FORTRAN_ALIAS(name, const MPI_Fint *, MPI_Fint *, MPI_Fint *)

OLD_EXTENT(type_extent, "MPI_TYPE_GET_EXTENT")
OLD_EXTENT(type_lb, "MPI_TYPE_GET_EXTENT")
OLD_EXTENT(type_ub, "MPI_TYPE_GET_EXTENT")

void pmpi_type_hvector_(const MPI_Fint *count, const MPI_Fint *blocklength, const MPI_Fint *stride,
                        const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int error = at_type_hvector(HERE, *count, *blocklength, *stride,
                                (MPI_Datatype)mpi_handle_from_int(*oldtype), &made);

    *newtype = mpi_handle_to_int(made);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(type_hvector, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *,
              MPI_Fint *, MPI_Fint *)

/* NULL: memory ran out; the call says so of its argument. */
static MPI_Aint *lengthen(const MPI_Fint from[], int count)
{
    size_t n = count > 0 ? (size_t)count : 0;
    MPI_Aint *made = xy_malloc((n + 1) * sizeof *made);

    for (size_t i = 0; made && i < n; i++)
        made[i] = from[i];
    return made;
}

void pmpi_type_hindexed_(const MPI_Fint *count, MPI_Fint blocklengths[],
                         const MPI_Fint displacements[], const MPI_Fint *oldtype, MPI_Fint *newtype,
                         MPI_Fint *ierror)
{
    MPI_Aint *distances = lengthen(displacements, *count);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int error = at_type_hindexed(HERE, *count, blocklengths, distances,
                                 (MPI_Datatype)mpi_handle_from_int(*oldtype), &made);

    *newtype = mpi_handle_to_int(made);
    xy_free(distances);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(type_hindexed, const MPI_Fint *, MPI_Fint[], const MPI_Fint[], const MPI_Fint *,
              MPI_Fint *, MPI_Fint *)

void pmpi_type_struct_(const MPI_Fint *count, MPI_Fint blocklengths[],
                       const MPI_Fint displacements[], const MPI_Fint types[], MPI_Fint *newtype,
                       MPI_Fint *ierror)
{
    MPI_Aint *distances = lengthen(displacements, *count);
    void *few[FORTRAN_FEW];
    void **c_types = fortran_list(few, *count, types);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int error =
        at_type_struct(HERE, *count, blocklengths, distances, (MPI_Datatype *)c_types, &made);

    *newtype = mpi_handle_to_int(made);
    fortran_list_end(c_types, few);
    xy_free(distances);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(type_struct, const MPI_Fint *, MPI_Fint[], const MPI_Fint[], const MPI_Fint[],
              MPI_Fint *, MPI_Fint *)
#pragma GCC visibility pop
