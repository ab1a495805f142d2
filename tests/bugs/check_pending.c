/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of collectives and exchanges that are not complete: reported with --check. */
#include "bugs.h"

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Ibcast at @start was changed before MPI_Wait at @wait
 * [buffer-changed]
 */
BUG(check_ibcast_changed)
{
    MPI_Request request;

    MPI_Ibcast(numbers, 100, MPI_INT, 0, world, &request); // @start
    if (wrong && rank == 0)
        numbers[99]++;
    MPI_Wait(&request, ignore); // @wait
    numbers[99]++;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the send buffer of MPI_Iallreduce at @start was changed before MPI_Waitall
 * at
 * @wait [buffer-changed]
 */
BUG(check_iallreduce_changed)
{
    MPI_Request requests[2];

    MPI_Iallreduce(numbers, others, 100, MPI_INT, MPI_SUM, world, &requests[0]); // @start
    MPI_Ibarrier(world, &requests[1]);
    if (wrong && rank == 1)
        numbers[0] = 7;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // @wait
    others[0] = numbers[0] = 7;
}

/* The bytes between the blocks belong to the program.
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Ialltoallv at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_ialltoallv_changed)
{
    int n[2] = {2, 2}, at[2] = {0, 4};
    MPI_Request request;

    MPI_Ialltoallv(numbers, n, at, MPI_INT, others, n, at, MPI_INT, world, &request); // @start
    numbers[2]++;
    if (wrong && rank == 0)
        numbers[5]++;
    MPI_Wait(&request, ignore); // @wait
}

#if MPI_VERSION >= 4
/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the send buffer of MPI_Start of MPI_Allreduce_init at @start was changed
 * before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_persistent_changed)
{
    MPI_Request request;

    MPI_Allreduce_init(numbers, others, 100, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request); // @start
        if (wrong && rank == 1 && i == 1)
            numbers[1]++;
        MPI_Wait(&request, ignore); // @wait
        numbers[1]++;
    }
    MPI_Request_free(&request);
}
#endif

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Irecv at @receive receives into memory that MPI_Igather at @gather
 * receives into, which is not complete; they have byte 4 of its buffer in common [buffer-overlap]
 */
BUG(check_igather_overlap)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    MPI_Igather(numbers, 1, MPI_INT, others, 1, MPI_INT, 0, world, &requests[0]); // @gather
    if (rank == 0)
        MPI_Irecv(others + (wrong ? 1 : 2), 1, MPI_INT, 1, 0, world, &requests[1]); // @receive
    else
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* A collective that blocks uses its buffers, too.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Bcast at @bcast receives into memory that MPI_Irecv at @receive receives
 * into, which is not complete; they have byte 0 of its buffer in common [buffer-overlap]
 */
BUG(check_bcast_overlap)
{
    MPI_Request request;

    if (rank == 1)
        MPI_Irecv(others, 4, MPI_INT, 0, 0, world, &request);  // @receive
    MPI_Bcast(others + (wrong ? 0 : 4), 4, MPI_INT, 0, world); // @bcast
    if (rank == 0)
        MPI_Send(numbers, 4, MPI_INT, 1, 0, world);
    else
        MPI_Wait(&request, ignore);
}

#if MPI_VERSION >= 4
/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Isendrecv at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_isendrecv_changed)
{
    int to = 1 - rank, *sent = numbers;
    MPI_Request request;

    MPI_Isendrecv(sent, 9, MPI_INT, to, 0, others, 9, MPI_INT, to, 0, world, &request); // @start
    if (wrong && rank == 0)
        numbers[8]++;
    MPI_Wait(&request, ignore); // @wait
    numbers[8]++;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Isendrecv at @start sends from memory that MPI_Isendrecv at @start
 * receives into, which is not complete; they have byte 0 of its buffer in common [buffer-overlap]
 */
BUG(check_isendrecv_overlap)
{
    int to = 1 - rank, *got = numbers + (wrong ? 9 : 10);
    MPI_Request request;

    MPI_Isendrecv(numbers, 10, MPI_INT, to, 0, got, 10, MPI_INT, to, 0, world, &request); // @start
    MPI_Wait(&request, ignore);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Isend at @send sends from memory that MPI_Isendrecv_replace at @start
 * receives into, which is not complete; they have byte 0 of its buffer in common [buffer-overlap]
 */
BUG(check_isendrecv_replace_overlap)
{
    int to = 1 - rank, *sent = numbers + (wrong ? 0 : 10);
    MPI_Request requests[2];

    MPI_Isendrecv_replace(numbers, 10, MPI_INT, to, 0, to, 0, world, requests); // @start
    MPI_Isend(sent, 1, MPI_INT, to, 1, world, &requests[1]);                    // @send
    MPI_Recv(others, 1, MPI_INT, to, 1, world, ignore);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
#endif

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the send buffer of MPI_Ineighbor_allgather at @start was changed before
 * MPI_Wait at @wait [buffer-changed]
 */
BUG(check_ineighbor_changed)
{
    int sides[1] = {2}, periodic[1] = {1};
    MPI_Request request;
    MPI_Comm ring;

    MPI_Cart_create(world, 1, sides, periodic, 0, &ring);
    MPI_Ineighbor_allgather(numbers, 3, MPI_INT, others, 3, MPI_INT, ring, &request); // @start
    if (wrong && rank == 1)
        numbers[2]++;
    MPI_Wait(&request, ignore); // @wait
    numbers[2]++;
    MPI_Comm_free(&ring);
}

/* Whole pages are protected: the line that reads is known.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Irecv at @receive was used at @read, before
 * MPI_Wait at
 * @wait [buffer-touched]
 */
BUG(check_receive_read)
{
    MPI_Request request;
    volatile int got = 0;

    if (rank == 0) {
        MPI_Send(numbers, LARGE, MPI_INT, 1, 0, world);
        return;
    }
    MPI_Irecv(others, LARGE, MPI_INT, 0, 0, world, &request); // @receive
    if (wrong)
        got = others[LARGE / 2]; // @read
    MPI_Wait(&request, ignore);  // @wait
    got += others[LARGE / 2];
}

/* The message is there, and the program does not know; a function of the C library reads it.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Irecv at @receive was used at @copy, before
 * MPI_Wait at
 * @wait [buffer-touched]
 */
BUG(check_receive_copied)
{
    MPI_Request request;
    int flag = 0;

    if (rank == 0) {
        MPI_Send(numbers, LARGE, MPI_INT, 1, 0, world);
        MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
        return;
    }
    MPI_Irecv(others, LARGE, MPI_INT, 0, 0, world, &request); // @receive
    MPI_Recv(numbers, 1, MPI_INT, 0, 1, world, ignore);
    while (!wrong && !flag)
        MPI_Request_get_status(request, &flag, ignore); /* it is complete from here on */
    memcpy(numbers, others, sizeof(others));            // @copy
    if (!wrong)
        others[0]++;
    MPI_Wait(&request, ignore); // @wait
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Iallgather at @start was used at @write, before
 * MPI_Wait at @wait [buffer-touched]
 */
BUG(check_iallgather_touched)
{
    const int half = LARGE / 2;
    MPI_Request request;

    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore);
    MPI_Iallgather(numbers, half, MPI_INT, others, half, MPI_INT, world, &request); // @start
    if (wrong && rank == 1)
        others[LARGE / 4] = 3; // @write
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    MPI_Wait(&request, ignore); // @wait
    others[LARGE / 4] = 3;
}

/* A request that was freed is complete when the program knows it by other means.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Start of MPI_Recv_init at @start was used at
 * @read, before MPI_Wait at @wait [buffer-touched]
 */
BUG(check_persistent_read)
{
    volatile int got = 0;
    MPI_Request request;

    if (rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI_Send(numbers, LARGE, MPI_INT, 1, 0, world);
        MPI_Recv(others, 1, MPI_INT, 1, 1, world, ignore);
        MPI_Send(numbers, LARGE, MPI_INT, 1, 0, world);
        MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
        MPI_Recv(others, 1, MPI_INT, 1, 2, world, ignore);
        MPI_Send(numbers, 1, MPI_INT, 1, 2, world);
        return;
    }
    MPI_Recv_init(others, LARGE, MPI_INT, 0, 0, world, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request); // @start
        if (wrong && i == 1)
            got += others[LARGE - LARGE / 4]; // @read
        MPI_Wait(&request, ignore);           // @wait
        got += others[LARGE - LARGE / 4];
    }
    MPI_Request_free(&request);
    MPI_Irecv(others, LARGE, MPI_INT, 0, 0, world, &request);
    MPI_Request_free(&request);
    MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    MPI_Recv(numbers, 1, MPI_INT, 0, 1, world, ignore);
    got += others[LARGE - LARGE / 4];
    MPI_Send(numbers, 1, MPI_INT, 0, 2, world);
    MPI_Recv(numbers, 1, MPI_INT, 0, 2, world, ignore); /* a call that waits looks */
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Iallreduce at @start was used at @use, before
 * MPI_Wait at
 * @wait [buffer-touched]
 */
BUG(check_iallreduce_read)
{
    MPI_Request request;
    volatile int got = 0;

    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore);
    MPI_Iallreduce(numbers, others, LARGE, MPI_INT, MPI_SUM, world, &request); // @start
    if (wrong && rank == 1)
        got = others[LARGE / 4]; // @use
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    MPI_Wait(&request, ignore); // @wait
    got += others[LARGE / 4];
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Ibcast at @start was used at @use, before MPI_Wait
 * at
 * @wait [buffer-touched]
 */
BUG(check_ibcast_read)
{
    MPI_Request request;
    volatile int got = 0;

    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore);
    MPI_Ibcast(others, LARGE, MPI_INT, 0, world, &request); // @start
    if (wrong && rank == 1)
        got = others[LARGE / 4]; // @use
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    MPI_Wait(&request, ignore); // @wait
    got += others[LARGE / 4];
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Iscatter at @start was used at @use, before
 * MPI_Wait at
 * @wait [buffer-touched]
 */
BUG(check_iscatter_written)
{
    const int half = LARGE / 2;
    MPI_Request request;

    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore);
    MPI_Iscatter(numbers, half, MPI_INT, others, half, MPI_INT, 0, world, &request); // @start
    if (wrong && rank == 1)
        others[LARGE / 4] = 3; // @use
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    MPI_Wait(&request, ignore); // @wait
    others[LARGE / 4] = 3;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Igather at @start was used at @use, before
 * MPI_Wait at
 * @wait [buffer-touched]
 */
BUG(check_igather_read)
{
    const int half = LARGE / 2;
    MPI_Request request;
    volatile int got = 0;

    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore);
    MPI_Igather(numbers, half, MPI_INT, others, half, MPI_INT, 1, world, &request); // @start
    if (wrong && rank == 1)
        got = others[LARGE / 4]; // @use
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    MPI_Wait(&request, ignore); // @wait
    got += others[LARGE / 4];
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Ireduce at @start was used at @use, before
 * MPI_Wait at
 * @wait [buffer-touched]
 */
BUG(check_ireduce_written)
{
    MPI_Request request;

    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore);
    MPI_Ireduce(numbers, others, LARGE, MPI_INT, MPI_MAX, 1, world, &request); // @start
    if (wrong && rank == 1)
        others[LARGE / 4] = 3; // @use
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    MPI_Wait(&request, ignore); // @wait
    others[LARGE / 4] = 3;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Ialltoall at @start was used at @use, before
 * MPI_Wait at
 * @wait [buffer-touched]
 */
BUG(check_ialltoall_read)
{
    const int half = LARGE / 2;
    MPI_Request request;
    volatile int got = 0;

    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1, 0, world, ignore);
    MPI_Ialltoall(numbers, half, MPI_INT, others, half, MPI_INT, world, &request); // @start
    if (wrong && rank == 1)
        got = others[LARGE / 4]; // @use
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    MPI_Wait(&request, ignore); // @wait
    got += others[LARGE / 4];
}

/* The other request is complete.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Imrecv at @start was used at @use, before
 * MPI_Waitany at @wait [buffer-touched]
 */
BUG(check_imrecv_read)
{
    MPI_Request requests[2];
    MPI_Message message;
    int which, sum = 0;

    if (rank == 0) {
        MPI_Send(numbers, LARGE, MPI_INT, 1, 0, world);
        MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
        return;
    }
    MPI_Mprobe(0, 0, world, &message, ignore);
    MPI_Imrecv(others, LARGE, MPI_INT, &message, &requests[0]); // @start
    MPI_Irecv(numbers, 1, MPI_INT, 0, 1, world, &requests[1]);
    MPI_Wait(&requests[wrong ? 1 : 0], ignore);
    sum += others[LARGE / 2];                 // @use
    MPI_Waitany(2, requests, &which, ignore); // @wait
    numbers[0] = sum;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the array of counts or displacements of MPI_Ialltoallv at @start was changed
 * before MPI_Wait at @wait [buffer-changed]
 */
BUG(check_ialltoallv_count)
{
    int n[2] = {1, 1}, at[2] = {0, 1};
    MPI_Request request;

    MPI_Ialltoallv(numbers, n, at, MPI_INT, others, n, at, MPI_INT, world, &request); // @start
    if (wrong && rank == 1)
        n[1] = 0;
    MPI_Wait(&request, ignore); // @wait
    n[1] = 0;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the array of counts or displacements of MPI_Ialltoallv at @start was changed
 * before MPI_Wait at @wait [buffer-changed]
 */
BUG(check_ialltoallv_place)
{
    int n[2] = {1, 1}, at[2] = {0, 1}, to[2] = {1, 0};
    MPI_Request request;

    MPI_Ialltoallv(numbers, n, at, MPI_INT, others, n, to, MPI_INT, world, &request); // @start
    if (wrong && rank == 1)
        to[1]++;
    MPI_Wait(&request, ignore); // @wait
    to[1]++;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the array of counts or displacements of MPI_Iallgatherv at @start was
 * changed before MPI_Wait at @wait [buffer-changed]
 */
BUG(check_iallgatherv_count)
{
    int n[2] = {1, 1}, at[2] = {0, 1};
    MPI_Request request;

    MPI_Iallgatherv(numbers, 1, MPI_INT, others, n, at, MPI_INT, world, &request); // @start
    if (wrong && rank == 1)
        n[0]++;
    MPI_Wait(&request, ignore); // @wait
    n[0]++;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the array of counts or displacements of MPI_Igatherv at @start was changed
 * before MPI_Wait at @wait [buffer-changed]
 */
BUG(check_igatherv_place)
{
    int n[2] = {2, 2}, at[2] = {0, 2};
    MPI_Request request;

    MPI_Igatherv(numbers, 2, MPI_INT, others, n, at, MPI_INT, 1, world, &request); // @start
    if (wrong && rank == 1)
        at[0] = 4;
    MPI_Wait(&request, ignore); // @wait
    at[0] = 4;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the array of counts or displacements of MPI_Ireduce_scatter at @start was
 * changed before MPI_Wait at @wait [buffer-changed]
 */
BUG(check_ireduce_scatter_count)
{
    int n[2] = {3, 3};
    MPI_Request request;

    MPI_Ireduce_scatter(numbers, others, n, MPI_INT, MPI_SUM, world, &request); // @start
    if (wrong && rank == 1)
        n[0] = n[1] = 0;
    MPI_Wait(&request, ignore); // @wait
    n[0] = n[1] = 0;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the array of counts or displacements of MPI_Ialltoallw at @start was changed
 * before MPI_Wait at @wait [buffer-changed]
 */
BUG(check_ialltoallw_count)
{
    int n[2] = {1, 1}, at[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request request;

    MPI_Ialltoallw(numbers, n, at, types, others, n, at, types, world, &request); // @start
    if (wrong && rank == 1)
        at[0]--;
    MPI_Wait(&request, ignore); // @wait
    at[0]--;
}

/* The library has a copy of a vector that the right program frees; its memory is used again.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at @receive receives into memory that MPI_Ialltoallv at @start
 * sends from, which is not complete; they have byte 0 of its buffer in common [buffer-overlap]
 */
BUG(check_vector_received)
{
    int *n = malloc(32 * sizeof(int)), at[2] = {0, 1}, *next = n;
    MPI_Request request;

    n[0] = n[1] = 1;
    MPI_Ialltoallv(numbers, n, at, MPI_INT, others, n, at, MPI_INT, world, &request); // @start
    for (int i = 0; i < 10000 && !wrong && (i == 0 || next != n); i++) {
        free(next);
        next = malloc(32 * sizeof(int));
    }
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 0, world);
    else
        MPI_Recv(next, 1, MPI_INT, 0, 0, world, ignore); // @receive
    MPI_Wait(&request, ignore);
    free(next);
}

/* ---- Small results, which have no page of their own ---- */

/* The results of the right program have come. */
static void expect(int is_right)
{
    if (!is_right)
        MPI_Abort(world, 1);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Iallreduce at @start was changed before MPI_Wait
 * at @wait [buffer-changed]
 */
BUG(check_iallreduce_written)
{
    MPI_Request request;

    numbers[2] = rank + 1;
    MPI_Iallreduce(numbers, others, 3, MPI_INT, MPI_SUM, world, &request); // @start
    if (wrong && rank == 1)
        others[2] = 7;
    MPI_Wait(&request, ignore); // @wait
    expect(others[2] == 3);
    others[2] = 7;
}

/* In place, and the result is there when the program writes.
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: the receive buffer of MPI_Iallgather at @start was changed before MPI_Test
 * at @test [buffer-changed]
 */
BUG(check_iallgather_written)
{
    MPI_Request request;
    int done = 0;

    others[rank] = rank + 5;
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, others, 1, MPI_INT, world, &request); // @start
    if (rank == 0)
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
    if (wrong && rank == 0)
        others[1] = 3;
    while (!done)
        MPI_Test(&request, &done, ignore); // @test
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    expect(others[0] == 5 && others[1] == 6);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Ibcast at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_ibcast_written)
{
    MPI_Request request;

    numbers[0] = rank;
    MPI_Ibcast(numbers, 1, MPI_INT, 0, world, &request); // @start
    if (wrong && rank == 1)
        numbers[0] = 9;
    MPI_Wait(&request, ignore); // @wait
    expect(numbers[0] == 0);
}

/* The bytes between the blocks belong to the program.
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: the receive buffer of MPI_Igatherv at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_igatherv_written)
{
    int n[2] = {2, 2}, at[2] = {0, 4};
    MPI_Request request;

    numbers[0] = numbers[1] = rank + 1;
    MPI_Igatherv(numbers, 2, MPI_INT, others, n, at, MPI_INT, 0, world, &request); // @start
    others[2] = 8;
    if (wrong && rank == 0)
        others[5] = 8;
    MPI_Wait(&request, ignore); // @wait
    expect(others[2] == 8 && (rank > 0 || (others[1] == 1 && others[5] == 2)));
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the receive buffer of MPI_Iscan at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_iscan_written)
{
    MPI_Datatype gaps;
    MPI_Request request;

    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    numbers[0] = numbers[2] = rank + 1;
    MPI_Iscan(MPI_IN_PLACE, numbers, 1, MPI_INT, MPI_SUM, world, &request); // @start
    if (wrong && rank == 0)
        numbers[0] = 5;
    MPI_Wait(&request, ignore); // @wait
    expect(numbers[0] == (rank == 0 ? 1 : 3));
    MPI_Ibcast(numbers, 1, gaps, 1, world, &request);
    numbers[1] = 4;
    MPI_Wait(&request, ignore);
    expect(numbers[0] == 3 && numbers[1] == 4 && numbers[2] == 2);
    MPI_Type_free(&gaps);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the receive buffer of MPI_Ineighbor_alltoall at @start was changed before
 * MPI_Wait at @wait [buffer-changed]
 */
BUG(check_ineighbor_written)
{
    int sides[1] = {2}, periodic[1] = {0};
    MPI_Request request;
    MPI_Comm line;

    MPI_Cart_create(world, 1, sides, periodic, 0, &line);
    numbers[0] = numbers[1] = rank + 1;
    others[0] = others[1] = 9; /* one neighbour is missing */
    MPI_Ineighbor_alltoall(numbers, 1, MPI_INT, others, 1, MPI_INT, line, &request); // @start
    if (wrong && rank == 0)
        others[1] = 3;
    MPI_Wait(&request, ignore); // @wait
    expect(others[rank] == 9 && others[1 - rank] == 2 - rank);
    MPI_Comm_free(&line);
}
