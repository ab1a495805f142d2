/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on intercommunicators, direct like all others: they run on the hidden communicator of
 * both groups, in which the low group comes first, and every member reads the buffers of the other
 * group. There is no leader and no phase between the groups.
 *
 * All but reductions move blocks: the block that one member gives to another of the other group.
 * Reductions have two results, one for each group, of the vectors of the other; each local group
 * makes its slice of both.
 *
 * In the group of a root, the others know neither the root nor the size: see COLL_ROOT_LOW.
 */
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/runtime/runtime.h"

/* ---- Who gives what to whom ---- */

static bool flows_from_root(xy_collective_t c)
{
    return c == XY_COLL_BCAST || c == XY_COLL_SCATTER || c == XY_COLL_SCATTERV;
}

/* A member gives the same block to all, or gets one from one alone. */
static bool has_one_block(xy_collective_t c, bool is_send)
{
    if (!is_send)
        return flows_from_root(c);
    return c == XY_COLL_BCAST || c == XY_COLL_GATHER || c == XY_COLL_GATHERV ||
           c == XY_COLL_ALLGATHER || c == XY_COLL_ALLGATHERV;
}

bool coll_inter_gives(const coll_call_t *call)
{
    if (!call->kind->is_rooted)
        return true;
    return flows_from_root(call->kind->collective) ? call->root == call->rank
                                                   : call->root >= 0 && call->root != call->rank;
}

bool coll_inter_gets(const coll_call_t *call)
{
    if (!call->kind->is_rooted)
        return true;
    return flows_from_root(call->kind->collective) ? call->root >= 0 && call->root != call->rank
                                                   : call->root == call->rank;
}

bool coll_inter_gives_one(const coll_call_t *call)
{
    return has_one_block(call->kind->collective, true);
}

/* Does the side of the call that is not the root's meet this peer? */
static bool meets(const coll_call_t *call, int peer)
{
    return !call->kind->is_rooted || call->root == call->rank ||
           coll_peers_first(call) + peer == call->root;
}

coll_block_t coll_inter_block(const coll_call_t *call, bool is_send, int peer)
{
    coll_side_t side;

    if (!(is_send ? coll_inter_gives(call) : coll_inter_gets(call)) || !meets(call, peer))
        return (coll_block_t){0};
    side = coll_side_of(call, is_send);
    return coll_block_at(&side, has_one_block(call->kind->collective, is_send) ? 0 : peer);
}

/* A member that others take for the root must say so itself. */
static void check_root(const coll_local_t *local, const coll_slot_t *slot, int root)
{
    coll_call_t *call = coll_call_of(local, slot, root);
    coll_claim_t own = coll_claim_of(call), other = own;

    if (call->root == root)
        return;
    other.root = root;
    other.rank = coll_peers_first(call);
    coll_disagree(local->coll, coll_number_of(slot->seq, slot->mode), &other, &own);
}

/* ---- Blocks ---- */

/* From how many of the other group a member may get something. */
static int sources(const mpi_coll_t *coll, const coll_ops_t *kind)
{
    int highs = coll->size - coll->lows;

    if (flows_from_root(kind->collective))
        return 1;
    return coll->lows > highs ? coll->lows : highs;
}

/* The most pieces of a block that `call` gets. */
static int64_t depth(const coll_call_t *call)
{
    bool is_one = has_one_block(call->kind->collective, false);
    bool is_same = is_one || (call->receive_counts.data == NULL && call->receive_types == NULL);
    coll_side_t side = coll_side_of(call, false);
    int64_t most = 0;

    for (int i = 0; i < (is_same ? 1 : coll_peers(call)); i++) {
        coll_block_t b = coll_block_at(&side, i);
        int64_t n = b.count > 0 ? coll_copy_pieces(b.count, b.type, b.type) : 0;

        most = n > most ? n : most;
    }
    return most;
}

/* The number of pieces of the local group; checks the root that its members name. */
static int64_t move_pieces(const coll_local_t *local, coll_slot_t *slot)
{
    int64_t most = 0;

    for (int m = 0; m < local->members; m++) {
        const coll_call_t *call = slot->calls[m];
        int64_t n;

        if (call->kind->is_rooted && call->root >= 0)
            check_root(local, slot, call->root);
        n = coll_inter_gets(call) ? depth(call) : 0;
        most = n > most ? n : most;
    }
    return most * local->members * sources(local->coll, slot->kind);
}

static void move(const coll_slot_t *slot, const coll_call_t *from, const coll_call_t *to, int64_t i)
{
    coll_block_t give = coll_inter_block(from, true, to->rank - coll_peers_first(from));
    coll_block_t get = coll_inter_block(to, false, from->rank - coll_peers_first(to));

    if (give.count == 0 || get.type == NULL)
        return;
    coll_check_room(from, give.count, give.type, to, get.count, get.type);
    if (get.count > 0 && i < coll_copy_pieces(get.count, get.type, give.type))
        coll_copy_piece(slot, get.at, get.count, get.type, give.at, give.count, give.type, i);
}

/* A piece of one source goes to all members of the local group before the next is read. */
static void move_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    const coll_call_t *to = slot->calls[piece % local->members];
    int64_t rest = piece / local->members;
    int n = sources(local->coll, slot->kind), source = (int)(rest % n);

    if (!coll_inter_gets(to) || source >= coll_peers(to))
        return;
    source = flows_from_root(slot->kind->collective) ? to->root : coll_peers_first(to) + source;
    move(slot, coll_call_of(local, slot, source), to, rest / n);
}

/* ---- Reductions ---- */

/* The result of one group's vectors, for the other. */
typedef struct {
    int first, end;       /* the members whose vectors are reduced, */
    int to_first, to_end; /* and those who get something of the result */
    const coll_call_t *call;
    int64_t count;
} result_t;

int64_t coll_inter_vector(const coll_call_t *call)
{
    int own = call->comm->size - coll_peers(call);
    int64_t n = call->receive_count;

    if (call->kind->collective == XY_COLL_REDUCE_SCATTER_BLOCK)
        n *= own;
    for (int r = 0; call->receive_counts.data != NULL && r < own; r++)
        n += coll_count_at(call->receive_counts, r);
    return n;
}

/* False: the group gets nothing. */
static bool result_for(const coll_local_t *local, const coll_slot_t *slot, bool is_for_high,
                       result_t *result)
{
    const mpi_coll_t *coll = local->coll;
    bool is_rooted = slot->kind->is_rooted;

    if (is_rooted && (slot->root >= coll->lows) != is_for_high)
        return false;
    result->first = is_for_high ? 0 : coll->lows;
    result->end = is_for_high ? coll->lows : coll->size;
    result->to_first = is_rooted ? slot->root : is_for_high ? coll->lows : 0;
    result->to_end = is_rooted ? slot->root + 1 : is_for_high ? coll->size : coll->lows;
    result->call = coll_call_of(local, slot, result->first);
    result->count = coll_inter_vector(result->call);
    return true;
}

/* Elements of a piece, and this local group's slice of the vector. */
static int64_t cut(const coll_local_t *local, const coll_slot_t *slot, const result_t *result,
                   int64_t *begin, int64_t *end)
{
    const mpi_type_t *type = result->call->receive_type;

    xy_direct_slice(result->count, coll_span(type), local->index, local->coll->locals, begin, end);
    return coll_block_elements(local, slot, type);
}

static int64_t result_pieces(const coll_local_t *local, const coll_slot_t *slot, bool is_for_high)
{
    result_t result;
    int64_t begin, end, n;

    if (!result_for(local, slot, is_for_high, &result))
        return 0;
    n = cut(local, slot, &result, &begin, &end);
    return (end - begin + n - 1) / n;
}

static int64_t reduce_pieces(const coll_local_t *local, coll_slot_t *slot)
{
    if (slot->kind->is_rooted)
        check_root(local, slot, slot->root);
    return result_pieces(local, slot, false) + result_pieces(local, slot, true);
}

/* Elements of the share of a member, of its own type. */
static int64_t share_of(const coll_call_t *call)
{
    int place =
        call->rank < call->comm->coll->lows ? call->rank : call->rank - call->comm->coll->lows;

    return call->receive_counts.data != NULL ? coll_count_at(call->receive_counts, place)
                                             : call->receive_count;
}

/* Data bytes [from, from + bytes) of the result to those who want them. The groups may describe
 * their vectors by other types, as long as the data is the same. */
static void deliver(const coll_local_t *local, const coll_slot_t *slot, const result_t *result,
                    const char *data, uint64_t from, uint64_t bytes)
{
    bool is_scattered = slot->kind->collective == XY_COLL_REDUCE_SCATTER ||
                        slot->kind->collective == XY_COLL_REDUCE_SCATTER_BLOCK;
    uint64_t begin = 0;

    for (int r = result->to_first; r < result->to_end; r++) {
        const coll_call_t *to = coll_call_of(local, slot, r);
        int64_t count = share_of(to);
        uint64_t end = begin + (uint64_t)count * to->receive_type->size;
        uint64_t first = from > begin ? from : begin;
        uint64_t last = from + bytes < end ? from + bytes : end;

        if (first < last)
            mpi_type_unpack(to->receive, count, to->receive_type, data + (first - from),
                            first - begin, last - first);
        begin = is_scattered ? end : 0;
    }
}

/* Reduce a range of elements of all vectors of a group and deliver the result. */
static void reduce_range(const coll_local_t *local, const coll_slot_t *slot, const result_t *result,
                         int64_t begin, int64_t n)
{
    const mpi_type_t *type = result->call->receive_type;
    int vectors = result->end - result->first;
    size_t lines = ((size_t)vectors * sizeof(void *) + XMPI_LINES - 1) & ~(size_t)(XMPI_LINES - 1);
    size_t memory = (size_t)(n + 1) * coll_span(type);
    uint64_t bytes = (uint64_t)n * type->size;
    void **from = coll_scratch(lines + memory + bytes);
    char *out = (char *)from + lines - type->true_lb, *data = (char *)from + lines + memory;

    for (int i = 0; i < vectors; i++)
        from[i] = coll_element(coll_call_of(local, slot, result->first + i)->send, begin, type);
    mpi_op_reduce_many(result->call->op, from, vectors, out, n, type);
    if (mpi_type_is_contiguous(type))
        data = out;
    else
        mpi_type_pack(data, out, n, type, 0, bytes);
    deliver(local, slot, result, data, (uint64_t)begin * type->size, bytes);
}

static void reduce_piece(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    int64_t lows = result_pieces(local, slot, false), begin, end, n;
    bool is_for_high = piece >= lows;
    result_t result;

    if (!result_for(local, slot, is_for_high, &result))
        return;
    n = cut(local, slot, &result, &begin, &end);
    begin += (is_for_high ? piece - lows : piece) * n;
    if (begin < end)
        reduce_range(local, slot, &result, begin, end - begin < n ? end - begin : n);
}

/* ---- The kinds ---- */

#define MOVES                                                                                      \
    .is_inter = true, .pieces = move_pieces, .piece = move_piece,                                  \
    .needs_exit_barrier = coll_exit_always
#define REDUCES                                                                                    \
    .is_inter = true, .pieces = reduce_pieces, .piece = reduce_piece,                              \
    .needs_exit_barrier = coll_exit_always

const coll_ops_t coll_inter_bcast = {
    .name = "MPI_Bcast", .collective = XY_COLL_BCAST, .is_rooted = true, MOVES};
const coll_ops_t coll_inter_gather = {
    .name = "MPI_Gather", .collective = XY_COLL_GATHER, .is_rooted = true, MOVES};
const coll_ops_t coll_inter_gatherv = {
    .name = "MPI_Gatherv", .collective = XY_COLL_GATHERV, .is_rooted = true, MOVES};
const coll_ops_t coll_inter_scatter = {
    .name = "MPI_Scatter", .collective = XY_COLL_SCATTER, .is_rooted = true, MOVES};
const coll_ops_t coll_inter_scatterv = {
    .name = "MPI_Scatterv", .collective = XY_COLL_SCATTERV, .is_rooted = true, MOVES};
const coll_ops_t coll_inter_allgather = {
    .name = "MPI_Allgather", .collective = XY_COLL_ALLGATHER, MOVES};
const coll_ops_t coll_inter_allgatherv = {
    .name = "MPI_Allgatherv", .collective = XY_COLL_ALLGATHERV, MOVES};
const coll_ops_t coll_inter_alltoall = {
    .name = "MPI_Alltoall", .collective = XY_COLL_ALLTOALL, MOVES};
const coll_ops_t coll_inter_alltoallv = {
    .name = "MPI_Alltoallv", .collective = XY_COLL_ALLTOALLV, MOVES};
const coll_ops_t coll_inter_alltoallw = {
    .name = "MPI_Alltoallw", .collective = XY_COLL_ALLTOALLW, MOVES};
const coll_ops_t coll_inter_reduce = {
    .name = "MPI_Reduce", .collective = XY_COLL_REDUCE, .is_rooted = true, .stays = true, REDUCES};
const coll_ops_t coll_inter_allreduce = {
    .name = "MPI_Allreduce", .collective = XY_COLL_ALLREDUCE, REDUCES};
const coll_ops_t coll_inter_reduce_scatter = {
    .name = "MPI_Reduce_scatter", .collective = XY_COLL_REDUCE_SCATTER, REDUCES};
const coll_ops_t coll_inter_reduce_scatter_block = {
    .name = "MPI_Reduce_scatter_block", .collective = XY_COLL_REDUCE_SCATTER_BLOCK, REDUCES};
