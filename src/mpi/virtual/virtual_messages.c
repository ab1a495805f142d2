/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages in virtual time. The simulated job matches; the data of a message is described by a
 * virtual_send_t, which lives until the message is received or dropped and its request is complete.
 * Where the sender may write to its buffer before the message is received, the data is kept in a
 * buffer; otherwise it goes straight from the sender's memory to the receiver's.
 */
#include <math.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/virtual/private.h"

enum { SMALL = 64, FEW = 16 };

typedef struct virtual_send {
    xy_envelope_t envelope; /* the source as a rank of the communicator */
    const void *buffer;
    int64_t count;
    mpi_type_t *type; /* held; NULL: the data is packed in `packed` */
    uint64_t bytes;
    const void *site; /* where the program called */
    uint16_t signature;
    char *packed;
    xy_vreq_t *request; /* NULL: the program has it no more */
    bool is_received;   /* or dropped */
    bool is_taken;      /* by MPI_Mprobe */
    int to;             /* a rank of the world */
    mpi_rank_t *from;
    uint64_t since;               /* when its call began, where time is counted */
    const mpi_request_t *sending; /* that the program may wait for; NULL: none */
    /* Among the free ones; among those to that rank that it has not received. */
    struct virtual_send *next, *previous;
    char small[SMALL];
} virtual_send_t;

static virtual_send_t *free_sends;

/* At the end of those to rank `to`. */
static void send_list(virtual_send_t *s, int to)
{
    virtual_rank_t *rank = &virtual.ranks[to];

    s->to = to;
    s->next = NULL;
    s->previous = rank->last_left;
    if (rank->last_left != NULL)
        rank->last_left->next = s;
    else
        rank->first_left = s;
    rank->last_left = s;
}

static void send_unlist(const virtual_send_t *s)
{
    virtual_rank_t *rank = &virtual.ranks[s->to];

    if (s->previous != NULL)
        s->previous->next = s->next;
    else
        rank->first_left = s->next;
    if (s->next != NULL)
        s->next->previous = s->previous;
    else
        rank->last_left = s->previous;
}

/* Create the description of a message; ends the job without memory. */
static virtual_send_t *send_new(const mpi_transfer_t *t, uint64_t bytes)
{
    virtual_send_t *s = free_sends;

    if (s != NULL) {
        free_sends = s->next;
    } else {
        s = xy_malloc(sizeof(*s));
        if (s == NULL) {
            xy_fail_memory("sending a message");
            virtual_fail();
        }
    }
    s->envelope = (xy_envelope_t){t->comm->context, t->comm->rank, t->tag};
    s->buffer = t->buffer;
    s->count = t->count;
    s->type = t->type;
    s->bytes = bytes;
    s->from = t->comm->owner;
    s->site = s->from->call.caller;
    s->signature = t->type->signature;
    s->packed = NULL;
    s->request = NULL;
    s->since = s->from->call.since;
    s->sending = NULL;
    s->is_received = s->is_taken = false;
    mpi_type_hold(t->type);
    send_list(s, mpi_comm_world_rank(t->comm, t->peer));
    return s;
}

static void send_free_if_over(virtual_send_t *s)
{
    if (s->request != NULL || !s->is_received)
        return;
    s->next = free_sends;
    free_sends = s;
}

/* The message has been received, or never will be. */
static void send_received(virtual_send_t *s)
{
    if (s->packed != NULL && s->packed != s->small)
        mpi_buffer_give(virtual.worker, s->packed);
    if (s->type != NULL)
        mpi_type_release(s->type);
    send_unlist(s);
    s->is_received = true;
    send_free_if_over(s);
}

/* ---- Callbacks of the job ---- */

/* The driver touches the memory of a rank: a fault there is one of the rank, in its call. */
static mpi_rank_t *act_for(mpi_rank_t *rank)
{
    mpi_rank_t *before = mpi_self;

    mpi_self = rank;
    return before;
}

void virtual_refuse_unready(void *owner, void *send_data)
{
    const virtual_send_t *s = send_data;

    (void)owner;
    mpi_refuse_unready(&mpi_job->ranks[s->to], s->envelope.tag, s->site);
}

void virtual_capture(void *owner, void *send_data)
{
    virtual_send_t *s = send_data;
    mpi_rank_t *before;

    (void)owner;
    if (s->packed != NULL)
        return;
    s->packed = s->bytes <= SMALL ? s->small : mpi_buffer_take(virtual.worker, s->bytes);
    if (s->packed == NULL) {
        xy_fail_memory("buffering a message");
        virtual_fail();
    }
    before = act_for(s->from);
    if (s->bytes > 0 && mpi_type_is_contiguous(s->type))
        mpi_move(s->packed, s->buffer, s->bytes);
    else if (s->bytes > 0)
        mpi_type_pack(s->packed, s->buffer, s->count, s->type, 0, s->bytes);
    mpi_self = before;
    mpi_type_release(s->type);
    s->type = NULL;
}

/* Attribute the wait of the sender or of the receiver: neither has continued yet. */
static void account(const virtual_send_t *s, const mpi_request_t *receive)
{
    mpi_rank_t *to = receive->owner, *from = s->from;

    if (receive->waiter == &to->own ||
        (s->envelope.context & XMPI_CONTEXT_BITS) == XMPI_CONTEXT_NEIGHBORS)
        mpi_account_waited(to, XY_PART_LATE_SENDER, from->world, s->site, s->since);
    if (s->sending != NULL && s->sending->waiter == &from->own)
        mpi_account_waited(from, XY_PART_LATE_RECEIVER, to->world, receive->call.caller,
                           receive->call.since);
}

void virtual_copy(void *owner, void *send_data, void *receive_data)
{
    virtual_send_t *s = send_data;
    mpi_request_t *receive = receive_data;
    mpi_rank_t *before;

    (void)owner;
    if (receive->owner->account != NULL)
        account(s, receive);
    mpi_receive_set(receive, &s->envelope, s->bytes, s->signature, s->site);
    before = act_for(receive->owner);
    if (s->packed == NULL)
        mpi_copy_message(receive, s->buffer, s->count, s->type);
    else if (receive->completion.bytes > 0)
        mpi_type_unpack(receive->buffer, receive->count, receive->type, s->packed, 0,
                        receive->completion.bytes);
    mpi_self = before;
    mpi_engine_arrive(receive);
    send_received(s);
    if (receive->is_freed && receive->engine == NULL) /* by the program: no call will ask for it */
        mpi_request_complete(receive);
}

void virtual_drop(void *owner, void *send_data)
{
    (void)owner;
    send_received(send_data);
}

/* The program has its buffer back. */
static void send_over(virtual_send_t *s, bool is_cancelled)
{
    if (is_cancelled && !s->is_received)
        send_received(s); /* as what was captured, which was dropped */
    xy_vjob_release(virtual.job, s->request);
    s->request = NULL;
    s->sending = NULL;
    if (!s->is_received)
        virtual_capture(NULL, s);
    send_free_if_over(s);
}

/* ---- Starting ---- */

static xy_vjob_mode_t mode_of(mpi_mode_t mode)
{
    static const xy_vjob_mode_t modes[] = {[XMPI_MODE_STANDARD] = XY_VJOB_STANDARD,
                                           [XMPI_MODE_SYNCHRONOUS] = XY_VJOB_SYNCHRONOUS,
                                           [XMPI_MODE_BUFFERED] = XY_VJOB_BUFFERED,
                                           [XMPI_MODE_READY] = XY_VJOB_READY};

    return modes[mode];
}

/* Where its data is, if the job may know: with models of all kernels a run takes to the last bit
 * what is predicted from the source, which does not tell. */
static uint64_t virtual_buffer(const mpi_transfer_t *t)
{
    return virtual.config->compute == VIRTUAL_COMPUTE_MODEL ? 0 : (uintptr_t)t->buffer;
}

/* Start a send in virtual time; true if it is complete. */
static bool start_send(mpi_rank_t *self, const mpi_transfer_t *t, uint64_t bytes,
                       mpi_request_t *request)
{
    xy_vjob_p2p_t p2p = {.context = t->comm->context,
                         .peer = mpi_comm_world_rank(t->comm, t->peer),
                         .tag = t->tag,
                         .mode = mode_of(t->mode),
                         /* a request is not described before it is started */
                         .is_blocking = request != NULL && request->type == NULL,
                         .bytes = bytes,
                         .buffer = virtual_buffer(t)};
    virtual_send_t *s = send_new(t, bytes);
    bool is_over;

    virtual_enter(self);
    s->request = xy_vjob_isend(virtual.job, virtual_number(self), &p2p, s);
    if (s->request == NULL)
        virtual_fail();
    is_over = request == NULL || xy_vjob_is_done(virtual.job, s->request);
    if (is_over) {
        send_over(s, false);
    } else {
        mpi_request_describe(request, t);
        request->engine = s;
        s->sending = request;
    }
    virtual_leave(self);
    return is_over;
}

static xy_vjob_p2p_t wanted(const xy_envelope_t *e, const mpi_comm_t *comm, uint64_t room)
{
    return (xy_vjob_p2p_t){
        .context = e->context,
        .peer = e->source == MPI_ANY_SOURCE ? XY_VJOB_ANY : mpi_comm_world_rank(comm, e->source),
        .tag = e->tag == MPI_ANY_TAG ? XY_VJOB_ANY : e->tag,
        .bytes = room};
}

static void start_receive(mpi_rank_t *self, mpi_request_t *request)
{
    xy_vjob_p2p_t p2p = wanted(&request->entry.envelope, request->comm, request->bytes);

    virtual.ranks[self->world].receives++;
    virtual_enter(self);
    request->engine = xy_vjob_irecv(virtual.job, virtual_number(self), &p2p, request);
    if (request->engine == NULL)
        virtual_fail();
    virtual_leave(self);
}

static void receive_message(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *message)
{
    virtual_enter(self);
    request->engine = xy_vjob_imrecv(virtual.job, virtual_number(self),
                                     (xy_vmsg_t *)(void *)message->data, request);
    if (request->engine == NULL)
        virtual_fail();
    xy_free(message);
    virtual_leave(self);
}

/* ---- Waiting ---- */

static bool is_pending(const mpi_request_t *request)
{
    return request != mpi_request_of(MPI_REQUEST_NULL) && request->is_active && !request->is_done;
}

static xy_vreq_t *vreq_of(const mpi_request_t *request)
{
    if (request->kind == XMPI_KIND_GENERALIZED)
        return NULL;
    if (request->kind == XMPI_KIND_COLL)
        return ((virtual_part_t *)request->engine)->request;
    if (request->kind == XMPI_KIND_SEND)
        return ((virtual_send_t *)request->engine)->request;
    return request->engine;
}

/* The job has it over: so is the request. */
static void finish(mpi_request_t *request)
{
    xy_vreq_t *over = vreq_of(request);
    xy_vjob_status_t status = {0};

    if (mpi_is_observed(request->owner) && request->waiter == &request->owner->own)
        mpi_request_account(request);
    request->waiter = NULL;
    if (request->kind == XMPI_KIND_COLL) {
        virtual_part_finish(request->engine);
    } else {
        xy_vjob_status(virtual.job, over, &status);
        request->completion.is_cancelled = status.is_cancelled;
    }
    if (request->kind == XMPI_KIND_SEND)
        send_over(request->engine, status.is_cancelled);
    else
        xy_vjob_release(virtual.job, over);
    request->engine = NULL;
    mpi_request_complete(request);
}

/* End the parts of a whole that are complete; the last one ends it. */
static void finish_parts(mpi_request_t **link)
{
    bool is_end;

    while (*link != NULL) {
        mpi_request_t *part = *link;

        if (!xy_vjob_is_done(virtual.job, vreq_of(part))) {
            link = &part->next_part;
            continue;
        }
        *link = part->next_part;
        is_end = *link == NULL;
        finish(part);
        if (is_end)
            return; /* the whole may be gone, and its list with it */
    }
}

/* Complete those of the requests that are done in the simulated job. */
static void sweep(mpi_request_t *const *requests, int count)
{
    for (int i = 0; i < count; i++) {
        mpi_request_t **parts;

        if (!is_pending(requests[i]))
            continue;
        parts = mpi_multi_request_parts(requests[i]);
        if (parts != NULL) {
            requests[i]->waiter = NULL;
            finish_parts(parts);
        } else if (vreq_of(requests[i]) != NULL &&
                   xy_vjob_is_done(virtual.job, vreq_of(requests[i]))) {
            finish(requests[i]);
        }
    }
}

/* The requests that the job has to wait for: a list that is on the stack as long as it is short. */
typedef struct {
    xy_vreq_t **all;
    size_t count, room;
    xy_vreq_t *few[FEW];
} list_t;

/* Append a simulated request to a list; NULL is ignored. Ends the job without memory. */
static void add(list_t *list, xy_vreq_t *request)
{
    if (request == NULL)
        return;
    if (list->count == list->room) {
        xy_vreq_t **more = xy_malloc(2 * list->room * sizeof(xy_vreq_t *));

        if (more == NULL) {
            xy_fail_memory("waiting for messages");
            virtual_fail();
        }
        memcpy(more, list->all, list->count * sizeof(*more));
        if (list->all != list->few)
            xy_free(list->all);
        list->all = more;
        list->room *= 2;
    }
    list->all[list->count++] = request;
}

/* Collect the simulated requests of all pending requests and their parts; the caller cleans up the
 * list. */
static void gather(list_t *list, mpi_request_t *const *requests, int count)
{
    list->all = list->few;
    list->count = 0;
    list->room = FEW;
    for (int i = 0; i < count; i++) {
        mpi_request_t **parts;

        if (!is_pending(requests[i]))
            continue;
        parts = mpi_multi_request_parts(requests[i]);
        if (parts == NULL)
            add(list, vreq_of(requests[i]));
        for (mpi_request_t *part = parts ? *parts : NULL; part != NULL; part = part->next_part)
            add(list, vreq_of(part));
    }
}

static void list_cleanup(list_t *list)
{
    if (list->all != list->few)
        xy_free(list->all);
}

static int count_pending(mpi_request_t *const *requests, int count)
{
    int pending = 0;

    for (int i = 0; i < count; i++)
        pending += is_pending(requests[i]);
    return pending;
}

/* A request of the program's own (MPI_Grequest_start) is complete when it says so: until then the
 * rank looks again and again, where it has threads that may say it. */
static bool has_own(const mpi_rank_t *self, mpi_request_t *const *requests, int count)
{
    for (int i = 0; i < count && self->thread_count > 0; i++)
        if (is_pending(requests[i]) && requests[i]->kind == XMPI_KIND_GENERALIZED)
            return true;
    return false;
}

/* A request that never completes: the rank waits for partitions that it has not marked, or for a
 * request of its own, and no other thread can end it. */
static xy_vreq_t *never(const mpi_rank_t *self)
{
    static const xy_vjob_p2p_t none = {.context = UINT32_MAX, .peer = XY_VJOB_ANY};
    xy_vreq_t *request = xy_vjob_irecv(virtual.job, virtual_number(self), &none, NULL);

    if (request == NULL)
        virtual_fail();
    return request;
}

/* A wait since `begin` for a request of the rank's own: the looks become rare. */
static void look_again(mpi_rank_t *self, double begin)
{
    double waited = xy_vjob_now(virtual.job, virtual_number(self)) - begin;

    if (!xy_vjob_sleep(virtual.job, virtual_number(self),
                       fmax(virtual.config->job.costs.test, waited / 1000)))
        virtual_give_way(self);
}

/* Wait in virtual time until all requests, or any of them, are complete. */
static void await_all(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    int most = any ? count_pending(requests, count) - 1 : 0; /* may be left */
    double begin = xy_vjob_now(virtual.job, virtual_number(self));
    list_t list;

    do {
        gather(&list, requests, count);
        if (list.count == 0 && !has_own(self, requests, count))
            add(&list, never(self));
        if (list.count == 0)
            look_again(self, begin);
        else if (!xy_vjob_wait(virtual.job, virtual_number(self), list.all, list.count,
                               any ? XY_VJOB_ONE : XY_VJOB_ALL))
            virtual_give_way(self);
        list_cleanup(&list);
        sweep(requests, count);
    } while (count_pending(requests, count) > most);
}

static void wait_for(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    virtual_enter(self);
    await_all(self, requests, count, any);
    self->waiter->count = 0;
    virtual_leave(self);
}

/* Test all requests, or any of them, and let virtual time pass if they are not complete. */
static void test_for(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    list_t list;

    mpi_polling_begin(self, requests, count, any);
    virtual_enter(self);
    gather(&list, requests, count);
    if (list.count == 0)
        virtual_look(self);
    else if (!xy_vjob_test(virtual.job, virtual_number(self), list.all, list.count,
                           any ? XY_VJOB_ONE : XY_VJOB_ALL))
        virtual_give_way(self);
    if (list.count > 0 && xy_vjob_flag(virtual.job, virtual_number(self)))
        sweep(requests, count);
    list_cleanup(&list);
    virtual_leave(self);
    mpi_polling_end(self);
}

/* ---- The rest ---- */

static void describe(mpi_message_t *m, const xy_vjob_status_t *status)
{
    const virtual_send_t *s = status->send_data;

    m->entry.envelope = s->envelope;
    m->bytes = s->bytes;
    m->site = s->site;
    m->sender = NULL;
}

/* Take a message that a probe has found out of the simulated job; ends the job without memory. */
static mpi_message_t *take(const mpi_rank_t *self, const xy_vjob_status_t *status)
{
    virtual_send_t *s = status->send_data;
    mpi_message_t *m = xy_malloc(sizeof(*m));

    if (m == NULL) {
        xy_fail_memory("taking a message");
        virtual_fail();
    }
    describe(m, status);
    s->is_taken = true;
    m->data = (char *)(void *)xy_vjob_taken(virtual.job, virtual_number(self));
    return m;
}

/* Begin to probe; the deadlock detection sees the rank among those that probe, or poll. */
static void probe_begin(mpi_rank_t *self, bool waits)
{
    if (!waits) {
        mpi_polling_begin(self, NULL, 0, false);
        return;
    }
    self->waiter->next = NULL;
    self->probers = self->waiter;
}

static void probe_end(mpi_rank_t *self, bool waits)
{
    if (!waits)
        mpi_polling_end(self);
    self->probers = NULL;
}

/* Probe for a message in virtual time; returns NULL if there is none, and takes it out if `takes`.
 */
static mpi_message_t *probe(mpi_rank_t *self, const xy_envelope_t *envelope, mpi_comm_t *comm,
                            bool waits, bool takes)
{
    xy_vjob_p2p_t p2p = wanted(envelope, comm, 0);
    mpi_message_t *found = NULL;
    xy_vjob_status_t status;

    probe_begin(self, waits);
    virtual_enter(self);
    if (!xy_vjob_probe(virtual.job, virtual_number(self), &p2p, waits, takes))
        virtual_give_way(self);
    probe_end(self, waits);
    if (xy_vjob_flag(virtual.job, virtual_number(self))) {
        const virtual_send_t *s;

        xy_vjob_found(virtual.job, virtual_number(self), &status);
        s = status.send_data;
        mpi_account_waited(self, XY_PART_LATE_SENDER, s->from->world, s->site, s->since);
        found = takes ? take(self, &status) : &virtual_turn(self)->found;
        if (!takes)
            describe(found, &status);
    }
    virtual_leave(self);
    return found;
}

static void cancel(mpi_rank_t *self, mpi_request_t *request)
{
    virtual_enter(self);
    if (!xy_vjob_cancel(virtual.job, virtual_number(self), vreq_of(request)))
        virtual_give_way(self);
    virtual_leave(self);
}

/* The program gave the handle up. Nothing of a send or of a one-sided operation is needed any more;
 * a receive ends when its data has come. */
static void free_request(mpi_request_t *request)
{
    if (request->kind == XMPI_KIND_COLL || request->kind == XMPI_KIND_GENERALIZED)
        return;
    if (request->kind == XMPI_KIND_SEND)
        send_over(request->engine, false);
    else
        xy_vjob_release(virtual.job, request->engine);
    request->engine = NULL;
    if (request->kind != XMPI_KIND_RECV)
        mpi_request_complete(request);
}

/* ---- What can come ---- */

bool mpi_virtual_is_quiet(const mpi_rank_t *rank)
{
    return xy_vjob_is_quiet(virtual.job, rank->world);
}

bool mpi_virtual_is_unmet(const mpi_request_t *request)
{
    return request->kind == XMPI_KIND_RECV && request->engine != NULL &&
           xy_vjob_is_unmet(request->engine);
}

void virtual_note_over(void)
{
    for (mpi_request_t *r = virtual.worker->all_requests; r != NULL; r = r->next_made) {
        bool is_message = r->kind == XMPI_KIND_SEND || r->kind == XMPI_KIND_RECV;

        if ((is_message || r->kind == XMPI_KIND_COLL) && is_pending(r) && r->engine != NULL &&
            vreq_of(r) != NULL && xy_vjob_is_done(virtual.job, vreq_of(r)))
            r->is_done = true;
    }
}

bool mpi_virtual_is_probing(const mpi_rank_t *rank)
{
    return xy_vjob_is_probing(virtual.job, rank->world);
}

uint64_t mpi_virtual_order(const mpi_rank_t *rank)
{
    return xy_vjob_incoming(virtual.job, rank->world) + virtual.ranks[rank->world].receives;
}

void mpi_virtual_each_unmet(const mpi_rank_t *rank, void (*found)(void *user, const void *message),
                            void *user)
{
    xy_vjob_each_unmet(virtual.job, rank->world, found, user);
}

void mpi_virtual_each_left(const mpi_rank_t *rank,
                           bool (*found)(void *user, const mpi_left_t *message), void *user)
{
    for (const virtual_send_t *s = virtual.ranks[rank->world].first_left; s != NULL; s = s->next) {
        mpi_left_t left = {s->envelope, s->bytes, s->site, NULL};

        if (!s->is_taken && !found(user, &left))
            return;
    }
}

const mpi_p2p_engine_t virtual_messages = {.send = start_send,
                                           .receive = start_receive,
                                           .receive_message = receive_message,
                                           .wait = wait_for,
                                           .test = test_for,
                                           .probe = probe,
                                           .cancel = cancel,
                                           .free = free_request};
