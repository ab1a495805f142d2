/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that do not fit. */
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
