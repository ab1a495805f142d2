/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translations: libraries under the names of other MPIs (libmpi.so.40, libmpich.so.12), for
 * programs that were compiled for them. Each function converts its arguments to those of the
 * standard ABI, calls Xylem's through the table xylem_mpi_table, and converts the results:
 *
 *   int PMPI_Wait(F_Request *request, F_Status *status)
 *   {
 *       MPI_Request c_request = request_in(*request);
 *       MPI_Status c_status;
 *       int error = xylem_mpi_table.Wait(HERE, &c_request, &c_status);
 *
 *       *request = request_out(c_request);
 *       status_out(&c_status, status);
 *       return error_out(error);
 *   }
 *
 * F_ is the other ABI's MPI_. Written by translate.py, but for functions that take functions of the
 * program (callbacks.c) or differ in more than their arguments (other.c). The sources are compiled
 * once per ABI, with its facts and its header in front, openmpi.h or mpich.h, which define
 *
 *   F_Comm ... F_Win, F_Status      types
 *   abi_handle_in, abi_handle_out   predefined and other handles, MPI_File apart
 *   status_in, status_out           the layout of a status
 *
 * A rank has its own copy of the library, as it has of the program. Messages of normal length take
 * no memory from the heap: lists of up to ABI_FEW elements are on the stack.
 */
#ifndef XY_MPI_ABI_ABI_H
#define XY_MPI_ABI_ABI_H

#include "mpi/abi/abi_own.h"

/* A code that no function returns. */
enum { ABI_INVALID = -1999999999 };
#define ABI_UNTOUCHED ((void *)3)
enum { ABI_FEW = 48 };

#include "facts.h"

/* ---- Numbers ----------------------------------------------------------------------------- */

#define ABI_NUMBER(kind)                                                                           \
    int abi_##kind##_in(int value);                                                                \
    int abi_##kind##_out(int value);
/* Only negative ranks and tags differ. */
#define ABI_NUMBER_SIGNED(kind)                                                                    \
    ABI_NUMBER(kind)                                                                               \
    static inline int kind##_in(int value)                                                         \
    {                                                                                              \
        return __builtin_expect(value >= 0, 1) ? value : abi_##kind##_in(value);                   \
    }                                                                                              \
    static inline int kind##_out(int value)                                                        \
    {                                                                                              \
        return __builtin_expect(value >= 0, 1) ? value : abi_##kind##_out(value);                  \
    }
#define ABI_NUMBER_PLAIN(kind)                                                                     \
    ABI_NUMBER(kind)                                                                               \
    static inline int kind##_in(int value)                                                         \
    {                                                                                              \
        return abi_##kind##_in(value);                                                             \
    }                                                                                              \
    static inline int kind##_out(int value)                                                        \
    {                                                                                              \
        return abi_##kind##_out(value);                                                            \
    }

ABI_NUMBER_SIGNED(rank)
ABI_NUMBER_SIGNED(tag)
ABI_NUMBER_PLAIN(thread)
ABI_NUMBER_PLAIN(compare)
ABI_NUMBER_PLAIN(topology)
ABI_NUMBER_PLAIN(split)
ABI_NUMBER_PLAIN(lock)
ABI_NUMBER_PLAIN(flavor)
ABI_NUMBER_PLAIN(model)
ABI_NUMBER_PLAIN(seek)
ABI_NUMBER_PLAIN(keyval)
ABI_NUMBER_PLAIN(combiner)
ABI_NUMBER_PLAIN(order)
ABI_NUMBER_PLAIN(distribution)
ABI_NUMBER_PLAIN(darg)
ABI_NUMBER_PLAIN(typeclass)
ABI_NUMBER_PLAIN(verbosity)
ABI_NUMBER_PLAIN(bind)
ABI_NUMBER_PLAIN(scope)
ABI_NUMBER_PLAIN(var_class)
ABI_NUMBER_PLAIN(source_order)
ABI_NUMBER_PLAIN(amode)
ABI_NUMBER_PLAIN(assert)
ABI_NUMBER(error)

long long abi_displacement_in(long long value);
long long abi_displacement_out(long long value);
static inline long long displacement_in(long long value)
{
    return abi_displacement_in(value);
}

/* Most calls succeed: MPI_SUCCESS is 0 everywhere. */
static inline int error_in(int code)
{
    return __builtin_expect(code == 0, 1) ? 0 : abi_error_in(code);
}

static inline int error_out(int code)
{
    return __builtin_expect(code == 0, 1) ? 0 : abi_error_out(code);
}

/* ---- Handles ----------------------------------------------------------------------------- */

/* KIND_in, KIND_out, lists of them, and handles as Fortran has them. */
#define ABI_HANDLE(name, kind, into, out)                                                          \
    static inline MPI_##name kind##_in(F_##name handle)                                            \
    {                                                                                              \
        return (MPI_##name)into(handle);                                                           \
    }                                                                                              \
    static inline F_##name kind##_out(MPI_##name handle)                                           \
    {                                                                                              \
        return (F_##name)out((void *)handle);                                                      \
    }                                                                                              \
    static inline MPI_##name *kind##_list(MPI_##name *few, const F_##name *from, long n,           \
                                          bool is_read)                                            \
    {                                                                                              \
        MPI_##name *list = from ? abi_list(few, n, sizeof *list) : NULL;                           \
                                                                                                   \
        for (long i = 0; list && i < n; i++)                                                       \
            list[i] = is_read ? kind##_in(from[i]) : (MPI_##name)ABI_UNTOUCHED;                    \
        return list;                                                                               \
    }                                                                                              \
    static inline void kind##_list_out(F_##name *to, const MPI_##name *list, long n)               \
    {                                                                                              \
        for (long i = 0; list && i < n; i++)                                                       \
            if (list[i] != (MPI_##name)ABI_UNTOUCHED)                                              \
                to[i] = kind##_out(list[i]);                                                       \
    }                                                                                              \
    static inline F_##name kind##_f2c(MPI_Fint number)                                             \
    {                                                                                              \
        return kind##_out((MPI_##name)abi_##kind##_from_fortran(number));                          \
    }                                                                                              \
    static inline MPI_Fint kind##_c2f(F_##name handle)                                             \
    {                                                                                              \
        return abi_to_fortran(kind##_in(handle));                                                  \
    }

/* `few`, or memory for `n` elements that abi_list_end frees. Running out of memory ends the job. */
void *abi_list_large(long n, size_t size) __attribute__((cold));
void abi_list_free(void *list) __attribute__((cold));

static inline void *abi_list(void *few, long n, size_t size)
{
    return __builtin_expect(n <= ABI_FEW, 1) ? few : abi_list_large(n, size);
}

static inline void abi_list_end(void *list, const void *few)
{
    if (__builtin_expect(list != few, 0))
        abi_list_free(list);
}

ABI_HANDLE(Comm, comm, abi_handle_in, abi_handle_out)
ABI_HANDLE(Datatype, datatype, abi_handle_in, abi_handle_out)
ABI_HANDLE(Errhandler, errhandler, abi_handle_in, abi_handle_out)
ABI_HANDLE(File, file, abi_file_in, abi_file_out)
ABI_HANDLE(Group, group, abi_handle_in, abi_handle_out)
ABI_HANDLE(Info, info, abi_handle_in, abi_handle_out)
ABI_HANDLE(Message, message, abi_message_in, abi_handle_out)
ABI_HANDLE(Op, op, abi_handle_in, abi_handle_out)
ABI_HANDLE(Request, request, abi_handle_in, abi_handle_out)
ABI_HANDLE(Session, session, abi_handle_in, abi_handle_out)
ABI_HANDLE(Win, win, abi_handle_in, abi_handle_out)

/* ---- Statuses ---------------------------------------------------------------------------- */

/* A status that the call does not write, and one whose error it does not write, stay as they are.
 */
static inline void status_mark(MPI_Status *status)
{
    status->MPI_SOURCE = status->MPI_ERROR = ABI_INVALID;
}

void status_in(const F_Status *from, MPI_Status *to);
void abi_status_empty(F_Status *status);
/* Write what a call has changed: the program may set one field of a status that it has not
 * initialised. */
void status_change(const MPI_Status *before, const MPI_Status *after, F_Status *to);

static inline void status_out(const MPI_Status *from, F_Status *to)
{
    if (from->MPI_SOURCE == ABI_INVALID)
        return;
    to->MPI_SOURCE = rank_out(from->MPI_SOURCE);
    to->MPI_TAG = tag_out(from->MPI_TAG);
    if (from->MPI_ERROR != ABI_INVALID)
        to->MPI_ERROR = error_out(from->MPI_ERROR);
    abi_status_set(to, mpi_status_bytes(from), mpi_status_is_cancelled(from));
}

static inline MPI_Status *status_list(MPI_Status *few, const F_Status *from, long n)
{
    MPI_Status *list;

    if (from == F_STATUSES_IGNORE)
        return MPI_STATUSES_IGNORE;
    list = abi_list(few, n, sizeof *list);
    for (long i = 0; i < n; i++)
        status_mark(&list[i]);
    return list;
}

static inline void status_list_out(F_Status *to, const MPI_Status *list, long n)
{
    for (long i = 0; list && i < n; i++)
        status_out(&list[i], to + i);
}

/* ---- Addresses and texts ----------------------------------------------------------------- */

static inline void *buffer_in(const void *buffer)
{
    return buffer == F_IN_PLACE ? MPI_IN_PLACE : (void *)(uintptr_t)buffer;
}

static inline int *weights_in(const int *weights)
{
    return weights == F_UNWEIGHTED      ? MPI_UNWEIGHTED
           : weights == F_WEIGHTS_EMPTY ? MPI_WEIGHTS_EMPTY
                                        : (int *)(uintptr_t)weights;
}

static inline MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle handle)
{
    return handle == F_T_PVAR_ALL_HANDLES ? MPI_T_PVAR_ALL_HANDLES : handle;
}

/* A text of Xylem, cut to the room of the program, with the length that it then has. */
void text_out(char *to, const char *from, size_t room, int *length_p);

/* The functions of attributes that MPI defines. */
mpi_any_fn *abi_copy_in(mpi_any_fn *fn);
mpi_any_fn *abi_delete_in(mpi_any_fn *fn);

/* The kind of object of the last key and the last error handler of the program ('c', 'f', 's',
 * 'w'). */
extern mpi_attr_kind_t abi_last_keyval;
extern char abi_last_errhandler;

/* Is it code of the installed library for Fortran, which calls the functions of C? */
bool abi_is_of_fortran(const void *address);

/* The functions of the generalized request that was just started are Fortran's. */
void abi_last_grequest_is_fortran(void);

/* Lists of numbers. */
typedef int(abi_number_fn)(int value);
int *abi_numbers_list(int *few, const int *from, long n, abi_number_fn *into);
void abi_numbers_list_out(int *to, const int *list, long n, abi_number_fn *out);

#endif
