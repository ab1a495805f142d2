/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/comm.h"

#include <stdio.h>

#include "mpi/object/attr.h"
#include "mpi/object/env.h"
#include "mpi/object/errhandler.h"
#include "mpi/object/error.h"
#include "mpi/object/group.h"
#include "mpi/object/info.h"

static int refuse_freed(const mpi_comm_t *comm)
{
    char place[160];

    mpi_caller_describe(comm->freed_at, place, sizeof(place));
    return mpi_error(NULL, MPI_ERR_COMM, "the communicator, %s, was freed%s%s", mpi_comm_name(comm),
                     place[0] ? " " : "", place);
}

int mpi_comm_refuse(MPI_Comm handle)
{
    const mpi_comm_t *comm = (const mpi_comm_t *)(void *)handle;

    if ((uintptr_t)handle >= 4096 && comm->mark == XMPI_COMM_FREED)
        return refuse_freed(comm);
    if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF)
        return mpi_error(
            NULL, MPI_ERR_COMM,
            "%s needs MPI_Init, and the program has sessions only; make a communicator "
            "with MPI_Comm_create_from_group",
            handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    return mpi_error(NULL, MPI_ERR_COMM, "the communicator is %s",
                     handle == MPI_COMM_NULL ? "MPI_COMM_NULL" : "not a communicator");
}

MPI_Comm mpi_comm_handle(const mpi_comm_t *comm)
{
    if (comm == comm->owner->comm_world)
        return MPI_COMM_WORLD;
    if (comm == comm->owner->comm_self)
        return MPI_COMM_SELF;
    return (MPI_Comm)(uintptr_t)comm;
}

const char *mpi_comm_name(const mpi_comm_t *comm)
{
    return comm->name[0] ? comm->name : "an unnamed communicator";
}

const char *mpi_comm_describe_rank(const mpi_comm_t *comm, int rank, char text[XMPI_RANK_TEXT])
{
    int world = rank >= 0 ? mpi_comm_world_rank(comm, rank) : rank;

    if (world == rank)
        snprintf(text, XMPI_RANK_TEXT, "rank %d", rank);
    else
        snprintf(text, XMPI_RANK_TEXT, "rank %d (%d in %s)", world, rank, mpi_comm_name(comm));
    return text;
}

mpi_session_part_t *mpi_session_part_hold(mpi_session_part_t *part)
{
    if (part)
        part->references++;
    return part;
}

void mpi_session_part_release(mpi_session_part_t *part)
{
    if (part && --part->references == 0)
        xy_free(part);
}

void mpi_comm_enlist(mpi_comm_t *comm)
{
    comm->next = comm->owner->comms;
    if (comm->next)
        comm->next->previous = comm;
    comm->owner->comms = comm;
}

const mpi_comm_t *mpi_comm_find(const mpi_rank_t *rank, uint32_t context)
{
    const mpi_comm_t *comm = rank->comms;

    while (comm && comm->context != context)
        comm = comm->next;
    return comm;
}

void mpi_comm_unbury(mpi_comm_t *comm)
{
    if (!comm)
        return;
    mpi_group_release(comm->group);
    mpi_group_release(comm->remote);
    if (comm->next)
        comm->next->previous = comm->previous;
    if (comm->previous)
        comm->previous->next = comm->next;
    else if (comm->owner)
        comm->owner->comms = comm->next;
    xy_free(comm);
}

/* The object stays for a while, so that its handle is recognised, and its messages that are left.
 */
static void bury(mpi_comm_t *comm)
{
    mpi_env_t *env = comm->owner && comm->owner == mpi_self ? mpi_env_self() : NULL;

    comm->mark = XMPI_COMM_FREED;
    if (!env) {
        mpi_comm_unbury(comm);
        return;
    }
    mpi_comm_unbury(env->buried[env->next_buried]);
    env->buried[env->next_buried] = comm;
    env->next_buried = (env->next_buried + 1) % XMPI_BURIED;
}

/* Release a reference of a communicator, and free it with the last one. Its attributes went with
 * the handle; only world, which is never freed, may still have some when the job has ended. */
void mpi_comm_release(mpi_comm_t *comm)
{
    if (--comm->references > 0)
        return;
    if (comm->owner && comm->owner->call.comm == comm)
        comm->owner->call.comm = NULL; /* a report would name what is gone */
    if (comm->merged)
        mpi_comm_release(comm->merged);
    mpi_layers_comm_end(comm);
    mpi_errhandler_release(mpi_errhandler_of(comm->errhandler));
    if (comm->info != MPI_INFO_NULL)
        mpi_info_destroy(mpi_info_of(comm->info));
    mpi_attributes_drop(comm->attributes);
    xy_free(comm->settings);
    mpi_session_part_release(comm->session);
    bury(comm);
}

mpi_comm_t mpi_comm_shadow(const mpi_comm_t *comm, uint32_t context)
{
    mpi_comm_t shadow = *comm;

    shadow.context |= context;
    shadow.references = 1;
    return shadow;
}
