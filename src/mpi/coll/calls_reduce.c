/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce, MPI_Allreduce, MPI_Reduce_scatter(_block), MPI_Scan, MPI_Exscan and their
 * nonblocking forms. */
#include "mpi/bindings/alias.h"
#include "mpi/coll/check_arguments.h"

#define SITE __builtin_return_address(0)

/* The arguments that all of them have: `count` elements in, `count` (or the own share) out. */
static int fill_in(mpi_rank_t *self, coll_call_t *call, const void *sendbuf, void *recvbuf,
                   int64_t count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int error = coll_check_comm(self, comm, call);

    call->is_in_place = sendbuf == MPI_IN_PLACE;
    call->send = sendbuf;
    call->receive = recvbuf;
    call->receive_count = count;
    if (error == MPI_SUCCESS)
        error = coll_check_buffer(call, recvbuf, count, type, &call->receive_type);
    if (error == MPI_SUCCESS)
        error = coll_check_op(call, op);
    if (error == MPI_SUCCESS)
        call->bytes = (uint64_t)count * call->receive_type->size;
    return error;
}

static int reduce(const char *name, const void *site, const void *sendbuf, void *recvbuf,
                  int64_t count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    coll_call_t call = {.kind = &coll_reduce, .root = root};
    int error = fill_in(self, &call, sendbuf, recvbuf, count, type, op, comm);

    if (error == MPI_SUCCESS)
        error = coll_check_root(&call);
    return coll_go(self, error, &call, request);
}

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm)
{
    return reduce("MPI_Reduce", SITE, sendbuf, recvbuf, count, datatype, op, root, comm, NULL);
}
XY_MPI_ALIAS(Reduce)

int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    return reduce("MPI_Reduce_c", SITE, sendbuf, recvbuf, count, datatype, op, root, comm, NULL);
}
XY_MPI_ALIAS(Reduce_c)

int PMPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm, MPI_Request *request)
{
    return reduce("MPI_Ireduce", SITE, sendbuf, recvbuf, count, datatype, op, root, comm, request);
}
XY_MPI_ALIAS(Ireduce)

int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    return reduce("MPI_Ireduce_c", SITE, sendbuf, recvbuf, count, datatype, op, root, comm,
                  request);
}
XY_MPI_ALIAS(Ireduce_c)

static int whole_vector(const char *name, const void *site, const coll_ops_t *kind,
                        const void *sendbuf, void *recvbuf, int64_t count, MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    coll_call_t call = {.kind = kind};

    return coll_go(self, fill_in(self, &call, sendbuf, recvbuf, count, type, op, comm), &call,
                   request);
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm)
{
    return whole_vector("MPI_Allreduce", SITE, &coll_allreduce, sendbuf, recvbuf, count, datatype,
                        op, comm, NULL);
}
XY_MPI_ALIAS(Allreduce)

int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    return whole_vector("MPI_Allreduce_c", SITE, &coll_allreduce, sendbuf, recvbuf, count, datatype,
                        op, comm, NULL);
}
XY_MPI_ALIAS(Allreduce_c)

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    return whole_vector("MPI_Iallreduce", SITE, &coll_allreduce, sendbuf, recvbuf, count, datatype,
                        op, comm, request);
}
XY_MPI_ALIAS(Iallreduce)

int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return whole_vector("MPI_Iallreduce_c", SITE, &coll_allreduce, sendbuf, recvbuf, count,
                        datatype, op, comm, request);
}
XY_MPI_ALIAS(Iallreduce_c)

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm)
{
    return whole_vector("MPI_Scan", SITE, &coll_scan, sendbuf, recvbuf, count, datatype, op, comm,
                        NULL);
}
XY_MPI_ALIAS(Scan)

int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm)
{
    return whole_vector("MPI_Scan_c", SITE, &coll_scan, sendbuf, recvbuf, count, datatype, op, comm,
                        NULL);
}
XY_MPI_ALIAS(Scan_c)

int PMPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request *request)
{
    return whole_vector("MPI_Iscan", SITE, &coll_scan, sendbuf, recvbuf, count, datatype, op, comm,
                        request);
}
XY_MPI_ALIAS(Iscan)

int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return whole_vector("MPI_Iscan_c", SITE, &coll_scan, sendbuf, recvbuf, count, datatype, op,
                        comm, request);
}
XY_MPI_ALIAS(Iscan_c)

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm)
{
    return whole_vector("MPI_Exscan", SITE, &coll_exscan, sendbuf, recvbuf, count, datatype, op,
                        comm, NULL);
}
XY_MPI_ALIAS(Exscan)

int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    return whole_vector("MPI_Exscan_c", SITE, &coll_exscan, sendbuf, recvbuf, count, datatype, op,
                        comm, NULL);
}
XY_MPI_ALIAS(Exscan_c)

int PMPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm, MPI_Request *request)
{
    return whole_vector("MPI_Iexscan", SITE, &coll_exscan, sendbuf, recvbuf, count, datatype, op,
                        comm, request);
}
XY_MPI_ALIAS(Iexscan)

int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return whole_vector("MPI_Iexscan_c", SITE, &coll_exscan, sendbuf, recvbuf, count, datatype, op,
                        comm, request);
}
XY_MPI_ALIAS(Iexscan_c)

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return whole_vector("MPI_Reduce_scatter_block", SITE, &coll_reduce_scatter, sendbuf, recvbuf,
                        recvcount, datatype, op, comm, NULL);
}
XY_MPI_ALIAS(Reduce_scatter_block)

int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return whole_vector("MPI_Reduce_scatter_block_c", SITE, &coll_reduce_scatter, sendbuf, recvbuf,
                        recvcount, datatype, op, comm, NULL);
}
XY_MPI_ALIAS(Reduce_scatter_block_c)

int PMPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request *request)
{
    return whole_vector("MPI_Ireduce_scatter_block", SITE, &coll_reduce_scatter, sendbuf, recvbuf,
                        recvcount, datatype, op, comm, request);
}
XY_MPI_ALIAS(Ireduce_scatter_block)

int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request)
{
    return whole_vector("MPI_Ireduce_scatter_block_c", SITE, &coll_reduce_scatter, sendbuf, recvbuf,
                        recvcount, datatype, op, comm, request);
}
XY_MPI_ALIAS(Ireduce_scatter_block_c)

static int reduce_scatter(const char *name, const void *site, const void *sendbuf, void *recvbuf,
                          coll_vector_t counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                          MPI_Request *request)
{
    mpi_rank_t *self = mpi_enter(name, site);
    coll_call_t call = {.kind = &coll_reduce_scatter, .receive_counts = counts};
    int error = fill_in(self, &call, sendbuf, recvbuf, 0, type, op, comm);

    if (error == MPI_SUCCESS)
        error = coll_check_counts(&call, counts, type, &call.receive_type);
    return coll_go(self, error, &call, request);
}

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter("MPI_Reduce_scatter", SITE, sendbuf, recvbuf,
                          (coll_vector_t){recvcounts, false}, datatype, op, comm, NULL);
}
XY_MPI_ALIAS(Reduce_scatter)

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter("MPI_Reduce_scatter_c", SITE, sendbuf, recvbuf,
                          (coll_vector_t){recvcounts, true}, datatype, op, comm, NULL);
}
XY_MPI_ALIAS(Reduce_scatter_c)

int PMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return reduce_scatter("MPI_Ireduce_scatter", SITE, sendbuf, recvbuf,
                          (coll_vector_t){recvcounts, false}, datatype, op, comm, request);
}
XY_MPI_ALIAS(Ireduce_scatter)

int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return reduce_scatter("MPI_Ireduce_scatter_c", SITE, sendbuf, recvbuf,
                          (coll_vector_t){recvcounts, true}, datatype, op, comm, request);
}
XY_MPI_ALIAS(Ireduce_scatter_c)
