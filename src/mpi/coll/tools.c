/* SPDX-License-Identifier: BSD-3-Clause */
/* The common tools of the kinds of collectives: scratch memory, copies in pieces, blocks of
 * vectors. */
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/runtime/runtime.h"

void *coll_scratch(size_t bytes)
{
    mpi_worker_t *worker = xy_worker_user(xy_worker_self());

    if (worker->scratch_size < bytes) {
        void *larger = xy_realloc(worker->scratch, bytes);

        if (larger == NULL) {
            xy_fail_memory("working on a collective");
            mpi_job->abort(1);
        }
        worker->scratch = larger;
        worker->scratch_size = bytes;
    }
    return worker->scratch;
}

enum { MOST_KEPT = 8 << 20 }; /* bytes that a worker keeps for copies */

xy_status_t coll_copy_get(coll_local_t *local, coll_call_t *call, size_t bytes)
{
    mpi_worker_t *worker = local->worker;

    if (worker->spare_size >= bytes) {
        call->copy = worker->spare;
        call->copy_size = worker->spare_size;
        worker->spare = NULL;
        worker->spare_size = 0;
        return XY_OK;
    }
    call->copy = xy_malloc(bytes);
    call->copy_size = bytes;
    return call->copy != NULL ? XY_OK : XY_ENOMEM;
}

/* The larger one of two stays. */
void coll_copy_put(coll_local_t *local, coll_call_t *call)
{
    mpi_worker_t *worker = local->worker;
    void *dropped = call->copy;

    if (call->copy_size > worker->spare_size && call->copy_size <= MOST_KEPT) {
        dropped = worker->spare;
        worker->spare = call->copy;
        worker->spare_size = call->copy_size;
    }
    xy_free(dropped);
    call->copy = NULL;
}

int64_t coll_copy_pieces(int64_t count, const mpi_type_t *a, const mpi_type_t *b)
{
    uint64_t bytes = (uint64_t)count * a->size;

    if (!mpi_type_is_contiguous(a) || !mpi_type_is_contiguous(b))
        return 1;
    return xy_direct_copy_pieces(bytes);
}

void coll_copy_piece(const coll_slot_t *slot, void *to, int64_t to_count, const mpi_type_t *to_type,
                     const void *from, int64_t from_count, const mpi_type_t *from_type, int64_t i)
{
    uint64_t offset = (uint64_t)i * XMPI_CHUNK;
    uint64_t room = (uint64_t)to_count * to_type->size;
    uint64_t bytes = (uint64_t)from_count * from_type->size;

    if (coll_copy_pieces(to_count, to_type, from_type) == 1) {
        coll_copy(to, to_count, to_type, from, from_count, from_type);
        return;
    }
    if (mpi_is_on_device(to) || mpi_is_on_device(from)) { /* one copy for all pieces */
        if (i == 0)
            coll_copy(to, to_count, to_type, from, from_count, from_type);
        return;
    }
    bytes = bytes < room ? bytes : room;
    if (offset >= bytes || to == from)
        return;
    bytes = bytes - offset < XMPI_CHUNK ? bytes - offset : XMPI_CHUNK;
    if (slot->is_streamed)
        mpi_copy_stream((char *)to + offset, (const char *)from + offset, bytes);
    else
        memcpy((char *)to + offset, (const char *)from + offset, bytes);
}

size_t coll_span(const mpi_type_t *type)
{
    return (size_t)(type->true_extent > type->extent ? type->true_extent : type->extent);
}

int64_t coll_block_elements(const coll_local_t *local, const coll_slot_t *slot,
                            const mpi_type_t *type)
{
    return xy_direct_block_elements(slot->bytes, coll_span(type), local->coll->size,
                                    coll_is_spread(local, slot));
}

void coll_slice(const coll_local_t *local, const coll_call_t *call, int64_t *begin, int64_t *end)
{
    xy_direct_slice(call->receive_count, coll_span(call->receive_type), local->index,
                    local->coll->locals, begin, end);
}

bool coll_exit_always(const coll_slot_t *slot)
{
    (void)slot;
    return true;
}

void coll_copy(void *to, int64_t to_count, const mpi_type_t *to_type, const void *from,
               int64_t from_count, const mpi_type_t *from_type)
{
    size_t bytes = (size_t)to_count * to_type->size;
    size_t sent = (size_t)from_count * from_type->size;

    if (sent < bytes)
        bytes = sent;
    if (bytes == 0 || coll_is_same(to, to_type, from, from_type))
        return;
    if (mpi_type_is_contiguous(to_type) && mpi_type_is_contiguous(from_type))
        mpi_copy(to, from, bytes);
    else
        mpi_type_copy(to, to_count, to_type, from, from_count, from_type, &bytes);
}

bool coll_exit_unpacked(const coll_slot_t *slot)
{
    return !slot->is_packed;
}
