/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collect the records of the tasks of several ranks, for pictures: each rank keeps them, with the
 * numbers of the whole graph, and rank 0 gets all of them and tells its observer. Clocks begin when
 * all ranks have agreed to begin, so they differ by what a message takes.
 */
#include <stdlib.h>
#include <xylem.h>

#include "stencil/real.h"

typedef enum { TOLD_TASK, TOLD_TRANSFER, TOLD_MEMORY } kind_t;

typedef struct {
    double start, end;
    uint64_t used;
    int32_t kind, what, from, to; /* of a task `from` is the worker, of a memory `what` is it */
} told_t;

/* The header of a rank's message. */
typedef struct {
    int64_t count, gpus, cores;
} head_t;

enum { AT_ONCE = 1 << 16 }; /* in a message */

static void append(stencil_real_t *r, const told_t *told)
{
    if (xy_vec_append(&r->told, told) != XY_OK)
        r->is_told_in_part = true;
}

static void on_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    stencil_real_t *r = arg;

    append(r, &(told_t){start, end, 0, TOLD_TASK, r->share->task_of[op], worker, 0});
}

static void on_transfer(void *arg, int32_t data, int32_t from, int32_t to, double start, double end)
{
    stencil_real_t *r = arg;

    append(r, &(told_t){start, end, 0, TOLD_TRANSFER, r->share->data_of[data], from, to});
}

static void on_memory(void *arg, int32_t memory, double time, uint64_t used)
{
    append(arg, &(told_t){time, time, used, TOLD_MEMORY, memory, 0, 0});
}

void stencil_ranks_listen(stencil_real_t *r)
{
    r->told = (xy_vec_t)XY_VEC_INIT(told_t);
    r->listener = (xy_task_observer_t){
        .arg = r, .task = on_task, .transfer = on_transfer, .memory = on_memory};
}

/* ---- To rank 0 ---- */

static xy_status_t move_all(const stencil_real_t *r, int32_t peer, bool is_send, told_t *told,
                            int64_t count)
{
    const xylem_messages *t = r->run->messages;
    xy_status_t st = XY_OK;

    for (int64_t i = 0; i < count && st == XY_OK; i += AT_ONCE) {
        uint64_t n = (uint64_t)(count - i < AT_ONCE ? count - i : AT_ONCE) * sizeof(*told);

        st = is_send ? xy_task_send(t, peer, 0, told + i, n)
                     : xy_task_receive(t, peer, 0, told + i, n);
    }
    return st;
}

/* Numbers as if all GPUs, then all cores, were of one process: cores are negative until it is known
 * how many GPUs there are. The main memory is one. */
static void renumber(told_t *told, const head_t *head, const head_t *before)
{
    int32_t gpus = (int32_t)before->gpus, own = (int32_t)head->gpus;

    if (told->kind == TOLD_TASK && told->from < own)
        told->from += gpus;
    else if (told->kind == TOLD_TASK)
        told->from = -1 - (int32_t)before->cores - (told->from - own);
    if (told->kind == TOLD_TRANSFER && told->from > 0)
        told->from += gpus;
    if (told->kind == TOLD_TRANSFER && told->to > 0)
        told->to += gpus;
    if (told->kind == TOLD_MEMORY && told->what > 0)
        told->what += gpus;
}

/* Appends the records of a rank, received unless it is 0, with renumbered workers. */
static xy_status_t add(const stencil_real_t *r, xy_vec_t *all, const head_t *head, head_t *before,
                       int32_t rank)
{
    size_t first = all->count;
    xy_status_t st = xy_vec_reserve(all, first + (size_t)head->count + 1);

    if (st != XY_OK)
        return xy_fail_memory("keeping what the ranks did");
    if (rank == 0) {
        for (size_t i = 0; i < r->told.count; i++)
            (void)xy_vec_append(all, &XY_VEC_AT(&r->told, told_t, i));
    } else {
        st = move_all(r, rank, false, (told_t *)all->data + first, head->count);
        all->count = first + (size_t)head->count;
    }
    for (size_t i = first; i < all->count; i++)
        renumber(&XY_VEC_AT(all, told_t, i), head, before);
    before->gpus += head->gpus;
    before->cores += head->cores > 0 ? head->cores : 1;
    return st;
}

static int compare_ends(const void *a, const void *b)
{
    const told_t *x = a, *y = b;

    return x->end < y->end ? -1 : x->end > y->end;
}

static void tell(const xy_task_observer_t *o, const told_t *x, int32_t gpus)
{
    if (x->kind == TOLD_TASK && o->task != NULL)
        o->task(o->arg, x->from < 0 ? gpus - 1 - x->from : x->from, x->what, x->start, x->end);
    if (x->kind == TOLD_TRANSFER && o->transfer != NULL)
        o->transfer(o->arg, x->what, x->from, x->to, x->start, x->end);
    if (x->kind == TOLD_MEMORY && o->memory != NULL)
        o->memory(o->arg, x->what, x->end, x->used);
}

/* Gathers the records of all ranks at rank 0 and passes them to the observer by time. */
static xy_status_t gather(const stencil_real_t *r, head_t head)
{
    const xylem_messages *t = r->run->messages;
    xy_vec_t all = XY_VEC_INIT(told_t);
    head_t before = {0};
    xy_status_t st = add(r, &all, &head, &before, 0);

    for (int32_t i = 1; i < t->ranks && st == XY_OK; i++) {
        st = xy_task_receive(t, i, 0, &head, sizeof(head));
        if (st == XY_OK)
            st = add(r, &all, &head, &before, i);
    }
    if (st == XY_OK && all.count > 0)
        qsort(all.data, all.count, sizeof(told_t), compare_ends);
    for (size_t i = 0; i < all.count && st == XY_OK; i++)
        tell(r->run->how.observer, &XY_VEC_AT(&all, told_t, i), (int32_t)before.gpus);
    xy_vec_cleanup(&all);
    return st;
}

xy_status_t stencil_ranks_tell(const stencil_real_t *r)
{
    head_t head = {(int64_t)r->told.count, r->gpu != NULL ? stencil_gpu_count(r) : 0, 0};
    xy_status_t st;

    head.cores = r->workers - head.gpus;
    if (r->is_told_in_part)
        return xy_fail_memory("keeping what the ranks did");
    if (r->run->messages->rank == 0)
        return gather(r, head);
    st = xy_task_send(r->run->messages, 0, 0, &head, sizeof(head));
    return st == XY_OK ? move_all(r, 0, true, r->told.data, head.count) : st;
}
