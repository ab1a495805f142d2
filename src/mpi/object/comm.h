/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicator objects and groups. Making communicators is a collective: see comm/.
 *
 * Each rank has its own communicator object (attributes, name and error handler may differ between
 * ranks); what all members share, the part that collectives use, is one `mpi_coll_t` per
 * communicator and process (coll.h).
 */
#ifndef XY_MPI_OBJECT_COMM_H
#define XY_MPI_OBJECT_COMM_H

#include <stdint.h>

#include "mpi.h"
#include "mpi/runtime/runtime.h"

typedef struct mpi_coll mpi_coll_t;

/* An immutable list of world ranks, shared by all that use it. */
typedef struct {
    _Atomic long references;
    int size;
    int *ranks; /* NULL: the identity, rank i is world rank i */
} mpi_group_t;

/* The shared data of a session and the groups and communicators that come from it; of one rank. */
typedef struct mpi_session_part {
    long references;
    struct mpi_bsend *bsend; /* attached buffer, or NULL */
} mpi_session_part_t;

/* NULL is fine in both. */
mpi_session_part_t *mpi_session_part_hold(mpi_session_part_t *part);
void mpi_session_part_release(mpi_session_part_t *part);

enum { XMPI_COMM_SITES = 4 }; /* a power of two */

/* The mark of memory that a handle points to, unlike other data. */
enum { XMPI_COMM_LIVE = 0x58636f6d, XMPI_COMM_FREED = 0x58667265 };

struct mpi_comm {
    uint32_t context; /* point to point */
    int rank;         /* of the owner */
    int size;
    uint32_t mark; /* XMPI_COMM_LIVE; XMPI_COMM_FREED: the program has given its handle up */
    mpi_group_t *group;
    mpi_group_t *remote; /* intercommunicator: the other group; NULL otherwise */
    mpi_coll_t *coll;    /* shared by the members */
    uint64_t coll_seq;   /* collectives this rank has started on it, */
    uint64_t apart;      /* how many of them do not meet (coll/coll_direct.c), */
    uint64_t stars;      /* and how many of those are small rooted ones (coll/star.c) */
    uint64_t persistent; /* persistent collectives this rank has made requests for */
    struct mpi_partitioned *partitioned; /* its partitioned sends, */
    int partition_tag;                   /* the next tag of a partition, */
    bool partition_tags_wrapped;         /* and whether all were given once */
    const void *sites[XMPI_COMM_SITES];  /* where the program called the last ones, for reports */
    const char *blocking;      /* with threads: the blocking collective that one of them is in, */
    const void *blocking_site; /* and where; NULL: none is */
    const void *shares;   /* the counts of the MPI_Reduce_scatter that it has called, likewise: */
    bool shares_are_wide; /* MPI_Count, else int */
    mpi_rank_t *owner;
    long references;             /* the handle, and each pending request */
    mpi_comm_t *next, *previous; /* of the owner, freed ones among them: mpi_comm_find */
    const void *freed_at;        /* where the program freed it */
    MPI_Errhandler errhandler;
    struct mpi_attributes *attributes;
    struct mpi_topology *topology; /* or NULL */
    MPI_Info info;
    struct mpi_bsend *bsend;       /* attached buffer, or NULL */
    mpi_session_part_t *session;   /* it comes from this one, held; or NULL */
    struct mpi_settings *settings; /* changed by hints; NULL: the job's */
    /* Intercommunicator: the hidden intracommunicator of both groups, the low group first, and on
     * which side the owner is. Its collective part is what the members of both groups share. */
    mpi_comm_t *merged;
    bool is_high;
    uint64_t claim[2]; /* of the hidden one of a collective between processes: what its owner says
                          about it (coll/interprocess_claim.c); 0 otherwise */
    struct mpi_meeting *meeting; /* likewise: who has entered it last, where time is counted */
    int acked;                   /* failures that the owner has acknowledged (p2p/survive.h), */
    uint32_t agreements;         /* and agreements that it has started */
    void *window; /* the MPI_Win whose own communicator this is: errors are raised on it; or NULL */
    void *file;   /* the MPI_File, likewise */
    char name[MPI_MAX_OBJECT_NAME];
};

/* The object behind a handle for the calling rank; NULL for MPI_COMM_NULL, for one that was freed
 * and for what is no handle. Predefined handles are small numbers. */
static inline mpi_comm_t *mpi_comm_of(MPI_Comm handle)
{
    mpi_comm_t *comm;

    if (handle == MPI_COMM_WORLD)
        return mpi_self->named_world;
    if (__builtin_expect((uintptr_t)handle < 4096, 0))
        return handle == MPI_COMM_SELF && mpi_self->named_world ? mpi_self->comm_self : NULL;
    comm = (mpi_comm_t *)(void *)handle;
    return __builtin_expect(comm->mark == XMPI_COMM_LIVE, 1) ? comm : NULL;
}

/* The same in functions that threads call without being the rank, which mpi_self then does not
 * name: they have the communicators of their rank. */
static inline mpi_comm_t *mpi_comm_of_owner(MPI_Comm handle)
{
    const mpi_rank_t *owner = mpi_self ? mpi_self : mpi_thread_owner;

    if (handle != MPI_COMM_WORLD && handle != MPI_COMM_SELF)
        return mpi_comm_of(handle);
    if (!owner || !owner->named_world)
        return NULL;
    return handle == MPI_COMM_WORLD ? owner->named_world : owner->comm_self;
}

/* The world rank of member `rank` (of the remote group in an intercommunicator). */
static inline int mpi_comm_world_rank(const mpi_comm_t *comm, int rank)
{
    const mpi_group_t *group = comm->remote ? comm->remote : comm->group;

    return group->ranks ? group->ranks[rank] : rank;
}

static inline void mpi_comm_hold(mpi_comm_t *comm)
{
    comm->references++;
}

void mpi_comm_release(mpi_comm_t *comm);

/* `comm`, whose owner is set, is one of its owner's from now on. */
void mpi_comm_enlist(mpi_comm_t *comm);
/* Free what is left of one that was released; NULL is fine. */
void mpi_comm_unbury(mpi_comm_t *comm);
/* The communicator of `rank` with this context, also one that was freed not long ago; or NULL. */
const mpi_comm_t *mpi_comm_find(const mpi_rank_t *rank, uint32_t context);

/* The handle to print or to give to the program. */
MPI_Comm mpi_comm_handle(const mpi_comm_t *comm);
/* "MPI_COMM_WORLD" or the name the program gave. */
const char *mpi_comm_name(const mpi_comm_t *comm);

/* "rank 5", as the world numbers it, with its number in `comm` where that differs: "rank 5 (1 in
 * half)". Returns `text`. */
enum { XMPI_RANK_TEXT = MPI_MAX_OBJECT_NAME + 64 };
const char *mpi_comm_describe_rank(const mpi_comm_t *comm, int rank, char text[XMPI_RANK_TEXT]);

/* Raise MPI_ERR_COMM for a handle that mpi_comm_of refused. */
int mpi_comm_refuse(MPI_Comm handle);

/* A communicator that exists for one operation: the same members as `comm`, and messages that the
 * program's receives never see, nor those of another kind (`context`: an XMPI_CONTEXT_ bit). It is
 * a value: no references are taken. */
mpi_comm_t mpi_comm_shadow(const mpi_comm_t *comm, uint32_t context);

#endif
