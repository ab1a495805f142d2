/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of the ABI of MPICH and its relatives. A handle is an integer, in C and in Fortran; only a
 * file is an address. The numbers of objects that Xylem makes are those that it has for Fortran,
 * with both upper bits set: no predefined handle has them.
 */
#ifndef XY_MPI_ABI_MPICH_H
#define XY_MPI_ABI_MPICH_H

#include <stddef.h>
#include <stdint.h>

#include "mpi/abi/abi_own.h"

#define ABI_MPICH 1

typedef int F_Comm, F_Datatype, F_Errhandler, F_Group, F_Info, F_Message, F_Op, F_Request,
    F_Session, F_Win;
typedef void *F_File;

typedef struct {
    int count_low;
    int count_high; /* the upper bits of the number of bytes, times 2; 1 when it was cancelled */
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
} F_Status;

#define F_STATUS_IGNORE   ((F_Status *)1)
#define F_STATUSES_IGNORE ((F_Status *)1)
#define F_IN_PLACE        ((void *)-1)

/* Programs read these addresses from variables of the library (mpich.c). */
extern int abi_unweighted, abi_weights_empty, abi_all_handles;
#define F_UNWEIGHTED         (&abi_unweighted)
#define F_WEIGHTS_EMPTY      (&abi_weights_empty)
#define F_T_PVAR_ALL_HANDLES ((MPI_T_pvar_handle)(void *)&abi_all_handles)

typedef struct {
    unsigned number;
    unsigned own; /* Xylem's handle */
} abi_number_t;

/* The hash of predefined handles, without collisions: translate.py finds it, and a test compares.
 */
#define ABI_NUMBERS_MULTIPLIER 728671195u
#define ABI_NUMBERS_SHIFT      23
extern const abi_number_t abi_numbers[];
extern const unsigned abi_handles_out[];

#define ABI_DYNAMIC 0xc0000000u

static inline void *abi_handle_in(int handle)
{
    unsigned number = (unsigned)handle;
    const abi_number_t *found;

    if (number >= ABI_DYNAMIC)
        return xylem_mpi_services.handle_from_int((int)(number & ~ABI_DYNAMIC));
    found = &abi_numbers[number * ABI_NUMBERS_MULTIPLIER >> ABI_NUMBERS_SHIFT];
    return (void *)(uintptr_t)(found->number == number ? found->own : 0);
}

static inline int abi_handle_out(const void *handle)
{
    if ((uintptr_t)handle < ABI_PREDEFINED)
        return (int)abi_handles_out[(uintptr_t)handle];
    return (int)((unsigned)xylem_mpi_services.handle_to_int(handle) | ABI_DYNAMIC);
}

/* MPI_MESSAGE_NULL and MPI_REQUEST_NULL have one number. */
static inline void *abi_message_in(int message)
{
    void *own = abi_handle_in(message);

    return own == (void *)MPI_REQUEST_NULL ? (void *)MPI_MESSAGE_NULL : own;
}

static inline void *abi_file_in(void *file)
{
    return file ? file : MPI_FILE_NULL;
}

static inline void *abi_file_out(void *file)
{
    return file == MPI_FILE_NULL ? NULL : file;
}

#define abi_comm_from_fortran       abi_handle_in
#define abi_datatype_from_fortran   abi_handle_in
#define abi_errhandler_from_fortran abi_handle_in
#define abi_group_from_fortran      abi_handle_in
#define abi_info_from_fortran       abi_handle_in
#define abi_message_from_fortran    abi_message_in
#define abi_op_from_fortran         abi_handle_in
#define abi_request_from_fortran    abi_handle_in
#define abi_session_from_fortran    abi_handle_in
#define abi_win_from_fortran        abi_handle_in

static inline void *abi_file_from_fortran(int number)
{
    return number == 0 ? MPI_FILE_NULL : abi_handle_in(number);
}

static inline int abi_to_fortran(const void *own)
{
    return own == (void *)MPI_FILE_NULL ? 0 : abi_handle_out(own);
}

static inline void abi_status_set(F_Status *status, uint64_t bytes, int is_cancelled)
{
    status->count_low = (int)(uint32_t)bytes;
    status->count_high = (int)((uint32_t)(bytes >> 32) << 1 | (is_cancelled != 0));
}

static inline uint64_t abi_status_bytes(const F_Status *status)
{
    return (uint64_t)((uint32_t)status->count_high >> 1) << 32 | (uint32_t)status->count_low;
}

static inline int abi_status_is_cancelled(const F_Status *status)
{
    return status->count_high & 1;
}

#endif
