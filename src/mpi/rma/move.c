/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Put and MPI_Get: copies, from memory to memory. */
#include <string.h>

#include "mpi/rma/calls.h"
#include "mpi/rma/far.h"

/* Data of any layout; contiguous data that is large in chunks that idle workers take. */
static void move(const rma_side_t *to, const rma_side_t *from)
{
    size_t bytes = from->bytes, copied;

    if (bytes == 0 || to->address == from->address)
        return; /* a type may have no data and the window no memory; and a copy onto itself */
    if (!mpi_type_is_contiguous(to->type) || !mpi_type_is_contiguous(from->type))
        mpi_type_copy(to->address, to->count, to->type, from->address, from->count, from->type,
                      &copied);
    else
        mpi_copy(to->address, from->address, bytes);
}

/* The same of plain bytes. */
static inline void move_bytes(char *to, const char *from, size_t bytes)
{
    if (bytes == 8)
        mpi_move(to, from, 8); /* one load and one store */
    else
        mpi_copy(to, from, bytes);
}

static int check(rma_operation_t *o, rma_side_t *origin, const void *address, int64_t count,
                 MPI_Datatype datatype, MPI_Aint disp, int64_t target_count,
                 MPI_Datatype target_datatype)
{
    int error = rma_side_check(o->win, "origin", address, count, datatype, origin);

    return error != MPI_SUCCESS ? error : rma_target_check(o, disp, target_count, target_datatype);
}

/* From the origin to the target (put) or back, once there is an operation. */
static int transfer(mpi_rank_t *self, rma_operation_t *o, bool is_put, void *address, int64_t count,
                    MPI_Datatype datatype, MPI_Aint disp, int64_t target_count,
                    MPI_Datatype target_datatype)
{
    rma_side_t origin;
    const rma_side_t *from = is_put ? &origin : &o->target, *to = is_put ? &o->target : &origin;
    int error = check(o, &origin, address, count, datatype, disp, target_count, target_datatype);

    if (error != MPI_SUCCESS)
        return error;
    if (__builtin_expect(from->bytes > to->bytes, 0))
        return rma_refuse_size(o->win, is_put ? "origin" : "target", from->bytes,
                               is_put ? "target" : "origin", to->bytes);
    if (__builtin_expect(to->count > to->type->most_received, 0))
        return mpi_type_refuse_overlap(o->win->comm);
    rma_operation_sync(self);
    if (!rma_is_remote(o->win, o->rank))
        move(to, from);
    else if (is_put)
        rma_far_put(self, o, &origin);
    else
        rma_far_get(o, &origin);
    rma_operation_end(self, o, is_put ? from->bytes : 0, !is_put, is_put ? 0 : from->bytes);
    return MPI_SUCCESS;
}

/* MPI_Put and MPI_Get: most have the same plain type on both sides, and are complete at once. */
static inline __attribute__((always_inline)) int
call(mpi_rank_t *self, bool is_put, void *address, int64_t count, MPI_Datatype datatype, int target,
     MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    rma_operation_t o;
    size_t bytes;
    char *there = NULL;
    int error;

    if (datatype == target_datatype && count == target_count && address != NULL)
        there = rma_fast(self, win, target, disp, target_count, false, target_datatype, &bytes);
    if (__builtin_expect(there != NULL, 1)) {
        move_bytes(is_put ? there : address, is_put ? address : there, bytes);
        return MPI_SUCCESS;
    }
    error = rma_operation_begin(&o, win, target, false);
    if (error != MPI_SUCCESS || o.win == NULL)
        return error;
    return transfer(self, &o, is_put, address, count, datatype, disp, target_count,
                    target_datatype);
}

static int call_with_request(mpi_rank_t *self, bool is_put, void *address, int64_t count,
                             MPI_Datatype datatype, int target, MPI_Aint disp, int64_t target_count,
                             MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    rma_operation_t o;
    int error = rma_operation_begin(&o, win, target, true);

    if (error == MPI_SUCCESS && o.win != NULL)
        error = transfer(self, &o, is_put, address, count, datatype, disp, target_count,
                         target_datatype);
    return rma_operation_request(self, &o, error, request);
}

int impl_put(mpi_rank_t *self, const void *origin_addr, MPI_Count origin_count,
             MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return call(self, true, (void *)(uintptr_t)origin_addr, origin_count, origin_datatype,
                target_rank, target_disp, target_count, target_datatype, win);
}

int impl_get(mpi_rank_t *self, void *origin_addr, MPI_Count origin_count,
             MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return call(self, false, origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                target_count, target_datatype, win);
}

int impl_rput(mpi_rank_t *self, const void *origin_addr, MPI_Count origin_count,
              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
              MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    return call_with_request(self, true, (void *)(uintptr_t)origin_addr, origin_count,
                             origin_datatype, target_rank, target_disp, target_count,
                             target_datatype, win, request);
}

int impl_rget(mpi_rank_t *self, void *origin_addr, MPI_Count origin_count,
              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
              MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    return call_with_request(self, false, origin_addr, origin_count, origin_datatype, target_rank,
                             target_disp, target_count, target_datatype, win, request);
}
