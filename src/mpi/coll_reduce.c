/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, allreduce, reduce_scatter.
 *
 * Small: each part reduces its members' data into its slot, then the parts' results are combined in
 * order by whoever needs the result. Large: each part takes a slice of the vector and reduces it
 * over all members, in blocks that stay in cache, straight from and to their buffers. Both take the
 * members in order of rank, so that operations need not commute and sums are repeatable.
 */
#include <string.h>

#include "mpi/coll.h"

enum { BLOCK = 32 << 10 };

static void *contribution(const coll_call_t *call)
{
    return call->is_in_place ? call->receive : (void *)(uintptr_t)call->send;
}

/* Through the slots? Parts must then hold neighbours, or the order would be lost. */
static bool is_small(const coll_part_t *part, const coll_slot_t *slot)
{
    const coll_call_t *call = slot->calls[0];

    return slot->bytes <= COLL_SMALL && mpi_type_is_contiguous(call->receive_type) &&
           part->coll->is_ordered;
}

static xy_status_t prepare(coll_part_t *part, coll_slot_t *slot)
{
    const coll_call_t *call = slot->calls[0];
    void **sources;

    slot->is_small = is_small(part, slot);
    if (!slot->is_small || slot->bytes == 0)
        return XY_OK;
    sources = coll_scratch(part->worker, (size_t)part->members * sizeof(*sources));
    if (sources == NULL)
        return XY_ENOMEM;
    for (int m = 0; m < part->members; m++)
        sources[m] = contribution(slot->calls[m]);
    mpi_op_reduce_many(call->op, sources, part->members, slot->data, call->receive_count,
                       call->receive_type);
    return XY_OK;
}

static bool is_large(const coll_slot_t *slot)
{
    return !slot->is_small;
}

/* The results of all parts, combined, in `out` (COLL_SMALL bytes). */
static void combine_parts(coll_part_t *part, coll_slot_t *slot, char *out)
{
    const coll_call_t *call = slot->calls[0];

    memcpy(out, coll_slot_of(part, slot, part->coll->parts - 1)->data, slot->bytes);
    for (int p = part->coll->parts - 2; p >= 0; p--)
        mpi_op_apply(call->op, coll_slot_of(part, slot, p)->data, out, call->receive_count,
                     call->receive_type);
}

/* A block of memory for `n` elements of `type`, and the sources' pointers behind it. */
typedef struct {
    void **contributions; /* of all members */
    void **sources;       /* the same, moved to the block at work */
    char *block;          /* as a buffer of the type: its lower bound is taken off */
    int64_t elements;     /* that fit */
} bench_t;

static bool bench_setup(coll_part_t *part, coll_slot_t *slot, const mpi_type_t *type, bench_t *b)
{
    size_t n = (size_t)part->coll->size;
    size_t span = (size_t)(type->true_extent > type->extent ? type->true_extent : type->extent);
    char *memory;

    b->elements = span > 0 && span < BLOCK ? (int64_t)(BLOCK / span) : 1;
    memory =
        coll_scratch(part->worker, 2 * n * sizeof(void *) + (size_t)(b->elements + 1) * span + 64);
    if (memory == NULL) {
        xy_fail_memory("reducing");
        mpi_job->abort(1);
        return false;
    }
    b->contributions = (void **)(void *)memory;
    b->sources = b->contributions + n;
    b->block = (char *)(b->sources + n);
    b->block += -(uintptr_t)b->block & 63;
    b->block -= type->true_lb;
    for (int r = 0; r < part->coll->size; r++)
        b->contributions[r] = contribution(coll_call_of(part, slot, r));
    return true;
}

/* block = the reduction over all members of elements [first, first + n). */
static void reduce_block(const coll_part_t *part, const coll_call_t *call, bench_t *b,
                         int64_t first, int64_t n)
{
    for (int r = 0; r < part->coll->size; r++)
        b->sources[r] = coll_element(b->contributions[r], first, call->receive_type);
    mpi_op_reduce_many(call->op, b->sources, part->coll->size, b->block, n, call->receive_type);
}

static void slice_of(const coll_part_t *part, int64_t count, int64_t *begin, int64_t *end)
{
    *begin = count * part->index / part->coll->parts;
    *end = count * (part->index + 1) / part->coll->parts;
}

/* This part's slice into the receive buffers of `targets` members: one root, or all. */
static void reduce_slice(coll_part_t *part, coll_slot_t *slot, bool all)
{
    const coll_call_t *call = slot->calls[0];
    const mpi_type_t *type = call->receive_type;
    int64_t begin, end;
    bench_t b;

    slice_of(part, call->receive_count, &begin, &end);
    if (begin == end || !bench_setup(part, slot, type, &b))
        return;
    for (int64_t i = begin; i < end; i += b.elements) {
        int64_t n = end - i < b.elements ? end - i : b.elements;

        reduce_block(part, call, &b, i, n);
        for (int r = all ? 0 : slot->root; r < (all ? part->coll->size : slot->root + 1); r++)
            coll_copy(coll_element(coll_call_of(part, slot, r)->receive, i, type), n, type, b.block,
                      n, type);
    }
}

static void allreduce_work(coll_part_t *part, coll_slot_t *slot)
{
    _Alignas(64) char result[COLL_SMALL];

    if (is_large(slot)) {
        reduce_slice(part, slot, true);
        return;
    }
    combine_parts(part, slot, result);
    for (int m = 0; m < part->members; m++)
        memcpy(slot->calls[m]->receive, result, slot->bytes);
}

const coll_kind_t coll_allreduce = {
    .name = "MPI_Allreduce", .prepare = prepare, .work = allreduce_work, .parts_again = is_large};

static void reduce_work(coll_part_t *part, coll_slot_t *slot)
{
    const mpi_coll_t *coll = part->coll;

    if (is_large(slot))
        reduce_slice(part, slot, false);
    else if (coll->part_of[slot->root] == part->index)
        combine_parts(part, slot, slot->calls[coll->place_of[slot->root]]->receive);
}

const coll_kind_t coll_reduce = {.name = "MPI_Reduce",
                                 .is_rooted = true,
                                 .prepare = prepare,
                                 .work = reduce_work,
                                 .parts_again = is_large};

static bool always(const coll_slot_t *slot)
{
    (void)slot;
    return true;
}

/* The elements of the whole vector that member `rank` receives. */
static void scatter_range(const coll_call_t *call, int rank, int64_t *begin, int64_t *count)
{
    if (call->receive_counts.data == NULL) {
        *begin = call->receive_count * rank;
        *count = call->receive_count;
        return;
    }
    *begin = 0;
    for (int r = 0; r < rank; r++)
        *begin += coll_at(call->receive_counts, r);
    *count = coll_at(call->receive_counts, rank);
}

/* In place, the result would overwrite what others still read: it waits in a copy. */
static void reduce_scatter_for(coll_part_t *part, coll_call_t *call, bench_t *b)
{
    const mpi_type_t *type = call->receive_type;
    int64_t begin, count;
    char *out = call->receive;

    scatter_range(call, call->rank, &begin, &count);
    if (call->is_in_place && count > 0) {
        size_t span = (size_t)(count - 1) * (size_t)type->extent + (size_t)type->true_extent;

        call->copy = xy_malloc(span);
        if (call->copy == NULL) {
            xy_fail_memory("reducing in place");
            mpi_job->abort(1);
            return;
        }
        out = (char *)call->copy - type->true_lb;
    }
    for (int64_t i = 0; i < count; i += b->elements) {
        int64_t n = count - i < b->elements ? count - i : b->elements;

        reduce_block(part, call, b, begin + i, n);
        coll_copy(coll_element(out, i, type), n, type, b->block, n, type);
    }
}

static void reduce_scatter_work(coll_part_t *part, coll_slot_t *slot)
{
    bench_t b;

    if (!bench_setup(part, slot, slot->calls[0]->receive_type, &b))
        return;
    for (int m = 0; m < part->members; m++)
        reduce_scatter_for(part, slot->calls[m], &b);
}

static void reduce_scatter_finish(coll_part_t *part, coll_slot_t *slot)
{
    for (int m = 0; m < part->members; m++) {
        coll_call_t *call = slot->calls[m];
        int64_t begin, count;

        if (call->copy == NULL)
            continue;
        scatter_range(call, call->rank, &begin, &count);
        coll_copy(call->receive, count, call->receive_type,
                  (char *)call->copy - call->receive_type->true_lb, count, call->receive_type);
    }
}

const coll_kind_t coll_reduce_scatter = {.name = "MPI_Reduce_scatter",
                                         .work = reduce_scatter_work,
                                         .finish = reduce_scatter_finish,
                                         .parts_again = always};
