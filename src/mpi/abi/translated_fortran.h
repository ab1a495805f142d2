/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the functions for Fortran. The addresses of some Fortran variables have a meaning;
 * these variables are COMMON blocks of the program, to which the names here are resolved.
 */
#ifndef XY_MPI_ABI_TRANSLATED_FORTRAN_H
#define XY_MPI_ABI_TRANSLATED_FORTRAN_H

#include "fortran_capitals.h"
#include "mpi/abi/abi.h"

/* The other names of pmpi_FUNCTION_: those that Fortran compilers make of PREFIX and NAME with one
 * underscore behind it (gfortran, Intel), none, two, and in capitals. */
#define FORTRAN_NAME(name, function)                                                               \
    __asm__(".weak " name "\n.type " name ",%function\n.set " name ", pmpi_" #function "_\n");
#define FORTRAN_NAMES(prefix, PREFIX, name, NAME, function)                                        \
    FORTRAN_NAME(prefix #name, function)                                                           \
    FORTRAN_NAME(prefix #name "_", function)                                                       \
    FORTRAN_NAME(prefix #name "__", function)                                                      \
    FORTRAN_NAME(PREFIX NAME, function)

/* FORTRAN_CAPITALS_NAME is the name in capitals. The module mpi_f08 of Open MPI uses ompi_NAME_f.
 */
#define FORTRAN_ALIAS(name)                                                                        \
    FORTRAN_NAMES("mpi_", "MPI_", name, FORTRAN_CAPITALS_##name, name)                             \
    FORTRAN_NAME("pmpi_" #name, name)                                                              \
    FORTRAN_NAME("pmpi_" #name "__", name)                                                         \
    FORTRAN_NAME("PMPI_" FORTRAN_CAPITALS_##name, name) FORTRAN_OF_MODULE(name)
#ifdef ABI_OPENMPI
#define FORTRAN_OF_MODULE(name) FORTRAN_NAME("ompi_" #name "_f", name)
#else
#define FORTRAN_OF_MODULE(name)
#endif

typedef struct {
    const void *bottom, *in_place, *status, *statuses, *errcodes, *unweighted, *empty, *argv,
        *argvs;
} abi_fortran_t;

/* The addresses, of openmpi.c or mpich.c. */
extern const abi_fortran_t abi_fortran;

static inline void *fortran_buffer(void *buffer)
{
    if (__builtin_expect(buffer == abi_fortran.in_place, 0))
        return MPI_IN_PLACE;
    return __builtin_expect(buffer == abi_fortran.bottom, 0) ? MPI_BOTTOM : buffer;
}

static inline F_Status *fortran_status(F_Status *status)
{
    return (const void *)status == abi_fortran.status ||
                   (const void *)status == abi_fortran.statuses
               ? F_STATUS_IGNORE
               : status;
}

static inline MPI_Fint *fortran_weights(MPI_Fint *weights)
{
    return weights == abi_fortran.unweighted ? MPI_UNWEIGHTED
           : weights == abi_fortran.empty    ? MPI_WEIGHTS_EMPTY
                                             : weights;
}

/* MPICH's keys of attributes that MPI defines are those of C plus 1. */
static inline int fortran_keyval_in(int keyval)
{
#ifdef ABI_MPICH
    if (keyval >= 0x64000000 && keyval < 0x68000000 && (keyval & 1) == 0)
        keyval--;
#endif
    return keyval_in(keyval);
}

/* The last argument may be absent in programs that use mpi_f08. */
static inline void fortran_return(MPI_Fint *ierror, int error)
{
    if (ierror)
        *ierror = error;
}

/* A position in a list begins with 1; MPI_UNDEFINED stays. */
static inline void fortran_position(MPI_Fint *index)
{
    if (*index >= 0)
        ++*index;
}

/* Lengths of texts: the module mpi_f08 of Open MPI gives an int, with anything in the other half.
 */
static inline size_t fortran_length(size_t length)
{
    return (uint32_t)length;
}

/* A text of C without the blanks at both ends, freed by abi_list_free; and back, filled with
 * blanks. */
char *fortran_text(const char *text, size_t length);
void fortran_text_back(char *text, size_t length, const char *from);

/* An attribute as Fortran has it; the error is the other ABI's. Not exported: the names of Fortran
 * may be another library's. */
#define FORTRAN_GET_ATTR(name)                                                                     \
    int abi_##name(MPI_Fint object, MPI_Fint keyval, MPI_Aint *value, MPI_Fint *flag)              \
        __attribute__((visibility("hidden")));
FORTRAN_GET_ATTR(comm_get_attr)
FORTRAN_GET_ATTR(type_get_attr)
FORTRAN_GET_ATTR(win_get_attr)
FORTRAN_GET_ATTR(attr_get)

/* A function that has no translation: end the job with a message. */
void fortran_missing(const char *name) __attribute__((noreturn));

#endif
