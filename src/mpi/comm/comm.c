/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: what a rank can ask of one, its name, its hints, and its end. */
#include "mpi/comm/comm.h"
#include "mpi/comm/calls.h"

#include <string.h>

int impl_comm_size(mpi_comm_t *comm, int *size)
{
    *size = comm->size;
    return MPI_SUCCESS;
}

int impl_comm_rank(mpi_comm_t *comm, int *rank)
{
    *rank = comm->rank;
    return MPI_SUCCESS;
}

int impl_comm_remote_size(mpi_comm_t *comm, int *size)
{
    if (!comm->remote)
        return mpi_error(comm, MPI_ERR_COMM,
                         "%s is not an intercommunicator: it has no remote group",
                         mpi_comm_name(comm));
    *size = comm->remote->size;
    return MPI_SUCCESS;
}

int impl_comm_test_inter(mpi_comm_t *comm, int *flag)
{
    *flag = comm->remote != NULL;
    return MPI_SUCCESS;
}

int impl_comm_compare(MPI_Comm handle1, MPI_Comm handle2, int *result)
{
    mpi_comm_t *a = mpi_comm_of(handle1), *b = mpi_comm_of(handle2);
    int found = MPI_UNEQUAL;

    if (!a || !b)
        return mpi_comm_refuse(a ? handle2 : handle1);
    if (a == b) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    if (!a->remote == !b->remote)
        found = mpi_group_compare(a->group, b->group);
    if (a->remote && b->remote)
        found = xy_members_weaker(found, mpi_group_compare(a->remote, b->remote));
    if (found < 0)
        return mpi_error_memory(a, "the comparison of communicators");
    *result = found == MPI_IDENT ? MPI_CONGRUENT : found;
    return MPI_SUCCESS;
}

int impl_comm_set_name(mpi_comm_t *comm, const char *name)
{
    size_t length;

    length = strnlen(name, sizeof comm->name - 1); /* longer names are cut, as the standard says */
    memcpy(comm->name, name, length);
    comm->name[length] = '\0';
    if (comm->merged) /* the name in reports about collectives */
        memcpy(comm->merged->name, comm->name, sizeof comm->name);
    return MPI_SUCCESS;
}

int impl_comm_get_name(MPI_Comm handle, char *name, int *resultlen)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    const char *found = comm ? comm->name : "MPI_COMM_NULL";

    if (!comm && handle != MPI_COMM_NULL)
        return mpi_comm_refuse(handle);
    strcpy(name, found);
    *resultlen = (int)strlen(found);
    return MPI_SUCCESS;
}

int impl_comm_set_info(mpi_comm_t *comm, MPI_Info info)
{
    mpi_info_t *copy;
    int code;

    code = mpi_info_check(comm, info);
    if (code == MPI_SUCCESS)
        code = mpi_settings_apply(comm, mpi_info_of(info));
    if (code != MPI_SUCCESS)
        return code;
    copy = mpi_info_copy(mpi_info_of(info));
    if (!copy)
        return mpi_error_memory(comm, "the hints of a communicator");
    if (comm->info != MPI_INFO_NULL)
        mpi_info_destroy(mpi_info_of(comm->info));
    comm->info = (MPI_Info)(void *)copy;
    return MPI_SUCCESS;
}

int impl_comm_get_info(mpi_comm_t *comm, MPI_Info *info)
{
    mpi_info_t *copy;

    /* Keys that no part understands are ignored, and so not in use. */
    copy = mpi_info_copy(NULL);
    if (!copy || mpi_settings_tell(comm, copy) != XY_OK) {
        mpi_info_destroy(copy);
        return mpi_error_memory(comm, "an info object");
    }
    *info = (MPI_Info)(void *)copy;
    return MPI_SUCCESS;
}

/* The handle goes; the object when its last request is complete. No rank waits for the others. */
int impl_comm_free(MPI_Comm *handle_p)
{
    mpi_comm_t *comm;
    int code;

    comm = mpi_comm_of(*handle_p);
    if (!comm)
        return mpi_comm_refuse(*handle_p);
    if (comm == comm->owner->comm_world || comm == comm->owner->comm_self)
        return mpi_error(comm, MPI_ERR_COMM, "%s cannot be freed", mpi_comm_name(comm));
    code = mpi_attributes_delete(XMPI_ATTR_COMM, *handle_p, &comm->attributes);
    if (code != MPI_SUCCESS)
        return mpi_error_raise(comm, code, "the delete function of an attribute failed");
    if (comm->owner->parent == comm)
        comm->owner->parent = NULL;
    comm->mark = XMPI_COMM_FREED;
    comm->freed_at = comm->owner->call.caller;
    mpi_comm_release(comm);
    *handle_p = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static void nothing(void *const *inputs, int size, void *const *outputs)
{
    (void)inputs;
    (void)size;
    (void)outputs;
}

/* Each waits for what it has started; when all have come here, there is nothing on the way. */
int impl_comm_disconnect(MPI_Comm *handle_p)
{
    mpi_comm_t *comm = mpi_comm_of(*handle_p);

    if (comm && comm != comm->owner->comm_world && comm != comm->owner->comm_self) {
        int code;

        mpi_requests_wait_on(comm->owner, comm);
        code = mpi_coll_agree(comm->remote ? comm->merged : comm, NULL, NULL, nothing);
        if (code != MPI_SUCCESS)
            return code;
    }
    return impl_comm_free(handle_p);
}
