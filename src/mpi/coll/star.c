/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small collectives in which not all wait for all: a star of local groups around that of the root,
 * or data that go from each rank to the later ones.
 *
 * Only data can make the ranks of such a collective wait for each other. What a member gives is
 * copied when it calls, and it leaves as soon as it has what it gets:
 *
 *   from the root    the root leaves its data in the slot of its local group and notifies the other
 *                    groups; each member takes them as soon as they are there.
 *   to the root      each member leaves its data in the slot of its group. A group whose members
 *                    have all come notifies the group of the root, which takes everything.
 *   to later ranks   likewise, but each group takes what the groups before it have left.
 *
 * A group whose members all have theirs owes an answer to the groups that they came from. A slot is
 * free again when this group's part is complete and the groups that read its data have answered.
 * Nobody waits for an answer but a rank that is STAR_SLOTS collectives ahead: one packet brings
 * several, when STAR_ANSWERS are due, before a collective that meets, or when the worker has
 * nothing to do. A claim is compared by the groups that get data with it. No group passes anything
 * on, so that a rank that has left, and computes, delays none. A slot keeps what members and other
 * groups say about the collective, so that a disagreement is found although ranks have left.
 *
 * These collectives are numbered apart from those that meet (coll_direct.c): there, a group that
 * has finished number s knows that all have begun it; here it does not, and may be many collectives
 * ahead of another group. Packets about a slot that is still in use wait in a list, which is short:
 * each group has at most STAR_SLOTS collectives in progress.
 *
 * Sending a packet may poll, and a handler may come back here in the middle of a step: a step
 * brings the slot into order before it sends.
 */
#include "mpi/coll/star.h"

#include <stdlib.h>
#include <string.h>

/* A packet that came before its slot was free. */
typedef struct early {
    struct early *next;
    int from; /* local group */
    uint64_t seq, word;
    coll_claim_t claim;
    uint32_t mode;
} early_t;

/* The answers that a local group owes another, by slot. */
typedef struct {
    uint16_t slots; /* a bit for each */
    uint16_t count;
} answers_t;

_Static_assert(STAR_SLOTS <= 16, "a slot is a bit");

struct coll_star {
    coll_local_t *next_owing; /* among the local groups of the worker that owe answers */
    bool is_owing;            /* it is one of them */
    answers_t *answers;       /* [locals] */
    bool has_freed;           /* a slot has become free, */
    bool is_settling;         /* and those who wait for it are being looked at */
    coll_call_t *backlog;     /* calls whose slot is still in use, first come first */
    early_t *early;           /* packets likewise */
    star_slot_t slots[STAR_SLOTS];
};

/* ---- Memory ---- */

static size_t whole_lines(size_t bytes)
{
    return (bytes + XMPI_LINES - 1) & ~(size_t)(XMPI_LINES - 1);
}

/* Bytes before the data of a local group's slots. */
static size_t head_of(const coll_local_t *local)
{
    size_t members = (size_t)local->members, locals = (size_t)local->coll->locals;

    return whole_lines(sizeof(coll_star_t) + STAR_SLOTS * members * sizeof(coll_call_t *) +
                       locals * (STAR_SLOTS * sizeof(uint64_t) + sizeof(answers_t)));
}

/* The slots, the members' calls, the words; then the data, in lines of their own, since others read
 * them, and untouched until they are needed. */
static coll_star_t *create(const coll_local_t *local)
{
    size_t members = (size_t)local->members, locals = (size_t)local->coll->locals;
    size_t calls = STAR_SLOTS * members * sizeof(coll_call_t *);
    size_t words = STAR_SLOTS * locals * sizeof(uint64_t), head = head_of(local);
    char *memory = aligned_alloc(XMPI_LINES, head + (size_t)STAR_SLOTS * STAR_DATA);
    coll_star_t *star = (coll_star_t *)(void *)memory;

    if (memory == NULL)
        return NULL;
    memset(memory, 0, head);
    star->answers = (answers_t *)(void *)(memory + sizeof(*star) + calls + words);
    for (size_t s = 0; s < STAR_SLOTS; s++) {
        star_slot_t *slot = &star->slots[s];

        slot->seq = s;
        slot->calls = (coll_call_t **)(void *)(star + 1) + s * members;
        slot->words = (uint64_t *)(void *)(memory + sizeof(*star) + calls) + s * locals;
        slot->data = memory + head + s * STAR_DATA;
    }
    return star;
}

/* Begin a step. Most communicators never need the slots: they are made here. */
static bool enter(coll_local_t *local)
{
    if (__builtin_expect(local->star == NULL, 0)) {
        local->star = create(local);
        if (local->star == NULL) {
            xy_fail_memory("starting a collective");
            mpi_job->abort(1);
            return false;
        }
    }
    local->star_steps++;
    return true;
}

void coll_star_destroy(coll_local_t *local)
{
    coll_star_t *star = local->star;

    while (star != NULL && star->early != NULL) {
        early_t *next = star->early->next;

        xy_free(star->early);
        star->early = next;
    }
    for (int s = 0; star != NULL && s < STAR_SLOTS; s++)
        xy_free(star->slots[s].wide);
    free(star);
}

static star_slot_t *slot_of(const coll_local_t *local, uint64_t seq)
{
    return &local->star->slots[seq % STAR_SLOTS];
}

static int root_group(const coll_local_t *local, const star_slot_t *slot)
{
    return local->coll->local_of[slot->claim.root];
}

/* The data of a slot of any local group, without a look at what changes there. */
static char *data_of(const coll_local_t *local, uint64_t seq)
{
    return (char *)local->star + head_of(local) + seq % STAR_SLOTS * STAR_DATA;
}

const char *star_data_of(const coll_local_t *local, const star_slot_t *slot, int index,
                         uint64_t bytes)
{
    if (index == local->index)
        return slot->data;
    if (bytes <= sizeof(*slot->words))
        return (const char *)&slot->words[index];
    return data_of(local->coll->local[index], slot->seq);
}

const char *star_wide_of(const coll_local_t *local, const star_slot_t *slot, int index)
{
    return slot_of(local->coll->local[index], slot->seq)->wide;
}

const coll_call_t *star_call_of(const coll_local_t *local, const star_slot_t *slot, int rank)
{
    const mpi_coll_t *coll = local->coll;

    return slot_of(coll->local[coll->local_of[rank]], slot->seq)->calls[coll->place_of[rank]];
}

/* ---- Agreement ---- */

static uint64_t number_of(const star_slot_t *slot)
{
    return coll_number_of(slot->seq, slot->mode);
}

bool coll_star_lacks(const coll_local_t *local, uint64_t before, uint64_t *number_p,
                     coll_claim_t *claim_p)
{
    /* A member that is missing may be among those that wait for the slot. */
    if (local->star_steps > 0 || local->star->backlog != NULL)
        return false;
    for (int s = 0; s < STAR_SLOTS; s++) {
        const star_slot_t *slot = &local->star->slots[s];

        if (slot->claim.kind != NULL && slot->arrived < local->members &&
            coll_is_before(number_of(slot), before)) {
            *number_p = number_of(slot);
            *claim_p = slot->claim;
            return true;
        }
    }
    return false;
}

bool coll_star_claim(const coll_local_t *local, int i, uint64_t *number_p, coll_claim_t *claim_p)
{
    const star_slot_t *slot;

    if (local->star == NULL || i >= STAR_SLOTS)
        return false;
    slot = &local->star->slots[i];
    *number_p = number_of(slot);
    *claim_p = slot->claim;
    return slot->claim.kind != NULL;
}

/* As in coll_direct.c: the first sets what the collective is, the others must agree. */
static void note(coll_local_t *local, star_slot_t *slot, const coll_claim_t *claim, uint32_t mode)
{
    const coll_claim_t *first = &slot->claim;

    if (first->kind == NULL) {
        slot->claim = *claim;
        slot->mode = mode;
        local->open_stars++;
        coll_compare_others(local, number_of(slot), claim);
    } else if (first->kind != claim->kind || slot->mode != mode || first->root != claim->root ||
               first->agreed != claim->agreed) {
        if (slot->mode != mode || !coll_claims_agree(local->coll, number_of(slot), first, claim))
            coll_differ(local, slot->seq, first, slot->mode, claim, mode);
    }
}

/* ---- Packets ---- */

/* Do the data of local group `from` go to local group `to`? */
static bool goes(const coll_claim_t *claim, const coll_local_t *local, int from, int to)
{
    int root = local->coll->local_of[claim->root];

    switch (claim->kind->star->shape) {
    case STAR_FROM_ROOT:
        return from == root && to != root;
    case STAR_TO_ROOT:
        return to == root && from != root;
    default:
        return from < to;
    }
}

/* How many local groups the data of this one come from, and go to. */
static int sources(const coll_local_t *local, const star_slot_t *slot)
{
    bool is_root = root_group(local, slot) == local->index;

    switch (slot->claim.kind->star->shape) {
    case STAR_FROM_ROOT:
        return is_root ? 0 : 1;
    case STAR_TO_ROOT:
        return is_root ? local->coll->locals - 1 : 0;
    default:
        return local->index;
    }
}

static int readers(const coll_local_t *local, const star_slot_t *slot)
{
    bool is_root = root_group(local, slot) == local->index;

    switch (slot->claim.kind->star->shape) {
    case STAR_FROM_ROOT:
        return is_root ? local->coll->locals - 1 : 0;
    case STAR_TO_ROOT:
        return is_root ? 0 : 1;
    default:
        return local->coll->locals - 1 - local->index;
    }
}

static mpi_packet_t *reserve(coll_local_t *local, int to, int phase)
{
    mpi_packet_t *packet = mpi_ring_reserve(local->worker, local->coll->worker_of[to]);

    packet->kind = XMPI_PACKET_COLL;
    packet->step = (uint16_t)(phase << 8);
    packet->to = to;
    packet->pointer = local->coll;
    return packet;
}

/* The data of this group are there; the slot may have its next collective already. */
static void send(coll_local_t *local, int to, uint64_t seq, const coll_claim_t *claim,
                 uint32_t mode, uint64_t word)
{
    mpi_coll_t *coll = local->coll;
    mpi_packet_t *packet = reserve(local, to, COLL_PHASE_STAR);
    bool is_root = coll->local_of[claim->root] == local->index;

    packet->bytes = seq;
    /* A rank of this group that has called, by which the receiver knows the group. */
    packet->envelope = (xy_envelope_t){
        .context = mode, .source = is_root ? claim->root : local->member[0], .tag = claim->root};
    packet->words[0] = (uint64_t)(uintptr_t)claim->kind;
    packet->words[1] = claim->agreed;
    packet->words[2] = word;
    mpi_ring_commit(local->worker, coll->worker_of[to], packet);
}

static uint64_t first_word(const star_slot_t *slot)
{
    uint64_t word;

    memcpy(&word, slot->data, sizeof(word));
    return word;
}

/* The data that this group has left, to all who take them. */
static void send_data(coll_local_t *local, star_slot_t *slot)
{
    coll_claim_t claim = slot->claim;
    const coll_star_ops_t *ops = claim.kind->star;

    slot->is_sending = true;
    for (int p = 0; p < local->coll->locals; p++)
        if (goes(&claim, local, local->index, p))
            send(local, p, slot->seq, &claim, slot->mode,
                 ops->word != NULL ? ops->word(local, slot, p) : first_word(slot));
    slot->is_sending = false;
}

/* ---- Answers ---- */

/* Send what is owed to local group `to`. */
static void send_answers(coll_local_t *local, int to)
{
    answers_t *owed = &local->star->answers[to];
    mpi_packet_t *packet;
    answers_t now = *owed;

    *owed = (answers_t){0};
    packet = reserve(local, to, COLL_PHASE_ANSWER);
    packet->bytes = now.slots;
    mpi_ring_commit(local->worker, local->coll->worker_of[to], packet);
}

/* Slot `number` has been read by all who needed local group `to`'s data. */
static void owe(coll_local_t *local, int to, unsigned number, bool is_urgent)
{
    coll_star_t *star = local->star;

    star->answers[to].slots |= (uint16_t)(1u << number);
    if (++star->answers[to].count >= STAR_ANSWERS || is_urgent) {
        send_answers(local, to);
    } else if (!star->is_owing) {
        star->is_owing = true;
        star->next_owing = local->worker->owing;
        local->worker->owing = local;
    }
}

bool coll_star_owes(const coll_local_t *local)
{
    return local->star != NULL && local->star->is_owing;
}

/* ---- Steps ---- */

static void complete(coll_call_t *call)
{
    mpi_request_t *request = call->request;

    call->request = NULL;
    mpi_request_complete(request);
}

static void recycle(coll_local_t *local, star_slot_t *slot)
{
    slot->claim.kind = NULL;
    slot->seq += STAR_SLOTS;
    slot->arrived = slot->heard = slot->answered = 0;
    slot->is_left = slot->has_taken = false;
    local->open_stars--;
    local->star->has_freed = true;
}

/* The members have all that they get. The answers do not wait for those of other groups: nobody
 * might send them at the end of the job. */
static void answer_sources(coll_local_t *local, star_slot_t *slot)
{
    unsigned number = (unsigned)(slot->seq % STAR_SLOTS);
    coll_claim_t claim = slot->claim;

    slot->has_taken = slot->is_sending = true;
    for (int p = 0; p < local->coll->locals; p++)
        if (goes(&claim, local, p, local->index))
            owe(local, p, number, claim.kind->star->answers_at_once);
    slot->is_sending = false;
}

/* Members that wait take what is there for them; the root before those whose data it takes. */
static void deliver(coll_local_t *local, star_slot_t *slot)
{
    const coll_star_ops_t *ops = slot->claim.kind->star;
    coll_call_t *root = slot->root;

    if (root != NULL) {
        slot->root = NULL;
        ops->take(local, slot, root);
        complete(root);
    }
    for (int m = 0; m < local->members && slot->waiting > 0; m++) {
        coll_call_t *call = slot->calls[m];

        if (call == NULL)
            continue;
        slot->calls[m] = NULL;
        slot->waiting--;
        if (ops->shape != STAR_TO_ROOT)
            ops->take(local, slot, call);
        complete(call);
    }
}

static void keep_waiting(coll_local_t *local, star_slot_t *slot, coll_call_t *call)
{
    slot->calls[local->coll->place_of[call->rank]] = call;
    slot->waiting++;
}

/* Are the data there that the waiting members take, or has the root taken theirs? */
static bool can_deliver(const coll_local_t *local, const star_slot_t *slot)
{
    switch (slot->claim.kind->star->shape) {
    case STAR_FROM_ROOT:
        return slot->is_left || slot->heard > 0;
    case STAR_TO_ROOT:
        if (root_group(local, slot) != local->index)
            return slot->answered > 0;
        break;
    default:
        break;
    }
    return slot->arrived == local->members && slot->heard == sources(local, slot);
}

/* Do what can be done. Not while packets about the slot are on their way. */
static void step(coll_local_t *local, star_slot_t *slot)
{
    if (slot->is_sending)
        return;
    if ((slot->waiting > 0 || slot->root != NULL) && can_deliver(local, slot))
        deliver(local, slot);
    if (slot->arrived < local->members || slot->waiting > 0 || slot->root != NULL ||
        slot->heard < sources(local, slot))
        return;
    if (!slot->has_taken)
        answer_sources(local, slot);
    if (slot->answered == readers(local, slot))
        recycle(local, slot);
}

/* A member of a star from the root has come: leave or take the data, or wait for them. */
static void arrive_down(coll_local_t *local, star_slot_t *slot, coll_call_t *call)
{
    const coll_star_ops_t *ops = call->kind->star;

    if (call->rank == slot->claim.root) {
        ops->leave(local, slot, call);
        slot->is_left = true;
        complete(call);
        send_data(local, slot);
    } else if (can_deliver(local, slot)) {
        ops->take(local, slot, call);
        complete(call);
    } else {
        keep_waiting(local, slot, call);
    }
}

/* A member whose data go to others has come: leave them, and notify those others if it is the last.
 */
static void arrive_up(coll_local_t *local, star_slot_t *slot, coll_call_t *call)
{
    const coll_star_ops_t *ops = call->kind->star;
    bool is_last = slot->arrived == local->members, has_left = ops->leave(local, slot, call);

    if (is_last && ops->combine != NULL)
        ops->combine(local, slot, call);
    if (ops->shape == STAR_TO_LATER || (!has_left && call->rank != slot->claim.root))
        keep_waiting(local, slot, call);
    else if (call->rank == slot->claim.root)
        slot->root = call;
    else
        complete(call);
    if (is_last)
        send_data(local, slot);
}

/* Note a member's call in its slot and do what it makes possible. */
static void arrive(coll_local_t *local, star_slot_t *slot, coll_call_t *call)
{
    coll_claim_t claim = coll_claim_of(call);

    note(local, slot, &claim, call->mode);
    slot->arrived++;
    if (__builtin_expect(atomic_load_explicit(&mpi_job->is_monitored, memory_order_relaxed), 0))
        coll_count_call(local, call);
    if (call->kind->star->shape == STAR_FROM_ROOT)
        arrive_down(local, slot, call);
    else
        arrive_up(local, slot, call);
    step(local, slot);
}

static void heard(coll_local_t *local, star_slot_t *slot, const early_t *e)
{
    note(local, slot, &e->claim, e->mode);
    slot->words[e->from] = e->word;
    slot->heard++;
    step(local, slot);
}

/* ---- Those who wait for a slot ---- */

static early_t *take_early(coll_local_t *local)
{
    for (early_t **link = &local->star->early; *link != NULL; link = &(*link)->next) {
        early_t *e = *link;

        if (slot_of(local, e->seq)->seq == e->seq) {
            *link = e->next;
            return e;
        }
    }
    return NULL;
}

static coll_call_t *take_backlog(coll_local_t *local)
{
    for (coll_call_t **link = &local->star->backlog; *link != NULL; link = &(*link)->next) {
        coll_call_t *call = *link;

        if (slot_of(local, call->seq)->seq == call->seq) {
            *link = call->next;
            return call;
        }
    }
    return NULL;
}

/* Handle what waited for slots that have become free, until no more is freed. */
static void settle(coll_local_t *local)
{
    coll_star_t *star = local->star;
    coll_call_t *call;
    early_t *e;

    star->is_settling = true;
    while (star->has_freed) {
        star->has_freed = false;
        while ((e = take_early(local)) != NULL) {
            heard(local, slot_of(local, e->seq), e);
            xy_free(e);
        }
        while ((call = take_backlog(local)) != NULL)
            arrive(local, slot_of(local, call->seq), call);
    }
    star->is_settling = false;
}

/* The end of what began with enter(). The local group may be gone afterwards. */
static void leave(coll_local_t *local)
{
    const coll_star_t *star = local->star;

    if (star->has_freed && !star->is_settling && (star->early != NULL || star->backlog != NULL))
        settle(local);
    local->star_steps--;
    coll_local_drop(local);
}

/* ---- Entries ---- */

static void put_off(coll_call_t **link, coll_call_t *call)
{
    while (*link != NULL)
        link = &(*link)->next;
    call->next = NULL;
    *link = call;
}

void coll_star_start(coll_local_t *local, coll_call_t *call)
{
    mpi_comm_t *comm = call->comm;
    star_slot_t *slot;

    call->seq = comm->stars++;
    call->mode = coll_mode(call, call->number - call->seq);
    comm->apart++;
    if (!enter(local))
        return;
    slot = slot_of(local, call->seq);
    if (slot->seq == call->seq)
        arrive(local, slot, call);
    else
        put_off(&local->star->backlog, call);
    leave(local);
}

/* Keep a packet about a slot that is still in use; ends the job without memory. */
static void keep_early(coll_local_t *local, const early_t *e)
{
    early_t **link = &local->star->early, *copy = xy_malloc(sizeof(*copy));

    if (copy == NULL) {
        xy_fail_memory("keeping what a rank sent early");
        mpi_job->abort(1);
        return;
    }
    *copy = *e;
    copy->next = NULL;
    while (*link != NULL)
        link = &(*link)->next;
    *link = copy;
}

void coll_star_packet(coll_local_t *local, const mpi_packet_t *packet)
{
    early_t e = {.from = local->coll->local_of[packet->envelope.source],
                 .seq = packet->bytes,
                 .word = packet->words[2],
                 .claim = coll_claim_make((const coll_ops_t *)(uintptr_t)packet->words[0],
                                          packet->words[1], packet->envelope.tag,
                                          packet->envelope.source, packet->envelope.context),
                 .mode = packet->envelope.context};
    star_slot_t *slot;

    if (!enter(local))
        return;
    slot = slot_of(local, e.seq);
    if (slot->seq == e.seq)
        heard(local, slot, &e);
    else
        keep_early(local, &e);
    leave(local);
}

void coll_star_answered(coll_local_t *local, const mpi_packet_t *packet)
{
    unsigned slots = (unsigned)packet->bytes;

    enter(local);
    for (unsigned s = 0; slots != 0; s++, slots >>= 1)
        if ((slots & 1) != 0) {
            star_slot_t *slot = &local->star->slots[s];

            slot->answered++;
            step(local, slot);
        }
    leave(local);
}

static void answer_all(coll_local_t *local)
{
    enter(local);
    for (int p = 0; p < local->coll->locals; p++)
        if (local->star->answers[p].count > 0)
            send_answers(local, p);
    leave(local);
}

void coll_star_answer(mpi_worker_t *worker)
{
    while (worker->owing != NULL) {
        coll_local_t *local = worker->owing;

        worker->owing = local->star->next_owing;
        local->star->is_owing = false;
        answer_all(local);
    }
}

bool coll_star_help(mpi_worker_t *worker)
{
    enum { IDLE_POLLS = 64 }; /* current collectives may add answers to the packet */

    if (worker->owing == NULL)
        return false;
    if (++worker->owing_polls < IDLE_POLLS && !xy_worker_is_last_look(worker->base))
        return false;
    worker->owing_polls = 0;
    coll_star_answer(worker);
    return true;
}
