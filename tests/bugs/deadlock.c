/* SPDX-License-Identifier: BSD-3-Clause */
/* Deadlocks: ranks that wait for what never comes. */
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

/* ranks: 4096
 * says: ranks 0-4094:2: in MPI_Recv from any rank, tag 5 on MPI_COMM_WORLD, at @here
 * says: ranks 1-4095:2: in MPI_Barrier on MPI_COMM_WORLD, at @barrier */
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

/* says:   cause: rank 0 waits for a message with tag 1 from rank 1, rank 1 waits for a message with
 * tag 1 from rank 2, rank 2 waits for a message with tag 1 from rank 0 ranks: 3 */
BUG(circle_of_three)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;

    if (!wrong)
        MPI_Send(numbers, 1, MPI_INT, previous, 1, world);
    MPI_Recv(others, 1, MPI_INT, next, 1, world, ignore);
}

/* Too large to be kept.
 * says:   cause: rank 0 waits until rank 1 receives its message with tag 6, rank 1 waits until rank
 * 0 receives its message with tag 6
 */
BUG(send_send)
{
    if (wrong || rank == 0) {
        MPI_Send(numbers, LARGE, MPI_INT, 1 - rank, 6, world);
        MPI_Recv(others, LARGE, MPI_INT, 1 - rank, 6, world, ignore);
    } else {
        MPI_Recv(others, LARGE, MPI_INT, 1 - rank, 6, world, ignore);
        MPI_Send(numbers, LARGE, MPI_INT, 1 - rank, 6, world);
    }
}

/* ranks: 3
 * says:   cause: rank 2 waits for a message with tag 7 from rank 0; rank 0 has called MPI_Finalize
 * not: is there */
BUG(partner_has_ended)
{
    if (!wrong && rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 2, 7, world);
    if (rank == 2)
        MPI_Recv(others, 1, MPI_INT, 0, 7, world, ignore);
}

/* says:   cause: rank 1 waits for a message with tag 7 from rank 0; rank 0 has called MPI_Finalize;
 * a message with tag 8 from rank 0 is there, sent at @send
 */
BUG(other_tag)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, wrong ? 8 : 7, world); // @send
    else
        MPI_Recv(others, 1, MPI_INT, 0, 7, world, ignore);
}

/* says:   cause: rank 0 waits for a message with tag 3 from rank 1, rank 1 waits in MPI_Barrier on
 * MPI_COMM_WORLD for rank 0
 */
BUG(barrier_and_recv)
{
    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 3, world, ignore);
    else if (!wrong)
        MPI_Send(numbers, 1, MPI_INT, 0, 3, world);
    MPI_Barrier(world);
}

/* ranks: 3
 * says:   cause: rank 1 waits for a message with tag 4 from any rank; no rank will send one */
BUG(from_any)
{
    if (rank == 1)
        MPI_Recv(others, 1, MPI_INT, MPI_ANY_SOURCE, 4, world, ignore);
    if (!wrong && rank == 2)
        MPI_Send(numbers, 1, MPI_INT, 1, 4, world);
    MPI_Barrier(world);
}

/* says:   cause: rank 1 waits for a message with tag 5 from rank 0; rank 0 has called MPI_Finalize
 */
BUG(probe)
{
    if (rank == 1)
        MPI_Probe(0, 5, world, ignore);
    else if (!wrong)
        MPI_Send(numbers, 1, MPI_INT, 1, 5, world);
    if (!wrong && rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 5, world, ignore);
}

/* ranks: 4096
 * says: ranks 0-4094:2: in MPI_Recv
 * says: ranks 1-4095:2: in MPI_Finalize on MPI_COMM_WORLD, at main.c:*
 * says:   cause: rank 0 waits for a message with tag 2 from any rank; no rank will send one
 * right: no */
BUG(many)
{
    if (rank % 2 == 0)
        MPI_Recv(others, 1, MPI_INT, MPI_ANY_SOURCE, 2, world, ignore);
}

/* Two communicators, in another order.
 * says:   cause: rank 0 waits in MPI_Barrier on first for rank 1, rank 1 waits in MPI_Barrier on
 * second for rank 0
 */
BUG(other_order)
{
    MPI_Comm first, second;

    MPI_Comm_dup(world, &first);
    MPI_Comm_dup(world, &second);
    MPI_Comm_set_name(first, "first");
    MPI_Comm_set_name(second, "second");
    MPI_Barrier(wrong && rank == 1 ? second : first);
    MPI_Barrier(wrong && rank == 1 ? first : second);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
}

static int keep_status(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int keep_state(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int keep_going(void *state, int is_complete)
{
    (void)state;
    (void)is_complete;
    return MPI_SUCCESS;
}

/* says: rank 1: in MPI_Wait, at @here, for MPI_Grequest_start, at @start
 * says: cause: rank 1 waits for a generalized request, and MPI_Grequest_complete was not called
 */
BUG(request_of_its_own)
{
    MPI_Request request;

    MPI_Grequest_start(keep_status, keep_state, keep_going, NULL, &request); // @start
    if (!wrong || rank == 0)
        MPI_Grequest_complete(request);
    MPI_Wait(&request, ignore); // @here
}

/* says: rank 0: in MPI_Comm_accept on a port, at @here
 * says: cause: rank 0 waits in MPI_Comm_accept, and no rank calls MPI_Comm_connect
 */
BUG(accept_alone)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm made;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "xylem_scope", "job"); /* no other job may connect */
    if (rank == 0)
        MPI_Open_port(info, port);
    MPI_Info_free(&info);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, world);
    if (rank == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made); // @here
    else if (wrong)
        MPI_Recv(others, 1, MPI_INT, 0, 3, world, ignore);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
    MPI_Comm_disconnect(&made);
    if (rank == 0)
        MPI_Close_port(port);
}

/* ranks: 600
 * says: cause: rank 0 waits for a message with tag 0 from rank 1, rank 1 waits for a message with
 * tag 0 from rank 2, * and so on, 600 ranks in all */
BUG(ring_of_600)
{
    if (!wrong && rank == 0)
        MPI_Send(numbers, 1, MPI_INT, size - 1, 0, world);
    MPI_Recv(others, 1, MPI_INT, (rank + 1) % size, 0, world, ignore);
    if (!wrong && rank > 0)
        MPI_Send(numbers, 1, MPI_INT, rank - 1, 0, world);
}
