/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that differ from Xylem's in more than the arguments: attributes that MPI defines, lists
 * whose length or meaning depends on other arguments, results that come later, and statuses of
 * Fortran.
 */
#include <string.h>

#include "mpi/abi/abi.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC visibility push(default)

#define HERE __builtin_return_address(0)
#define ABI_ALIAS(name, ...)                                                                       \
    int MPI_##name(__VA_ARGS__) __attribute__((weak, alias("PMPI_" #name)));

int PMPI_Get_version(int *version, int *subversion)
{
    int unused_version, unused_subversion;
    int error = xylem_mpi_table.Get_version(HERE, version ? &unused_version : NULL,
                                            subversion ? &unused_subversion : NULL);

    if (error == MPI_SUCCESS && version && subversion) {
        *version = F_VERSION; /* of the header that the program was compiled with */
        *subversion = F_SUBVERSION;
    }
    return error_out(error);
}
ABI_ALIAS(Get_version, int *, int *)

int PMPI_Pcontrol(const int level, ...)
{
    return error_out(xylem_mpi_table.Pcontrol(level));
}
ABI_ALIAS(Pcontrol, const int level, ...)

/* ---- Attributes that MPI defines ---- */

/* A number that the program reads through an address, in the form it knows. */
static void *seen(int keyval, void *value)
{
    static int io, host, last_used, flavor[4], models[2];
    int *place;

    switch (keyval) {
    case MPI_IO:
        io = rank_out(*(int *)value);
        return &io;
    case MPI_HOST:
        host = rank_out(*(int *)value);
        return &host;
    case MPI_LASTUSEDCODE:
        last_used = *(int *)value - MPI_ERR_LASTCODE + F_ERR_LASTCODE;
        return &last_used;
    case MPI_WIN_CREATE_FLAVOR:
        place = &flavor[(*(int *)value - MPI_WIN_FLAVOR_CREATE) & 3];
        *place = flavor_out(*(int *)value);
        return place;
    case MPI_WIN_MODEL:
        place = &models[*(int *)value == MPI_WIN_UNIFIED];
        *place = model_out(*(int *)value);
        return place;
    default:
        return value;
    }
}

#define GET_ATTR(name, handle, kind)                                                               \
    int PMPI_##name(F_##handle object, int keyval, void *value, int *flag)                         \
    {                                                                                              \
        int own = keyval_in(keyval);                                                               \
        int error = xylem_mpi_table.name(HERE, kind##_in(object), own, value, flag);               \
                                                                                                   \
        if (error == MPI_SUCCESS && *flag) {                                                       \
            void *found;                                                                           \
                                                                                                   \
            memcpy(&found, value, sizeof found);                                                   \
            found = seen(own, found);                                                              \
            memcpy(value, &found, sizeof found);                                                   \
        }                                                                                          \
        return error_out(error);                                                                   \
    }                                                                                              \
    ABI_ALIAS(name, F_##handle, int, void *, int *)

GET_ATTR(Comm_get_attr, Comm, comm)
GET_ATTR(Attr_get, Comm, comm)
GET_ATTR(Win_get_attr, Win, win)

/* ---- The contents of datatypes: some of the integers are constants ---- */

/* Translate the constants among the contents of a subarray or darray. */
static void constants_out(int combiner, int integers[])
{
    int n, at;

    if (combiner == MPI_COMBINER_SUBARRAY) {
        at = 3 * integers[0] + 1;
        integers[at] = order_out(integers[at]);
    } else if (combiner == MPI_COMBINER_DARRAY) {
        n = integers[2]; /* after the size and the rank; then sizes, distributions, arguments, ...
                          */
        for (int i = 0; i < n; i++) {
            integers[3 + n + i] = distribution_out(integers[3 + n + i]);
            integers[3 + 2 * n + i] = darg_out(integers[3 + 2 * n + i]);
        }
        integers[3 + 4 * n] = order_out(integers[3 + 4 * n]);
    }
}

int PMPI_Type_get_contents(F_Datatype type, int max_integers, int max_addresses, int max_datatypes,
                           int integers[], MPI_Aint addresses[], F_Datatype datatypes[])
{
    MPI_Datatype few[ABI_FEW], own = datatype_in(type);
    MPI_Datatype *list = datatype_list(few, datatypes, max_datatypes, false);
    int n, combiner = 0;
    int error = xylem_mpi_table.Type_get_contents(HERE, own, max_integers, max_addresses,
                                                  max_datatypes, integers, addresses, list);

    if (error == MPI_SUCCESS)
        error = xylem_mpi_table.Type_get_envelope(HERE, own, &n, &n, &n, &combiner);
    if (error == MPI_SUCCESS)
        constants_out(combiner, integers);
    datatype_list_out(datatypes, list, max_datatypes);
    abi_list_end(list, few);
    return error_out(error);
}
ABI_ALIAS(Type_get_contents, F_Datatype, int, int, int, int[], MPI_Aint[], F_Datatype[])

/* With large counts, sizes are among the counts: the constants are all that is left of integers. */
static void constants_out_c(int combiner, int integers[], MPI_Count n_integers)
{
    int n = (int)(n_integers - 4) / 3; /* size, rank, n, distributions, arguments, grid, order */

    if (combiner == MPI_COMBINER_SUBARRAY)
        integers[1] = order_out(integers[1]);
    for (int i = 0; combiner == MPI_COMBINER_DARRAY && i < n; i++) {
        integers[3 + i] = distribution_out(integers[3 + i]);
        integers[3 + n + i] = darg_out(integers[3 + n + i]);
    }
    if (combiner == MPI_COMBINER_DARRAY)
        integers[n_integers - 1] = order_out(integers[n_integers - 1]);
}

int PMPI_Type_get_contents_c(F_Datatype type, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes, int integers[],
                             MPI_Aint addresses[], MPI_Count large_counts[], F_Datatype datatypes[])
{
    MPI_Datatype few[ABI_FEW], own = datatype_in(type);
    MPI_Datatype *list = datatype_list(few, datatypes, max_datatypes, false);
    MPI_Count n, n_integers = 0, n_counts = 0;
    int combiner = 0;
    int error = xylem_mpi_table.Type_get_contents_c(HERE, own, max_integers, max_addresses,
                                                    max_large_counts, max_datatypes, integers,
                                                    addresses, large_counts, list);

    if (error == MPI_SUCCESS)
        error = xylem_mpi_table.Type_get_envelope_c(HERE, own, &n_integers, &n, &n_counts, &n,
                                                    &combiner);
    if (error == MPI_SUCCESS && n_counts > 0)
        constants_out_c(combiner, integers, n_integers);
    else if (error == MPI_SUCCESS)
        constants_out(combiner, integers);
    datatype_list_out(datatypes, list, max_datatypes);
    abi_list_end(list, few);
    return error_out(error);
}
ABI_ALIAS(Type_get_contents_c, F_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int[],
          MPI_Aint[], MPI_Count[], F_Datatype[])

/* ---- New ranks ---- */

/* The codes of all ranks; MPI_ERRCODES_IGNORE is NULL everywhere. */
static void codes_out(int codes[], long n, int error)
{
    for (long i = 0; codes && i < n && (error == MPI_SUCCESS || error == MPI_ERR_SPAWN); i++)
        codes[i] = error_out(codes[i]);
}

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, F_Info info, int root,
                    F_Comm comm, F_Comm *intercomm, int codes[])
{
    MPI_Comm made = (MPI_Comm)ABI_UNTOUCHED;
    int error =
        xylem_mpi_table.Comm_spawn(HERE, command, argv, maxprocs, info_in(info), rank_in(root),
                                   comm_in(comm), intercomm ? &made : NULL, codes);

    if (intercomm && made != (MPI_Comm)ABI_UNTOUCHED)
        *intercomm = comm_out(made);
    codes_out(codes, maxprocs, error);
    return error_out(error);
}
ABI_ALIAS(Comm_spawn, const char *, char *[], int, F_Info, int, F_Comm, F_Comm *, int[])

/* Is the calling rank the root, where the lists are? */
static bool is_root(F_Comm comm, int root)
{
    int rank = -1;

    return xylem_mpi_table.Comm_rank(HERE, comm_in(comm), &rank) == MPI_SUCCESS && rank == root;
}

int PMPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[],
                             const F_Info infos[], int root, F_Comm comm, F_Comm *intercomm,
                             int codes[])
{
    const long n = is_root(comm, root) && count > 0 ? count : 0;
    MPI_Info few[ABI_FEW], *list = info_list(few, infos, n, true);
    MPI_Comm made = (MPI_Comm)ABI_UNTOUCHED;
    long ranks = 0;
    int error = xylem_mpi_table.Comm_spawn_multiple(HERE, count, commands, argvs, maxprocs, list,
                                                    rank_in(root), comm_in(comm),
                                                    intercomm ? &made : NULL, codes);

    if (intercomm && made != (MPI_Comm)ABI_UNTOUCHED)
        *intercomm = comm_out(made);
    for (long i = 0; i < n; i++)
        ranks += maxprocs[i];
    codes_out(codes, ranks, error);
    abi_list_end(list, few);
    return error_out(error);
}
ABI_ALIAS(Comm_spawn_multiple, int, char *[], char **[], const int[], const F_Info[], int, F_Comm,
          F_Comm *, int[])

/* ---- The new communicator comes when the request is completed ---- */

static void give(void *place, MPI_Comm comm)
{
    *(F_Comm *)place = comm_out(comm);
}

static int started(int error, MPI_Request made, MPI_Comm none, F_Comm *newcomm, F_Request *request)
{
    if (error == MPI_SUCCESS && request) {
        xylem_mpi_services.idup_set_place(made, newcomm, give);
        *request = request_out(made);
    } else if (newcomm && none != (MPI_Comm)ABI_UNTOUCHED) {
        *newcomm = comm_out(none);
    }
    return error_out(error);
}

int PMPI_Comm_idup(F_Comm comm, F_Comm *newcomm, F_Request *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    MPI_Comm unused = (MPI_Comm)ABI_UNTOUCHED;
    int error = xylem_mpi_table.Comm_idup(HERE, comm_in(comm), newcomm ? &unused : NULL,
                                          request ? &made : NULL);

    return started(error, made, unused, newcomm, request);
}
ABI_ALIAS(Comm_idup, F_Comm, F_Comm *, F_Request *)

int PMPI_Comm_idup_with_info(F_Comm comm, F_Info info, F_Comm *newcomm, F_Request *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    MPI_Comm unused = (MPI_Comm)ABI_UNTOUCHED;
    int error = xylem_mpi_table.Comm_idup_with_info(
        HERE, comm_in(comm), info_in(info), newcomm ? &unused : NULL, request ? &made : NULL);

    return started(error, made, unused, newcomm, request);
}
ABI_ALIAS(Comm_idup_with_info, F_Comm, F_Info, F_Comm *, F_Request *)

/* ---- Variables of the tool interface that belong to a communicator ---- */

#define HANDLE_ALLOC(name, get_bind, first, first_value, handle_type)                              \
    int PMPI_T_##name##_handle_alloc(first int index, void *object, handle_type *handle,           \
                                     int *count)                                                   \
    {                                                                                              \
        int bind = MPI_T_BIND_NO_OBJECT;                                                           \
        int error = get_bind;                                                                      \
        MPI_Comm comm = MPI_COMM_NULL;                                                             \
        bool is_comm = error == MPI_SUCCESS && bind == MPI_T_BIND_MPI_COMM && object;              \
                                                                                                   \
        if (is_comm)                                                                               \
            comm = comm_in(*(F_Comm *)object);                                                     \
        return error_out(xylem_mpi_table.T_##name##_handle_alloc(                                  \
            HERE, first_value index, is_comm ? &comm : NULL, handle, count));                      \
    }                                                                                              \
    ABI_ALIAS(T_##name##_handle_alloc, first int index, void *object, handle_type *handle,         \
              int *count)

#define COMMA ,
HANDLE_ALLOC(cvar,
             xylem_mpi_table.T_cvar_get_info(HERE, index, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                             &bind, NULL),
             , , MPI_T_cvar_handle)
HANDLE_ALLOC(pvar,
             xylem_mpi_table.T_pvar_get_info(HERE, index, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                             NULL, &bind, NULL, NULL, NULL),
             MPI_T_pvar_session session COMMA, session COMMA, MPI_T_pvar_handle)

/* ---- Statuses of Fortran: the same words ---- */

#define STATUS(name, from_type, to_type)                                                           \
    int PMPI_Status_##name(const from_type *from, to_type *to)                                     \
    {                                                                                              \
        memcpy(to, from, sizeof(F_Status));                                                        \
        return 0;                                                                                  \
    }                                                                                              \
    ABI_ALIAS(Status_##name, const from_type *, to_type *)

STATUS(c2f, F_Status, MPI_Fint)
STATUS(f2c, MPI_Fint, F_Status)
STATUS(c2f08, F_Status, void)
STATUS(f082c, void, F_Status)
STATUS(f2f08, MPI_Fint, void)
STATUS(f082f, void, MPI_Fint)
#pragma GCC visibility pop
