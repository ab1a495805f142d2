/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that do not agree: persistent ones and those of neighbours. */
#include "bugs.h"

static MPI_Comm make_ring(void)
{
    MPI_Comm ring;

    MPI_Cart_create(world, 1, &size, (const int[]){1}, 0, &ring);
    MPI_Comm_set_name(ring, "ring");
    return ring;
}

#if MPI_VERSION >= 4
/* says: rank 0 calls MPI_Start of MPI_Allreduce_init with MPI_SUM at @start
 * says: rank 1 calls MPI_Start of MPI_Allreduce_init with MPI_PROD at @start */
BUG(persistent_operation)
{
    MPI_Request request;
    MPI_Op op = wrong && rank == 1 ? MPI_PROD : MPI_SUM;

    MPI_Allreduce_init(numbers, others, 2, MPI_INT, op, world, MPI_INFO_NULL, &request);
    MPI_Start(&request); // @start
    MPI_Wait(&request, ignore);
    MPI_Request_free(&request);
}

/* ranks: 3
 * says: rank 2 calls MPI_Start of MPI_Bcast_init with root 2 at @start
 * says: calls MPI_Start of MPI_Bcast_init with root 0 at @start */
BUG(persistent_root)
{
    MPI_Request request;

    MPI_Bcast_init(numbers, 1, MPI_INT, wrong && rank == 2 ? 2 : 0, world, MPI_INFO_NULL, &request);
    MPI_Start(&request); // @start
    MPI_Wait(&request, ignore);
    MPI_Barrier(world);
    MPI_Request_free(&request);
}

/* The arguments of a persistent collective are those of a blocking one.
 * says: MPI_Bcast_init: the * buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here) */
BUG(persistent_null)
{
    MPI_Request request;

    MPI_Bcast_init(wrong ? NULL : numbers, 4, MPI_INT, 0, world, MPI_INFO_NULL, &request); // @here
    MPI_Request_free(&request);
}

/* says: rank 0: MPI_Gather_init: the send and the receive buffer are the same memory; pass
 * MPI_IN_PLACE (MPI_ERR_BUFFER; at @here) */
BUG(persistent_alias)
{
    MPI_Request request;

    MPI_Gather_init(wrong ? others : numbers, 4, MPI_INT, others, 4, MPI_INT, 0, world, // @here
                    MPI_INFO_NULL, &request);
    MPI_Request_free(&request);
}

/* code: 8
 * says: MPI_Reduce_init: the root is 2; MPI_COMM_WORLD has ranks 0 to 1 (MPI_ERR_ROOT; at @here) */
BUG(persistent_no_root)
{
    MPI_Request request;

    MPI_Reduce_init(numbers, others, 4, MPI_INT, MPI_SUM, wrong ? 2 : 1, world, // @here
                    MPI_INFO_NULL, &request);
    MPI_Request_free(&request);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank*: MPI_Start of MPI_Allreduce_init at @start receives into a block of 8 bytes,
 * allocated at @block; its count and datatype reach 8 bytes beyond the end [buffer-too-small] */
BUG(persistent_short)
{
    MPI_Request request;
    int *block = malloc((wrong ? 2 : 4) * sizeof(int)); // @block

    MPI_Allreduce_init(numbers, block, 4, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request);
    MPI_Start(&request); // @start
    MPI_Wait(&request, ignore);
    MPI_Request_free(&request);
    free(block);
}

/* Requests are made in the same order by all.
 * says: rank 0 calls MPI_Start of MPI_*_init at @start
 * says: rank 1 calls MPI_Start of MPI_*_init at @start */
BUG(persistent_order)
{
    MPI_Request requests[2];

    if (wrong && rank == 1)
        MPI_Allgather_init(numbers, 1, MPI_INT, others, 1, MPI_INT, world, MPI_INFO_NULL,
                           &requests[1]);
    MPI_Barrier_init(world, MPI_INFO_NULL, &requests[0]);
    if (!wrong || rank == 0)
        MPI_Allgather_init(numbers, 1, MPI_INT, others, 1, MPI_INT, world, MPI_INFO_NULL,
                           &requests[1]);
    MPI_Startall(2, requests); // @start
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* says: rank 0: in MPI_Wait, at @wait, for MPI_Start of MPI_Barrier_init on MPI_COMM_WORLD, at
 * @start
 * says: rank 1: in MPI_Recv from rank 0, tag 1 on MPI_COMM_WORLD, at @here */
BUG(persistent_not_started)
{
    MPI_Request request;

    MPI_Barrier_init(world, MPI_INFO_NULL, &request);
    if (wrong && rank == 1)
        MPI_Recv(others, 1, MPI_INT, 0, 1, world, ignore); // @here
    MPI_Start(&request);                                   // @start
    MPI_Wait(&request, ignore);                            // @wait
    MPI_Request_free(&request);
}

/* says: rank 0 calls MPI_Start of MPI_Allreduce_init with 8 bytes at @start
 * says: rank 1 calls MPI_Start of MPI_Allreduce_init with 12 bytes at @start */
BUG(persistent_amount)
{
    MPI_Request request;

    MPI_Allreduce_init(numbers, others, wrong && rank == 1 ? 3 : 2, MPI_INT, MPI_SUM, world,
                       MPI_INFO_NULL, &request);
    MPI_Start(&request); // @start
    MPI_Wait(&request, ignore);
    MPI_Request_free(&request);
}

/* says: MPI_Start: the request was started before and has not been completed since
 * (MPI_ERR_REQUEST; at @again)
 * code: 7 */
BUG(collective_started_twice)
{
    MPI_Request request;

    MPI_Barrier_init(world, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (!wrong)
        MPI_Wait(&request, ignore);
    if (!wrong || rank == 0)
        MPI_Start(&request); // @again
    MPI_Wait(&request, ignore);
    MPI_Request_free(&request);
}
#endif

/* ranks: 4
 * code: 15
 * says: MPI_Neighbor_alltoall: the message from rank 2 has 8 bytes; the receive has room for 4
 * (sent at @here) (MPI_ERR_TRUNCATE; at @here)
 */
BUG(neighbor_excess)
{
    MPI_Comm ring = make_ring();

    MPI_Neighbor_alltoall(numbers, wrong && rank == 2 ? 2 : 1, MPI_INT, others, 1, MPI_INT, // @here
                          ring);
    MPI_Comm_free(&ring);
}

/* ranks: 4
 * code: 15
 * says: MPI_Neighbor_allgather: the message from rank 2 has 12 bytes; the receive has room for 4
 * (sent at @here) (MPI_ERR_TRUNCATE; at @here)
 */
BUG(neighbor_allgather_excess)
{
    MPI_Comm ring = make_ring();

    MPI_Neighbor_allgather(numbers, wrong && rank == 2 ? 3 : 1, MPI_INT, others, 1, // @here
                           MPI_INT, ring);
    MPI_Comm_free(&ring);
}

/* ranks: 4
 * code: 15
 * says: MPI_Neighbor_alltoallv: the message from rank 1 has 8 bytes; the receive has room for 4
 * (sent at @here) (MPI_ERR_TRUNCATE; at @here)
 */
BUG(neighbor_alltoallv_excess)
{
    MPI_Comm ring = make_ring();
    int sent[] = {wrong && rank == 1 ? 2 : 1, 1}, room[] = {1, 1}, at[] = {0, 2};

    MPI_Neighbor_alltoallv(numbers, sent, at, MPI_INT, others, room, at, MPI_INT, ring); // @here
    MPI_Comm_free(&ring);
}

/* ranks: 4
 * says: deadlock: no rank can make progress
 * says: rank 1: in MPI_Neighbor_allgather on ring, at @gather
 * says: ranks 0,2: in MPI_Neighbor_alltoall on ring, at @all */
BUG(neighbor_other)
{
    MPI_Comm ring = make_ring();

    if (wrong && rank == 1)
        MPI_Neighbor_allgather(numbers, 1, MPI_INT, others, 1, MPI_INT, ring); // @gather
    else
        MPI_Neighbor_alltoall(numbers, 1, MPI_INT, others, 1, MPI_INT, ring); // @all
    MPI_Comm_free(&ring);
}

/* ranks: 4
 * says: rank 2: in MPI_Recv from any rank, tag 1 on MPI_COMM_WORLD, at @here
 * says: ranks 1,3: in MPI_Neighbor_alltoall on ring, at @all
 * says: cause: rank 2 waits for a message with tag 1 from any rank; no rank will send one
 */
BUG(neighbor_missing)
{
    MPI_Comm ring = make_ring();

    if (wrong && rank == 2)
        MPI_Recv(others, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, ignore);   // @here
    MPI_Neighbor_alltoall(numbers, 1, MPI_INT, others, 1, MPI_INT, ring); // @all
    MPI_Comm_free(&ring);
}

/* Each edge of a graph is named by both of its ends.
 * ranks: 3
 * says: rank 0: in MPI_Neighbor_alltoall on graph, at @here */
BUG(graph_one_sided)
{
    MPI_Comm graph;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;

    if (wrong && rank == 0)
        from = to;
    MPI_Dist_graph_create_adjacent(world, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Comm_set_name(graph, "graph");
    MPI_Neighbor_alltoall(numbers, 1, MPI_INT, others, 1, MPI_INT, graph); // @here
    MPI_Comm_free(&graph);
}

/* ranks: 3
 * code: 11
 * says: MPI_Neighbor_allgather: MPI_COMM_WORLD has no topology; * (MPI_ERR_TOPOLOGY; at @here) */
BUG(neighbor_without_topology)
{
    MPI_Comm ring = make_ring();

    MPI_Neighbor_allgather(numbers, 1, MPI_INT, others, 1, MPI_INT, wrong ? world : ring); // @here
    MPI_Comm_free(&ring);
}
