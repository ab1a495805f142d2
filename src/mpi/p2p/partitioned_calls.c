/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of partitioned communication, and what they refuse. */
#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/partitioned.h"
#include "mpi/runtime/runtime.h"

/* Check the arguments of MPI_Psend_init or MPI_Precv_init; returns an MPI error code. */
static int check_init(mpi_rank_t *self, const void *buf, int partitions, MPI_Count count,
                      MPI_Datatype type, int peer, int tag, MPI_Comm handle, bool is_receive,
                      mpi_transfer_t *t)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    int64_t all;
    int error;

    self->call.comm = comm;
    if (comm != NULL && partitions < 0)
        return mpi_error(comm, MPI_ERR_ARG, "the number of partitions is %d", partitions);
    if (comm != NULL && is_receive && peer == MPI_ANY_SOURCE)
        return mpi_error(comm, MPI_ERR_RANK,
                         "the source is MPI_ANY_SOURCE, which partitioned receives do not have; "
                         "name a rank");
    if (comm != NULL && is_receive && tag == MPI_ANY_TAG)
        return mpi_error(comm, MPI_ERR_TAG,
                         "the tag is MPI_ANY_TAG, which partitioned receives do not have");
    error = mpi_transfer_check(self, handle, buf, count, type, peer, tag, false, t);
    if (error == MPI_SUCCESS &&
        (__builtin_mul_overflow(count, (MPI_Count)partitions, &all) ||
         __builtin_mul_overflow(all, (int64_t)mpi_type_size(t->type), &all)))
        return mpi_error(comm, MPI_ERR_COUNT, "%d partitions of %lld elements are too many",
                         partitions, (long long)count);
    return error;
}

static int init(mpi_rank_t *self, const void *buf, int partitions, MPI_Count count,
                MPI_Datatype type, int peer, int tag, MPI_Comm comm, bool is_receive,
                MPI_Request *handle)
{
    mpi_request_t *request;
    mpi_transfer_t t;
    int error = check_init(self, buf, partitions, count, type, peer, tag, comm, is_receive, &t);

    if (error == MPI_SUCCESS)
        error = mpi_partitioned_new(self, &t, partitions, is_receive, &request);
    if (error == MPI_SUCCESS)
        *handle = mpi_request_handle(request);
    return error;
}

int impl_psend_init(mpi_rank_t *self, const void *buf, int partitions, MPI_Count count,
                    MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Info info,
                    MPI_Request *request)
{
    (void)info; /* no key is known */
    return init(self, buf, partitions, count, type, dest, tag, comm, false, request);
}

int impl_precv_init(mpi_rank_t *self, void *buf, int partitions, MPI_Count count, MPI_Datatype type,
                    int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    (void)info;
    return init(self, buf, partitions, count, type, source, tag, comm, true, request);
}

static int check_partition(const mpi_request_t *request, int i)
{
    const mpi_partitioned_t *p = mpi_partitioned_of(request);

    if (i >= 0 && i < p->partitions)
        return MPI_SUCCESS;
    return mpi_error(request->comm, MPI_ERR_ARG,
                     "partition %d does not exist; the request has %d, from 0 on", i,
                     p->partitions);
}

/* An active send? */
static int check_send(MPI_Request handle)
{
    const mpi_request_t *request = mpi_request_of(handle);

    if (handle == MPI_REQUEST_NULL)
        return mpi_error(NULL, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    if (request->kind != XMPI_KIND_PSEND)
        return mpi_error(mpi_request_is_over(handle) ? NULL : request->comm, MPI_ERR_REQUEST,
                         "the request is not that of a partitioned send");
    if (!request->is_active)
        return mpi_error(request->comm, MPI_ERR_REQUEST,
                         "the request is not active; call MPI_Start before partitions are ready");
    return MPI_SUCCESS;
}

static int mark(mpi_rank_t *self, mpi_request_t *request, int i)
{
    int error = check_partition(request, i);

    if (error != MPI_SUCCESS)
        return error;
    if (mpi_partitioned_of(request)->over[i])
        return mpi_error(request->comm, MPI_ERR_ARG,
                         "partition %d was marked ready before, since the last MPI_Start", i);
    return mpi_partitioned_ready(self, request, i);
}

int impl_pready(mpi_rank_t *self, int partition, MPI_Request request)
{
    int error = check_send(request);

    return error == MPI_SUCCESS ? mark(self, mpi_request_of(request), partition) : error;
}

int impl_pready_range(mpi_rank_t *self, int low, int high, MPI_Request request)
{
    int error = check_send(request);

    if (error == MPI_SUCCESS && low > high)
        error = mpi_error(mpi_request_of(request)->comm, MPI_ERR_ARG,
                          "there are no partitions from %d to %d", low, high);
    if (error == MPI_SUCCESS)
        error = check_partition(mpi_request_of(request), low);
    if (error == MPI_SUCCESS)
        error = check_partition(mpi_request_of(request), high);
    for (int i = low; error == MPI_SUCCESS && i <= high; i++)
        error = mark(self, mpi_request_of(request), i);
    return error;
}

int impl_pready_list(mpi_rank_t *self, int length, const int partitions[], MPI_Request request)
{
    int error = check_send(request);
    mpi_comm_t *comm = error == MPI_SUCCESS ? mpi_request_of(request)->comm : NULL;

    if (error == MPI_SUCCESS && length < 0)
        return mpi_error(comm, MPI_ERR_ARG, "the length of the list is %d", length);
    if (error == MPI_SUCCESS && length > 0 && partitions == NULL)
        return mpi_error_null(comm, "array_of_partitions");
    for (int i = 0; error == MPI_SUCCESS && i < length; i++)
        error = check_partition(mpi_request_of(request), partitions[i]);
    for (int i = 0; error == MPI_SUCCESS && i < length; i++)
        error = mark(self, mpi_request_of(request), partitions[i]);
    return error;
}

int impl_parrived(mpi_rank_t *self, MPI_Request handle, int partition, int *flag)
{
    mpi_request_t *request = mpi_request_of(handle);
    mpi_partitioned_t *p;
    int error;

    *flag = 1;
    if (handle == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    if (request->kind != XMPI_KIND_PRECV)
        return mpi_error(mpi_request_is_over(handle) ? NULL : request->comm, MPI_ERR_REQUEST,
                         "the request is not that of a partitioned receive");
    error = check_partition(request, partition);
    if (error != MPI_SUCCESS || !request->is_active || request->is_done)
        return error;
    p = mpi_partitioned_of(request);
    if (mpi_partitioned_misses(p, true, p->over, partition))
        mpi_request_look(self, &request, 1, true);
    *flag = request->is_done || !mpi_partitioned_misses(p, true, p->over, partition);
    return MPI_SUCCESS;
}
