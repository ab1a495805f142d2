/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the calls of one-sided operations: their arguments, the checks of these, and the counts
 * at the end.
 *
 *   rma_operation_t o;
 *   rma_side_t origin;
 *
 *   error = rma_operation_begin(&o, handle, target, is_request);
 *   if (error != MPI_SUCCESS || o.win == NULL)            (NULL: the target is MPI_PROC_NULL)
 *       return error;
 *   error = rma_side_check(o.win, "origin", address, count, datatype, &origin);
 *   error = rma_target_check(&o, disp, count, datatype);
 *   ...
 *   rma_operation_end(self, &o, bytes, false, 0);
 *
 * All of it is done by the origin inside the call, so that the target need not help, operations of
 * one origin are done in the order of their calls, and a flush has nothing to wait for.
 */
#ifndef XY_MPI_RMA_RMA_OPERATION_H
#define XY_MPI_RMA_RMA_OPERATION_H

#include "mpi/rma/rma.h"

/* Data at one end. */
typedef struct {
    char *address;
    int64_t count;
    mpi_type_t *type;
    size_t bytes;
} rma_side_t;

typedef struct {
    mpi_win_t *win; /* NULL: nothing to do */
    int rank;       /* of the target in the window */
    rma_side_t target;
    double end;             /* in virtual time: when it is complete */
    const mpi_op_t *op;     /* of MPI_Accumulate and MPI_Get_accumulate; or NULL */
    rma_pending_t *pending; /* on a far target: not over yet; or NULL */
} rma_operation_t;

/* The slow half of rma_side_check: names what is wrong, or finds that nothing is; with --check. */
int rma_side_refuse(mpi_win_t *win, const char *name, const void *address, int64_t count,
                    MPI_Datatype datatype);

/* The data that the call names as its `name` ("origin"): `count` elements at `address`. */
static inline int rma_side_check(mpi_win_t *win, const char *name, const void *address,
                                 int64_t count, MPI_Datatype datatype, rma_side_t *side)
{
    mpi_type_t *type = mpi_type_of(datatype);

    if (__builtin_expect(type == NULL || !type->is_committed || count < 0 || address == NULL ||
                             rma_watch != NULL,
                         0)) {
        int error = rma_side_refuse(win, name, address, count, datatype);

        if (error != MPI_SUCCESS)
            return error;
        if (type == NULL)
            return MPI_ERR_TYPE; /* never: it was refused */
    }
    *side = (rma_side_t){(char *)(uintptr_t)address, count, type, (size_t)count * type->size};
    return MPI_SUCCESS;
}

/* The window and the target, and whether an epoch allows it. `has_request`: MPI_Rput and its like.
 */
static inline int rma_operation_begin(rma_operation_t *o, MPI_Win handle, int target,
                                      bool has_request)
{
    mpi_win_t *win = mpi_win_of(handle);
    int error;

    o->win = NULL;
    o->end = 0;
    o->op = NULL;
    o->pending = NULL;
    if (__builtin_expect(win == NULL, 0))
        return mpi_win_refuse(handle);
    rma_note(win, target);
    if (__builtin_expect(target == MPI_PROC_NULL, 0))
        return MPI_SUCCESS;
    o->win = win;
    o->rank = target;
    error = has_request ? rma_check_passive(win, target) : rma_check_access(win, target);
    return error == MPI_SUCCESS ? rma_survive_check(win, target) : error;
}

/* Where the data is at the target; is it inside the window? */
static inline int rma_target_check(rma_operation_t *o, MPI_Aint disp, int64_t count,
                                   MPI_Datatype datatype)
{
    static char nowhere; /* the displacement says where */
    int error = rma_side_check(o->win, "target", &nowhere, count, datatype, &o->target);

    if (error != MPI_SUCCESS || o->target.bytes == 0)
        return error;
    return rma_find(o->win, o->rank, disp, count, o->target.type, &o->target.address);
}

/* Is an epoch open that reaches `target`, and is nothing to be noted about that? */
static inline bool rma_is_open(const mpi_win_t *win, int target)
{
    if (win->access == RMA_ACCESS_LOCK_ALL || win->access == RMA_ACCESS_FENCE_USED)
        return true;
    return (win->access == RMA_ACCESS_START || win->access == RMA_ACCESS_LOCK) &&
           rma_is_reached(win, target);
}

/* The short way of most calls, checked in a few instructions: `count` elements of a predefined
 * type, without padding (`is_one`: it is one element, which may have some behind), inside the
 * window. Returns their address at the target; NULL: the long way finds the error, or that there is
 * none. Only without monitor, trace and virtual time. */
static inline __attribute__((always_inline)) char *rma_fast(const mpi_rank_t *self, MPI_Win handle,
                                                            int target, MPI_Aint disp,
                                                            int64_t count, bool is_one,
                                                            MPI_Datatype datatype, size_t *bytes_p)
{
    const mpi_win_t *win = mpi_win_of(handle);
    uintptr_t number = (uintptr_t)datatype - XMPI_TYPE_FIRST;
    const mpi_type_t *type = &mpi_type_table[number < XMPI_TYPE_TABLE ? number : 0];
    const rma_place_t *place;
    uint64_t offset, room;

    if (win == NULL || number >= XMPI_TYPE_TABLE ||
        (!type->is_contiguous && !(is_one && rma_is_in_front(type))) || mpi_is_watched(self) ||
        mpi_job->clock != NULL || (unsigned)target >= (unsigned)win->size ||
        !rma_is_open(win, target) || win->shared->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return NULL;
    place = &win->shared->places[target];
    room = (uint64_t)place->size;
    if ((uint64_t)(count - 1) > UINT32_MAX ||
        __builtin_mul_overflow((uint64_t)disp, (uint64_t)place->unit, &offset) || offset > room)
        return NULL;
    *bytes_p = (size_t)count * type->size;
    return *bytes_p <= room - offset ? place->base + offset : NULL;
}

/* Raise that the data called `name` is more than the `room` bytes of what is called `room_name`. */
int rma_refuse_size(mpi_win_t *win, const char *name, size_t bytes, const char *room_name,
                    size_t room);

/* In virtual time, before the work: what other ranks do earlier by the clock is done. */
void rma_operation_sync(mpi_rank_t *self);
/* The slow half of rma_operation_end. */
void rma_operation_count(mpi_rank_t *self, rma_operation_t *o, size_t there, bool is_answered,
                         size_t back);

/* The work is done: `there` bytes have gone to the target and `back` bytes have come from it.
 * `is_answered`: the origin needs what comes back. */
static inline void rma_operation_end(mpi_rank_t *self, rma_operation_t *o, size_t there,
                                     bool is_answered, size_t back)
{
    if (__builtin_expect(mpi_is_watched(self) || mpi_job->clock != NULL, 0))
        rma_operation_count(self, o, there, is_answered, back);
}

/* The request of an operation that went as `error` says: it is complete, in virtual time when the
 * bytes have moved, on a far target when what it waits for has come. Returns the error. */
int rma_operation_request(mpi_rank_t *self, const rma_operation_t *o, int error,
                          MPI_Request *handle);

#endif
