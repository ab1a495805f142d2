/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of all meetings of groups. */
#include <stdarg.h>
#include <stdio.h>

#include "mpi/dynamic/dynamic.h"
#include "mpi/p2p/p2p.h"
#include "mpi/virtual/virtual.h"

void dynamic_bridge(dynamic_bridge_t *bridge, const mpi_comm_t *like, uint32_t context, int first,
                    int second)
{
    mpi_rank_t *self = like->owner;

    *bridge = (dynamic_bridge_t){.ranks = {first, second}};
    bridge->group = (mpi_group_t){.references = 1, .size = 2, .ranks = bridge->ranks};
    bridge->comm = (mpi_comm_t){.context = context,
                                .rank = self->world == first ? 0 : 1,
                                .size = 2,
                                .mark = XMPI_COMM_LIVE,
                                .group = &bridge->group,
                                .owner = self,
                                .references = 1,
                                .errhandler = like->errhandler,
                                .info = MPI_INFO_NULL,
                                .name = "the bridge between two groups"};
}

void dynamic_fail(dynamic_found_t *found, int code, const char *format, ...)
{
    va_list arguments;

    found->code = code;
    va_start(arguments, format);
    vsnprintf(found->why, sizeof found->why, format, arguments);
    va_end(arguments);
}

static void describe_root(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                          size_t room)
{
    (void)other;
    snprintf(text, room, " with root %d", *(const int *)topic->data);
}

static void nothing(void *const *inputs, int size, void *const *outputs)
{
    (void)inputs;
    (void)size;
    (void)outputs;
}

/* End the job where members name different roots: a root acts before the others hear of it. */
static void compare_roots(mpi_comm_t *comm, int root)
{
    mpi_topic_t topic = {.value = (uint64_t)root, .data = &root, .describe = describe_root};

    comm->owner->topic = &topic;
    if (mpi_comm_is_spread(comm))
        mpi_spread_bcast(comm, 0, &root, sizeof root);
    else
        mpi_coll_agree(comm, NULL, NULL, nothing);
}

int dynamic_check(MPI_Comm handle, int root, mpi_comm_t **comm_p)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    *comm_p = comm;
    if (!comm)
        return mpi_comm_refuse(handle);
    if (comm->remote)
        return mpi_error(comm, MPI_ERR_COMM, "%s is an intercommunicator", mpi_comm_name(comm));
    if (root < 0 || root >= comm->size)
        return mpi_error(comm, MPI_ERR_ROOT, "the root is %d; the communicator has %d ranks",
                         mpi_number_passed(root), comm->size);
    if (mpi_link_of(comm->group) != 0)
        return mpi_error(comm, MPI_ERR_COMM,
                         "%s has ranks of another job; only the ranks of one job can spawn others, "
                         "or meet those of another one, together",
                         mpi_comm_name(comm));
    if (comm->size > 1)
        compare_roots(comm, root);
    return MPI_SUCCESS;
}

/* Names are kept beside rank 0. */
void dynamic_ask(mpi_rank_t *self)
{
    static const mpi_virtual_access_t ask = {
        .there = MPI_MAX_PORT_NAME, .is_answered = true, .back = MPI_MAX_PORT_NAME};

    if (mpi_job->clock == NULL)
        return;
    mpi_virtual_until(self, mpi_virtual_access(self, &ask));
    mpi_virtual_sync(self);
}

int dynamic_tell(mpi_comm_t *comm, int root, dynamic_found_t *found)
{
    mpi_spread_bcast(comm, root, found, sizeof *found);
    return found->code == MPI_SUCCESS ? MPI_SUCCESS
                                      : mpi_error(comm, found->code, "%s", found->why);
}
