/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that do not agree: calls that make communicators, their partners and tags. */
#include "bugs.h"

static MPI_Comm made;

/* says: rank 0 calls MPI_Comm_split at @split
 * says: rank 1 calls MPI_Comm_dup at @dup */
BUG(split_and_dup)
{
    if (wrong && rank == 1)
        MPI_Comm_dup(world, &made); // @dup
    else
        MPI_Comm_split(world, 0, rank, &made); // @split
    MPI_Comm_free(&made);
}

/* says: rank 0 calls MPI_Comm_dup at @here
 * says: rank 1 calls MPI_Finalize at main.c:* */
BUG(dup_and_finalize)
{
    if (wrong && rank == 1)
        return;
    MPI_Comm_dup(world, &made); // @here
    MPI_Comm_free(&made);
}

/* says: rank 1 calls MPI_Comm_split at @here
 * says: rank 0 calls MPI_Finalize at main.c:* */
BUG(finalize_and_split)
{
    if (wrong && rank == 0)
        return;
    MPI_Comm_split(world, rank, 0, &made); // @here
    MPI_Comm_free(&made);
}

/* says: rank 0 calls MPI_Cart_create at @cart
 * says: rank 1 calls MPI_Comm_dup at @dup */
BUG(cart_and_dup)
{
    if (wrong && rank == 1)
        MPI_Comm_dup(world, &made); // @dup
    else
        MPI_Cart_create(world, 1, &size, (const int[]){0}, 0, &made); // @cart
    MPI_Comm_free(&made);
}

#if MPI_VERSION >= 4
/* A rank that wants none of the parts may say so.
 * ranks: 3
 * says: MPI_COMM_WORLD: rank 0 calls MPI_Comm_split_type with MPI_COMM_TYPE_SHARED
 * at @here, rank 2 calls MPI_Comm_split_type with MPI_COMM_TYPE_HW_UNGUIDED at @here */
BUG(split_type_types)
{
    int type = rank == 1 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED;

    if (wrong && rank == 2)
        type = MPI_COMM_TYPE_HW_UNGUIDED;
    MPI_Comm_split_type(world, type, 0, MPI_INFO_NULL, &made); // @here
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
}
#endif

/* ranks: 3
 * says: rank 1: in MPI_Comm_create_group from rank 0, tag 4 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 1 waits for a message with tag 4 from rank 0; *a message with tag 3 from rank
 * 0 is there, sent at @here */
BUG(create_group_tags)
{
    MPI_Group all, pair;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 2, (const int[]){0, 1}, &pair);
    if (rank < 2) {
        MPI_Comm_create_group(world, pair, wrong && rank == 1 ? 4 : 3, &made); // @here
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&pair);
    MPI_Group_free(&all);
}

/* The leader of the low half names a member of the other that is no leader.
 * ranks: 4
 * says: rank 0: in MPI_Intercomm_create with rank 3, tag 7 on MPI_COMM_WORLD, at @here
 * says: rank 2: in MPI_Intercomm_create with rank 0, tag 7 on MPI_COMM_WORLD, at @here
 * says: ranks 1,3: in MPI_Intercomm_create on half, at @here
 * says:   cause: rank 0 waits for a message with tag 7 from rank 3, rank 3 waits in
 * MPI_Intercomm_create on half for rank 2, rank 2 waits for a message with tag 7 from rank 0 */
BUG(intercomm_remote_leaders)
{
    MPI_Comm half, inter;
    int leader = rank >= 2 ? 0 : wrong ? 3 : 2;

    MPI_Comm_split(world, rank / 2, 0, &half);
    MPI_Comm_set_name(half, "half");
    MPI_Intercomm_create(half, 0, world, leader, 7, &inter); // @here
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Both members of the low half take themselves for its leader.
 * ranks: 4
 * says: rank 0: in MPI_Intercomm_create on half, at @here
 * says: rank 1: in MPI_Intercomm_create with rank 2, tag 7 on MPI_COMM_WORLD, at @here
 * says:   cause: rank 0 waits in MPI_Intercomm_create on half for rank 1, rank 1 waits for a
 * message with tag 7 from rank 2, * */
BUG(intercomm_two_leaders)
{
    MPI_Comm half, inter;

    MPI_Comm_split(world, rank / 2, 0, &half);
    MPI_Comm_set_name(half, "half");
    MPI_Intercomm_create(half, wrong && rank == 1, world, rank < 2 ? 2 : 0, 7, &inter); // @here
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}
