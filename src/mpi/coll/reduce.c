/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, allreduce, reduce_scatter.
 *
 * Small: each local group reduces its members' data and leaves the result (in its slot, or in
 * memory for longer vectors), then the local groups' results are combined in order by each group
 * that needs them. Large: each local group takes a slice
 * of the vector and reduces it over all members, in blocks that stay in cache, straight from and to
 * their buffers. Both take the members in order of rank, so that operations need not commute and
 * sums are repeatable.
 */
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/star.h"
#include "mpi/runtime/runtime.h"

static void *contribution(const coll_call_t *call)
{
    return call->is_in_place ? call->receive : (void *)(uintptr_t)call->send;
}

/* Through the slots? Local groups must then hold neighbours, or the order would be lost. */
static bool is_small(const coll_local_t *local, const coll_slot_t *slot)
{
    const coll_call_t *call = slot->calls[0];

    return xy_direct_is_grouped(slot->bytes, local->coll->locals, local->coll->most_members) &&
           !coll_is_spread(local, slot) && mpi_type_is_contiguous(call->receive_type) &&
           local->coll->is_ordered;
}

/* Where local group `index` leaves its part of the result. */
static char *part_of(const coll_local_t *local, const coll_slot_t *slot, int index)
{
    size_t place = slot->seq % COLL_SLOTS;

    if (xy_direct_is_small(slot->bytes))
        return local->coll->local[index]->data[place];
    return local->coll->local[index]->wide + place * XY_DIRECT_GROUPED;
}

static xy_status_t make_wide(coll_local_t *local)
{
    if (local->wide == NULL)
        local->wide = xy_malloc((size_t)COLL_SLOTS * XY_DIRECT_GROUPED);
    return local->wide != NULL ? XY_OK : XY_ENOMEM;
}

/* The GPU that has what a member gives and gets, counted from 1; 0: none has both. */
static uint8_t device_of(coll_call_t *call, bool receives)
{
    int first = -1, second = -1;
    bool gives_there = mpi_device_has(contribution(call), &first);
    bool gets_there = receives && mpi_device_has(call->receive, &second);

    call->is_here = !gives_there && !gets_there;
    return gives_there && first < UINT8_MAX && (!receives || second == first) ? (uint8_t)(first + 1)
                                                                              : 0;
}

/* Each local group asks the driver about its own members: ranks that ask it at once wait for each
 * other. */
static __attribute__((noinline, cold)) void find_devices(const coll_local_t *local,
                                                         const coll_slot_t *slot)
{
    for (int m = 0; m < local->members; m++) {
        coll_call_t *call = slot->calls[m];

        call->device = device_of(call, !slot->kind->is_rooted || call->rank == slot->root);
    }
}

static __attribute__((noinline, cold)) bool is_any_on_device(void *const *sources, int n)
{
    for (int i = 0; i < n; i++)
        if (mpi_device_has(sources[i], NULL))
            return true;
    return false;
}

/* A part of the result, which is memory of the host. */
static void leave_part(const coll_call_t *call, void *const *sources, int n, char *part)
{
    if (__builtin_expect(mpi_device_is_used, 0) && is_any_on_device(sources, n))
        mpi_op_reduce_many(call->op, sources, n, part, call->receive_count, call->receive_type);
    else
        mpi_op_reduce_here(call->op, sources, n, part, call->receive_count, call->receive_type);
}

/* Decide how the vector is reduced, and leave the group's part of a small one in its slot. */
static xy_status_t prepare(coll_local_t *local, coll_slot_t *slot)
{
    const coll_call_t *call = slot->calls[0];
    void **sources;

    slot->is_small = is_small(local, slot);
    if (!slot->is_small && __builtin_expect(mpi_device_is_used, 0))
        find_devices(local, slot);
    if (!slot->is_small || slot->bytes == 0)
        return XY_OK;
    if (!xy_direct_is_small(slot->bytes) && make_wide(local) != XY_OK)
        return XY_ENOMEM;
    sources = coll_scratch((size_t)local->members * sizeof(*sources));
    for (int m = 0; m < local->members; m++)
        sources[m] = contribution(slot->calls[m]);
    leave_part(call, sources, local->members, part_of(local, slot, local->index));
    return XY_OK;
}

static bool is_large(const coll_slot_t *slot)
{
    return !slot->is_small;
}

/* As coll_data_of, for parts of any length. */
static const char *part_left_by(const coll_local_t *local, const coll_slot_t *slot, int index)
{
    if (xy_direct_is_small(slot->bytes))
        return coll_data_of(local, slot, index, slot->bytes);
    return part_of(local, slot, index);
}

/* The results of all local groups, combined, in `out`, which is memory of the host as they are. */
static void combine_parts(coll_local_t *local, coll_slot_t *slot, char *out)
{
    const coll_call_t *call = slot->calls[0];

    memcpy(out, part_left_by(local, slot, local->coll->locals - 1), slot->bytes);
    for (int p = local->coll->locals - 2; p >= 0; p--)
        mpi_op_apply_here(call->op, part_left_by(local, slot, p), out, call->receive_count,
                          call->receive_type);
}

/* block = the reduction over all members of elements [first, first + n), in scratch memory. */
static char *reduce_block(coll_local_t *local, coll_slot_t *slot, int64_t first, int64_t n)
{
    const coll_call_t *own = slot->calls[0];
    const mpi_type_t *type = own->receive_type;
    int size = local->coll->size;
    size_t span = coll_span(type);
    void **sources = coll_scratch((size_t)size * sizeof(*sources) + (size_t)(n + 1) * span + 64);
    char *block = (char *)(sources + size);
    bool is_here = true;

    block += -(uintptr_t)block & 63;
    block -= type->true_lb;
    for (int r = 0; r < size; r++) {
        const coll_call_t *call = coll_call_of(local, slot, r);

        sources[r] = coll_element(contribution(call), first, type);
        is_here = is_here && call->is_here;
    }
    if (is_here || !mpi_device_is_used)
        mpi_op_reduce_here(own->op, sources, size, block, n, type);
    else
        mpi_op_reduce_many(own->op, sources, size, block, n, type);
    return block;
}

/* ---- Vectors in the memory of a GPU: the first local group's worker starts one kernel ---- */

static __attribute__((noinline, cold)) bool is_for_device(const coll_local_t *local,
                                                          coll_slot_t *slot)
{
    const coll_call_t *own = slot->calls[0];
    int size = local->coll->size;

    for (int r = 0; r < size; r++)
        if (own->device == 0 || coll_call_of(local, slot, r)->device != own->device)
            return false;
    return mpi_op_has_kernel(own->op, size, slot->kind->is_rooted ? 1 : size, own->receive_type);
}

/* Reduce the whole vector on a device, from and to the buffers of all members. */
static void reduce_on_device(const coll_local_t *local, coll_slot_t *slot)
{
    const coll_call_t *own = slot->calls[0];
    int size = local->coll->size;
    int first = slot->kind->is_rooted ? slot->root : 0;
    int outs = slot->kind->is_rooted ? 1 : size;
    void **addresses = coll_scratch(2 * (size_t)size * sizeof(*addresses));

    for (int r = 0; r < size; r++)
        addresses[r] = contribution(coll_call_of(local, slot, r));
    for (int r = 0; r < outs; r++)
        addresses[size + r] = coll_call_of(local, slot, first + r)->receive;
    mpi_op_reduce_device(own->op, addresses, size, addresses + size, outs, own->receive_count,
                         own->receive_type);
}

/* Blocks of this local group's slice of the vector. */
static int64_t slice_pieces(const coll_local_t *local, coll_slot_t *slot)
{
    const coll_call_t *own = slot->calls[0];
    int64_t begin, end, n = coll_block_elements(local, slot, own->receive_type);

    if (slot->is_small)
        return 1;
    if (__builtin_expect(mpi_device_is_used, 0) && is_for_device(local, slot))
        return local->index == 0 ? 1 : 0;
    coll_slice(local, own, &begin, &end);
    return (end - begin + n - 1) / n;
}

static void put_block(void *to, const void *block, int64_t n, const mpi_type_t *type,
                      bool is_streamed)
{
    if (is_streamed && mpi_type_is_contiguous(type))
        mpi_copy_stream(to, block, (size_t)n * type->size);
    else
        coll_copy(to, n, type, block, n, type);
}

/* One block into the receive buffers of members [first, end). */
static void slice_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece, int first, int end)
{
    const mpi_type_t *type = slot->calls[0]->receive_type;
    int64_t n = coll_block_elements(local, slot, type), begin, stop;
    char *block;

    if (__builtin_expect(mpi_device_is_used, 0) && is_for_device(local, slot)) {
        reduce_on_device(local, slot);
        return;
    }
    coll_slice(local, slot->calls[0], &begin, &stop);
    begin += piece * n;
    n = stop - begin < n ? stop - begin : n;
    block = reduce_block(local, slot, begin, n);
    for (int r = first; r < end; r++)
        put_block(coll_element(coll_call_of(local, slot, r)->receive, begin, type), block, n, type,
                  slot->bytes * (uint64_t)(end - first) >= XMPI_STREAM_FROM);
}

/* Do one piece of an allreduce: a slice of a large vector, or all of a small one. */
static void allreduce_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    _Alignas(64) char small[COLL_SMALL];
    char *result = xy_direct_is_small(slot->bytes) ? small : NULL;

    if (is_large(slot)) {
        slice_piece(local, slot, piece, 0, local->coll->size);
        return;
    }
    if (result == NULL)
        result = coll_scratch(slot->bytes);
    combine_parts(local, slot, result);
    mpi_moves_begin();
    for (int m = 0; m < local->members; m++)
        mpi_move_out(slot->calls[m]->receive, result, slot->bytes);
    mpi_moves_end();
}

const coll_ops_t coll_allreduce = {.name = "MPI_Allreduce",
                                   .collective = XY_COLL_ALLREDUCE,
                                   .is_sized = true,
                                   .prepare = prepare,
                                   .pieces = slice_pieces,
                                   .piece = allreduce_piece,
                                   .needs_exit_barrier = is_large};

/* At the root. */
static void combine_for(coll_local_t *local, coll_slot_t *slot, void *receive)
{
    char *out = mpi_is_on_device(receive) ? coll_scratch(slot->bytes) : receive;

    combine_parts(local, slot, out);
    if (out != receive)
        mpi_move_out(receive, out, slot->bytes);
}

static void reduce_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    const mpi_coll_t *coll = local->coll;

    if (is_large(slot))
        slice_piece(local, slot, piece, slot->root, slot->root + 1);
    else if (coll->local_of[slot->root] == local->index)
        combine_for(local, slot, slot->calls[coll->place_of[slot->root]]->receive);
}

static bool reduce_fits(const mpi_coll_t *coll, const coll_call_t *call)
{
    return xy_direct_is_packed(call->bytes, (uint64_t)coll->most_members) &&
           mpi_type_is_contiguous(call->receive_type);
}

static bool reduce_leave(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    mpi_move_in(slot->data + (size_t)local->coll->place_of[call->rank] * call->bytes,
                contribution(call), call->bytes);
    return true;
}

/* Local groups that do not hold neighbours leave the order to the root. */
static void reduce_combine(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    _Alignas(64) char result[COLL_SMALL];
    void **sources;

    if (local->members == 1 || !local->coll->is_ordered)
        return;
    sources = coll_scratch((size_t)local->members * sizeof(*sources));
    for (int m = 0; m < local->members; m++)
        sources[m] = slot->data + (size_t)m * call->bytes;
    mpi_op_reduce_many(call->op, sources, local->members, result, call->receive_count,
                       call->receive_type);
    memcpy(slot->data, result, call->bytes);
}

/* The address of part `i` of the result: of a local group, or of a rank. */
static const char *reduce_part(const coll_local_t *local, const star_slot_t *slot,
                               const coll_call_t *root, int i)
{
    const mpi_coll_t *coll = local->coll;
    int group = coll->is_ordered ? i : coll->local_of[i];
    int blocks = coll->is_ordered ? 1 : coll->local[group]->members;

    return star_data_of(local, slot, group, (uint64_t)blocks * root->bytes) +
           (coll->is_ordered ? 0 : (size_t)coll->place_of[i] * root->bytes);
}

static void reduce_take(const coll_local_t *local, star_slot_t *slot, const coll_call_t *root)
{
    int last = (local->coll->is_ordered ? local->coll->locals : local->coll->size) - 1;
    char *out = mpi_is_on_device(root->receive) ? coll_scratch(root->bytes) : root->receive;

    memcpy(out, reduce_part(local, slot, root, last), root->bytes);
    for (int i = last - 1; i >= 0; i--)
        mpi_op_apply_here(root->op, reduce_part(local, slot, root, i), out, root->receive_count,
                          root->receive_type);
    if (out != root->receive)
        mpi_move_out(root->receive, out, root->bytes);
}

static const coll_star_ops_t reduce_star = {.shape = STAR_TO_ROOT,
                                            .fits = reduce_fits,
                                            .leave = reduce_leave,
                                            .combine = reduce_combine,
                                            .take = reduce_take};

const coll_ops_t coll_reduce = {.name = "MPI_Reduce",
                                .collective = XY_COLL_REDUCE,
                                .is_rooted = true,
                                .is_sized = true,
                                .star = &reduce_star,
                                .prepare = prepare,
                                .pieces = slice_pieces,
                                .piece = reduce_piece,
                                .needs_exit_barrier = is_large};

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
        *begin += coll_count_at(call->receive_counts, r);
    *count = coll_count_at(call->receive_counts, rank);
}

/* ---- Short shares, through the slots ---- */

static bool scatters_small(const coll_local_t *local, const coll_slot_t *slot)
{
    return !coll_is_spread(local, slot) && local->coll->locals > 1 && local->coll->is_ordered &&
           xy_direct_is_packed(slot->bytes, (uint64_t)local->coll->size) &&
           mpi_type_is_contiguous(slot->calls[0]->receive_type) && !mpi_device_is_used;
}

/* A group's part of the result is left from this element on, and what is before it behind: of two
 * groups, the share of the other one comes first, where eight bytes of it travel with the entry
 * barrier. */
static int64_t first_left(const coll_local_t *local, const coll_call_t *call, int index)
{
    const coll_local_t *group = local->coll->local[index];
    int64_t begin = 0, count = 0;

    if (local->coll->locals == 2 && index == 0)
        scatter_range(call, group->member[group->members - 1], &begin, &count);
    return begin + count;
}

/* Elements of the whole vector. */
static int64_t all_elements(const coll_local_t *local, const coll_call_t *call)
{
    int64_t begin, count;

    scatter_range(call, local->coll->size - 1, &begin, &count);
    return begin + count;
}

/* Reduce elements [begin, end) of the members' vectors to `part`. */
static void leave_range(const coll_local_t *local, const coll_slot_t *slot, int64_t begin,
                        int64_t end, char *part)
{
    const mpi_type_t *type = slot->calls[0]->receive_type;
    void **sources = coll_scratch((size_t)local->members * sizeof(*sources));

    for (int m = 0; m < local->members; m++)
        sources[m] = coll_element(contribution(slot->calls[m]), begin, type);
    if (end > begin)
        mpi_op_reduce_here(slot->calls[0]->op, sources, local->members, part, end - begin, type);
}

static void leave_shares(const coll_local_t *local, coll_slot_t *slot)
{
    const coll_call_t *call = slot->calls[0];
    int64_t first = first_left(local, call, local->index), all = all_elements(local, call);

    leave_range(local, slot, first, all, slot->data);
    leave_range(local, slot, 0, first,
                slot->data + (size_t)(all - first) * call->receive_type->size);
}

/* The elements of one share, from `begin` on, that local group `index` has left. */
static const char *share_left_by(const coll_local_t *local, const coll_slot_t *slot, int index,
                                 int64_t begin, int64_t count)
{
    const coll_call_t *call = slot->calls[0];
    int64_t first = first_left(local, call, index), all = all_elements(local, call);
    size_t at = (size_t)(begin - first + (begin < first ? all : 0)) * call->receive_type->size;

    return coll_data_of(local, slot, index, at + (size_t)count * call->receive_type->size) + at;
}

/* Combine what all groups have left of each member's share, in its receive buffer. */
static void take_shares(const coll_local_t *local, const coll_slot_t *slot)
{
    for (int m = 0; m < local->members; m++) {
        const coll_call_t *call = slot->calls[m];
        int64_t begin, count;
        int p = local->coll->locals - 1;

        scatter_range(call, call->rank, &begin, &count);
        if (count == 0)
            continue;
        memcpy(call->receive, share_left_by(local, slot, p, begin, count),
               (size_t)count * call->receive_type->size);
        while (--p >= 0)
            mpi_op_apply_here(call->op, share_left_by(local, slot, p, begin, count), call->receive,
                              count, call->receive_type);
    }
}

/* ---- Any shares ---- */

/* In place, the result would overwrite what others still read: it waits in a copy. */
static xy_status_t reduce_scatter_prepare(coll_local_t *local, coll_slot_t *slot)
{
    slot->is_small = scatters_small(local, slot);
    if (slot->is_small)
        leave_shares(local, slot);
    for (int m = 0; !slot->is_small && m < local->members; m++) {
        coll_call_t *call = slot->calls[m];
        const mpi_type_t *type = call->receive_type;
        int64_t begin, count;

        scatter_range(call, call->rank, &begin, &count);
        if (!call->is_in_place || count == 0)
            continue;
        if (coll_copy_get(local, call,
                          (size_t)(count - 1) * (size_t)type->extent + (size_t)type->true_extent) !=
            XY_OK)
            return XY_ENOMEM;
    }
    return XY_OK;
}

/* The most blocks that a member of the local group receives. */
static int64_t reduce_scatter_depth(const coll_local_t *local, const coll_slot_t *slot)
{
    int64_t most = 0, n = coll_block_elements(local, slot, slot->calls[0]->receive_type);

    for (int m = 0; m < local->members; m++) {
        int64_t begin, count;

        scatter_range(slot->calls[m], slot->calls[m]->rank, &begin, &count);
        most = (count + n - 1) / n > most ? (count + n - 1) / n : most;
    }
    return most;
}

static int64_t reduce_scatter_pieces(const coll_local_t *local, coll_slot_t *slot)
{
    return slot->is_small ? 1 : local->members * reduce_scatter_depth(local, slot);
}

/* Do one piece of a reduce-scatter: a range of one member's block. */
static void move_share(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    coll_call_t *call = slot->calls[piece % local->members];
    const mpi_type_t *type = call->receive_type;
    char *out = call->copy ? (char *)call->copy - type->true_lb : call->receive;
    int64_t n = coll_block_elements(local, slot, type), i = piece / local->members * n, begin,
            count;

    scatter_range(call, call->rank, &begin, &count);
    if (i >= count)
        return;
    n = count - i < n ? count - i : n;
    coll_copy(coll_element(out, i, type), n, type, reduce_block(local, slot, begin + i, n), n,
              type);
}

static void reduce_scatter_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    if (slot->is_small)
        take_shares(local, slot);
    else
        move_share(local, slot, piece);
}

static void reduce_scatter_finish(coll_local_t *local, coll_slot_t *slot)
{
    for (int m = 0; m < local->members; m++) {
        coll_call_t *call = slot->calls[m];
        int64_t begin, count;

        if (call->copy == NULL)
            continue;
        scatter_range(call, call->rank, &begin, &count);
        coll_copy(call->receive, count, call->receive_type,
                  (char *)call->copy - call->receive_type->true_lb, count, call->receive_type);
    }
}

const coll_ops_t coll_reduce_scatter = {.name = "MPI_Reduce_scatter",
                                        .collective = XY_COLL_REDUCE_SCATTER,
                                        .is_sized = true,
                                        .prepare = reduce_scatter_prepare,
                                        .pieces = reduce_scatter_pieces,
                                        .piece = reduce_scatter_piece,
                                        .finish = reduce_scatter_finish,
                                        .needs_exit_barrier = is_large};

const coll_ops_t coll_reduce_scatter_block = {.name = "MPI_Reduce_scatter_block",
                                              .collective = XY_COLL_REDUCE_SCATTER_BLOCK,
                                              .is_sized = true,
                                              .prepare = reduce_scatter_prepare,
                                              .pieces = reduce_scatter_pieces,
                                              .piece = reduce_scatter_piece,
                                              .finish = reduce_scatter_finish,
                                              .needs_exit_barrier = is_large};
