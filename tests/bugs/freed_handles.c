/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles that were freed and kept, and what is none. */
#include "bugs.h"

static MPI_Datatype make_pair(void)
{
    MPI_Datatype type;

    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void add(void *in, void *out, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)out)[i] += ((int *)in)[i];
}

/* code: 3
 * ranks: 1
 * says: rank 0: MPI_Send: the datatype is not a valid handle: it was freed at @free
 * (MPI_ERR_TYPE; at @send) */
BUG(freed_type_send)
{
    MPI_Datatype type = make_pair(), kept = type;

    if (wrong)
        MPI_Type_free(&type);                            // @free
    MPI_Send(numbers, 1, kept, MPI_PROC_NULL, 1, world); // @send
    if (!wrong)
        MPI_Type_free(&type);
}

/* code: 3
 * says: MPI_Bcast: the datatype is not a valid handle: it was freed at @free */
BUG(freed_type_bcast)
{
    MPI_Datatype type = make_pair(), kept = type;

    MPI_Type_free(&type); // @free
    MPI_Bcast(numbers, 1, wrong && rank == 0 ? kept : MPI_INT, 0, world);
    MPI_Barrier(world);
}

/* A pending operation and other types keep it, but its handle is gone.
 * code: 3
 * ranks: 1
 * says: rank 0: MPI_Irecv: the datatype is not a valid handle: it was freed at @free */
BUG(freed_type_pending)
{
    MPI_Datatype type = make_pair(), kept = type, other;
    MPI_Request requests[2];

    MPI_Type_contiguous(3, type, &other);
    MPI_Type_commit(&other);
    MPI_Irecv(others, 1, type, 0, 1, world, &requests[0]);
    MPI_Type_free(&type); // @free
    MPI_Irecv(others + 2, 1, wrong ? kept : other, 0, 1, world, &requests[1]);
    MPI_Send(numbers, 2, MPI_INT, 0, 1, world);
    MPI_Send(numbers, 6, MPI_INT, 0, 1, world);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&other);
}

/* code: 3
 * ranks: 1
 * says: rank 0: MPI_Type_free: this is not a datatype: it was freed at @free (MPI_ERR_TYPE; at
 * @again) */
BUG(freed_type_twice)
{
    MPI_Datatype type = make_pair(), kept = wrong ? type : make_pair();

    MPI_Type_free(&type); // @free
    MPI_Type_free(&kept); // @again
}

/* code: 3
 * ranks: 1
 * says: rank 0: MPI_Type_vector: the old datatype is not a datatype: it was freed at @free */
BUG(freed_type_make)
{
    MPI_Datatype type = make_pair(), kept = type, made;

    if (wrong)
        MPI_Type_free(&type); // @free
    MPI_Type_vector(2, 1, 2, kept, &made);
    MPI_Type_free(&kept);
    MPI_Type_free(&made);
}

/* What MPI_Type_get_contents returns is a handle of its own.
 * code: 3
 * ranks: 1
 * says: rank 0: MPI_Type_size: this is not a datatype: it was freed at @free */
BUG(freed_type_contents)
{
    MPI_Datatype type = make_pair(), made, part;
    int n, integers[1];

    MPI_Type_contiguous(3, type, &made);
    MPI_Type_free(&type);
    MPI_Type_get_contents(made, 1, 0, 1, integers, NULL, &part);
    type = part;
    if (wrong)
        MPI_Type_free(&part); // @free
    MPI_Type_size(type, &n);
    if (!wrong)
        MPI_Type_free(&part);
    MPI_Type_free(&made);
}

/* code: 3
 * ranks: 1
 * says: rank 0: MPI_Send: the datatype is not a valid handle (MPI_ERR_TYPE; at @send)
 * not: it was freed */
BUG(garbage_type)
{
    MPI_Datatype type = wrong ? (MPI_Datatype)(void *)numbers : MPI_INT;

    MPI_Send(numbers, 1, type, MPI_PROC_NULL, 1, world); // @send
}

/* code: 10
 * says: rank 1: MPI_Allreduce: the operation is not a valid handle: it was freed at @free */
BUG(freed_operation)
{
    MPI_Op op, kept;

    MPI_Op_create(add, 1, &op);
    kept = op;
    if (wrong && rank == 1)
        MPI_Op_free(&op); // @free
    MPI_Allreduce(numbers, others, 4, MPI_INT, kept, world);
    if (!wrong)
        MPI_Op_free(&op);
}

/* Each handle of a group is freed by itself, also when it is that of all ranks.
 * code: 9
 * says: rank 0: MPI_Group_incl: the group is not a group: it was freed at @free */
BUG(freed_group)
{
    MPI_Group group, other, kept, made;

    MPI_Comm_group(world, &group);
    MPI_Comm_group(world, &other);
    kept = wrong && rank == 0 ? group : other;
    MPI_Group_free(&group); // @free
    MPI_Group_incl(kept, 1, (int[]){0}, &made);
    MPI_Barrier(world);
    MPI_Group_free(&made);
    MPI_Group_free(&other);
}

/* code: 34
 * ranks: 1
 * says: rank 0: MPI_Info_set: the info object is not an info object: it was freed at @free */
BUG(freed_info)
{
    MPI_Info info, kept;

    MPI_Info_create(&info);
    kept = info;
    if (wrong)
        MPI_Info_free(&info); // @free
    MPI_Info_set(kept, "key", "value");
    MPI_Info_free(&kept);
}

/* code: 34
 * ranks: 1
 * says: rank 0: MPI_Comm_dup_with_info: the info argument is not an info object: it was freed at
 * @free */
BUG(freed_info_dup)
{
    MPI_Info info, kept;
    MPI_Comm comm;

    MPI_Info_create(&info);
    kept = info;
    if (wrong)
        MPI_Info_free(&info); // @free
    MPI_Comm_dup_with_info(world, kept, &comm);
    MPI_Comm_free(&comm);
    MPI_Info_free(&kept);
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* A communicator keeps its handler; what MPI_Comm_get_errhandler returns is to be freed, too.
 * code: 61
 * ranks: 1
 * says: rank 0: MPI_Comm_set_errhandler: the error handler is not a handle: it was freed at @free
 */
BUG(freed_error_handler)
{
    MPI_Errhandler handler, kept, again;
    MPI_Comm other;

    MPI_Comm_dup(world, &other);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(other, handler);
    MPI_Comm_get_errhandler(other, &again);
    MPI_Errhandler_free(&again);
    kept = handler;
    if (wrong)
        MPI_Errhandler_free(&handler); // @free
    MPI_Comm_set_errhandler(world, kept);
    if (!wrong)
        MPI_Errhandler_free(&handler);
    MPI_Comm_free(&other);
}

/* code: 56
 * says: rank 0: MPI_Put: the window is not a window: it was freed at @free (MPI_ERR_WIN; at @put)
 */
BUG(freed_window_put)
{
    MPI_Win win, kept;

    MPI_Win_create(numbers, sizeof(int), sizeof(int), MPI_INFO_NULL, world, &win);
    kept = win;
    MPI_Win_fence(0, win);
    if (wrong) {
        MPI_Win_free(&win); // @free
        if (rank == 0)
            MPI_Put(others, 1, MPI_INT, 1, 0, 1, MPI_INT, kept); // @put
        MPI_Barrier(world);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* code: 56
 * says: rank 1: MPI_Win_lock: the window is not a window: it was freed at @free */
BUG(freed_window_lock)
{
    MPI_Win win, kept;

    MPI_Win_create(numbers, sizeof(int), sizeof(int), MPI_INFO_NULL, world, &win);
    kept = win;
    if (wrong)
        MPI_Win_free(&win); // @free
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, kept);
        MPI_Win_unlock(0, kept);
    }
    MPI_Barrier(world);
    MPI_Win_free(&win);
}

/* code: 56
 * says: rank 0: MPI_Win_fence: the window is not a window: it was freed at @free */
BUG(freed_window_fence)
{
    MPI_Win win, kept;

    MPI_Win_create(numbers, sizeof(int), sizeof(int), MPI_INFO_NULL, world, &win);
    kept = win;
    if (wrong)
        MPI_Win_free(&win); // @free
    if (!wrong || rank == 0)
        MPI_Win_fence(0, kept);
    MPI_Barrier(world);
    MPI_Win_free(&win);
}

/* code: 56
 * ranks: 1
 * says: rank 0: MPI_Win_free: the window is not a window: it was freed at @free */
BUG(freed_window_twice)
{
    MPI_Win win, kept;

    MPI_Win_create(numbers, sizeof(int), sizeof(int), MPI_INFO_NULL, world, &win);
    kept = win;
    MPI_Win_free(&win); // @free
    if (wrong)
        MPI_Win_free(&kept);
}

/* code: 56
 * ranks: 1
 * says: rank 0: MPI_Win_fence: the window is not a window (MPI_ERR_WIN; at @fence)
 * not: it was freed */
BUG(garbage_window)
{
    MPI_Win win;

    MPI_Win_create(numbers, sizeof(int), sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, wrong ? (MPI_Win)(void *)others : win); // @fence
    MPI_Win_free(&win);
}

/* code: 5
 * says: rank 1: MPI_Comm_rank: the communicator is not a communicator (MPI_ERR_COMM; at @rank) */
BUG(garbage_communicator)
{
    int mine;

    for (int i = 0; i < 64; i++)
        others[i] = 7;
    if (rank == 1)
        MPI_Comm_rank(wrong ? (MPI_Comm)(void *)others : world, &mine); // @rank
    MPI_Barrier(world);
}

/* A pending receive keeps it, but its handle is gone.
 * code: 5
 * ranks: 1
 * says: rank 0: MPI_Send: the communicator, own, was freed at @free (MPI_ERR_COMM; at @send) */
BUG(freed_communicator_pending)
{
    MPI_Comm comm, kept;
    MPI_Request request;

    MPI_Comm_dup(world, &comm);
    MPI_Comm_set_name(comm, "own");
    kept = comm;
    MPI_Irecv(others, 1, MPI_INT, 0, 1, comm, &request);
    if (wrong)
        MPI_Comm_free(&comm);                  // @free
    MPI_Send(numbers, 1, MPI_INT, 0, 1, kept); // @send
    MPI_Wait(&request, ignore);
    MPI_Comm_free(&comm);
}

/* A message that was taken keeps its communicator.
 * code: 7
 * ranks: 1
 * says: rank 0: MPI_Mrecv: the message has been received, or was never taken by MPI_Mprobe *at
 * @again */
BUG(message_received_twice)
{
    MPI_Message message, kept;
    MPI_Request request;
    MPI_Comm comm;

    MPI_Comm_dup(world, &comm);
    MPI_Isend(numbers, 1, MPI_INT, 0, 1, comm, &request);
    MPI_Mprobe(0, 1, comm, &message, ignore);
    MPI_Comm_free(&comm);
    kept = message;
    MPI_Mrecv(others, 1, MPI_INT, &message, ignore);
    MPI_Wait(&request, ignore);
    if (wrong)
        MPI_Mrecv(others, 1, MPI_INT, &kept, ignore); // @again
}

#if MPI_VERSION >= 4
/* code: 34
 * ranks: 1
 * says: rank 0: MPI_Bcast_init: the info argument is not an info object: it was freed at @free */
BUG(freed_info_persistent)
{
    MPI_Info info, kept;
    MPI_Request request;

    MPI_Info_create(&info);
    kept = info;
    if (wrong)
        MPI_Info_free(&info); // @free
    MPI_Bcast_init(numbers, 1, MPI_INT, 0, world, kept, &request);
    MPI_Request_free(&request);
    MPI_Info_free(&kept);
}
#endif

/* code: 7
 * ranks: 1
 * says: rank 0: MPI_Request_get_status: the request was completed or freed before; it was that of
 * MPI_Ibarrier at @start */
BUG(status_after_wait)
{
    MPI_Request request, kept;
    int flag;

    MPI_Ibarrier(world, &request); // @start
    kept = request;
    if (wrong)
        MPI_Wait(&request, ignore);
    MPI_Request_get_status(kept, &flag, ignore);
    if (!wrong)
        MPI_Wait(&request, ignore);
}
