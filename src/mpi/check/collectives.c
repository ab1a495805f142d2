/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a member sends from and receives into, block by block. What is in place is received into: no
 * other operation may use it, and the program must not read it. Collectives on intercommunicators
 * are left out.
 */
#include "mpi/check/collectives.h"

#include "mpi/check/check.h"
#include "mpi/check/order.h"
#include "mpi/check/pending.h"
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

/* Gather, scatter, allgather, alltoall and their forms with vectors. */
static void add_side(const coll_call_t *call, bool is_receive)
{
    coll_side_t side = coll_side_of(call, !is_receive);
    int blocks = coll_side_blocks(call, !is_receive);

    if (side.counts.data == NULL) { /* one behind the other */
        add(call, side.buffer, side.count * blocks, side.type, is_receive);
        return;
    }
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
        add_side(call, false);
        add_side(call, true);
        break;
    default:
        break; /* no data */
    }
}

static void on_start(const coll_call_t *call)
{
    coll_call_t mine = *call;

    if (mpi_checks.windows && !call->kind->is_inter)
        check_order_meet(call->comm->owner, call->comm->context);
    mine.rank = call->comm->rank; /* numbers come later */
    if (mpi_checks.buffers && !call->kind->is_inter && call->comm->coll->lows == 0)
        add_buffers(&mine);
}

static void on_access(mpi_rank_t *self, const io_access_t *access, const mpi_request_t *request)
{
    mpi_transfer_t t = {.buffer = access->memory, .count = access->count, .type = access->type};

    if (access->bytes > 0)
        check_pending_block(self, &t, request, !access->is_write);
}

void check_collectives_begin(void)
{
    io_watch = mpi_checks.buffers ? on_access : NULL;
    coll_watch = on_start;
}
