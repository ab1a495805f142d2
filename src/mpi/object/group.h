/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: immutable ordered sets of world ranks, shared by reference between all that use them, on
 * any worker.
 *
 *   mpi_group_t *group = mpi_group_create(ranks, size);      (takes `ranks`)
 *   world = mpi_group_world(group, 3);
 *   mpi_group_release(group);
 *
 * A handle of the program is one reference. The arithmetic of groups is in arith/arith.h.
 */
#ifndef XY_MPI_OBJECT_GROUP_H
#define XY_MPI_OBJECT_GROUP_H

#include "arith/arith.h"
#include "mpi/object/comm.h"
#include "mpi/object/life.h"

extern mpi_group_t mpi_group_empty;

/* A group of `size` world ranks with one reference. Takes `ranks` (from xy_malloc) in all cases;
 * NULL ranks: the first `size` ones. NULL: memory ran out (silent). Any thread. */
mpi_group_t *mpi_group_create(int *ranks, int size);

void mpi_group_hold(mpi_group_t *group, long count);
void mpi_group_release(mpi_group_t *group); /* NULL is fine */

static inline int mpi_group_world(const mpi_group_t *group, int rank)
{
    return group->ranks ? group->ranks[rank] : rank;
}

static inline xy_members_t mpi_group_members(const mpi_group_t *group)
{
    return (xy_members_t){group->ranks, group->size};
}

/* The rank of a world rank in the group, or MPI_UNDEFINED. Linear. */
static inline int mpi_group_rank(const mpi_group_t *group, int world)
{
    return xy_member_rank(mpi_group_members(group), world);
}

/* The inverse: fresh index[world] is the rank in the group or MPI_UNDEFINED. The caller frees.
 * NULL: memory ran out (silent). */
int *mpi_group_index(const mpi_group_t *group);

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL; -1: memory ran out (silent). */
int mpi_group_compare(const mpi_group_t *a, const mpi_group_t *b);

/* The object behind a handle of the program: ranks share groups, but each handle is freed by
 * itself. */
typedef struct {
    mpi_life_t life;
    mpi_group_t *group;          /* one reference */
    mpi_session_part_t *session; /* that it comes from, held; or NULL */
} mpi_group_handle_t;

/* NULL for MPI_GROUP_NULL, for one that was freed and for what is no handle. */
static inline mpi_group_t *mpi_group_of(MPI_Group handle)
{
    mpi_group_handle_t *named = (mpi_group_handle_t *)(void *)handle;

    if ((uintptr_t)handle < 4096)
        return handle == MPI_GROUP_EMPTY ? &mpi_group_empty : NULL;
    return mpi_life_is(&named->life, XMPI_LIFE_GROUP)
               ? named->group
               : mpi_life_refuse(&named->life, XMPI_LIFE_GROUP);
}

/* The session that a group comes from; NULL: none. */
mpi_session_part_t *mpi_group_session(MPI_Group handle);
/* A handle of the program comes from that session (or NULL). */
void mpi_group_come_from(MPI_Group handle, mpi_session_part_t *session);

/* A handle for the program, which takes over a reference of `group`, and comes from the session of
 * `comm`, if there is one. MPI_SUCCESS, or what mpi_error returned. */
int mpi_group_give(mpi_comm_t *comm, mpi_group_t *group, MPI_Group *handle_p);

/* Raise MPI_ERR_GROUP for a handle that mpi_group_of refused. */
int mpi_group_refuse(mpi_comm_t *comm, MPI_Group handle);

#endif
