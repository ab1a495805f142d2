/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/virtual/data.h"

#include <string.h>

xy_status_t virtual_data_init(virtual_data_t *data, int size)
{
    *data = (virtual_data_t){.size = size};
    data->inputs = xy_calloc((size_t)size, sizeof(*data->inputs));
    return data->inputs != NULL ? XY_OK : XY_ENOMEM;
}

void virtual_data_cleanup(virtual_data_t *data)
{
    for (int r = 0; data->inputs != NULL && r < data->size; r++) {
        xy_free(data->inputs[r].memory);
        xy_free(data->inputs[r].offsets);
        xy_free(data->inputs[r].signatures);
    }
    xy_free(data->inputs);
    xy_free(data->result);
    xy_free(data->high_result);
    *data = (virtual_data_t){0};
}

/* ---- Vectors of reductions ---- */

/* How many elements the vector has that a member gives. */
static int64_t vector_count(const coll_call_t *call)
{
    int64_t n = call->receive_count;

    if (call->kind->is_inter)
        return coll_inter_vector(call);
    if (call->kind->collective == XY_COLL_REDUCE_SCATTER_BLOCK)
        n *= call->comm->size;
    if (call->receive_counts.data != NULL)
        n = 0;
    for (int r = 0; call->receive_counts.data != NULL && r < call->comm->size; r++)
        n += coll_count_at(call->receive_counts, r);
    return n;
}

static size_t vector_bytes(const coll_call_t *call)
{
    return (size_t)(vector_count(call) + 1) * coll_span(call->receive_type);
}

/* The nominal address of its first element, which may lie before the memory. */
static char *vector_at(const coll_call_t *call, char *memory)
{
    return memory - call->receive_type->true_lb;
}

static xy_status_t give_vector(virtual_input_t *input, const coll_call_t *call)
{
    const void *from = call->is_in_place ? call->receive : call->send;
    int64_t n = vector_count(call);

    input->memory = xy_malloc(vector_bytes(call));
    if (input->memory == NULL)
        return XY_ENOMEM;
    coll_copy(vector_at(call, input->memory), n, call->receive_type, from, n, call->receive_type);
    return XY_OK;
}

static void reduce(const virtual_data_t *data, const coll_call_t *call, void *out)
{
    void **sources = coll_scratch((size_t)data->size * sizeof(*sources));

    for (int r = 0; r < data->size; r++)
        sources[r] = vector_at(call, data->inputs[r].memory);
    mpi_op_reduce_many(call->op, sources, data->size, out, vector_count(call), call->receive_type);
}

/* The same for all members: the first one makes it. */
static xy_status_t make_result(virtual_data_t *data, const coll_call_t *call)
{
    if (data->result != NULL)
        return XY_OK;
    data->result = xy_malloc(vector_bytes(call));
    if (data->result == NULL)
        return XY_ENOMEM;
    reduce(data, call, vector_at(call, data->result));
    return XY_OK;
}

/* Elements [first, first + count) of the result. */
static xy_status_t take_share(virtual_data_t *data, const coll_call_t *call, int64_t first,
                              int64_t count)
{
    const mpi_type_t *type = call->receive_type;

    if (make_result(data, call) != XY_OK)
        return XY_ENOMEM;
    coll_copy(call->receive, count, type, coll_element(vector_at(call, data->result), first, type),
              count, type);
    return XY_OK;
}

/* Copy a member's share of a reduce-scatter into its buffer. */
static xy_status_t take_scattered(virtual_data_t *data, const coll_call_t *call)
{
    int64_t first = call->rank * call->receive_count, count = call->receive_count;

    if (call->receive_counts.data != NULL) {
        first = 0;
        for (int r = 0; r < call->rank; r++)
            first += coll_count_at(call->receive_counts, r);
        count = coll_count_at(call->receive_counts, call->rank);
    }
    if (count == 0)
        return XY_OK; /* it depends on no other, and they may not be here */
    return take_share(data, call, first, count);
}

/* Each input becomes the sum of those up to it, as far as a member needs it. */
static void take_scan(virtual_data_t *data, const coll_call_t *call, int last)
{
    const mpi_type_t *type = call->receive_type;
    int64_t n = call->receive_count;

    if (last < 0)
        return;
    for (int r = data->prefixes > 0 ? data->prefixes : 1; r <= last; r++) {
        mpi_op_apply(call->op, vector_at(call, data->inputs[r - 1].memory),
                     vector_at(call, data->inputs[r].memory), n, type);
        data->prefixes = r + 1;
    }
    coll_copy(call->receive, n, type, vector_at(call, data->inputs[last].memory), n, type);
}

/* Copy a member's result of a reduction or scan into its buffer. */
static xy_status_t take_reduction(virtual_data_t *data, const coll_call_t *call)
{
    switch (call->kind->collective) {
    case XY_COLL_REDUCE:
        if (call->rank == call->root)
            reduce(data, call, call->receive);
        return XY_OK;
    case XY_COLL_SCAN:
        take_scan(data, call, call->rank);
        return XY_OK;
    case XY_COLL_EXSCAN:
        take_scan(data, call, call->rank - 1);
        return XY_OK;
    case XY_COLL_ALLREDUCE:
        return take_share(data, call, 0, call->receive_count);
    default:
        return take_scattered(data, call);
    }
}

/* ---- Blocks ---- */

/* The blocks of a side, and whether they may differ in size. */
typedef struct {
    coll_side_t side;
    int first, end; /* the member's blocks */
    bool is_ragged;
} given_t;

/* The blocks that a member gives, with the side of its buffers that they are on. */
static given_t given_by(const coll_call_t *call)
{
    xy_collective_t c = call->kind->collective;
    bool is_root = call->rank == call->root;
    bool in_receive = call->is_in_place && c != XY_COLL_SCATTER && c != XY_COLL_SCATTERV;
    given_t g = {.side = coll_side_of(call, !in_receive && c != XY_COLL_BCAST)};

    if (c == XY_COLL_BCAST) {
        g.end = is_root ? 1 : 0;
    } else if (!in_receive) {
        g.end = coll_side_blocks(call, true);
    } else if (c == XY_COLL_ALLTOALL || c == XY_COLL_ALLTOALLV || c == XY_COLL_ALLTOALLW) {
        g.end = call->comm->size;
    } else if (is_root || !call->kind->is_rooted) { /* its own block of a gather */
        g.first = call->rank;
        g.end = g.first + 1;
    }
    g.is_ragged = g.side.counts.data != NULL;
    return g;
}

/* Compute the offsets of blocks with different sizes. */
static xy_status_t note_offsets(virtual_input_t *input, const given_t *g)
{
    int n = g->end - g->first;

    input->offsets = xy_malloc((size_t)(n + 1) * sizeof(uint64_t));
    if (input->offsets == NULL)
        return XY_ENOMEM;
    input->offsets[0] = 0;
    for (int i = 0; i < n; i++) {
        coll_block_t b = coll_block_at(&g->side, g->first + i);

        input->offsets[i + 1] = input->offsets[i] + coll_block_bytes(&b);
    }
    return XY_OK;
}

/* Note the signature of each block if blocks have different types. */
static xy_status_t note_signatures(virtual_input_t *input, const given_t *g)
{
    int n = g->end - g->first;

    input->signatures = xy_malloc((size_t)n * sizeof(uint16_t));
    if (input->signatures == NULL)
        return XY_ENOMEM;
    for (int i = 0; i < n; i++) {
        coll_block_t b = coll_block_at(&g->side, g->first + i);

        input->signatures[i] = coll_block_bytes(&b) > 0 ? b.type->signature : XMPI_SIGNATURE_ANY;
    }
    return XY_OK;
}

static uint64_t offset_of(const virtual_input_t *input, int block)
{
    return input->offsets != NULL ? input->offsets[block] : (uint64_t)block * input->block;
}

/* Pack the blocks that a member gives into memory of the collective; freed with it. */
static xy_status_t give_blocks(virtual_input_t *input, const coll_call_t *call)
{
    given_t g = given_by(call);
    int n = g.end - g.first;

    if (n == 0)
        return XY_OK;
    if (g.is_ragged && note_offsets(input, &g) != XY_OK)
        return XY_ENOMEM;
    if (g.side.types != NULL && note_signatures(input, &g) != XY_OK)
        return XY_ENOMEM;
    if (g.side.types == NULL)
        input->signature = g.side.type->signature;
    if (!g.is_ragged)
        input->block = (uint64_t)g.side.count * g.side.type->size;
    input->memory = xy_malloc(offset_of(input, n) + 1);
    if (input->memory == NULL)
        return XY_ENOMEM;
    for (int i = 0; i < n; i++) {
        coll_block_t b = coll_block_at(&g.side, g.first + i);

        if (coll_block_bytes(&b) > 0)
            mpi_type_pack(input->memory + offset_of(input, i), b.at, b.count, b.type, 0,
                          coll_block_bytes(&b));
    }
    return XY_OK;
}

/* Was the block compared before? A rank's block for itself when it called, and a broadcast when its
 * members met. */
static bool is_compared(const coll_call_t *call, int giver)
{
    return !call->kind->is_inter &&
           (giver == call->rank || call->kind->collective == XY_COLL_BCAST);
}

/* Block `index` of what member `giver` gave. */
static void take_block(const virtual_data_t *data, const coll_call_t *call, int giver, int index,
                       const coll_block_t *to)
{
    const virtual_input_t *from = &data->inputs[giver];
    uint64_t room = to->count > 0 ? coll_block_bytes(to) : 0, bytes;
    uint16_t signature;
    coll_call_t other;

    if (from->memory == NULL)
        return;
    bytes = offset_of(from, index + 1) - offset_of(from, index);
    if (bytes == 0)
        return;
    other = *call; /* the giver may have returned */
    other.rank = giver;
    if (bytes > room) {
        coll_refuse_excess(&other, call, bytes, room);
        return;
    }
    signature = from->signatures != NULL ? from->signatures[index] : from->signature;
    if (signature != to->type->signature && !is_compared(call, giver))
        coll_compare_types(&other, signature, call, to->type->signature, bytes);
    mpi_type_unpack(to->at, to->count, to->type, from->memory + offset_of(from, index), 0, bytes);
}

/* Copy the blocks that a member gets into its buffer. */
static void take_blocks(const virtual_data_t *data, const coll_call_t *call)
{
    xy_collective_t c = call->kind->collective;
    bool is_from_root =
        c == XY_COLL_BCAST || c == XY_COLL_SCATTER || c == XY_COLL_SCATTERV; /* one block */
    bool is_exchange = c == XY_COLL_ALLTOALL || c == XY_COLL_ALLTOALLV || c == XY_COLL_ALLTOALLW;
    coll_side_t side = coll_side_of(call, false);
    int n = coll_side_blocks(call, false);

    for (int i = 0; i < n; i++) {
        coll_block_t b;

        if (c == XY_COLL_BCAST && call->rank == call->root)
            continue;
        if (call->is_in_place && !is_exchange && i == call->rank)
            continue; /* it is there */
        b = coll_block_at(&side, i);
        take_block(data, call, is_from_root ? call->root : i,
                   is_exchange || (is_from_root && c != XY_COLL_BCAST) ? call->rank : 0, &b);
    }
}

/* ---- Between two groups ---- */

/* Pack the blocks that a member gives to the other group; one block if all get the same. */
static xy_status_t inter_give_blocks(virtual_input_t *input, const coll_call_t *call)
{
    bool is_one = coll_inter_gives_one(call);
    int peers = coll_peers(call), n = is_one ? 1 : peers, first = 0;

    /* The same for all, but only the root of a gather meets it. */
    if (is_one && call->kind->is_rooted && call->root != call->rank)
        first = call->root - coll_peers_first(call);
    input->offsets = xy_calloc((size_t)n + 1, sizeof(uint64_t));
    if (input->offsets == NULL)
        return XY_ENOMEM;
    for (int i = 0; i < n; i++) {
        coll_block_t b = coll_inter_block(call, true, first + i);

        input->offsets[i + 1] = input->offsets[i] + (b.count > 0 ? coll_block_bytes(&b) : 0);
    }
    input->memory = xy_malloc(input->offsets[n] + 1);
    if (input->memory == NULL)
        return XY_ENOMEM;
    for (int i = 0; i < n; i++) {
        coll_block_t b = coll_inter_block(call, true, first + i);

        if (b.count > 0)
            mpi_type_pack(input->memory + input->offsets[i], b.at, b.count, b.type, 0,
                          coll_block_bytes(&b));
    }
    return XY_OK;
}

/* The place of a member in its own group. */
static int inter_place(const coll_call_t *call)
{
    return coll_peers_first(call) == 0 ? call->rank - coll_peers(call) : call->rank;
}

static void inter_take_blocks(const virtual_data_t *data, const coll_call_t *call)
{
    int first = coll_peers_first(call);

    for (int p = 0; p < coll_peers(call); p++) {
        coll_block_t b = coll_inter_block(call, false, p);

        take_block(data, call, first + p, coll_inter_gives_one(call) ? 0 : inter_place(call), &b);
    }
}

/* Reduce the vectors of the other group. Both groups give the same type. */
static xy_status_t inter_make_result(virtual_data_t *data, const coll_call_t *call)
{
    bool is_high = coll_peers_first(call) == 0;
    char **result = is_high ? &data->high_result : &data->result;
    int first = coll_peers_first(call), n = coll_peers(call);
    void **sources;

    if (*result != NULL)
        return XY_OK;
    *result = xy_malloc(vector_bytes(call));
    if (*result == NULL)
        return XY_ENOMEM;
    sources = coll_scratch((size_t)n * sizeof(*sources));
    for (int r = 0; r < n; r++)
        sources[r] = vector_at(call, data->inputs[first + r].memory);
    mpi_op_reduce_many(call->op, sources, n, vector_at(call, *result), vector_count(call),
                       call->receive_type);
    return XY_OK;
}

/* Copy a member's result of a reduction between two groups, or its share, into its buffer. */
static xy_status_t inter_take_vector(virtual_data_t *data, const coll_call_t *call)
{
    const mpi_type_t *type = call->receive_type;
    bool is_scattered = call->kind->collective == XY_COLL_REDUCE_SCATTER ||
                        call->kind->collective == XY_COLL_REDUCE_SCATTER_BLOCK;
    int place = is_scattered ? inter_place(call) : 0;
    int64_t first = 0, n = call->receive_count;

    if (inter_make_result(data, call) != XY_OK)
        return XY_ENOMEM;
    for (int r = 0; r < place; r++)
        first += call->receive_counts.data != NULL ? coll_count_at(call->receive_counts, r) : n;
    if (call->receive_counts.data != NULL)
        n = coll_count_at(call->receive_counts, place);
    coll_copy(call->receive, n, type,
              coll_element(
                  vector_at(call, coll_peers_first(call) == 0 ? data->high_result : data->result),
                  first, type),
              n, type);
    return XY_OK;
}

static xy_status_t inter_give(virtual_input_t *input, const coll_call_t *call)
{
    if (!coll_inter_gives(call))
        return XY_OK;
    return call->op != NULL ? give_vector(input, call) : inter_give_blocks(input, call);
}

static xy_status_t inter_take(virtual_data_t *data, const coll_call_t *call)
{
    if (!coll_inter_gets(call))
        return XY_OK;
    if (call->op != NULL)
        return inter_take_vector(data, call);
    inter_take_blocks(data, call);
    return XY_OK;
}

/* ---- Both ---- */

static bool has_data(const coll_call_t *call)
{
    return call->kind->collective != XY_COLL_BARRIER && call->kind->collective != XY_COLL_COUNT;
}

xy_status_t virtual_data_give(virtual_data_t *data, const coll_call_t *call)
{
    virtual_input_t *input = &data->inputs[call->rank];

    if (!has_data(call))
        return XY_OK;
    if (call->kind->is_inter)
        return inter_give(input, call);
    return call->op != NULL ? give_vector(input, call) : give_blocks(input, call);
}

xy_status_t virtual_data_take(virtual_data_t *data, const coll_call_t *call)
{
    if (!has_data(call))
        return XY_OK;
    if (call->kind->is_inter)
        return inter_take(data, call);
    if (call->op != NULL)
        return take_reduction(data, call);
    take_blocks(data, call);
    return XY_OK;
}
