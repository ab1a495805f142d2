/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct collectives: see coll.h. Those that are a star: star.c. */
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/interprocess.h"
#include "mpi/coll/star.h"

/* The work since the last begin was on a collective of `local`, wherever that is. */
static inline void trace_flight(mpi_trace_t *trace, const coll_local_t *local,
                                const coll_slot_t *slot)
{
    if (__builtin_expect(trace != NULL, 0))
        mpi_trace_put_message(trace, local->worker, slot->bytes * (uint64_t)local->coll->size);
}

static coll_slot_t *slot_of(coll_local_t *local, uint64_t seq)
{
    return &local->slots[seq % COLL_SLOTS];
}

bool coll_claim_at(const coll_local_t *local, int i, uint64_t *number_p, coll_claim_t *claim_p)
{
    const coll_slot_t *slot;

    if (i >= COLL_SLOTS)
        return coll_star_claim(local, i - COLL_SLOTS, number_p, claim_p);
    slot = &local->slots[i];
    *number_p = coll_number_of(slot->seq, slot->mode);
    *claim_p = coll_claim_make(slot->kind, slot->agreed, slot->root, slot->first, slot->mode);
    return slot->kind != NULL;
}

/* Another collective of the local group with this number, if there is one, is reported. */
static void compare_open(const coll_local_t *local, uint64_t number, const coll_claim_t *claim)
{
    int slots = COLL_SLOTS + (local->open_stars > 0 ? STAR_SLOTS : 0);
    uint64_t other_number;
    coll_claim_t other;

    for (int i = 0; i < slots; i++)
        if (coll_claim_at(local, i, &other_number, &other) && other.rank != claim->rank &&
            coll_is_same_number(other_number, number))
            coll_disagree(local->coll, number, &other, claim);
}

/* Has a rank of `local` called collective `number` without data? */
static void compare_empty(const coll_local_t *local, uint64_t number, const coll_claim_t *claim)
{
    coll_claim_t empty = {.kind = atomic_load_explicit(&local->empty_kind, memory_order_relaxed),
                          .root = atomic_load_explicit(&local->empty_root, memory_order_relaxed),
                          .rank = atomic_load_explicit(&local->empty_rank, memory_order_relaxed),
                          .how = claim->how,
                          .what = claim->what};

    if (empty.kind != NULL &&
        coll_is_same_number(atomic_load_explicit(&local->empty_number, memory_order_relaxed),
                            number))
        coll_disagree(local->coll, number, &empty, claim);
}

void coll_compare_empty(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *claim)
{
    for (int p = 0; p < coll->locals; p++)
        compare_empty(coll->local[p], number, claim);
}

void coll_compare_others(coll_local_t *local, uint64_t number, const coll_claim_t *star)
{
    /* acquire: pairs with the release of the engine that counted one up. */
    if (atomic_load_explicit(&local->coll->open_schedules, memory_order_acquire) != 0)
        coll_compare_scheduled(local->coll, number, star);
    if (slot_of(local, local->finished)->kind != NULL)
        compare_open(local, number, star);
    compare_empty(local, number, star);
}

/* Collective `number` of claim `a` is none of this kind for the rank of `b`: what is it? */
static void compare_earlier(coll_local_t *local, uint64_t number, const coll_claim_t *a,
                            const coll_claim_t *b)
{
    if (coll_engine_scheduled() != NULL)
        coll_compare_scheduled(local->coll, number, a);
    compare_empty(local->coll->local[local->coll->local_of[b->rank]], number, a);
    compare_open(local, number, a);
}

void coll_differ(coll_local_t *local, uint64_t seq, const coll_claim_t *a, uint32_t mode_a,
                 const coll_claim_t *b, uint32_t mode_b)
{
    uint64_t number_a = coll_number_of(seq, mode_a), number_b = coll_number_of(seq, mode_b);

    if (coll_is_before(number_a, number_b)) {
        compare_earlier(local, number_a, a, b);
        coll_disagree_unseen(local->coll, number_a, a, b->rank);
    } else if (coll_is_before(number_b, number_a)) {
        compare_earlier(local, number_b, b, a);
        coll_disagree_unseen(local->coll, number_b, b, a->rank);
    } else {
        coll_disagree(local->coll, number_a, a, b);
    }
}

/* The first to come did not know the root: the others of the root's group on an intercommunicator.
 */
static void learn_root(coll_slot_t *slot, const coll_claim_t *claim)
{
    if (slot->root >= 0)
        return;
    slot->root = claim->root;
    slot->first = claim->rank;
    slot->agreed = claim->agreed;
    slot->bytes = coll_agreed_bytes(claim->agreed);
}

/* The first of a collective, while others are under way in the other engines. */
static __attribute__((noinline, cold)) void compare_first(coll_local_t *local, coll_slot_t *slot)
{
    coll_claim_t claim =
        coll_claim_make(slot->kind, slot->agreed, slot->root, slot->first, slot->mode);
    uint64_t number = coll_number_of(slot->seq, slot->mode);

    compare_open(local, number, &claim);
    if (coll_engine_scheduled() != NULL)
        coll_compare_scheduled(local->coll, number, &claim);
}

/* A call that is not the same as the first. Differences are reported one by one, so that an equal
 * call needs no memory for them. */
static __attribute__((noinline, cold)) void compare_other(coll_local_t *local, coll_slot_t *slot,
                                                          int rank, const coll_ops_t *kind,
                                                          uint32_t mode, int root, uint64_t agreed)
{
    coll_claim_t first =
        coll_claim_make(slot->kind, slot->agreed, slot->root, slot->first, slot->mode);
    coll_claim_t claim = coll_claim_make(kind, agreed, root, rank, mode);

    if (mode == slot->mode &&
        coll_claims_agree(local->coll, coll_number_of(slot->seq, mode), &first, &claim))
        learn_root(slot, &claim);
    else
        coll_differ(local, slot->seq, &first, slot->mode, &claim, mode);
}

/* A member of this local group or of another is in this collective: the first sets what it is, the
 * others must agree. */
static inline __attribute__((always_inline)) void note_call(coll_local_t *local, coll_slot_t *slot,
                                                            int rank, const coll_ops_t *kind,
                                                            uint32_t mode, int root,
                                                            uint64_t agreed)
{
    if (slot->kind == NULL) {
        slot->kind = kind;
        slot->mode = mode;
        slot->root = root;
        slot->first = rank;
        slot->agreed = agreed;
        slot->bytes = coll_agreed_bytes(agreed);
        /* acquire: pairs with the release of the engine that counted one up. */
        if (__builtin_expect(
                local->open_stars == 0 &&
                    atomic_load_explicit(&local->coll->open_schedules, memory_order_acquire) == 0,
                1))
            return;
        compare_first(local, slot);
    } else if (slot->kind != kind || slot->mode != mode || slot->root != root ||
               slot->agreed != agreed) {
        compare_other(local, slot, rank, kind, mode, root, agreed);
    }
}

void coll_leave_empty(coll_call_t *call)
{
    mpi_coll_t *coll = call->comm->coll;
    coll_local_t *local = coll->local[coll->local_of[call->rank]];
    coll_claim_t claim = coll_claim_of(call);

    call->comm->apart++;
    compare_open(local, call->number, &claim);
    if (mpi_job->clock != NULL)
        coll_compare_scheduled(coll, call->number, &claim);
    atomic_store_explicit(&local->empty_kind, call->kind, memory_order_relaxed);
    atomic_store_explicit(&local->empty_number, call->number, memory_order_relaxed);
    atomic_store_explicit(&local->empty_root, call->root, memory_order_relaxed);
    atomic_store_explicit(&local->empty_rank, call->rank, memory_order_relaxed);
}

void coll_direct_compare(const coll_call_t *call)
{
    mpi_coll_t *coll = call->comm->coll;
    coll_claim_t claim = coll_claim_of(call);

    compare_open(coll->local[coll->local_of[call->rank]], call->number, &claim);
}

/* To local group `to`, or to the progress worker when that is -1. */
static void send_packet(coll_local_t *local, const coll_slot_t *slot, int worker, int to, int phase,
                        int round)
{
    mpi_coll_t *coll = local->coll;
    mpi_packet_t *packet = mpi_ring_reserve(local->worker, worker);

    packet->kind = XMPI_PACKET_COLL;
    packet->step = (uint16_t)(phase << 8 | round);
    packet->to = to;
    packet->pointer = coll;
    packet->bytes = slot->seq;
    packet->envelope =
        (xy_envelope_t){.context = slot->mode, .source = slot->first, .tag = slot->root};
    packet->words[0] = (uint64_t)(uintptr_t)slot->kind;
    packet->words[1] = slot->agreed;
    if (coll->locals == 2)
        memcpy(&packet->words[2], slot->data,
               sizeof(slot->piggyback)); /* still in the first line */
    mpi_ring_commit(local->worker, worker, packet);
}

static void send_round(coll_local_t *local, const coll_slot_t *slot, int phase, int round)
{
    int to = (int)((local->index + (1L << round)) % local->coll->locals);

    send_packet(local, slot, local->coll->worker_of[to], to, phase, round);
}

/* Continue a dissemination; true: every local group has been heard of. */
static inline __attribute__((always_inline)) bool sync_step(coll_local_t *local, coll_slot_t *slot,
                                                            int phase)
{
    while (slot->round < local->coll->rounds && slot->rounds_received[phase] & 1u << slot->round) {
        slot->round++;
        if (slot->round < local->coll->rounds)
            send_round(local, slot, phase, slot->round);
    }
    return slot->round == local->coll->rounds;
}

static void sync_begin(coll_local_t *local, coll_slot_t *slot, int phase)
{
    slot->round = 0;
    if (local->coll->rounds > 0)
        send_round(local, slot, phase, 0);
}

/* The end of one that the first local group has done, as a binomial tree from there. True: this
 * group has heard of it, and has told those behind it; nobody waits for the slowest. */
static bool let_go(coll_local_t *local, coll_slot_t *slot)
{
    int index = local->index, round = 0;

    while (1L << round <= index)
        round++;
    if (index != 0 && !(slot->rounds_received[1] & 1u << (round - 1)))
        return false;
    for (; index + (1L << round) < local->coll->locals; round++)
        send_round(local, slot, 1, round);
    return true;
}

/* All local groups have arrived. An offloaded one keeps its slot as it is until it is returned, so
 * reading it is safe. */
static void compare_offloaded(mpi_coll_t *coll, uint64_t seq)
{
    for (int p = 1; p < coll->locals; p++) {
        const coll_slot_t *other = slot_of(coll->local[p], seq);

        note_call(coll->local[0], slot_of(coll->local[0], seq), other->first, other->kind,
                  other->mode, other->root, other->agreed);
    }
}

static void send_return(mpi_worker_t *worker, mpi_coll_t *coll, int p, uint64_t seq)
{
    int to = coll->worker_of[p];
    mpi_packet_t *packet = mpi_ring_reserve(worker, to);

    packet->kind = XMPI_PACKET_COLL;
    packet->step = COLL_PHASE_RETURN << 8;
    packet->to = p;
    packet->pointer = coll;
    packet->bytes = seq;
    mpi_ring_commit(worker, to, packet);
}

/* A barrier has no work that a communication core could do: the last local group to arrive ends it.
 */
static void return_all(coll_local_t *local, coll_slot_t *slot)
{
    mpi_coll_t *coll = local->coll;

    compare_offloaded(coll, slot->seq);
    for (int p = 0; p < coll->locals; p++)
        if (p != local->index)
            send_return(local->worker, coll, p, slot->seq);
    slot->is_returned = true;
}

/* The last local group to arrive notifies the progress worker, which gets one packet, not one from
 * each. acq_rel: what the others left in their slots comes with the packet. */
static void offload(coll_local_t *local, coll_slot_t *slot)
{
    mpi_coll_t *coll = local->coll;
    _Atomic int *arrivals = &coll->offload_arrivals[slot->seq % COLL_SLOTS];

    if (atomic_fetch_add_explicit(arrivals, 1, memory_order_acq_rel) + 1 < coll->locals)
        return;
    atomic_store_explicit(arrivals, 0, memory_order_relaxed);
    if (slot->kind->piece == NULL)
        return_all(local, slot);
    else
        send_packet(local, slot, coll->progress_worker, -1, COLL_PHASE_OFFLOAD, 0);
}

/* All members have come to this collective, so they have called all those before it: a star that
 * lacks one of them was something else for it. */
static void compare_left(coll_local_t *local, const coll_slot_t *slot)
{
    coll_claim_t claim = coll_claim_of(slot->calls[0]), left;
    uint64_t number = coll_number_of(slot->seq, slot->mode);

    while (coll_star_lacks(local, number, &number, &left)) {
        compare_empty(local, number, &left);
        coll_disagree(local->coll, number, &left, &claim);
    }
}

/* All members of the local group have come: prepare the collective and begin the entry barrier or
 * the offload. */
static void post_arrival(coll_local_t *local, coll_slot_t *slot)
{
    const coll_ops_t *kind = slot->kind;

    if (local->open_stars > 0)
        compare_left(local, slot);
    if (local->worker->owing != NULL)
        coll_star_answer(local->worker);
    if (kind->prepare != NULL && kind->prepare(local, slot) != XY_OK) {
        xy_fail_memory("preparing a collective");
        mpi_job->abort(1);
    }
    if (__builtin_expect(atomic_load_explicit(&mpi_job->is_monitored, memory_order_relaxed), 0))
        coll_count_messages(local, slot);
    slot->is_returned = false;
    if (slot->is_offloaded) {
        slot->state = COLL_OFFLOADED;
        offload(local, slot);
    } else {
        slot->state = COLL_ENTRY_BARRIER;
        sync_begin(local, slot, 0);
    }
}

static void complete_call(coll_local_t *local, coll_call_t *call)
{
    mpi_request_t *request = call->request;

    call->request = NULL;
    if (call->copy != NULL)
        coll_copy_put(local, call);
    mpi_request_complete(request);
}

/* Members whose buffers no other member needs return; the others wait for the exit barrier. */
static void release_early(coll_local_t *local, coll_slot_t *slot)
{
    const coll_ops_t *kind = slot->kind;

    if (kind->may_return_early == NULL)
        return;
    /* A member that leaves may free the communicator, and the last packet of the exit barrier is
     * still to come. */
    slot->is_held = true;
    mpi_coll_hold(local->coll);
    for (int m = 0; m < local->members; m++)
        if (kind->may_return_early(slot->calls[m])) {
            coll_call_t *call = slot->calls[m];

            slot->calls[m] = NULL;
            complete_call(local, call);
        }
}

static void take_backlog(coll_local_t *local);

/* The slot is ready for its next collective before any rank is woken. */
static void finish(coll_local_t *local, coll_slot_t *slot, const coll_ops_t *kind)
{
    if (kind->finish != NULL)
        kind->finish(local, slot);
    for (int m = 0; m < local->members; m++)
        if (slot->calls[m] != NULL)
            complete_call(local, slot->calls[m]);
    if (slot->is_held)
        local->unheld++;
    slot->is_held = false;
    slot->seq += COLL_SLOTS;
    slot->kind = NULL;
    slot->state = COLL_ARRIVING;
    slot->arrived = 0;
    slot->rounds_received[0] = slot->rounds_received[1] = 0;
    local->finished++;
    take_backlog(local);
}

/* Operations of the program run on a worker of its ranks, never elsewhere: they may use what is
 * private to a rank. */
static bool runs_program_code(const coll_call_t *call)
{
    return call->op != NULL && !call->op->is_predefined;
}

typedef struct {
    coll_local_t *local;
    coll_slot_t *slot;
} job_t;

static void job_piece(void *arg, int64_t piece)
{
    const job_t *job = arg;

    job->slot->kind->piece(job->local, job->slot, piece);
}

/* So little that to offer the pieces to other workers takes longer than to do them: each worker has
 * pieces of its own, and all begin at the same time. */
static bool is_short(const coll_local_t *local, const coll_slot_t *slot, int64_t pieces)
{
    enum { SHORT = 16 << 10 }; /* bytes */
    uint64_t piece = slot->bytes * (slot->kind->is_rooted ? 1 : (uint64_t)local->coll->size);

    return slot->kind->is_sized && piece <= SHORT && piece * (uint64_t)pieces <= SHORT;
}

/* Do the pieces of the local group, with the help of idle workers unless they are short or run
 * program code. */
static void coll_work(coll_local_t *local, coll_slot_t *slot)
{
    const coll_ops_t *kind = slot->kind;
    job_t job = {local, slot};
    mpi_trace_state_t before;
    int64_t pieces;

    if (kind->piece == NULL)
        return;
    pieces = kind->pieces ? kind->pieces(local, slot) : 1;
    slot->is_streamed = coll_is_streamed(pieces * local->coll->locals);
    before = mpi_trace_begin(local->worker->trace, kind->name);
    if (!kind->stays && !is_short(local, slot, pieces) && !runs_program_code(slot->calls[0]))
        mpi_parallel_run(job_piece, &job, pieces);
    else
        for (int64_t i = 0; i < pieces; i++)
            job_piece(&job, i);
    if (slot->calls[0]->how != COLL_BLOCKING)
        trace_flight(local->worker->trace, local, slot);
    mpi_trace_end(local->worker->trace, before);
}

/* One step of a collective that all members of the local group have called; false: it has to wait.
 */
static bool advance_called(coll_local_t *local, coll_slot_t *slot)
{
    const coll_ops_t *kind;

    if (slot->state == COLL_ARRIVING) {
        if (slot->seq >= local->finished + COLL_AHEAD)
            return false;
        post_arrival(local, slot);
    }
    kind = slot->kind;
    if (slot->state == COLL_OFFLOADED) {
        if (!slot->is_returned || slot->seq != local->finished)
            return false;
        finish(local, slot, kind);
        return true;
    }
    if (slot->state == COLL_ENTRY_BARRIER) {
        if (!sync_step(local, slot, 0))
            return false;
        /* Announced ahead of its turn: the work waits for the collectives before it. */
        if (slot->seq != local->finished)
            return false;
        if (!kind->is_led || local->index == 0)
            coll_work(local, slot);
        if (kind->needs_exit_barrier == NULL || !kind->needs_exit_barrier(slot)) {
            finish(local, slot, kind);
            return true;
        }
        slot->state = COLL_EXIT_BARRIER;
        if (!kind->is_led)
            sync_begin(local, slot, 1);
        release_early(local, slot);
    }
    if (!(kind->is_led ? let_go(local, slot) : sync_step(local, slot, 1)))
        return false;
    finish(local, slot, kind);
    return true;
}

/* The same for any: most that are looked at lack a member. */
static inline bool advance_one(coll_local_t *local, coll_slot_t *slot)
{
    return (slot->state != COLL_ARRIVING || slot->arrived == local->members) &&
           advance_called(local, slot);
}

void coll_local_drop(coll_local_t *local)
{
    mpi_coll_t *coll = local->coll;
    int n = local->unheld;

    if (n == 0 || local->is_moving || local->star_steps > 0)
        return;
    if (coll_star_owes(local)) {
        coll_star_answer(local->worker); /* and comes back here */
        return;
    }
    if (local->open_stars > 0)
        return;
    local->unheld = 0;
    for (; n > 0; n--)
        mpi_coll_release(coll);
}

void coll_local_release(coll_local_t *local)
{
    local->unheld++;
    coll_local_drop(local);
}

/* Do all that can be done. A handler that runs inside (a full ring is polled) leaves its news to
 * the loop of the outer call. */
static void advance(coll_local_t *local)
{
    local->has_news = true;
    if (local->is_moving)
        return;
    local->is_moving = true;
    while (local->has_news) {
        local->has_news = false;
        while (advance_one(local, slot_of(local, local->finished)))
            continue;
        for (uint64_t s = local->finished + 1; s < local->finished + COLL_AHEAD; s++)
            advance_one(local, slot_of(local, s));
    }
    local->is_moving = false;
    coll_local_drop(local);
}

static inline void store_call(coll_local_t *local, coll_slot_t *slot, coll_call_t *call)
{
    int place = local->coll->place_of[call->rank];

    note_call(local, slot, call->rank, call->kind, call->mode, call->root, call->agreed);
    slot->calls[place] = call;
    slot->is_offloaded = call->how != COLL_BLOCKING && local->coll->progress_worker >= 0 &&
                         !call->kind->stays && !runs_program_code(call);
    slot->arrived++;
}

/* Move calls from the backlog to slots that have become free. */
static void take_backlog(coll_local_t *local)
{
    coll_call_t **link = &local->backlog;

    while (*link != NULL) {
        coll_call_t *call = *link;

        if (call->seq < local->finished + COLL_SLOTS) {
            *link = call->next;
            store_call(local, slot_of(local, call->seq), call);
        } else {
            link = &call->next;
        }
    }
}

/* Store a member's call in its slot, or in the backlog if the slot is still in use. */
static inline void arrive(coll_local_t *local, coll_call_t *call)
{
    call->seq = call->number - call->comm->apart;
    call->mode = coll_mode(call, call->comm->apart);
    call->next = NULL;
    if (call->seq < local->finished + COLL_SLOTS) {
        coll_slot_t *slot = slot_of(local, call->seq);

        store_call(local, slot, call);
        if (slot->arrived == local->members)
            advance(local);
    } else {
        coll_call_t **link = &local->backlog;

        while (*link != NULL)
            link = &(*link)->next;
        *link = call;
    }
}

static coll_local_t *local_of(const mpi_comm_t *comm)
{
    return comm->coll->local[comm->coll->local_of[comm->rank]];
}

/* Start a nonblocking collective; true if the call still waits for other members. */
static bool start(mpi_rank_t *self, coll_call_t *call)
{
    coll_local_t *local = local_of(call->comm);
    uint64_t seq = call->number - call->comm->apart;

    (void)self;
    if (coll_star_wants(call)) {
        coll_star_start(local, call);
        return false;
    }
    arrive(local, call);
    /* The call may be over. */
    return local->finished <= seq && slot_of(local, seq)->state == COLL_ARRIVING;
}

/* Was an algorithm named that runs as a schedule, for blocking calls as for others? */
static bool wants_schedule(const coll_call_t *call)
{
    xy_collective_t c = call->kind->collective;

    return c != XY_COLL_COUNT && mpi_settings_of(call->comm)->algorithm[c] != NULL &&
           coll_engine_scheduled() != NULL && coll_engine_scheduled()->wants(call);
}

static void start_schedule(mpi_rank_t *self, coll_call_t *call)
{
    coll_direct_compare(call);
    call->comm->apart++;
    coll_engine_scheduled()->start(self, call);
}

/* In virtual time, between processes, and by a named algorithm. False: a direct one. */
static __attribute__((noinline)) bool start_apart(mpi_rank_t *self, coll_call_t *call)
{
    if (mpi_job->clock != NULL)
        coll_engine_scheduled()->start(self, call);
    else if (call->comm->coll->interprocess != NULL)
        coll_interprocess_start(self, call);
    else if (wants_schedule(call))
        start_schedule(self, call);
    else
        return false;
    return true;
}

/* Threads of a rank must not be in collectives of one communicator at the same time: the members
 * could not agree on an order. */
static __attribute__((cold)) void enter_alone(const mpi_rank_t *self, mpi_comm_t *comm)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_CONCURRENT,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, comm->blocking_site}};
    char here[160], there[160], text[900];

    if (comm->blocking != NULL) {
        mpi_caller_describe(self->call.caller, here, sizeof(here));
        mpi_caller_describe(comm->blocking_site, there, sizeof(there));
        snprintf(text, sizeof(text),
                 "%s %s was called on %s while another thread is in %s %s; collectives of one "
                 "communicator follow each other",
                 self->call.name, here, comm->name, comm->blocking, there);
        if (mpi_finding_store != NULL) {
            mpi_finding_add(&finding, "%s", text); /* returns where it is suppressed */
        } else {
            mpi_finding_end(&finding, "rank %d: %s", self->world, text);
            mpi_job->abort(1);
        }
    }
    comm->blocking = self->call.name;
    comm->blocking_site = self->call.caller;
}

int coll_run(mpi_rank_t *self, coll_call_t *call)
{
    mpi_request_t request;

    if (self->deferred != NULL)
        coll_flush_deferred(self);
    coll_number(call, self->call.caller);
    if (__builtin_expect(coll_is_empty(call), 0)) {
        coll_leave_empty(call);
        return MPI_SUCCESS;
    }
    if (__builtin_expect(self->gate != NULL, 0))
        enter_alone(self, call->comm);
    mpi_request_init(&request, self, XMPI_KIND_COLL);
    if (__builtin_expect(mpi_is_observed(self), 0))
        request.buffer = coll_observe(self, call);
    request.comm = call->comm;
    request.extra = call; /* for reports */
    call->request = &request;
    if (__builtin_expect(atomic_load_explicit(&mpi_job->is_apart, memory_order_relaxed), 0) &&
        start_apart(self, call))
        ;
    else if (coll_star_wants(call))
        coll_star_start(local_of(call->comm), call);
    else
        arrive(local_of(call->comm), call);
    mpi_request_wait(self, &request);
    if (__builtin_expect(self->gate != NULL, 0))
        call->comm->blocking = NULL;
    return mpi_request_raise(&request);
}

/* ---- On the progress worker: a collective whose local groups have all their members ---- */

/* All local groups as one job: the pieces of local group 0, then those of local group 1, ... */
typedef struct {
    mpi_coll_t *coll;
    uint64_t seq;
    const mpi_worker_t *owner;
    int64_t *ends; /* [locals]: one past the last piece of each local group; later: is it still to
                      be notified? */
} offload_t;

static void offload_piece(void *arg, int64_t piece)
{
    const offload_t *offload = arg;
    int p = 0;
    coll_local_t *local;
    coll_slot_t *slot;

    while (piece >= offload->ends[p])
        p++;
    local = offload->coll->local[p];
    slot = slot_of(local, offload->seq);
    slot->kind->piece(local, slot, piece - (p > 0 ? offload->ends[p - 1] : 0));
}

/* Do the pieces of all local groups together. */
static void offload_work(offload_t *offload)
{
    mpi_coll_t *coll = offload->coll;
    int64_t total = 0;

    for (int p = 0; p < coll->locals; p++) {
        coll_slot_t *slot = slot_of(coll->local[p], offload->seq);

        if (slot->kind->piece != NULL)
            total += slot->kind->pieces ? slot->kind->pieces(coll->local[p], slot) : 1;
        offload->ends[p] = total;
    }
    for (int p = 0; p < coll->locals; p++)
        slot_of(coll->local[p], offload->seq)->is_streamed = coll_is_streamed(total);
    mpi_parallel_run(offload_piece, offload, total);
}

/* The owner of a job waits for its helpers without polling, so a helper must not wait for any
 * worker: what would have to, and what is its own, is left to the owner. */
static void notify_piece(void *arg, int64_t piece)
{
    const offload_t *offload = arg;
    mpi_coll_t *coll = offload->coll;
    mpi_worker_t *worker = xy_worker_user(xy_worker_self());
    int first = (int)piece * XY_DIRECT_NOTICES, end = first + XY_DIRECT_NOTICES;

    for (int p = first; p < end && p < coll->locals; p++) {
        int to = coll->worker_of[p];

        offload->ends[p] =
            worker != offload->owner && (to == worker->index || !mpi_ring_has_room(worker, to));
        if (!offload->ends[p])
            send_return(worker, coll, p, offload->seq);
    }
}

/* Many local groups are notified by all idle workers together: the last one would otherwise wait
 * for a packet to each of the others. */
static void offload_notify(offload_t *offload, mpi_worker_t *worker)
{
    mpi_coll_t *coll = offload->coll;
    int locals = coll->locals;

    /* The last local group to be notified may be the last to use the communicator. */
    mpi_coll_hold(coll);
    mpi_parallel_run(notify_piece, offload, (locals + XY_DIRECT_NOTICES - 1) / XY_DIRECT_NOTICES);
    for (int p = 0; p < locals; p++)
        if (offload->ends[p])
            send_return(worker, coll, p, offload->seq);
    mpi_coll_release(coll);
}

/* All local groups of an offloaded collective have come: do the work and notify them. */
static void offload_arrived(mpi_worker_t *worker, mpi_coll_t *coll, uint64_t seq)
{
    offload_t offload = {coll, seq, worker,
                         xy_malloc((size_t)coll->locals * sizeof(*offload.ends))};
    mpi_trace_state_t before;

    if (offload.ends == NULL) {
        xy_fail_memory("working on a collective");
        mpi_job->abort(1);
        return;
    }
    compare_offloaded(coll, seq);
    before = mpi_trace_begin(worker->trace, slot_of(coll->local[0], seq)->kind->name);
    offload_work(&offload);
    for (int p = 0; p < coll->locals; p++)
        trace_flight(worker->trace, coll->local[p], slot_of(coll->local[p], seq));
    mpi_trace_end(worker->trace, before);
    offload_notify(&offload, worker);
    xy_free(offload.ends);
}

void mpi_coll_packet(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    mpi_coll_t *coll = packet->pointer;
    int phase = packet->step >> 8;
    coll_local_t *local;
    coll_slot_t *slot;

    (void)from;
    if (phase == COLL_PHASE_OFFLOAD) {
        offload_arrived(worker, coll, packet->bytes);
        return;
    }
    local = coll->local[packet->to];
    if (phase == COLL_PHASE_STAR || phase == COLL_PHASE_ANSWER) {
        (phase == COLL_PHASE_STAR ? coll_star_packet : coll_star_answered)(local, packet);
        return;
    }
    slot = slot_of(local, packet->bytes);
    if (phase == COLL_PHASE_RETURN) {
        slot->is_returned = true;
    } else {
        if (phase == 0 && coll->locals == 2)
            slot->piggyback = packet->words[2];
        slot->rounds_received[phase] |= 1u << (packet->step & 0xff);
        note_call(local, slot, packet->envelope.source,
                  (const coll_ops_t *)(uintptr_t)packet->words[0], packet->envelope.context,
                  packet->envelope.tag, packet->words[1]);
    }
    advance(local);
}

const coll_engine_ops_t coll_direct = {.name = "direct", .start = start};

const coll_ops_t coll_barrier = {.name = "MPI_Barrier", .collective = XY_COLL_BARRIER};
