/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking reads and writes. A thread of the pool makes the access and leaves it in the mailbox
 * of the rank's worker, which completes the request. Collective ones meet first, without waiting:
 * when all members here have called, one task has them all.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mpi/io/io.h"
#include "mpi/io/io_order.h"
#include "mpi/io/io_pool.h"
#include "mpi/io/io_represent.h"
#include "mpi/virtual/virtual.h"

typedef struct io_pending {
    const char *why; /* first: what MPI_Wait says when it has failed (mpi_request_raise) */
    io_task_t task;
    io_access_t access;
    int converted; /* an error class */
    mpi_file_t *file;
    mpi_request_t *request;
    io_how_t how;
    struct io_pending *next; /* in the mailbox */
    char text[256];
} io_pending_t;

/* The accesses of all members here. */
typedef struct {
    io_task_t task; /* first */
    io_how_t how;
    int count;
    io_pending_t *pending[];
} group_t;

static io_pending_t *pending_of(io_task_t *task)
{
    return (io_pending_t *)(void *)((char *)task - offsetof(io_pending_t, task));
}

/* ---- The end ---- */

static void release(mpi_request_t *request)
{
    io_pending_t *p = request->extra;

    p->file->pending--; /* it is open: MPI_File_close refuses to go before */
    io_view_release(p->access.view);
    io_shared_release(p->access.shared);
    xy_free(p->access.staged);
    xy_free(p);
}

/* Set bytes and error of a completed nonblocking access, with the text of the error. */
static void fill_completion(io_pending_t *p)
{
    mpi_completion_t *completion = &p->request->completion;
    char text[128];

    completion->bytes = p->converted == MPI_SUCCESS ? io_done(&p->access) : 0;
    completion->error = p->converted;
    if (p->converted != MPI_SUCCESS)
        snprintf(p->text, sizeof(p->text), "the data could not be converted");
    if (p->access.error == 0)
        return;
    completion->error = io_error_class(p->access.error);
    snprintf(p->text, sizeof(p->text), "%.100s: %s", p->access.shared->name,
             strerror_r(p->access.error, text, sizeof(text)));
}

void io_mail(mpi_worker_t *worker)
{
    io_pending_t *p =
        atomic_exchange_explicit(&worker->mail[XMPI_MAIL_FILES], NULL, memory_order_acquire);

    while (p != NULL) {
        io_pending_t *next = p->next;

        mpi_request_complete(p->request);
        p = next;
    }
}

/* The access is complete; any thread. */
static void post(io_pending_t *p)
{
    mpi_worker_t *worker = p->request->owner->worker;
    void *first = atomic_load_explicit(&worker->mail[XMPI_MAIL_FILES], memory_order_relaxed);

    if (p->converted == MPI_SUCCESS)
        p->converted = io_unstage(&p->access);
    fill_completion(p);
    /* release: pairs with the acquire in io_mail */
    do
        p->next = first;
    while (!atomic_compare_exchange_weak_explicit(&worker->mail[XMPI_MAIL_FILES], &first, p,
                                                  memory_order_release, memory_order_relaxed));
    xy_worker_notify(worker->base);
}

/* ---- Tasks ---- */

static void run_alone(io_task_t *task)
{
    io_pending_t *p = pending_of(task);

    io_access_run(&p->access);
    post(p);
}

/* Task: make the accesses of all members of a collective and post them; one by one without memory.
 * */
static void run_group(io_task_t *task)
{
    group_t *g = (group_t *)task;
    io_access_t **accesses = xy_malloc((size_t)g->count * sizeof(io_access_t *));

    for (int i = 0; i < g->count; i++)
        if (accesses != NULL)
            accesses[i] = &g->pending[i]->access;
        else
            io_access_run(&g->pending[i]->access);
    if (accesses != NULL)
        io_collective_run(accesses, g->count, &g->how);
    for (int i = 0; i < g->count; i++)
        post(g->pending[i]);
    xy_free(accesses);
    xy_free(g);
}

/* All members here have called; runs on one of their workers. */
static void lead(void *const *inputs, int size, void *const *outputs)
{
    group_t *g = xy_malloc(sizeof(*g) + (size_t)size * sizeof(io_pending_t *));

    (void)outputs;
    if (g == NULL) {
        for (int r = 0; r < size; r++)
            io_pool_submit(&((io_pending_t *)inputs[r])->task);
        return;
    }
    g->task.run = run_group;
    g->how = ((const io_pending_t *)inputs[0])->how;
    g->count = size;
    for (int r = 0; r < size; r++) {
        g->pending[r] = inputs[r];
        g->how.is_split |= g->pending[r]->how.is_split;
    }
    io_pool_submit(&g->task);
}

/* ---- The beginning ---- */

/* Create a nonblocking access and its request, which hold file, view and type; NULL without memory.
 * */
static io_pending_t *pending_new(mpi_rank_t *self, mpi_file_t *file, const io_access_t *access)
{
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_FILE);
    io_pending_t *p = xy_calloc(1, sizeof(*p));

    if (p == NULL || request == NULL) {
        xy_free(p);
        if (request != NULL)
            mpi_request_free(request);
        return NULL;
    }
    p->why = p->text;
    p->task.run = run_alone;
    p->access = *access;
    p->file = file;
    p->request = request;
    p->how = io_how_of(file, access->is_write);
    io_view_hold(access->view);
    atomic_fetch_add_explicit(&access->shared->references, 1, memory_order_relaxed);
    request->call = self->call;
    request->comm = file->comm;
    mpi_comm_hold(file->comm);
    request->type = access->type;
    mpi_type_hold(access->type);
    request->buffer = access->memory;
    request->count = access->count;
    request->bytes = access->bytes;
    request->peer = MPI_UNDEFINED;
    request->extra = p;
    request->release = release;
    file->pending++;
    return p;
}

/* Without waiting: the request of the meeting itself is of no interest. */
static int meet(mpi_rank_t *self, io_pending_t *p)
{
    coll_call_t call = {.kind = &coll_agree,
                        .comm = p->file->here,
                        .send = p,
                        .agreed = coll_agree_name(self),
                        .leader = lead};
    MPI_Request handle;
    int error = coll_start(self, &call, &handle);

    io_note_collective(p->file, p->access.is_write);
    return error == MPI_SUCCESS ? mpi_request_abandon(mpi_request_of(handle)) : error;
}

/* In virtual time data moves at once, and the request is complete later. */
static void run_virtual(mpi_rank_t *self, io_pending_t *p)
{
    double end;

    io_charge_before(self);
    if (p->converted == MPI_SUCCESS)
        io_access_run(&p->access);
    end = io_charge(self, p->access.done);
    if (p->converted == MPI_SUCCESS)
        p->converted = io_unstage(&p->access);
    fill_completion(p);
    mpi_virtual_request(self, p->request, end);
}

int io_start(mpi_rank_t *self, const io_order_t *order, MPI_Request *handle_p)
{
    io_access_t access;
    io_pending_t *p;
    mpi_file_t *file;
    int error = io_prepare(self, order, &file, &access);

    if (file == NULL)
        return error;
    p = pending_new(self, file, &access);
    if (p == NULL)
        return mpi_error_memory(file->comm, "a request");
    p->converted = io_stage(&p->access);
    if (p->converted != MPI_SUCCESS)
        p->access.bytes = 0;
    *handle_p = mpi_request_handle(p->request);
    if (__builtin_expect(mpi_dispatch.check.access != NULL, 0))
        mpi_dispatch.check.access(self, &access, p->request); /* before a thread may write to it */
    if (mpi_job->clock != NULL) {
        run_virtual(self, p);
        return MPI_SUCCESS;
    }
    if (io_rep_is_program(access.view->rep)) {
        run_alone(&p->task); /* its functions are the rank's own */
        return MPI_SUCCESS;
    }
    if (order->is_collective)
        return meet(self, p);
    io_pool_submit(&p->task);
    return MPI_SUCCESS;
}
