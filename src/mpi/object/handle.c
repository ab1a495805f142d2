/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles as integers, for Fortran and for languages that keep them so (MPI_Comm_c2f and
 * MPI_Comm_toint are the same here).
 *
 * Predefined handles are small numbers already. The others are addresses: each address that was
 * ever asked for gets a number behind them, and keeps it. An object that is made later at the same
 * address has the same number, so nothing need be told when objects go, and the table never holds
 * more entries than there were different addresses. One table serves all kinds and all ranks of the
 * process.
 */
#include <pthread.h>
#include <stdint.h>

#include "base/base.h"
#include "mpi/object/calls.h"

enum { FIRST = 4096 }; /* below: predefined */

typedef struct {
    pthread_mutex_t lock;
    xy_hash_t numbers;  /* address -> its place in `addresses`, from 1 on */
    xy_vec_t addresses; /* of void * */
} table_t;

static table_t table = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .numbers = {.kind = XY_HASH_U64},
                        .addresses = XY_VEC_INIT(void *)};

/* With the lock held. 0: memory ran out; that is no handle of any kind. */
static int number_new(void *address)
{
    void **place = xy_vec_push(&table.addresses);
    uintptr_t count = table.addresses.count;

    if (!place)
        return 0;
    *place = address;
    if (xy_hash_set(&table.numbers, (uint64_t)(uintptr_t)address, (void *)count) != XY_OK) {
        xy_vec_pop(&table.addresses);
        return 0;
    }
    return FIRST - 1 + (int)count;
}

static int to_int(void *handle)
{
    uintptr_t address = (uintptr_t)handle, place;
    int number;

    if (address < FIRST)
        return (int)address;
    pthread_mutex_lock(&table.lock);
    place = (uintptr_t)xy_hash_get(&table.numbers, (uint64_t)address);
    number = place > 0 ? FIRST - 1 + (int)place : number_new(handle);
    pthread_mutex_unlock(&table.lock);
    return number;
}

/* NULL, which is no handle of any kind, for numbers that were never given out. */
static void *from_int(int number)
{
    void *address = NULL;

    if (number >= 0 && number < FIRST)
        return (void *)(uintptr_t)number;
    pthread_mutex_lock(&table.lock);
    if (number >= FIRST && (size_t)(number - FIRST) < table.addresses.count)
        address = XY_VEC_AT(&table.addresses, void *, number - FIRST);
    pthread_mutex_unlock(&table.lock);
    return address;
}

int impl_comm_toint(MPI_Comm handle)
{
    return to_int((void *)handle);
}

MPI_Comm impl_comm_fromint(int number)
{
    return (MPI_Comm)from_int(number);
}

int impl_type_toint(MPI_Datatype handle)
{
    return to_int((void *)handle);
}

MPI_Datatype impl_type_fromint(int number)
{
    return (MPI_Datatype)from_int(number);
}

int impl_errhandler_toint(MPI_Errhandler handle)
{
    return to_int((void *)handle);
}

MPI_Errhandler impl_errhandler_fromint(int number)
{
    return (MPI_Errhandler)from_int(number);
}

int impl_file_toint(MPI_File handle)
{
    return to_int((void *)handle);
}

MPI_File impl_file_fromint(int number)
{
    return (MPI_File)from_int(number);
}

int impl_group_toint(MPI_Group handle)
{
    return to_int((void *)handle);
}

MPI_Group impl_group_fromint(int number)
{
    return (MPI_Group)from_int(number);
}

int impl_info_toint(MPI_Info handle)
{
    return to_int((void *)handle);
}

MPI_Info impl_info_fromint(int number)
{
    return (MPI_Info)from_int(number);
}

int impl_message_toint(MPI_Message handle)
{
    return to_int((void *)handle);
}

MPI_Message impl_message_fromint(int number)
{
    return (MPI_Message)from_int(number);
}

int impl_op_toint(MPI_Op handle)
{
    return to_int((void *)handle);
}

MPI_Op impl_op_fromint(int number)
{
    return (MPI_Op)from_int(number);
}

int impl_request_toint(MPI_Request handle)
{
    return to_int((void *)handle);
}

MPI_Request impl_request_fromint(int number)
{
    return (MPI_Request)from_int(number);
}

int impl_session_toint(MPI_Session handle)
{
    return to_int((void *)handle);
}

MPI_Session impl_session_fromint(int number)
{
    return (MPI_Session)from_int(number);
}

int impl_win_toint(MPI_Win handle)
{
    return to_int((void *)handle);
}

MPI_Win impl_win_fromint(int number)
{
    return (MPI_Win)from_int(number);
}
