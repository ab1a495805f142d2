/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/group.h"

#include <string.h>

#include "mpi/object/calls.h"
#include "mpi/object/env.h"
#include "mpi/object/error.h"
#include "mpi/runtime/runtime.h"

mpi_group_t mpi_group_empty = {.references = 1};

static bool is_identity(const int *ranks, int size)
{
    for (int i = 0; i < size; i++)
        if (ranks[i] != i)
            return false;
    return true;
}

/* Ranks that another process has spawned are heard of as members of groups. */
static void know(const int *ranks, int size)
{
    int most = 0;

    for (int i = 0; i < size; i++)
        if (!mpi_rank_is_foreign(mpi_job, ranks[i]))
            most = ranks[i] > most ? ranks[i] : most;
    mpi_job_know(mpi_job, most);
}

mpi_group_t *mpi_group_create(int *ranks, int size)
{
    mpi_group_t *group = xy_malloc(sizeof *group);

    if (ranks && mpi_job && mpi_job->processes > 1)
        know(ranks, size);
    if (!group || (ranks && is_identity(ranks, size))) {
        xy_free(ranks);
        ranks = NULL;
    }
    if (group) {
        atomic_init(&group->references, 1);
        group->size = size;
        group->ranks = ranks;
    }
    return group;
}

void mpi_group_hold(mpi_group_t *group, long count)
{
    if (group != &mpi_group_empty)
        atomic_fetch_add_explicit(&group->references, count, memory_order_relaxed);
}

void mpi_group_release(mpi_group_t *group)
{
    if (!group || group == &mpi_group_empty)
        return;
    /* acq_rel: the others' reads of the ranks happen before the memory is freed */
    if (atomic_fetch_sub_explicit(&group->references, 1, memory_order_acq_rel) == 1) {
        xy_free(group->ranks);
        xy_free(group);
    }
}

/* The rank in the group of each world rank that is known by now: the members of all groups. */
int *mpi_group_index(const mpi_group_t *group)
{
    return xy_members_index(mpi_group_members(group), mpi_job_known(mpi_job));
}

int mpi_group_compare(const mpi_group_t *a, const mpi_group_t *b)
{
    return xy_members_compare(mpi_group_members(a), mpi_group_members(b), mpi_job_known(mpi_job));
}

int mpi_group_refuse(mpi_comm_t *comm, MPI_Group handle)
{
    return mpi_error(comm, MPI_ERR_GROUP, "the group is %s",
                     handle == MPI_GROUP_NULL ? "MPI_GROUP_NULL" : "not a group");
}

int impl_group_size(MPI_Group handle, int *size)
{
    const mpi_group_t *group = mpi_group_of(handle);

    if (!group)
        return mpi_group_refuse(NULL, handle);
    *size = group->size;
    return MPI_SUCCESS;
}

int impl_group_rank(MPI_Group handle, int *rank)
{
    const mpi_group_t *group = mpi_group_of(handle);

    if (!group)
        return mpi_group_refuse(NULL, handle);
    *rank = mpi_group_rank(group, mpi_self->world);
    return MPI_SUCCESS;
}

int impl_group_translate_ranks(MPI_Group group1, int n, const int *ranks, MPI_Group group2,
                               int *out)
{
    const mpi_group_t *a = mpi_group_of(group1), *b = mpi_group_of(group2);
    int bad;

    if (!a || !b)
        return mpi_group_refuse(NULL, a ? group2 : group1);
    if (n < 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the number of ranks is %d", n);
    if (n > 0 && (!ranks || !out))
        return mpi_error_null(NULL, ranks ? "ranks2" : "ranks1");
    if (xy_members_translate(mpi_group_members(a), n, ranks, mpi_group_members(b),
                             mpi_job_known(mpi_job), out, &bad))
        return MPI_SUCCESS;
    return bad < 0 ? mpi_error_memory(NULL, "the translation of ranks")
                   : mpi_error(NULL, MPI_ERR_RANK, "ranks1[%d] is %d; the group has %d ranks", bad,
                               mpi_number_passed(ranks[bad]), a->size);
}

int impl_group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    const mpi_group_t *a = mpi_group_of(group1), *b = mpi_group_of(group2);
    int found;

    if (!a || !b)
        return mpi_group_refuse(NULL, a ? group2 : group1);
    found = mpi_group_compare(a, b);
    if (found < 0)
        return mpi_error_memory(NULL, "the comparison of groups");
    *result = found;
    return MPI_SUCCESS;
}

int mpi_group_give(mpi_comm_t *comm, mpi_group_t *group, MPI_Group *handle_p)
{
    mpi_group_handle_t *named = xy_malloc(sizeof *named);

    if (!named) {
        mpi_group_release(group);
        return mpi_error_memory(comm, "a group");
    }
    named->group = group;
    named->session = mpi_session_part_hold(comm ? comm->session : NULL);
    mpi_life_begin(&named->life, XMPI_LIFE_GROUP);
    *handle_p = (MPI_Group)(void *)named;
    return MPI_SUCCESS;
}

mpi_session_part_t *mpi_group_session(MPI_Group handle)
{
    return (uintptr_t)handle < 4096 ? NULL : ((mpi_group_handle_t *)(void *)handle)->session;
}

void mpi_group_come_from(MPI_Group handle, mpi_session_part_t *session)
{
    mpi_group_handle_t *named = (mpi_group_handle_t *)(void *)handle;

    if ((uintptr_t)handle < 4096) /* the empty group comes from none */
        return;
    mpi_session_part_release(named->session);
    named->session = mpi_session_part_hold(session);
}

int impl_group_free(MPI_Group *group)
{
    mpi_group_handle_t *named = (mpi_group_handle_t *)(void *)*group;

    if (!mpi_group_of(*group))
        return mpi_group_refuse(NULL, *group);
    if (*group != MPI_GROUP_EMPTY) {
        mpi_group_release(named->group);
        mpi_session_part_release(named->session);
        mpi_life_end(&named->life);
        mpi_life_bury(named);
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

/* Give the local or remote group of a communicator to the program. */
int part_comm_group(MPI_Comm handle, bool is_remote, MPI_Group *group)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    mpi_group_t *found;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (is_remote && !comm->remote)
        return mpi_error(comm, MPI_ERR_COMM,
                         "%s is not an intercommunicator: it has no remote group",
                         mpi_comm_name(comm));
    found = is_remote ? comm->remote : comm->group;
    mpi_group_hold(found, 1);
    return mpi_group_give(comm, found, group);
}
