/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small rooted collectives: a star of local groups around that of the root.
 *
 * Only data can make the ranks of such a collective wait for each other. What a member gives is
 * copied when it calls, and it leaves:
 *
 *   from the root    the root leaves its data in the slot of its local group and notifies the other
 *                    groups; each member takes them as soon as they are there. A group whose
 *                    members all have theirs notifies the group of the root.
 *   to the root      each member leaves its data in the slot of its group. A group whose members
 *                    have all come notifies the group of the root, which takes everything and
 *                    notifies the others.
 *
 * A slot is free again when this group's part is complete and no other group reads its data. That
 * takes two packets between the root's group and each other one. No group passes anything on, so
 * that a rank that has left, and computes, delays none. A slot keeps what members and other groups
 * say about the collective, so that a disagreement is found although ranks have left.
 *
 * These collectives are numbered apart from those that meet (direct.c): there, a group that has
 * finished number s knows that all have begun it; here it does not, and may be many collectives
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

struct coll_star {
    bool has_freed;       /* a slot has become free, */
    bool is_settling;     /* and those who wait for it are being looked at */
    coll_call_t *backlog; /* calls whose slot is still in use, first come first */
    early_t *early;       /* packets likewise */
    star_slot_t slots[STAR_SLOTS];
};

/* ---- Memory ---- */

static size_t whole_lines(size_t bytes)
{
    return (bytes + XMPI_LINES - 1) & ~(size_t)(XMPI_LINES - 1);
}

/* The slots, the members' calls, the words; then the data, in lines of their own, since others read
 * them, and untouched until they are needed. */
static coll_star_t *create(const coll_local_t *local)
{
    size_t members = (size_t)local->members, locals = (size_t)local->coll->locals;
    size_t calls = STAR_SLOTS * members * sizeof(coll_call_t *);
    size_t head = whole_lines(sizeof(coll_star_t) + calls + STAR_SLOTS * locals * sizeof(uint64_t));
    char *memory = aligned_alloc(XMPI_LINES, head + (size_t)STAR_SLOTS * STAR_DATA);
    coll_star_t *star = (coll_star_t *)(void *)memory;

    if (memory == NULL)
        return NULL;
    memset(memory, 0, head);
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

const char *star_data_of(const coll_local_t *local, const star_slot_t *slot, int index,
                         uint64_t bytes)
{
    if (index == local->index)
        return slot->data;
    if (bytes <= sizeof(*slot->words))
        return (const char *)&slot->words[index];
    return slot_of(local->coll->local[index], slot->seq)->data;
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

/* As in direct.c: the first sets what the collective is, the others must agree. */
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

/* To local group `to`; the slot may have its next collective already. */
static void send(coll_local_t *local, int to, uint64_t seq, const coll_claim_t *claim,
                 uint32_t mode, uint64_t word)
{
    mpi_coll_t *coll = local->coll;
    int worker = coll->worker_of[to];
    mpi_packet_t *packet = mpi_ring_reserve(local->worker, worker);
    bool is_root = coll->local_of[claim->root] == local->index;

    packet->kind = XMPI_PACKET_COLL;
    packet->step = COLL_PHASE_STAR << 8;
    packet->to = to;
    packet->pointer = coll;
    packet->bytes = seq;
    /* A rank of this group that has called, by which the receiver knows the group. */
    packet->envelope = (xy_envelope_t){
        .context = mode, .source = is_root ? claim->root : local->member[0], .tag = claim->root};
    packet->words[0] = (uint64_t)(uintptr_t)claim->kind;
    packet->words[1] = claim->agreed;
    packet->words[2] = word;
    mpi_ring_commit(local->worker, worker, packet);
}

static uint64_t first_word(const star_slot_t *slot)
{
    uint64_t word;

    memcpy(&word, slot->data, sizeof(word));
    return word;
}

/* The root's data to all other groups. */
static void send_data(coll_local_t *local, const star_slot_t *slot)
{
    coll_claim_t claim = slot->claim;
    const coll_star_ops_t *ops = claim.kind->star;

    for (int p = 0; p < local->coll->locals; p++)
        if (p != local->index)
            send(local, p, slot->seq, &claim, slot->mode,
                 ops->word != NULL ? ops->word(local, slot, p) : first_word(slot));
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
    slot->arrived = slot->others = 0;
    slot->is_rooted = false;
    local->open_stars--;
    local->star->has_freed = true;
}

/* This group's part is complete, and the other side is notified. */
static void end(coll_local_t *local, star_slot_t *slot)
{
    uint64_t seq = slot->seq;
    coll_claim_t claim = slot->claim;
    uint32_t mode = slot->mode;
    bool is_root = root_group(local, slot) == local->index, goes_up = claim.kind->star->goes_up;
    int to = root_group(local, slot);

    recycle(local, slot);
    if (!goes_up && !is_root)
        send(local, to, seq, &claim, mode, 0);
    for (int p = 0; goes_up && is_root && p < local->coll->locals; p++)
        if (p != local->index)
            send(local, p, seq, &claim, mode, 0);
}

static bool has_all(const coll_local_t *local, const star_slot_t *slot)
{
    return root_group(local, slot) == local->index ? slot->others == local->coll->locals - 1
                                                   : slot->is_rooted;
}

/* Members that wait take what the root has left, or leave as the root has taken theirs. */
static void deliver(coll_local_t *local, star_slot_t *slot)
{
    for (int m = 0; m < local->members && slot->waiting > 0; m++) {
        coll_call_t *call = slot->calls[m];

        if (call == NULL)
            continue;
        slot->calls[m] = NULL;
        slot->waiting--;
        if (!call->kind->star->goes_up)
            call->kind->star->take(local, slot, call);
        complete(call);
    }
}

static void keep_waiting(coll_local_t *local, star_slot_t *slot, coll_call_t *call)
{
    slot->calls[local->coll->place_of[call->rank]] = call;
    slot->waiting++;
}

static void step_down(coll_local_t *local, star_slot_t *slot)
{
    if (slot->is_rooted && slot->waiting > 0)
        deliver(local, slot);
    if (slot->arrived == local->members && slot->waiting == 0 && !slot->is_sending &&
        slot->is_rooted && has_all(local, slot))
        end(local, slot);
}

/* A member of a star from the root has come: leave or take the data, or wait for them. */
static void arrive_down(coll_local_t *local, star_slot_t *slot, coll_call_t *call)
{
    const coll_star_ops_t *ops = call->kind->star;

    if (call->rank == slot->claim.root) {
        ops->leave(local, slot, call);
        slot->is_rooted = slot->is_sending = true;
        complete(call);
        send_data(local, slot);
        slot->is_sending = false;
    } else if (slot->is_rooted) {
        ops->take(local, slot, call);
        complete(call);
    } else {
        keep_waiting(local, slot, call);
    }
    step_down(local, slot);
}

/* If all have come, let the root take the data, and notify the other groups. */
static void step_up(coll_local_t *local, star_slot_t *slot)
{
    if (slot->arrived < local->members || slot->is_sending || !has_all(local, slot))
        return;
    if (slot->root != NULL) {
        coll_call_t *root = slot->root;

        slot->root = NULL;
        root->kind->star->take(local, slot, root);
        complete(root);
    }
    deliver(local, slot);
    end(local, slot);
}

/* A member of a star to the root has come: leave its data, and notify the root's group if it is the
 * last. */
static void arrive_up(coll_local_t *local, star_slot_t *slot, coll_call_t *call)
{
    const coll_star_ops_t *ops = call->kind->star;
    bool is_last = slot->arrived == local->members, has_left = ops->leave(local, slot, call);
    coll_claim_t claim = slot->claim;

    if (is_last && ops->combine != NULL)
        ops->combine(local, slot, call);
    if (call->rank == claim.root)
        slot->root = call;
    else if (has_left)
        complete(call);
    else
        keep_waiting(local, slot, call);
    if (is_last && root_group(local, slot) != local->index) {
        slot->is_sending = true;
        send(local, root_group(local, slot), slot->seq, &claim, slot->mode, first_word(slot));
        slot->is_sending = false;
    }
    step_up(local, slot);
}

static void arrive(coll_local_t *local, star_slot_t *slot, coll_call_t *call)
{
    coll_claim_t claim = coll_claim_of(call);

    note(local, slot, &claim, call->mode);
    slot->arrived++;
    if (__builtin_expect(atomic_load_explicit(&mpi_job->is_monitored, memory_order_relaxed), 0))
        coll_count_call(local, call);
    if (call->kind->star->goes_up)
        arrive_up(local, slot, call);
    else
        arrive_down(local, slot, call);
}

static void heard(coll_local_t *local, star_slot_t *slot, const early_t *e)
{
    note(local, slot, &e->claim, e->mode);
    slot->words[e->from] = e->word;
    if (root_group(local, slot) == local->index)
        slot->others++;
    else
        slot->is_rooted = true;
    if (slot->claim.kind->star->goes_up)
        step_up(local, slot);
    else
        step_down(local, slot);
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
