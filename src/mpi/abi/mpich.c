/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions and variables of MPICH's library that are not of MPI. */
#include "mpi/abi/translated_fortran.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

int abi_unweighted, abi_weights_empty, abi_all_handles;

#pragma GCC visibility push(default)

/* In mpi.h they are macros. */
#undef MPI_UNWEIGHTED
#undef MPI_WEIGHTS_EMPTY
#undef MPI_T_PVAR_ALL_HANDLES
int *const MPI_UNWEIGHTED = &abi_unweighted;
int *const MPI_WEIGHTS_EMPTY = &abi_weights_empty;
void *const MPI_T_PVAR_ALL_HANDLES = &abi_all_handles;

#undef MPI_F_STATUS_IGNORE
#undef MPI_F_STATUSES_IGNORE
#undef MPI_F08_STATUS_IGNORE
#undef MPI_F08_STATUSES_IGNORE
int *MPIR_C_MPI_UNWEIGHTED, *MPIR_C_MPI_WEIGHTS_EMPTY;
F_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
int MPIR_F08_MPI_IN_PLACE, MPIR_F08_MPI_BOTTOM;
F_Status *MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
F_Status *MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;

/* The module mpi_f08 has its own variables of these names, which must have the values of C. */
static void __attribute__((constructor)) set_weights(void)
{
    MPIR_C_MPI_UNWEIGHTED = &abi_unweighted;
    MPIR_C_MPI_WEIGHTS_EMPTY = &abi_weights_empty;
}

/* COMMON blocks of Fortran, whose variables mean something by their address. */
struct {
    int bottom, in_place, status[sizeof(F_Status) / sizeof(int)];
} mpipriv1_;
struct {
    int statuses[sizeof(F_Status) / sizeof(int)], errcodes[1];
} mpipriv2_;
struct {
    char argvs[1], argv[1];
} mpiprivc_;
int mpifcmb5_, mpifcmb9_;

/* MPI_DUP_FN and its relatives; the other functions of attributes that MPI defines are NULL. */
int MPIR_Dup_fn(int object, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)object, (void)keyval, (void)extra;
    *(void **)copy = value;
    *flag = 1;
    return 0;
}

/* ---- What the installed library for Fortran (libmpichfort.so.12) calls ---- */

void MPII_Grequest_set_lang_f77(F_Request request)
{
    (void)request; /* it was just started */
    abi_last_grequest_is_fortran();
}

/* How a value is given: in C, as an integer of the size of an address, as an INTEGER. */
enum { AS_POINTER, AS_ADDRESS, AS_INTEGER = 3 };

#define ATTRIBUTE(name, prefix, handle, kind)                                                      \
    int MPII_##name##_set_attr(F_##handle object, int keyval, void *value, int how)                \
    {                                                                                              \
        static const mpi_language_t languages[] = {[AS_POINTER] = XMPI_FROM_C,                     \
                                                   [AS_ADDRESS] = XMPI_FROM_FORTRAN,               \
                                                   [AS_INTEGER] = XMPI_FROM_FORTRAN_1};            \
        int error;                                                                                 \
                                                                                                   \
        xylem_mpi_services.attributes_language(languages[how & 3]);                                \
        error = xylem_mpi_table.name##_set_attr(__builtin_return_address(0), kind##_in(object),    \
                                                fortran_keyval_in(keyval), value);                 \
        xylem_mpi_services.attributes_language(XMPI_FROM_C);                                       \
        return error_out(error);                                                                   \
    }                                                                                              \
    extern int PMPI_##name##_get_attr(F_##handle, int, void *, int *);                             \
    int MPII_##name##_get_attr(F_##handle object, int keyval, void *value, int *flag, int how)     \
    {                                                                                              \
        if (how == AS_POINTER)                                                                     \
            return PMPI_##name##_get_attr(object, keyval, value, flag);                            \
        return abi_##prefix##_get_attr(object, keyval, value, flag);                               \
    }

ATTRIBUTE(Comm, comm, Comm, comm)
ATTRIBUTE(Type, type, Datatype, datatype)
ATTRIBUTE(Win, win, Win, win)
#pragma GCC visibility pop

const abi_fortran_t abi_fortran = {
    .bottom = &mpipriv1_.bottom,
    .in_place = &mpipriv1_.in_place,
    .status = mpipriv1_.status,
    .statuses = mpipriv2_.statuses,
    .errcodes = mpipriv2_.errcodes,
    .unweighted = &mpifcmb5_,
    .empty = &mpifcmb9_,
    .argv = mpiprivc_.argv,
    .argvs = mpiprivc_.argvs,
};

mpi_any_fn *abi_copy_in(mpi_any_fn *fn)
{
    return fn == (mpi_any_fn *)MPIR_Dup_fn ? (mpi_any_fn *)MPI_COMM_DUP_FN : fn;
}

mpi_any_fn *abi_delete_in(mpi_any_fn *fn)
{
    return fn;
}
