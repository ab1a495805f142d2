/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests, data representations and new ranks for Fortran. */
#include "mpi/abi/translated_fortran.h"

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC visibility push(default)

#define HERE __builtin_return_address(0)

/* ---- Generalized requests ---- */

typedef struct {
    void (*query)(MPI_Aint *extra, F_Status *status, MPI_Fint *ierror);
    void (*free)(MPI_Aint *extra, MPI_Fint *ierror);
    void (*cancel)(MPI_Aint *extra, MPI_Fint *complete, MPI_Fint *ierror);
    MPI_Aint extra;
    MPI_Aint *given; /* the program's variable, which its functions may change */
} grequest_t;

/* A variable that the functions do not change need not be there any more. */
static int called(grequest_t *g, MPI_Aint before, MPI_Fint error)
{
    if (g->extra != before)
        *g->given = g->extra;
    return error_in(error);
}

static int query(void *state, MPI_Status *status)
{
    grequest_t *g = state;
    MPI_Aint before = g->extra;
    MPI_Fint error = 0;
    F_Status foreign;

    abi_status_empty(&foreign);
    g->query(&g->extra, &foreign, &error);
    status_in(&foreign, status);
    return called(g, before, error);
}

static int free_state(void *state)
{
    grequest_t *g = state;
    MPI_Aint before = g->extra;
    MPI_Fint error = 0;
    int own;

    g->free(&g->extra, &error);
    own = called(g, before, error);
    free(g);
    return own;
}

static int cancel(void *state, int complete)
{
    grequest_t *g = state;
    MPI_Aint before = g->extra;
    MPI_Fint error = 0, flag = complete != 0;

    g->cancel(&g->extra, &flag, &error);
    return called(g, before, error);
}

void pmpi_grequest_start_(void (*query_fn)(MPI_Aint *, F_Status *, MPI_Fint *),
                          void (*free_fn)(MPI_Aint *, MPI_Fint *),
                          void (*cancel_fn)(MPI_Aint *, MPI_Fint *, MPI_Fint *), MPI_Aint *extra,
                          MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made = MPI_REQUEST_NULL;
    grequest_t *g = abi_list_large(1, sizeof *g);
    int error;

    *g = (grequest_t){query_fn, free_fn, cancel_fn, *extra, extra};
    error = xylem_mpi_table.Grequest_start(HERE, query, free_state, cancel, g, &made);
    if (error != MPI_SUCCESS)
        free(g);
    *request = abi_to_fortran(made);
    fortran_return(ierror, error_out(error));
}
FORTRAN_ALIAS(grequest_start)

/* ---- Data representations: they stay until the end ---- */

typedef void(convert_t)(void *userbuf, MPI_Fint *datatype, MPI_Fint *count, void *filebuf,
                        MPI_Offset *position, MPI_Aint *extra, MPI_Fint *ierror);
typedef void(extent_t)(MPI_Fint *datatype, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *ierror);

typedef struct {
    convert_t *read, *write;
    extent_t *extent;
    MPI_Aint extra;
} datarep_t;

#define CONVERT(name)                                                                              \
    static int convert_##name(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,      \
                              MPI_Offset position, void *state)                                    \
    {                                                                                              \
        datarep_t *d = state;                                                                      \
        MPI_Fint error = 0, type = abi_to_fortran(datatype);                                       \
                                                                                                   \
        d->name(userbuf, &type, &count, filebuf, &position, &d->extra, &error);                    \
        return error_in(error);                                                                    \
    }

CONVERT(read)
CONVERT(write)

static int extent_of(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    datarep_t *d = state;
    MPI_Fint error = 0, type = abi_to_fortran(datatype);

    d->extent(&type, extent, &d->extra, &error);
    return error_in(error);
}

/* MPI_CONVERSION_FN_NULL: a name only, which Xylem's library has. */
void mpi_conversion_fn_null_(void);

int abi_fortran_datarep(const void *site, const char *name, void *read, void *write, void *of_file,
                        const MPI_Aint *extra) __attribute__((visibility("hidden")));

int abi_fortran_datarep(const void *site, const char *name, void *read, void *write, void *of_file,
                        const MPI_Aint *extra)
{
    void *none = (void *)mpi_conversion_fn_null_;
    datarep_t *d = abi_list_large(1, sizeof *d);
    int error;

    *d = (datarep_t){(convert_t *)read, (convert_t *)write, (extent_t *)of_file, *extra};
    error = xylem_mpi_table.Register_datarep(site, name, read == none ? NULL : convert_read,
                                             write == none ? NULL : convert_write, extent_of, d);
    if (error != MPI_SUCCESS)
        free(d);
    return error_out(error);
}

void pmpi_register_datarep_(const char *datarep, convert_t *read, convert_t *write,
                            extent_t *extent, const MPI_Aint *extra, MPI_Fint *ierror,
                            size_t length)
{
    char *name = fortran_text(datarep, length);
    int error = abi_fortran_datarep(HERE, name, (void *)read, (void *)write, (void *)extent, extra);

    abi_list_free(name);
    fortran_return(ierror, error);
}
FORTRAN_ALIAS(register_datarep)

/* ---- New ranks: lists of texts end with one of blanks ---- */

/* How many elements there are, `step` apart, before one of blanks; or `count`, where it is not
 * negative. */
static long count_texts(const char *first, size_t length, long step, long count)
{
    for (long i = 0; count < 0; i++) {
        const char *text = first + (size_t)(i * step) * length;
        size_t at = 0;

        while (at < length && text[at] == ' ')
            at++;
        if (at == length)
            count = i;
    }
    return count;
}

/* As C has it, which ends with NULL. */
static char **texts(const char *first, size_t length, long step, long count)
{
    long n = count_texts(first, length, step, count);
    char **list = abi_list_large(n + 1, sizeof *list);

    for (long i = 0; i < n; i++)
        list[i] = fortran_text(first + (size_t)(i * step) * length, length);
    list[n] = NULL;
    return list;
}

static void texts_end(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        abi_list_free(list[i]);
    abi_list_free(list);
}

static int *codes_in(MPI_Fint *codes)
{
    return codes == abi_fortran.errcodes ? MPI_ERRCODES_IGNORE : codes;
}

/* The lists are those of the root alone. */
static bool is_root(MPI_Comm comm, int root)
{
    int rank = -1;

    return xylem_mpi_table.Comm_rank(HERE, comm, &rank) == MPI_SUCCESS && rank == root;
}

static void codes_out(int codes[], long n, int error)
{
    for (long i = 0; codes && i < n && (error == MPI_SUCCESS || error == MPI_ERR_SPAWN); i++)
        codes[i] = error_out(codes[i]);
}

void pmpi_comm_spawn_(const char *command, char *argv, const MPI_Fint *maxprocs,
                      const MPI_Fint *info, const MPI_Fint *root, const MPI_Fint *comm,
                      MPI_Fint *intercomm, MPI_Fint *array_of_errcodes, MPI_Fint *ierror,
                      size_t command_length, size_t argv_length)
{
    MPI_Comm own = (MPI_Comm)abi_comm_from_fortran(*comm), made = MPI_COMM_NULL;
    const bool has_list = is_root(own, rank_in(*root)) && argv != abi_fortran.argv;
    char **arguments = has_list ? texts(argv, fortran_length(argv_length), 1, -1) : MPI_ARGV_NULL;
    char *name = fortran_text(command, command_length);
    int *codes = codes_in(array_of_errcodes);
    int error = xylem_mpi_table.Comm_spawn(HERE, name, arguments, *maxprocs,
                                           (MPI_Info)abi_info_from_fortran(*info), rank_in(*root),
                                           own, &made, codes);

    *intercomm = abi_to_fortran(made);
    codes_out(codes, *maxprocs, error);
    abi_list_free(name);
    texts_end(arguments);
    fortran_return(ierror, error_out(error));
}
FORTRAN_ALIAS(comm_spawn)

/* The arguments of program i are row i of the array: an array of Fortran lies by columns. */
static char ***rows(const char *argv, size_t length, long count)
{
    char ***made = abi_list_large(count + 1, sizeof *made);

    for (long i = 0; i < count; i++)
        made[i] = texts(argv + (size_t)i * length, length, count, -1);
    made[count] = NULL;
    return made;
}

void pmpi_comm_spawn_multiple_(const MPI_Fint *count, const char *commands, char *argv,
                               const MPI_Fint maxprocs[], const MPI_Fint infos[],
                               const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *intercomm,
                               MPI_Fint *array_of_errcodes, MPI_Fint *ierror, size_t command_length,
                               size_t argv_length)
{
    MPI_Comm own = (MPI_Comm)abi_comm_from_fortran(*comm), made = MPI_COMM_NULL;
    const long n = is_root(own, rank_in(*root)) && *count > 0 ? *count : 0;
    char **names = texts(commands, fortran_length(command_length), 1, n);
    char ***arguments = n > 0 && argv != abi_fortran.argvs
                            ? rows(argv, fortran_length(argv_length), n)
                            : MPI_ARGVS_NULL;
    MPI_Info few[ABI_FEW], *list = abi_list(few, n, sizeof *list);
    int *codes = codes_in(array_of_errcodes), error;
    long ranks = 0;

    for (long i = 0; i < n; i++) {
        list[i] = (MPI_Info)abi_info_from_fortran(infos[i]);
        ranks += maxprocs[i];
    }
    error = xylem_mpi_table.Comm_spawn_multiple(HERE, *count, names, arguments, maxprocs, list,
                                                rank_in(*root), own, &made, codes);
    *intercomm = abi_to_fortran(made);
    codes_out(codes, ranks, error);
    abi_list_end(list, few);
    for (long i = 0; arguments && i < n; i++)
        texts_end(arguments[i]);
    abi_list_free(arguments);
    texts_end(names);
    fortran_return(ierror, error_out(error));
}
FORTRAN_ALIAS(comm_spawn_multiple)
#pragma GCC visibility pop
