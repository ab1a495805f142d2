/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: those that do not fit, and what is left. */
#include "bugs.h"

/* code: 15
 * says: rank 1: MPI_Recv: the message from rank 0 with tag 2 has 40 bytes; the receive has room for
 * 20 (sent at @send) (MPI_ERR_TRUNCATE; at @recv)
 */
BUG(truncated)
{
    if (rank == 0)
        MPI_Send(numbers, 10, MPI_INT, 1, 2, world); // @send
    else
        MPI_Recv(others, wrong ? 5 : 10, MPI_INT, 0, 2, world, ignore); // @recv
}

/* code: 15
 * says: rank 1: MPI_Wait: the message from rank 0 with tag 2 has 40 bytes; the receive has room for
 * 20 (MPI_Irecv at @recv, sent at @send) (MPI_ERR_TRUNCATE; at @wait)
 */
BUG(truncated_in_wait)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Send(numbers, 10, MPI_INT, 1, 2, world); // @send
        return;
    }
    MPI_Irecv(others, wrong ? 5 : 10, MPI_INT, 0, 2, world, &request); // @recv
    MPI_Wait(&request, ignore);                                        // @wait
}

/* code: 15
 * says: rank 1: MPI_Recv: the message from rank 0 with tag 2 has 4000 bytes; the receive has room
 * for 20 (sent at @send) (MPI_ERR_TRUNCATE; at @recv)
 */
BUG(truncated_medium)
{
    if (rank == 0)
        MPI_Send(numbers, 1000, MPI_INT, 1, 2, world); // @send
    MPI_Barrier(world);
    if (rank == 1)
        MPI_Recv(others, wrong ? 5 : 1000, MPI_INT, 0, 2, world, ignore); // @recv
}

/* code: 15
 * says: rank 1: MPI_Recv: the message from rank 0 with tag 2 has 1048576 bytes; the receive has
 * room for 20 (sent at @send) (MPI_ERR_TRUNCATE; at @recv)
 */
BUG(truncated_large)
{
    if (rank == 0)
        MPI_Send(numbers, LARGE, MPI_INT, 1, 2, world); // @send
    else
        MPI_Recv(others, wrong ? 5 : LARGE, MPI_INT, 0, 2, world, ignore); // @recv
}

/* Ranks of another communicator have their numbers in the world, too.
 * ranks: 3
 * code: 15
 * says: rank 1: MPI_Recv: the message from rank 2 (0 in upside down) with tag 2 has 8 bytes; the
 * receive has room for 4 (sent at @send) (MPI_ERR_TRUNCATE; at @recv)
 */
BUG(truncated_elsewhere)
{
    MPI_Comm down;

    MPI_Comm_split(world, 0, -rank, &down);
    MPI_Comm_set_name(down, "upside down");
    if (rank == 2)
        MPI_Send(numbers, 2, MPI_INT, 1, 2, down); // @send
    if (rank == 1)
        MPI_Recv(others, wrong ? 1 : 2, MPI_INT, 0, 2, down, ignore); // @recv
    MPI_Comm_free(&down);
}

/* code: 0
 * says: rank 1: 1 message never received: from rank 0, tag 3, 4 bytes, sent by MPI_Send at @here */
BUG(never_received)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 3, world); // @here
    else if (!wrong)
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
}

/* code: 0
 * says: rank 0: 3 messages never received; the first: from rank 1, tag 3, 400 bytes, sent by MPI_*
 * at
 * @here
 */
BUG(several_never_received)
{
    for (int i = 0; i < 3; i++)
        if (rank == 1)
            MPI_Send(numbers, 100, MPI_INT, 0, 3, world); // @here
        else if (!wrong)
            MPI_Recv(others, 100, MPI_INT, 1, 3, world, ignore);
}

/* code: 0
 * says: ranks 0-1: 1 request never completed: that of MPI_Ibarrier (at @here); complete it with
 * MPI_Wait or MPI_Test before MPI_Finalize
 */
BUG(never_completed)
{
    MPI_Request request;

    MPI_Ibarrier(world, &request); // @here
    if (!wrong)
        MPI_Wait(&request, ignore);
}

/* code: 0
 * says: rank 1: 1 request never completed: that of MPI_Irecv (at @here) */
BUG(receive_never_completed)
{
    MPI_Request request;

    if (rank == 1) {
        MPI_Irecv(others, 1, MPI_INT, 0, 3, world, &request); // @here
        if (!wrong)
            MPI_Wait(&request, ignore);
    } else if (!wrong) {
        MPI_Send(numbers, 1, MPI_INT, 1, 3, world);
    }
}

/* A request that is freed is no mistake.
 * code: 0
 * says: rank 0: 1 request never completed: that of MPI_Isend (at @here) */
BUG(send_never_completed)
{
    MPI_Request request;

    if (rank == 1) {
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
        return;
    }
    MPI_Isend(numbers, 1, MPI_INT, 1, 3, world, &request); // @here
    if (!wrong)
        MPI_Request_free(&request);
}

/* code: 0
 * says: rank 0: 1 request never completed: that of MPI_Start of MPI_Send_init (at
 * @start) */
BUG(start_never_completed)
{
    MPI_Request request;

    if (rank == 1) {
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
        return;
    }
    MPI_Send_init(numbers, 1, MPI_INT, 1, 3, world, &request);
    MPI_Start(&request); // @start
    if (!wrong) {
        MPI_Wait(&request, ignore);
        MPI_Request_free(&request);
    }
}

/* says: rank 1 has no receive for a ready send with tag 9, at @here; post the receive before
 * MPI_Rsend, or use MPI_Send
 */
BUG(not_ready)
{
    MPI_Request request;

    if (rank == 1 && !wrong)
        MPI_Irecv(others, 1, MPI_INT, 0, 9, world, &request);
    MPI_Barrier(world);
    if (rank == 0)
        MPI_Rsend(numbers, 1, MPI_INT, 1, 9, world); // @here
    MPI_Barrier(world);
    if (rank == 1 && wrong)
        MPI_Irecv(others, 1, MPI_INT, 0, 9, world, &request);
    if (rank == 1)
        MPI_Wait(&request, ignore);
}
