/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication that never ends, or that does not fit. */
#include "bugs.h"

#if MPI_VERSION >= 4
static void finish(MPI_Request *request)
{
    MPI_Wait(request, ignore); // @wait
    MPI_Request_free(request);
}

/* says: rank 0: in MPI_Wait, at @wait, for MPI_Start of MPI_Psend_init to rank 1, tag 7 on
 * MPI_COMM_WORLD, at @send, partitions 1, 3-4 of 6 were not marked ready
 * says: rank 1: in MPI_Wait, at @wait, for MPI_Start of MPI_Precv_init from rank 0, tag 7 on
 * MPI_COMM_WORLD, at @receive, partitions 0-2 of 3 have not arrived
 * says: cause: rank 0 waits for a partitioned send with tag 7, and has not marked its partitions
 * 1, 3-4 ready */
BUG(partitions_not_ready)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Psend_init(numbers, 6, 2, MPI_INT, 1, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request); // @send
        for (int i = 0; i < 6; i++)
            if (!wrong || i == 0 || i == 2 || i == 5)
                MPI_Pready(i, request);
    } else {
        MPI_Precv_init(others, 3, 4, MPI_INT, 0, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request); // @receive
    }
    finish(&request);
}

/* options: --virtual core:2
 * says: rank 0: in MPI_Wait, at @wait, for MPI_Start of MPI_Psend_init to rank 1, tag 7 on
 * MPI_COMM_WORLD, at @send, partitions 1 of 2 were not marked ready */
BUG(partitions_not_ready_virtual)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Psend_init(numbers, 2, 2, MPI_INT, 1, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request); // @send
        MPI_Pready_range(0, wrong ? 0 : 1, request);
    } else {
        MPI_Precv_init(others, 1, 4, MPI_INT, 0, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    finish(&request);
}

/* says: rank 1: in MPI_Wait, at @wait, for MPI_Start of MPI_Precv_init from rank 0, tag 7 on
 * MPI_COMM_WORLD, at @receive, which no MPI_Psend_init has matched
 * says: cause: rank 1 waits for a message with tag 7 from rank 0; rank 0 has called MPI_Finalize */
BUG(partitions_unmatched)
{
    MPI_Request request;

    if (rank == 0 && !wrong) {
        MPI_Psend_init(numbers, 1, 4, MPI_INT, 1, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        finish(&request);
    } else if (rank == 1) {
        MPI_Precv_init(others, 1, 4, MPI_INT, 0, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request); // @receive
        finish(&request);
    }
}

/* code: 15
 * says: rank 1: MPI_Wait: rank 0 sends 2 partitions of 16 bytes with tag 7 (at @send); this
 * receive has 1 of 28, less in all */
BUG(partitions_amount)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Psend_init(numbers, 2, 4, MPI_INT, 1, 7, world, MPI_INFO_NULL, &request); // @send
        MPI_Start(&request);
        MPI_Pready_range(0, 1, request);
    } else {
        MPI_Precv_init(others, 1, wrong ? 7 : 8, MPI_INT, 0, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    finish(&request);
}

/* code: 13
 * says: rank 0: MPI_Pready: partition 1 was marked ready before, since the last MPI_Start
 * (MPI_ERR_ARG; at @twice) */
BUG(partition_twice)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Psend_init(numbers, 2, 4, MPI_INT, 1, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(1, request);
        MPI_Pready(wrong ? 1 : 0, request); // @twice
    } else {
        MPI_Precv_init(others, 2, 4, MPI_INT, 0, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    finish(&request);
}

/* code: 0
 * says: rank 1: MPI_Psend_init of rank 0, tag 7, was matched by no MPI_Precv_init, sent at @send */
BUG(partitions_left)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Psend_init(numbers, 2, 4, MPI_INT, 1, 7, world, MPI_INFO_NULL, &request); // @send
        MPI_Request_free(&request);
    } else if (!wrong) {
        MPI_Precv_init(others, 2, 4, MPI_INT, 0, 7, world, MPI_INFO_NULL, &request);
        MPI_Request_free(&request);
    }
}

/* code: 0
 * says: rank 1: 2 partitions never received; the first: from rank 0, 16 bytes, sent at @second */
BUG(partitions_never_received)
{
    MPI_Request request;

    for (int round = 0; round < 2; round++) {
        if (rank == 0 && round == 0)
            MPI_Psend_init(numbers, 2, 4, MPI_INT, 1, 7, world, MPI_INFO_NULL, &request);
        if (rank == 1 && round == 0)
            MPI_Precv_init(others, 2, 4, MPI_INT, 0, 7, world, MPI_INFO_NULL, &request);
        if (rank == 1 && round == 1 && wrong)
            break;
        MPI_Start(&request);
        if (rank == 0)
            MPI_Pready_range(0, 1, request); // @second
        MPI_Wait(&request, ignore);
    }
    MPI_Request_free(&request);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Pready at @ready was changed before MPI_Wait at
 * @wait [buffer-changed] */
BUG(partition_changed)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Psend_init(numbers, 2, 4, MPI_INT, 1, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request); // @ready
        numbers[wrong ? 3 : 4]++;
        MPI_Pready(1, request);
    } else {
        MPI_Precv_init(others, 2, 4, MPI_INT, 0, 7, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    finish(&request);
}

/* A partition that is used before it has arrived.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: the receive buffer of MPI_Start of MPI_Precv_init at @start was used at
 * @read, before MPI_Wait at @end [buffer-touched]
 */
BUG(check_partition_read)
{
    enum { PARTS = 4, COUNT = LARGE / PARTS };
    MPI_Request request;
    int flag = 0;

    if (rank == 0)
        MPI_Psend_init(numbers, PARTS, COUNT, MPI_INT, 1, 0, world, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(others, PARTS, COUNT, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request);
    for (int round = 0; round < 3; round++) {
        MPI_Start(&request); // @start
        if (rank == 0) {
            MPI_Pready(1, request);
            MPI_Recv(&flag, 1, MPI_INT, 1, 1, world, ignore);
            for (int i = 0; i < PARTS; i++)
                if (i != 1)
                    MPI_Pready(i, request);
        } else {
            for (flag = 0; flag == 0;)
                MPI_Parrived(request, 1, &flag);
            others[COUNT + 5000] += others[(wrong ? 2 : 1) * COUNT + 5000]; // @read
            MPI_Send(&flag, 1, MPI_INT, 0, 1, world);
        }
        MPI_Wait(&request, ignore); // @end
    }
    MPI_Request_free(&request);
}
#endif
