/* SPDX-License-Identifier: BSD-3-Clause */
/* Deadlocks: partners that are missing, and circles of other calls. */
#include "bugs.h"

/* says: rank 0: in MPI_Ssend to rank 1, tag 6 on MPI_COMM_WORLD, at @here
 * says: rank 1: in MPI_Ssend to rank 0, tag 6 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits until rank 1 receives its message with tag 6, rank 1 waits until rank
 * 0 receives its message with tag 6
 */
BUG(ssend_ssend)
{
    if (!wrong && rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 6, world, ignore);
    MPI_Ssend(numbers, 1, MPI_INT, 1 - rank, 6, world); // @here
    if (wrong || rank == 0)
        MPI_Recv(others, 1, MPI_INT, 1 - rank, 6, world, ignore);
}

/* ranks: 1
 * says: rank 0: in MPI_Ssend to rank 0, tag 1 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits until rank 0 receives its message with tag 1
 */
BUG(ssend_to_itself)
{
    MPI_Request request;

    if (!wrong)
        MPI_Irecv(others, 1, MPI_INT, 0, 1, world, &request);
    MPI_Ssend(numbers, 1, MPI_INT, 0, 1, world); // @here
    if (wrong)
        MPI_Irecv(others, 1, MPI_INT, 0, 1, world, &request);
    MPI_Wait(&request, ignore);
}

/* says: rank 1: in MPI_Recv from rank 1, tag 1 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 1 waits for a message with tag 1 from rank 1
 */
BUG(recv_from_itself)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
    else
        MPI_Recv(others, 1, MPI_INT, wrong ? rank : 0, 1, world, ignore); // @here
}

/* says: rank 1: in MPI_Recv from rank 0, tag 3 on apart, at @here
 * says:   cause: rank 1 waits for a message with tag 3 from rank 0; rank 0 has called MPI_Finalize;
 * a message with tag 3 from rank 0 is there on another communicator, MPI_COMM_WORLD, sent at @send
 */
BUG(other_communicator)
{
    MPI_Comm apart;

    MPI_Comm_dup(world, &apart);
    MPI_Comm_set_name(apart, "apart");
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 3, wrong ? world : apart); // @send
    else
        MPI_Recv(others, 1, MPI_INT, 0, 3, apart, ignore); // @here
    MPI_Comm_free(&apart);
}

/* ranks: 3
 * says: rank 0: in MPI_Recv from rank 2, tag 1 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits for a message with tag 1 from rank 2; rank 2 has called MPI_Finalize
 */
BUG(other_source)
{
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, wrong ? 2 : 1, 1, world, ignore); // @here
}

/* ranks: 64
 * says: rank 0: in MPI_Recv from rank 63, tag 1 on MPI_COMM_WORLD, at @here
 * says: rank 31: in MPI_Recv from rank 30, tag 1 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits for a message with tag 1 from rank 63,* and so on, 64 ranks in all
 */
BUG(ring_of_64)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;

    if (!wrong)
        MPI_Send(numbers, 1, MPI_INT, next, 1, world);
    MPI_Recv(others, 1, MPI_INT, previous, 1, world, ignore); // @here
    if (wrong)
        MPI_Send(numbers, 1, MPI_INT, next, 1, world);
}

/* Every rank of a large job waits in the same collective, but one.
 * ranks: 4096
 * says: ranks 0-2999,3001-4095: in MPI_Allreduce on MPI_COMM_WORLD, at @reduce
 * says: rank 3000: in MPI_Recv from rank 1, tag 8 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 1 waits in MPI_Allreduce on MPI_COMM_WORLD for rank 3000, rank 3000 waits for
 * a message with tag 8 from rank 1
 */
BUG(one_of_4096)
{
    if (wrong && rank == 3000)
        MPI_Recv(others, 1, MPI_INT, 1, 8, world, ignore);      // @here
    MPI_Allreduce(numbers, others, 1, MPI_INT, MPI_SUM, world); // @reduce
}

/* says: rank 0: in MPI_Waitall, at @wait, for MPI_Irecv from rank 1, tag 2 on MPI_COMM_WORLD, at
 * @second
 * says:   cause: rank 0 waits for a message with tag 2 from rank 1; rank 1 has called MPI_Finalize
 */
BUG(waitall_one_short)
{
    MPI_Request requests[2];

    if (rank == 1) {
        for (int i = 1; i <= (wrong ? 1 : 2); i++)
            MPI_Send(numbers, 1, MPI_INT, 0, i, world);
        return;
    }
    MPI_Irecv(others, 1, MPI_INT, 1, 1, world, &requests[0]);
    MPI_Irecv(others + 1, 1, MPI_INT, 1, 2, world, &requests[1]); // @second
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);                // @wait
}

/* ranks: 3
 * says: rank 0: in MPI_Waitany, at @wait, for MPI_Irecv from rank 1, tag 2 on MPI_COMM_WORLD, at
 * @here
 */
BUG(waitany)
{
    MPI_Request requests[2];
    int index;

    if (rank > 0 && !wrong)
        MPI_Send(numbers, 1, MPI_INT, 0, 2, world);
    if (rank > 0)
        return;
    for (int i = 0; i < 2; i++)
        MPI_Irecv(others + i, 1, MPI_INT, i + 1, 2, world, &requests[i]); // @here
    MPI_Waitany(2, requests, &index, ignore);                             // @wait
    MPI_Wait(&requests[1 - index], ignore);
}

/* says: rank 0: in MPI_Waitsome, at @wait, for MPI_Irecv from rank 1, tag 2 on MPI_COMM_WORLD, at
 * @here
 */
BUG(waitsome)
{
    MPI_Request request;
    int count, index;

    if (rank == 1 && !wrong)
        MPI_Send(numbers, 1, MPI_INT, 0, 2, world);
    if (rank == 1)
        return;
    MPI_Irecv(others, 1, MPI_INT, 1, 2, world, &request);           // @here
    MPI_Waitsome(1, &request, &count, &index, MPI_STATUSES_IGNORE); // @wait
}

/* Everybody sends to the left and expects something from there.
 * ranks: 5
 * says: rank 0: in MPI_Sendrecv with rank 4, tag 3 on MPI_COMM_WORLD, at @here
 * says: rank 3: in MPI_Sendrecv with rank 2, tag 3 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits for a message with tag 3 from rank 4, *
 */
BUG(sendrecv_one_direction)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    MPI_Sendrecv(numbers, 1, MPI_INT, left, 3, others, 1, MPI_INT, wrong ? left : right, 3, // @here
                 world, ignore);
}

/* says: rank 1: in MPI_Mprobe from rank 0, tag 4 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 1 waits for a message with tag 4 from rank 0; rank 0 has called MPI_Finalize
 */
BUG(mprobe)
{
    MPI_Message message;

    if (rank == 0 && !wrong)
        MPI_Send(numbers, 1, MPI_INT, 1, 4, world);
    if (rank == 0)
        return;
    MPI_Mprobe(0, 4, world, &message, ignore); // @here
    MPI_Mrecv(others, 1, MPI_INT, &message, ignore);
}

/* ranks: 4
 * says: rank 0: in MPI_Recv from rank 3, tag 1 on MPI_COMM_WORLD, at @here
 * says: ranks 1-3: in MPI_Bcast on MPI_COMM_WORLD, at @bcast
 * says:   cause: rank 0 waits for a message with tag 1 from rank 3, rank 3 waits in MPI_Bcast on
 * MPI_COMM_WORLD for rank 0
 */
BUG(root_of_bcast_waits)
{
    if (!wrong && rank == 3)
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, 3, 1, world, ignore); // @here
    MPI_Bcast(numbers, 1, MPI_INT, 0, world);              // @bcast
    if (wrong && rank == 3)
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
}

/* says: rank 0: in MPI_Wait, at @wait, for MPI_Ibarrier on MPI_COMM_WORLD, at @start
 * says: rank 1: in MPI_Recv from rank 0, tag 1 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits in MPI_Ibarrier on MPI_COMM_WORLD for rank 1, rank 1 waits for a
 * message with tag 1 from rank 0
 */
BUG(ibarrier_before_send)
{
    MPI_Request request;

    if (!wrong && rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
    if (rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore); // @here
    MPI_Ibarrier(world, &request);                         // @start
    MPI_Wait(&request, ignore);                            // @wait
    if (wrong && rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 1, world);
}

/* Rows and columns of a grid: two of the four ranks begin with their column.
 * ranks: 4
 * says: rank 0: in MPI_Barrier on row 0, at @first
 * says: rank 1: in MPI_Barrier on column 1, at @first
 * says:   cause: rank 0 waits in MPI_Barrier on row 0 for rank 1, rank 1 waits in MPI_Barrier on
 * column 1 for rank 3, rank 3 waits in MPI_Barrier on row 1 for rank 2, rank 2 waits in MPI_Barrier
 * on column 0 for rank 0
 */
BUG(rows_and_columns)
{
    MPI_Comm row, column;
    char name[16];
    bool is_swapped = wrong && (rank == 1 || rank == 2);

    MPI_Comm_split(world, rank / 2, rank, &row);
    MPI_Comm_split(world, rank % 2, rank, &column);
    snprintf(name, sizeof(name), "row %d", rank / 2);
    MPI_Comm_set_name(row, name);
    snprintf(name, sizeof(name), "column %d", rank % 2);
    MPI_Comm_set_name(column, name);
    MPI_Barrier(is_swapped ? column : row); // @first
    MPI_Barrier(is_swapped ? row : column);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

/* ranks: 3
 * says: rank 0: in MPI_Recv from rank 2, tag 1 on MPI_COMM_WORLD, at @second
 * says:   cause: rank 0 waits for a message with tag 1 from rank 2; rank 2 has called MPI_Finalize
 */
BUG(wildcard_took_it)
{
    if (rank == 2)
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    MPI_Barrier(world);
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    MPI_Barrier(world);
    if (rank == 0) {
        MPI_Recv(others, 1, MPI_INT, wrong ? MPI_ANY_SOURCE : 1, 1, world, ignore);
        MPI_Recv(others, 1, MPI_INT, 2, 1, world, ignore); // @second
    }
}

/* One round too many.
 * ranks: 5
 * says: rank 0: in MPI_Recv from rank 4, tag 1 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits for a message with tag 1 from rank 4; rank 4 has called MPI_Finalize
 */
BUG(one_round_more)
{
    for (int i = 0; i < 3; i++)
        if (rank == 4)
            MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    for (int i = 0; rank == 0 && i < (wrong ? 4 : 3); i++)
        MPI_Recv(others, 1, MPI_INT, 4, 1, world, ignore); // @here
}

/* says: rank 0: in MPI_Wait, at @wait, for MPI_Issend to rank 1, tag 5 on MPI_COMM_WORLD, at @start
 * says:   cause: rank 0 waits until rank 1 receives its message with tag 5; rank 1 has called
 * MPI_Finalize
 */
BUG(issend_never_received)
{
    MPI_Request request;

    if (rank == 1) {
        if (!wrong)
            MPI_Recv(others, 1, MPI_INT, 0, 5, world, ignore);
        return;
    }
    MPI_Issend(numbers, 1, MPI_INT, 1, 5, world, &request); // @start
    MPI_Wait(&request, ignore);                             // @wait
}

/* says: rank 0: in MPI_Send to rank 1, tag 5 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits until rank 1 receives its message with tag 5; rank 1 has called
 * MPI_Finalize
 */
BUG(large_never_received)
{
    if (rank == 0)
        MPI_Send(numbers, LARGE, MPI_INT, 1, 5, world); // @here
    else if (!wrong)
        MPI_Recv(others, LARGE, MPI_INT, 0, 5, world, ignore);
}

/* ranks: 3
 * says: rank 2: in MPI_Comm_create_group from rank 1, tag 3 on MPI_COMM_WORLD, at @create
 * says: rank 1: in MPI_Recv from rank 2, tag 9 on MPI_COMM_WORLD, at @here
 */
BUG(create_group_without_1)
{
    MPI_Group all, pair;
    MPI_Comm made;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 2, (const int[]){1, 2}, &pair);
    if (wrong && rank == 1)
        MPI_Recv(others, 1, MPI_INT, 2, 9, world, ignore); // @here
    if (rank > 0) {
        MPI_Comm_create_group(world, pair, 3, &made); // @create
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&pair);
    MPI_Group_free(&all);
}

/* ranks: 4
 * says: rank 0: in MPI_Intercomm_create with rank 2, tag 7 on MPI_COMM_WORLD, at @here
 * says: rank 2: in MPI_Intercomm_create with rank 0, tag 6 on MPI_COMM_WORLD, at @here
 * says: ranks 1,3: in MPI_Intercomm_create on half, at @here
 * says:   cause: rank 0 waits for a message with tag 7 from rank 2, rank 2 waits for a message with
 * tag 6 from rank 0; *
 */
BUG(intercomm_other_tag)
{
    MPI_Comm half, inter;

    MPI_Comm_split(world, rank / 2, rank, &half);
    MPI_Comm_set_name(half, "half");
    MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, wrong && rank < 2 ? 7 : 6, // @here
                         &inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* says: rank 0: in MPI_Recv from any rank, any tag on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits for a message from any rank; no rank will send one
 */
BUG(any_of_any)
{
    if (rank == 1 && !wrong)
        MPI_Send(numbers, 1, MPI_INT, 0, 1, world);
    if (rank == 0)
        MPI_Recv(others, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, ignore); // @here
}

/* The same communicator's members, on two duplicates of it.
 * says: rank 0: in MPI_Allreduce on first, at @here
 * says: rank 1: in MPI_Allreduce on second, at @here
 */
BUG(other_duplicate)
{
    MPI_Comm made[2];

    MPI_Comm_dup(world, &made[0]);
    MPI_Comm_dup(world, &made[1]);
    MPI_Comm_set_name(made[0], "first");
    MPI_Comm_set_name(made[1], "second");
    MPI_Allreduce(numbers, others, 1, MPI_INT, MPI_SUM, made[wrong ? rank : 0]); // @here
    MPI_Comm_free(&made[0]);
    MPI_Comm_free(&made[1]);
}

/* Two requests of a ring are started, only one side waits for what comes.
 * ranks: 3
 * says: rank 1: in MPI_Wait, at @wait, for MPI_Start of MPI_Recv_init from rank 0, tag 2 on
 * MPI_COMM_WORLD, at @start
 */
BUG(one_start_missing)
{
    MPI_Request requests[2];

    MPI_Send_init(numbers, 1, MPI_INT, (rank + 1) % size, 2, world, &requests[0]);
    MPI_Recv_init(others, 1, MPI_INT, (rank + size - 1) % size, 2, world, &requests[1]);
    MPI_Start(&requests[1]); // @start
    if (!wrong || rank != 0)
        MPI_Start(&requests[0]);
    MPI_Wait(&requests[1], ignore); // @wait
    MPI_Wait(&requests[0], ignore);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}
