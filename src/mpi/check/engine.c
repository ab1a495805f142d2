/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/check/area.h"
#include "mpi/check/check.h"
#include "mpi/check/collectives.h"
#include "mpi/check/cores.h"
#include "mpi/check/elements.h"
#include "mpi/check/facts.h"
#include "mpi/check/guard.h"
#include "mpi/check/ignored.h"
#include "mpi/check/late.h"
#include "mpi/check/order.h"
#include "mpi/check/pending.h"
#include "mpi/check/wait.h"
#include "mpi/check/windows.h"

static double acted; /* when one has sent or received; where ranks are in several processes */
static uint64_t random_state;

/* Where no other engine moves messages: sends and receives are held up. The engine of virtual time
 * has an order of its own, in which they come. */
static const mpi_p2p_engine_t here;
static const mpi_p2p_engine_t *inner = &here;

/* Seconds without a message before a rank that polls may get its late ones, where ranks of other
 * processes may send more. */
#define PATIENCE 0.02

bool check_shuffles(void)
{
    return mpi_checks.shuffles;
}

unsigned check_random(unsigned limit)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(xy_hash_u64(random_state) % limit);
}

unsigned check_random_of(int rank, unsigned n, unsigned limit)
{
    uint64_t which = (uint64_t)(unsigned)rank << 32 | n;

    return (unsigned)(xy_hash_u64(mpi_checks.seed ^ xy_hash_u64(which)) % limit);
}

/* A message of the program, not of a collective or a window. */
static bool is_own(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    return self->call.name != NULL && comm->window == NULL &&
           (comm->context & XMPI_CONTEXT_BITS) == 0;
}

/* May sends and receives of the rank be held up? Threads that call MPI may move while all that is
 * counted here is parked. */
static bool is_held_up(const mpi_rank_t *self)
{
    return inner == &here && !check_has_threads(self);
}

/* The rank does something: others may have been faster. */
static void begin(mpi_rank_t *self)
{
    check_cores_act(self->worker);
    if (mpi_job->processes > 1)
        acted = xy_now();
    while (mpi_checks.shuffles && is_held_up(self) && check_random(2) == 0)
        xy_fiber_yield();
}

/* MPI_Send and its like: whether they wait for the receiver is up to the library. */
static bool is_standard(const mpi_rank_t *self, const mpi_transfer_t *t)
{
    return t->mode == XMPI_MODE_STANDARD && check_facts_of(self->call.name)->is_standard;
}

/* The receiver of a message; NULL: it is on another worker, or in another process. */
static mpi_rank_t *receiver_of(const mpi_rank_t *self, const mpi_transfer_t *t)
{
    int to = mpi_comm_world_rank(t->comm, t->peer);

    return mpi_job->home[to] == self->worker->index ? &mpi_job->ranks[to] : NULL;
}

static mpi_mode_t mode_of(const mpi_rank_t *self, const mpi_transfer_t *t)
{
    const mpi_rank_t *to = receiver_of(self, t);
    xy_envelope_t envelope = {t->comm->context, t->comm->rank, t->tag};

    if (mpi_checks.sends && is_standard(self, t) && is_held_up(self))
        return XMPI_MODE_SYNCHRONOUS;
    if (t->mode == XMPI_MODE_READY && to != NULL && check_late_takes(to, &envelope))
        return XMPI_MODE_SYNCHRONOUS; /* the receive is there */
    return t->mode;
}

/* The buffer of the message that begins next on this thread is known: it is part of a request for
 * several. */
static _Thread_local bool is_part;
static _Thread_local const void *part_buffer; /* may be MPI_BOTTOM */

static const void *start_part(mpi_request_t *whole, const mpi_transfer_t *t, bool is_receive)
{
    const void *buffer = t->buffer;

    if (!mpi_checks.buffers)
        return buffer;
    buffer = check_pending_part(whole->owner, t, whole, is_receive);
    is_part = true;
    part_buffer = buffer;
    return buffer;
}

/* A partition has arrived. */
static void end_part(const mpi_request_t *whole, const void *buffer)
{
    if (mpi_checks.buffers)
        check_pending_part_over(whole, buffer);
}

static bool takes_buffer(const void *buffer)
{
    bool is_known = is_part && part_buffer == buffer;

    is_part = false;
    return mpi_checks.buffers && !is_known;
}

/* A message for the rank has come, on its worker. */
static void arrive_at(mpi_rank_t *rank)
{
    if (mpi_checks.buffers)
        check_pending_arrive(rank);
    if (mpi_checks.wildcards)
        check_late_arrive(rank);
}

/* Start a send in checked runs: note its buffer and look for conflicts; true if it is complete. */
static bool start_send(mpi_rank_t *self, const mpi_transfer_t *t, uint64_t bytes,
                       mpi_request_t *request)
{
    bool looks = takes_buffer(t->buffer), is_done;
    mpi_rank_t *to = receiver_of(self, t);
    mpi_transfer_t mine = *t;

    if (mpi_checks.windows || mpi_checks.buffers)
        check_order_send(mpi_comm_world_rank(t->comm, t->peer));
    if (!is_own(self, t->comm))
        return inner->send(self, t, bytes, request);
    begin(self);
    mine.mode = request != NULL ? mode_of(self, t) : t->mode;
    if (looks)
        check_pending_start(self, t, request, false);
    is_done = inner->send(self, &mine, bytes, request);
    if (request != NULL)
        request->mode = t->mode; /* the program's mode: see check_engine_is_forced */
    if (to != NULL)
        arrive_at(to);
    return is_done;
}

/* Start a receive in checked runs; one from any source may be held back to see all its candidates.
 */
static void start_receive(mpi_rank_t *self, mpi_request_t *request)
{
    mpi_transfer_t t = {.buffer = request->buffer, .count = request->count, .type = request->type};
    bool looks = takes_buffer(request->buffer);

    if (!is_own(self, request->comm)) {
        inner->receive(self, request);
        return;
    }
    begin(self);
    if (looks)
        check_pending_start(self, &t, request, true);
    if (mpi_checks.wildcards && is_held_up(self) && check_late_receive(self, request)) {
        check_late_arrive(self);
        return;
    }
    inner->receive(self, request);
    if (mpi_checks.buffers)
        check_pending_arrive(self);
}

/* Receive a probed message in checked runs. */
static void receive_message(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *message)
{
    mpi_transfer_t t = {.buffer = request->buffer, .count = request->count, .type = request->type};

    begin(self);
    if (mpi_checks.buffers)
        check_pending_start(self, &t, request, true);
    inner->receive_message(self, request, message);
    if (mpi_checks.buffers)
        check_pending_arrive(self);
}

static void wait(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    if (mpi_checks.buffers)
        check_pending_look(self);
    inner->wait(self, requests, count, any);
}

/* Wait for ranks of other processes, whose calls are not seen here? They get some time. */
static bool is_patient(void)
{
    return mpi_job->processes <= 1 || xy_now() > acted + PATIENCE;
}

/* One late receive gets its message: of a rank of the worker, if all of the workers before it, from
 * number `first` on, have none that could. */
static bool match_one(const mpi_worker_t *worker, int first)
{
    for (int w = first; w < check_cores_count(); w++) {
        if (check_cores_has_late(w) == 0)
            continue;
        if (w != worker->index)
            return check_cores_order(w, (check_order_t){CHECK_ORDER_MATCH_ANY, 0});
        if (check_late_match(worker, &(bool){false})) {
            check_cores_act(worker);
            return true;
        }
    }
    return false;
}

/* Ranks that poll are never parked: when all have looked in vain it is time for late receives. What
 * the checks do meanwhile is no work of the rank (polling.h). */
static void look(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    mpi_polling_begin(self, requests, count, any);
    xy_fiber_yield();
    if (check_cores_look(self->worker) && is_patient())
        match_one(self->worker, 0);
    mpi_polling_end(self);
}

static void test(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    if (mpi_checks.buffers)
        check_pending_look(self);
    inner->test(self, requests, count, any);
}

/* Where there are no late receives, as without --check. */
static mpi_message_t *probe_at_once(mpi_rank_t *self, const xy_envelope_t *envelope, bool waits)
{
    mpi_message_t *m = (mpi_message_t *)xy_match_find(&self->match, envelope);

    if (m != NULL)
        return m;
    mpi_request_before_wait(self, NULL, 0);
    if (!waits)
        look(self, NULL, 0, false);
    while ((m = (mpi_message_t *)xy_match_find(&self->match, envelope)) == NULL && waits) {
        self->waiter->next = self->probers;
        self->probers = self->waiter;
        xy_fiber_park();
    }
    return m;
}

static mpi_message_t *probe_late(mpi_rank_t *self, const xy_envelope_t *envelope, bool waits)
{
    mpi_message_t *m = check_late_probe(self, envelope, false);

    if (m != NULL && !(waits && envelope->source == MPI_ANY_SOURCE))
        return m;
    mpi_request_before_wait(self, NULL, 0);
    if (!waits)
        look(self, NULL, 0, false);
    return check_late_probe(self, envelope, waits);
}

static mpi_message_t *probe_here(mpi_rank_t *self, const xy_envelope_t *envelope, mpi_comm_t *comm,
                                 bool waits, bool takes)
{
    mpi_message_t *m = mpi_checks.wildcards && is_held_up(self)
                           ? probe_late(self, envelope, waits)
                           : probe_at_once(self, envelope, waits);

    (void)comm;
    if (m != NULL && takes)
        xy_match_drop(&self->match, &m->entry);
    return m;
}

static mpi_message_t *probe(mpi_rank_t *self, const xy_envelope_t *envelope, mpi_comm_t *comm,
                            bool waits, bool takes)
{
    return inner->probe(self, envelope, comm, waits, takes);
}

static void wait_here(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    (void)self;
    (void)requests;
    (void)count;
    (void)any;
    xy_fiber_park();
}

static void cancel_here(mpi_rank_t *self, mpi_request_t *request)
{
    if (!check_late_cancel(self, request))
        mpi_plain_cancel(self, request);
}

static void cancel(mpi_rank_t *self, mpi_request_t *request)
{
    inner->cancel(self, request);
}

/* It ends by itself. */
static void free_here(mpi_request_t *request)
{
    (void)request;
}

static void free_request(mpi_request_t *request)
{
    check_pending_forget(request);
    inner->free(request);
}

static const mpi_p2p_engine_t here = {.send = mpi_plain_send,
                                      .receive = mpi_plain_receive,
                                      .receive_message = mpi_plain_receive_message,
                                      .wait = wait_here,
                                      .test = look,
                                      .probe = probe_here,
                                      .cancel = cancel_here,
                                      .free = free_here};

/* ---- Other workers and processes ---- */

static void touch(const void *buffer, int64_t count, mpi_type_t *type)
{
    check_area_t area = check_area_make(buffer, count, type);

    if (mpi_job->processes > 1)
        acted = xy_now();
    if (area.low != area.high)
        check_guard_lift_all(area.low, area.high);
}

static void meet(const mpi_request_t *receive)
{
    if (mpi_checks.buffers)
        check_pending_meet(receive);
}

static void arrive(const mpi_request_t *receive)
{
    if (mpi_checks.buffers)
        check_pending_arrived(receive);
}

/* Packets with messages, as message.c handles them, and then the receives that they have met; also
 * at the gate, where large copies are not left to others: a buffer is not written to while its rank
 * looks at it. */
static void take_eager(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    mpi_packet_eager(worker, from, packet);
    arrive_at(&mpi_job->ranks[packet->to]);
}

static void take_rts(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    mpi_packet_rts(worker, from, packet);
    arrive_at(&mpi_job->ranks[packet->to]);
}

static void watch_packets(void)
{
    mpi_dispatch.packet[XMPI_PACKET_EAGER] = mpi_dispatch.gate_packet[XMPI_PACKET_EAGER] =
        take_eager;
    mpi_dispatch.packet[XMPI_PACKET_RTS] = mpi_dispatch.gate_packet[XMPI_PACKET_RTS] = take_rts;
}

static const mpi_p2p_engine_t engine = {.send = start_send,
                                        .receive = start_receive,
                                        .receive_message = receive_message,
                                        .wait = wait,
                                        .test = test,
                                        .probe = probe,
                                        .cancel = cancel,
                                        .free = free_request,
                                        .finish = check_pending_finish,
                                        .part = start_part,
                                        .part_over = end_part,
                                        .expects = check_late_takes,
                                        .touch = touch,
                                        .meet = meet,
                                        .arrive = arrive};

/* ---- No rank can move ---- */

/* Findings that count only if the program gets to its end this way: else it is a deadlock. */
static struct {
    mpi_finding_t finding;
    char text[900];
} held[16];
static int held_count;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

bool check_engine_is_forced(const mpi_request_t *sender)
{
    return sender != NULL && inner == &here && sender->mode == XMPI_MODE_STANDARD &&
           sender->waiter != NULL && sender->bytes <= mpi_job->eager_limit &&
           is_own(sender->owner, sender->comm);
}

/* Find a message to one rank that is forced; `stuck`: of these senders, or NULL. On its worker, or
 * while that sleeps. */
static mpi_message_t *find_forced_to(const mpi_rank_t *rank, const bool *stuck)
{
    for (xy_match_entry_t *e = rank->match.first; e != NULL; e = e->list_next) {
        const mpi_request_t *sender = ((mpi_message_t *)e)->sender;

        if (check_engine_is_forced(sender) && (stuck == NULL || stuck[sender->owner->world]))
            return (mpi_message_t *)e;
    }
    return NULL;
}

static bool is_held(const mpi_finding_t *f)
{
    for (int i = 0; i < held_count; i++)
        if (held[i].finding.rank == f->rank && held[i].finding.sites[0] == f->sites[0])
            return true;
    return held_count == (int)(sizeof(held) / sizeof(held[0]));
}

/* `known`: why no rank can move; NULL: it is to be seen here. */
static void hold(const mpi_request_t *sender, const mpi_rank_t *receiver, const char *known)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_NEEDS_BUFFERING,
                             .rank = sender->owner->world,
                             .other = receiver->world,
                             .sites = {sender->call.caller, receiver->call.caller}};
    char cause[640] = "", site[160];
    bool is_known;

    pthread_mutex_lock(&held_lock);
    is_known = is_held(&finding);
    pthread_mutex_unlock(&held_lock);
    if (is_known)
        return;
    if (known == NULL)
        mpi_job_explain(mpi_job, cause, sizeof(cause));
    else
        snprintf(cause, sizeof(cause), "%s", known);
    mpi_caller_describe(sender->call.caller, site, sizeof(site));
    pthread_mutex_lock(&held_lock);
    if (!is_held(&finding)) {
        held[held_count].finding = finding;
        snprintf(held[held_count++].text, sizeof(held[0].text),
                 "%s%s%s works only because messages are buffered%s%s", sender->call.name,
                 site[0] != '\0' ? " " : "", site, cause[0] != '\0' ? "; without that, " : "",
                 cause);
    }
    pthread_mutex_unlock(&held_lock);
}

/* A send to another process that a rank waits for only here, and its receiver. */
static const mpi_request_t *find_forced_far(const mpi_rank_t **receiver_p)
{
    for (int r = 0; r < mpi_job->size && mpi_job->processes > 1; r++) {
        const mpi_rank_t *rank = &mpi_job->ranks[r];
        check_wait_t wait;

        if (!mpi_rank_is_here(mpi_job, r) || rank->worker == NULL || !check_is_waiting(rank))
            continue;
        for (int i = 0; i < mpi_waiter_requests(&rank->own); i++) {
            int to = check_wait_of(rank, i, &wait) && wait.kind == CHECK_WAIT_SEND
                         ? mpi_comm_world_rank(wait.comm, wait.peer)
                         : -1;

            if (to < 0 || mpi_rank_is_here(mpi_job, to) ||
                !mpi_remote_is_eager(wait.request->bytes) || wait.request->kind != XMPI_KIND_SEND ||
                !check_engine_is_forced(wait.request))
                continue;
            *receiver_p = &mpi_job->ranks[to];
            return wait.request;
        }
    }
    return NULL;
}

static bool release_far(const char *cause)
{
    const mpi_rank_t *receiver;
    const mpi_request_t *sender = find_forced_far(&receiver);

    if (sender == NULL)
        return false;
    hold(sender, receiver, cause);
    mpi_remote_release(sender);
    return true;
}

/* On the worker of the receiver. True: a rank can move now, or perhaps one of another worker. */
static bool let_go(mpi_message_t *m)
{
    const mpi_rank_t *owner = m->sender->owner;
    const mpi_waiter_t *waiter = m->sender->waiter;

    mpi_message_buffer(m->to->worker, m);
    return owner->worker != m->to->worker || waiter->count == 0;
}

/* A send that waits only here is let go; `worker` NULL: by an order to the worker of its receiver,
 * while all sleep. */
static bool release_send(const mpi_worker_t *worker, const bool *stuck, const char *cause,
                         bool *readies_p)
{
    for (int r = 0; r < mpi_job->size; r++) {
        bool is_here = worker != NULL && mpi_job->home[r] == worker->index;
        mpi_message_t *m =
            is_here || worker == NULL ? find_forced_to(&mpi_job->ranks[r], stuck) : NULL;

        if (m == NULL)
            continue;
        hold(m->sender, m->to, cause);
        *readies_p =
            is_here ? let_go(m)
                    : check_cores_order(mpi_job->home[r], (check_order_t){CHECK_ORDER_RELEASE, r});
        return true;
    }
    return false;
}

bool check_engine_release(const mpi_worker_t *worker, const bool *stuck, const char *cause)
{
    return release_send(worker, stuck, cause, &(bool){false}) ||
           (mpi_job->processes > 1 && release_far(cause));
}

/* Any of several processes that lets something continue may wake a rank of another one. */
static bool revive_here(const mpi_worker_t *worker, mpi_revive_t what, const char *cause)
{
    bool is_ready = false, is_done = false;

    check_cores_act(worker);
    while (!is_ready &&
           (((what & XMPI_REVIVE_RECEIVES) && check_late_match(worker, &is_ready)) ||
            ((what & XMPI_REVIVE_SENDS) && release_send(worker, NULL, cause, &is_ready))))
        is_done = true;
    if (!is_ready && (what & XMPI_REVIVE_SENDS))
        is_done |= release_far(cause);
    return is_ready || (is_done && mpi_job->processes > 1);
}

/* On the worker that sleeps last, or on a visitor's thread: the others sleep until the order. */
static bool revive_elsewhere(void)
{
    for (int r = 0; r < mpi_job->size; r++)
        if (check_late_can_match(&mpi_job->ranks[r])) {
            check_cores_order(mpi_job->home[r], (check_order_t){CHECK_ORDER_MATCH, r});
            return true;
        }
    return release_send(NULL, NULL, NULL, &(bool){false});
}

static bool revive(mpi_revive_t what, const char *cause)
{
    /* A communication core may be the last to sleep. */
    return mpi_job->workers > 1 ? revive_elsewhere()
                                : revive_here(&mpi_job->worker[0], what, cause);
}

bool check_engine_serve(const mpi_worker_t *worker)
{
    bool is_done = false, is_ready;
    check_order_t order;
    mpi_message_t *m;

    while (check_cores_take(worker, &order)) {
        is_done = true;
        if (order.kind == CHECK_ORDER_MATCH) {
            check_late_match_of(&mpi_job->ranks[order.rank], &is_ready);
        } else if (order.kind == CHECK_ORDER_MATCH_ANY) {
            match_one(worker, worker->index);
        } else {
            m = find_forced_to(&mpi_job->ranks[order.rank], NULL);
            if (m != NULL)
                let_go(m);
        }
    }
    return is_done;
}

static void give_up(void)
{
    pthread_mutex_lock(&held_lock);
    held_count = 0;
    pthread_mutex_unlock(&held_lock);
}

static void explain(char *cause, size_t room)
{
    mpi_job_explain(mpi_job, cause, room);
}

const mpi_reviver_t mpi_check_reviver = {.revive = revive, .give_up = give_up, .explain = explain};

void check_engine_finish(void)
{
    pthread_mutex_lock(&held_lock);
    for (int i = 0; i < held_count; i++)
        mpi_finding_add(&held[i].finding, "%s", held[i].text);
    held_count = 0;
    pthread_mutex_unlock(&held_lock);
    check_ignored_finish();
}

xy_status_t check_engine_begin(int ranks)
{
    xy_status_t st = check_pending_begin(ranks);

    if (st == XY_OK)
        st = check_elements_begin(ranks);
    if (st == XY_OK)
        st = check_late_begin(ranks);
    if (st == XY_OK)
        st = check_cores_begin();
    if (st != XY_OK)
        return st;
    if (mpi_checks.windows || mpi_checks.buffers)
        st = check_order_begin(ranks);
    if (mpi_checks.buffers || mpi_checks.windows)
        check_collectives_begin();
    if (mpi_checks.errors)
        check_ignored_begin();
    random_state = mpi_checks.seed + (uint64_t)mpi_job->process * UINT64_C(0x9e3779b97f4a7c15);
    if (mpi_p2p_engine != NULL)
        inner = mpi_p2p_engine;
    mpi_p2p_engine = &engine;
    if (inner == &here)
        watch_packets();
    return st;
}
