/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/coll.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mpi/nbc/nbc.h"
#include "mpi/object/error.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/copy_stream.h"
#include "mpi/runtime/monitor.h"
#include "mpi/runtime/parallel.h"
#include "mpi/runtime/trace.h"

static coll_slot_t *slot_of(coll_part_t *part, uint64_t seq)
{
    return &part->slots[seq % COLL_SLOTS];
}

/* "MPI_Barrier" or "MPI_Ibarrier". */
static const char *name_of(const coll_kind_t *kind, bool is_nonblocking, char text[32])
{
    if (!is_nonblocking)
        return kind->name;
    snprintf(text, 32, "MPI_I%s", kind->name + strlen("MPI_"));
    text[5] = (char)tolower((unsigned char)text[5]);
    return text;
}

/* Two members are in different collectives, or disagree about the root or the size: their data
 * would be mixed up in silence, so the job ends here. */
static void disagree(const mpi_coll_t *coll, const coll_slot_t *slot, int rank,
                     const coll_kind_t *kind, bool is_nonblocking, int root, uint64_t bytes)
{
    const int *ranks = coll->group->ranks;
    char a[96] = "", b[96] = "";
    char name_a[32], name_b[32];

    if (slot->kind->is_rooted)
        snprintf(a, sizeof(a), " with root %d", slot->root);
    if (kind->is_rooted)
        snprintf(b, sizeof(b), " with root %d", root);
    if (slot->kind == kind && slot->root == root && slot->bytes != bytes) {
        snprintf(a, sizeof(a), " with %llu bytes", (unsigned long long)slot->bytes);
        snprintf(b, sizeof(b), " with %llu bytes", (unsigned long long)bytes);
    }
    xy_fail(XY_EINVAL,
            "ranks disagree about collective %llu of a communicator of %d ranks: rank %d calls "
            "%s%s, rank %d calls %s%s; all members must make the same calls in the same order",
            (unsigned long long)slot->seq + 1, coll->size, ranks ? ranks[slot->first] : slot->first,
            name_of(slot->kind, slot->is_nonblocking, name_a), a, ranks ? ranks[rank] : rank,
            name_of(kind, is_nonblocking, name_b), b);
    mpi_job->abort(1);
}

/* Somebody (of this part or of another) is in this collective: the first sets what it is, the
 * others must agree. */
static void note_call(const mpi_coll_t *coll, coll_slot_t *slot, int rank, const coll_kind_t *kind,
                      bool is_nonblocking, int root, uint64_t bytes)
{
    if (slot->kind == NULL) {
        slot->kind = kind;
        slot->is_nonblocking = is_nonblocking;
        slot->root = root;
        slot->first = rank;
        slot->bytes = bytes;
    } else if (slot->kind != kind || slot->is_nonblocking != is_nonblocking || slot->root != root ||
               slot->bytes != bytes) {
        disagree(coll, slot, rank, kind, is_nonblocking, root, bytes);
    }
}

/* What a packet is about, besides the rounds of the two dissemination phases 0 and 1. */
enum { PHASE_AWAY = 2, PHASE_BACK = 3 };

/* To part `to`, or to the steward when that is -1. */
static void tell_worker(coll_part_t *part, const coll_slot_t *slot, int worker, int to, int phase,
                        int round)
{
    mpi_coll_t *coll = part->coll;
    mpi_packet_t *packet = mpi_ring_reserve(part->worker, worker);

    packet->kind = XMPI_PACKET_COLL;
    packet->flags = (uint16_t)(phase << 8 | round);
    packet->to = to;
    packet->pointer = coll;
    packet->bytes = slot->seq;
    packet->envelope =
        (mpi_envelope_t){.context = slot->is_nonblocking, .source = slot->first, .tag = slot->root};
    packet->words[0] = (uint64_t)(uintptr_t)slot->kind;
    packet->words[1] = slot->bytes;
    if (coll->parts == 2)
        memcpy(&packet->words[2], slot->data, sizeof(slot->heard)); /* still in the first line */
    mpi_ring_commit(part->worker, worker, packet);
}

static void tell(coll_part_t *part, const coll_slot_t *slot, int phase, int round)
{
    int to = (int)((part->index + (1L << round)) % part->coll->parts);

    tell_worker(part, slot, part->coll->worker_of[to], to, phase, round);
}

/* Continue a dissemination; true: every part has been heard of. */
static bool sync_step(coll_part_t *part, coll_slot_t *slot, int phase)
{
    while (slot->round < part->coll->rounds && slot->seen[phase] & 1u << slot->round) {
        slot->round++;
        if (slot->round < part->coll->rounds)
            tell(part, slot, phase, slot->round);
    }
    return slot->round == part->coll->rounds;
}

static void sync_begin(coll_part_t *part, coll_slot_t *slot, int phase)
{
    slot->round = 0;
    if (part->coll->rounds > 0)
        tell(part, slot, phase, 0);
}

static void announce(coll_part_t *part, coll_slot_t *slot)
{
    const coll_kind_t *kind = slot->kind;

    if (kind->prepare != NULL && kind->prepare(part, slot) != XY_OK) {
        xy_fail_memory("preparing a collective");
        mpi_job->abort(1);
    }
    mpi_monitor_collective(part, slot);
    slot->is_back = false;
    if (slot->is_away) {
        slot->state = COLL_AWAY;
        tell_worker(part, slot, part->coll->steward, -1, PHASE_AWAY, 0);
    } else {
        slot->state = COLL_MEETING;
        sync_begin(part, slot, 0);
    }
}

static void complete_call(coll_call_t *call)
{
    mpi_request_t *request = call->request;

    call->request = NULL;
    xy_free(call->copy);
    call->copy = NULL;
    mpi_request_complete(request);
}

/* Members whose buffers nobody else needs go on; the others wait for the parting. */
static void release_early(coll_part_t *part, coll_slot_t *slot)
{
    const coll_kind_t *kind = slot->kind;

    if (kind->leaves_early == NULL)
        return;
    /* Those who leave may free the communicator, and the last parting packet is still to come. */
    slot->is_held = true;
    mpi_coll_hold(part->coll);
    for (int m = 0; m < part->members; m++)
        if (kind->leaves_early(slot->calls[m])) {
            coll_call_t *call = slot->calls[m];

            slot->calls[m] = NULL;
            complete_call(call);
        }
}

static void take_backlog(coll_part_t *part);

/* The slot is ready for its next collective before anybody is woken. */
static void finish(coll_part_t *part, coll_slot_t *slot, const coll_kind_t *kind)
{
    if (kind->finish != NULL)
        kind->finish(part, slot);
    for (int m = 0; m < part->members; m++)
        if (slot->calls[m] != NULL)
            complete_call(slot->calls[m]);
    if (slot->is_held)
        part->unheld++;
    slot->is_held = false;
    slot->seq += COLL_SLOTS;
    slot->kind = NULL;
    slot->state = COLL_ARRIVING;
    slot->arrived = 0;
    slot->seen[0] = slot->seen[1] = 0;
    part->finished++;
    take_backlog(part);
}

/* Operations of the program run on a worker of its ranks, never elsewhere: they may use what is
 * private to a rank. */
static bool runs_program_code(const coll_call_t *call)
{
    return call->op != NULL && !call->op->is_predefined;
}

typedef struct {
    coll_part_t *part;
    coll_slot_t *slot;
} job_t;

static void job_piece(void *arg, int64_t piece)
{
    const job_t *job = arg;

    job->slot->kind->piece(job->part, job->slot, piece);
}

/* How much is written, by the number of pieces of all parts. */
static bool is_huge(int64_t pieces)
{
    return pieces >= XMPI_STREAM_FROM / XMPI_CHUNK;
}

static void coll_work(coll_part_t *part, coll_slot_t *slot)
{
    const coll_kind_t *kind = slot->kind;
    job_t job = {part, slot};
    int64_t pieces = kind->pieces ? kind->pieces(part, slot) : 1;

    mpi_trace_state_t before;

    if (kind->piece == NULL)
        return;
    slot->is_huge = is_huge(pieces * part->coll->parts);
    before = mpi_trace_begin(part->worker->trace, kind->name);
    if (!runs_program_code(slot->calls[0]))
        mpi_parallel_run(job_piece, &job, pieces);
    else
        for (int64_t i = 0; i < pieces; i++)
            job_piece(&job, i);
    if (slot->calls[0]->is_nonblocking)
        mpi_trace_flight(part->worker->trace, part, slot);
    mpi_trace_end(part->worker->trace, before);
}

/* One step of the oldest unfinished collective of the part; false: it has to wait. */
static bool advance_one(coll_part_t *part, coll_slot_t *slot)
{
    const coll_kind_t *kind;

    if (slot->state == COLL_ARRIVING) {
        if (slot->arrived < part->members || slot->seq >= part->finished + COLL_AHEAD)
            return false;
        announce(part, slot);
    }
    kind = slot->kind;
    if (slot->state == COLL_AWAY) {
        if (!slot->is_back || slot->seq != part->finished)
            return false;
        finish(part, slot, kind);
        return true;
    }
    if (slot->state == COLL_MEETING) {
        if (!sync_step(part, slot, 0))
            return false;
        /* Announced ahead of its turn: the work waits for the collectives before it. */
        if (slot->seq != part->finished)
            return false;
        coll_work(part, slot);
        if (kind->parts_again == NULL || !kind->parts_again(slot)) {
            finish(part, slot, kind);
            return true;
        }
        slot->state = COLL_PARTING;
        sync_begin(part, slot, 1);
        release_early(part, slot);
    }
    if (!sync_step(part, slot, 1))
        return false;
    finish(part, slot, kind);
    return true;
}

/* Give back the references of finished collectives. The part may be gone afterwards. */
static void drop_held(coll_part_t *part)
{
    mpi_coll_t *coll = part->coll;
    int n = part->unheld;

    part->unheld = 0;
    for (; n > 0; n--)
        mpi_coll_release(coll);
}

/* Do all that can be done. A handler that runs inside (a full ring is polled) leaves its news to
 * the loop of the outer call. */
static void advance(coll_part_t *part)
{
    part->has_news = true;
    if (part->is_moving)
        return;
    part->is_moving = true;
    while (part->has_news) {
        part->has_news = false;
        while (advance_one(part, slot_of(part, part->finished)))
            continue;
        for (uint64_t s = part->finished + 1; s < part->finished + COLL_AHEAD; s++)
            advance_one(part, slot_of(part, s));
    }
    part->is_moving = false;
    drop_held(part);
}

static void deposit(coll_part_t *part, coll_call_t *call)
{
    coll_slot_t *slot = slot_of(part, call->seq);
    int place = part->coll->place_of[call->rank];

    note_call(part->coll, slot, call->rank, call->kind, call->is_nonblocking, call->root,
              call->bytes);
    slot->calls[place] = call;
    slot->is_away = call->is_nonblocking && part->coll->steward >= 0 && !runs_program_code(call);
    slot->arrived++;
}

static void take_backlog(coll_part_t *part)
{
    coll_call_t **link = &part->backlog;

    while (*link != NULL) {
        coll_call_t *call = *link;

        if (call->seq < part->finished + COLL_SLOTS) {
            *link = call->next;
            deposit(part, call);
        } else {
            link = &call->next;
        }
    }
}

static void arrive(coll_call_t *call)
{
    mpi_comm_t *comm = call->comm;
    coll_part_t *part = comm->coll->part[comm->coll->part_of[comm->rank]];

    call->rank = comm->rank;
    call->seq = comm->coll_seq++;
    call->next = NULL;
    if (call->seq < part->finished + COLL_SLOTS) {
        deposit(part, call);
        if (slot_of(part, call->seq)->arrived == part->members)
            advance(part);
    } else {
        coll_call_t **link = &part->backlog;

        while (*link != NULL)
            link = &(*link)->next;
        *link = call;
    }
}

/* All parts of a collective as one job: the pieces of part 0, then those of part 1, ... */
typedef struct {
    mpi_coll_t *coll;
    uint64_t seq;
    int64_t *ends; /* [parts]: one past the last piece of each part */
} away_t;

static void away_piece(void *arg, int64_t piece)
{
    const away_t *away = arg;
    int p = 0;
    coll_part_t *part;
    coll_slot_t *slot;

    while (piece >= away->ends[p])
        p++;
    part = away->coll->part[p];
    slot = slot_of(part, away->seq);
    slot->kind->piece(part, slot, piece - (p > 0 ? away->ends[p - 1] : 0));
}

static void away_work(mpi_coll_t *coll, uint64_t seq)
{
    away_t away = {coll, seq, xy_malloc((size_t)coll->parts * sizeof(*away.ends))};
    int64_t total = 0;

    if (away.ends == NULL) {
        xy_fail_memory("working on a collective");
        mpi_job->abort(1);
        return;
    }
    for (int p = 0; p < coll->parts; p++) {
        coll_slot_t *slot = slot_of(coll->part[p], seq);

        if (slot->kind->piece != NULL)
            total += slot->kind->pieces ? slot->kind->pieces(coll->part[p], slot) : 1;
        away.ends[p] = total;
    }
    for (int p = 0; p < coll->parts; p++)
        slot_of(coll->part[p], seq)->is_huge = is_huge(total);
    mpi_parallel_run(away_piece, &away, total);
    xy_free(away.ends);
}

/* On the steward: a part has all its members. */
static void came_away(mpi_worker_t *worker, mpi_coll_t *coll, uint64_t seq)
{
    int *came = &coll->came[seq % COLL_SLOTS];
    mpi_trace_state_t before;

    if (++*came < coll->parts)
        return;
    *came = 0;
    /* A part that went away keeps its slot as it is until it is back: reading it is safe. */
    for (int p = 1; p < coll->parts; p++) {
        const coll_slot_t *other = slot_of(coll->part[p], seq);

        note_call(coll, slot_of(coll->part[0], seq), other->first, other->kind,
                  other->is_nonblocking, other->root, other->bytes);
    }
    before = mpi_trace_begin(worker->trace, slot_of(coll->part[0], seq)->kind->name);
    away_work(coll, seq);
    for (int p = 0; p < coll->parts; p++)
        mpi_trace_flight(worker->trace, coll->part[p], slot_of(coll->part[p], seq));
    mpi_trace_end(worker->trace, before);
    /* The last part to be told may be the last to use the communicator. */
    mpi_coll_hold(coll);
    for (int p = 0; p < coll->parts; p++) {
        int to = coll->worker_of[p];
        mpi_packet_t *packet = mpi_ring_reserve(worker, to);

        packet->kind = XMPI_PACKET_COLL;
        packet->flags = PHASE_BACK << 8;
        packet->to = p;
        packet->pointer = coll;
        packet->bytes = seq;
        mpi_ring_commit(worker, to, packet);
    }
    mpi_coll_release(coll);
}

void mpi_coll_packet(mpi_worker_t *worker, int from, mpi_packet_t *packet)
{
    mpi_coll_t *coll = packet->pointer;
    int phase = packet->flags >> 8;
    coll_part_t *part;
    coll_slot_t *slot;

    (void)from;
    if (phase == PHASE_AWAY) {
        came_away(worker, coll, packet->bytes);
        return;
    }
    part = coll->part[packet->to];
    slot = slot_of(part, packet->bytes);
    if (phase == PHASE_BACK) {
        slot->is_back = true;
    } else {
        if (phase == 0 && coll->parts == 2)
            slot->heard = packet->words[2];
        slot->seen[phase] |= 1u << (packet->flags & 0xff);
        note_call(coll, slot, packet->envelope.source,
                  (const coll_kind_t *)(uintptr_t)packet->words[0], packet->envelope.context != 0,
                  packet->envelope.tag, packet->words[1]);
    }
    advance(part);
}

void coll_run(mpi_rank_t *self, coll_call_t *call)
{
    mpi_request_t request;

    mpi_request_init(&request, self, XMPI_KIND_COLL);
    call->request = &request;
    if (self->deferred != NULL)
        coll_flush_deferred(self);
    arrive(call);
    mpi_request_wait(self, &request);
}

static void release_call(mpi_request_t *request)
{
    coll_call_t *call = request->extra;

    if (call->left > 0.0)
        mpi_flow_measure(call); /* Test found it over */
    if (call->send_type != NULL)
        mpi_type_release(call->send_type);
    if (call->receive_type != NULL)
        mpi_type_release(call->receive_type);
    if (call->op != NULL)
        mpi_op_release(call->op);
    xy_free(call);
}

/* A rank that computes right after its start keeps the other ranks of its worker from reaching
 * theirs, and the collective from beginning: they get their turn first. */
static void arrive_and_let_arrive(mpi_rank_t *self, coll_call_t *call)
{
    const coll_part_t *part = call->comm->coll->part[call->comm->coll->part_of[call->comm->rank]];
    uint64_t seq = call->comm->coll_seq;

    arrive(call);
    if (mpi_job->lets_arrive && mpi_job->comm_workers > 0 && part->members > 1 &&
        part->finished <= seq && part->slots[seq % COLL_SLOTS].state == COLL_ARRIVING &&
        xy_worker_has_ready(self->worker->base))
        xy_fiber_yield();
}

/* Progress none: the call begins when the rank next waits or tests, in the order of the starts. */
static void defer(mpi_rank_t *self, coll_call_t *call)
{
    call->next = NULL;
    if (self->deferred == NULL)
        self->deferred_end = &self->deferred;
    *self->deferred_end = call;
    self->deferred_end = &call->next;
}

/* As a graph where the settings of the communicator ask for one, else as a meeting. */
static void begin(mpi_rank_t *self, coll_call_t *call)
{
    if (mpi_flow_wants(call)) {
        call->request->has_call = true;
        mpi_flow_start(self, call);
        if (mpi_job->measures || mpi_settings_of(call->comm)->split == XMPI_SPLIT_ADAPTIVE)
            call->left = xy_now();
    } else if (mpi_job->measures && call->kind != &coll_agree) {
        call->request->has_call = true;
        call->is_timed = true;
        self->flows++;
        arrive_and_let_arrive(self, call);
        call->left = xy_now();
    } else {
        arrive_and_let_arrive(self, call);
    }
}

void coll_flush_deferred(mpi_rank_t *self)
{
    while (self->deferred != NULL) {
        coll_call_t *call = self->deferred;

        self->deferred = call->next;
        begin(self, call);
    }
}

int coll_start(mpi_rank_t *self, coll_call_t *call, MPI_Request *handle)
{
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_COLL);
    coll_call_t *copy = xy_malloc(sizeof(*copy));

    if (request == NULL || copy == NULL) {
        xy_free(copy);
        if (request != NULL)
            mpi_request_free(request);
        return mpi_error(call->comm, MPI_ERR_NO_MEM, "no memory for a nonblocking collective");
    }
    *copy = *call;
    copy->request = request;
    request->extra = copy;
    request->release = release_call;
    request->comm = call->comm;
    request->call = self->call;
    mpi_comm_hold(call->comm);
    if (call->send_type != NULL)
        mpi_type_hold(call->send_type);
    if (call->receive_type != NULL)
        mpi_type_hold(call->receive_type);
    if (call->op != NULL)
        mpi_op_hold(call->op);
    *handle = mpi_request_handle(request);
    copy->is_nonblocking = true;
    if (mpi_settings_of(call->comm)->progress == XMPI_PROGRESS_NONE)
        defer(self, copy);
    else
        begin(self, copy);
    return MPI_SUCCESS;
}

const coll_kind_t coll_barrier = {.name = "MPI_Barrier"};
