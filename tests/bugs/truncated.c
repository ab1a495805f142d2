/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: longer than their receives, and sends that need something first. */
#include "bugs.h"

static char buffer[1000 + 2 * MPI_BSEND_OVERHEAD], large_buffer[1000000];

/* code: 15
 * says: rank 1: MPI_Sendrecv: the message from rank 0 with tag 2 has 8 bytes; the receive has room
 * for 4 (sent at @here) (MPI_ERR_TRUNCATE; at @here)
 */
BUG(truncated_sendrecv)
{
    int sent = wrong && rank == 0 ? 2 : 1;

    MPI_Sendrecv(numbers, sent, MPI_INT, 1 - rank, 2, others, 1, MPI_INT, 1 - rank, 2, // @here
                 world, ignore);
}

/* code: 15
 * says: rank 0: MPI_Sendrecv_replace: the message from rank 1 with tag 2 has 12 bytes; the receive
 * has room for 8 (sent at @send) (MPI_ERR_TRUNCATE; at @here)
 */
BUG(truncated_replace)
{
    if (rank == 0) {
        MPI_Sendrecv_replace(numbers, 2, MPI_INT, 1, 2, 1, 2, world, ignore); // @here
    } else {
        MPI_Send(numbers, wrong ? 3 : 2, MPI_INT, 0, 2, world); // @send
        MPI_Recv(others, 2, MPI_INT, 0, 2, world, ignore);
    }
}

/* code: 15
 * says: rank 1: MPI_Mrecv: the message from rank 0 with tag 2 has 40 bytes; the receive has room
 * for 20 (sent at @send) (MPI_ERR_TRUNCATE; at @here)
 */
BUG(truncated_mrecv)
{
    MPI_Message message;

    if (rank == 0) {
        MPI_Send(numbers, 10, MPI_INT, 1, 2, world); // @send
        return;
    }
    MPI_Mprobe(0, 2, world, &message, ignore);
    MPI_Mrecv(others, wrong ? 5 : 10, MPI_INT, &message, ignore); // @here
}

/* code: 15
 * says: rank 1: MPI_Wait: the message from rank 0 with tag 2 has 40 bytes; the receive has room for
 * 20 (MPI_Imrecv at @here, sent at @send) (MPI_ERR_TRUNCATE; at @wait)
 */
BUG(truncated_imrecv)
{
    MPI_Message message;
    MPI_Request request;

    if (rank == 0) {
        MPI_Send(numbers, 10, MPI_INT, 1, 2, world); // @send
        return;
    }
    MPI_Mprobe(0, 2, world, &message, ignore);
    MPI_Imrecv(others, wrong ? 5 : 10, MPI_INT, &message, &request); // @here
    MPI_Wait(&request, ignore);                                      // @wait
}

/* code: 15
 * says: rank 1: MPI_Waitall: the message from rank 0 with tag 4 has 8 bytes; the receive has room
 * for 4 (MPI_Irecv at @here, sent at @send) (MPI_ERR_TRUNCATE; at @wait)
 */
BUG(truncated_waitall)
{
    MPI_Request requests[2];

    if (rank == 0) {
        MPI_Send(numbers, 1, MPI_INT, 1, 3, world);
        MPI_Send(numbers, 2, MPI_INT, 1, 4, world); // @send
        return;
    }
    MPI_Irecv(others, 1, MPI_INT, 0, 3, world, &requests[0]);
    MPI_Irecv(others + 1, wrong ? 1 : 2, MPI_INT, 0, 4, world, &requests[1]); // @here
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);                            // @wait
}

/* code: 15
 * says: rank 1: MPI_Waitany: the message from rank 0 with tag 3 has 8 bytes; the receive has room
 * for 4 (MPI_Irecv at @here, sent at @send) (MPI_ERR_TRUNCATE; at @wait)
 */
BUG(truncated_waitany)
{
    MPI_Request request;
    int index;

    if (rank == 0) {
        MPI_Send(numbers, 2, MPI_INT, 1, 3, world); // @send
        return;
    }
    MPI_Irecv(others, wrong ? 1 : 2, MPI_INT, 0, 3, world, &request); // @here
    MPI_Waitany(1, &request, &index, ignore);                         // @wait
}

/* code: 15
 * says: rank 1: MPI_Waitsome: the message from rank 0 with tag 3 has 8 bytes; the receive has room
 * for 4 (MPI_Irecv at @here, sent at @send) (MPI_ERR_TRUNCATE; at @wait)
 */
BUG(truncated_waitsome)
{
    MPI_Request request;
    int count, index;

    if (rank == 0) {
        MPI_Send(numbers, 2, MPI_INT, 1, 3, world); // @send
        return;
    }
    MPI_Irecv(others, wrong ? 1 : 2, MPI_INT, 0, 3, world, &request); // @here
    MPI_Waitsome(1, &request, &count, &index, MPI_STATUSES_IGNORE);   // @wait
}

/* code: 15
 * says: rank 1: MPI_Test: the message from rank 0 with tag 3 has 8 bytes; the receive has room for
 * 4 (MPI_Irecv at @here, sent at @send) (MPI_ERR_TRUNCATE; at @test)
 */
BUG(truncated_test)
{
    MPI_Request request;
    int flag = 0;

    if (rank == 0) {
        MPI_Send(numbers, 2, MPI_INT, 1, 3, world); // @send
        return;
    }
    MPI_Irecv(others, wrong ? 1 : 2, MPI_INT, 0, 3, world, &request); // @here
    while (!flag)
        MPI_Test(&request, &flag, ignore); // @test
}

/* code: 15
 * says: rank 1: MPI_Wait: the message from rank 0 with tag 3 has 8 bytes; the receive has room for
 * 4 (MPI_Start of MPI_Recv_init at @start, sent at @send) (MPI_ERR_TRUNCATE; at @wait)
 */
BUG(truncated_persistent)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Send(numbers, 2, MPI_INT, 1, 3, world); // @send
        return;
    }
    MPI_Recv_init(others, wrong ? 1 : 2, MPI_INT, 0, 3, world, &request);
    MPI_Start(&request);        // @start
    MPI_Wait(&request, ignore); // @wait
    MPI_Request_free(&request);
}

/* ranks: 5
 * code: 15
 * says: rank 4: MPI_Recv: the message from rank 3 with tag 7 has 8 bytes; the receive has room for
 * 4 (sent at @send) (MPI_ERR_TRUNCATE; at @here)
 */
BUG(truncated_from_any)
{
    if (rank == 3)
        MPI_Send(numbers, 2, MPI_INT, 4, 7, world); // @send
    if (rank == 4)
        MPI_Recv(others, wrong ? 1 : 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, // @here
                 ignore);
}

/* ranks: 1
 * code: 15
 * says: rank 0: MPI_Recv: the message from rank 0 with tag 7 has 4 bytes; the receive has room for
 * 0 (sent at @send) (MPI_ERR_TRUNCATE; at @here)
 */
BUG(truncated_by_itself)
{
    MPI_Request request;

    MPI_Isend(numbers, 1, MPI_INT, 0, 7, world, &request);         // @send
    MPI_Recv(others, wrong ? 0 : 1, MPI_INT, 0, 7, world, ignore); // @here
    MPI_Wait(&request, ignore);
}

/* Types of the program.
 * code: 15
 * says: rank 1: MPI_Recv: the message from rank 0 with tag 7 has 24 bytes; the receive has room for
 * 12 (sent at @send) (MPI_ERR_TRUNCATE; at @here)
 */
BUG(truncated_vector)
{
    MPI_Datatype column;

    MPI_Type_vector(3, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0)
        MPI_Send(numbers, 2, column, 1, 7, world); // @send
    else
        MPI_Recv(others, wrong ? 1 : 2, column, 0, 7, world, ignore); // @here
    MPI_Type_free(&column);
}

#if MPI_VERSION >= 4
/* code: 15
 * says: rank 0: MPI_Wait: the message from rank 1 with tag 2 has 8 bytes; the receive has room for
 * 4 (MPI_Isendrecv at @here, sent at @here) (MPI_ERR_TRUNCATE; at @wait)
 */
BUG(truncated_isendrecv)
{
    int sent = wrong && rank == 1 ? 2 : 1;
    MPI_Request request;

    MPI_Isendrecv(numbers, sent, MPI_INT, 1 - rank, 2, others, 1, MPI_INT, 1 - rank, 2, // @here
                  world, &request);
    MPI_Wait(&request, ignore); // @wait
}
#endif

/* code: 1
 * says: rank 0: MPI_Bsend: no buffer is attached for a message of 4 bytes; attach one with
 * MPI_Buffer_attach (MPI_ERR_BUFFER; at @here)
 */
BUG(bsend_without_buffer)
{
    void *detached;
    int bytes;

    if (!wrong)
        MPI_Buffer_attach(buffer, sizeof(buffer));
    if (rank == 0)
        MPI_Bsend(numbers, 1, MPI_INT, 1, 7, world); // @here
    else
        MPI_Recv(others, 1, MPI_INT, 0, 7, world, ignore);
    if (!wrong)
        MPI_Buffer_detach(&detached, &bytes);
}

/* code: 1
 * says: rank 0: MPI_Bsend: a message of 4000 bytes needs * bytes of attached buffer and * are free;
 * attach a larger one with MPI_Buffer_attach (MPI_ERR_BUFFER; at @here)
 */
BUG(bsend_small_buffer)
{
    void *detached;
    int bytes;

    MPI_Buffer_attach(buffer, sizeof(buffer));
    if (rank == 0)
        MPI_Bsend(numbers, wrong ? 1000 : 10, MPI_INT, 1, 7, world); // @here
    else
        MPI_Recv(others, 1000, MPI_INT, 0, 7, world, ignore);
    MPI_Buffer_detach(&detached, &bytes);
}

/* One fits, a second one does not before the first is received.
 * code: 1
 * says: rank 0: MPI_Ibsend: a message of 600000 bytes needs * bytes of attached buffer and * are
 * free; attach a larger one with MPI_Buffer_attach (MPI_ERR_BUFFER; at @second)
 */
BUG(ibsend_second)
{
    MPI_Request request;
    void *detached;
    int bytes;

    MPI_Buffer_attach(large_buffer, sizeof(large_buffer));
    if (rank == 0) {
        MPI_Bsend(numbers, 150000, MPI_INT, 1, 7, world);
        MPI_Ibsend(numbers, wrong ? 150000 : 10000, MPI_INT, 1, 7, world, &request); // @second
        MPI_Wait(&request, ignore);
    }
    MPI_Barrier(world);
    for (int i = 0; rank == 1 && i < 2; i++)
        MPI_Recv(others, 150000, MPI_INT, 0, 7, world, ignore);
    MPI_Buffer_detach(&detached, &bytes);
}

/* ranks: 1
 * code: 1
 * says: rank 0: MPI_Buffer_attach: a buffer is attached already; detach it first (MPI_ERR_BUFFER;
 * at @here)
 */
BUG(attached_twice)
{
    void *detached;
    int bytes;

    MPI_Buffer_attach(buffer, sizeof(buffer));
    if (!wrong)
        MPI_Buffer_detach(&detached, &bytes);
    MPI_Buffer_attach(buffer, sizeof(buffer)); // @here
    MPI_Buffer_detach(&detached, &bytes);
}

/* ranks: 1
 * code: 1
 * says: rank 0: MPI_Buffer_detach: no buffer is attached (MPI_ERR_BUFFER; at @here) */
BUG(detached_twice)
{
    void *detached;
    int bytes;

    MPI_Buffer_attach(buffer, sizeof(buffer));
    if (wrong)
        MPI_Buffer_detach(&detached, &bytes);
    MPI_Buffer_detach(&detached, &bytes); // @here
}

/* says: rank 1 has no receive for a ready send with tag 9, at @here; post the receive before
 * MPI_Rsend, or use MPI_Send
 */
BUG(irsend_not_ready)
{
    MPI_Request request;

    if (rank == 1 && !wrong)
        MPI_Irecv(others, 1, MPI_INT, 0, 9, world, &request);
    MPI_Barrier(world);
    if (rank == 0)
        MPI_Irsend(numbers, 1, MPI_INT, 1, 9, world, &request); // @here
    MPI_Barrier(world);
    if (rank == 1 && wrong)
        MPI_Irecv(others, 1, MPI_INT, 0, 9, world, &request);
    MPI_Wait(&request, ignore);
}

/* says: rank 1 has no receive for a ready send with tag 9, at @here; *
 */
BUG(rsend_init_not_ready)
{
    MPI_Request request;

    if (rank == 1 && !wrong)
        MPI_Irecv(others, 1, MPI_INT, 0, 9, world, &request);
    MPI_Barrier(world);
    if (rank == 0) {
        MPI_Rsend_init(numbers, 1, MPI_INT, 1, 9, world, &request);
        MPI_Start(&request); // @here
        MPI_Wait(&request, ignore);
        MPI_Request_free(&request);
    }
    MPI_Barrier(world);
    if (rank == 1 && wrong)
        MPI_Irecv(others, 1, MPI_INT, 0, 9, world, &request);
    if (rank == 1)
        MPI_Wait(&request, ignore);
}

/* The receive that is there has another tag.
 * ranks: 3
 * says: rank 2 has no receive for a ready send with tag 9, at @here; *
 */
BUG(rsend_other_tag)
{
    MPI_Request request;

    if (rank == 2)
        MPI_Irecv(others, 1, MPI_INT, 0, wrong ? 8 : 9, world, &request);
    MPI_Barrier(world);
    if (rank == 0)
        MPI_Rsend(numbers, 1, MPI_INT, 2, 9, world); // @here
    if (rank == 2)
        MPI_Wait(&request, ignore);
}
