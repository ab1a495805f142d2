/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

int block_elements(const call_t *call, int a, int b)
{
    return (int)(hash((uint64_t)step, 11, (uint64_t)a, (uint64_t)b) % (uint64_t)(call->limit + 1));
}

void block_fill(buffer_t *buffer, int first, int elements, int from, int to)
{
    for (int i = 0; i < elements; i++)
        buffer_set(buffer, first + i, value_of(from, to, i));
}

void block_expect(buffer_t *buffer, int first, int elements, int from, int to)
{
    for (int i = 0; i < elements; i++)
        buffer_expect(buffer, first + i, value_of(from, to, i));
}

static form_t form_of(const call_t *call, int elements)
{
    return form_draw(&own_random, call->basic, elements);
}

/* All data are written, those of a receive buffer in place, too. */
static void over(call_t *call)
{
    buffer_seal(&call->pending->send);
    buffer_at(&call->pending->receive);
}

/* ---- With equal blocks ---- */

static void collective_barrier(call_t *call)
{
    COLLECTIVE(call, Barrier, Ibarrier, call->handle);
}

static void collective_bcast(call_t *call)
{
    bool is_root = call->comm->rank == call->root;
    int n = draw_elements(&shared_random, call->limit);
    buffer_t *buffer = is_root ? &call->pending->send : &call->pending->receive;
    MPI_Datatype type;
    int count;

    buffer_create(buffer, form_of(call, n), n, !is_root);
    if (is_root)
        block_fill(buffer, 0, n, call->root, 0);
    else
        block_expect(buffer, 0, n, call->root, 0);
    over(call);
    type = buffer_type(buffer);
    count = form_count(buffer->form, n);
    COLLECTIVE(call, Bcast, Ibcast, buffer->base, count, type, call->root, call->handle);
    form_type_release(type);
}

/* Send buffers of `out` elements and receive buffers of `in`; 0 blocks: not there. */
typedef struct {
    const void *send;
    void *receive;
    int send_count, receive_count;
    MPI_Datatype send_type, receive_type;
} sides_t;

static void sides_create(call_t *call, int n, int out, int in, sides_t *s)
{
    pending_t *p = call->pending;

    *s = (sides_t){.send_type = MPI_BYTE, .receive_type = MPI_BYTE};
    if (out > 0) {
        buffer_create(&p->send, form_of(call, n), n * out, false);
        s->send_type = buffer_type(&p->send);
        s->send = p->send.base;
        s->send_count = form_count(p->send.form, n);
    }
    if (in > 0) {
        buffer_create(&p->receive, form_of(call, n), n * in, true);
        s->receive_type = buffer_type(&p->receive);
        s->receive = p->receive.base;
        s->receive_count = form_count(p->receive.form, n);
    }
}

static void sides_destroy(const sides_t *s)
{
    form_type_release(s->send_type);
    form_type_release(s->receive_type);
}

static void collective_gather(call_t *call)
{
    const comm_t *c = call->comm;
    bool is_root = c->rank == call->root, in_place = is_root && call->is_in_place;
    int n = draw_elements(&shared_random, call->limit / c->size);
    sides_t s;

    sides_create(call, n, in_place ? 0 : 1, is_root ? c->size : 0, &s);
    if (!in_place)
        block_fill(&call->pending->send, 0, n, c->rank, 0);
    for (int r = 0; is_root && r < c->size; r++)
        block_expect(&call->pending->receive, r * n, n, r, 0);
    if (in_place) {
        block_fill(&call->pending->receive, c->rank * n, n, c->rank, 0);
        s.send = MPI_IN_PLACE;
    }
    over(call);
    COLLECTIVE(call, Gather, Igather, s.send, s.send_count, s.send_type, s.receive, s.receive_count,
               s.receive_type, call->root, call->handle);
    sides_destroy(&s);
}

static void collective_scatter(call_t *call)
{
    const comm_t *c = call->comm;
    bool is_root = c->rank == call->root, in_place = is_root && call->is_in_place;
    int n = draw_elements(&shared_random, call->limit / c->size);
    sides_t s;

    sides_create(call, n, is_root ? c->size : 0, in_place ? 0 : 1, &s);
    for (int r = 0; is_root && r < c->size; r++)
        block_fill(&call->pending->send, r * n, n, call->root, r);
    if (!in_place)
        block_expect(&call->pending->receive, 0, n, call->root, c->rank);
    else
        s.receive = MPI_IN_PLACE;
    over(call);
    COLLECTIVE(call, Scatter, Iscatter, s.send, s.send_count, s.send_type, s.receive,
               s.receive_count, s.receive_type, call->root, call->handle);
    sides_destroy(&s);
}

static void collective_allgather(call_t *call)
{
    const comm_t *c = call->comm;
    int n = draw_elements(&shared_random, call->limit / c->size);
    sides_t s;

    sides_create(call, n, call->is_in_place ? 0 : 1, c->size, &s);
    for (int r = 0; r < c->size; r++)
        block_expect(&call->pending->receive, r * n, n, r, 0);
    if (call->is_in_place) {
        block_fill(&call->pending->receive, c->rank * n, n, c->rank, 0);
        s.send = MPI_IN_PLACE;
    } else {
        block_fill(&call->pending->send, 0, n, c->rank, 0);
    }
    over(call);
    COLLECTIVE(call, Allgather, Iallgather, s.send, s.send_count, s.send_type, s.receive,
               s.receive_count, s.receive_type, call->handle);
    sides_destroy(&s);
}

static void collective_alltoall(call_t *call)
{
    const comm_t *c = call->comm;
    int n = draw_elements(&shared_random, call->limit / c->size);
    sides_t s;

    sides_create(call, n, call->is_in_place ? 0 : c->size, c->size, &s);
    for (int r = 0; r < c->size; r++) {
        block_fill(call->is_in_place ? &call->pending->receive : &call->pending->send, r * n, n,
                   c->rank, r);
        block_expect(&call->pending->receive, r * n, n, r, c->rank);
    }
    if (call->is_in_place)
        s.send = MPI_IN_PLACE;
    over(call);
    COLLECTIVE(call, Alltoall, Ialltoall, s.send, s.send_count, s.send_type, s.receive,
               s.receive_count, s.receive_type, call->handle);
    sides_destroy(&s);
}

/* ---- With blocks of different lengths ---- */

/* Counts and displacements of both sides, for the time of the call: collective_run. */
typedef struct {
    int *send_counts, *send_offsets, *receive_counts, *receive_offsets;
} arrays_t;

static void arrays_create(call_t *call, arrays_t *a)
{
    size_t n = (size_t)call->comm->size;
    int *memory = calloc(4 * n, sizeof(*memory));

    if (memory == NULL)
        fail("no memory for counts");
    call->pending->arrays = memory;
    *a = (arrays_t){memory, memory + n, memory + 2 * n, memory + 3 * n};
}

int lay_out(int n, const int *counts, int *offsets)
{
    int at = 0;
    bool is_reverse = chance(&own_random, 30);

    for (int k = 0; k < n; k++) {
        int r = is_reverse ? n - 1 - k : k;

        at += draw(&own_random, 3);
        offsets[r] = at;
        at += counts[r];
    }
    return at;
}

static form_t plain(const call_t *call)
{
    return (form_t){call->basic, PLAIN};
}

static void collective_gatherv(call_t *call)
{
    const comm_t *c = call->comm;
    bool is_root = c->rank == call->root, in_place = is_root && call->is_in_place;
    pending_t *p = call->pending;
    MPI_Datatype sent, received;
    int n = block_elements(call, c->rank, 0);
    arrays_t a;

    arrays_create(call, &a);
    for (int r = 0; r < c->size; r++)
        a.receive_counts[r] = block_elements(call, r, 0);
    if (is_root) {
        buffer_create(&p->receive, plain(call),
                      lay_out(c->size, a.receive_counts, a.receive_offsets), true);
        for (int r = 0; r < c->size; r++)
            block_expect(&p->receive, a.receive_offsets[r], a.receive_counts[r], r, 0);
    }
    if (in_place) {
        block_fill(&p->receive, a.receive_offsets[c->rank], n, c->rank, 0);
    } else {
        buffer_create(&p->send, plain(call), n, false);
        block_fill(&p->send, 0, n, c->rank, 0);
    }
    over(call);
    sent = buffer_type(&p->send);
    received = buffer_type(&p->receive);
    COLLECTIVE(call, Gatherv, Igatherv, in_place ? MPI_IN_PLACE : p->send.base, n, sent,
               p->receive.base, a.receive_counts, a.receive_offsets, received, call->root,
               call->handle);
    form_type_release(sent);
    form_type_release(received);
}

static void collective_scatterv(call_t *call)
{
    const comm_t *c = call->comm;
    bool is_root = c->rank == call->root, in_place = is_root && call->is_in_place;
    pending_t *p = call->pending;
    MPI_Datatype sent, received;
    int n = block_elements(call, c->rank, 0);
    arrays_t a;

    arrays_create(call, &a);
    for (int r = 0; r < c->size; r++)
        a.send_counts[r] = block_elements(call, r, 0);
    if (is_root) {
        buffer_create(&p->send, plain(call), lay_out(c->size, a.send_counts, a.send_offsets),
                      false);
        for (int r = 0; r < c->size; r++)
            block_fill(&p->send, a.send_offsets[r], a.send_counts[r], call->root, r);
    }
    if (!in_place) {
        buffer_create(&p->receive, plain(call), n, true);
        block_expect(&p->receive, 0, n, call->root, c->rank);
    }
    over(call);
    sent = buffer_type(&p->send);
    received = buffer_type(&p->receive);
    COLLECTIVE(call, Scatterv, Iscatterv, p->send.base, a.send_counts, a.send_offsets, sent,
               in_place ? MPI_IN_PLACE : p->receive.base, n, received, call->root, call->handle);
    form_type_release(sent);
    form_type_release(received);
}

static void collective_allgatherv(call_t *call)
{
    const comm_t *c = call->comm;
    pending_t *p = call->pending;
    MPI_Datatype sent, received;
    int n = block_elements(call, c->rank, 0);
    const void *send;
    arrays_t a;

    arrays_create(call, &a);
    for (int r = 0; r < c->size; r++)
        a.receive_counts[r] = block_elements(call, r, 0);
    buffer_create(&p->receive, plain(call), lay_out(c->size, a.receive_counts, a.receive_offsets),
                  true);
    for (int r = 0; r < c->size; r++)
        block_expect(&p->receive, a.receive_offsets[r], a.receive_counts[r], r, 0);
    if (call->is_in_place) {
        block_fill(&p->receive, a.receive_offsets[c->rank], n, c->rank, 0);
    } else {
        buffer_create(&p->send, plain(call), n, false);
        block_fill(&p->send, 0, n, c->rank, 0);
    }
    over(call);
    sent = buffer_type(&p->send);
    received = buffer_type(&p->receive);
    send = call->is_in_place ? MPI_IN_PLACE : p->send.base;
    COLLECTIVE(call, Allgatherv, Iallgatherv, send, n, sent, p->receive.base, a.receive_counts,
               a.receive_offsets, received, call->handle);
    form_type_release(sent);
    form_type_release(received);
}

/* In place both ranks of a pair send each other equally much. */
static int pair_elements(const call_t *call, int from, int to)
{
    if (call->is_in_place && from > to)
        return block_elements(call, to, from);
    return block_elements(call, from, to);
}

static void fill_all(call_t *call, arrays_t *a)
{
    const comm_t *c = call->comm;
    pending_t *p = call->pending;

    arrays_create(call, a);
    for (int r = 0; r < c->size; r++) {
        a->send_counts[r] = pair_elements(call, c->rank, r);
        a->receive_counts[r] = pair_elements(call, r, c->rank);
    }
    buffer_create(&p->receive, plain(call), lay_out(c->size, a->receive_counts, a->receive_offsets),
                  true);
    if (!call->is_in_place)
        buffer_create(&p->send, plain(call), lay_out(c->size, a->send_counts, a->send_offsets),
                      false);
    for (int r = 0; r < c->size; r++) {
        if (call->is_in_place)
            block_fill(&p->receive, a->receive_offsets[r], a->send_counts[r], c->rank, r);
        else
            block_fill(&p->send, a->send_offsets[r], a->send_counts[r], c->rank, r);
        block_expect(&p->receive, a->receive_offsets[r], a->receive_counts[r], r, c->rank);
    }
    over(call);
}

static void collective_alltoallv(call_t *call)
{
    pending_t *p = call->pending;
    MPI_Datatype sent, received;
    const void *send;
    arrays_t a;

    fill_all(call, &a);
    sent = buffer_type(&p->send);
    received = buffer_type(&p->receive);
    send = call->is_in_place ? MPI_IN_PLACE : p->send.base;
    COLLECTIVE(call, Alltoallv, Ialltoallv, send, a.send_counts, a.send_offsets, sent,
               p->receive.base, a.receive_counts, a.receive_offsets, received, call->handle);
    form_type_release(sent);
    form_type_release(received);
}

static void collective_alltoallw(call_t *call)
{
    int n = call->comm->size;
    pending_t *p = call->pending;
    int bytes = (int)basic_size(call->basic);
    MPI_Datatype *types = malloc((size_t)n * sizeof(*types));
    const void *send;
    arrays_t a;

    fill_all(call, &a);
    if (types == NULL)
        fail("no memory for types");
    for (int r = 0; r < n; r++) {
        types[r] = basic_type(call->basic);
        a.send_offsets[r] *= bytes;
        a.receive_offsets[r] *= bytes;
    }
    send = call->is_in_place ? MPI_IN_PLACE : buffer_at(&p->send);
    COLLECTIVE(call, Alltoallw, Ialltoallw, send, a.send_counts, a.send_offsets, types,
               buffer_at(&p->receive), a.receive_counts, a.receive_offsets, types, call->handle);
    free(types);
}

/* ---- With neighbours ---- */

static void neighbor_allgather(call_t *call)
{
    const comm_t *c = call->comm;
    int left = (c->rank + c->size - 1) % c->size, right = (c->rank + 1) % c->size;
    int n = call->limit;
    sides_t s;

    sides_create(call, n, 1, 2, &s);
    block_fill(&call->pending->send, 0, n, c->rank, 0);
    block_expect(&call->pending->receive, 0, n, left, 0);
    block_expect(&call->pending->receive, n, n, right, 0);
    over(call);
    COLLECTIVE(call, Neighbor_allgather, Ineighbor_allgather, s.send, s.send_count, s.send_type,
               s.receive, s.receive_count, s.receive_type, call->handle);
    sides_destroy(&s);
}

static void neighbor_alltoall(call_t *call)
{
    const comm_t *c = call->comm;
    int left = (c->rank + c->size - 1) % c->size, right = (c->rank + 1) % c->size;
    int n = call->limit;
    sides_t s;

    sides_create(call, n, 2, 2, &s);
    block_fill(&call->pending->send, 0, n, c->rank, left);
    block_fill(&call->pending->send, n, n, c->rank, right);
    block_expect(&call->pending->receive, 0, n, left, c->rank);
    block_expect(&call->pending->receive, n, n, right, c->rank);
    over(call);
    COLLECTIVE(call, Neighbor_alltoall, Ineighbor_alltoall, s.send, s.send_count, s.send_type,
               s.receive, s.receive_count, s.receive_type, call->handle);
    sides_destroy(&s);
}

void collective_run(const kind_t *kind, call_t *call)
{
    kind->run(call);
    free(call->pending->arrays);
    call->pending->arrays = NULL;
}

void collective_finish(call_t *call)
{
    call->pending->is_active = true;
    if (call->how == BLOCKING)
        pending_finish(call->pending, MPI_STATUS_IGNORE);
    else
        pending_add(call->pending, call->request, false);
}

static const kind_t neighbor_kinds[] = {{"neighbor_allgather", neighbor_allgather, false, false},
                                        {"neighbor_alltoall", neighbor_alltoall, false, false}};

/* With two ranks both neighbours are the same one. */
const kind_t *neighbors_draw(call_t *call)
{
    const comm_t *comm = comm_draw_ring(&shared_random);
    int n = draw_elements(&shared_random, 3000), kind = draw(&shared_random, 2);

    *call = (call_t){.comm = comm, .limit = n};
    call->how = chance(&shared_random, 25) ? BLOCKING : NONBLOCKING;
    call->basic = (basic_t)draw(&shared_random, BASIC_COUNT);
    if (comm == NULL || comm->handle == MPI_COMM_NULL || comm->size < 3)
        return NULL;
    call->handle = comm->handle;
    return &neighbor_kinds[kind];
}

void step_neighbors(void)
{
    call_t call;
    const kind_t *kind = neighbors_draw(&call);

    if (kind == NULL)
        return;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: neighbours on communicator %d\n", rank, step,
                (int)(call.comm - comms));
    call.pending = pending_create(kind->name);
    collective_run(kind, &call);
    collective_finish(&call);
}

/* ---- The step ---- */

static const kind_t kinds[] = {
    {"barrier", collective_barrier, false, false},
    {"bcast", collective_bcast, false, false},
    {"gather", collective_gather, false, false},
    {"scatter", collective_scatter, false, false},
    {"allgather", collective_allgather, true, false},
    {"alltoall", collective_alltoall, true, false},
    {"gatherv", collective_gatherv, true, true},
    {"scatterv", collective_scatterv, true, true},
    {"allgatherv", collective_allgatherv, true, true},
    {"alltoallv", collective_alltoallv, true, true},
    {"alltoallw", collective_alltoallw, true, true},
    {"reduce", collective_reduce, false, false},
    {"allreduce", collective_allreduce, false, false},
    {"scan", collective_scan, false, false},
    {"exscan", collective_exscan, false, false},
    {"reduce_scatter", collective_reduce_scatter, false, false},
    {"reduce_scatter_block", collective_reduce_scatter_block, false, false}};

/* Elements of the largest buffer: all ranks together check at most about half a million. */
static int limit_of(const kind_t *kind, random_t *random, int ranks)
{
    int limit = (chance(random, 10) ? 400000 : 20000) / ranks;

    return kind->is_large && limit > 3000 ? 3000 : limit;
}

const kind_t *collective_draw(call_t *call)
{
    const comm_t *comm = comm_draw(&shared_random);
    const kind_t *kind = &kinds[draw(&shared_random, (int)(sizeof(kinds) / sizeof(kinds[0])))];

    *call = (call_t){.comm = comm, .handle = comm->handle};
    call->how = chance(&shared_random, 25) ? BLOCKING : NONBLOCKING;
    call->is_in_place = chance(&shared_random, 20);
    call->basic = (basic_t)draw(&shared_random, BASIC_COUNT);
    call->root = draw(&shared_random, 1 << 20);
    call->limit = limit_of(kind, &shared_random, size);
    if (kind->has_counts)
        call->limit = draw_elements(&shared_random, call->limit / size);
    if (comm->handle == MPI_COMM_NULL)
        return NULL;
    call->root %= comm->size;
    return kind;
}

void step_collective(void)
{
    call_t call;
    const kind_t *kind = collective_draw(&call);

    if (kind == NULL)
        return;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: %s%s on communicator %d, root %d\n", rank, step, kind->name,
                call.how == BLOCKING ? "" : ", nonblocking", (int)(call.comm - comms), call.root);
    call.pending = pending_create(kind->name);
    collective_run(kind, &call);
    collective_finish(&call);
}
