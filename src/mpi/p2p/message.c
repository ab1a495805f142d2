/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/message.h"

#include <string.h>

#include "mpi/p2p/offload.h"
#include "mpi/p2p/p2p_engine.h"
#include "mpi/p2p/remote.h"

_Static_assert((int)XY_MATCH_ANY_SOURCE == (int)MPI_ANY_SOURCE, "receives are matched as given");
_Static_assert((int)XY_MATCH_ANY_TAG == (int)MPI_ANY_TAG, "receives are matched as given");

const mpi_p2p_engine_t *mpi_p2p_engine;

/* Take a message from the worker's pool; ends the job without memory. */
static mpi_message_t *message_new(mpi_worker_t *worker)
{
    mpi_message_t *m = worker->free_messages;

    if (m != NULL) {
        worker->free_messages = m->next_free;
        return m;
    }
    m = xy_malloc(sizeof(*m));
    if (m == NULL) {
        xy_fail_memory("keeping a message that arrived before its receive");
        mpi_job->abort(1);
    }
    return m;
}

static void message_free(mpi_worker_t *worker, mpi_message_t *m)
{
    m->next_free = worker->free_messages;
    worker->free_messages = m;
}

__attribute__((noinline, cold)) void mpi_probers_ready(mpi_rank_t *rank)
{
    mpi_waiter_t *waiter = rank->probers;

    rank->probers = NULL;
    for (mpi_waiter_t *next; waiter != NULL; waiter = next) {
        next = waiter->next;
        xy_fiber_ready(waiter->fiber);
    }
}

/* The sender's rank in the job: the communicator is known by its context alone. */
static int sender_of(const mpi_rank_t *to, const xy_envelope_t *envelope)
{
    for (const mpi_comm_t *comm = to->comms; comm != NULL; comm = comm->next)
        if (comm->context == envelope->context && comm->mark == XMPI_COMM_LIVE)
            return mpi_comm_world_rank(comm, envelope->source);
    return -1;
}

static __attribute__((noinline)) void observe_unexpected(mpi_rank_t *to, const mpi_message_t *m)
{
    const xy_envelope_t *envelope = &m->entry.envelope;

    if (to->account != NULL && to->probers == &to->own)
        mpi_account_waited(to, XY_PART_LATE_SENDER, sender_of(to, envelope), m->site,
                           XMPI_ACCOUNT_ENTERED);
    if ((envelope->context & XMPI_CONTEXT_BITS) == 0 &&
        mpi_event_is_wanted(to, XMPI_EVENT_UNEXPECTED))
        mpi_event_tell(to, (mpi_event_t){XMPI_EVENT_UNEXPECTED, sender_of(to, envelope),
                                         envelope->tag, m->bytes});
}

static inline __attribute__((always_inline)) void keep(mpi_rank_t *to, mpi_message_t *m)
{
    m->to = to;
    xy_match_keep(&to->match, &m->entry);
    if (__builtin_expect(mpi_is_observed(to), 0))
        observe_unexpected(to, m);
    if (to->probers != NULL)
        mpi_probers_ready(to);
}

/* Into the trace: slow halves. */
static __attribute__((noinline, cold)) void
trace_sent(const mpi_rank_t *self, const mpi_transfer_t *t, int to, uint64_t bytes)
{
    mpi_trace_put_sent(self->trace, &(mpi_trace_message_t){.from = self->world,
                                                           .to = to,
                                                           .tag = t->tag,
                                                           .context = t->comm->context,
                                                           .bytes = bytes});
}

static __attribute__((noinline, cold)) void
trace_received(const mpi_request_t *receive, const xy_envelope_t *envelope, uint64_t bytes)
{
    const mpi_rank_t *owner = receive->owner;

    mpi_trace_put_received(
        owner->trace,
        &(mpi_trace_message_t){.from = mpi_comm_world_rank(receive->comm, envelope->source),
                               .to = owner->world,
                               .tag = envelope->tag,
                               .context = envelope->context,
                               .bytes = bytes});
}

/* The rank may be parked for this message. In virtual time the engine tells
 * (virtual/virtual_messages.c).
 */
static void account_received(const mpi_request_t *receive, const xy_envelope_t *envelope,
                             uint64_t bytes, const void *site)
{
    mpi_rank_t *owner = receive->owner;
    bool is_part = (envelope->context & XMPI_CONTEXT_BITS) == XMPI_CONTEXT_NEIGHBORS;

    if (envelope->context & XMPI_CONTEXT_SHADOW)
        return; /* inside a collective */
    if (receive->waiter == &owner->own || is_part) {
        mpi_account_bytes(owner, bytes);
        if (mpi_job->clock == NULL)
            mpi_account_waited(owner, XY_PART_LATE_SENDER,
                               mpi_comm_world_rank(receive->comm, envelope->source), site,
                               XMPI_ACCOUNT_ENTERED);
    } else if (receive->call.since == owner->call.since && receive->call.name == owner->call.name) {
        mpi_account_bytes(owner, bytes); /* it was there when the call came */
    }
}

/* Tell the observers of the owner that a message has met its receive. */
static __attribute__((noinline)) void observe_received(const mpi_request_t *receive,
                                                       const xy_envelope_t *envelope,
                                                       uint64_t bytes, const void *site)
{
    mpi_engine_meet(receive);
    if (receive->owner->account != NULL)
        account_received(receive, envelope, bytes, site);
    if (__builtin_expect(receive->owner->observed == XMPI_LOOK_ACCOUNT, 1))
        return;
    if (receive->owner->trace != NULL)
        trace_received(receive, envelope, bytes);
    if ((envelope->context & XMPI_CONTEXT_BITS) == 0)
        mpi_event_tell(receive->owner,
                       (mpi_event_t){XMPI_EVENT_RECEIVED,
                                     mpi_comm_world_rank(receive->comm, envelope->source),
                                     envelope->tag, bytes});
}

void mpi_receive_set(mpi_request_t *receive, const xy_envelope_t *envelope, uint64_t sent,
                     uint16_t signature, const void *site)
{
    receive->completion.source = envelope->source;
    receive->completion.tag = envelope->tag;
    receive->completion.bytes = sent;
    if (__builtin_expect(mpi_is_observed(receive->owner), 0))
        observe_received(receive, envelope, sent, site);
    if (sent > receive->bytes) {
        receive->completion.error = MPI_ERR_TRUNCATE;
        receive->completion.bytes = receive->bytes;
        receive->completion.truncated_bytes = sent - receive->bytes;
        receive->completion.sent_at = site;
    }
    if (__builtin_expect(signature != receive->type->signature, 0))
        mpi_receive_compare(receive, signature, site);
}

static inline void receive_packed(mpi_request_t *receive, const xy_envelope_t *envelope,
                                  const char *data, uint64_t bytes, uint16_t signature,
                                  const void *site)
{
    mpi_receive_set(receive, envelope, bytes, signature, site);
    bytes = receive->completion.bytes;
    if (bytes > 0 && mpi_type_is_contiguous(receive->type))
        mpi_move_out(receive->buffer, data, bytes);
    else if (bytes > 0)
        mpi_type_unpack(receive->buffer, receive->count, receive->type, data, 0, bytes);
    mpi_request_complete(receive);
}

void mpi_receive_packed(mpi_request_t *receive, const xy_envelope_t *envelope, const char *data,
                        uint64_t bytes, uint16_t signature, const void *site)
{
    receive_packed(receive, envelope, data, bytes, signature, site);
}

/* From the sender's buffer straight into the receiver's: both are in this address space. The
 * completion of the receive is known. */
void mpi_copy_message(mpi_request_t *receive, const void *buffer, int64_t count, mpi_type_t *type)
{
    uint64_t bytes = receive->completion.bytes;
    size_t copied;

    if (bytes > 0 && mpi_type_is_contiguous(receive->type) && mpi_type_is_contiguous(type))
        mpi_copy(receive->buffer, buffer, bytes);
    else if (bytes > 0)
        mpi_type_copy(receive->buffer, receive->count, receive->type, buffer, count, type, &copied);
}

/* A rendezvous meets its receive: copy, complete both. */
static void receive_rendezvous(mpi_worker_t *worker, mpi_request_t *receive,
                               const xy_envelope_t *envelope, mpi_request_t *sender, bool offload)
{
    mpi_receive_set(receive, envelope, sender->bytes, sender->type->signature, sender->call.caller);
    if (offload && mpi_offload_is_worth(worker, sender->bytes)) {
        mpi_offload_copy(worker, receive, sender);
        return;
    }
    mpi_copy_message(receive, sender->buffer, sender->count, sender->type);
    mpi_request_done(worker, sender);
    mpi_request_complete(receive);
}

static uint64_t transfer_bytes(const mpi_transfer_t *t)
{
    return (uint64_t)t->count * mpi_type_size(t->type);
}

static void pack(char *to, const mpi_transfer_t *t, uint64_t bytes)
{
    if (bytes == 0)
        return; /* the buffer may be NULL */
    if (mpi_type_is_contiguous(t->type))
        mpi_move_in(to, t->buffer, bytes);
    else
        mpi_type_pack(to, t->buffer, t->count, t->type, 0, bytes);
}

static char *buffer_or_abort(mpi_worker_t *worker, uint64_t bytes)
{
    char *buffer = mpi_buffer_take(worker, bytes);

    if (buffer == NULL) {
        xy_fail_memory("buffering a message");
        mpi_job->abort(1);
    }
    return buffer;
}

/* Does world rank `to` live on the worker of `self`? */
static inline bool is_near(const mpi_rank_t *self, int to)
{
    return mpi_job->home[to] == self->worker->index;
}

static inline bool is_remote(int to)
{
    return mpi_job->home[to] >= mpi_job->workers;
}

/* The sender may have returned: no handler can be called. */
void mpi_refuse_unready(const mpi_rank_t *to, int tag, const void *site)
{
    mpi_finding_t finding = {
        .kind = XMPI_FINDING_NOT_READY, .rank = to->world, .other = -1, .sites = {site}};
    char place[160];

    mpi_report_claim();
    mpi_caller_describe(site, place, sizeof(place));
    mpi_finding_end(
        &finding,
        "rank %d has no receive for a ready send with tag %d%s%s; post the receive before "
        "MPI_Rsend, or use MPI_Send",
        to->world, tag, place[0] != '\0' ? ", " : "", place);
    mpi_job->abort(1);
}

/* Small messages pay for every call: both ways are compiled into mpi_send_start. */
#define FAST static inline __attribute__((always_inline))

/* Same worker: the matching tables of the receiver are ours to touch. */
FAST bool send_near(mpi_rank_t *self, mpi_rank_t *to, const mpi_transfer_t *t, uint64_t bytes,
                    const xy_envelope_t *envelope, mpi_request_t *request, bool offload)
{
    xy_match_entry_t *entry = xy_match_arrive(&to->match, envelope);
    mpi_message_t *m;

    if (entry != NULL) {
        mpi_request_t *receive = (mpi_request_t *)entry;

        receive->is_posted = false;
        mpi_receive_set(receive, envelope, bytes, t->type->signature, self->call.caller);
        if (offload && mpi_offload_is_worth(self->worker, bytes)) {
            mpi_offload_copy(self->worker, receive, request);
            return false;
        }
        mpi_copy_message(receive, t->buffer, t->count, t->type);
        mpi_request_complete(receive);
        return true;
    }
    if (__builtin_expect(t->mode == XMPI_MODE_READY, 0))
        mpi_refuse_unready(to, t->tag, self->call.caller);
    m = message_new(self->worker);
    m->entry.envelope = *envelope;
    m->bytes = bytes;
    m->sender = NULL;
    m->site = self->call.caller;
    m->signature = t->type->signature;
    if (mpi_send_is_eager(t, bytes)) {
        m->data = bytes <= sizeof(m->small) ? m->small : buffer_or_abort(self->worker, bytes);
        pack(m->data, t, bytes);
        keep(to, m);
        self->worker->left_bytes += XY_MATCH_HEAD + bytes;
        return true;
    }
    m->sender = request;
    mpi_request_describe(request, t);
    keep(to, m);
    return false;
}

/* Marks of an eager packet: the bytes are in it, and `pointer` is the sender's call site. Otherwise
 * they are in the buffer `pointer`, and that is the first word. */
enum { EAGER_INSIDE = 1, MESSAGE_READY = 2 /* of a ready send */ };

static inline const void *site_of(const mpi_packet_t *packet)
{
    return packet->flags & EAGER_INSIDE ? packet->pointer
                                        : (const void *)(uintptr_t)packet->words[0];
}

/* ---- Offers ---- */

/* Offers of fewer bytes cost more than a buffer. A sender polls so often before it withdraws one;
 * then it offers nothing to this worker for some messages, whose number doubles each time. */
enum { OFFER_FROM = 2048, OFFER_POLLS = 64, OFFERS_OFF_LEAST = 8, OFFERS_OFF_MOST = 512 };

/* Words of the packet. The state decides a race: the receiver takes, or the sender withdraws. */
enum { OFFER_SITE, OFFER_STATE, OFFER_REQUEST, OFFER_BUFFER /* of one that was withdrawn */ };
enum { OFFER_OPEN, OFFER_TAKEN, OFFER_WITHDRAWN };

/* The state of an open offer is `state` from now on; false: it is not open any more. The release of
 * a withdrawal, with its buffer, pairs with the acquire of the receiver. */
static bool offer_become(mpi_packet_t *packet, uint64_t state)
{
    uint64_t open = OFFER_OPEN;

    return __atomic_compare_exchange_n(&packet->words[OFFER_STATE], &open, state, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Is an eager message to be offered first? Only while nothing else on this worker could run. */
static inline bool is_offered(mpi_worker_t *worker, int target, const mpi_transfer_t *t,
                              uint64_t bytes)
{
    mpi_ring_t *ring = worker->out[target];

    if (bytes < OFFER_FROM || !t->is_blocking || t->mode != XMPI_MODE_STANDARD ||
        mpi_p2p_engine != NULL || mpi_job->offloads || mpi_device_is_used || worker->spills > 0 ||
        !mpi_type_is_contiguous(t->type) || !mpi_ring_has_room(worker, target))
        return false;
    if (ring->offers_off == 0)
        return !xy_worker_has_ready(worker->base);
    ring->offers_off--;
    return false;
}

/* The receiver does not look: leave the message in a buffer. False: it is being taken. */
static bool withdraw(mpi_worker_t *worker, mpi_ring_t *ring, mpi_packet_t *packet,
                     const mpi_transfer_t *t, uint64_t bytes)
{
    char *buffer;

    if (__atomic_load_n(&packet->words[OFFER_STATE], __ATOMIC_RELAXED) != OFFER_OPEN)
        return false;
    buffer = buffer_or_abort(worker, bytes);
    pack(buffer, t, bytes);
    packet->words[OFFER_BUFFER] = (uint64_t)(uintptr_t)buffer;
    if (!offer_become(packet, OFFER_WITHDRAWN)) {
        mpi_buffer_give(worker, buffer);
        return false;
    }
    ring->offers_off = ring->offers_next > 0 ? ring->offers_next : OFFERS_OFF_LEAST;
    ring->offers_next =
        2 * ring->offers_off < OFFERS_OFF_MOST ? 2 * ring->offers_off : OFFERS_OFF_MOST;
    return true;
}

/* Offer a message, and wait for a short time. False: `request` completes later. */
static __attribute__((noinline)) bool send_offer(mpi_rank_t *self, int to, const mpi_transfer_t *t,
                                                 uint64_t bytes, const xy_envelope_t *envelope,
                                                 mpi_request_t *request)
{
    mpi_worker_t *worker = self->worker;
    int target = mpi_job->home[to];
    mpi_packet_t *packet = mpi_ring_reserve(worker, target);
    mpi_ring_t *ring = worker->out[target];
    uint32_t position = ring->tail;

    packet->kind = XMPI_PACKET_OFFER;
    packet->flags = 0;
    packet->to = to;
    packet->envelope = *envelope;
    packet->bytes = bytes;
    packet->signature = t->type->signature;
    packet->pointer = (void *)(uintptr_t)t->buffer;
    packet->words[OFFER_SITE] = (uint64_t)(uintptr_t)self->call.caller;
    packet->words[OFFER_STATE] = OFFER_OPEN;
    packet->words[OFFER_REQUEST] = (uint64_t)(uintptr_t)request;
    mpi_ring_commit(worker, target, packet);
    for (int polls = 0; polls < OFFER_POLLS && !request->is_done; polls++)
        mpi_poll(worker->base);
    if (request->is_done) {
        ring->offers_next = 0;
        return true;
    }
    /* With a lap behind it, the packet is another one: this one was taken. */
    if (ring->tail - position < XMPI_RING_PACKETS && withdraw(worker, ring, packet, t, bytes))
        return true;
    mpi_request_describe(request, t);
    return false;
}

FAST bool send_far(mpi_rank_t *self, int to, const mpi_transfer_t *t, uint64_t bytes,
                   const xy_envelope_t *envelope, mpi_request_t *request)
{
    mpi_worker_t *worker = self->worker;
    int target = mpi_job->home[to];
    bool eager = mpi_send_is_eager(t, bytes);
    char *buffer;
    mpi_packet_t *packet;

    if (eager && is_offered(worker, target, t, bytes))
        return send_offer(self, to, t, bytes, envelope, request);
    buffer = eager && bytes > XMPI_PACKET_INLINE ? buffer_or_abort(worker, bytes) : NULL;
    if (!eager)
        mpi_request_describe(request, t);
    else if (buffer != NULL)
        pack(buffer, t, bytes);
    packet = mpi_ring_reserve(worker, target);
    if (eager && buffer == NULL)
        pack(packet->data, t,
             bytes); /* first: the last stores are all to the line that is polled */
    packet->kind = eager ? XMPI_PACKET_EAGER : XMPI_PACKET_RTS;
    packet->to = to;
    packet->envelope = *envelope;
    packet->bytes = bytes;
    packet->signature = t->type->signature;
    if (eager && buffer == NULL) {
        packet->flags = EAGER_INSIDE;
        packet->pointer = (void *)(uintptr_t)self->call.caller;
    } else {
        packet->flags = 0;
        packet->pointer = eager ? (void *)buffer : (void *)request;
        packet->words[0] = (uint64_t)(uintptr_t)self->call.caller;
    }
    if (__builtin_expect(t->mode == XMPI_MODE_READY, 0))
        packet->flags |= MESSAGE_READY;
    mpi_ring_commit(worker, target, packet);
    if (__builtin_expect(self->gate != NULL, 0) && !eager && mpi_job->offloads)
        mpi_offload_match(worker, target);
    return eager;
}

FAST bool send(mpi_rank_t *self, int to, const mpi_transfer_t *t, uint64_t bytes,
               mpi_request_t *request, bool offload)
{
    xy_envelope_t envelope = {t->comm->context, t->comm->rank, t->tag};

    if (is_near(self, to))
        return send_near(self, &mpi_job->ranks[to], t, bytes, &envelope, request, offload);
    if (__builtin_expect(is_remote(to), 0))
        return mpi_remote_send(self, to, t, bytes, &envelope, request);
    return send_far(self, to, t, bytes, &envelope, request);
}

bool mpi_plain_send(mpi_rank_t *self, const mpi_transfer_t *t, uint64_t bytes,
                    mpi_request_t *request)
{
    return send(self, mpi_comm_world_rank(t->comm, t->peer), t, bytes, request, false);
}

/* Apart: in line it would cost those that are not watched their registers. */
static __attribute__((noinline)) void watch_send(mpi_rank_t *self, const mpi_transfer_t *t, int to,
                                                 uint64_t bytes)
{
    mpi_monitor_message(self, to, t->comm->context, bytes);
    if (__builtin_expect((self->watched & ~(XMPI_LOOK_ACCOUNT | XMPI_LOOK_COUNT)) == 0, 1)) {
        if ((t->comm->context & XMPI_CONTEXT_SHADOW) == 0)
            mpi_account_bytes(self, bytes);
        return;
    }
    if (self->trace != NULL)
        trace_sent(self, t, to, bytes);
    if ((t->comm->context & XMPI_CONTEXT_SHADOW) == 0)
        mpi_account_bytes(self, bytes);
    mpi_live_sent(self, 1, bytes);
    if ((t->comm->context & XMPI_CONTEXT_BITS) == 0)
        mpi_event_tell(self, (mpi_event_t){XMPI_EVENT_SENT, to, t->tag, bytes});
}

bool mpi_send_start(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request, bool offload)
{
    int to = mpi_comm_world_rank(t->comm, t->peer);
    uint64_t bytes = transfer_bytes(t);

    if (__builtin_expect(mpi_is_watched(self), 0))
        watch_send(self, t, to, bytes);
    if (__builtin_expect(mpi_p2p_engine != NULL, 0))
        return mpi_p2p_engine->send(self, t, bytes, request);
    return send(self, to, t, bytes, request, offload);
}

static int request_for(mpi_rank_t *self, mpi_request_kind_t kind, mpi_comm_t *comm,
                       mpi_request_t **request_p)
{
    *request_p = mpi_request_new(self, kind);
    if (*request_p != NULL)
        return MPI_SUCCESS;
    return mpi_error(comm, MPI_ERR_NO_MEM, "no memory for a request");
}

static void hold(mpi_request_t *request)
{
    mpi_comm_hold(request->comm);
    mpi_type_hold(request->type);
}

int mpi_isend(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t **request_p)
{
    int error = request_for(self, XMPI_KIND_SEND, t->comm, request_p);
    mpi_request_t *request = *request_p;

    if (error != MPI_SUCCESS)
        return error;
    mpi_request_describe(request, t);
    hold(request);
    if (t->peer == MPI_PROC_NULL) {
        request->is_done = true;
    } else if (mpi_send_start(self, t, request, mpi_job->offloads)) {
        request->is_done = true;
        mpi_send_throttle(self->worker);
    }
    return MPI_SUCCESS;
}

int mpi_irecv(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t **request_p)
{
    int error = request_for(self, XMPI_KIND_RECV, t->comm, request_p);
    mpi_request_t *request = *request_p;

    if (error != MPI_SUCCESS)
        return error;
    mpi_request_describe(request, t);
    hold(request);
    if (t->peer == MPI_PROC_NULL) {
        request->completion = mpi_completion_null_peer;
        request->is_done = true;
    } else {
        mpi_recv_start(self, t, request, mpi_job->offloads);
    }
    return MPI_SUCCESS;
}

static inline void receive_message(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *m,
                                   bool offload)
{
    if (m->sender == &mpi_remote_sender) {
        mpi_remote_receive(request, (remote_letter_t *)(void *)m->data);
    } else if (m->sender != NULL) {
        receive_rendezvous(self->worker, request, &m->entry.envelope, m->sender, offload);
    } else {
        receive_packed(request, &m->entry.envelope, m->data, m->bytes, m->signature, m->site);
        if (m->data != m->small)
            mpi_buffer_give(self->worker, m->data);
    }
    message_free(self->worker, m);
}

void mpi_plain_receive_message(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *m)
{
    receive_message(self, request, m, false);
}

void mpi_recv_message(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *m, bool offload)
{
    if (__builtin_expect(mpi_p2p_engine != NULL, 0))
        mpi_p2p_engine->receive_message(self, request, m);
    else
        receive_message(self, request, m, offload);
}

static inline void receive(mpi_rank_t *self, mpi_request_t *request, bool offload)
{
    xy_match_entry_t *found = xy_match_find(&self->match, &request->entry.envelope);

    if (found == NULL) {
        request->is_posted = true;
        xy_match_post(&self->match, &request->entry);
        return;
    }
    xy_match_drop(&self->match, found);
    request->entry.order = found->order; /* for request_wait.c */
    receive_message(self, request, (mpi_message_t *)found, offload);
}

void mpi_plain_receive(mpi_rank_t *self, mpi_request_t *request)
{
    receive(self, request, false);
}

void mpi_recv_start(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request, bool offload)
{
    mpi_request_describe(request, t);
    request->entry.envelope = (xy_envelope_t){t->comm->context, t->peer, t->tag};
    if (__builtin_expect(mpi_p2p_engine != NULL, 0)) {
        mpi_p2p_engine->receive(self, request);
        return;
    }
    receive(self, request, offload);
}

void mpi_message_keep_remote(mpi_worker_t *worker, mpi_rank_t *to, const xy_envelope_t *envelope,
                             uint64_t bytes, remote_letter_t *letter)
{
    mpi_message_t *m = message_new(worker);

    m->entry.envelope = *envelope;
    m->bytes = bytes;
    m->sender = &mpi_remote_sender;
    m->site = NULL;
    m->data = (char *)letter;
    keep(to, m);
}

void mpi_message_drop(mpi_worker_t *worker, mpi_rank_t *to, mpi_message_t *m)
{
    xy_match_drop(&to->match, &m->entry);
    message_free(worker, m);
}

void mpi_message_buffer(mpi_worker_t *worker, mpi_message_t *m)
{
    mpi_request_t *sender = m->sender;
    mpi_transfer_t t = {.buffer = sender->buffer, .count = sender->count, .type = sender->type};

    m->data = m->bytes <= sizeof(m->small) ? m->small : buffer_or_abort(worker, m->bytes);
    pack(m->data, &t, m->bytes);
    m->signature = sender->type->signature;
    m->sender = NULL;
    mpi_request_done(worker, sender);
}

void mpi_packet_eager(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    mpi_rank_t *to = &mpi_job->ranks[packet->to];
    xy_match_entry_t *entry = xy_match_arrive(&to->match, &packet->envelope);
    mpi_message_t *m;

    (void)from;
    if (entry != NULL) {
        mpi_request_t *receive = (mpi_request_t *)entry;

        receive->is_posted = false;
        if (packet->flags & EAGER_INSIDE) {
            receive_packed(receive, &packet->envelope, packet->data, packet->bytes,
                           packet->signature, packet->pointer);
            return;
        }
        receive_packed(receive, &packet->envelope, packet->pointer, packet->bytes,
                       packet->signature, site_of(packet));
        mpi_buffer_give(worker, packet->pointer);
        return;
    }
    if (__builtin_expect(packet->flags & MESSAGE_READY, 0) &&
        !mpi_engine_expects(to, &packet->envelope))
        mpi_refuse_unready(to, packet->envelope.tag, site_of(packet));
    m = message_new(worker);
    m->entry.envelope = packet->envelope;
    m->bytes = packet->bytes;
    m->sender = NULL;
    m->site = site_of(packet);
    m->signature = packet->signature;
    m->data = packet->pointer;
    if (packet->flags & EAGER_INSIDE) {
        m->data = m->small;
        memcpy(m->small, packet->data, packet->bytes);
    }
    keep(to, m);
}

/* A copy of what the sender of an offer has, for a receive to come. */
static char *copy_offer(mpi_worker_t *worker, const mpi_packet_t *packet)
{
    char *buffer = buffer_or_abort(worker, packet->bytes);

    memcpy(buffer, packet->pointer, packet->bytes);
    return buffer;
}

void mpi_packet_offer(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    mpi_rank_t *to = &mpi_job->ranks[packet->to];
    xy_match_entry_t *entry = xy_match_arrive(&to->match, &packet->envelope);
    bool is_taken = offer_become(packet, OFFER_TAKEN);
    char *data = is_taken ? packet->pointer : (char *)(uintptr_t)packet->words[OFFER_BUFFER];
    const void *site = (const void *)(uintptr_t)packet->words[OFFER_SITE];
    mpi_message_t *m;

    (void)from;
    if (entry != NULL) {
        mpi_request_t *receive = (mpi_request_t *)entry;

        receive->is_posted = false;
        receive_packed(receive, &packet->envelope, data, packet->bytes, packet->signature, site);
        if (!is_taken)
            mpi_buffer_give(worker, data);
    } else {
        m = message_new(worker);
        m->entry.envelope = packet->envelope;
        m->bytes = packet->bytes;
        m->sender = NULL;
        m->site = site;
        m->signature = packet->signature;
        m->data = is_taken ? copy_offer(worker, packet) : data;
        keep(to, m);
    }
    if (is_taken)
        mpi_request_done(worker, (mpi_request_t *)(uintptr_t)packet->words[OFFER_REQUEST]);
}

/* Handle the arrival of a large message: start its transfer if a receive waits, else keep the
 * message. */
static inline void take_rts(mpi_worker_t *worker, mpi_packet_t *packet, bool offload)
{
    mpi_rank_t *to = &mpi_job->ranks[packet->to];
    xy_match_entry_t *entry = xy_match_arrive(&to->match, &packet->envelope);
    mpi_message_t *m;

    if (entry != NULL) {
        mpi_request_t *receive = (mpi_request_t *)entry;
        xy_envelope_t envelope = packet->envelope;

        receive->is_posted = false;
        receive_rendezvous(worker, receive, &envelope, packet->pointer, offload);
        return;
    }
    if (__builtin_expect(packet->flags & MESSAGE_READY, 0) &&
        !mpi_engine_expects(to, &packet->envelope))
        mpi_refuse_unready(to, packet->envelope.tag, (const void *)(uintptr_t)packet->words[0]);
    m = message_new(worker);
    m->entry.envelope = packet->envelope;
    m->bytes = packet->bytes;
    m->sender = packet->pointer;
    m->site = (const void *)(uintptr_t)packet->words[0];
    keep(to, m);
}

void mpi_packet_rts(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    (void)from;
    take_rts(worker, packet, false);
}

void mpi_packet_rts_offload(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    (void)from;
    take_rts(worker, packet, true);
}

enum { DONE_CANCELLED = 1 };

void mpi_packet_done(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    mpi_request_t *request = packet->pointer;

    (void)worker;
    (void)from;
    request->completion.is_cancelled = packet->flags & DONE_CANCELLED;
    mpi_request_complete(request);
}

/* The message of `sender` among the unexpected of `to`; NULL: it was received. */
static mpi_message_t *find_unreceived(mpi_rank_t *to, const mpi_request_t *sender)
{
    for (xy_match_entry_t *e = to->match.first; e != NULL; e = e->list_next)
        if (((mpi_message_t *)e)->sender == sender)
            return (mpi_message_t *)e;
    return NULL;
}

static bool take_back(mpi_worker_t *worker, mpi_rank_t *to, const mpi_request_t *sender)
{
    mpi_message_t *m = find_unreceived(to, sender);

    if (m == NULL)
        return false;
    xy_match_drop(&to->match, &m->entry);
    message_free(worker, m);
    return true;
}

void mpi_packet_cancel(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    mpi_request_t *sender = packet->pointer;
    mpi_packet_t *answer;

    if (!take_back(worker, &mpi_job->ranks[packet->to], sender))
        return; /* received: its DONE is on the way or was handled */
    answer = mpi_ring_reserve(worker, from);
    answer->kind = XMPI_PACKET_DONE;
    answer->flags = DONE_CANCELLED;
    answer->pointer = sender;
    mpi_ring_commit(worker, from, answer);
}

/* Try to cancel a send: at once if the receiver is on this worker, else by a packet to it. */
static void cancel_send(mpi_rank_t *self, mpi_request_t *request)
{
    mpi_packet_t *packet;
    int to;

    /* One that was over at once has no communicator. */
    if (request->is_done)
        return;
    to = mpi_comm_world_rank(request->comm, request->peer);
    if (is_remote(to)) {
        mpi_remote_cancel(request);
        return;
    }
    if (is_near(self, to)) {
        if (take_back(self->worker, &mpi_job->ranks[to], request)) {
            request->completion.is_cancelled = true;
            mpi_request_complete(request);
        }
        return;
    }
    packet = mpi_ring_reserve(self->worker, mpi_job->home[to]);
    packet->kind = XMPI_PACKET_CANCEL;
    packet->to = to;
    packet->pointer = request;
    mpi_ring_commit(self->worker, mpi_job->home[to], packet);
}

void mpi_plain_cancel(mpi_rank_t *self, mpi_request_t *request)
{
    if (request->kind == XMPI_KIND_SEND) {
        cancel_send(self, request);
    } else if (request->is_posted) {
        xy_match_unpost(&self->match, &request->entry);
        request->is_posted = false;
        request->completion.is_cancelled = true;
        mpi_request_complete(request);
    }
}

/* In virtual time the engine has the data. */
static void drop(mpi_rank_t *rank, mpi_message_t *m)
{
    if (m->sender == &mpi_remote_sender)
        xy_free(m->data);
    else if (mpi_job->clock == NULL && m->sender == NULL && m->data != m->small)
        mpi_buffer_give(rank->worker, m->data);
    xy_free(m);
}

void mpi_messages_drop(mpi_rank_t *rank)
{
    for (xy_match_entry_t *e = rank->match.first, *next; e != NULL; e = next) {
        next = e->list_next;
        drop(rank, (mpi_message_t *)e);
    }
    for (mpi_message_t *m = rank->first_taken, *next; m != NULL; m = next) {
        next = m->next_taken;
        drop(rank, m);
    }
}

void mpi_messages_cleanup(mpi_job_t *job)
{
    for (int r = 0; r < job->size; r++)
        mpi_messages_drop(&job->ranks[r]);
    for (int w = 0; w < job->workers; w++)
        for (mpi_message_t *m = job->worker[w].free_messages, *next; m != NULL; m = next) {
            next = m->next_free;
            xy_free(m);
        }
}
