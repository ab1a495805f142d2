/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments: of messages, types, groups, grids and communicators. */
#include "bugs.h"

/* code: 6
 * says: rank 1: MPI_Recv: rank -7 does not exist in MPI_COMM_WORLD, which has ranks 0 to 1
 * (MPI_ERR_RANK; at @here)
 */
BUG(rank_negative)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 0, world);
    else
        MPI_Recv(others, 1, MPI_INT, wrong ? -7 : 0, 0, world, ignore); // @here
}

/* ranks: 1
 * code: 6
 * says: rank 0: MPI_Send: the destination is MPI_ANY_SOURCE, which only receives have; name a
 * rank (MPI_ERR_RANK; at @here) */
BUG(send_to_any)
{
    MPI_Send(numbers, 1, MPI_INT, wrong ? MPI_ANY_SOURCE : MPI_PROC_NULL, 0, world); // @here
}

/* ranks: 1
 * code: 4
 * says: rank 0: MPI_Isend: the tag is MPI_ANY_TAG, which only receives have; tags are 0 to
 * 2147483647 (MPI_ERR_TAG; at @here) */
BUG(send_any_tag)
{
    MPI_Request request;

    MPI_Isend(numbers, 1, MPI_INT, 0, wrong ? MPI_ANY_TAG : 0, world, &request); // @here
    MPI_Recv(others, 1, MPI_INT, 0, MPI_ANY_TAG, world, ignore);
    MPI_Wait(&request, ignore);
}

/* ranks: 1
 * code: 6
 * says: rank 0: MPI_Probe: rank 1 does not exist in MPI_COMM_WORLD, which has ranks 0 to 0
 * (MPI_ERR_RANK; at @here)
 */
BUG(probe_rank)
{
    MPI_Probe(wrong ? 1 : MPI_PROC_NULL, 0, world, ignore); // @here
}

/* ranks: 1
 * code: 2
 * says: rank 0: MPI_Sendrecv: the count is -3; it must not be negative (MPI_ERR_COUNT; at @here) */
BUG(sendrecv_count)
{
    MPI_Sendrecv(numbers, 1, MPI_INT, 0, 0, others, wrong ? -3 : 1, MPI_INT, 0, 0, world, // @here
                 ignore);
}

/* ranks: 1
 * code: 1
 * says: rank 0: MPI_Send: the buffer is NULL and the count is 1 (MPI_ERR_BUFFER; at @here) */
BUG(send_null)
{
    MPI_Request request;

    MPI_Irecv(others, 1, MPI_INT, 0, 0, world, &request);
    MPI_Send(wrong ? NULL : numbers, 1, MPI_INT, 0, 0, world); // @here
    MPI_Wait(&request, ignore);
}

/* ranks: 1
 * code: 1
 * says: rank 0: MPI_Send: MPI_IN_PLACE is not allowed for this buffer (MPI_ERR_BUFFER; at @here) */
BUG(send_in_place)
{
    MPI_Request request;

    MPI_Irecv(others, 1, MPI_INT, 0, 0, world, &request);
    MPI_Send(wrong ? MPI_IN_PLACE : numbers, 1, MPI_INT, 0, 0, world); // @here
    MPI_Wait(&request, ignore);
}

/* ranks: 1
 * code: 3
 * says: rank 0: MPI_Send: the datatype is * (MPI_ERR_TYPE; at @here) */
BUG(type_null)
{
    MPI_Send(numbers, 1, wrong ? MPI_DATATYPE_NULL : MPI_INT, MPI_PROC_NULL, 0, world); // @here
}

/* code: 5
 * says: MPI_Comm_rank: the communicator is MPI_COMM_NULL* (MPI_ERR_COMM; at @here) */
BUG(not_in_communicator)
{
    MPI_Comm part;

    MPI_Comm_split(world, rank == 0 || !wrong ? 0 : MPI_UNDEFINED, 0, &part);
    MPI_Comm_rank(part, &size); // @here
    MPI_Comm_free(&part);
}

/* ranks: 3
 * code: 8
 * says: MPI_Reduce: the root is -1; MPI_COMM_WORLD has ranks 0 to 2 (MPI_ERR_ROOT; at @here) */
BUG(root_negative)
{
    MPI_Reduce(numbers, others, 1, MPI_INT, MPI_SUM, wrong ? -1 : 0, world); // @here
}

/* code: 10
 * says: MPI_Allreduce: the operation is * (MPI_ERR_OP; at @here) */
BUG(operation_null)
{
    MPI_Allreduce(numbers, others, 1, MPI_INT, wrong ? MPI_OP_NULL : MPI_SUM, world); // @here
}

/* code: 10
 * says: MPI_Allreduce: MPI_MINLOC is not defined for MPI_INT (MPI_ERR_OP; at @here) */
BUG(minloc_of_int)
{
    MPI_Allreduce(numbers, others, 1, wrong ? MPI_INT : MPI_2INT, MPI_MINLOC, world); // @here
}

/* code: 2
 * says: MPI_Alltoallv: the count for rank 1 is -1; it must not be negative (MPI_ERR_COUNT; at
 * @here)
 */
BUG(alltoallv_count)
{
    int counts[] = {0, wrong ? -1 : 0}, at[] = {0, 0};

    MPI_Alltoallv(numbers, counts, at, MPI_INT, others, counts, at, MPI_INT, world); // @here
}

/* code: 13
 * says: MPI_Alltoallv: the array of counts is NULL (MPI_ERR_ARG; at @here) */
BUG(alltoallv_null)
{
    int counts[] = {0, 0}, at[] = {0, 0};

    MPI_Alltoallv(numbers, wrong ? NULL : counts, at, MPI_INT, others, counts, at, // @here
                  MPI_INT, world);
}

/* code: 13
 * says: rank 0: MPI_Gatherv: the array of counts is NULL (MPI_ERR_ARG; at @here) */
BUG(gatherv_null)
{
    int counts[] = {1, 1}, at[] = {0, 1};

    MPI_Gatherv(numbers, 1, MPI_INT, others, wrong || rank == 1 ? NULL : counts, at, // @here
                MPI_INT, 0, world);
}

/* code: 13
 * says: MPI_Allgatherv: the array of displacements is NULL (MPI_ERR_ARG; at @here) */
BUG(allgatherv_null)
{
    int counts[] = {1, 1}, at[] = {0, 1};

    MPI_Allgatherv(numbers, 1, MPI_INT, others, counts, wrong ? NULL : at, MPI_INT, world); // @here
}

/* code: 13
 * says: MPI_Alltoallw: the array of datatypes is NULL (MPI_ERR_ARG; at @here) */
BUG(alltoallw_null)
{
    int counts[] = {1, 1}, at[] = {0, 4};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};

    MPI_Alltoallw(numbers, counts, at, types, others, counts, at, wrong ? NULL : types, // @here
                  world);
}

/* ranks: 1
 * code: 2
 * says: rank 0: MPI_Type_contiguous: the count is -1; it must not be negative (MPI_ERR_COUNT; at
 * @here)
 */
BUG(type_count)
{
    MPI_Datatype type;

    MPI_Type_contiguous(wrong ? -1 : 1, MPI_INT, &type); // @here
    MPI_Type_free(&type);
}

/* ranks: 1
 * code: 13
 * says: rank 0: MPI_Type_vector: the block length is -2; it must be at least 0 (MPI_ERR_ARG; at
 * @here)
 */
BUG(block_length)
{
    MPI_Datatype type;

    MPI_Type_vector(3, wrong ? -2 : 2, 4, MPI_INT, &type); // @here
    MPI_Type_free(&type);
}

/* ranks: 1
 * code: 3
 * says: rank 0: MPI_Type_free: * predefined * (MPI_ERR_TYPE; at @here) */
BUG(predefined_freed)
{
    MPI_Datatype type = MPI_INT;

    if (!wrong)
        MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_free(&type); // @here
}

/* ranks: 1
 * code: 5
 * says: rank 0: MPI_Comm_free: MPI_COMM_WORLD cannot be freed (MPI_ERR_COMM; at @here) */
BUG(world_freed)
{
    MPI_Comm comm = world;

    if (!wrong)
        MPI_Comm_dup(world, &comm);
    MPI_Comm_free(&comm); // @here
}

/* ranks: 1
 * code: 6
 * says: rank 0: MPI_Group_incl: * (MPI_ERR_RANK; at @here) */
BUG(group_rank)
{
    MPI_Group all, one;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, (const int[]){wrong ? 1 : 0}, &one); // @here
    MPI_Group_free(&one);
    MPI_Group_free(&all);
}

/* ranks: 4
 * code: 9
 * says: MPI_Comm_create: rank 0 of the group, rank * of MPI_COMM_WORLD, is not in half
 * (MPI_ERR_GROUP; at @here)
 */
BUG(group_outside)
{
    MPI_Comm half, made;
    MPI_Group all, one;

    MPI_Comm_split(world, rank / 2, rank, &half);
    MPI_Comm_set_name(half, "half");
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, (const int[]){(rank < 2) != wrong ? 0 : 2}, &one);
    MPI_Comm_create(half, one, &made); // @here
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    MPI_Group_free(&one);
    MPI_Group_free(&all);
    MPI_Comm_free(&half);
}

/* code: 13
 * says: MPI_Comm_split: the color is -2; it must be 0 or more, or MPI_UNDEFINED (MPI_ERR_ARG; at
 * @here)
 */
BUG(color_negative)
{
    MPI_Comm made;

    MPI_Comm_split(world, wrong ? -2 : 2, 0, &made); // @here
    MPI_Comm_free(&made);
}

/* ranks: 4
 * code: 12
 * says: MPI_Cart_create: the grid has more points than the 4 ranks of MPI_COMM_WORLD (MPI_ERR_DIMS;
 * at @here)
 */
BUG(grid_too_large)
{
    MPI_Comm grid;

    MPI_Cart_create(world, 2, (const int[]){2, wrong ? 3 : 2}, (const int[]){0, 0}, 0, // @here
                    &grid);
    MPI_Comm_free(&grid);
}

/* ranks: 4
 * code: 12
 * says: MPI_Cart_shift: the direction is 2; the grid has 2 dimensions (MPI_ERR_DIMS; at @here) */
BUG(shift_direction)
{
    MPI_Comm grid;
    int from, to;

    MPI_Cart_create(world, 2, (const int[]){2, 2}, (const int[]){0, 0}, 0, &grid);
    MPI_Cart_shift(grid, wrong ? 2 : 1, 1, &from, &to); // @here
    MPI_Comm_free(&grid);
}

/* ranks: 4
 * code: 13
 * says: MPI_Cart_rank: coordinate 1 is 2; the dimension has 2 points and is not periodic
 * (MPI_ERR_ARG; at @here)
 */
BUG(outside_grid)
{
    MPI_Comm grid;
    int found;

    MPI_Cart_create(world, 2, (const int[]){2, 2}, (const int[]){0, 0}, 0, &grid);
    MPI_Cart_rank(grid, (const int[]){0, wrong ? 2 : 1}, &found); // @here
    MPI_Comm_free(&grid);
}

/* ranks: 1
 * code: 12
 * says: rank 0: MPI_Dims_create: no grid of 12 nodes has the dimensions that are set
 * (MPI_ERR_DIMS; at @here)
 */
BUG(dims_do_not_divide)
{
    int dims[] = {wrong ? 5 : 4, 0};

    MPI_Dims_create(12, 2, dims); // @here
}

/* ranks: 3
 * code: 6
 * says: MPI_Dist_graph_create_adjacent: number 0 of the sources is 3; MPI_COMM_WORLD has 3 ranks
 * (MPI_ERR_RANK; at @here)
 */
BUG(graph_rank)
{
    MPI_Comm graph;
    int from = wrong ? rank + 1 : (rank + 1) % size, to = (rank + size - 1) % size;

    MPI_Dist_graph_create_adjacent(world, 1, &from, MPI_UNWEIGHTED, 1, &to, // @here
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_free(&graph);
}

/* ranks: 4
 * code: 6
 * says: MPI_Intercomm_create: the local leader is 2; the group has 2 ranks (MPI_ERR_RANK; at @here)
 */
BUG(local_leader)
{
    MPI_Comm half, inter;

    MPI_Comm_split(world, rank / 2, rank, &half);
    MPI_Intercomm_create(half, wrong ? 2 : 0, world, rank < 2 ? 2 : 0, 6, &inter); // @here
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* code: 5
 * says: MPI_Comm_remote_size: MPI_COMM_WORLD is not an intercommunicator: it has no remote group
 * (MPI_ERR_COMM; at @here)
 */
BUG(no_remote_group)
{
    if (wrong)
        MPI_Comm_remote_size(world, &size); // @here
    else
        MPI_Comm_size(world, &size);
}

/* ranks: 1
 * code: 2
 * says: rank 0: MPI_Waitall: the number of requests is -1 (MPI_ERR_COUNT; at @here) */
BUG(waitall_count)
{
    MPI_Request request = MPI_REQUEST_NULL;

    MPI_Waitall(wrong ? -1 : 1, &request, MPI_STATUSES_IGNORE); // @here
}

/* ranks: 1
 * code: 7
 * says: rank 0: MPI_Start: the request is not persistent (MPI_ERR_REQUEST; at @here) */
BUG(start_of_irecv)
{
    MPI_Request request;

    if (wrong)
        MPI_Irecv(others, 1, MPI_INT, 0, 0, world, &request);
    else
        MPI_Recv_init(others, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request);
    MPI_Start(&request); // @here
    MPI_Wait(&request, ignore);
    MPI_Request_free(&request);
}

/* ranks: 1
 * code: 7
 * says: rank 0: MPI_Request_free: the request is MPI_REQUEST_NULL (MPI_ERR_REQUEST; at @here) */
BUG(free_of_null)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (!wrong)
        MPI_Recv_init(others, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request);
    MPI_Request_free(&request); // @here
}

/* ranks: 1
 * code: 15
 * says: rank 0: MPI_Pack: 12 bytes are to be * at position 0 of a buffer of 8 bytes
 * (MPI_ERR_TRUNCATE; at @here)
 */
BUG(packed_too_much)
{
    int position = 0;

    MPI_Pack(numbers, wrong ? 3 : 2, MPI_INT, others, 8, &position, world); // @here
}

/* ranks: 1
 * code: 1
 * says: rank 0: MPI_Reduce_local: both buffers are at the same address (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_local)
{
    MPI_Reduce_local(numbers, wrong ? numbers : others, 1, MPI_INT, MPI_SUM); // @here
}

/* says: MPI_Bcast: MPI_IN_PLACE is not allowed for this buffer (MPI_ERR_BUFFER; at @here) */
BUG(bcast_in_place)
{
    MPI_Bcast(wrong ? MPI_IN_PLACE : numbers, 1, MPI_INT, 0, world); // @here
}

/* Only the root may.
 * says: rank 1: MPI_Gather: MPI_IN_PLACE is not allowed for this buffer (MPI_ERR_BUFFER; at @here)
 */
BUG(gather_in_place)
{
    void *from = rank == 0 || wrong ? MPI_IN_PLACE : numbers;

    MPI_Gather(from, 1, MPI_INT, others, 1, MPI_INT, 0, world); // @here
}

/* says: MPI_Scan: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_scan)
{
    MPI_Scan(numbers, wrong ? numbers : others, 1, MPI_INT, MPI_SUM, world); // @here
}

/* says: MPI_Reduce_scatter_block: the send and the receive buffer are the same memory; pass
 * MPI_IN_PLACE (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_reduce_scatter)
{
    MPI_Reduce_scatter_block(numbers, wrong ? numbers : others, 1, MPI_INT, MPI_SUM, // @here
                             world);
}

/* says: rank 0: MPI_Igather: the send and the receive buffer are the same memory; pass MPI_IN_PLACE
 * (MPI_ERR_BUFFER; at @here)
 */
BUG(alias_igather)
{
    MPI_Request request;

    MPI_Igather(numbers, 1, MPI_INT, wrong ? numbers : others, 1, MPI_INT, 0, world, // @here
                &request);
    MPI_Wait(&request, ignore);
}

/* says: MPI_Scatter: the send buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here) */
BUG(null_scatter)
{
    MPI_Scatter(wrong || rank == 1 ? NULL : numbers, 1, MPI_INT, others, 1, MPI_INT, 0, // @here
                world);
}

/* says: MPI_Scan: the receive buffer is NULL and there is data for it (MPI_ERR_BUFFER; at @here) */
BUG(null_scan)
{
    MPI_Scan(numbers, wrong ? NULL : others, 1, MPI_INT, MPI_SUM, world); // @here
}

/* ranks: 1
 * code: 13
 * says: rank 0: MPI_Comm_set_name: the argument comm_name is NULL (MPI_ERR_ARG; at @here) */
BUG(null_name)
{
    MPI_Comm_set_name(world, wrong ? NULL : "world"); // @here
}

/* ---- Arrays that are NULL ---- */

/* ranks: 1
 * code: 13
 * says: rank 0: MPI_Type_create_struct: the argument array_of_displacements is NULL (MPI_ERR_ARG;
 * at
 * @here) */
BUG(struct_null)
{
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE}, made;

    MPI_Type_create_struct(0, NULL, NULL, NULL, &made); // none are fine
    MPI_Type_free(&made);
    MPI_Type_create_struct(2, lengths, wrong ? NULL : places, types, &made); // @here
    MPI_Type_free(&made);
}

/* ranks: 1
 * code: 13
 * says: rank 0: MPI_Type_create_subarray: the argument array_of_starts is NULL (MPI_ERR_ARG; at
 * @here) */
BUG(subarray_null)
{
    int sizes[] = {4, 4}, parts[] = {2, 2}, starts[] = {1, 1};
    MPI_Datatype made;

    MPI_Type_create_subarray(2, sizes, parts, wrong ? NULL : starts, MPI_ORDER_C, // @here
                             MPI_INT, &made);
    MPI_Type_free(&made);
}

/* code: 13
 * says: rank 1: MPI_Waitall: the argument array_of_requests is NULL (MPI_ERR_ARG; at @here) */
BUG(waitall_null)
{
    MPI_Request request;

    MPI_Irecv(others, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Cancel(&request);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Waitall(1, wrong && rank == 1 ? NULL : &request, MPI_STATUSES_IGNORE); // @here
}

/* code: 1
 * ranks: 1
 * says: rank 0: MPI_Reduce_local: the argument inbuf is NULL and there is data for it
 * (MPI_ERR_BUFFER; at @here) */
BUG(reduce_local_null)
{
    MPI_Reduce_local(wrong ? NULL : numbers, others, 2, MPI_INT, MPI_SUM); // @here
}

/* ranks: 3
 * code: 13
 * says: MPI_Neighbor_alltoallw: the array of displacements is NULL (MPI_ERR_ARG; at @here) */
BUG(neighbor_null)
{
    int counts[] = {1, 1}, yes = 1;
    MPI_Aint places[] = {0, 4};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Comm ring;

    MPI_Cart_create(world, 1, &size, &yes, 0, &ring);
    MPI_Neighbor_alltoallw(numbers, counts, places, types, others, counts, // @here
                           wrong && rank == 1 ? NULL : places, types, ring);
    MPI_Comm_free(&ring);
}

/* code: 1
 * says: rank 1: MPI_Alltoallw: the receive buffer is NULL and there is data for it (MPI_ERR_BUFFER;
 * at @here) */
BUG(alltoallw_buffer_null)
{
    int counts[] = {1, 1}, at[] = {0, 4};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};

    MPI_Alltoallw(numbers, counts, at, types, wrong && rank == 1 ? NULL : others, counts, // @here
                  at, types, world);
}

/* Without data neither buffers nor displacements are needed.
 * code: 13
 * says: rank 1: MPI_Alltoallv: the array of displacements is NULL (MPI_ERR_ARG; at @here) */
BUG(displacements_null)
{
    int none[] = {0, 0}, some[] = {0, 1};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};

    MPI_Gatherv(NULL, 0, MPI_INT, NULL, none, NULL, MPI_INT, 0, world);
    MPI_Scatterv(NULL, none, NULL, MPI_INT, NULL, 0, MPI_INT, 0, world);
    MPI_Allgatherv(NULL, 0, MPI_INT, NULL, none, NULL, MPI_INT, world);
    MPI_Alltoallw(NULL, none, NULL, types, NULL, none, NULL, types, world);
    MPI_Alltoallv(NULL, none, NULL, MPI_INT, others, wrong && rank == 1 ? some : none, // @here
                  NULL, MPI_INT, world);
}
