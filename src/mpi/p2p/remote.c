/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/remote.h"

#include <string.h>

#include "mpi/p2p/p2p.h"
#include "mpi/p2p/p2p_engine.h"
#include "net/net.h"

/* Pieces of messages that are packed: large enough for the network, small enough for caches. Two
 * are on their way, so that one is packed while the other travels. */
enum { PIECE = 1 << 20, PIECES_AHEAD = 2 };

mpi_request_t mpi_remote_sender;

/* Limits of data that goes with its RTS: beyond them, a receiver that has to unpack would need much
 * memory at once, and asking first costs little. Its numbers differ from those of pieces. */
enum { EARLY_LIMIT = 16 << 20, EARLY_LIMIT_NEAR = 256 << 10, EARLY = 1 << 26 };

/* A message that is pulled. */
typedef struct {
    mpi_request_t *receive;
    int from;
    int32_t owner;
    uint64_t id;     /* of the send request, there */
    uint64_t wanted; /* bytes */
    uint64_t asked, taken;
    uint64_t piece; /* bytes at a time */
} pull_t;

/* A piece on its way. */
typedef struct {
    remote_mail_t mail; /* must be first */
    mpi_request_t *request;
    bool is_taken;  /* otherwise given */
    bool is_direct; /* into the memory of the rank */
    pull_t *pull;   /* taken; NULL: it was given with its RTS */
    uint64_t offset, length;
    uint64_t total; /* given: bytes that the receiver wants in all */
    char *buffer;   /* packed, to be freed; NULL: the program's own */
} piece_t;

static void *memory_or_abort(size_t bytes)
{
    void *memory = xy_malloc(bytes);

    if (memory == NULL) {
        xy_fail_memory("keeping a message between processes");
        mpi_job->abort(1);
    }
    return memory;
}

/* ---- Sends ---- */

_Static_assert(sizeof(remote_head_t) + sizeof(mpi_stamp_t) == XY_NET_HEADS, "");

uint64_t mpi_remote_room(const xy_net_t *net)
{
    return xy_net_eager_limit(net) - sizeof(remote_head_t) - sizeof(mpi_stamp_t);
}

/* The stamp of a message to another process of the job, where time is counted; else NULL. */
static inline const mpi_stamp_t *stamp_of(mpi_rank_t *self, const mpi_meeting_t *meeting,
                                          int process, mpi_stamp_t *stamp)
{
    if (__builtin_expect(!mpi_is_observed(self), 1) || self->account == NULL ||
        process >= mpi_job->processes)
        return NULL;
    mpi_account_stamp(self, meeting, stamp);
    return stamp;
}

/* A message is handled that may be timed; `receive`: that it has met, or NULL. */
static inline void note_stamp(const remote_head_t *head, const mpi_stamp_t *stamp,
                              const mpi_request_t *receive)
{
    if (__builtin_expect((head->flags & REMOTE_TIMED) != 0, 0))
        mpi_account_stamped(receive != NULL ? receive->comm->meeting : NULL, stamp);
}

uint64_t mpi_remote_eager_limit(void)
{
    const xy_net_t *hub = mpi_job->hub;
    uint64_t most = mpi_remote_room(mpi_job->net);

    if (hub != NULL && mpi_remote_room(hub) < most)
        most = mpi_remote_room(hub);
    return most < mpi_job->eager_between ? most : mpi_job->eager_between;
}

bool mpi_remote_is_eager(uint64_t bytes)
{
    return bytes <= mpi_remote_eager_limit();
}

/* Numbers of sequences of elements mean something in one process only. */
static uint16_t signature_of(const mpi_type_t *type)
{
    return type->signature < XMPI_TYPE_TABLE ? type->signature : XMPI_SIGNATURE_ANY;
}

/* May the transport read and write the buffer itself? Data with gaps, and data on a GPU, goes
 * through other memory. */
static bool is_plain(const void *buffer, const mpi_type_t *type)
{
    return mpi_type_is_contiguous(type) && !mpi_is_on_device(buffer);
}

/* May the network not write to buffers of the program? All data comes at once then. */
static bool is_protected(void)
{
    return mpi_p2p_engine != NULL && mpi_p2p_engine->touch != NULL;
}

static bool is_on_this_host(int process)
{
    const char *const *hosts = mpi_job->hosts;

    return hosts == NULL || strcmp(hosts[mpi_job->process], hosts[process]) == 0;
}

/* Through shared memory a library is faster when the receive of a large message is there first. */
static bool goes_early(const mpi_transfer_t *t, uint64_t bytes, int process)
{
    return bytes > 0 && xy_net_gives_early(mpi_network_to(process), mpi_network_number(process)) &&
           bytes <= (is_on_this_host(process) ? EARLY_LIMIT_NEAR : EARLY_LIMIT) &&
           is_plain(t->buffer, t->type) && !is_protected();
}

/* The request knows the number: it is needed if the message is taken back. */
static void give_early(int process, remote_head_t *head, const mpi_stamp_t *stamp,
                       const mpi_transfer_t *t, mpi_request_t *request)
{
    static _Atomic uint64_t gives;
    piece_t *piece = memory_or_abort(sizeof(*piece));

    *piece = (piece_t){.mail.kind = REMOTE_GAVE, .request = request};
    request->given =
        EARLY | (atomic_fetch_add_explicit(&gives, 1, memory_order_relaxed) & (EARLY - 1));
    head->flags |= REMOTE_GIVEN;
    mpi_network_send(process, head, stamp, &request->given, sizeof(request->given));
    xy_net_give(mpi_network_to(process), mpi_network_number(process), request->given, t->buffer,
                head->bytes, piece);
}

/* Send the data of an eager message, packed if its type is not contiguous or the buffer is on a
 * device. */
static void send_data(mpi_rank_t *self, int process, const remote_head_t *head,
                      const mpi_stamp_t *stamp, const mpi_transfer_t *t, uint64_t bytes)
{
    char *packed;

    mpi_engine_touch(t->buffer, t->count, t->type);
    if (bytes == 0 || is_plain(t->buffer, t->type)) {
        mpi_network_send(process, head, stamp, t->buffer, bytes);
        return;
    }
    packed = mpi_buffer_take(self->worker, bytes);
    if (packed == NULL) {
        xy_fail_memory("packing a message");
        mpi_job->abort(1);
    }
    mpi_type_pack(packed, t->buffer, t->count, t->type, 0, bytes);
    mpi_network_send(process, head, stamp, packed, bytes);
    mpi_buffer_give(self->worker, packed);
}

bool mpi_remote_send(mpi_rank_t *self, int to, const mpi_transfer_t *t, uint64_t bytes,
                     const xy_envelope_t *envelope, mpi_request_t *request)
{
    bool is_eager = mpi_remote_is_eager(bytes);
    bool waits = !is_eager || t->mode == XMPI_MODE_SYNCHRONOUS;
    int process = mpi_job->process_of[to];
    remote_head_t head = {.kind = is_eager ? REMOTE_EAGER : REMOTE_RTS,
                          .signature = signature_of(t->type),
                          .to = to,
                          .owner = self->world,
                          .bytes = bytes,
                          .id = (uint64_t)(uintptr_t)request,
                          .site = (uint64_t)(uintptr_t)self->call.caller};
    mpi_stamp_t room;
    const mpi_stamp_t *stamp = stamp_of(self, t->comm->meeting, process, &room);

    head.context = envelope->context;
    head.source = envelope->source;
    head.tag = envelope->tag;
    memcpy(head.claim, t->comm->claim, sizeof(head.claim));
    if (t->mode == XMPI_MODE_READY)
        head.flags |= REMOTE_READY;
    if (waits) {
        mpi_request_describe(request, t);
        request->given = 0;
    }
    if (is_eager) {
        head.flags |= waits ? REMOTE_SYNCHRONOUS : 0;
        send_data(self, process, &head, stamp, t, bytes);
    } else if (goes_early(t, bytes, process)) {
        give_early(process, &head, stamp, t, request);
    } else {
        head.flags |= mpi_type_is_contiguous(t->type) ? 0 : REMOTE_PACKS;
        mpi_network_send(process, &head, stamp, NULL, 0);
    }
    return !waits;
}

/* About a message that was sent: it is known by its request. */
static void follow(const mpi_request_t *request, remote_kind_t kind)
{
    int to = mpi_comm_world_rank(request->comm, request->peer);
    remote_head_t head = {.kind = (uint8_t)kind,
                          .to = to,
                          .owner = request->owner->world,
                          .bytes = request->bytes,
                          .id = (uint64_t)(uintptr_t)request,
                          .take = kind == REMOTE_SCRAP ? request->given : 0};

    mpi_network_send(mpi_job->process_of[to], &head, NULL, NULL, 0);
}

void mpi_remote_cancel(const mpi_request_t *request)
{
    follow(request, REMOTE_CANCEL);
}

void mpi_remote_release(const mpi_request_t *request)
{
    follow(request, REMOTE_RELEASE);
}

static mpi_request_t *request_of(const remote_head_t *head)
{
    return (mpi_request_t *)(uintptr_t)head->id;
}

/* The receiver wants a piece, or nothing at all. */
static void give(const remote_letter_t *letter)
{
    const remote_head_t *head = &letter->head;
    mpi_request_t *request = request_of(head);
    piece_t *piece;

    if (head->bytes == 0) {
        mpi_request_complete(request);
        return;
    }
    piece = memory_or_abort(sizeof(*piece));
    *piece = (piece_t){.mail.kind = REMOTE_PIECE,
                       .request = request,
                       .offset = head->offset,
                       .length = head->length_low | (uint64_t)head->length_high << 32,
                       .total = head->bytes};
    mpi_engine_touch(request->buffer, request->count, request->type);
    if (!is_plain(request->buffer, request->type)) {
        piece->buffer = memory_or_abort(piece->length);
        mpi_type_pack(piece->buffer, request->buffer, request->count, request->type, piece->offset,
                      piece->length);
    }
    mpi_network_count_pieces(1);
    xy_net_give(mpi_network_to(letter->from), mpi_network_number(letter->from), head->take,
                piece->buffer != NULL ? piece->buffer : (char *)request->buffer + piece->offset,
                piece->length, piece);
}

static void given(const piece_t *piece)
{
    mpi_request_t *request = piece->request;

    request->given += piece->length;
    if (request->given == piece->total)
        mpi_request_complete(request);
}

/* ---- Receives ---- */

static void answer(const remote_letter_t *letter, remote_kind_t kind)
{
    remote_head_t head = {.kind = (uint8_t)kind, .to = letter->head.owner, .id = letter->head.id};
    bool is_met = kind == REMOTE_DONE || kind == REMOTE_PULL;
    mpi_stamp_t stamp;

    mpi_network_send(letter->from, &head,
                     is_met ? stamp_of(&mpi_job->ranks[letter->head.to], NULL, letter->from, &stamp)
                            : NULL,
                     NULL, 0);
}

/* Pieces on their way into the memory of ranks; those for which there is no place here are not
 * found. */
enum { DIRECT = 64 };
static _Atomic(const piece_t *) direct[DIRECT];

/* The bytes that a piece fills in the memory of its rank. */
static char *bytes_of(const piece_t *piece)
{
    return (char *)piece->request->buffer + piece->offset;
}

/* Take a piece: into its own memory, or into that of the rank. */
static void take_piece(xy_net_t *net, int from, uint64_t number, piece_t *piece, size_t bytes)
{
    const piece_t *none = NULL;

    piece->is_direct = piece->buffer == NULL;
    for (int i = 0; piece->is_direct && i < DIRECT; i++, none = NULL)
        if (atomic_compare_exchange_strong(&direct[i], &none, piece))
            break;
    xy_net_take(net, from, number, piece->is_direct ? bytes_of(piece) : piece->buffer, bytes,
                piece);
}

static void forget_direct(const piece_t *piece)
{
    const piece_t *there = piece;

    for (int i = 0; piece->is_direct && i < DIRECT; i++, there = piece)
        if (atomic_compare_exchange_strong(&direct[i], &there, NULL))
            return;
}

mpi_rank_t *mpi_remote_receiver(const void *address)
{
    for (int i = 0; i < DIRECT; i++) {
        const piece_t *piece = atomic_load(&direct[i]);

        if (piece != NULL && (const char *)address >= bytes_of(piece) &&
            (const char *)address < bytes_of(piece) + piece->length)
            return piece->request->owner;
    }
    return NULL;
}

/* Ask for the next piece: first take, then pull. */
static void take_next(pull_t *pull)
{
    static _Atomic uint64_t takes;
    mpi_request_t *receive = pull->receive;
    piece_t *piece = memory_or_abort(sizeof(*piece));
    uint64_t left = pull->wanted - pull->asked;
    uint64_t length = left < pull->piece ? left : pull->piece;
    remote_head_t head = {.kind = REMOTE_PULL,
                          .to = pull->owner,
                          .bytes = pull->wanted,
                          .id = pull->id,
                          .take = atomic_fetch_add_explicit(&takes, 1, memory_order_relaxed) &
                                  (EARLY - 1),
                          .offset = pull->asked};
    mpi_stamp_t stamp;

    head.length_low = (uint32_t)length;
    head.length_high = (uint32_t)(length >> 32);
    *piece = (piece_t){.mail.kind = REMOTE_PIECE,
                       .request = receive,
                       .is_taken = true,
                       .pull = pull,
                       .offset = pull->asked,
                       .length = length};
    if (!is_plain(receive->buffer, receive->type) || is_protected())
        piece->buffer = memory_or_abort(length);
    pull->asked += length;
    mpi_network_count_pieces(1);
    take_piece(mpi_network_to(pull->from), mpi_network_number(pull->from), head.take, piece,
               length);
    mpi_network_send(pull->from, &head, stamp_of(receive->owner, NULL, pull->from, &stamp), NULL,
                     0);
}

static void unpack(const piece_t *piece, uint64_t length)
{
    const mpi_request_t *receive = piece->request;

    mpi_engine_touch(receive->buffer, receive->count, receive->type);
    if (piece->buffer != NULL)
        mpi_type_unpack(receive->buffer, receive->count, receive->type, piece->buffer,
                        piece->offset, length);
}

/* A piece has come: unpack it and ask for the next one, or complete the receive. */
static void taken(piece_t *piece)
{
    mpi_request_t *receive = piece->request;
    pull_t *pull = piece->pull;

    forget_direct(piece);
    if (pull == NULL) {
        unpack(piece, receive->completion.bytes);
        mpi_request_complete(receive);
        mpi_engine_arrive(receive);
        return;
    }
    unpack(piece, piece->length);
    pull->taken += piece->length;
    if (pull->asked < pull->wanted) {
        take_next(pull);
    } else if (pull->taken == pull->wanted) {
        xy_free(pull);
        mpi_request_complete(receive);
        mpi_engine_arrive(receive);
    }
}

/* Take the data that came with its RTS, `bytes` under `number`; all of it, whatever room the
 * receive has. Without a receive it is scrap. */
static void take_early(int from, uint64_t number, uint64_t bytes, mpi_request_t *receive)
{
    piece_t *piece = memory_or_abort(sizeof(*piece));

    *piece =
        (piece_t){.mail.kind = REMOTE_PIECE, .request = receive, .is_taken = true, .length = bytes};
    if (receive == NULL || receive->completion.bytes < bytes || is_protected() ||
        !is_plain(receive->buffer, receive->type))
        piece->buffer = memory_or_abort(bytes);
    mpi_network_count_pieces(1);
    mpi_network_count_take();
    take_piece(mpi_job->net, from, number, piece, bytes);
}

static void take_given(const remote_letter_t *letter, mpi_request_t *receive)
{
    uint64_t number;

    memcpy(&number, letter->data, sizeof(number));
    take_early(letter->from, number, letter->head.bytes, receive);
}

bool mpi_remote_is_scrap(remote_mail_t *mail)
{
    piece_t *piece = (piece_t *)(void *)mail;

    if (piece->request != NULL)
        return false;
    xy_free(piece->buffer);
    xy_free(piece);
    mpi_network_count_pieces(-1);
    return true;
}

static void take_if_left(const mpi_message_t *m)
{
    const remote_letter_t *letter = (const remote_letter_t *)(const void *)m->data;

    if (m->sender == &mpi_remote_sender && letter->head.kind == REMOTE_RTS &&
        letter->head.flags & REMOTE_GIVEN)
        take_given(letter, NULL);
}

void mpi_remote_forget(const mpi_request_t *request)
{
    for (int i = 0; i < DIRECT; i++) {
        const piece_t *piece = atomic_load(&direct[i]);

        if (piece != NULL && piece->request == request)
            atomic_compare_exchange_strong(&direct[i], &piece, NULL);
    }
}

/* Has its sender died before its bytes were here? */
static bool is_dead_letter(const mpi_message_t *m,
                           bool (*is_dead)(const mpi_rank_t *rank, int world))
{
    const remote_letter_t *letter = (const remote_letter_t *)(const void *)m->data;

    if (m->sender == &mpi_remote_sender)
        return letter->head.kind == REMOTE_RTS && is_dead(m->to, letter->head.owner);
    return m->sender != NULL && is_dead(m->to, m->sender->owner->world);
}

void mpi_remote_drop_dead(mpi_rank_t *rank, bool (*is_dead)(const mpi_rank_t *rank, int world))
{
    for (xy_match_entry_t *e = rank->match.first, *next; e != NULL; e = next) {
        mpi_message_t *m = (mpi_message_t *)e;
        char *letter = m->sender == &mpi_remote_sender ? m->data : NULL;

        next = e->list_next;
        if (!is_dead_letter(m, is_dead))
            continue;
        mpi_message_drop(rank->worker, rank, m);
        xy_free(letter);
    }
}

void mpi_remote_take_left(void)
{
    for (int r = 0; r < mpi_job->size; r++) {
        const mpi_rank_t *rank = &mpi_job->ranks[r];

        if (!mpi_rank_is_here(mpi_job, r))
            continue;
        for (xy_match_entry_t *e = rank->match.first; e != NULL; e = e->list_next)
            take_if_left((mpi_message_t *)e);
        for (mpi_message_t *m = rank->first_taken; m != NULL; m = m->next_taken)
            take_if_left(m);
    }
}

/* Begin to pull a large message in pieces, several of them ahead. */
static void pull_begin(mpi_request_t *receive, const remote_letter_t *letter)
{
    bool packs = letter->head.flags & REMOTE_PACKS || !mpi_type_is_contiguous(receive->type);
    uint64_t wanted = receive->completion.bytes;
    pull_t *pull = memory_or_abort(sizeof(*pull));

    *pull = (pull_t){.receive = receive,
                     .from = letter->from,
                     .owner = letter->head.owner,
                     .id = letter->head.id,
                     .wanted = wanted,
                     .piece = packs && !is_protected() ? PIECE : wanted};
    for (int i = 0; i < PIECES_AHEAD && pull->asked < wanted; i++)
        take_next(pull);
}

/* Where the sender called is of interest only in reports. */
static const void *site_of(const mpi_request_t *receive, const remote_letter_t *letter)
{
    const remote_head_t *head = &letter->head;

    if (head->bytes <= receive->bytes && head->signature == receive->type->signature)
        return NULL;
    return mpi_network_site(letter->from, head->site);
}

void mpi_remote_receive(mpi_request_t *receive, remote_letter_t *letter)
{
    const remote_head_t *head = &letter->head;
    xy_envelope_t envelope = {head->context, head->source, head->tag};
    const void *site;

    if (memcmp(head->claim, receive->comm->claim, sizeof(head->claim)) != 0)
        mpi_dispatch.far.differs(receive, letter);
    note_stamp(head, &letter->stamp, receive);
    site = site_of(receive, letter);
    if (head->kind == REMOTE_EAGER) {
        if (head->flags & REMOTE_SYNCHRONOUS)
            answer(letter, REMOTE_DONE);
        mpi_receive_packed(receive, &envelope, letter->data, head->bytes, head->signature, site);
        mpi_engine_arrive(receive);
    } else {
        mpi_receive_set(receive, &envelope, head->bytes, head->signature, site);
        if (head->flags & REMOTE_GIVEN) {
            take_given(letter, receive);
        } else if (receive->completion.bytes > 0) {
            pull_begin(receive, letter);
        } else {
            answer(letter, REMOTE_PULL);
            mpi_request_complete(receive);
            mpi_engine_arrive(receive);
        }
    }
    xy_free(letter);
}

/* Inside an event of the network nothing may be asked of other processes, as reports do: what is
 * out of order is left to the mailbox. */
bool mpi_remote_deliver(const remote_head_t *head, const mpi_stamp_t *stamp, const char *data,
                        mpi_request_t **met_p)
{
    xy_envelope_t envelope = {head->context, head->source, head->tag};
    mpi_request_t *receive;

    *met_p = NULL;
    if (head->kind != REMOTE_EAGER || is_protected())
        return false;
    receive = (mpi_request_t *)xy_match_arrive(&mpi_job->ranks[head->to].match, &envelope);
    if (receive == NULL)
        return false;
    receive->is_posted = false;
    *met_p = receive;
    if (head->flags & REMOTE_SYNCHRONOUS || head->bytes > receive->bytes ||
        head->signature != receive->type->signature ||
        memcmp(head->claim, receive->comm->claim, sizeof(head->claim)) != 0)
        return false;
    note_stamp(head, stamp, receive);
    mpi_receive_packed(receive, &envelope, data, head->bytes, head->signature, NULL);
    return true;
}

const void *mpi_remote_site(const remote_letter_t *letter)
{
    return mpi_network_site(letter->from, letter->head.site);
}

/* A message has come: give it to the receive that matches, or keep it with its letter. */
static void arrive(mpi_worker_t *worker, remote_letter_t *letter)
{
    const remote_head_t *head = &letter->head;
    mpi_rank_t *to = &mpi_job->ranks[head->to];
    xy_envelope_t envelope = {head->context, head->source, head->tag};
    xy_match_entry_t *entry = xy_match_arrive(&to->match, &envelope);

    if (entry != NULL) {
        mpi_request_t *receive = (mpi_request_t *)entry;

        receive->is_posted = false;
        mpi_remote_receive(receive, letter);
        return;
    }
    if ((head->context & XMPI_CONTEXT_SHADOW) == 0)
        note_stamp(head, &letter->stamp, NULL);
    if (head->flags & REMOTE_READY && !mpi_engine_expects(to, &envelope))
        mpi_refuse_unready(to, head->tag, mpi_remote_site(letter));
    mpi_message_keep_remote(worker, to, &envelope, head->bytes, letter);
}

/* Found by its request, as inside a process; its letter is in `data`. NULL: a receive has met it.
 */
static mpi_message_t *find_unreceived(const remote_letter_t *letter)
{
    const mpi_rank_t *to = &mpi_job->ranks[letter->head.to];

    for (xy_match_entry_t *e = to->match.first; e != NULL; e = e->list_next) {
        mpi_message_t *m = (mpi_message_t *)e;
        const remote_letter_t *found = (const remote_letter_t *)(const void *)m->data;

        if (m->sender == &mpi_remote_sender && found->from == letter->from &&
            found->head.id == letter->head.id &&
            (found->head.kind != REMOTE_EAGER || found->head.flags & REMOTE_SYNCHRONOUS))
            return m;
    }
    return NULL;
}

static void take_back(mpi_worker_t *worker, const remote_letter_t *letter)
{
    mpi_message_t *m = find_unreceived(letter);
    char *found = m != NULL ? m->data : NULL;

    if (m == NULL)
        return;
    answer(letter, REMOTE_CANCELLED);
    mpi_message_drop(worker, &mpi_job->ranks[letter->head.to], m);
    xy_free(found);
}

/* Its sender need not wait any more. */
static void release(const remote_letter_t *letter)
{
    const mpi_message_t *m = find_unreceived(letter);
    remote_letter_t *found = m != NULL ? (remote_letter_t *)(void *)m->data : NULL;

    if (found == NULL || found->head.kind != REMOTE_EAGER)
        return;
    found->head.flags &= (uint8_t)~REMOTE_SYNCHRONOUS;
    answer(letter, REMOTE_DONE);
}

/* Handle a letter by its kind; frees it unless it was kept. */
static void handle_letter(mpi_worker_t *worker, remote_letter_t *letter)
{
    mpi_request_t *request = request_of(&letter->head);

    if (letter->mail.kind == REMOTE_PULL || letter->mail.kind == REMOTE_DONE)
        note_stamp(&letter->head, &letter->stamp, NULL);
    switch (letter->mail.kind) {
    case REMOTE_MET:
        mpi_remote_receive(letter->receive, letter);
        return;
    case REMOTE_EAGER:
    case REMOTE_RTS:
        arrive(worker, letter);
        return; /* it keeps the letter */
    case REMOTE_PULL:
        give(letter);
        break;
    case REMOTE_CANCEL:
        take_back(worker, letter);
        break;
    case REMOTE_RELEASE:
        release(letter);
        break;
    case REMOTE_ONE_SIDED:
        mpi_dispatch.far.one_sided(worker, letter);
        break;
    case REMOTE_SCRAP:
        take_early(letter->from, letter->head.take, letter->head.bytes, NULL);
        break;
    case REMOTE_CANCELLED:
        request->completion.is_cancelled = true;
        if (request->given != 0) /* with its RTS: GAVE completes it */
            follow(request, REMOTE_SCRAP);
        else
            mpi_request_complete(request);
        break;
    default:
        mpi_request_complete(request);
    }
    xy_free(letter);
}

void mpi_remote_handle(mpi_worker_t *worker, remote_mail_t *mail)
{
    piece_t *piece = (piece_t *)(void *)mail;
    remote_errand_t *errand = (remote_errand_t *)(void *)mail;

    if (mail->kind == REMOTE_ERRAND) {
        errand->run(errand); /* and may free it */
        return;
    }
    if (mail->kind == REMOTE_GAVE) {
        mpi_request_complete(piece->request);
        xy_free(piece);
        return;
    }
    if (mail->kind != REMOTE_PIECE) {
        handle_letter(worker, (remote_letter_t *)(void *)mail);
        return;
    }
    if (piece->is_taken)
        taken(piece);
    else
        given(piece);
    xy_free(piece->buffer);
    xy_free(piece);
    mpi_network_count_pieces(-1);
}

mpi_worker_t *mpi_remote_reader(const remote_head_t *head)
{
    return mpi_job->ranks[head->to].worker;
}

mpi_worker_t *mpi_remote_owner(const remote_mail_t *piece)
{
    return ((const piece_t *)(const void *)piece)->request->owner->worker;
}
