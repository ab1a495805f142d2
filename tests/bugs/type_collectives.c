/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives whose members give different types. */
#include "bugs.h"

static int counts[8], places[8];
static MPI_Request request;

/* code: 0
 * says: warning: rank 0: collective 1 of MPI_COMM_WORLD has different types: *rank 0 calls
 * MPI_Bcast with MPI_INT at @root*; give the same types in all says: rank 1 calls MPI_Bcast with
 * MPI_FLOAT at @other */
BUG(type_bcast)
{
    if (rank == 0)
        MPI_Bcast(numbers, 4, MPI_INT, 0, world); // @root
    else
        MPI_Bcast(numbers, 4, wrong ? MPI_FLOAT : MPI_INT, 0, world); // @other
    MPI_Barrier(world);
}

/* code: 0
 * says: rank 1 calls MPI_Bcast with MPI_DOUBLE at @here
 * says: rank 0 calls MPI_Bcast with MPI_INT at @here */
BUG(type_bcast_large)
{
    MPI_Datatype type = wrong && rank == 1 ? MPI_DOUBLE : MPI_INT;

    MPI_Bcast(numbers, type == MPI_INT ? LARGE : LARGE / 2, type, 0, world); // @here
}

/* code: 0
 * options: --algorithm bcast=binomial
 * says: rank 1 calls MPI_Ibcast with MPI_FLOAT at @here
 * says: rank 0 calls MPI_Ibcast with MPI_INT at @here */
BUG(type_ibcast_scheduled)
{
    MPI_Datatype type = wrong && rank == 1 ? MPI_FLOAT : MPI_INT;

    MPI_Ibcast(numbers, 4, type, 0, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* The sum of integers and floating-point numbers is neither.
 * says: ranks disagree about collective 1 of MPI_COMM_WORLD: *rank 0 calls MPI_Allreduce with
 * MPI_INT at @here says: rank 1 calls MPI_Allreduce with MPI_FLOAT at @here */
BUG(type_allreduce)
{
    MPI_Datatype type = wrong && rank == 1 ? MPI_FLOAT : MPI_INT;

    MPI_Allreduce(numbers, others, 4, type, MPI_SUM, world); // @here
}

/* options: --cores 1
 * ranks: 3
 * says: rank 0 calls MPI_Allreduce with 16 bytes of MPI_INT at @here
 * says: rank 2 calls MPI_Allreduce with 32 bytes of MPI_DOUBLE at @here */
BUG(type_allreduce_size)
{
    MPI_Datatype type = wrong && rank == 2 ? MPI_DOUBLE : MPI_INT;

    MPI_Allreduce(numbers, others, 4, type, MPI_SUM, world); // @here
}

/* says: rank 0 calls MPI_Reduce with MPI_INT at @here
 * says: rank 1 calls MPI_Reduce with MPI_FLOAT at @here
 * options: --virtual core:4 --compute none */
BUG(type_reduce_virtual)
{
    MPI_Datatype type = wrong && rank == 1 ? MPI_FLOAT : MPI_INT;

    MPI_Reduce(numbers, others, 4, type, MPI_SUM, 0, world); // @here
    MPI_Barrier(world);
}

/* code: 0
 * says: rank 0 calls MPI_Gather with MPI_INT at @here
 * says: rank 1 calls MPI_Gather with MPI_FLOAT at @here */
BUG(type_gather)
{
    MPI_Datatype type = wrong && rank == 1 ? MPI_FLOAT : MPI_INT;

    MPI_Gather(numbers, 4, type, others, 4, MPI_INT, 0, world); // @here
    MPI_Barrier(world);
}

/* A member without data may give any type.
 * code: 0
 * ranks: 3
 * says: MPI_Gatherv with MPI_INT at @int
 * says: rank 1 calls MPI_Gatherv with MPI_SHORT at @short */
BUG(type_gatherv)
{
    int n = wrong ? 2 : 0;

    counts[0] = counts[2] = 1;
    counts[1] = n / 2;
    places[1] = 1;
    places[2] = 2;
    if (rank == 1)
        MPI_Gatherv(numbers, n, MPI_SHORT, others, counts, places, MPI_INT, 0, world); // @short
    else
        MPI_Gatherv(numbers, 1, MPI_INT, others, counts, places, MPI_INT, 0, world); // @int
    MPI_Barrier(world);
}

/* code: 0
 * says: warning: rank 0: MPI_Allgather at @here sends MPI_INT and receives MPI_FLOAT; give the same
 * types in both
 * says: rank 0 calls MPI_Allgather with MPI_FLOAT at @here, rank 1 calls MPI_Allgather with
 * MPI_UNSIGNED at @here */
BUG(type_own_block)
{
    MPI_Datatype type = wrong && rank == 0 ? MPI_FLOAT : MPI_UNSIGNED;

    MPI_Allgather(numbers, 4, rank == 0 ? MPI_INT : type, others, 4, type, world); // @here
}

/* Types may be others in one direction than in the other.
 * code: 0
 * says: MPI_Alltoallv on MPI_COMM_WORLD: rank 0 sends MPI_INT to rank 1 at @here, which receives
 * MPI_DOUBLE at @here; give the same types in both */
BUG(type_alltoallv)
{
    static char from[4096], into[4096];
    MPI_Datatype here = rank == 0 ? MPI_INT : MPI_FLOAT, there = rank == 0 ? MPI_FLOAT : MPI_INT;

    counts[1 - rank] = 4;
    if (wrong && rank == 1)
        there = MPI_DOUBLE;
    MPI_Alltoallv(from, counts, places, here, into, counts, places, there, world); // @here
}

/* code: 0
 * says: MPI_Ialltoallw on MPI_COMM_WORLD: rank 0 sends MPI_INT to rank 1 at @here, which receives
 * MPI_FLOAT at @here
 * options: --progress threads */
BUG(type_alltoallw_scheduled)
{
    MPI_Datatype t[2] = {MPI_INT, MPI_INT},
                 u[2] = {wrong && rank == 1 ? MPI_FLOAT : MPI_INT, MPI_INT};

    counts[0] = counts[1] = 4;
    places[1] = 16;
    MPI_Ialltoallw(numbers, counts, places, t, others, counts, places, u, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* Counts and places of two integers for each rank. */
static void fill(void)
{
    for (int i = 0; i < 8; i++) {
        counts[i] = 2;
        places[i] = 4 * i;
    }
}

/* code: 15
 * options: --progress threads
 * says: MPI_Ialltoallv on MPI_COMM_WORLD: rank 1 sends 12 bytes to rank 0 at @here, which has room
 * for 8 at @here; the counts and types of both must describe the same data */
BUG(excess_scheduled_alltoallv)
{
    int *s = counts, r[2] = {2, 2}, *at = places;
    MPI_Datatype t = MPI_INT;

    fill();
    if (wrong && rank == 1)
        counts[0] = 3;
    MPI_Ialltoallv(numbers, s, at, t, others, r, at, t, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* code: 15
 * options: --progress threads
 * ranks: 3
 * says: MPI_Igatherv on MPI_COMM_WORLD: rank 2 sends 12 bytes to rank 1 at @here, which has room
 * for 8 at @here */
BUG(excess_scheduled_gatherv)
{
    int n = wrong && rank == 2 ? 3 : 2;
    MPI_Datatype t = MPI_INT;

    fill();
    MPI_Igatherv(numbers, n, t, others, counts, places, t, 1, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* code: 15
 * options: --progress threads
 * says: MPI_Iscatterv on MPI_COMM_WORLD: rank 0 sends 12 bytes to rank 1 at @here, which has room
 * for 8 at @here */
BUG(excess_scheduled_scatterv)
{
    MPI_Datatype t = MPI_INT;

    fill();
    counts[1] = wrong ? 3 : 2;
    MPI_Iscatterv(numbers, counts, places, t, others, 2, t, 0, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* code: 15
 * options: --progress threads
 * says: MPI_Iallgatherv on MPI_COMM_WORLD: rank 1 sends 12 bytes to rank 0 at @here, which has room
 * for 8 at @here */
BUG(excess_scheduled_allgatherv)
{
    int n = wrong && rank == 1 ? 3 : 2;
    MPI_Datatype t = MPI_INT;

    fill();
    counts[1] = rank == 1 ? n : 2;
    MPI_Iallgatherv(numbers, n, t, others, counts, places, t, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* code: 15
 * options: --virtual core:4 --compute none
 * says: MPI_Alltoallv on MPI_COMM_WORLD: rank 1 sends 12 bytes to rank 0 at @here, which has room
 * for 8 at @here */
BUG(excess_virtual_alltoallv)
{
    int r[2] = {2, 2};

    fill();
    if (wrong && rank == 1)
        counts[0] = 3;
    MPI_Alltoallv(numbers, counts, places, MPI_INT, others, r, places, MPI_INT, world); // @here
}

/* code: 15
 * options: --virtual core:4 --compute none
 * says: MPI_Gatherv on MPI_COMM_WORLD: rank 1 sends 12 bytes to rank 0 at @here, which has room for
 * 8 at @here */
BUG(excess_virtual_gatherv)
{
    int n = wrong && rank == 1 ? 3 : 2;

    fill();
    MPI_Gatherv(numbers, n, MPI_INT, others, counts, places, MPI_INT, 0, world); // @here
    MPI_Barrier(world);
}
