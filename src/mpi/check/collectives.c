/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocks that a member sends from and receives into. What is in place is received into: no
 * other operation may use it, and the program must not read it.
 */
#include "mpi/check/collectives.h"

#include "mpi/check/allocations.h"
#include "mpi/check/check.h"
#include "mpi/check/cores.h"
#include "mpi/check/order.h"
#include "mpi/check/pending.h"
#include "mpi/check/shared_files.h"
#include "mpi/check/span.h"
#include "mpi/coll/coll.h"
#include "mpi/io/io.h"

static void add(const coll_call_t *call, const void *buffer, int64_t count, const mpi_type_t *type,
                bool is_receive)
{
    mpi_transfer_t t = {
        .buffer = (void *)(uintptr_t)buffer, .count = count, .type = (mpi_type_t *)(uintptr_t)type};

    if (count > 0 && type != NULL && buffer != NULL)
        check_pending_block(call->comm->owner, &t, call->request, is_receive);
}

/* A block that the call receives into. */
typedef struct {
    check_span_t span; /* first */
    check_area_t area;
} block_t;

/* Blocks that were received into before: does one of them have bytes of this one? */
typedef struct {
    const block_t *now, *found;
} search_t;

static bool meets(check_span_t *span, void *argument)
{
    search_t *search = argument;

    if (check_area_overlaps(&((const block_t *)span)->area, &search->now->area))
        search->found = (const block_t *)span;
    return search->found == NULL;
}

/* Blocks of one call may not have bytes in common. Without memory they are not compared. */
static void compare_blocks(const coll_call_t *call, const coll_side_t *side, int blocks)
{
    block_t *list = xy_malloc((size_t)blocks * sizeof(*list));
    check_spans_t spans = NULL;
    search_t search = {NULL, NULL};

    for (int i = 0; list != NULL && i < blocks && search.found == NULL; i++) {
        coll_block_t block = coll_block_at(side, i);

        if (block.count == 0)
            continue;
        list[i].area = check_area_make(block.at, block.count, block.type);
        list[i].span = (check_span_t){.low = list[i].area.low, .high = list[i].area.high};
        if (list[i].span.low == list[i].span.high)
            continue;
        search.now = &list[i];
        check_spans_each(spans, list[i].span.low, list[i].span.high, meets, &search);
        check_spans_add(&spans, &list[i].span);
    }
    if (search.found != NULL)
        check_pending_twice(call->comm->owner, (int)(search.found - list),
                            (int)(search.now - list));
    xy_free(list);
}

/* Gather, scatter, allgather, alltoall and their forms with vectors. */
static void add_side(const coll_call_t *call, bool is_receive, int blocks)
{
    coll_side_t side = coll_side_of(call, !is_receive);

    if (side.counts.data == NULL) { /* one behind the other */
        add(call, side.buffer, side.count * blocks, side.type, is_receive);
        return;
    }
    if (is_receive)
        compare_blocks(call, &side, blocks);
    for (int i = 0; i < blocks; i++) {
        coll_block_t block = coll_block_at(&side, i);

        add(call, block.at, block.count, block.type, is_receive);
    }
}

static int64_t sum_of_counts(const coll_call_t *call)
{
    int64_t sum = 0;

    for (int i = 0; i < call->comm->size; i++)
        sum += coll_count_at(call->receive_counts, i);
    return sum;
}

/* `given` elements are reduced, and `got` of the result stay here; 0: none. */
static void add_reduction(const coll_call_t *call, int64_t given, int64_t got)
{
    if (call->is_in_place)
        add(call, call->receive, given, call->receive_type, true);
    else
        add(call, call->send, given, call->receive_type, false);
    if (!call->is_in_place)
        add(call, call->receive, got, call->receive_type, true);
}

/* Add the buffers of a collective to those in use. */
static void add_buffers(const coll_call_t *call)
{
    int64_t count = call->receive_count;
    int size = call->comm->size;
    bool is_root = call->rank == call->root;

    switch (call->kind->collective) {
    case XY_COLL_BCAST:
        add(call, call->receive, count, call->receive_type, !is_root);
        break;
    case XY_COLL_REDUCE:
        add_reduction(call, count, is_root ? count : 0);
        break;
    case XY_COLL_ALLREDUCE:
    case XY_COLL_SCAN:
        add_reduction(call, count, count);
        break;
    case XY_COLL_EXSCAN: /* the first gets nothing */
        add_reduction(call, count, call->rank > 0 ? count : 0);
        break;
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        add_reduction(call, count * size, count);
        break;
    case XY_COLL_REDUCE_SCATTER:
        add_reduction(call, sum_of_counts(call), coll_count_at(call->receive_counts, call->rank));
        break;
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
    case XY_COLL_ALLTOALL:
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        add_side(call, false, coll_side_blocks(call, true));
        add_side(call, true, coll_side_blocks(call, false));
        break;
    default:
        break; /* no data */
    }
}

/* The same between two groups. A group that reduces for the other one gets nothing itself. */
static void add_inter_reduction(const coll_call_t *call)
{
    bool is_vector = call->receive_counts.data != NULL;
    int64_t count = call->receive_count;
    int64_t given = call->kind->collective == XY_COLL_REDUCE_SCATTER_BLOCK
                        ? count * (call->comm->size - coll_peers(call))
                        : count;

    if (is_vector)
        return; /* their sums are known to both groups together */
    if (coll_inter_gives(call))
        add(call, call->send, given, call->receive_type, false);
    if (coll_inter_gets(call))
        add(call, call->receive, count, call->receive_type, true);
}

/* Add the buffers of a collective between two groups to those in use. */
static void add_inter(const coll_call_t *call)
{
    bool is_root = call->kind->is_rooted && call->root == call->rank;
    int peers = coll_peers(call);

    if (coll_is_reduction(call->kind)) {
        add_inter_reduction(call);
        return;
    }
    if (coll_inter_gives(call))
        add_side(call, false, coll_inter_gives_one(call) ? 1 : peers);
    if (coll_inter_gets(call))
        add_side(call, true, call->kind->is_rooted && !is_root ? 1 : peers);
}

/* Does no member leave before all have come? */
static bool is_barrier(const coll_call_t *call)
{
    switch (call->kind->collective) {
    case XY_COLL_BARRIER:
        return true;
    case XY_COLL_ALLREDUCE:
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLTOALL:
        return call->bytes > 0;
    default:
        return false;
    }
}

/* Small results of a nonblocking call come into memory of the library first. The vectors of a
 * persistent one may know its buffers. */
static void set_apart(coll_call_t *call)
{
    void *receive;

    if (call->request == NULL || call->how != COLL_NONBLOCKING)
        return;
    receive = check_pending_apart(call->request, call->receive);
    /* Datatypes may put two buffers with one address in different places. */
    if (call->send == call->receive &&
        (call->is_in_place || call->kind->collective == XY_COLL_BCAST))
        call->send = receive;
    call->receive = receive;
}

/* Note a collective that begins, and its buffers. */
static void on_start(coll_call_t *call)
{
    coll_call_t mine = *call;

    if (!call->kind->is_inter && call->how != COLL_PERSISTENT) /* those start in any order */
        check_order_meet(call->comm->owner, call->comm, is_barrier(call));
    mine.rank = call->comm->rank; /* numbers come later */
    if (mpi_checks.buffers && call->kind->is_inter)
        add_inter(call);
    else if (mpi_checks.buffers && call->comm->coll->lows == 0)
        add_buffers(&mine);
    if (mpi_checks.buffers)
        set_apart(call);
}

/* Add a vector that the call must find unchanged until it is complete. */
static void add_vector(const coll_call_t *call, const mpi_request_t *request, coll_vector_t vector,
                       int blocks)
{
    mpi_transfer_t t = {.buffer = (void *)(uintptr_t)vector.data,
                        .count = blocks,
                        .type = mpi_type_of(vector.is_wide ? MPI_INT64_T : MPI_INT)};

    if (vector.data != NULL && blocks > 0)
        check_pending_vector(call->comm->owner, &t, request);
}

/* Add the vectors of a nonblocking call, as far as this member uses them. */
static void on_vectors(const coll_call_t *call, const mpi_request_t *request)
{
    coll_call_t mine = *call;

    if (call->kind->is_inter || call->comm->coll->lows > 0)
        return;
    mine.rank = call->comm->rank;
    for (int is_send = 0; is_send < 2; is_send++) {
        coll_side_t side = coll_side_of(call, is_send != 0);
        int blocks = coll_side_blocks(&mine, is_send != 0);

        if (side.counts.data == NULL)
            continue;
        add_vector(call, request, side.counts, blocks);
        if (side.displacements.data != side.counts.data)
            add_vector(call, request, side.displacements, blocks);
    }
}

static void on_access(mpi_rank_t *self, const io_access_t *access, const mpi_request_t *request)
{
    mpi_transfer_t t = {.buffer = access->memory, .count = access->count, .type = access->type};

    if (access->bytes > 0)
        check_pending_block(self, &t, request, !access->is_write);
    check_shared_files_access(self, access);
}

/* A buffer of a call that computes and does not communicate. */
static void on_local(const void *address, int64_t count, const mpi_type_t *type, bool is_result)
{
    mpi_rank_t *self = mpi_self;
    mpi_transfer_t t = {.buffer = (void *)(uintptr_t)address,
                        .count = count,
                        .type = (mpi_type_t *)(uintptr_t)type};

    if (self != NULL && self->call.name != NULL && !check_has_threads(self) &&
        check_order_is_outer(self, __builtin_frame_address(0)))
        check_pending_start(self, &t, NULL, is_result);
}

static void on_allocated(void *memory, size_t size)
{
    check_allocations_add(memory, size, mpi_self->call.caller);
}

static bool on_freed(const void *memory)
{
    return memory != NULL && check_allocations_free(memory, mpi_self->call.caller);
}

static void on_agreement(const mpi_comm_t *comm)
{
    check_order_meet(comm->owner, comm, true);
}

void check_collectives_begin(void)
{
    mpi_check_calls_t *calls = &mpi_dispatch.check;

    calls->collective = on_start;
    if (!mpi_checks.buffers)
        return;
    calls->vectors = on_vectors;
    calls->access = on_access;
    calls->local = on_local;
    calls->allocated = on_allocated;
    calls->freed = on_freed;
    calls->agreement = on_agreement;
    calls->close = check_shared_files_close;
}
