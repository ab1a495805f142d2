/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serve the requests of other processes to members here: see far.h. On the worker of the member,
 * or, while its ranks compute, at its gate; nothing here waits.
 */
#include <string.h>

#include "mpi/rma/accumulate.h"
#include "mpi/rma/rma_survive.h"
#include "mpi/rma/sync.h"

/* One letter. */
typedef struct {
    int process;    /* of the origin */
    mpi_win_t *win; /* of the target */
    mpi_worker_t *worker;
    const rma_far_wire_t *wire;
    const char *data;
} letter_t;

/* The cards of all may not be here yet (rma_spread.c). */
static int world_of(const letter_t *l)
{
    return mpi_comm_world_rank(l->win->comm, l->wire->origin);
}

static void answer(const letter_t *l, uint64_t value)
{
    rma_far_wire_t wire = {.id = l->wire->id, .count = (int64_t)value};

    rma_far_reply(l->process, world_of(l), RMA_FAR_ANSWER, &wire, NULL, 0);
}

/* Send the data that operation `name` fetches. */
static void give(const letter_t *l, const char *name, const void *data, size_t size)
{
    rma_far_wire_t wire = {
        .id = l->wire->id, .offset = l->wire->offset, .bytes = size, .origin = l->win->rank};

    rma_far_reply(l->process, world_of(l), RMA_FAR_RESULT, &wire, data, size);
    rma_far_trace(l->win, l->wire->origin, RMA_TAG_LETTER, size, true, name);
}

/* Data has come with the letter. */
static void note_come(const letter_t *l, size_t bytes)
{
    rma_far_trace(l->win, l->wire->origin, RMA_TAG_LETTER, bytes, false, NULL);
}

/* The data at the target. */
static rma_side_t side_of(const letter_t *l)
{
    mpi_type_t *type = rma_far_known(rma_far_peer(l->win, l->wire->origin), l->wire->type);

    return (rma_side_t){(char *)(uintptr_t)l->wire->address, l->wire->count, type,
                        (size_t)l->wire->count * type->size};
}

/* ---- Put and get ---- */

static void put(const letter_t *l)
{
    rma_side_t to = side_of(l);

    note_come(l, l->wire->bytes);
    if (mpi_type_is_contiguous(to.type))
        mpi_move(to.address, l->data, l->wire->bytes);
    else
        mpi_type_unpack(to.address, to.count, to.type, l->data, 0, l->wire->bytes);
}

/* Send the data that a far origin gets, packed if they are not contiguous. */
static void get(const letter_t *l)
{
    rma_side_t from = side_of(l);
    char *packed;

    if (mpi_type_is_contiguous(from.type) && !mpi_is_on_device(from.address)) {
        give(l, "MPI_Get", from.address, l->wire->bytes);
        return;
    }
    packed = rma_far_memory(mpi_buffer_take(l->worker, l->wire->bytes));
    mpi_type_pack(packed, from.address, from.count, from.type, 0, l->wire->bytes);
    give(l, "MPI_Get", packed, l->wire->bytes);
    mpi_buffer_give(l->worker, packed);
}

/* A large put that is being received. */
typedef struct {
    int process, world;
    uint64_t id;
} large_t;

static void put_over(mpi_request_t *part)
{
    large_t *large = part->extra;
    rma_far_wire_t wire = {.id = large->id, .bytes = 1};

    rma_far_reply(large->process, large->world, RMA_FAR_DONE, &wire, NULL, 0);
    xy_free(large);
}

static void put_large(const letter_t *l)
{
    rma_side_t to = side_of(l);
    large_t *large = rma_far_memory(xy_malloc(sizeof(*large)));

    *large = (large_t){l->process, world_of(l), l->wire->id};
    rma_part_receive(l->win, l->wire->origin, RMA_TAG_PUT, &to, put_over, large);
}

static void get_large(const letter_t *l)
{
    rma_side_t from = side_of(l);

    rma_part_send(l->win, l->wire->origin, RMA_TAG_GET, &from, l->wire->bytes, "MPI_Get");
}

/* ---- Accumulates ---- */

static const char fetching[] = "MPI_Get_accumulate";

static rma_update_t update_of(const letter_t *l, const mpi_type_t *element)
{
    return (rma_update_t){
        .op = &mpi_op_table[l->wire->op],
        .type = element,
        .updates = &l->win->shared->targets[l->win->rank].updates,
        .worker = xy_worker_self() == l->worker->base ? l->worker : NULL,
    };
}

/* Elements whose data are side by side: they come and go as they are. */
static void accumulate_plain(const letter_t *l, const rma_update_t *u, const rma_side_t *target)
{
    size_t size = u->type->size, bytes = l->wire->bytes;
    char *result = l->wire->flag ? rma_far_memory(mpi_buffer_take(l->worker, bytes)) : NULL;

    rma_accumulate_part(u, target, l->wire->offset / size, bytes / size, l->data, result);
    if (result != NULL) {
        give(l, fetching, result, bytes);
        mpi_buffer_give(l->worker, result);
    }
}

/* Pairs with padding, which letters do not have. */
static void accumulate_padded(const letter_t *l, const rma_update_t *u, const rma_side_t *target)
{
    size_t size = u->type->size, bytes = l->wire->bytes, n = bytes / size;
    size_t room = n * (size_t)u->type->extent;
    char *elements = rma_far_memory(mpi_buffer_take(l->worker, 2 * room + bytes));
    char *result = l->wire->flag ? elements + room : NULL, *packed = elements + 2 * room;

    if (u->op->kind != XMPI_OP_KIND_NO_OP)
        mpi_type_unpack(elements, (int64_t)n, u->type, l->data, 0, bytes);
    rma_accumulate_part(u, target, l->wire->offset / size, n, elements, result);
    if (result != NULL) {
        mpi_type_pack(packed, result, (int64_t)n, u->type, 0, bytes);
        give(l, fetching, packed, bytes);
    }
    mpi_buffer_give(l->worker, elements);
}

static void accumulate(const letter_t *l)
{
    rma_side_t target = side_of(l);
    rma_update_t u = update_of(l, rma_element_of(target.type));

    if (u.op->kind != XMPI_OP_KIND_NO_OP)
        note_come(l, l->wire->bytes);
    if (u.type->is_contiguous)
        accumulate_plain(l, &u, &target);
    else
        accumulate_padded(l, &u, &target);
}

static void swap(const letter_t *l)
{
    rma_side_t target = side_of(l);
    rma_update_t u = update_of(l, target.type);
    char result[16];

    note_come(l, 2 * l->wire->bytes);
    rma_compare_and_swap(&u, target.address, l->data, l->data + l->wire->bytes, result);
    give(l, "MPI_Compare_and_swap", result, l->wire->bytes);
}

/* ---- Synchronisation ---- */

static void unlock(const letter_t *l, bool is_all)
{
    rma_far_unlock(l->win, l->wire->origin, is_all);
    answer(l, 0);
}

static void find(const letter_t *l)
{
    bool is = rma_is_attached(&l->win->shared->targets[l->win->rank], l->wire->address,
                              l->wire->offset, l->wire->flag);

    answer(l, is);
}

/* ---- What comes back ---- */

static void result(const rma_far_wire_t *wire, const char *data)
{
    rma_pending_t *pending = (rma_pending_t *)(uintptr_t)wire->id;
    const rma_side_t *to = &pending->to;

    if (mpi_type_is_contiguous(to->type))
        mpi_move(to->address + wire->offset, data, wire->bytes);
    else
        mpi_type_unpack(to->address, to->count, to->type, data, wire->offset, wire->bytes);
    rma_far_trace(pending->win, wire->origin, RMA_TAG_LETTER, wire->bytes, false, NULL);
    rma_pending_come(pending, wire->bytes);
}

/* ---- Letters ---- */

/* Do what a letter of a far origin asks for. */
static void serve(const letter_t *l, rma_far_kind_t kind)
{
    bool is_all = kind == RMA_FAR_LOCK_ALL || kind == RMA_FAR_UNLOCK_ALL;

    switch (kind) {
    case RMA_FAR_PUT:
        put(l);
        break;
    case RMA_FAR_PUT_LARGE:
        put_large(l);
        break;
    case RMA_FAR_GET:
        get(l);
        break;
    case RMA_FAR_GET_LARGE:
        get_large(l);
        break;
    case RMA_FAR_ACCUMULATE:
        accumulate(l);
        break;
    case RMA_FAR_SWAP:
        swap(l);
        break;
    case RMA_FAR_TYPE:
        rma_far_describe(rma_far_peer(l->win, l->wire->origin), l->wire, l->data);
        break;
    case RMA_FAR_FIND:
        find(l);
        break;
    case RMA_FAR_NOTE:
        rma_far_told(l->win, l->process, l->wire, l->data);
        break;
    case RMA_FAR_LOCK:
    case RMA_FAR_LOCK_ALL:
        if (mpi_survives && mpi_survive_is_failed(world_of(l)))
            break; /* it would never give it back */
        rma_far_lock(l->win, l->process, world_of(l), is_all, l->wire);
        break;
    case RMA_FAR_UNLOCK:
    case RMA_FAR_UNLOCK_ALL:
        unlock(l, is_all);
        break;
    default: /* FLUSH: all before it is done */
        answer(l, 0);
    }
}

void rma_far_serve(mpi_worker_t *worker, const remote_letter_t *letter)
{
    rma_far_kind_t kind = (rma_far_kind_t)letter->head.flags;
    rma_far_wire_t wire;

    remote_head_get(&letter->head, &wire);
    if (kind == RMA_FAR_RESULT) {
        result(&wire, letter->data);
    } else if (kind == RMA_FAR_DONE) {
        rma_pending_come((rma_pending_t *)(uintptr_t)wire.id, wire.bytes);
    } else if (kind == RMA_FAR_ANSWER) {
        if (mpi_survives)
            rma_survive_answered((rma_answers_t *)(uintptr_t)wire.id, letter->from);
        rma_answers_come((rma_answers_t *)(uintptr_t)wire.id, (uint64_t)wire.count);
    } else {
        letter_t l = {.process = letter->from,
                      .win = (mpi_win_t *)(uintptr_t)wire.window,
                      .worker = worker,
                      .wire = &wire,
                      .data = letter->data};
        const char *at = letter->data, *end = letter->data + wire.bytes;
        size_t size;

        if (mpi_survives && !mpi_life_is(&l.win->life, XMPI_LIFE_WINDOW))
            return; /* of a member that has failed, or was not told: rma_survive.h */
        if (kind != RMA_FAR_SEVERAL)
            serve(&l, kind);
        else
            while (rma_far_next(&at, end, &kind, &wire, &l.data, &size))
                serve(&l, kind);
    }
}
