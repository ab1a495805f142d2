/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the MPI functions for Fortran. Most are written by fortran.py; those whose arguments
 * differ from C's are in fortran_*.c.
 *
 * gfortran passes addresses: of an INTEGER for each handle, of a LOGICAL that is 0 or 1; the length
 * of each text, which has no terminating zero, follows all arguments. A Fortran status is a C
 * status.
 *
 * The addresses of some Fortran variables have a meaning (MPI_IN_PLACE). They are one COMMON block,
 * /XYLEM_FORTRAN/, of which every program that uses one has its own, in its private image: the
 * launcher sets that of each rank (mpi_rank_t.fortran). In a program without a launcher it takes
 * the place of the one here.
 */
#ifndef XY_MPI_BINDINGS_FORTRAN_H
#define XY_MPI_BINDINGS_FORTRAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "mpi.h"
#include "mpi/bindings/services.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* Where they are in the block, as fortran.py declares it. */
enum {
    FORTRAN_BOTTOM = 0,
    FORTRAN_IN_PLACE = 4,
    FORTRAN_BUFFER_AUTOMATIC = 8,
    FORTRAN_ERRCODES_IGNORE = 12,
    FORTRAN_UNWEIGHTED = 16,
    FORTRAN_WEIGHTS_EMPTY = 20,
    FORTRAN_ARGV_NULL = 24,
    FORTRAN_ARGVS_NULL = 28,
    FORTRAN_STATUS_IGNORE = 32,
    FORTRAN_STATUSES_IGNORE = 64,
    FORTRAN_BLOCK = 96 /* its size */
};

/* The block of programs without a launcher. */
extern char xylem_fortran_[FORTRAN_BLOCK] __attribute__((visibility("default")));

/* Where in the calling rank's block `address` is; FORTRAN_BLOCK or more: it is elsewhere. */
static inline uintptr_t fortran_offset(const void *address)
{
    const mpi_rank_t *rank = mpi_self ? mpi_self : mpi_thread_owner;
    const char *block = rank && rank->fortran ? rank->fortran : xylem_fortran_;

    return (uintptr_t)address - (uintptr_t)block;
}

/* The equivalents of C: its own special addresses. */
void *fortran_special(uintptr_t offset) __attribute__((cold));

static inline void *fortran_buffer(void *address)
{
    uintptr_t offset = fortran_offset(address);

    return __builtin_expect(offset < FORTRAN_BLOCK, 0) ? fortran_special(offset) : address;
}

static inline MPI_Status *fortran_status(MPI_Status *status)
{
    return fortran_offset(status) < FORTRAN_BLOCK ? MPI_STATUS_IGNORE : status;
}

static inline MPI_Fint *fortran_weights(MPI_Fint *weights)
{
    return fortran_buffer(weights);
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

static inline void fortran_positions(MPI_Fint indices[], int count)
{
    for (int i = 0; i < count; i++)
        fortran_position(&indices[i]);
}

/* A text of C, without the blanks at its end and at its beginning; the caller frees it. NULL:
 * memory ran out. */
char *fortran_text(const char *text, size_t length);
/* A text of C to Fortran: cut, or filled with blanks. */
void fortran_text_back(char *text, size_t length, const char *from);

/* Lists of handles: as C has them, in `few` or in memory that fortran_list_end frees. `numbers`
 * may be NULL: they only come back. */
enum { FORTRAN_FEW = 16 };
void **fortran_list(void *few[FORTRAN_FEW], long count, const MPI_Fint numbers[]);
void fortran_list_back(MPI_Fint numbers[], void **list, long count);
void fortran_list_end(void **list, void *few[FORTRAN_FEW]);

/* A function under its two names, behind its definition under the first. */
#define FORTRAN_ALIAS(name, ...)                                                                   \
    void mpi_##name##_(__VA_ARGS__) __attribute__((weak, alias("pmpi_" #name "_")));

#endif
