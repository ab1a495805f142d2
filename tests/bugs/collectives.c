/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that do not agree: other calls, roots, operations and orders. */
#include "bugs.h"

static const int ones[] = {1, 1, 1, 1}, at[] = {0, 1, 2, 3};

/* says: rank 0 calls MPI_Reduce with root 0 at @reduce
 * says: rank 1 calls MPI_Bcast with root 0 at @bcast */
BUG(reduce_and_bcast)
{
    if (wrong && rank == 1)
        MPI_Bcast(numbers, 1, MPI_INT, 0, world); // @bcast
    else
        MPI_Reduce(numbers, others, 1, MPI_INT, MPI_SUM, 0, world); // @reduce
    MPI_Barrier(world);
}

/* ranks: 3
 * says: rank 2 calls MPI_Exscan at @exscan
 * says: calls MPI_Scan at @scan */
BUG(scan_and_exscan)
{
    if (wrong && rank == 2)
        MPI_Exscan(numbers, others, 1, MPI_INT, MPI_SUM, world); // @exscan
    else
        MPI_Scan(numbers, others, 1, MPI_INT, MPI_SUM, world); // @scan
}

/* says: rank 0 calls MPI_Gather with root 0 at @gather
 * says: rank 1 calls MPI_Allgather at @all */
BUG(gather_and_allgather)
{
    if (wrong && rank == 1)
        MPI_Allgather(numbers, 1, MPI_INT, others, 1, MPI_INT, world); // @all
    else
        MPI_Gather(numbers, 1, MPI_INT, others, 1, MPI_INT, 0, world); // @gather
    MPI_Barrier(world);
}

/* says: rank 0 calls MPI_Reduce_scatter_block at @block
 * says: rank 1 calls MPI_Reduce_scatter at @counts */
BUG(reduce_scatters)
{
    if (wrong && rank == 1)
        MPI_Reduce_scatter(numbers, others, ones, MPI_INT, MPI_SUM, world); // @counts
    else
        MPI_Reduce_scatter_block(numbers, others, 1, MPI_INT, MPI_SUM, world); // @block
}

/* says: rank 0 calls MPI_Alltoall at @all
 * says: rank 1 calls MPI_Alltoallv at @vector */
BUG(alltoall_and_alltoallv)
{
    if (wrong && rank == 1)
        MPI_Alltoallv(numbers, ones, at, MPI_INT, others, ones, at, MPI_INT, world); // @vector
    else
        MPI_Alltoall(numbers, 1, MPI_INT, others, 1, MPI_INT, world); // @all
}

/* says: rank 0 calls MPI_Barrier at @barrier
 * says: rank 1 calls MPI_Ibarrier at @nonblocking */
BUG(barrier_and_ibarrier)
{
    MPI_Request request;

    if (!wrong || rank == 0) {
        MPI_Barrier(world); // @barrier
        return;
    }
    MPI_Ibarrier(world, &request); // @nonblocking
    MPI_Wait(&request, ignore);
}

/* says: ranks disagree about collective 1 of MPI_COMM_WORLD:
 * says: rank 0 calls MPI_Ibarrier at @barrier
 * says: rank 1 calls * at @bcast */
BUG(nonblocking_order)
{
    MPI_Request requests[2];

    if (wrong && rank == 1)
        MPI_Ibcast(numbers, 1, MPI_INT, 0, world, &requests[0]); // @bcast
    MPI_Ibarrier(world, &requests[1]);                           // @barrier
    if (!wrong || rank == 0)
        MPI_Ibcast(numbers, 1, MPI_INT, 0, world, &requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* ranks: 4
 * says: rank 3 calls MPI_Ibcast with root 3 at @here
 * says: calls MPI_Ibcast with root 0 at @here */
BUG(nonblocking_root)
{
    MPI_Request request;

    MPI_Ibcast(numbers, 1, MPI_INT, wrong && rank == 3 ? 3 : 0, world, &request); // @here
    MPI_Wait(&request, ignore);
    MPI_Barrier(world);
}

/* ranks: 3
 * says: rank 2 calls MPI_Gather with root 1 at @here
 * says: calls MPI_Gather with root 0 at @here */
BUG(gather_root)
{
    MPI_Gather(numbers, 1, MPI_INT, others, 1, MPI_INT, wrong && rank == 2, world); // @here
    MPI_Barrier(world);
}

/* ranks: 3
 * says: rank 2 calls MPI_Scatter with root 2 at @here
 * says: calls MPI_Scatter with root 0 at @here */
BUG(scatter_root)
{
    MPI_Scatter(numbers, 1, MPI_INT, others, 1, MPI_INT, wrong && rank == 2 ? 2 : 0, // @here
                world);
    MPI_Barrier(world);
}

/* ranks: 3
 * says: rank 1 calls MPI_Gatherv with root 1 at @here
 * says: calls MPI_Gatherv with root 2 at @here */
BUG(gatherv_root)
{
    MPI_Gatherv(numbers, 1, MPI_INT, others, ones, at, MPI_INT, wrong && rank == 1 ? 1 : 2, // @here
                world);
    MPI_Barrier(world);
}

/* says: rank 0 calls MPI_Scan with MPI_SUM at @here
 * says: rank 1 calls MPI_Scan with MPI_MAX at @here */
BUG(scan_operation)
{
    MPI_Scan(numbers, others, 1, MPI_INT, wrong && rank == 1 ? MPI_MAX : MPI_SUM, world); // @here
}

/* says: rank 0 calls MPI_Reduce_scatter with MPI_SUM at @here
 * says: rank 1 calls MPI_Reduce_scatter with MPI_BOR at @here */
BUG(reduce_scatter_operation)
{
    MPI_Op op = wrong && rank == 1 ? MPI_BOR : MPI_SUM;

    MPI_Reduce_scatter(numbers, others, ones, MPI_INT, op, world); // @here
}

/* says: rank 0 calls MPI_Ireduce with MPI_SUM at @here
 * says: rank 1 calls MPI_Ireduce with MPI_LXOR at @here */
BUG(ireduce_operation)
{
    MPI_Request request;
    MPI_Op op = wrong && rank == 1 ? MPI_LXOR : MPI_SUM;

    MPI_Ireduce(numbers, others, 1, MPI_INT, op, 1, world, &request); // @here
    MPI_Wait(&request, ignore);
    MPI_Barrier(world);
}

/* One of many.
 * ranks: 64
 * says: rank 37 calls MPI_Bcast with root 37 at @here
 * says: calls MPI_Bcast with root 0 at @here */
BUG(root_of_64)
{
    MPI_Bcast(numbers, 1, MPI_INT, wrong && rank == 37 ? 37 : 0, world); // @here
    MPI_Barrier(world);
}

/* ranks: 4096
 * says: rank 4095 calls MPI_Barrier at @barrier
 * says: calls MPI_Allreduce at @reduce */
BUG(collective_of_4096)
{
    if (wrong && rank == 4095)
        MPI_Barrier(world); // @barrier
    else
        MPI_Allreduce(numbers, others, 1, MPI_INT, MPI_SUM, world); // @reduce
}

/* The root has left a small broadcast when the others come to their end.
 * says: rank 0 calls MPI_Bcast with root 0 at @here
 * says: rank 1 calls MPI_Finalize at main.c:* */
BUG(bcast_and_finalize)
{
    if (!wrong || rank == 0)
        MPI_Bcast(numbers, 1, MPI_INT, 0, world); // @here
}

/* A loop that ends earlier on one rank.
 * ranks: 3
 * says: ranks disagree about collective 3 of MPI_COMM_WORLD:
 * says: rank 2 calls MPI_Barrier at @barrier
 * says: calls MPI_Allreduce at @reduce */
BUG(one_iteration_less)
{
    for (int i = 0; i < (wrong && rank == 2 ? 2 : 3); i++)
        MPI_Allreduce(numbers, others, 1, MPI_INT, MPI_SUM, world); // @reduce
    MPI_Barrier(world);                                             // @barrier
}

/* Two communicators of the same ranks, mixed up: the name says which.
 * says: ranks disagree about collective 1 of inner:
 * says: rank 0 calls MPI_Bcast with root 0 at @inner
 * says: rank 1 calls MPI_Allreduce at @outer */
BUG(mixed_up)
{
    MPI_Comm inner, outer = world;

    MPI_Comm_dup(world, &inner);
    MPI_Comm_set_name(inner, "inner");
    if (wrong && rank == 1)
        outer = inner;
    if (rank == 0)
        MPI_Bcast(numbers, 1, MPI_INT, 0, inner);               // @inner
    MPI_Allreduce(numbers, others, 1, MPI_INT, MPI_SUM, outer); // @outer
    if (rank == 1)
        MPI_Bcast(numbers, 1, MPI_INT, 0, inner);
    MPI_Comm_free(&inner);
}

/* ranks: 3
 * says: rank 1 calls MPI_Comm_split_type at @type
 * says: calls MPI_Comm_split at @split */
BUG(split_and_split_type)
{
    MPI_Comm made;

    if (wrong && rank == 1)
        MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made); // @type
    else
        MPI_Comm_split(world, 0, rank, &made); // @split
    MPI_Comm_free(&made);
}

/* says: rank 0 calls MPI_Cart_create at @cart
 * says: rank 1 calls MPI_Dist_graph_create_adjacent at @graph */
BUG(cart_and_graph)
{
    MPI_Comm made;
    int other = 1 - rank;

    if (wrong && rank == 1)
        MPI_Dist_graph_create_adjacent(world, 1, &other, MPI_UNWEIGHTED, 1, &other, // @graph
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    else
        MPI_Cart_create(world, 1, &size, (const int[]){1}, 0, &made); // @cart
    MPI_Comm_free(&made);
}

/* says: rank 0 calls MPI_Win_allocate at @allocate
 * says: rank 1 calls MPI_Win_create at @create */
BUG(window_makers)
{
    MPI_Win win;
    int *base;

    if (wrong && rank == 1)
        MPI_Win_create(numbers, 64, 1, MPI_INFO_NULL, world, &win); // @create
    else
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, world, &base, &win); // @allocate
    MPI_Win_free(&win);
}

/* says: rank 0 calls MPI_Comm_idup at @idup
 * says: rank 1 calls MPI_Comm_dup at @dup */
BUG(dup_and_idup)
{
    MPI_Request request;
    MPI_Comm made;

    if (wrong && rank == 1) {
        MPI_Comm_dup(world, &made); // @dup
    } else {
        MPI_Comm_idup(world, &made, &request); // @idup
        MPI_Wait(&request, ignore);
    }
    MPI_Comm_free(&made);
}

/* Two sides of an intercommunicator: ranks 0 and 1, and the rest. */
static MPI_Comm make_inter(void)
{
    MPI_Comm half, inter;

    MPI_Comm_split(world, rank > 1, rank, &half);
    MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, 6, &inter);
    MPI_Comm_set_name(inter, "bridge");
    MPI_Comm_free(&half);
    return inter;
}

/* ranks: 4
 * says: ranks disagree about collective 1 of bridge:
 * says: rank 2 calls MPI_Bcast with root 1 (1 in the other group) at @here
 * says: calls MPI_Bcast with root * at @here */
BUG(inter_root)
{
    MPI_Comm inter = make_inter();
    int root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : wrong && rank == 2;

    MPI_Bcast(numbers, 1, MPI_INT, root, inter); // @here
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
}

/* ranks: 4
 * says: rank 0 calls MPI_Bcast with root MPI_ROOT at @here
 * says: rank 1 calls MPI_Bcast with root MPI_ROOT at @here */
BUG(inter_two_roots)
{
    MPI_Comm inter = make_inter();
    int root = rank > 1 ? 0 : rank == 0 || wrong ? MPI_ROOT : MPI_PROC_NULL;

    MPI_Bcast(numbers, 1, MPI_INT, root, inter); // @here
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
}

/* ranks: 5
 * says: rank 4 calls MPI_Allreduce with MPI_MAX at @here
 * says: calls MPI_Allreduce with MPI_SUM at @here */
BUG(inter_operation)
{
    MPI_Comm inter = make_inter();

    MPI_Allreduce(numbers, others, 1, MPI_INT, wrong && rank == 4 ? MPI_MAX : MPI_SUM, // @here
                  inter);
    MPI_Comm_free(&inter);
}

/* ranks: 4
 * says: rank 2 calls MPI_Alltoall at @all
 * says: calls MPI_Allgather at @gather */
BUG(inter_collective)
{
    MPI_Comm inter = make_inter();

    if (wrong && rank == 2)
        MPI_Alltoall(numbers, 1, MPI_INT, others, 1, MPI_INT, inter); // @all
    else
        MPI_Allgather(numbers, 1, MPI_INT, others, 1, MPI_INT, inter); // @gather
    MPI_Comm_free(&inter);
}
