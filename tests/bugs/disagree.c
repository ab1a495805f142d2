/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that do not agree: ranks that call something else. */
#include "bugs.h"

static MPI_Comm made;
static int counts[8], places[8];

/* says: ranks disagree about collective 1 of MPI_COMM_WORLD: *rank 0 calls MPI_Bcast with root 0 at
 * @bcast*; all members must make the same calls in the same order says: rank 1 calls MPI_Barrier at
 * @barrier */
BUG(other_collective)
{
    if (rank == 0 || !wrong)
        MPI_Bcast(numbers, 1, MPI_INT, 0, world); // @bcast
    else
        MPI_Barrier(world); // @barrier
}

/* ranks: 3
 * says: rank 1 calls MPI_Bcast with root 1 at @here
 * says: calls MPI_Bcast with root 0 at @here */
BUG(other_root)
{
    MPI_Bcast(numbers, 1, MPI_INT, wrong && rank == 1 ? 1 : 0, world); // @here
}

/* The root has its numbers in the world and in the communicator.
 * ranks: 4
 * says: collective 1 of upper half:
 * says: rank 2 calls MPI_Reduce with root 3 (0 in upper half) at @here
 * says: rank 3 calls MPI_Reduce with root 2 (1 in upper half) at @here */
BUG(other_root_elsewhere)
{
    int of_half, root = 0;

    MPI_Comm_split(world, rank / 2, -rank, &made);
    MPI_Comm_set_name(made, rank < 2 ? "lower half" : "upper half");
    MPI_Comm_rank(made, &of_half);
    if (wrong && rank == 3)
        root = 1;
    MPI_Reduce(numbers, others, 1, MPI_INT, MPI_SUM, root, made); // @here
    MPI_Barrier(made);
    MPI_Comm_free(&made);
}

/* ranks: 3
 * says: rank 2 calls MPI_Allreduce with MPI_MAX at @max
 * says: calls MPI_Allreduce with MPI_SUM at @sum */
BUG(other_operation)
{
    if (wrong && rank == 2)
        MPI_Allreduce(numbers, others, 4, MPI_INT, MPI_MAX, world); // @max
    else
        MPI_Allreduce(numbers, others, 4, MPI_INT, MPI_SUM, world); // @sum
}

/* says: rank 0 calls MPI_Reduce with MPI_SUM at @here
 * says: rank 1 calls MPI_Reduce with MPI_PROD at @here */
BUG(other_operation_rooted)
{
    MPI_Op op = wrong && rank == 1 ? MPI_PROD : MPI_SUM;

    MPI_Reduce(numbers, others, 4, MPI_INT, op, 0, world); // @here
    MPI_Barrier(world);
}

/* says: rank 0 calls MPI_Iallreduce with MPI_MIN at @here
 * says: rank 1 calls MPI_Iallreduce with MPI_BAND at @here */
BUG(other_operation_nonblocking)
{
    MPI_Request request;
    MPI_Op op = wrong && rank == 1 ? MPI_BAND : MPI_MIN;

    MPI_Iallreduce(numbers, others, 4, MPI_INT, op, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* The same with schedules of another engine.
 * options: --algorithm allreduce=ring
 * says: rank 0 calls MPI_Iallreduce with MPI_MIN at @here
 * says: rank 1 calls MPI_Iallreduce with MPI_BAND at @here */
BUG(other_operation_scheduled)
{
    MPI_Request request;
    MPI_Op op = wrong && rank == 1 ? MPI_BAND : MPI_MIN;

    MPI_Iallreduce(numbers, others, 4, MPI_INT, op, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* options: --virtual core:2 --compute none
 * says: rank 0 calls MPI_Allreduce with MPI_MIN at @here
 * says: rank 1 calls MPI_Allreduce with MPI_BAND at @here
 */
BUG(other_operation_virtual)
{
    MPI_Allreduce(numbers, others, 4, MPI_INT, wrong && rank == 1 ? MPI_BAND : MPI_MIN, // @here
                  world);
}

/* Begun in MPI_Wait, and reported where it was started.
 * options: --progress none
 * says: rank 0 calls MPI_Ibarrier at @barrier
 * says: rank 1 calls MPI_Ibcast with root 0 at @bcast */
BUG(other_deferred)
{
    MPI_Request request;

    if (rank == 0 || !wrong)
        MPI_Ibarrier(world, &request); // @barrier
    else
        MPI_Ibcast(numbers, 1, MPI_INT, 0, world, &request); // @bcast
    MPI_Wait(&request, ignore);
}

/* says: rank 0 calls MPI_Allreduce with 16 bytes at @here
 * says: rank 1 calls MPI_Allreduce with 20 bytes at @here */
BUG(other_amount)
{
    MPI_Allreduce(numbers, others, wrong && rank == 1 ? 5 : 4, MPI_INT, MPI_SUM, world); // @here
}

/* A user's operation is one operation, whatever it is called; but none of MPI's. */
static void add_up(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* says: rank 0 calls MPI_Allreduce with a user-defined operation at @own
 * says: rank 1 calls MPI_Allreduce with MPI_SUM at @sum */
BUG(own_operation)
{
    MPI_Op op;

    MPI_Op_create(add_up, 1, &op);
    if (wrong && rank == 1)
        MPI_Allreduce(numbers, others, 1, MPI_INT, MPI_SUM, world); // @sum
    else
        MPI_Allreduce(numbers, others, 1, MPI_INT, op, world); // @own
    MPI_Op_free(&op);
}

/* says: rank 0 calls MPI_Alltoall in place at @in
 * says: rank 1 calls MPI_Alltoall not in place at @out */
BUG(other_in_place)
{
    if (wrong && rank == 1)
        MPI_Alltoall(numbers, 1, MPI_INT, others, 1, MPI_INT, world); // @out
    else
        MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, others, 1, MPI_INT, world); // @in
}

/* says: rank 0 calls MPI_Comm_dup at @dup
 * says: rank 1 calls MPI_Comm_split at @split */
BUG(dup_and_split)
{
    if (wrong && rank == 1)
        MPI_Comm_split(world, 0, rank, &made); // @split
    else
        MPI_Comm_dup(world, &made); // @dup
    MPI_Comm_free(&made);
}

/* says: rank 0 calls MPI_Comm_dup at @dup
 * says: rank 1 calls MPI_Cart_create at @cart */
BUG(dup_and_cart)
{
    if (wrong && rank == 1)
        MPI_Cart_create(world, 1, &size, (const int[]){0}, 0, &made); // @cart
    else
        MPI_Comm_dup(world, &made); // @dup
    MPI_Comm_free(&made);
}

/* says: rank 0 calls MPI_Barrier at @here
 * says: rank 1 calls MPI_Finalize at main.c:* */
BUG(barrier_and_finalize)
{
    if (!wrong || rank == 0)
        MPI_Barrier(world); // @here
}

/* says: rank 0 calls MPI_Allgather at @gather
 * says: rank 1 calls MPI_Allgatherv at @gatherv */
BUG(other_variant)
{
    counts[0] = counts[1] = places[1] = 1;
    if (wrong && rank == 1)
        MPI_Allgatherv(numbers, 1, MPI_INT, others, counts, places, MPI_INT, world); // @gatherv
    else
        MPI_Allgather(numbers, 1, MPI_INT, others, 1, MPI_INT, world); // @gather
}

/* code: 15
 * says: MPI_Alltoallv on MPI_COMM_WORLD: rank 1 sends 12 bytes to rank 0 at @here, which has room
 * for 8 at @here; the counts and types of both must describe the same data
 */
BUG(alltoallv_excess)
{
    int sent[2] = {2, 2}, room[2] = {2, 2}, at[2] = {0, 10};

    if (wrong && rank == 1)
        sent[0] = 3;
    MPI_Alltoallv(numbers, sent, at, MPI_INT, others, room, at, MPI_INT, world); // @here
}

/* code: 15
 * ranks: 3
 * says: MPI_Gatherv on MPI_COMM_WORLD: rank 2 sends 20 bytes to rank 1 at @here, which has room for
 * 16 at @here;
 */
BUG(gatherv_excess)
{
    int room[3] = {4, 4, 4}, at[3] = {0, 10, 20};

    MPI_Gatherv(numbers, wrong && rank == 2 ? 5 : 4, MPI_INT, others, room, at, MPI_INT, // @here
                1, world);
}

/* Large blocks stay where they are.
 * code: 15
 * says: MPI_Gatherv on MPI_COMM_WORLD: rank 1 sends 40004 bytes to rank 0 at @here, which has room
 * for 40000 at @here;
 */
BUG(gatherv_large_excess)
{
    int room[2] = {10000, 10000}, at[2] = {0, 10000};

    MPI_Gatherv(numbers, wrong && rank == 1 ? 10001 : 10000, MPI_INT, others, room, at, // @here
                MPI_INT, 0, world);
}

/* code: 15
 * says: MPI_Scatterv on MPI_COMM_WORLD: rank 0 sends 20 bytes to rank 1 at @here, which has room
 * for 16 at @here;
 */
BUG(scatterv_excess)
{
    int sent[2] = {5, 5}, at[2] = {0, 10}, room = wrong && rank == 1 ? 4 : 5;

    MPI_Scatterv(numbers, sent, at, MPI_INT, others, room, MPI_INT, 0, world); // @here
}

/* code: 15
 * says: MPI_Allgatherv on MPI_COMM_WORLD: rank 1 sends 20 bytes to rank 0 at @here, which has room
 * for 16 at @here;
 */
BUG(allgatherv_excess)
{
    int room[2] = {5, wrong && rank == 0 ? 4 : 5}, at[2] = {0, 10};

    MPI_Allgatherv(numbers, 5, MPI_INT, others, room, at, MPI_INT, world); // @here
}

/* code: 15
 * says: MPI_Alltoall: 8 bytes are sent to each rank, and there is room for 4 from each
 * (MPI_ERR_TRUNCATE; at @here)
 */
BUG(alltoall_excess)
{
    MPI_Alltoall(numbers, wrong ? 2 : 1, MPI_INT, others, 1, MPI_INT, world); // @here
}

/* code: 15
 * says: MPI_Allgather: 8 bytes are sent to each rank, and there is room for 4 from each
 * (MPI_ERR_TRUNCATE; at @here)
 */
BUG(allgather_excess)
{
    MPI_Allgather(numbers, wrong ? 2 : 1, MPI_INT, others, 1, MPI_INT, world); // @here
}

/* code: 15
 * says: MPI_Alltoallw on MPI_COMM_WORLD: rank 0 sends 8 bytes to rank 1 at @here, which has room
 * for 4 at @here;
 */
BUG(alltoallw_excess)
{
    static double from[20], to[20];
    int ones[2] = {1, 1}, at[2] = {0, 40};
    MPI_Datatype wide[2] = {MPI_DOUBLE, MPI_DOUBLE}, narrow[2] = {MPI_DOUBLE, MPI_DOUBLE};

    if (wrong && rank == 1)
        narrow[0] = MPI_FLOAT;
    MPI_Alltoallw(from, ones, at, wide, to, ones, at, narrow, world); // @here
}

/* ---- Calls that make communicators, with other arguments ---- */

/* ranks: 6
 * says: ranks disagree about collective 1 of MPI_COMM_WORLD: rank 0 calls MPI_Cart_create with a
 * grid of 2 x 3 at @here, rank 4 calls MPI_Cart_create with a grid of 3 x 2 at @here; */
BUG(cart_dims)
{
    int two = wrong && rank == 4 ? 3 : 2, dims[] = {two, 6 / two}, periods[] = {0, 1};
    MPI_Comm cart;

    MPI_Cart_create(world, 2, dims, periods, 0, &cart); // @here
    MPI_Comm_free(&cart);
}

/* ranks: 4
 * says: rank 0 calls MPI_Cart_create with periods[1] = 1 at @here, rank 3 calls MPI_Cart_create
 * with periods[1] = 0 at @here */
BUG(cart_periods)
{
    int dims[] = {2, 2}, periods[] = {0, wrong && rank == 3 ? 0 : 7};
    MPI_Comm cart;

    MPI_Cart_create(world, 2, dims, periods, 0, &cart); // @here
    MPI_Comm_free(&cart);
}

/* ranks: 4
 * says: rank 0 calls MPI_Cart_create with reorder = 1 at @here, rank 1 calls MPI_Cart_create with
 * reorder = 0 at @here */
BUG(cart_reorder)
{
    int dims[] = {2, 2}, periods[] = {0, 0};
    MPI_Comm cart;

    MPI_Cart_create(world, 2, dims, periods, !(wrong && rank == 1), &cart); // @here
    MPI_Comm_free(&cart);
}

/* ranks: 4
 * says: rank 0 calls MPI_Cart_sub with remain_dims[0] = 0 at @here, rank 2 calls MPI_Cart_sub with
 * remain_dims[0] = 1 at @here */
BUG(cart_sub_dims)
{
    int dims[] = {2, 2}, periods[] = {0, 0}, remain[] = {wrong && rank == 2, 1};
    MPI_Comm cart, row;

    MPI_Cart_create(world, 2, dims, periods, 0, &cart);
    MPI_Cart_sub(cart, remain, &row); // @here
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
}

/* ranks: 3
 * says: rank 0 calls MPI_Graph_create with edges[3] = 1 at @here, rank 2 calls MPI_Graph_create
 * with edges[3] = 0 at @here */
BUG(graph_edges)
{
    int index[] = {1, 3, 4}, edges[] = {1, 0, 2, wrong && rank == 2 ? 0 : 1};
    MPI_Comm graph;

    MPI_Graph_create(world, 3, index, edges, 0, &graph); // @here
    MPI_Comm_free(&graph);
}

/* ranks: 3
 * says: rank 0 calls MPI_Graph_create with 3 nodes at @here, rank 1 calls MPI_Graph_create with 2
 * nodes at @here */
BUG(graph_nodes)
{
    int index[] = {1, 2, 2}, edges[] = {1, 0};
    MPI_Comm graph;

    MPI_Graph_create(world, wrong && rank == 1 ? 2 : 3, index, edges, 0, &graph); // @here
    MPI_Comm_free(&graph);
}

/* A rank without edges need not say whether edges have weights.
 * ranks: 3
 * says: rank 0 calls MPI_Dist_graph_create *with weights at @here, rank 1 calls
 * MPI_Dist_graph_create *without weights at @here */
BUG(dist_graph_weights)
{
    int to = (rank + 1) % 2, one = 1;
    bool is_weighted = rank == 0 || (rank == 1 && !wrong);
    MPI_Comm graph;
    const int *weights = is_weighted ? &one : MPI_UNWEIGHTED;

    MPI_Dist_graph_create(world, rank < 2, &rank, &one, &to, weights, // @here
                          MPI_INFO_NULL, 0, &graph);
    MPI_Comm_free(&graph);
}

/* ranks: 3
 * says: rank 0 calls MPI_Dist_graph_create_adjacent with reorder = 0* at @here, rank 2 calls
 * MPI_Dist_graph_create_adjacent with reorder = 1* at @here */
BUG(dist_graph_reorder)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Comm graph;

    MPI_Dist_graph_create_adjacent(world, 1, &from, MPI_UNWEIGHTED, 1, &to, // @here
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, wrong && rank == 2, &graph);
    MPI_Comm_free(&graph);
}

/* Disjoint groups are fine, and so is the group of others.
 * ranks: 5
 * says: rank 0 calls MPI_Comm_create with the group of ranks 0, 1, 2 at @here, rank 2 calls
 * MPI_Comm_create with the group of ranks 0, 2 at @here */
BUG(comm_create_groups)
{
    int low[] = {0, 1, 2}, high[] = {3}, other[] = {0, 2};
    MPI_Group all, part;
    MPI_Comm comm;

    MPI_Comm_group(world, &all);
    if (wrong && rank == 2)
        MPI_Group_incl(all, 2, other, &part);
    else
        MPI_Group_incl(all, rank < 3 ? 3 : 1, rank < 3 ? low : high, &part);
    MPI_Comm_create(world, part, &comm); // @here
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Group_free(&part);
    MPI_Group_free(&all);
}

/* ranks: 3
 * code: 9
 * says: rank 1: MPI_Comm_create_group: the group has 2 ranks here and 3 at rank 0; all members must
 * give the same group (MPI_ERR_GROUP; at @here) */
BUG(comm_create_group_sizes)
{
    MPI_Group all, part;
    MPI_Comm comm;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, wrong && rank == 1 ? 2 : 3, (int[]){0, 1, 2}, &part);
    MPI_Comm_create_group(world, part, 0, &comm); // @here
    MPI_Comm_free(&comm);
    MPI_Group_free(&part);
    MPI_Group_free(&all);
}

/* ranks: 3
 * code: 9
 * says: rank 2: MPI_Comm_create_group: rank 1 of the group is rank 2 here and rank 1 at rank 0; all
 * members must give the same group (MPI_ERR_GROUP; at @here) */
BUG(comm_create_group_order)
{
    MPI_Group all, part;
    MPI_Comm comm;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 3, wrong && rank == 2 ? (int[]){0, 2, 1} : (int[]){0, 1, 2}, &part);
    MPI_Comm_create_group(world, part, 0, &comm); // @here
    MPI_Comm_free(&comm);
    MPI_Group_free(&part);
    MPI_Group_free(&all);
}

/* No rank takes itself for the leader of the low group.
 * ranks: 4
 * says: rank 0 calls MPI_Intercomm_create with local leader 1 at @here, rank 1 calls
 * MPI_Intercomm_create with local leader 0 at @here */
BUG(intercomm_leaders)
{
    MPI_Comm half, inter;
    int leader = wrong && rank < 2 ? 1 - rank : 0;

    MPI_Comm_split(world, rank / 2, 0, &half);
    if (!wrong || rank < 2)
        MPI_Intercomm_create(half, leader, world, rank < 2 ? 2 : 0, 0, &inter); // @here
    else
        MPI_Barrier(half);
    if (!wrong)
        MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* ranks: 4
 * says: rank 2 calls MPI_Intercomm_merge with high = 1 at @here, rank 3 calls MPI_Intercomm_merge
 * with high = 0 at @here */
BUG(merge_order)
{
    MPI_Comm half, inter, all;

    MPI_Comm_split(world, rank / 2, 0, &half);
    MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, 0, &inter);
    MPI_Intercomm_merge(inter, wrong && rank == 3 ? 0 : rank >= 2, &all); // @here
    MPI_Comm_free(&all);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* ranks: 3
 * says: rank 1 calls MPI_Reduce_scatter with recvcounts[0] = 0 at @here
 * says: calls MPI_Reduce_scatter with recvcounts[0] = 2 at @here */
BUG(reduce_scatter_split)
{
    int shares[] = {2, 1, 0};

    if (wrong && rank == 1) {
        shares[0] = 0;
        shares[2] = 2;
    }
    MPI_Reduce_scatter(numbers, others, shares, MPI_INT, MPI_SUM, world); // @here
}

/* ranks: 3
 * says: rank 2 calls MPI_Ireduce_scatter with recvcounts[0] = 1 at @here
 * says: calls MPI_Ireduce_scatter with recvcounts[0] = 2 at @here */
BUG(ireduce_scatter_split)
{
    int shares[] = {wrong && rank == 2 ? 1 : 2, 0, wrong && rank == 2 ? 2 : 1};
    MPI_Request request;

    MPI_Ireduce_scatter(numbers, others, shares, MPI_INT, MPI_SUM, world, &request); // @here
    MPI_Wait(&request, ignore);
}
