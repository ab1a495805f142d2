/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives between two groups. An intercommunicator joins the two halves of a communicator's
 * members, which any rank can compute. In both directions, blocks have lengths of their own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

/* All ranks have the same ones. */
typedef struct {
    bool is_used;
    MPI_Comm handle; /* MPI_COMM_NULL where this rank is no member */
    comm_t own;      /* rank and size of the own group */
    int side, peers;
} inter_t;

static inter_t inters[INTERS_MAX];

static void drop(inter_t *n)
{
    if (n->is_used && n->handle != MPI_COMM_NULL)
        MPI_Comm_free(&n->handle);
    *n = (inter_t){.is_used = false, .handle = MPI_COMM_NULL};
}

void inter_end(void)
{
    for (int i = 0; i < INTERS_MAX; i++)
        drop(&inters[i]);
}

/* In which half a rank is, of its part of the communicator. */
static int side_of(int r, int share)
{
    return (int)(hash((uint64_t)step, 31, (uint64_t)r, 0) % 100) < share;
}

/* Members of a half of this rank's part, and the first of them by their ranks there. */
static int count_half(const comm_t *parent, int side, int share, int *first_p)
{
    int n = 0;

    *first_p = size;
    for (int r = 0; r < size; r++)
        if (parent->part[r] == parent->part[rank] && side_of(r, share) == side) {
            n++;
            if (parent->place[r] < *first_p)
                *first_p = parent->place[r];
        }
    return n;
}

static void join(inter_t *n, const comm_t *parent, int share, bool is_copied)
{
    int own_first, peers_first;
    MPI_Comm half, joined;

    n->side = side_of(rank, share);
    n->own.size = count_half(parent, n->side, share, &own_first);
    n->peers = count_half(parent, !n->side, share, &peers_first);
    if (n->peers == 0)
        return;
    MPI_Comm_split(parent->handle, n->side, parent->rank, &half);
    MPI_Comm_rank(half, &n->own.rank);
    MPI_Intercomm_create(half, 0, parent->handle, peers_first, step, &joined);
    MPI_Comm_free(&half);
    if (is_copied) {
        MPI_Comm_dup(joined, &n->handle);
        MPI_Comm_free(&joined);
    } else {
        n->handle = joined;
    }
}

void step_make_inter(void)
{
    inter_t *n = &inters[draw(&shared_random, INTERS_MAX)];
    const comm_t *parent = comm_draw(&shared_random);
    int share = 10 + draw(&shared_random, 80);
    bool is_copied = chance(&shared_random, 30);

    drop(n);
    n->is_used = true;
    if (parent->handle == MPI_COMM_NULL)
        return;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: new intercommunicator %d\n", rank, step, (int)(n - inters));
    join(n, parent, share, is_copied);
}

/* ---- Blocks ---- */

static bool is_of_root(const call_t *call)
{
    return call->side == call->root_side;
}

static bool is_root(const call_t *call)
{
    return call->root == MPI_ROOT;
}

static int own_id(const call_t *call)
{
    return inter_id(call->side, call->comm->rank);
}

static int peer_id(const call_t *call, int peer)
{
    return inter_id(!call->side, peer);
}

/* One side of a call with equal blocks. */
typedef struct {
    void *data;
    int count;
    MPI_Datatype type;
} part_t;

static part_t part_of(buffer_t *buffer, int n)
{
    MPI_Datatype type = buffer_type(buffer);

    return (part_t){buffer->base, form_count(buffer->form, n), type};
}

/* Blocks of `n` elements go out; to each its own, or the same to all. */
static part_t give(call_t *call, int blocks, int n, bool is_own)
{
    buffer_t *buffer = &call->pending->send;

    if (blocks == 0)
        return (part_t){NULL, 0, MPI_BYTE};
    buffer_create(buffer, form_draw(&own_random, call->basic, n), n * blocks, false);
    for (int b = 0; b < blocks; b++)
        block_fill(buffer, b * n, n, own_id(call), is_own ? peer_id(call, b) : 0);
    buffer_seal(buffer);
    return part_of(buffer, n);
}

/* Blocks of `n` elements come from as many peers, from `first` on. */
static part_t get(call_t *call, int first, int blocks, int n, bool is_own)
{
    buffer_t *buffer = &call->pending->receive;

    if (blocks == 0)
        return (part_t){NULL, 0, MPI_BYTE};
    buffer_create(buffer, form_draw(&own_random, call->basic, n), n * blocks, true);
    for (int b = 0; b < blocks; b++)
        block_expect(buffer, b * n, n, peer_id(call, first + b), is_own ? own_id(call) : 0);
    return part_of(buffer, n);
}

static void release(const part_t *a, const part_t *b)
{
    form_type_release(a->type);
    form_type_release(b->type);
}

static void inter_barrier(call_t *call)
{
    COLLECTIVE(call, Barrier, Ibarrier, call->handle);
}

static void inter_bcast(call_t *call)
{
    int n = draw_elements(&shared_random, call->limit);
    part_t out = give(call, is_root(call) ? 1 : 0, n, false);
    part_t in = get(call, call->root_place, is_of_root(call) ? 0 : 1, n, false);
    const part_t *part = is_of_root(call) ? &out : &in;

    COLLECTIVE(call, Bcast, Ibcast, part->data, part->count, part->type, call->root, call->handle);
    release(&out, &in);
}

static void inter_gather(call_t *call)
{
    int n = draw_elements(&shared_random, call->limit);
    part_t out = give(call, is_of_root(call) ? 0 : 1, n, false);
    part_t in = get(call, 0, is_root(call) ? call->peers : 0, n, false);

    COLLECTIVE(call, Gather, Igather, out.data, out.count, out.type, in.data, in.count, in.type,
               call->root, call->handle);
    release(&out, &in);
}

static void inter_scatter(call_t *call)
{
    int n = draw_elements(&shared_random, call->limit);
    part_t out = give(call, is_root(call) ? call->peers : 0, n, true);
    part_t in = get(call, call->root_place, is_of_root(call) ? 0 : 1, n, true);

    COLLECTIVE(call, Scatter, Iscatter, out.data, out.count, out.type, in.data, in.count, in.type,
               call->root, call->handle);
    release(&out, &in);
}

/* Elements of a block to group 0 and to group 1. */
static void draw_both(const call_t *call, int *n)
{
    n[0] = draw_elements(&shared_random, call->limit);
    n[1] = draw_elements(&shared_random, call->limit);
}

static void inter_allgather(call_t *call)
{
    int n[2];
    part_t out, in;

    draw_both(call, n);
    out = give(call, 1, n[!call->side], false);
    in = get(call, 0, call->peers, n[call->side], false);
    COLLECTIVE(call, Allgather, Iallgather, out.data, out.count, out.type, in.data, in.count,
               in.type, call->handle);
    release(&out, &in);
}

static void inter_alltoall(call_t *call)
{
    int n[2];
    part_t out, in;

    draw_both(call, n);
    out = give(call, call->peers, n[!call->side], true);
    in = get(call, 0, call->peers, n[call->side], true);
    COLLECTIVE(call, Alltoall, Ialltoall, out.data, out.count, out.type, in.data, in.count, in.type,
               call->handle);
    release(&out, &in);
}

/* ---- With blocks of different lengths ---- */

typedef struct {
    int *out, *out_at, *in, *in_at; /* [peers] */
} arrays_t;

/* `own`: each peer has a block of its own. */
static arrays_t arrays_create(call_t *call, bool gives, bool gets, bool is_own)
{
    size_t n = (size_t)call->peers;
    int *memory = calloc(4 * n, sizeof(*memory));
    arrays_t a = {memory, memory + n, memory + 2 * n, memory + 3 * n};
    form_t form = {call->basic, PLAIN};
    pending_t *p = call->pending;

    if (memory == NULL)
        fail("no memory for counts");
    p->arrays = memory;
    for (int b = 0; b < call->peers; b++) {
        int peer = peer_id(call, b), me = own_id(call);

        a.out[b] = gives ? block_elements(call, me, is_own ? peer : 0) : 0;
        a.in[b] = gets ? block_elements(call, peer, is_own ? me : 0) : 0;
    }
    if (gives)
        buffer_create(&p->send, form, is_own ? lay_out(call->peers, a.out, a.out_at) : a.out[0],
                      false);
    if (gets)
        buffer_create(&p->receive, form, lay_out(call->peers, a.in, a.in_at), true);
    for (int b = 0; b < call->peers; b++) {
        if (gives && (is_own || b == 0))
            block_fill(&p->send, a.out_at[b], a.out[b], own_id(call),
                       is_own ? peer_id(call, b) : 0);
        if (gets)
            block_expect(&p->receive, a.in_at[b], a.in[b], peer_id(call, b),
                         is_own ? own_id(call) : 0);
    }
    buffer_seal(&p->send);
    return a;
}

static void inter_gatherv(call_t *call)
{
    arrays_t a = arrays_create(call, !is_of_root(call), is_root(call), false);
    MPI_Datatype sent, received;
    pending_t *p = call->pending;

    sent = buffer_type(&p->send);
    received = buffer_type(&p->receive);
    COLLECTIVE(call, Gatherv, Igatherv, p->send.base, a.out[0], sent, p->receive.base, a.in,
               a.in_at, received, call->root, call->handle);
    form_type_release(sent);
    form_type_release(received);
}

static void inter_scatterv(call_t *call)
{
    arrays_t a = arrays_create(call, is_root(call), false, true);
    MPI_Datatype sent, received;
    pending_t *p = call->pending;
    int from = peer_id(call, call->root_place), n = 0;

    if (!is_of_root(call)) {
        n = block_elements(call, from, own_id(call));
        buffer_create(&p->receive, (form_t){call->basic, PLAIN}, n, true);
        block_expect(&p->receive, 0, n, from, own_id(call));
    }
    sent = buffer_type(&p->send);
    received = buffer_type(&p->receive);
    COLLECTIVE(call, Scatterv, Iscatterv, p->send.base, a.out, a.out_at, sent, p->receive.base, n,
               received, call->root, call->handle);
    form_type_release(sent);
    form_type_release(received);
}

static void inter_allgatherv(call_t *call)
{
    arrays_t a = arrays_create(call, true, true, false);
    MPI_Datatype sent, received;
    pending_t *p = call->pending;

    sent = buffer_type(&p->send);
    received = buffer_type(&p->receive);
    COLLECTIVE(call, Allgatherv, Iallgatherv, p->send.base, a.out[0], sent, p->receive.base, a.in,
               a.in_at, received, call->handle);
    form_type_release(sent);
    form_type_release(received);
}

static void inter_alltoallv(call_t *call)
{
    arrays_t a = arrays_create(call, true, true, true);
    MPI_Datatype sent, received;
    pending_t *p = call->pending;

    sent = buffer_type(&p->send);
    received = buffer_type(&p->receive);
    COLLECTIVE(call, Alltoallv, Ialltoallv, p->send.base, a.out, a.out_at, sent, p->receive.base,
               a.in, a.in_at, received, call->handle);
    form_type_release(sent);
    form_type_release(received);
}

static void inter_alltoallw(call_t *call)
{
    arrays_t a = arrays_create(call, true, true, true);
    pending_t *p = call->pending;
    MPI_Datatype *types = malloc((size_t)call->peers * sizeof(*types));

    if (types == NULL)
        fail("no memory for types");
    for (int b = 0; b < call->peers; b++) {
        types[b] = basic_type(call->basic);
        a.out_at[b] *= (int)basic_size(call->basic);
        a.in_at[b] *= (int)basic_size(call->basic);
    }
    COLLECTIVE(call, Alltoallw, Ialltoallw, buffer_at(&p->send), a.out, a.out_at, types,
               buffer_at(&p->receive), a.in, a.in_at, types, call->handle);
    free(types);
}

/* ---- The step ---- */

static const kind_t kinds[] = {
    {"barrier between groups", inter_barrier, false, false},
    {"bcast between groups", inter_bcast, false, false},
    {"gather between groups", inter_gather, true, false},
    {"scatter between groups", inter_scatter, true, false},
    {"allgather between groups", inter_allgather, true, false},
    {"alltoall between groups", inter_alltoall, true, false},
    {"gatherv between groups", inter_gatherv, true, true},
    {"scatterv between groups", inter_scatterv, true, true},
    {"allgatherv between groups", inter_allgatherv, true, true},
    {"alltoallv between groups", inter_alltoallv, true, true},
    {"alltoallw between groups", inter_alltoallw, true, true},
    {"reduce between groups", inter_reduce, false, false},
    {"allreduce between groups", inter_allreduce, false, false},
    {"reduce_scatter between groups", inter_reduce_scatter, false, false},
    {"reduce_scatter_block between groups", inter_reduce_scatter_block, false, false}};

const kind_t *inter_draw(call_t *call)
{
    const inter_t *n = &inters[draw(&shared_random, INTERS_MAX)];
    const kind_t *kind = &kinds[draw(&shared_random, (int)(sizeof(kinds) / sizeof(kinds[0])))];
    int limit = (chance(&shared_random, 10) ? 200000 : 10000) / size;

    *call = (call_t){.comm = &n->own, .handle = n->handle, .side = n->side, .peers = n->peers};
    call->how = chance(&shared_random, 25) ? BLOCKING : NONBLOCKING;
    call->basic = (basic_t)draw(&shared_random, BASIC_COUNT);
    call->root_side = draw(&shared_random, 2);
    call->root_place = draw(&shared_random, 1 << 20);
    call->limit = kind->is_large ? draw_elements(&shared_random, limit / size) : limit;
    if (!n->is_used || n->handle == MPI_COMM_NULL)
        return NULL;
    call->root_place %= call->root_side == n->side ? n->own.size : n->peers;
    call->root = call->root_side != n->side             ? call->root_place
                 : call->root_place == call->comm->rank ? MPI_ROOT
                                                        : MPI_PROC_NULL;
    return kind;
}

void step_inter(void)
{
    call_t call;
    const kind_t *kind = inter_draw(&call);

    if (kind == NULL)
        return;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: %s%s, root %d\n", rank, step, kind->name,
                call.how == BLOCKING ? "" : ", nonblocking", call.root);
    call.pending = pending_create(kind->name);
    collective_run(kind, &call);
    collective_finish(&call);
}
