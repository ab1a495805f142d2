/* SPDX-License-Identifier: BSD-3-Clause */
/* Amounts of data in collectives. */
#include "bugs.h"

/* ranks: 3
 * says: rank 2 calls MPI_Bcast with 8 bytes at @here
 * says: calls MPI_Bcast with 4 bytes at @here */
BUG(bcast_amount)
{
    MPI_Bcast(numbers, wrong && rank == 2 ? 2 : 1, MPI_INT, 0, world); // @here
    MPI_Barrier(world);
}

/* Too large to be copied at once.
 * says: rank 0 calls MPI_Bcast with 1048576 bytes at @here
 * says: rank 1 calls MPI_Bcast with 1048572 bytes at @here */
BUG(bcast_large_amount)
{
    MPI_Bcast(numbers, wrong && rank == 1 ? LARGE - 1 : LARGE, MPI_INT, 0, world); // @here
    MPI_Barrier(world);
}

/* says: rank 0 calls MPI_Ibcast with 4 bytes at @here
 * says: rank 1 calls MPI_Ibcast with 16 bytes at @here */
BUG(ibcast_amount)
{
    MPI_Request request;

    MPI_Ibcast(numbers, wrong && rank == 1 ? 4 : 1, MPI_INT, 0, world, &request); // @here
    MPI_Wait(&request, ignore);
    MPI_Barrier(world);
}

/* ranks: 3
 * says: rank 1 calls MPI_Reduce with 12 bytes at @here
 * says: calls MPI_Reduce with 8 bytes at @here */
BUG(reduce_amount)
{
    MPI_Reduce(numbers, others, wrong && rank == 1 ? 3 : 2, MPI_INT, MPI_SUM, 0, world); // @here
    MPI_Barrier(world);
}

/* says: rank 0 calls MPI_Scan with 4 bytes at @here
 * says: rank 1 calls MPI_Scan with 8 bytes at @here */
BUG(scan_amount)
{
    MPI_Scan(numbers, others, wrong && rank == 1 ? 2 : 1, MPI_INT, MPI_SUM, world); // @here
}

/* ranks: 4
 * says: rank 3 calls MPI_Reduce_scatter_block with 8 bytes at @here
 * says: calls MPI_Reduce_scatter_block with 4 bytes at @here */
BUG(reduce_scatter_block_amount)
{
    MPI_Reduce_scatter_block(numbers, others, wrong && rank == 3 ? 2 : 1, MPI_INT, // @here
                             MPI_SUM, world);
}

/* All members pass the same counts.
 * ranks: 3
 * says: rank 2 calls MPI_Reduce_scatter with recvcounts[2] = 4 at @here
 * says: calls MPI_Reduce_scatter with recvcounts[2] = 3 at @here */
BUG(reduce_scatter_counts)
{
    int counts[] = {1, 2, wrong && rank == 2 ? 4 : 3};

    MPI_Reduce_scatter(numbers, others, counts, MPI_INT, MPI_SUM, world); // @here
}

/* Each of them is right for itself.
 * ranks: 3
 * says: rank 1 calls MPI_Allgather with 8 bytes at @here
 * says: calls MPI_Allgather with 4 bytes at @here */
BUG(allgather_amount)
{
    int count = wrong && rank == 1 ? 2 : 1;

    MPI_Allgather(numbers, count, MPI_INT, others, count, MPI_INT, world); // @here
}

/* ranks: 3
 * says: rank 1 calls MPI_Alltoall with 8 bytes at @here
 * says: calls MPI_Alltoall with 4 bytes at @here */
BUG(alltoall_amount)
{
    int count = wrong && rank == 1 ? 2 : 1;

    MPI_Alltoall(numbers, count, MPI_INT, others, count, MPI_INT, world); // @here
}

/* ranks: 3
 * says: rank 2 calls MPI_Gather with 12 bytes at @here
 * says: calls MPI_Gather with 8 bytes at @here */
BUG(gather_amount)
{
    MPI_Gather(numbers, wrong && rank == 2 ? 3 : 2, MPI_INT, others, 2, MPI_INT, 0, world); // @here
    MPI_Barrier(world);
}

/* ranks: 3
 * says: rank 2 calls MPI_Scatter with 4 bytes at @here
 * says: calls MPI_Scatter with 8 bytes at @here */
BUG(scatter_amount)
{
    MPI_Scatter(numbers, 2, MPI_INT, others, wrong && rank == 2 ? 1 : 2, MPI_INT, 0, // @here
                world);
    MPI_Barrier(world);
}

/* code: 15
 * says: MPI_Igatherv on MPI_COMM_WORLD: rank 1 sends 16 bytes to rank 0 at @here, which has room
 * for 12 at @here;
 */
BUG(igatherv_excess)
{
    int room[2] = {3, 3}, at[2] = {0, 10};
    MPI_Request request;

    MPI_Igatherv(numbers, wrong && rank == 1 ? 4 : 3, MPI_INT, others, room, at, MPI_INT, // @here
                 0, world, &request);
    MPI_Wait(&request, ignore);
    MPI_Barrier(world);
}

/* Begun in MPI_Wait, and reported as the call that was started.
 * options: --progress none --processes 2
 * says: MPI_Igatherv on MPI_COMM_WORLD: rank 1 gives * bytes at @here, and there is room for * at
 * @here;
 */
BUG(igatherv_excess_deferred)
{
    int room[2] = {3, 3}, at[2] = {0, 10};
    MPI_Request request;

    MPI_Igatherv(numbers, wrong && rank == 1 ? 4 : 3, MPI_INT, others, room, at, MPI_INT, // @here
                 0, world, &request);
    MPI_Wait(&request, ignore);
    MPI_Barrier(world);
}

/* code: 15
 * says: MPI_Ialltoallv on MPI_COMM_WORLD: rank 0 sends 8 bytes to rank 1 at @here, which has room
 * for 4 at @here;
 */
BUG(ialltoallv_excess)
{
    int sent[2] = {1, wrong && rank == 0 ? 2 : 1}, room[2] = {1, 1}, at[2] = {0, 10};
    MPI_Request request;

    MPI_Ialltoallv(numbers, sent, at, MPI_INT, others, room, at, MPI_INT, world, // @here
                   &request);
    MPI_Wait(&request, ignore);
}

/* A type that is longer than the counts say.
 * code: 15
 * says: MPI_Allgatherv on MPI_COMM_WORLD: rank * sends 16 bytes to rank 1 at @here, which has room
 * for 8 at @here;
 * says: rank 1: MPI_Allgatherv at @here sends MPI_DOUBLE and receives MPI_INT
 * says: rank 0: collective 1 of MPI_COMM_WORLD has different types
 */
BUG(allgatherv_type)
{
    static double mine[2], all[12];
    int room[2] = {2, 2}, at[2] = {0, 10};
    MPI_Datatype to = wrong && rank == 1 ? MPI_INT : MPI_DOUBLE;

    MPI_Allgatherv(mine, 2, MPI_DOUBLE, all, room, at, to, world); // @here
}

/* Ranks 0 and 1 on one side, the rest on the other. */
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
 * says: rank 3 calls MPI_Allreduce with 8 bytes at @here
 * says: calls MPI_Allreduce with 4 bytes at @here */
BUG(inter_allreduce_amount)
{
    MPI_Comm inter = make_inter();

    MPI_Allreduce(numbers, others, wrong && rank == 3 ? 2 : 1, MPI_INT, MPI_SUM, inter); // @here
    MPI_Comm_free(&inter);
}

/* ranks: 4
 * says: ranks disagree about collective 1 of bridge:
 * says: rank 1 calls MPI_Gather with 8 bytes at @here
 * says: rank 0 calls MPI_Gather with 4 bytes at @here */
BUG(inter_gather_excess)
{
    MPI_Comm inter = make_inter();
    int root = rank == 2 ? MPI_ROOT : rank == 3 ? MPI_PROC_NULL : 0;

    MPI_Gather(numbers, wrong && rank == 1 ? 2 : 1, MPI_INT, others, 1, MPI_INT, root, // @here
               inter);
    MPI_Comm_free(&inter);
}

/* ranks: 4
 * code: 15
 * says: MPI_Alltoallv on bridge: rank 0 sends 12 bytes to rank 3 at @here, which has room for 4 at
 * @here;
 */
BUG(inter_alltoallv_excess)
{
    MPI_Comm inter = make_inter();
    int sent[2] = {1, wrong && rank == 0 ? 3 : 1}, room[2] = {1, 1}, at[2] = {0, 10};

    MPI_Alltoallv(numbers, sent, at, MPI_INT, others, room, at, MPI_INT, inter); // @here
    MPI_Comm_free(&inter);
}

/* ranks: 64
 * code: 15
 * says: MPI_Gatherv on MPI_COMM_WORLD: rank 40 sends 8 bytes to rank 3 at @here, which has room for
 * 4 at @here;
 */
BUG(gatherv_of_64)
{
    int room[64], at[64];

    for (int r = 0; r < size; r++) {
        room[r] = 1;
        at[r] = r;
    }
    MPI_Gatherv(numbers, wrong && rank == 40 ? 2 : 1, MPI_INT, others, room, at, MPI_INT, // @here
                3, world);
}

/* ranks: 4096
 * says: rank 2048 calls MPI_Allreduce with 8 bytes at @here
 * says: calls MPI_Allreduce with 4 bytes at @here */
BUG(amount_of_4096)
{
    MPI_Allreduce(numbers, others, wrong && rank == 2048 ? 2 : 1, MPI_INT, MPI_SUM, world); // @here
}
