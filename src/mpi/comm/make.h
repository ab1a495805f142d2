/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making communicators. One member of the parent, the leader, makes the shared part of the new
 * communicators (mpi_coll_agree); each member then makes its own object from the plan that the
 * leader wrote for it:
 *
 *   code = mpi_coll_agree(parent, &wish, &plan, leader);
 *   if (code == MPI_SUCCESS)
 *       code = mpi_comm_from_plan(parent, &plan, &comm);       (NULL: not a member)
 *
 * So a split of p ranks costs one sort, and one group and one collective part per new communicator.
 */
#ifndef XY_MPI_COMM_MAKE_H
#define XY_MPI_COMM_MAKE_H

#include "mpi/coll/coll.h"
#include "mpi/object/object.h"

/* The data that a member receives. It owns one reference of each group and collective part
 * named. */
typedef struct {
    xy_status_t status; /* not XY_OK: there is nothing else in it */
    int rank;           /* of this member in `group`; MPI_UNDEFINED: it is not a member */
    uint32_t context;
    mpi_group_t *group;
    mpi_coll_t *coll; /* of the communicator, or of the merged one */
    /* Intercommunicators only: */
    mpi_group_t *remote; /* NULL: intracommunicator */
    mpi_group_t *merged;
    uint32_t merged_context;
    bool is_high;
    bool is_foreign; /* the other side is of another job: mpi_intercomm_foreign */
} mpi_plan_t;

/* The plan of an intracommunicator over `group`, whose one reference it takes (NULL: memory ran
 * out, as the plan then says). The references are counted for group->size members; the members'
 * plans are copies in which only `rank` differs. Any thread; does not park. */
mpi_plan_t mpi_plan_intra(mpi_group_t *group);
/* The same for an intercommunicator between two groups that do not overlap; it takes a reference of
 * each, also on failure. *low_p is for the members of `low`, *high_p for those of `high`. */
void mpi_plan_inter(mpi_group_t *low, mpi_group_t *high, mpi_plan_t *low_p, mpi_plan_t *high_p);

/* Are members of `group` in other processes? And those of `comm`, of both its groups? */
bool mpi_group_is_spread(const mpi_group_t *group);
bool mpi_comm_is_spread(const mpi_comm_t *comm);
/* The plan of each member where members are in several processes, from the bytes that they have
 * exchanged. Intra: takes a reference of `group`. Inter: of both groups. */
mpi_plan_t mpi_plan_spread(mpi_group_t *group, uint32_t context, int rank);
mpi_plan_t mpi_plan_spread_inter(mpi_group_t *own, mpi_group_t *other, bool is_high,
                                 uint32_t context, int rank);
/* The plan of a duplicate of `parent`, whose context is known (an intercommunicator has two). */
mpi_plan_t mpi_plan_spread_duplicate(mpi_comm_t *parent, uint32_t context);
/* On a communicator of one group: `bytes` from `root`, those of all (in order of rank), and a
 * number of new contexts (XMPI_CONTEXT_NONE: a member has failed). All members call it. Park.
 * Errors are raised. */
enum { XMPI_CONTEXT_NONE = 0x7fffffff };
int mpi_spread_bcast(mpi_comm_t *comm, int root, void *data, size_t bytes);
int mpi_spread_allgather(mpi_comm_t *comm, const void *own, size_t bytes, void *all);
/* The same where lengths differ: those of member r begin at r * *stride_p. To be freed; never NULL
 * (without memory the job ends: the others wait). */
char *mpi_spread_exchange(mpi_comm_t *comm, const void *own, size_t bytes, size_t *stride_p);
uint32_t mpi_spread_context(mpi_comm_t *comm, int count);
/* As coll_run and coll_start take it, but for the communicator. */
coll_call_t mpi_spread_bcast_call(int root, void *data, size_t bytes);

/* Members of `local`, which is no intercommunicator, and of another group make an
 * intercommunicator. The leaders, which know each other by `peer`, exchange messages of `tag`
 * there; for others `peer` is not read. Collective in both groups; parks. */
int mpi_intercomm_make(mpi_comm_t *local, int local_leader, mpi_comm_t *peer, int remote_leader,
                       int tag, mpi_comm_t **made_p);
/* The same with a group of another job: the processes of both connect to each other first. */
int mpi_intercomm_foreign(mpi_comm_t *local, int local_leader, mpi_comm_t *peer, int remote_leader,
                          int tag, mpi_comm_t **made_p);
/* The world of a rank that was spawned, and its MPI_COMM_SELF; holds `group` and `coll`. On its
 * worker, before it runs. */
xy_status_t mpi_comm_give_world(mpi_rank_t *rank, mpi_group_t *group, mpi_coll_t *coll,
                                uint32_t context, int place);

/* This rank's communicator, with the parent's error handler. Raises on the parent when memory ran
 * out. *comm_p is NULL when the rank is not a member. */
int mpi_comm_from_plan(mpi_comm_t *parent, const mpi_plan_t *plan, mpi_comm_t **comm_p);

/* Both groups in one, the low one first. NULL: memory ran out (silent). */
mpi_group_t *mpi_group_merge(const mpi_group_t *low, const mpi_group_t *high);

/* Split `parent` (both kinds) as MPI_Comm_split does. Collective; parks. */
int mpi_comm_split(mpi_comm_t *parent, int color, int key, mpi_comm_t **comm_p);
/* The same where its members are in several processes. */
int mpi_comm_split_spread(mpi_comm_t *parent, int color, int key, mpi_comm_t **comm_p);

/* The group of `count` entries; NULL: memory ran out (silent). */
mpi_group_t *mpi_split_group(const xy_split_entry_t *entries, int count);
/* A communicator of `group`, which only its members call; they are members of `parent`. Parks. */
int mpi_comm_from_group(mpi_comm_t *parent, mpi_group_t *group, int tag, mpi_comm_t **comm_p);
/* Give `made` the hints in `info` (NULL: none). */
int mpi_comm_copy_info(mpi_comm_t *parent, const mpi_info_t *info, mpi_comm_t *made);

/* The stand-in for the parent where a communicator is made of groups alone: world, with the error
 * handler that the new one gets, and a tag that is made of the program's text. */
typedef struct {
    mpi_comm_t comm;
    unsigned tag;
} mpi_parent_t;

int mpi_parent_begin(mpi_rank_t *self, const char *stringtag, MPI_Errhandler errhandler,
                     mpi_parent_t *parent);
/* Raises when `group` is none, or has members and the rank is none of them. What is made comes from
 * the session that the group comes from. */
int mpi_parent_check(mpi_parent_t *parent, MPI_Group group);
/* The new context of the same group(s), without attributes and hints. Collective; parks. */
int mpi_comm_duplicate(mpi_comm_t *parent, mpi_comm_t **comm_p);
/* Its leader: the input of each member points to its own object of the parent, the output is an
 * mpi_plan_t. */
void mpi_comm_duplicate_leader(void *const *inputs, int size, void *const *outputs);

#endif
