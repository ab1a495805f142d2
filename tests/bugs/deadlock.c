/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait for what never comes. */
#include "bugs.h"

/* says: deadlock: no rank can make progress
 * says: rank 0: in MPI_Recv from rank 1, tag 7 on MPI_COMM_WORLD, at @here
 * says: rank 1: in MPI_Recv from rank 0, tag 7 on MPI_COMM_WORLD, at @here */
BUG(recv_recv)
{
    if (!wrong && rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 7, world);
    MPI_Recv(others, 1, MPI_INT, 1 - rank, 7, world, ignore); // @here
    if (!wrong && rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 7, world);
}

/* The communicator is gone when the rank waits in MPI_Finalize.
 * says: rank 0: in MPI_Finalize on MPI_COMM_WORLD, at main.c:*
 * says: rank 1: in MPI_Recv from rank 0, tag 1 on MPI_COMM_WORLD, at @here
 * not: brief */
BUG(freed_communicator)
{
    MPI_Comm brief;

    MPI_Comm_dup(world, &brief);
    MPI_Comm_set_name(brief, "brief");
    MPI_Barrier(brief);
    MPI_Comm_free(&brief);
    if (wrong && rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore); // @here
}

/* ranks: 4
 * says: rank 0: in MPI_Recv from rank 2 (1 in even ones), tag 3 on even ones, at @here
 * says: rank 2: in MPI_Recv from rank 0, tag 3 on even ones, at @here */
BUG(named_communicator)
{
    MPI_Comm half;
    int of_half;

    MPI_Comm_split(world, rank % 2, rank, &half);
    MPI_Comm_rank(half, &of_half);
    MPI_Comm_set_name(half, rank % 2 == 0 ? "even ones" : "odd ones");
    if (wrong && rank % 2 == 0)
        MPI_Recv(others, 1, MPI_INT, 1 - of_half, 3, half, ignore); // @here
    MPI_Comm_free(&half);
}

/* says: rank 0: in MPI_Wait, at @wait, for MPI_Start of MPI_Recv_init from rank 1, tag 9 on
 * MPI_COMM_WORLD, at @start
 */
BUG(persistent_recv)
{
    MPI_Request request;

    if (rank == 1) {
        if (!wrong)
            MPI_Send(numbers, 1, MPI_INT, 0, 9, world);
        return;
    }
    MPI_Recv_init(others, 1, MPI_INT, 1, 9, world, &request);
    MPI_Start(&request);        // @start
    MPI_Wait(&request, ignore); // @wait
    MPI_Request_free(&request);
}

/* says: rank 1: in MPI_Waitall, at @wait, for MPI_Start of MPI_Ssend_init to rank 0, tag 4 on
 * MPI_COMM_WORLD, at @start
 */
BUG(persistent_send)
{
    MPI_Request request;

    if (rank == 0) {
        if (!wrong)
            MPI_Recv(others, 1, MPI_INT, 1, 4, world, ignore);
        return;
    }
    MPI_Ssend_init(numbers, 1, MPI_INT, 0, 4, world, &request);
    MPI_Startall(1, &request);                     // @start
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE); // @wait
    MPI_Request_free(&request);
}

/* ranks: 64
 * says: ranks 0-62:2: in MPI_Recv from any rank, tag 5 on MPI_COMM_WORLD, at @here
 * says: ranks 1-63:2: in MPI_Barrier on MPI_COMM_WORLD, at @barrier */
BUG(every_second_rank)
{
    if (wrong && rank % 2 == 0)
        MPI_Recv(others, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, ignore); // @here
    MPI_Barrier(world);                                                 // @barrier
}

/* says: rank 1: in MPI_Comm_dup on MPI_COMM_WORLD, at @dup
 * says: rank 0: in MPI_Recv from rank 1, tag 2 on MPI_COMM_WORLD, at @here */
BUG(dup_without_0)
{
    MPI_Comm made;

    if (wrong && rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 2, world, ignore); // @here
    MPI_Comm_dup(world, &made);                            // @dup
    MPI_Comm_free(&made);
}
