/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op, MPI_Compare_and_swap and their forms with a
 * request. */
#include <string.h>

#include "mpi/rma/accumulate.h"
#include "mpi/rma/calls.h"
#include "mpi/rma/far.h"

/* The arguments of MPI_Get_accumulate, which has all of them. */
typedef struct {
    const void *origin;
    int64_t origin_count;
    MPI_Datatype origin_type;
    bool has_result;
    void *result;
    int64_t result_count;
    MPI_Datatype result_type;
    MPI_Aint disp;
    int64_t count;
    MPI_Datatype type;
    MPI_Op op;
} arguments_t;

/* Threads that the program has made are no workers. */
static mpi_worker_t *worker_of(const mpi_rank_t *self)
{
    return xy_worker_self() == self->worker->base ? self->worker : NULL;
}

/* ---- One element ---- */

static rma_update_t update_at(const mpi_rank_t *self, const mpi_win_t *win, int target)
{
    return (rma_update_t){.updates = &win->shared->targets[target].updates,
                          .worker = worker_of(self)};
}

static bool is_counter(const mpi_type_t *type, const void *address)
{
    return (type->basic == XMPI_BASIC_INT64 || type->basic == XMPI_BASIC_UINT64) &&
           (uintptr_t)address % sizeof(uint64_t) == 0;
}

/* Does the process of the target update these elements? Those under a guard are updated in one
 * process. */
static bool is_done_there(const mpi_win_t *win, int target, const rma_side_t *side,
                          const mpi_type_t *element)
{
    return rma_is_far(win, target) && (rma_is_remote(win, target) || !side->type->is_contiguous ||
                                       !rma_is_atomic(element, side->address));
}

/* A pair, say. */
static bool update_guarded(const rma_update_t *u, char *there, const void *origin, void *result)
{
    if ((uintptr_t)origin % u->type->align != 0 || !mpi_op_is_valid_for(u->op, u->type))
        return false;
    rma_update(u, there, origin, result, 1);
    return true;
}

/* One element. False: the long way does it, or finds out what is wrong. */
static inline __attribute__((always_inline)) bool
update_fast(const mpi_rank_t *self, const void *origin, bool has_result, void *result,
            MPI_Datatype datatype, int target, MPI_Aint disp, MPI_Op handle, MPI_Win win)
{
    const mpi_op_t *op = mpi_op_of(handle);
    size_t bytes;
    char *there = rma_fast(self, win, target, disp, 1, true, datatype, &bytes);
    rma_update_t u;

    if (there == NULL || __builtin_expect(mpi_device_is_used, 0) || op == NULL ||
        !op->is_predefined || (has_result && result == NULL) ||
        (op->kind == XMPI_OP_KIND_NO_OP ? !has_result : origin == NULL))
        return false;
    u = update_at(self, mpi_win_of(win), target);
    u.op = op;
    u.type = mpi_type_of(datatype);
    if (op->kind == XMPI_OP_KIND_SUM && is_counter(u.type, there)) {
        uint64_t old = rma_add(&u, there, origin);

        if (has_result)
            memcpy(result, &old, sizeof(old));
        return true;
    }
    if (rma_is_atomic(u.type, there))
        return rma_update_one(&u, there, origin, result);
    return !rma_is_far(mpi_win_of(win), target) && update_guarded(&u, there, origin, result);
}

/* ---- Checks ---- */

/* Check the operation of an accumulate call; returns an MPI error code. */
static int check_op(mpi_win_t *win, MPI_Op handle, bool has_result, const mpi_op_t **op_p)
{
    const mpi_op_t *op = mpi_op_of(handle);

    *op_p = op;
    if (op == NULL)
        return mpi_error(win->comm, MPI_ERR_OP, "the operation is %s",
                         handle == MPI_OP_NULL ? "MPI_OP_NULL" : "not a valid handle");
    if (!op->is_predefined)
        return mpi_error(win->comm, MPI_ERR_OP,
                         "%s cannot be used here; one-sided operations take predefined ones",
                         op->name);
    if (op->kind == XMPI_OP_KIND_NO_OP && !has_result)
        return mpi_error(win->comm, MPI_ERR_OP,
                         "MPI_NO_OP changes nothing; it is for operations that fetch");
    return MPI_SUCCESS;
}

/* Check the operation of `u` against the elements of the target's type. */
static int check_element(const rma_operation_t *o, rma_update_t *u)
{
    u->type = rma_element_of(o->target.type);
    if (u->type == NULL)
        return mpi_error(o->win->comm, MPI_ERR_TYPE,
                         "the target datatype, %s, has elements of several kinds; an "
                         "accumulate needs one basic type",
                         mpi_type_name(o->target.type));
    if (mpi_op_is_valid_for(u->op, u->type))
        return MPI_SUCCESS;
    return mpi_error(o->win->comm, MPI_ERR_OP, "%s is not defined for %s", u->op->name,
                     mpi_type_name(u->type));
}

/* The origin or the result must have elements of the target's kind. */
static int check_same(const rma_operation_t *o, const char *name, const rma_side_t *side,
                      const mpi_type_t *element)
{
    const mpi_type_t *own = rma_element_of(side->type);

    if (side->bytes == 0 || (own != NULL && own->basic == element->basic))
        return MPI_SUCCESS;
    return mpi_error(o->win->comm, MPI_ERR_TYPE, "the %s has elements of %s, the target of %s",
                     name, own != NULL ? mpi_type_name(own) : "several kinds",
                     mpi_type_name(element));
}

static int check_origin(const rma_operation_t *o, const arguments_t *a, const rma_update_t *u,
                        rma_side_t *origin)
{
    int error =
        rma_side_check(o->win, "origin", a->origin, a->origin_count, a->origin_type, origin);

    if (error == MPI_SUCCESS)
        error = check_same(o, "origin", origin, u->type);
    if (error == MPI_SUCCESS && origin->bytes > o->target.bytes)
        error = rma_refuse_size(o->win, "origin", origin->bytes, "target", o->target.bytes);
    return error;
}

static int check_result(const rma_operation_t *o, const arguments_t *a, const rma_update_t *u,
                        rma_side_t *result)
{
    int error =
        rma_side_check(o->win, "result", a->result, a->result_count, a->result_type, result);

    if (error == MPI_SUCCESS)
        error = check_same(o, "result", result, u->type);
    if (error == MPI_SUCCESS && result->bytes < o->target.bytes)
        error = rma_refuse_size(o->win, "target", o->target.bytes, "result", result->bytes);
    return error;
}

/* An origin that has locked the target exclusively is the only one there, unless it has threads. */
static bool is_alone(const mpi_rank_t *self, const rma_operation_t *o)
{
    return o->win->access == RMA_ACCESS_LOCK && self->thread_level < MPI_THREAD_MULTIPLE &&
           o->win->shared->targets[o->rank].owner == o->win->rank;
}

/* ---- Accumulates ---- */

/* A type without data has no kind, and nothing fits into it but nothing. */
static int accumulate_nothing(mpi_rank_t *self, rma_operation_t *o, const arguments_t *a)
{
    rma_side_t origin = {0};
    int error = MPI_SUCCESS;

    if (a->op != MPI_NO_OP)
        error =
            rma_side_check(o->win, "origin", a->origin, a->origin_count, a->origin_type, &origin);
    if (error == MPI_SUCCESS && origin.bytes > 0)
        error = rma_refuse_size(o->win, "origin", origin.bytes, "target", 0);
    if (error == MPI_SUCCESS)
        rma_operation_end(self, o, 0, a->has_result, 0);
    return error;
}

/* Check the arguments of an accumulate call and do it, here or far away; returns an MPI error code.
 */
static int accumulate(mpi_rank_t *self, rma_operation_t *o, const arguments_t *a)
{
    rma_update_t u = {.updates = &o->win->shared->targets[o->rank].updates,
                      .worker = worker_of(self),
                      .is_alone = is_alone(self, o)};
    rma_side_t origin, result;
    bool has_origin;
    int error = check_op(o->win, a->op, a->has_result, &u.op);

    if (error == MPI_SUCCESS)
        error = rma_target_check(o, a->disp, a->count, a->type);
    if (error == MPI_SUCCESS && o->target.bytes == 0)
        return accumulate_nothing(self, o, a);
    if (error == MPI_SUCCESS)
        error = check_element(o, &u);
    if (error != MPI_SUCCESS)
        return error;
    o->op = u.op;
    has_origin = u.op->kind != XMPI_OP_KIND_NO_OP;
    if (has_origin)
        error = check_origin(o, a, &u, &origin);
    if (error == MPI_SUCCESS && has_origin)
        o->target.bytes = origin.bytes; /* as with messages, the target may have room for more */
    if (error == MPI_SUCCESS && a->has_result)
        error = check_result(o, a, &u, &result);
    if (error != MPI_SUCCESS)
        return error;
    rma_operation_sync(self);
    if (is_done_there(o->win, o->rank, &o->target, u.type))
        rma_far_accumulate(self, o, u.type, u.op, has_origin ? &origin : NULL,
                           a->has_result ? &result : NULL);
    else if (o->target.bytes > 0)
        rma_accumulate(&u, &o->target, has_origin ? &origin : NULL, a->has_result ? &result : NULL);
    rma_operation_end(self, o, has_origin ? o->target.bytes : 0, a->has_result,
                      a->has_result ? o->target.bytes : 0);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int call(mpi_rank_t *self, MPI_Win win, int target,
                                          const arguments_t *a)
{
    rma_operation_t o;
    int error = rma_operation_begin(&o, win, target, false);

    return error != MPI_SUCCESS || o.win == NULL ? error : accumulate(self, &o, a);
}

static int call_with_request(mpi_rank_t *self, MPI_Win win, int target, const arguments_t *a,
                             MPI_Request *request)
{
    rma_operation_t o;
    int error = rma_operation_begin(&o, win, target, true);

    if (error == MPI_SUCCESS && o.win != NULL)
        error = accumulate(self, &o, a);
    return rma_operation_request(self, &o, error, request);
}

int impl_accumulate(mpi_rank_t *self, const void *origin_addr, MPI_Count origin_count,
                    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    if (origin_count == 1 && target_count == 1 && origin_datatype == target_datatype &&
        update_fast(self, origin_addr, false, NULL, target_datatype, target_rank, target_disp, op,
                    win))
        return MPI_SUCCESS;
    return call(self, win, target_rank,
                &(arguments_t){.origin = origin_addr,
                               .origin_count = origin_count,
                               .origin_type = origin_datatype,
                               .disp = target_disp,
                               .count = target_count,
                               .type = target_datatype,
                               .op = op});
}

int impl_raccumulate(mpi_rank_t *self, const void *origin_addr, MPI_Count origin_count,
                     MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                     MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                     MPI_Request *request)
{
    arguments_t a = {.origin = origin_addr,
                     .origin_count = origin_count,
                     .origin_type = origin_datatype,
                     .disp = target_disp,
                     .count = target_count,
                     .type = target_datatype,
                     .op = op};

    return call_with_request(self, win, target_rank, &a, request);
}

int impl_get_accumulate(mpi_rank_t *self, const void *origin_addr, MPI_Count origin_count,
                        MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                        MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                        MPI_Win win)
{
    if (target_count == 1 && result_count == 1 && result_datatype == target_datatype &&
        (op == MPI_NO_OP || (origin_count == 1 && origin_datatype == target_datatype)) &&
        update_fast(self, origin_addr, true, result_addr, target_datatype, target_rank, target_disp,
                    op, win))
        return MPI_SUCCESS;
    return call(self, win, target_rank,
                &(arguments_t){origin_addr, origin_count, origin_datatype, true, result_addr,
                               result_count, result_datatype, target_disp, target_count,
                               target_datatype, op});
}

int impl_rget_accumulate(mpi_rank_t *self, const void *origin_addr, MPI_Count origin_count,
                         MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                         MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                         MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win, MPI_Request *request)
{
    arguments_t a = {origin_addr,
                     origin_count,
                     origin_datatype,
                     true,
                     result_addr,
                     result_count,
                     result_datatype,
                     target_disp,
                     target_count,
                     target_datatype,
                     op};

    return call_with_request(self, win, target_rank, &a, request);
}

/* ---- Single elements ---- */

static __attribute__((noinline)) int fetch(mpi_rank_t *self, MPI_Win win, int target,
                                           const arguments_t *a)
{
    const mpi_type_t *type = mpi_type_of(a->type);
    rma_operation_t o;
    int error = rma_operation_begin(&o, win, target, false);

    if (error != MPI_SUCCESS || o.win == NULL)
        return error;
    if (type != NULL && !type->is_predefined)
        return mpi_error(o.win->comm, MPI_ERR_TYPE, "the datatype, %s, is not a predefined one",
                         mpi_type_name(type));
    return accumulate(self, &o, a);
}

int impl_fetch_and_op(mpi_rank_t *self, const void *origin_addr, void *result_addr,
                      MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Op op,
                      MPI_Win win)
{
    if (update_fast(self, origin_addr, true, result_addr, datatype, target_rank, target_disp, op,
                    win))
        return MPI_SUCCESS;
    return fetch(self, win, target_rank,
                 &(arguments_t){origin_addr, 1, datatype, true, result_addr, 1, datatype,
                                target_disp, 1, datatype, op});
}

/* Integers, logicals and bytes can be compared. */
static bool is_comparable(const mpi_type_t *type)
{
    return type->is_predefined &&
           (type->basic == XMPI_BASIC_BYTE ||
            (type->basic >= XMPI_BASIC_INT8 && type->basic <= XMPI_BASIC_UINT64) ||
            (type->basic >= XMPI_BASIC_BOOL && type->basic <= XMPI_BASIC_LOGICAL128));
}

static int check_swap(const rma_operation_t *o, const void *origin, const void *compare,
                      const void *result)
{
    const char *missing = origin == NULL ? "origin" : compare == NULL ? "compare" : "result";

    if (!is_comparable(o->target.type))
        return mpi_error(o->win->comm, MPI_ERR_TYPE,
                         "%s cannot be compared; integers, logicals and MPI_BYTE can",
                         mpi_type_name(o->target.type));
    if (origin == NULL || compare == NULL || result == NULL)
        return mpi_error(o->win->comm, MPI_ERR_BUFFER, "the %s buffer is NULL", missing);
    return MPI_SUCCESS;
}

/* With --check. */
static void note_sides(const mpi_win_t *win, const void *origin, const void *compare,
                       const void *result, const mpi_type_t *type)
{
    rma_watch->side(win->comm->owner, "origin", origin, 1, type);
    rma_watch->side(win->comm->owner, "compare", compare, 1, type);
    rma_watch->side(win->comm->owner, "result", result, 1, type);
}

/* Compare and swap one element in this process at once; false if the general form must do it. */
static bool swap_fast(const mpi_rank_t *self, const void *origin, const void *compare, void *result,
                      MPI_Datatype datatype, int target, MPI_Aint disp, MPI_Win win)
{
    size_t bytes;
    char *there = rma_fast(self, win, target, disp, 1, true, datatype, &bytes);
    rma_update_t u;

    if (there == NULL || __builtin_expect(mpi_device_is_used, 0) || origin == NULL ||
        compare == NULL || result == NULL || !is_comparable(mpi_type_of(datatype)) ||
        !rma_is_atomic(mpi_type_of(datatype), there))
        return false;
    u = update_at(self, mpi_win_of(win), target);
    u.type = mpi_type_of(datatype);
    rma_compare_and_swap(&u, there, origin, compare, result);
    return true;
}

/* Here, and from and to wherever they are. */
static void swap(const rma_update_t *u, char *target, const void *origin, const void *compare,
                 void *result)
{
    size_t size = u->type->size;
    char values[3][16];

    mpi_move_in(values[0], origin, size);
    mpi_move_in(values[1], compare, size);
    rma_compare_and_swap(u, target, values[0], values[1], values[2]);
    mpi_move_out(result, values[2], size);
}

int impl_compare_and_swap(mpi_rank_t *self, const void *origin_addr, const void *compare_addr,
                          void *result_addr, MPI_Datatype datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Win win)
{
    rma_operation_t o;
    rma_update_t u;
    int error;

    if (swap_fast(self, origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp,
                  win))
        return MPI_SUCCESS;
    error = rma_operation_begin(&o, win, target_rank, false);
    if (error != MPI_SUCCESS || o.win == NULL)
        return error;
    error = rma_target_check(&o, target_disp, 1, datatype);
    if (error == MPI_SUCCESS)
        error = check_swap(&o, origin_addr, compare_addr, result_addr);
    if (error != MPI_SUCCESS)
        return error;
    if (rma_watch != NULL)
        note_sides(o.win, origin_addr, compare_addr, result_addr, o.target.type);
    u = update_at(self, o.win, o.rank);
    u.type = o.target.type;
    rma_operation_sync(self);
    if (is_done_there(o.win, o.rank, &o.target, u.type))
        rma_far_swap(self, &o, origin_addr, compare_addr, result_addr);
    else
        swap(&u, o.target.address, origin_addr, compare_addr, result_addr);
    rma_operation_end(self, &o, 2 * u.type->size, true, u.type->size);
    return MPI_SUCCESS;
}
