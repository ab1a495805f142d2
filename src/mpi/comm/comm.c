/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicator objects: what a rank can ask of one, its name, its hints, and its end.
 */
#include "mpi/object/comm.h"

#include <string.h>

#include "mpi/bindings/alias.h"
#include "mpi/coll/coll.h"
#include "mpi/object/attr.h"
#include "mpi/object/env.h"
#include "mpi/object/errhandler.h"
#include "mpi/object/error.h"
#include "mpi/object/group.h"
#include "mpi/object/info.h"
#include "mpi/runtime/settings.h"
#include "mpi/topo/topo.h"

/* COMM_SELF of every rank has the same context: its messages never leave the rank. */
enum { CONTEXT_WORLD = 0, CONTEXT_SELF = 1, CONTEXT_FREE = 2 };

int mpi_comm_refuse(MPI_Comm handle)
{
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

/* What is left of a communicator once nobody refers to it. Its attributes went with the handle;
 * only world, which is never freed, may still have some when the job is over. */
void mpi_comm_release(mpi_comm_t *comm)
{
    if (--comm->references > 0)
        return;
    if (comm->merged)
        mpi_comm_release(comm->merged);
    if (comm->coll)
        mpi_coll_release(comm->coll);
    mpi_group_release(comm->group);
    mpi_group_release(comm->remote);
    mpi_errhandler_release(mpi_errhandler_of(comm->errhandler));
    if (comm->info != MPI_INFO_NULL)
        mpi_info_destroy(mpi_info_of(comm->info));
    mpi_topology_release(comm->topology);
    mpi_attributes_drop(comm->attributes);
    xy_free(comm->settings);
    xy_free(comm);
}

static mpi_comm_t *predefined_new(mpi_rank_t *rank, uint32_t context, mpi_group_t *group, int place,
                                  const char *name)
{
    mpi_comm_t *comm = xy_calloc(1, sizeof *comm);

    if (!comm)
        return NULL;
    comm->context = context;
    comm->rank = place;
    comm->size = group->size;
    comm->group = group;
    comm->owner = rank;
    comm->references = 1;
    comm->errhandler = MPI_ERRORS_ARE_FATAL;
    comm->info = MPI_INFO_NULL;
    strcpy(comm->name, name);
    return comm;
}

/* World: the first rank makes the group and the collective part, the others share them. */
static xy_status_t world_new(mpi_rank_t *rank, mpi_comm_t **comm_p)
{
    const mpi_comm_t *first = mpi_job->ranks[0].comm_world;
    mpi_group_t *group = first ? first->group : mpi_group_create(NULL, mpi_job->size);
    mpi_comm_t *comm = NULL;
    xy_status_t status = XY_OK;

    if (first)
        mpi_group_hold(group, 1);
    if (group)
        comm = predefined_new(rank, CONTEXT_WORLD, group, rank->world, "MPI_COMM_WORLD");
    if (!comm) {
        mpi_group_release(group);
        return xy_fail_memory("MPI_COMM_WORLD");
    }
    if (first)
        comm->coll = first->coll;
    else
        status = mpi_coll_create(group, CONTEXT_WORLD, &comm->coll);
    if (status == XY_OK) {
        mpi_coll_hold(comm->coll);
        *comm_p = comm;
    } else {
        mpi_comm_release(comm);
    }
    return status;
}

static xy_status_t self_new(mpi_rank_t *rank, mpi_comm_t **comm_p)
{
    int *ranks = xy_malloc(sizeof *ranks);
    mpi_group_t *group;
    mpi_comm_t *comm;
    xy_status_t status;

    if (!ranks)
        return xy_fail_memory("MPI_COMM_SELF");
    ranks[0] = rank->world;
    group = mpi_group_create(ranks, 1);
    comm = group ? predefined_new(rank, CONTEXT_SELF, group, 0, "MPI_COMM_SELF") : NULL;
    if (!comm) {
        mpi_group_release(group);
        return xy_fail_memory("MPI_COMM_SELF");
    }
    status = mpi_coll_create(group, CONTEXT_SELF, &comm->coll);
    if (status == XY_OK) {
        mpi_coll_hold(comm->coll);
        *comm_p = comm;
    } else {
        mpi_comm_release(comm);
    }
    return status;
}

xy_status_t mpi_comm_create_predefined(mpi_rank_t *rank)
{
    mpi_comm_t *world = NULL, *self = NULL;
    xy_status_t status;

    if (atomic_load_explicit(&mpi_job->next_context, memory_order_relaxed) < CONTEXT_FREE)
        atomic_store_explicit(&mpi_job->next_context, CONTEXT_FREE, memory_order_relaxed);
    status = world_new(rank, &world);
    if (status != XY_OK)
        return status;
    status = self_new(rank, &self);
    if (status != XY_OK) {
        mpi_comm_release(world);
        return status;
    }
    rank->comm_world = world;
    rank->comm_self = self;
    return XY_OK;
}

void mpi_comm_destroy_predefined(mpi_job_t *job)
{
    for (int r = 0; r < job->size; r++) {
        mpi_rank_t *rank = &job->ranks[r];

        if (rank->comm_world)
            mpi_comm_release(rank->comm_world);
        if (rank->comm_self)
            mpi_comm_release(rank->comm_self);
        rank->comm_world = rank->comm_self = NULL;
        mpi_env_cleanup(rank);
    }
}

static int comm_size(MPI_Comm handle, int *size)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!size)
        return mpi_error_null(comm, "size");
    *size = comm->size;
    return MPI_SUCCESS;
}

static int comm_rank(MPI_Comm handle, int *rank)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!rank)
        return mpi_error_null(comm, "rank");
    *rank = comm->rank;
    return MPI_SUCCESS;
}

static int comm_remote_size(MPI_Comm handle, int *size)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!size)
        return mpi_error_null(comm, "size");
    if (!comm->remote)
        return mpi_error(comm, MPI_ERR_COMM, "%s is no intercommunicator: it has no remote group",
                         mpi_comm_name(comm));
    *size = comm->remote->size;
    return MPI_SUCCESS;
}

static int comm_test_inter(MPI_Comm handle, int *flag)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!flag)
        return mpi_error_null(comm, "flag");
    *flag = comm->remote != NULL;
    return MPI_SUCCESS;
}

/* The weaker of two comparisons of groups. */
static int weaker(int a, int b)
{
    if (a < 0 || b < 0)
        return -1;
    if (a == MPI_UNEQUAL || b == MPI_UNEQUAL)
        return MPI_UNEQUAL;
    return a == MPI_SIMILAR || b == MPI_SIMILAR ? MPI_SIMILAR : MPI_IDENT;
}

static int comm_compare(MPI_Comm handle1, MPI_Comm handle2, int *result)
{
    mpi_comm_t *a = mpi_comm_of(handle1), *b = mpi_comm_of(handle2);
    int found = MPI_UNEQUAL;

    if (!a || !b)
        return mpi_comm_refuse(a ? handle2 : handle1);
    if (!result)
        return mpi_error_null(a, "result");
    if (a == b) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    if (!a->remote == !b->remote)
        found = mpi_group_compare(a->group, b->group);
    if (a->remote && b->remote)
        found = weaker(found, mpi_group_compare(a->remote, b->remote));
    if (found < 0)
        return mpi_error_memory(a, "the comparison of communicators");
    *result = found == MPI_IDENT ? MPI_CONGRUENT : found;
    return MPI_SUCCESS;
}

static int comm_set_name(MPI_Comm handle, const char *name)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    size_t length;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!name)
        return mpi_error_null(comm, "comm_name");
    length = strnlen(name, sizeof comm->name - 1); /* longer names are cut, as the standard says */
    memcpy(comm->name, name, length);
    comm->name[length] = '\0';
    return MPI_SUCCESS;
}

static int comm_get_name(MPI_Comm handle, char *name, int *resultlen)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    const char *found = comm ? comm->name : "MPI_COMM_NULL";

    if (!comm && handle != MPI_COMM_NULL)
        return mpi_comm_refuse(handle);
    if (!name || !resultlen)
        return mpi_error_null(comm, name ? "resultlen" : "comm_name");
    strcpy(name, found);
    *resultlen = (int)strlen(found);
    return MPI_SUCCESS;
}

static int comm_set_info(MPI_Comm handle, MPI_Info info)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    mpi_info_t *copy;
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (info != MPI_INFO_NULL && !mpi_info_of(info))
        return mpi_error(comm, MPI_ERR_INFO, "the info object is not one");
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

static int comm_get_info(MPI_Comm handle, MPI_Info *info)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    mpi_info_t *copy;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!info)
        return mpi_error_null(comm, "info_used");
    copy = mpi_info_copy(mpi_info_of(comm->info));
    if (!copy || mpi_settings_tell(comm, copy) != XY_OK) {
        mpi_info_destroy(copy);
        return mpi_error_memory(comm, "an info object");
    }
    *info = (MPI_Info)(void *)copy;
    return MPI_SUCCESS;
}

/* The handle goes; the object when its last request is over. No rank waits for the others. */
static int comm_free(MPI_Comm *handle_p)
{
    mpi_comm_t *comm;
    int code;

    if (!handle_p)
        return mpi_error_null(NULL, "comm");
    comm = mpi_comm_of(*handle_p);
    if (!comm)
        return mpi_comm_refuse(*handle_p);
    if (comm == comm->owner->comm_world || comm == comm->owner->comm_self)
        return mpi_error(comm, MPI_ERR_COMM, "%s cannot be freed", mpi_comm_name(comm));
    code = mpi_attributes_delete(XMPI_ATTR_COMM, *handle_p, &comm->attributes);
    if (code != MPI_SUCCESS)
        return mpi_error_raise(comm, code, "the delete function of an attribute failed");
    comm->is_freed = true;
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

/* When all members have come here all their communication has been completed by them. */
static int comm_disconnect(MPI_Comm *handle_p)
{
    mpi_comm_t *comm = handle_p ? mpi_comm_of(*handle_p) : NULL;

    if (comm && comm != comm->owner->comm_world && comm != comm->owner->comm_self) {
        int code = mpi_coll_agree(comm->remote ? comm->merged : comm, NULL, NULL, nothing);
        if (code != MPI_SUCCESS)
            return code;
    }
    return comm_free(handle_p);
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_size", __builtin_return_address(0));

    return mpi_leave(self, comm_size(comm, size));
}
XY_MPI_ALIAS(Comm_size)

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_rank", __builtin_return_address(0));

    return mpi_leave(self, comm_rank(comm, rank));
}
XY_MPI_ALIAS(Comm_rank)

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_remote_size", __builtin_return_address(0));

    return mpi_leave(self, comm_remote_size(comm, size));
}
XY_MPI_ALIAS(Comm_remote_size)

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_test_inter", __builtin_return_address(0));

    return mpi_leave(self, comm_test_inter(comm, flag));
}
XY_MPI_ALIAS(Comm_test_inter)

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_compare", __builtin_return_address(0));

    return mpi_leave(self, comm_compare(comm1, comm2, result));
}
XY_MPI_ALIAS(Comm_compare)

int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_set_name", __builtin_return_address(0));

    return mpi_leave(self, comm_set_name(comm, comm_name));
}
XY_MPI_ALIAS(Comm_set_name)

int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_get_name", __builtin_return_address(0));

    return mpi_leave(self, comm_get_name(comm, comm_name, resultlen));
}
XY_MPI_ALIAS(Comm_get_name)

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_set_info", __builtin_return_address(0));

    return mpi_leave(self, comm_set_info(comm, info));
}
XY_MPI_ALIAS(Comm_set_info)

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_get_info", __builtin_return_address(0));

    return mpi_leave(self, comm_get_info(comm, info_used));
}
XY_MPI_ALIAS(Comm_get_info)

int PMPI_Comm_free(MPI_Comm *comm)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_free", __builtin_return_address(0));

    return mpi_leave(self, comm_free(comm));
}
XY_MPI_ALIAS(Comm_free)

int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    mpi_rank_t *self = mpi_enter("MPI_Comm_disconnect", __builtin_return_address(0));

    return mpi_leave(self, comm_disconnect(comm));
}
XY_MPI_ALIAS(Comm_disconnect)
