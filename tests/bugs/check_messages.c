/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a run gets away with: reported with --check. */
#include "bugs.h"

/* options: --check=sends
 * code: 120
 * says: warning: rank *: MPI_Send at @here works only because messages are buffered; without that,
 * rank 0 waits until rank 1 receives its message with tag 5, rank 1 waits until rank 0 receives its
 * message with tag 5 [needs-buffering]
 */
BUG(check_send_send)
{
    if (wrong) {
        MPI_Send(numbers, 1, MPI_INT, 1 - rank, 5, world); // @here
        MPI_Recv(others, 1, MPI_INT, 1 - rank, 5, world, ignore);
    } else {
        MPI_Sendrecv(numbers, 1, MPI_INT, 1 - rank, 5, others, 1, MPI_INT, 1 - rank, 5, world,
                     ignore);
    }
}

/* options: --check=sends
 * code: 120
 * says: MPI_Isend at @here works only because messages are buffered; without that, rank 0 waits
 * until rank 1 receives its message with tag 5, rank 1 waits until rank 0 receives its message with
 * tag 5 [needs-buffering]
 */
BUG(check_isend_wait)
{
    MPI_Request request;

    MPI_Isend(numbers, 1, MPI_INT, 1 - rank, 5, world, &request); // @here
    if (wrong)
        MPI_Wait(&request, ignore);
    MPI_Recv(others, 1, MPI_INT, 1 - rank, 5, world, ignore);
    if (!wrong)
        MPI_Wait(&request, ignore);
}

/* One of a ring is enough.
 * ranks: 4
 * options: --check=sends
 * code: 120
 * says: MPI_Send at @here works only because messages are buffered; without that, rank 0 waits
 * until rank 1 receives its message with tag 5, * [needs-buffering]
 */
BUG(check_send_ring)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;

    if (!wrong && rank == 0)
        MPI_Recv(others, 1, MPI_INT, last, 5, world, ignore);
    MPI_Send(numbers, 1, MPI_INT, next, 5, world); // @here
    if (wrong || rank != 0)
        MPI_Recv(others, 1, MPI_INT, last, 5, world, ignore);
}

/* What no buffer helps is a deadlock, and nothing else.
 * options: --check
 * says: deadlock: no rank can make progress
 * says: cause: rank 1 waits for a message with tag 7 from rank 0; rank 0 has called MPI_Finalize
 * not: works only because
 */
BUG(check_other_tag)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, wrong ? 8 : 7, world);
    else
        MPI_Recv(others, 1, MPI_INT, 0, 7, world, ignore);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Ibsend at @here was changed before MPI_Wait at @wait
 * [buffer-changed]
 */
BUG(check_buffered_changed)
{
    char space[100 + MPI_BSEND_OVERHEAD], *attached;
    int bytes;
    MPI_Request request;

    if (rank == 1) {
        MPI_Recv(others, 10, MPI_INT, 0, 5, world, ignore);
        return;
    }
    MPI_Buffer_attach(space, sizeof(space));
    MPI_Ibsend(numbers, 10, MPI_INT, 1, 5, world, &request); // @here
    if (wrong)
        numbers[9] = 7;
    MPI_Wait(&request, ignore); // @wait
    numbers[9] = 8;
    MPI_Buffer_detach(&attached, &bytes);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Isend at @here was changed before MPI_Wait at @wait
 * [buffer-changed]
 */
BUG(check_send_changed)
{
    MPI_Request request;

    if (rank == 1) {
        MPI_Recv(others, 100, MPI_INT, 0, 5, world, ignore);
        return;
    }
    MPI_Isend(numbers, 100, MPI_INT, 1, 5, world, &request); // @here
    if (wrong)
        numbers[99] = 7;
    MPI_Wait(&request, ignore); // @wait
    numbers[99] = 7;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Start of MPI_Send_init at @start was changed before
 * MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_start_changed)
{
    MPI_Request request;

    if (rank == 1) {
        for (int i = 0; i < 2; i++)
            MPI_Recv(others, 100, MPI_INT, 0, 5, world, ignore);
        return;
    }
    MPI_Send_init(numbers, 100, MPI_INT, 1, 5, world, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request); // @start
        if (wrong && i == 1)
            numbers[0]++;
        MPI_Wait(&request, ignore); // @wait
        numbers[0]++;
    }
    MPI_Request_free(&request);
}

/* Bytes between those that are sent belong to the program.
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Isend at @here was changed before MPI_Wait at @wait
 * [buffer-changed]
 */
BUG(check_column_changed)
{
    MPI_Datatype column;
    MPI_Request request;

    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 1) {
        MPI_Recv(others, 8, MPI_INT, 0, 5, world, ignore);
    } else {
        MPI_Isend(numbers, 1, column, 1, 5, world, &request); // @here
        numbers[wrong ? 8 : 9] = 7;
        MPI_Wait(&request, ignore); // @wait
    }
    MPI_Type_free(&column);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Irecv at @here was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_receive_changed)
{
    MPI_Request request;

    if (rank == 1) {
        MPI_Irecv(others, 100, MPI_INT, 0, 5, world, &request); // @here
        if (wrong)
            others[3] = 7;
        MPI_Wait(&request, ignore); // @wait
    }
    MPI_Barrier(MPI_COMM_SELF);
    if (rank == 0) {
        MPI_Ssend(numbers, 100, MPI_INT, 1, 5, world);
    }
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Irecv at @second receives into memory that MPI_Irecv at @first receives
 * into, which is not complete; they have byte 36 of its buffer in common [buffer-overlap]
 */
BUG(check_receives_overlap)
{
    MPI_Request requests[2];

    if (rank == 0) {
        MPI_Send(numbers, 10, MPI_INT, 1, 5, world);
        MPI_Send(numbers, 10, MPI_INT, 1, 6, world);
        return;
    }
    MPI_Irecv(others, 10, MPI_INT, 0, 5, world, &requests[0]);                    // @first
    MPI_Irecv(others + (wrong ? 9 : 10), 10, MPI_INT, 0, 6, world, &requests[1]); // @second
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Two sends may share a buffer.
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Recv at @second receives into memory that MPI_Isend at @first sends
 * from, which is not complete; they have byte 0 of its buffer in common [buffer-overlap]
 */
BUG(check_send_receive_overlap)
{
    MPI_Request requests[2];

    if (rank == 1) {
        MPI_Recv(others, 10, MPI_INT, 0, 5, world, ignore);
        MPI_Recv(others, 10, MPI_INT, 0, 6, world, ignore);
        MPI_Send(numbers, 10, MPI_INT, 0, 7, world);
        return;
    }
    MPI_Isend(numbers, 10, MPI_INT, 1, 5, world, &requests[0]); // @first
    MPI_Isend(numbers, 10, MPI_INT, 1, 6, world, &requests[1]);
    MPI_Recv(wrong ? numbers : others, 10, MPI_INT, 1, 7, world, ignore); // @second
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Columns of one matrix lie between each other, and do not overlap.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Irecv at @second receives into memory that MPI_Irecv at @first receives
 * into, which is not complete; * [buffer-overlap]
 */
BUG(check_columns_overlap)
{
    MPI_Datatype column;
    MPI_Request requests[2];

    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0) {
        MPI_Send(numbers, 8, MPI_INT, 1, 5, world);
        MPI_Send(numbers, 8, MPI_INT, 1, 6, world);
    } else {
        MPI_Irecv(others, 1, column, 0, 5, world, &requests[0]);                    // @first
        MPI_Irecv(others + (wrong ? 16 : 1), 1, column, 0, 6, world, &requests[1]); // @second
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&column);
}

/* ranks: 3
 * options: --check=wildcards
 * code: 0
 * says: warning: rank 0: MPI_Recv from any source, at @here took the message of rank 1; it could
 * have taken that of rank 2 (sent at @send) [wildcard]
 */
BUG(check_wildcard)
{
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 5, world); // @send
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Recv(others, 1, MPI_INT, wrong ? MPI_ANY_SOURCE : i, 5, world, ignore); // @here
}

/* A wildcard that one rank only can meet is none. Nonblocking, and with a test.
 * ranks: 3
 * options: --check=wildcards,strict
 * code: 120
 * says: warning: rank 0: MPI_Irecv from any source, at @here took the message of rank 1; it could
 * have taken that of rank 2 (sent at @send) [wildcard]
 */
BUG(check_wildcard_test)
{
    MPI_Request request;
    int done;

    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, wrong ? 5 : rank, world); // @send
    for (int i = 1; i < size && rank == 0; i++) {
        MPI_Irecv(others, 1, MPI_INT, MPI_ANY_SOURCE, wrong ? 5 : i, world, &request); // @here
        for (done = 0; !done;)
            MPI_Test(&request, &done, ignore);
    }
}

/* ranks: 3
 * options: --check=wildcards,strict
 * code: 120
 * says: warning: rank 0: MPI_Probe from any source, at @here took the message of rank 1; it could
 * have taken that of rank 2 (sent at @send) [wildcard]
 */
BUG(check_wildcard_probe)
{
    MPI_Status status;

    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 5, world); // @send
    for (int i = 1; i < size && rank == 0; i++) {
        MPI_Probe(wrong ? MPI_ANY_SOURCE : i, 5, world, &status); // @here
        MPI_Recv(others, 1, MPI_INT, status.MPI_SOURCE, 5, world, &status);
    }
}

/* Receives keep their order: one from any source takes the first message of rank 1, although the
 * next one is for rank 1 alone.
 * options: --check=wildcards,strict
 * says: deadlock
 */
BUG(check_wildcard_order)
{
    MPI_Request requests[2];
    int first = 1, second = 2;

    if (rank == 1) {
        MPI_Send(&first, 1, MPI_INT, 0, 5, world);
        MPI_Send(&second, 1, MPI_INT, 0, wrong ? 6 : 5, world);
        return;
    }
    MPI_Irecv(others, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, &requests[0]);
    MPI_Irecv(others + 1, 1, MPI_INT, 1, 5, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (others[0] != first || others[1] != second)
        abort();
}

/* A warning without --check.
 * options: --check
 * code: 121
 * says: error: rank 1: MPI_Recv at @recv receives *; rank 0 sent * with tag 5 at @send; give the
 * same types in both [type-mismatch]
 * says: warning: rank 1: MPI_Recv at @recv has MPI_FLOAT, but the variable 'others' has elements of
 * type int [buffer-type]
 */
BUG(check_type_mismatch)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 5, world); // @send
    else
        MPI_Recv(others, 1, wrong ? MPI_FLOAT : MPI_INT, 0, 5, world, ignore); // @recv
}
