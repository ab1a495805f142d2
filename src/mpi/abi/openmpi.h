/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of Open MPI's ABI. A handle is the address of an object; those of predefined objects are
 * known to programs by name (ompi_mpi_int). Here all of them are in one array, and each contains
 * Xylem's handle. The handles of other objects are those of Xylem.
 *
 * An executable may have copies of predefined objects (copy relocations). The dynamic linker then
 * resolves their names to the copies, everywhere: abi_handles_out has those addresses, and
 * abi_copies says where they are.
 */
#ifndef XY_MPI_ABI_OPENMPI_H
#define XY_MPI_ABI_OPENMPI_H

#include <stddef.h>
#include <stdint.h>

#include "mpi/abi/abi_own.h"

#define ABI_OPENMPI 1

typedef void *F_Comm, *F_Datatype, *F_Errhandler, *F_File, *F_Group, *F_Info, *F_Message, *F_Op,
    *F_Request, *F_Session, *F_Win;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int cancelled;
    size_t bytes;
} F_Status;

#define F_STATUS_IGNORE      ((F_Status *)0)
#define F_STATUSES_IGNORE    ((F_Status *)0)
#define F_IN_PLACE           ((void *)1)
#define F_UNWEIGHTED         ((int *)2)
#define F_WEIGHTS_EMPTY      ((int *)3)
#define F_T_PVAR_ALL_HANDLES ((MPI_T_pvar_handle)-1)

typedef struct {
    void *own; /* Xylem's handle */
} abi_object_t;

/* Objects that the C++ interface writes to stand behind the predefined ones (cxx.c). */
enum { ABI_PROXY_WORDS = 16, ABI_PROXIES = 16 };
extern abi_object_t abi_objects[], *const abi_proxies;
extern const size_t abi_objects_size;
extern void *const abi_handles_out[];
extern uintptr_t abi_copies, abi_copies_size;

/* A name for the `index`-th object. */
#define ABI_OBJECT(name, index)                                                                    \
    __asm__(".globl " name "\n.type " name ",%object\n.size " name ", 8\n.set " name               \
            ", abi_objects + 8 * " #index "\n");

static inline void *abi_handle_in(const void *handle)
{
    if ((uintptr_t)handle - (uintptr_t)abi_objects < abi_objects_size ||
        (uintptr_t)handle - abi_copies < abi_copies_size)
        return ((const abi_object_t *)handle)->own;
    return (void *)(uintptr_t)handle;
}

static inline void *abi_handle_out(void *handle)
{
    return (uintptr_t)handle < ABI_PREDEFINED ? abi_handles_out[(uintptr_t)handle] : handle;
}

#define abi_file_in    abi_handle_in
#define abi_file_out   abi_handle_out
#define abi_message_in abi_handle_in

/* In Fortran, predefined handles are small numbers, in each kind from 0; the others are Xylem's. */
extern const signed char abi_fortran_out[];

#define ABI_FROM_FORTRAN(kind)                                                                     \
    extern const unsigned short abi_##kind##_numbers[];                                            \
    extern const unsigned abi_##kind##_numbers_size;                                               \
    static inline void *abi_##kind##_from_fortran(int number)                                      \
    {                                                                                              \
        if ((unsigned)number < abi_##kind##_numbers_size)                                          \
            return (void *)(uintptr_t)abi_##kind##_numbers[number];                                \
        return number < ABI_PREDEFINED ? NULL : xylem_mpi_services.handle_from_int(number);        \
    }

ABI_FROM_FORTRAN(comm)
ABI_FROM_FORTRAN(datatype)
ABI_FROM_FORTRAN(errhandler)
ABI_FROM_FORTRAN(file)
ABI_FROM_FORTRAN(group)
ABI_FROM_FORTRAN(info)
ABI_FROM_FORTRAN(message)
ABI_FROM_FORTRAN(op)
ABI_FROM_FORTRAN(request)
ABI_FROM_FORTRAN(session)
ABI_FROM_FORTRAN(win)

static inline int abi_to_fortran(const void *own)
{
    return (uintptr_t)own < ABI_PREDEFINED ? abi_fortran_out[(uintptr_t)own]
                                           : xylem_mpi_services.handle_to_int(own);
}

static inline void abi_status_set(F_Status *status, uint64_t bytes, int is_cancelled)
{
    status->cancelled = is_cancelled;
    status->bytes = bytes;
}

static inline uint64_t abi_status_bytes(const F_Status *status)
{
    return status->bytes;
}

static inline int abi_status_is_cancelled(const F_Status *status)
{
    return status->cancelled;
}

#endif
