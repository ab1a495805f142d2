/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on members of other processes, from the side of their origin: see far.h. */
#include "mpi/rma/far.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/rma/rma_survive.h"
#include "mpi/rma/sync.h"
#include "net/net.h"

/* Bytes to one target that it has not confirmed: what waits there takes memory. And the data of one
 * letter of an accumulate. */
enum { UNFLUSHED_MOST = 1 << 20, PART_MOST = 32 << 10 };
/* Data of a letter that is held back, and bytes of all that are. */
enum { HELD_SMALL = 1024, HELD_ROOM = 4096, HELD_ALIGN = 16 };

void *rma_far_memory(void *memory)
{
    if (memory == NULL) {
        xy_fail_memory("working on a window between processes");
        mpi_job->abort(1);
        abort(); /* not reached: the launcher ended the process */
    }
    return memory;
}

/* ---- Letters ---- */

void rma_far_reply(int process, int world, rma_far_kind_t kind, const rma_far_wire_t *wire,
                   const void *data, size_t size)
{
    remote_head_t head = {.kind = REMOTE_ONE_SIDED, .flags = (uint8_t)kind, .to = world};

    remote_head_set(&head, wire);
    mpi_network_send(process, &head, NULL, data, size);
}

/* In front of each letter that is held back. Window and origin are those of SEVERAL; what a small
 * put or accumulate does not use is left out, or WHOLE, and the wire follows. A question ASKS, with
 * its id for an address. */
typedef struct {
    uint64_t address;
    uint16_t count, size /* of the data behind it, which are padded */, type;
    uint8_t kind, op;
} held_t;

enum { WHOLE = 0x80, ASKS = 0x40, WHOLE_SIZE = 64 };

_Static_assert(sizeof(held_t) % HELD_ALIGN == 0 && WHOLE_SIZE % HELD_ALIGN == 0,
               "data are aligned");
_Static_assert(WHOLE_SIZE >= sizeof(rma_far_wire_t) && (int)RMA_FAR_SEVERAL < (int)ASKS,
               "both fit");

static bool is_whole(const rma_far_wire_t *wire, size_t size)
{
    return (wire->id != 0 && wire->address != 0) || wire->offset != 0 || wire->bytes != size ||
           wire->flag != 0 || wire->count < 0 || wire->count > UINT16_MAX;
}

static size_t held_length(bool whole, size_t size)
{
    return sizeof(held_t) + (whole ? WHOLE_SIZE : 0) +
           (size + HELD_ALIGN - 1) / HELD_ALIGN * HELD_ALIGN;
}

static size_t held_room(void)
{
    size_t room = xy_net_short_limit(mpi_job->net) - sizeof(remote_head_t);

    return room < HELD_ROOM ? room : HELD_ROOM;
}

/* Send what is held for one member: a single letter as it is. */
static void drain(const mpi_win_t *win, rma_peer_t *peer)
{
    const rma_far_place_t *far = &win->shared->far[peer->rank];
    const char *at = peer->held, *data;
    size_t size = peer->held_size, data_size;
    rma_far_wire_t several = {.window = far->window, .bytes = size, .origin = win->rank}, wire;
    rma_far_kind_t kind;

    if (size == 0)
        return;
    peer->held_size = 0;
    wire = several;
    if (rma_far_next(&at, peer->held + size, &kind, &wire, &data, &data_size) &&
        at == peer->held + size)
        rma_far_reply(far->process, far->world, kind, &wire, data, data_size);
    else
        rma_far_reply(far->process, far->world, RMA_FAR_SEVERAL, &several, peer->held, size);
}

/* Add a letter behind those that are held; they are sent first where it has no room. */
static void append(const mpi_win_t *win, rma_peer_t *peer, rma_far_kind_t kind,
                   const rma_far_wire_t *wire, const void *data, size_t size)
{
    bool whole = is_whole(wire, size);
    bool asks = !whole && wire->id != 0;
    held_t letter = {.address = asks ? wire->id : wire->address,
                     .count = whole ? 0 : (uint16_t)wire->count,
                     .size = (uint16_t)size,
                     .type = wire->type,
                     .kind = (uint8_t)(kind | (whole ? WHOLE : 0) | (asks ? ASKS : 0)),
                     .op = wire->op};
    char *at;

    if (peer->held == NULL)
        peer->held = rma_far_memory(xy_calloc(1, HELD_ROOM));
    if (peer->held_size + held_length(whole, size) > held_room())
        drain(win, peer);
    at = peer->held + peer->held_size;
    memcpy(at, &letter, sizeof(letter));
    at += sizeof(letter);
    if (whole) {
        memcpy(at, wire, sizeof(*wire));
        at += WHOLE_SIZE;
    }
    if (size > 0)
        mpi_move(at, data, size);
    peer->held_size += held_length(whole, size);
}

static void address(const mpi_win_t *win, int to, rma_far_wire_t *wire)
{
    wire->window = win->shared->far[to].window;
    wire->origin = win->rank;
}

void rma_far_send(mpi_win_t *win, int to, rma_far_kind_t kind, rma_far_wire_t *wire,
                  const void *data, size_t size)
{
    const rma_far_place_t *far = &win->shared->far[to];
    rma_peer_t *peer = win->far.peers != NULL ? win->far.peers[to] : NULL;

    address(win, to, wire);
    if (peer != NULL && peer->held_size > 0 && size <= HELD_SMALL) {
        append(win, peer, kind, wire, data, size);
        drain(win, peer);
        return;
    }
    if (peer != NULL)
        drain(win, peer);
    rma_far_reply(far->process, far->world, kind, wire, data, size);
}

/* Send a letter that need not leave before the next one to that member. */
static void hold(mpi_win_t *win, rma_peer_t *peer, rma_far_kind_t kind, rma_far_wire_t *wire,
                 const void *data, size_t size)
{
    if (size > HELD_SMALL || held_length(true, size) > held_room()) {
        rma_far_send(win, peer->rank, kind, wire, data, size);
        return;
    }
    address(win, peer->rank, wire);
    append(win, peer, kind, wire, data, size);
}

void rma_far_drain(const mpi_win_t *win, int target)
{
    if (win->far.peers == NULL)
        return;
    if (target != RMA_EVERYWHERE) {
        if (win->far.peers[target] != NULL)
            drain(win, win->far.peers[target]);
        return;
    }
    for (rma_peer_t *peer = win->far.dirty; peer != NULL; peer = peer->next_dirty)
        drain(win, peer);
}

bool rma_far_next(const char **at, const char *end, rma_far_kind_t *kind, rma_far_wire_t *wire,
                  const char **data, size_t *size_p)
{
    held_t letter;
    bool whole, asks;

    if ((size_t)(end - *at) < sizeof(letter))
        return false;
    memcpy(&letter, *at, sizeof(letter));
    whole = (letter.kind & WHOLE) != 0;
    asks = (letter.kind & ASKS) != 0;
    if ((size_t)(end - *at) < held_length(whole, letter.size))
        return false;
    *kind = (rma_far_kind_t)(letter.kind & ~(WHOLE | ASKS));
    *wire = (rma_far_wire_t){.window = wire->window,
                             .id = asks ? letter.address : 0,
                             .address = asks ? 0 : letter.address,
                             .count = letter.count,
                             .bytes = letter.size,
                             .origin = wire->origin,
                             .type = letter.type,
                             .op = letter.op};
    if (whole)
        memcpy(wire, *at + sizeof(letter), sizeof(*wire));
    *data = *at + sizeof(letter) + (whole ? WHOLE_SIZE : 0);
    *size_p = letter.size;
    *at += held_length(whole, letter.size);
    return true;
}

/* Write a message of a one-sided operation to the trace. */
static __attribute__((noinline, cold)) void trace(const mpi_win_t *win, int peer, int tag,
                                                  size_t bytes, bool is_sent, const char *name)
{
    int own = win->owner->world, other = mpi_comm_world_rank(win->comm, peer);
    mpi_trace_message_t m = {.from = is_sent ? own : other,
                             .to = is_sent ? other : own,
                             .tag = tag,
                             .context = win->comm->context,
                             .bytes = bytes,
                             .name = name};

    if (is_sent)
        mpi_trace_put_sent(win->owner->trace, &m);
    else
        mpi_trace_put_received(win->owner->trace, &m);
}

void rma_far_trace(const mpi_win_t *win, int peer, int tag, size_t bytes, bool is_sent,
                   const char *name)
{
    if (__builtin_expect(win->owner->trace != NULL, 0))
        trace(win, peer, tag, bytes, is_sent, name);
}

size_t rma_far_room(size_t element)
{
    size_t room = xy_net_short_limit(mpi_job->net) - sizeof(remote_head_t);

    if (room > PART_MOST)
        room = PART_MOST;
    return room / element * element;
}

/* ---- For the watch of the other process ---- */

enum { NOTE_OVER = 1, NOTE_WRITTEN = 2, NOTE_OP = 4 };

void rma_far_tell(mpi_win_t *win, int target, const rma_told_t *told)
{
    rma_far_wire_t wire = {.id = told->site,
                           .address = (uint64_t)(uintptr_t)told->address,
                           .count = told->count,
                           .offset = (uint64_t)told->number << 32 | told->turn,
                           .bytes = (uint64_t)told->epoch << 32 | told->what,
                           .flag = (uint8_t)((told->is_over ? NOTE_OVER : 0) |
                                             (told->is_written ? NOTE_WRITTEN : 0) |
                                             (told->op != NULL ? NOTE_OP : 0))};

    if (told->type != NULL)
        wire.type = rma_far_type(win, rma_far_peer(win, target), told->type);
    if (told->op != NULL)
        wire.op = (uint8_t)(told->op - mpi_op_table);
    rma_far_send(win, target, RMA_FAR_NOTE, &wire, told->call, sizeof(told->call));
}

void rma_far_told(mpi_win_t *win, int from, const rma_far_wire_t *wire, const char *data)
{
    rma_told_t told = {.is_over = wire->flag & NOTE_OVER,
                       .address = (const void *)(uintptr_t)wire->address,
                       .count = wire->count,
                       .op = wire->flag & NOTE_OP ? &mpi_op_table[wire->op] : NULL,
                       .epoch = (uint32_t)(wire->bytes >> 32),
                       .what = (uint32_t)wire->bytes,
                       .turn = (uint32_t)wire->offset,
                       .number = (uint32_t)((uint64_t)wire->offset >> 32),
                       .is_written = wire->flag & NOTE_WRITTEN,
                       .site = wire->id};

    memcpy(told.call, data, sizeof(told.call));
    told.call[sizeof(told.call) - 1] = '\0';
    if (!told.is_over)
        told.type = rma_far_known(rma_far_peer(win, wire->origin), wire->type);
    if (rma_watch != NULL)
        rma_watch->told(win, from, wire->origin, &told);
}

/* ---- Answers ---- */

void rma_answers_begin(rma_answers_t *answers, mpi_win_t *win, int left)
{
    mpi_request_init(&answers->request, win->owner, XMPI_KIND_REMOTE);
    answers->request.call = win->owner->call;
    answers->win = win;
    answers->left = left;
    answers->value = 0;
    answers->next = NULL;
}

void rma_answers_ask(rma_answers_t *answers, mpi_win_t *win, int target, rma_far_kind_t kind,
                     rma_far_wire_t wire)
{
    if (__builtin_expect(mpi_survives, 0) && !rma_survive_ask(answers, target, kind))
        return;
    answers->left++;
    wire.id = (uint64_t)(uintptr_t)answers;
    rma_far_send(win, target, kind, &wire, NULL, 0);
}

void rma_answers_wait(mpi_rank_t *self, rma_answers_t *answers)
{
    if (answers->left > 0)
        mpi_request_wait(self, &answers->request);
}

void rma_answers_come(rma_answers_t *answers, uint64_t value)
{
    answers->value = value;
    if (--answers->left == 0)
        mpi_request_complete(&answers->request);
}

/* ---- Pending operations ---- */

/* Note an operation that will be answered; `to`: the place of its result, or NULL. */
static rma_pending_t *pending_new(rma_operation_t *o, const rma_side_t *to, uint64_t left)
{
    rma_pending_t *pending = rma_far_memory(xy_malloc(sizeof(*pending)));

    *pending = (rma_pending_t){.win = o->win, .left = left, .target = o->rank};
    if (__builtin_expect(mpi_survives, 0))
        rma_survive_await(pending);
    if (to != NULL) {
        pending->to = *to;
        mpi_type_hold(to->type);
    }
    o->win->far.pending++;
    o->pending = pending;
    return pending;
}

/* An answer has come: complete its request and wake those who wait for all answers. */
static void pending_end(rma_pending_t *pending)
{
    rma_far_t *far = &pending->win->far;
    rma_answers_t *waiting = NULL;

    if (pending->request != NULL)
        mpi_request_complete(pending->request);
    if (pending->to.type != NULL)
        mpi_type_release(pending->to.type);
    if (pending->link != NULL) {
        *pending->link = pending->next;
        if (pending->next != NULL)
            pending->next->link = pending->link;
    }
    xy_free(pending);
    if (--far->pending == 0) {
        waiting = far->waiting;
        far->waiting = NULL;
    }
    for (rma_answers_t *next; waiting != NULL; waiting = next) {
        next = waiting->next;
        rma_answers_come(waiting, 0);
    }
}

void rma_pending_come(rma_pending_t *pending, uint64_t bytes)
{
    pending->left -= bytes;
    if (pending->left == 0)
        pending_end(pending);
}

void rma_pending_fail(rma_pending_t *pending)
{
    pending->win->far.has_lost = true;
    if (pending->request != NULL)
        pending->request->completion.error = MPIX_ERR_PROC_FAILED;
    pending_end(pending);
}

/* pending_end takes it out of the list, before the wait is complete. */
static __attribute__((noinline)) void push_waiting(rma_far_t *far, rma_answers_t *answers)
{
    answers->next = far->waiting;
    far->waiting = answers;
}

void rma_far_settle(mpi_rank_t *self, mpi_win_t *win)
{
    rma_answers_t answers;

    if (win->far.pending == 0)
        return;
    rma_answers_begin(&answers, win, 1);
    push_waiting(&win->far, &answers);
    rma_answers_wait(self, &answers);
}

/* ---- Flushing ---- */

static void sent(rma_peer_t *peer, mpi_win_t *win, size_t bytes)
{
    peer->unflushed += sizeof(remote_head_t) + bytes;
    if (peer->is_listed)
        return;
    peer->is_listed = true;
    peer->next_dirty = win->far.dirty;
    win->far.dirty = peer;
}

static void flush_peer(mpi_win_t *win, rma_peer_t *peer, rma_answers_t *answers)
{
    if (peer->unflushed == 0)
        return;
    peer->unflushed = 0;
    rma_answers_ask(answers, win, peer->rank, RMA_FAR_FLUSH, (rma_far_wire_t){.flag = 0});
}

void rma_far_flush(mpi_rank_t *self, mpi_win_t *win, int target)
{
    rma_answers_t answers;

    if (win->far.dirty == NULL && win->far.pending == 0)
        return;
    rma_answers_begin(&answers, win, 0);
    if (target != RMA_EVERYWHERE) {
        if (rma_is_far(win, target))
            flush_peer(win, rma_far_peer(win, target), &answers);
    } else {
        for (rma_peer_t *peer = win->far.dirty; peer != NULL; peer = peer->next_dirty) {
            peer->is_listed = false;
            flush_peer(win, peer, &answers);
        }
        win->far.dirty = NULL;
    }
    rma_answers_wait(self, &answers);
    rma_far_settle(self, win);
}

/* The target must be able to keep up. Waits for what was sent, not for what is pending: this may be
 * in the middle of an operation. */
static void throttle(mpi_rank_t *self, mpi_win_t *win, rma_peer_t *peer)
{
    rma_answers_t answers;

    if (peer->unflushed <= UNFLUSHED_MOST)
        return;
    rma_answers_begin(&answers, win, 0);
    flush_peer(win, peer, &answers);
    rma_answers_wait(self, &answers);
}

/* ---- Data ---- */

static bool is_plain(const rma_side_t *side)
{
    return mpi_type_is_contiguous(side->type) && !mpi_is_on_device(side->address);
}

/* A letter with `bytes` of `side` from `offset` on. */
static void send_data(mpi_rank_t *self, mpi_win_t *win, rma_peer_t *peer, rma_far_kind_t kind,
                      rma_far_wire_t *wire, const rma_side_t *side)
{
    char *packed;

    if (is_plain(side) && !wire->flag) {
        hold(win, peer, kind, wire, side->address + wire->offset, wire->bytes);
    } else if (is_plain(side)) {
        rma_far_send(win, peer->rank, kind, wire, side->address + wire->offset, wire->bytes);
    } else {
        packed = rma_far_memory(mpi_buffer_take(self->worker, wire->bytes));
        mpi_type_pack(packed, side->address, side->count, side->type, wire->offset, wire->bytes);
        rma_far_send(win, peer->rank, kind, wire, packed, wire->bytes);
        mpi_buffer_give(self->worker, packed);
    }
    rma_far_trace(win, peer->rank, RMA_TAG_LETTER, wire->bytes, true, NULL);
    if (!wire->flag || wire->bytes > HELD_SMALL) /* a result says that it is done */
        sent(peer, win, wire->bytes);
}

static rma_far_wire_t wire_of(const rma_operation_t *o, rma_peer_t *peer)
{
    const rma_shared_t *shared = o->win->shared;
    uint64_t address = (uint64_t)(uintptr_t)o->target.address;

    if (!rma_is_remote(o->win, o->rank)) /* mapped here */
        address += (uint64_t)(uintptr_t)shared->far[o->rank].place.base -
                   (uint64_t)(uintptr_t)shared->places[o->rank].base;
    return (rma_far_wire_t){.address = address,
                            .count = o->target.count,
                            .type = rma_far_type(o->win, peer, o->target.type)};
}

/* ---- Large messages ---- */

/* The request of a message with data of the window: it is part of an operation. */
static mpi_request_t *part_new(mpi_rank_t *self, mpi_win_t *win, mpi_request_kind_t kind,
                               const mpi_transfer_t *t, void (*over)(mpi_request_t *part),
                               void *extra)
{
    mpi_request_t *part = rma_far_memory(mpi_request_new(self, kind));

    mpi_request_describe(part, t);
    part->extra = extra;
    part->release = over;
    mpi_comm_hold(win->comm);
    mpi_type_hold(t->type);
    return part;
}

void rma_part_receive(mpi_win_t *win, int from, int tag, const rma_side_t *side,
                      void (*over)(mpi_request_t *part), void *extra)
{
    mpi_transfer_t t = {.comm = win->comm,
                        .buffer = side->address,
                        .count = side->count,
                        .type = side->type,
                        .peer = from,
                        .tag = tag};
    mpi_request_t *part = part_new(win->owner, win, XMPI_KIND_RECV, &t, over, extra);

    mpi_recv_start(win->owner, &t, part, false);
    if (part->is_done) /* it was here, or its sender has failed */
        mpi_request_free(part);
    else
        part->is_freed = true;
}

void rma_part_send(mpi_win_t *win, int to, int tag, const rma_side_t *side, uint64_t bytes,
                   const char *name)
{
    mpi_transfer_t t = {.comm = win->comm,
                        .buffer = side->address,
                        .count = side->count,
                        .type = side->type,
                        .peer = to,
                        .tag = tag};
    mpi_request_t *part = part_new(win->owner, win, XMPI_KIND_SEND, &t, NULL, win);
    xy_envelope_t envelope = {win->comm->context, win->rank, tag};

    part->is_freed = true;
    rma_far_trace(win, to, tag, bytes, true, name);
    if (mpi_remote_send(win->owner, mpi_comm_world_rank(win->comm, to), &t, bytes, &envelope, part))
        mpi_request_free(part); /* it was small */
}

/* The message of MPI_Win_complete comes behind all that was sent to `target`. */
void rma_far_follow(mpi_win_t *win, int target)
{
    if (win->far.peers != NULL && win->far.peers[target] != NULL)
        win->far.peers[target]->unflushed = 0;
}

static void get_over(mpi_request_t *part)
{
    rma_pending_t *pending = part->extra;

    if (part->completion.error == MPIX_ERR_PROC_FAILED)
        rma_pending_fail(pending);
    else
        rma_pending_come(pending, pending->left);
}

/* ---- Operations ---- */

bool rma_far_is_small(uint64_t bytes)
{
    return bytes <= mpi_job->eager_limit && mpi_remote_is_eager(bytes);
}

void rma_far_put(mpi_rank_t *self, rma_operation_t *o, const rma_side_t *origin)
{
    rma_peer_t *peer = rma_far_peer(o->win, o->rank);
    rma_far_wire_t wire;

    if (origin->bytes == 0)
        return;
    throttle(self, o->win, peer);
    wire = wire_of(o, peer);
    wire.bytes = origin->bytes;
    if (rma_far_is_small(origin->bytes)) {
        send_data(self, o->win, peer, RMA_FAR_PUT, &wire, origin);
        return;
    }
    wire.id = (uint64_t)(uintptr_t)pending_new(o, NULL, 1);
    rma_far_send(o->win, o->rank, RMA_FAR_PUT_LARGE, &wire, NULL, 0);
    rma_part_send(o->win, o->rank, RMA_TAG_PUT, origin, origin->bytes, NULL);
}

void rma_far_get(rma_operation_t *o, const rma_side_t *origin)
{
    rma_peer_t *peer = rma_far_peer(o->win, o->rank);
    bool is_small = rma_far_is_small(o->target.bytes);
    rma_pending_t *pending;
    rma_far_wire_t wire;

    if (o->target.bytes == 0)
        return;
    wire = wire_of(o, peer);
    wire.bytes = o->target.bytes;
    pending = pending_new(o, origin, o->target.bytes);
    pending->is_message = !is_small;
    wire.id = (uint64_t)(uintptr_t)pending;
    if (!is_small)
        rma_part_receive(o->win, o->rank, RMA_TAG_GET, origin, get_over, pending);
    rma_far_send(o->win, o->rank, is_small ? RMA_FAR_GET : RMA_FAR_GET_LARGE, &wire, NULL, 0);
}

void rma_far_accumulate(mpi_rank_t *self, rma_operation_t *o, const mpi_type_t *element,
                        const mpi_op_t *op, const rma_side_t *origin, const rma_side_t *result)
{
    rma_peer_t *peer = rma_far_peer(o->win, o->rank);
    uint64_t all = o->target.bytes, most = rma_far_room(element->size);
    rma_far_wire_t wire;

    wire = wire_of(o, peer);
    wire.op = (uint8_t)(op - mpi_op_table);
    if (result != NULL) {
        wire.flag = true;
        wire.id = (uint64_t)(uintptr_t)pending_new(o, result, all);
    }
    for (wire.offset = 0; wire.offset < all; wire.offset += wire.bytes) {
        throttle(self, o->win, peer);
        wire.type = rma_far_type(o->win, peer, o->target.type); /* a thread may have used others */
        wire.bytes = all - wire.offset < most ? all - wire.offset : most;
        if (origin != NULL) {
            send_data(self, o->win, peer, RMA_FAR_ACCUMULATE, &wire, origin);
        } else {
            rma_far_send(o->win, o->rank, RMA_FAR_ACCUMULATE, &wire, NULL, 0);
            if (wire.bytes > HELD_SMALL)
                sent(peer, o->win, 0);
        }
    }
}

void rma_far_swap(mpi_rank_t *self, rma_operation_t *o, const void *origin, const void *compare,
                  void *result)
{
    rma_peer_t *peer = rma_far_peer(o->win, o->rank);
    size_t size = o->target.type->size;
    rma_side_t to = {result, 1, o->target.type, size};
    rma_far_wire_t wire;
    char both[32];

    throttle(self, o->win, peer);
    wire = wire_of(o, peer);
    mpi_move(both, origin, size);
    mpi_move(both + size, compare, size);
    wire.bytes = size;
    wire.id = (uint64_t)(uintptr_t)pending_new(o, &to, size);
    rma_far_send(o->win, o->rank, RMA_FAR_SWAP, &wire, both, 2 * size);
    rma_far_trace(o->win, o->rank, RMA_TAG_LETTER, 2 * size, true, NULL);
}

bool rma_far_is_attached(mpi_win_t *win, int target, uint64_t low, uint64_t high, bool has_holes)
{
    rma_answers_t answers;

    rma_answers_begin(&answers, win, 0);
    rma_answers_ask(&answers, win, target, RMA_FAR_FIND,
                    (rma_far_wire_t){.address = low, .offset = high, .flag = has_holes});
    rma_answers_wait(win->owner, &answers);
    return answers.value != 0;
}
