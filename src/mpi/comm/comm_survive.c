/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators with ranks that have failed: revoke, agree, shrink, and who has failed. The
 * functions are those of User-Level Failure Mitigation, as Open MPI 5 and MPICH 4 have them.
 */
#include "mpi/comm/calls.h"
#include "mpi/comm/make.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

/* The communicator, which must be one of a job that survives; NULL: *code_p was raised. */
static mpi_comm_t *find(MPI_Comm handle, int *code_p)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm) {
        *code_p = mpi_comm_refuse(handle);
    } else if (!mpi_survives && comm->size + (comm->remote ? comm->remote->size : 0) > 1) {
        *code_p = mpi_error(comm, MPI_ERR_UNSUPPORTED_OPERATION,
                            "the job does not survive failures; start it with mpiexec --survive");
        comm = NULL;
    }
    return comm;
}

static void revoke(uint32_t context)
{
    mpi_survive_revoke(context);
    mpi_survive_ops()->revoke(context);
}

int impl_mpix_comm_revoke(MPI_Comm handle)
{
    int code = MPI_SUCCESS;
    const mpi_comm_t *comm = find(handle, &code);

    if (!comm || !mpi_survives)
        return code;
    revoke(comm->context);
    if (comm->remote) /* its collectives */
        revoke(comm->merged->context);
    return MPI_SUCCESS;
}

int impl_mpix_comm_is_revoked(MPI_Comm handle, int *flag)
{
    const mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm)
        return mpi_comm_refuse(handle);
    *flag = mpi_survives && mpi_survive_is_revoked(comm);
    return MPI_SUCCESS;
}

/* ---- Who has failed ---- */

/* The first `count` failures of the list that are members of `comm`, in the order in which they
 * failed. */
static int give_failed(mpi_comm_t *comm, int count, MPI_Group *group_p)
{
    int size = mpi_survives ? mpi_survive_members(comm, 0, count) : 0, n = 0;
    int *ranks = size > 0 ? xy_malloc((size_t)size * sizeof *ranks) : NULL;
    mpi_group_t *group;

    if (size == 0) {
        *group_p = MPI_GROUP_EMPTY;
        return MPI_SUCCESS;
    }
    for (int i = 0; ranks && i < count; i++)
        if (mpi_survive_members(comm, i, i + 1) > 0)
            ranks[n++] = mpi_survive_rank(i);
    group = ranks ? mpi_group_create(ranks, n) : NULL;
    return group ? mpi_group_give(comm, group, group_p)
                 : mpi_error_memory(comm, "the group of failed ranks");
}

int impl_mpix_comm_get_failed(mpi_comm_t *comm, MPI_Group *failedgrp)
{
    return give_failed(comm, mpi_survives ? mpi_survive_count() : 0, failedgrp);
}

int impl_mpix_comm_failure_get_acked(mpi_comm_t *comm, MPI_Group *failedgrp)
{
    return give_failed(comm, comm->acked, failedgrp);
}

/* The beginning of the list that holds the first `count` failures in `comm`. */
static int list_of(const mpi_comm_t *comm, int count)
{
    int all = mpi_survive_count(), i = 0;

    for (int members = 0; i < all && members < count; i++)
        members += mpi_survive_members(comm, i, i + 1);
    return i;
}

int impl_mpix_comm_ack_failed(mpi_comm_t *comm, int num_to_ack, int *num_acked)
{
    if (num_to_ack < 0)
        return mpi_error(comm, MPI_ERR_ARG, "the number of failures to acknowledge is %d",
                         num_to_ack);
    *num_acked = 0;
    if (!mpi_survives)
        return MPI_SUCCESS;
    if (list_of(comm, num_to_ack) > comm->acked)
        comm->acked = list_of(comm, num_to_ack);
    *num_acked = mpi_survive_members(comm, 0, comm->acked);
    mpi_survive_acknowledge(comm->owner, comm);
    return MPI_SUCCESS;
}

int impl_mpix_comm_failure_ack(mpi_comm_t *comm)
{
    if (!mpi_survives)
        return MPI_SUCCESS;
    comm->acked = mpi_survive_count();
    mpi_survive_acknowledge(comm->owner, comm);
    return MPI_SUCCESS;
}

/* ---- Agreements ---- */

/* Some members have failed that not all of the others had acknowledged: the same in all. */
static int error_of(const mpi_comm_t *comm, const mpi_agree_answer_t *answer)
{
    return mpi_survive_members(comm, answer->acked, answer->failures) > 0 ? MPIX_ERR_PROC_FAILED
                                                                          : MPI_SUCCESS;
}

int impl_mpix_comm_agree(mpi_rank_t *self, MPI_Comm handle, int *flag)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = find(handle, &code);
    mpi_agree_answer_t answer;

    if (!comm || !mpi_survives)
        return code;
    if (mpi_agree_run(self, comm, XMPI_AGREE_FLAG, *flag, &answer) != XY_OK)
        return mpi_error_memory(comm, "an agreement");
    *flag = answer.flag;
    code = error_of(comm, &answer);
    return code == MPI_SUCCESS ? code : mpi_survive_raise(comm, code);
}

typedef struct {
    mpi_agree_t base; /* must be first */
    int *flag;
} iagree_t;

static void finish(mpi_agree_t *agree)
{
    *((iagree_t *)(void *)agree)->flag = agree->answer.flag;
    agree->request->completion.error = error_of(agree->request->comm, &agree->answer);
}

/* An agreement of one rank, which is complete. */
static int agree_alone(mpi_rank_t *self, mpi_comm_t *comm, MPI_Request *request_p)
{
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_COLL);

    if (!request)
        return mpi_error_memory(comm, "an agreement");
    request->buffer = NULL;
    request->comm = comm;
    mpi_comm_hold(comm);
    request->call = self->call;
    request->is_done = true;
    *request_p = mpi_request_handle(request);
    return MPI_SUCCESS;
}

int impl_mpix_comm_iagree(mpi_rank_t *self, MPI_Comm handle, int *flag, MPI_Request *request)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = find(handle, &code);
    iagree_t *agree;

    if (!comm)
        return code;
    if (!mpi_survives)
        return agree_alone(self, comm, request);
    agree = xy_calloc(1, sizeof *agree);
    if (!agree)
        return mpi_error_memory(comm, "an agreement");
    agree->flag = flag;
    agree->base.done = finish;
    if (mpi_agree_start(self, comm, XMPI_AGREE_FLAG, *flag, &agree->base) != XY_OK)
        return mpi_error_memory(comm, "an agreement");
    *request = mpi_request_handle(agree->base.request);
    return MPI_SUCCESS;
}

/* The members of `group` that are not among the first `failures` of the list; NULL: no memory. */
static mpi_group_t *living(const mpi_group_t *group, int failures)
{
    int *ranks = xy_malloc((size_t)group->size * sizeof *ranks), n = 0;

    for (int i = 0; ranks && i < group->size; i++) {
        int world = mpi_group_world(group, i), f = 0;

        while (f < failures && mpi_survive_rank(f) != world)
            f++;
        if (f == failures)
            ranks[n++] = world;
    }
    return ranks ? mpi_group_create(ranks, n) : NULL;
}

/* The plan of the shrunk `comm` after the members have agreed. */
static mpi_plan_t plan_of(const mpi_comm_t *comm, const mpi_agree_answer_t *answer)
{
    mpi_group_t *own = living(comm->group, answer->failures), *other;
    int rank = own ? mpi_group_rank(own, comm->owner->world) : 0;
    uint32_t context = mpi_link_context(0, answer->proposal);

    if (!comm->remote)
        return mpi_plan_spread(own, context, rank);
    other = living(comm->remote, answer->failures);
    return mpi_plan_spread_inter(own, other, comm->is_high, context, rank);
}

int impl_mpix_comm_shrink(mpi_rank_t *self, MPI_Comm handle, MPI_Comm *newcomm)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = find(handle, &code), *made = NULL;
    mpi_agree_answer_t answer;
    mpi_plan_t plan;

    if (!comm)
        return code;
    if (!mpi_survives) {
        code = mpi_comm_duplicate(comm, &made);
    } else if (mpi_agree_run(self, comm, XMPI_AGREE_SHRINK, 0, &answer) != XY_OK) {
        return mpi_error_memory(comm, "a communicator");
    } else {
        plan = plan_of(comm, &answer);
        code = mpi_comm_from_plan(comm, &plan, &made);
    }
    if (code == MPI_SUCCESS)
        *newcomm = mpi_comm_handle(made);
    return code;
}
