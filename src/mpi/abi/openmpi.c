/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions and variables of Open MPI's library besides MPI functions and predefined objects. */
#include "mpi/abi/translated_fortran.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

uintptr_t abi_copies, abi_copies_size;

/* Find out where the copies of the executable are: names that are not resolved to the array. */
__attribute__((constructor)) static void find_copies(void)
{
    uintptr_t first = UINTPTR_MAX, end = 0;

    for (int i = 0; i < ABI_PREDEFINED; i++) {
        uintptr_t at = (uintptr_t)abi_handles_out[i];

        if (at == 0 || at - (uintptr_t)abi_objects < abi_objects_size)
            continue;
        first = at < first ? at : first;
        end = at + sizeof(abi_object_t) > end ? at + sizeof(abi_object_t) : end;
    }
    if (end > 0) {
        abi_copies = first;
        abi_copies_size = end - first;
    }
}

/* In mpi.h they are macros. */
#undef MPI_F_STATUS_IGNORE
#undef MPI_F_STATUSES_IGNORE

#pragma GCC visibility push(default)

/* Addresses that mean something in Fortran. */
int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_,
    mpi_fortran_unweighted_, mpi_fortran_weights_empty_;
char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
int mpi_fortran_status_ignore_[sizeof(F_Status) / sizeof(int)];
double mpi_fortran_statuses_ignore_;
MPI_Fint *MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
MPI_Fint *MPI_F_STATUSES_IGNORE = (MPI_Fint *)(void *)&mpi_fortran_statuses_ignore_;

/* The functions of attributes that MPI defines; programs may also call them. */
#define ATTRIBUTE_FUNCTIONS(name)                                                                  \
    int OMPI_C_MPI_##name##NULL_COPY_FN(void *object, int keyval, void *extra, void *value,        \
                                        void *copy, int *flag)                                     \
    {                                                                                              \
        (void)object, (void)keyval, (void)extra, (void)value, (void)copy;                          \
        *flag = 0;                                                                                 \
        return 0;                                                                                  \
    }                                                                                              \
    int OMPI_C_MPI_##name##DUP_FN(void *object, int keyval, void *extra, void *value, void *copy,  \
                                  int *flag)                                                       \
    {                                                                                              \
        (void)object, (void)keyval, (void)extra;                                                   \
        *(void **)copy = value;                                                                    \
        *flag = 1;                                                                                 \
        return 0;                                                                                  \
    }                                                                                              \
    int OMPI_C_MPI_##name##NULL_DELETE_FN(void *object, int keyval, void *value, void *extra)      \
    {                                                                                              \
        (void)object, (void)keyval, (void)value, (void)extra;                                      \
        return 0;                                                                                  \
    }

ATTRIBUTE_FUNCTIONS()
ATTRIBUTE_FUNCTIONS(COMM_)
ATTRIBUTE_FUNCTIONS(TYPE_)
ATTRIBUTE_FUNCTIONS(WIN_)
#pragma GCC visibility pop

const abi_fortran_t abi_fortran = {
    .bottom = &mpi_fortran_bottom_,
    .in_place = &mpi_fortran_in_place_,
    .status = &mpi_fortran_status_ignore_,
    .statuses = &mpi_fortran_statuses_ignore_,
    .errcodes = &mpi_fortran_errcodes_ignore_,
    .unweighted = &mpi_fortran_unweighted_,
    .empty = &mpi_fortran_weights_empty_,
    .argv = &mpi_fortran_argv_null_,
    .argvs = &mpi_fortran_argvs_null_,
};

mpi_any_fn *abi_copy_in(mpi_any_fn *fn)
{
    if (fn == (mpi_any_fn *)OMPI_C_MPI_NULL_COPY_FN ||
        fn == (mpi_any_fn *)OMPI_C_MPI_COMM_NULL_COPY_FN ||
        fn == (mpi_any_fn *)OMPI_C_MPI_TYPE_NULL_COPY_FN ||
        fn == (mpi_any_fn *)OMPI_C_MPI_WIN_NULL_COPY_FN)
        return (mpi_any_fn *)MPI_COMM_NULL_COPY_FN;
    if (fn == (mpi_any_fn *)OMPI_C_MPI_DUP_FN || fn == (mpi_any_fn *)OMPI_C_MPI_COMM_DUP_FN ||
        fn == (mpi_any_fn *)OMPI_C_MPI_TYPE_DUP_FN || fn == (mpi_any_fn *)OMPI_C_MPI_WIN_DUP_FN)
        return (mpi_any_fn *)MPI_COMM_DUP_FN;
    return fn;
}

mpi_any_fn *abi_delete_in(mpi_any_fn *fn)
{
    if (fn == (mpi_any_fn *)OMPI_C_MPI_NULL_DELETE_FN ||
        fn == (mpi_any_fn *)OMPI_C_MPI_COMM_NULL_DELETE_FN ||
        fn == (mpi_any_fn *)OMPI_C_MPI_TYPE_NULL_DELETE_FN ||
        fn == (mpi_any_fn *)OMPI_C_MPI_WIN_NULL_DELETE_FN)
        return (mpi_any_fn *)MPI_COMM_NULL_DELETE_FN;
    return fn;
}
