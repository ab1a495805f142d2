/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/p2p_engine.h"

#include <stdio.h>
#include <string.h>

#include "mpi/p2p/partitioned.h"
#include "mpi/p2p/polling.h"
#include "mpi/p2p/survive.h"

void mpi_request_init(mpi_request_t *request, mpi_rank_t *self, mpi_request_kind_t kind)
{
    request->kind = kind;
    request->mode = XMPI_MODE_STANDARD;
    request->is_done = false;
    request->is_persistent = false;
    request->is_active = true;
    request->is_posted = false;
    request->is_freed = false;
    request->is_message = false;
    request->owner = self;
    request->waiter = NULL;
    request->comm = NULL;
    request->type = NULL;
    request->completion = (mpi_completion_t){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    request->start = NULL;
    request->release = NULL;
    request->extra = NULL;
}

mpi_request_t *mpi_request_new(mpi_rank_t *self, mpi_request_kind_t kind)
{
    mpi_request_t *request = self->worker->free_requests;

    if (request != NULL) {
        self->worker->free_requests = request->next_free;
    } else {
        request = xy_malloc(sizeof(*request));
        if (request == NULL) {
            xy_fail_memory("making a request");
            return NULL;
        }
        request->next_made = self->worker->all_requests;
        self->worker->all_requests = request;
    }
    mpi_request_init(request, self, kind);
    return request;
}

void mpi_request_free(mpi_request_t *request)
{
    mpi_worker_t *worker = request->owner->worker;

    if (request->release != NULL)
        request->release(request);
    if (request->type != NULL)
        mpi_type_release(request->type);
    if (request->comm != NULL)
        mpi_comm_release(request->comm);
    request->is_active = false;
    request->is_persistent = false; /* a copy of the handle is that of no request any more */
    request->next_free = worker->free_requests;
    worker->free_requests = request;
}

void mpi_request_describe(mpi_request_t *request, const mpi_transfer_t *t)
{
    request->buffer = (void *)(uintptr_t)t->buffer;
    request->count = t->count;
    request->type = t->type;
    request->bytes = (uint64_t)t->count * mpi_type_size(t->type);
    request->peer = t->peer;
    request->tag = t->tag;
    request->comm = t->comm;
    request->mode = t->mode;
    request->call = request->owner->call;
}

void mpi_request_account(const mpi_request_t *request)
{
    mpi_rank_t *owner = request->owner;

    if (owner->account == NULL)
        return;
    if (request->kind == XMPI_KIND_SEND && request->comm != NULL && mpi_job->clock == NULL)
        mpi_account_waited(owner, XY_PART_LATE_RECEIVER,
                           mpi_comm_world_rank(request->comm, request->peer), NULL,
                           XMPI_ACCOUNT_ENTERED);
    if (request->kind == XMPI_KIND_COLL)
        mpi_account_met(owner, request->buffer);
    mpi_account_ready(owner);
}

/* The same as below, apart from it: what is not observed needs no frame. */
static __attribute__((noinline)) void complete_observed(mpi_request_t *request,
                                                        mpi_waiter_t *waiter)
{
    if (waiter == &request->owner->own)
        mpi_request_account(request);
    if (--waiter->count == 0)
        xy_fiber_ready(waiter->fiber);
}

void mpi_request_complete(mpi_request_t *request)
{
    mpi_waiter_t *waiter = request->waiter;

    request->is_done = true;
    if (waiter != NULL) {
        request->waiter = NULL;
        if (__builtin_expect(mpi_is_observed(request->owner), 0))
            complete_observed(request, waiter);
        else if (--waiter->count == 0)
            xy_fiber_ready(waiter->fiber);
    } else if (request->is_freed) {
        mpi_request_free(request);
    }
}

void mpi_request_done(mpi_worker_t *worker, mpi_request_t *request)
{
    int home = mpi_job->home[request->owner->world];
    mpi_packet_t *packet;

    if (home == worker->index) {
        mpi_request_complete(request);
        return;
    }
    packet = mpi_ring_reserve(worker, home);
    packet->kind = XMPI_PACKET_DONE;
    packet->flags = 0;
    packet->pointer = request;
    mpi_ring_commit(worker, home, packet);
}

static __attribute__((noinline)) void park_observed(mpi_rank_t *self, mpi_request_t *const *request)
{
    mpi_account_park(self);
    if (mpi_p2p_engine != NULL)
        mpi_p2p_engine->wait(self, request, 1, false);
    else
        xy_fiber_park();
    mpi_account_resume(self);
}

void mpi_request_wait(mpi_rank_t *self, mpi_request_t *request)
{
    mpi_waiter_t *waiter = self->waiter;

    mpi_request_before_wait(self, &request, 1);
    if (request->is_done)
        return;
    request->waiter = waiter;
    waiter->count = 1;
    waiter->waits = &request;
    waiter->waits_count = 1;
    if (__builtin_expect(mpi_is_observed(self), 0))
        park_observed(self, &request);
    else if (__builtin_expect(mpi_p2p_engine != NULL, 0))
        mpi_p2p_engine->wait(self, &request, 1, false);
    else
        xy_fiber_park();
}

static mpi_request_t *find_pending(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    mpi_request_t *request = self->worker->all_requests;

    while (request != NULL &&
           (!request->is_active || request->owner != self || request->comm != comm ||
            request->is_done || request->waiter != NULL))
        request = request->next_made;
    return request;
}

void mpi_requests_wait_on(mpi_rank_t *self, const mpi_comm_t *comm)
{
    mpi_request_t *request;

    while ((request = find_pending(self, comm)) != NULL) {
        mpi_request_wait(self, request);
        if (request->is_freed)
            mpi_request_free(request);
    }
}

void mpi_request_look(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    mpi_request_before_wait(self, NULL, 0);
    if (mpi_p2p_engine != NULL) {
        mpi_p2p_engine->test(self, requests, count, any);
        return;
    }
    mpi_polling_begin(self, requests, count, any);
    xy_fiber_yield();
    mpi_polling_end(self);
}

void mpi_status_set(MPI_Status *status, const mpi_completion_t *completion)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = completion->source;
    status->MPI_TAG = completion->tag;
    mpi_status_set_bytes(status, completion->bytes);
    mpi_status_set_cancelled(status, completion->is_cancelled);
}

void mpi_status_set_empty(MPI_Status *status)
{
    static const mpi_completion_t empty = {.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};

    mpi_status_set(status, &empty);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}

/* " (MPI_Irecv at ring.c:12, sent at ring.c:9)": what the call that finds it does not know. */
static void describe_places(const mpi_request_t *request, char *text, size_t size)
{
    const mpi_call_t *now = &request->owner->call;
    char receive[160] = "", sent[128] = "";

    text[0] = '\0';
    if (!mpi_error_is_fatal(request->comm)) /* and not shown */
        return;
    if (request->call.caller != now->caller)
        mpi_caller_describe(request->call.caller, receive, sizeof(receive));
    mpi_caller_describe(request->completion.sent_at, sent, sizeof(sent));
    if (receive[0] != '\0' && sent[0] != '\0')
        snprintf(text, size, " (%s%s %s, sent %s)", mpi_call_start_of(request->call.name),
                 request->call.name, receive, sent);
    else if (receive[0] != '\0')
        snprintf(text, size, " (%s%s %s)", mpi_call_start_of(request->call.name),
                 request->call.name, receive);
    else if (sent[0] != '\0')
        snprintf(text, size, " (sent %s)", sent);
}

int mpi_request_raise(const mpi_request_t *request)
{
    const mpi_completion_t *o = &request->completion;
    char peer[XMPI_RANK_TEXT], places[384], tag[32] = "";

    if (o->error == MPI_SUCCESS)
        return MPI_SUCCESS;
    if (request->kind == XMPI_KIND_FILE)
        return mpi_error(request->comm, o->error, "%s", *(const char *const *)request->extra);
    if (mpi_request_is_partitioned(request))
        return mpi_partitioned_raise(request);
    if (o->error == MPIX_ERR_PROC_FAILED_PENDING && !mpi_survive_is_kept(request))
        return mpi_survive_raise(request->comm, MPIX_ERR_PROC_FAILED);
    if (mpi_survive_is_class(o->error))
        return mpi_survive_raise(request->comm, o->error);
    if (o->error != MPI_ERR_TRUNCATE && o->error != MPI_ERR_TYPE)
        return mpi_error(request->comm, o->error, "the operation failed");
    describe_places(request, places, sizeof(places));
    if (o->error == MPI_ERR_TYPE)
        return mpi_error(request->comm, MPI_ERR_TYPE,
                         "the message from %s has %llu bytes of other elements, which end within "
                         "an element of the receive%s; give the same types in both",
                         mpi_comm_describe_rank(request->comm, o->source, peer),
                         (unsigned long long)o->bytes, places);
    if (strstr(request->call.name, "eighbor") == NULL) /* those use tags of the library */
        snprintf(tag, sizeof(tag), " with tag %d", o->tag);
    return mpi_error(request->comm, MPI_ERR_TRUNCATE,
                     "the message from %s%s has %llu bytes; the receive has room for %llu%s",
                     mpi_comm_describe_rank(request->comm, o->source, peer), tag,
                     (unsigned long long)o->bytes + o->truncated_bytes,
                     (unsigned long long)o->bytes, places);
}

int mpi_request_refuse_over(MPI_Request handle)
{
    const mpi_call_t *call = &mpi_request_of(handle)->call;
    char place[160];

    mpi_caller_describe(call->caller, place, sizeof(place));
    return mpi_error(NULL, MPI_ERR_REQUEST,
                     "the request was completed or freed before; it was that of %s%s%s", call->name,
                     place[0] != '\0' ? " " : "", place);
}

int mpi_request_refuse_waiter(const mpi_request_t *request)
{
    char place[160];

    mpi_caller_describe(request->call.caller, place, sizeof(place));
    return mpi_error(request->comm, MPI_ERR_REQUEST,
                     "the request of %s%s%s%s is waited for already, by another thread or earlier "
                     "in the list of requests; one call completes a request",
                     mpi_call_start_of(request->call.name), request->call.name,
                     place[0] != '\0' ? " " : "", place);
}

int mpi_request_finish(MPI_Request *handle, MPI_Status *status, bool raise)
{
    mpi_request_t *request = mpi_request_of(*handle);
    bool is_generalized = request->kind == XMPI_KIND_GENERALIZED;
    int error = request->completion.error;

    if (__builtin_expect(error == MPIX_ERR_PROC_FAILED_PENDING, 0)) {
        if (!mpi_survive_again(request) && request->completion.error == error)
            return raise ? mpi_request_raise(request) : error;
        error = request->completion.error;
    }
    if (is_generalized)
        error = mpi_grequest_finish(request, status);
    else
        mpi_status_set(status, &request->completion);
    if (raise && error != MPI_SUCCESS)
        error = is_generalized ? mpi_grequest_raise(error) : mpi_request_raise(request);
    mpi_engine_finish(request);
    if (request->is_persistent) {
        request->is_active = false;
        return error;
    }
    mpi_request_free(request);
    *handle = MPI_REQUEST_NULL;
    return error;
}

void mpi_requests_cleanup(mpi_job_t *job)
{
    for (int w = 0; w < job->workers; w++)
        for (mpi_request_t *r = job->worker[w].free_requests, *next; r != NULL; r = next) {
            next = r->next_free;
            xy_free(r);
        }
}
