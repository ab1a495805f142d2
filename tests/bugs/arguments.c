/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments: those that cannot be right. */
#include "bugs.h"

/* says: rank 0: MPI_Comm_size: the argument size is NULL (MPI_ERR_ARG; at @here)
 * ranks: 1
 * code: 13 */
BUG(null_output)
{
    MPI_Comm_size(world, wrong ? NULL : &size); // @here
}

/* ranks: 1
 * code: 13
 * says: MPI_Type_get_extent: the argument extent is NULL (MPI_ERR_ARG; at @here) */
BUG(null_extent)
{
    MPI_Aint low, extent;

    MPI_Type_get_extent(MPI_INT, &low, wrong ? NULL : &extent); // @here
}

/* ranks: 1
 * code: 13
 * says: MPI_Iprobe: the argument flag is NULL (MPI_ERR_ARG; at @here) */
BUG(null_flag)
{
    int flag;

    MPI_Iprobe(0, 0, world, wrong ? NULL : &flag, ignore); // @here
}

/* ranks: 1
 * code: 13
 * says: MPI_Get_count: the argument count is NULL (MPI_ERR_ARG; at @here) */
BUG(null_count)
{
    MPI_Status status;
    int count;

    MPI_Sendrecv(numbers, 1, MPI_INT, 0, 0, others, 1, MPI_INT, 0, 0, world, &status);
    MPI_Get_count(&status, MPI_INT, wrong ? NULL : &count); // @here
}

/* ranks: 1
 * code: 13
 * says: MPI_Comm_dup: the argument newcomm is NULL (MPI_ERR_ARG; at @here) */
BUG(null_handle)
{
    MPI_Comm made;

    MPI_Comm_dup(world, wrong ? NULL : &made); // @here
    MPI_Comm_free(&made);
}

/* code: 1
 * says: MPI_Allreduce: the send buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here)
 */
BUG(null_allreduce)
{
    MPI_Allreduce(wrong ? NULL : numbers, others, 4, MPI_INT, MPI_SUM, world); // @here
}

/* At the root the receive buffer counts; elsewhere it does not.
 * says: rank 0: MPI_Reduce: the receive buffer is NULL and there is data for it (MPI_ERR_BUFFER; at
 * @here)
 */
BUG(null_reduce)
{
    MPI_Reduce(numbers, wrong || rank == 1 ? NULL : others, 4, MPI_INT, MPI_SUM, 0, world); // @here
}

/* says: MPI_Bcast: the receive buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here)
 */
BUG(null_bcast)
{
    MPI_Bcast(wrong ? NULL : numbers, 4, MPI_INT, 0, world); // @here
}

/* says: rank 0: MPI_Gather: the receive buffer is NULL and there is data for it (MPI_ERR_BUFFER; at
 * @here)
 */
BUG(null_gather)
{
    MPI_Gather(numbers, 4, MPI_INT, wrong || rank == 1 ? NULL : others, 4, MPI_INT, 0, // @here
               world);
}

/* says: MPI_Alltoallv: the send buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here)
 */
BUG(null_alltoallv)
{
    const int counts[] = {wrong, wrong}, places[] = {0, 1};

    MPI_Alltoallv(NULL, counts, places, MPI_INT, others, counts, places, MPI_INT, world); // @here
}

/* says: MPI_Iscatter: the send buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here)
 */
BUG(null_iscatter)
{
    MPI_Request request;

    MPI_Iscatter(wrong || rank == 1 ? NULL : numbers, 4, MPI_INT, others, 4, MPI_INT, 0, // @here
                 world, &request);
    MPI_Wait(&request, ignore);
}

/* says: MPI_Allreduce: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_allreduce)
{
    MPI_Allreduce(wrong ? (void *)numbers : MPI_IN_PLACE, numbers, 4, MPI_INT, MPI_SUM, // @here
                  world);
}

/* says: rank 0: MPI_Reduce: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_reduce)
{
    void *from = wrong || rank != 0 ? (void *)numbers : MPI_IN_PLACE;

    MPI_Reduce(from, numbers, 4, MPI_INT, MPI_SUM, 0, world); // @here
}

/* says: MPI_Alltoall: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_alltoall)
{
    MPI_Alltoall(wrong ? (void *)numbers : MPI_IN_PLACE, 1, MPI_INT, numbers, 1, MPI_INT, // @here
                 world);
}

/* says: MPI_Allgather: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_allgather)
{
    MPI_Allgather(wrong ? numbers : others, 1, MPI_INT, numbers, 1, MPI_INT, world); // @here
}

/* says: MPI_Sendrecv: the send and the receive buffer are the same memory; use MPI_Sendrecv_replace
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_sendrecv)
{
    MPI_Sendrecv(numbers, 4, MPI_INT, 1 - rank, 0, wrong ? numbers : others, 4, MPI_INT, // @here
                 1 - rank, 0, world, ignore);
}

/* ranks: 1
 * code: 5
 * says: MPI_Barrier: the communicator, brief, was freed at @free (MPI_ERR_COMM; at @here) */
BUG(freed_communicator_barrier)
{
    MPI_Comm brief, kept;

    MPI_Comm_dup(world, &brief);
    MPI_Comm_set_name(brief, "brief");
    kept = brief;
    if (wrong)
        MPI_Comm_free(&brief); // @free
    MPI_Barrier(kept);         // @here
    if (!wrong)
        MPI_Comm_free(&kept);
}

/* code: 5
 * says: rank 0: MPI_Send: the communicator, an unnamed communicator, was freed at @free
 * (MPI_ERR_COMM; at @here)
 */
BUG(freed_communicator_send)
{
    MPI_Comm made, kept;

    MPI_Comm_split(world, 0, rank, &made);
    kept = made;
    if (wrong)
        MPI_Comm_free(&made); // @free
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 0, kept); // @here
    else if (!wrong)
        MPI_Recv(others, 1, MPI_INT, 0, 0, kept, ignore);
    if (!wrong)
        MPI_Comm_free(&kept);
}

/* ranks: 1
 * code: 5
 * says: MPI_Comm_rank: the communicator, an unnamed communicator, was freed at @free (MPI_ERR_COMM;
 * at @here)
 */
BUG(freed_communicator_rank)
{
    MPI_Comm made, kept;

    MPI_Comm_dup(MPI_COMM_SELF, &made);
    kept = made;
    if (wrong)
        MPI_Comm_free(&made);   // @free
    MPI_Comm_rank(kept, &rank); // @here
    if (!wrong)
        MPI_Comm_free(&kept);
}

/* code: 7
 * says: rank 0: MPI_Wait: the request was completed or freed before; it was that of MPI_Isend at
 * @isend (MPI_ERR_REQUEST; at @wait)
 */
BUG(waited_twice)
{
    MPI_Request request, kept;

    if (rank == 1) {
        MPI_Recv(others, 1, MPI_INT, 0, 0, world, ignore);
        return;
    }
    MPI_Isend(numbers, 1, MPI_INT, 1, 0, world, &request); // @isend
    kept = request;
    if (wrong)
        MPI_Wait(&request, ignore);
    MPI_Wait(&kept, ignore); // @wait
}

/* code: 7
 * says: rank 0: MPI_Test: the request was completed or freed before; it was that of MPI_Ibarrier at
 * @start (MPI_ERR_REQUEST; at @test)
 */
BUG(tested_after_wait)
{
    MPI_Request request, kept;
    int flag;

    MPI_Ibarrier(world, &request); // @start
    kept = request;
    MPI_Wait(wrong ? &kept : &request, ignore);
    if (rank == 0)
        MPI_Test(&request, &flag, ignore); // @test
}

/* ranks: 1
 * code: 2
 * says: MPI_Send: the count is -1; it must not be negative (MPI_ERR_COUNT; at @here) */
BUG(negative_count)
{
    MPI_Send(numbers, wrong ? -1 : 1, MPI_INT, MPI_PROC_NULL, 0, world); // @here
}

/* ranks: 1
 * code: 4
 * says: MPI_Ssend: the tag is -5; tags are 0 to 2147483647 (MPI_ERR_TAG; at @here) */
BUG(negative_tag)
{
    MPI_Request request;

    MPI_Irecv(others, 1, MPI_INT, 0, 5, world, &request);
    MPI_Ssend(numbers, 1, MPI_INT, 0, wrong ? -5 : 5, world); // @here
    MPI_Wait(&request, ignore);
}

/* code: 6
 * says: rank 0: MPI_Send: rank 2 does not exist in MPI_COMM_WORLD, which has ranks 0 to 1
 * (MPI_ERR_RANK; at @here)
 */
BUG(rank_too_large)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, wrong ? size : 1, 0, world); // @here
    else
        MPI_Recv(others, 1, MPI_INT, 0, 0, world, ignore);
}

/* code: 8
 * says: MPI_Bcast: the root is 2; MPI_COMM_WORLD has ranks 0 to 1 (MPI_ERR_ROOT; at @here) */
BUG(root_too_large)
{
    MPI_Bcast(numbers, 1, MPI_INT, wrong ? 2 : 1, world); // @here
}

/* ranks: 1
 * code: 3
 * says: MPI_Isend: the datatype was not committed; call MPI_Type_commit first (MPI_ERR_TYPE; at
 * @here)
 */
BUG(not_committed)
{
    MPI_Datatype pair;
    MPI_Request request;

    MPI_Type_contiguous(2, MPI_INT, &pair);
    if (!wrong)
        MPI_Type_commit(&pair);
    MPI_Isend(numbers, 1, pair, 0, 0, world, &request); // @here
    MPI_Recv(others, 2, MPI_INT, 0, 0, world, ignore);
    MPI_Wait(&request, ignore);
    MPI_Type_free(&pair);
}

/* ranks: 1
 * code: 10
 * says: MPI_Allreduce: MPI_BAND is not defined for MPI_DOUBLE (MPI_ERR_OP; at @here) */
BUG(operation_of_other_types)
{
    static double from[4], to[4];

    MPI_Allreduce(from, to, 4, MPI_DOUBLE, wrong ? MPI_BAND : MPI_SUM, world); // @here
}

/* ranks: 1
 * code: 5
 * says: MPI_Barrier: the communicator is MPI_COMM_NULL (MPI_ERR_COMM; at @here) */
BUG(null_communicator)
{
    MPI_Barrier(wrong ? MPI_COMM_NULL : world); // @here
}

/* ranks: 1
 * code: 7
 * says: MPI_Start: the request was started before and has not been completed since
 * (MPI_ERR_REQUEST; at @here)
 */
BUG(started_twice)
{
    MPI_Request request;

    MPI_Recv_init(others, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request);
    MPI_Start(&request);
    if (!wrong)
        MPI_Wait(&request, ignore);
    MPI_Start(&request); // @here
    MPI_Wait(&request, ignore);
    MPI_Request_free(&request);
}
