/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "random.h"

/* An operation that combines elements, and its reference computation. */
typedef struct {
    MPI_Op handle;
    uint64_t (*combine)(uint64_t a, uint64_t b);
    basic_t basic;
} op_t;

enum { OPS = 8 };
static op_t ops[OPS];

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b;
}

static uint64_t largest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t differing(uint64_t a, uint64_t b)
{
    return a ^ b;
}

/* The functions x -> p x + q, one after the other, modulo 2^32: not commutative. */
static uint64_t compose(uint64_t a, uint64_t b)
{
    uint32_t p = (uint32_t)a, q = (uint32_t)(a >> 32), r = (uint32_t)b, s = (uint32_t)(b >> 32);

    return (uint64_t)(uint32_t)(p * r) | (uint64_t)(uint32_t)(q * r + s) << 32;
}

static void compose_all(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const uint64_t *a = in;
    uint64_t *b = inout;

    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] = compose(a[i], b[i]);
}

static void add_all(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const uint64_t *a = in;
    uint64_t *b = inout;

    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] += a[i];
}

void reductions_begin(void)
{
    MPI_Op composition, sum;

    MPI_Op_create(compose_all, 0, &composition);
    MPI_Op_create(add_all, 1, &sum);
    ops[0] = (op_t){MPI_SUM, add, LONGS};
    ops[1] = (op_t){MPI_SUM, add, INTS};
    ops[2] = (op_t){MPI_MAX, largest, LONGS};
    ops[3] = (op_t){MPI_MIN, least, LONGS};
    ops[4] = (op_t){MPI_BXOR, differing, BYTES};
    ops[5] = (op_t){MPI_BXOR, differing, LONGS};
    ops[6] = (op_t){composition, compose, LONGS};
    ops[7] = (op_t){sum, add, LONGS};
}

void reductions_end(void)
{
    MPI_Op_free(&ops[6].handle);
    MPI_Op_free(&ops[7].handle);
}

/* Of `ranks` ranks, from `first` on. */
static uint64_t fold(const op_t *op, int first, int ranks, int i)
{
    uint64_t value = value_of(first, 0, i);

    for (int r = 1; r < ranks; r++)
        value = op->combine(value, value_of(first + r, 0, i));
    return value;
}

/* The common part of all reductions: n elements of each rank. */
typedef struct {
    const op_t *op;
    int n;
    const void *send;
    void *receive;
    MPI_Datatype type;
} reduction_t;

/* Elements first .. first + n - 1 of the result of `ranks` ranks are expected here. */
static void expect(call_t *call, const op_t *op, int ranks, int first, int n)
{
    for (int i = 0; i < n; i++)
        buffer_expect(&call->pending->receive, i, fold(op, 0, ranks, first + i));
}

/* `results` elements come back to this rank, which has a receive buffer if they are not negative.
 */
static void create(call_t *call, int n, int results, bool in_place, reduction_t *r)
{
    const op_t *op = &ops[draw(&shared_random, OPS)];
    form_t form = {op->basic, PLAIN};
    pending_t *p = call->pending;

    *r = (reduction_t){.op = op, .n = n, .type = basic_type(op->basic)};
    if (results >= 0)
        buffer_create(&p->receive, form, in_place && n > results ? n : results, true);
    if (!in_place)
        buffer_create(&p->send, form, n, false);
    for (int i = 0; i < n; i++)
        buffer_set(in_place ? &p->receive : &p->send, i, value_of(call->comm->rank, 0, i));
    buffer_seal(&p->send);
    r->receive = results >= 0 ? buffer_at(&p->receive) : NULL;
    r->send = in_place ? MPI_IN_PLACE : buffer_at(&p->send);
}

void collective_reduce(call_t *call)
{
    bool is_root = call->comm->rank == call->root;
    int n = draw_elements(&shared_random, call->limit);
    reduction_t r;

    create(call, n, is_root ? n : -1, is_root && call->is_in_place, &r);
    if (is_root)
        expect(call, r.op, call->comm->size, 0, n);
    COLLECTIVE(call, Reduce, Ireduce, r.send, r.receive, n, r.type, r.op->handle, call->root,
               call->handle);
}

void collective_allreduce(call_t *call)
{
    int n = draw_elements(&shared_random, call->limit / call->comm->size);
    reduction_t r;

    create(call, n, n, call->is_in_place, &r);
    expect(call, r.op, call->comm->size, 0, n);
    COLLECTIVE(call, Allreduce, Iallreduce, r.send, r.receive, n, r.type, r.op->handle,
               call->handle);
}

void collective_scan(call_t *call)
{
    int n = draw_elements(&shared_random, call->limit / call->comm->size);
    reduction_t r;

    create(call, n, n, call->is_in_place, &r);
    expect(call, r.op, call->comm->rank + 1, 0, n);
    COLLECTIVE(call, Scan, Iscan, r.send, r.receive, n, r.type, r.op->handle, call->handle);
}

/* Rank 0 gets nothing that is defined; this library leaves its buffer alone. */
void collective_exscan(call_t *call)
{
    int n = draw_elements(&shared_random, call->limit / call->comm->size);
    reduction_t r;

    create(call, n, n, call->is_in_place, &r);
    if (call->comm->rank > 0)
        expect(call, r.op, call->comm->rank, 0, n);
    COLLECTIVE(call, Exscan, Iexscan, r.send, r.receive, n, r.type, r.op->handle, call->handle);
}

void collective_reduce_scatter(call_t *call)
{
    const comm_t *c = call->comm;
    int most = draw_elements(&shared_random, call->limit / c->size / c->size), total = 0, first = 0;
    int *counts = malloc((size_t)c->size * sizeof(*counts));
    reduction_t r;

    if (counts == NULL)
        fail("no memory for counts");
    call->pending->arrays = counts;
    for (int o = 0; o < c->size; o++) {
        counts[o] = (int)(hash((uint64_t)step, 12, (uint64_t)o, 0) % (uint64_t)(most + 1));
        first += o < c->rank ? counts[o] : 0;
        total += counts[o];
    }
    create(call, total, counts[c->rank], call->is_in_place, &r);
    expect(call, r.op, c->size, first, counts[c->rank]);
    COLLECTIVE(call, Reduce_scatter, Ireduce_scatter, r.send, r.receive, counts, r.type,
               r.op->handle, call->handle);
}

void collective_reduce_scatter_block(call_t *call)
{
    const comm_t *c = call->comm;
    int n = draw_elements(&shared_random, call->limit / c->size / c->size);
    reduction_t r;

    create(call, n * c->size, n, call->is_in_place, &r);
    expect(call, r.op, c->size, c->rank * n, n);
    COLLECTIVE(call, Reduce_scatter_block, Ireduce_scatter_block, r.send, r.receive, n, r.type,
               r.op->handle, call->handle);
}

/* ---- Between two groups: the result is that of the other one ---- */

/* n elements go out, and `results` come back; negative: no buffer. */
static void inter_create(call_t *call, int n, int results, reduction_t *r)
{
    const op_t *op = &ops[draw(&shared_random, OPS)];
    form_t form = {op->basic, PLAIN};
    pending_t *p = call->pending;

    *r = (reduction_t){.op = op, .type = basic_type(op->basic)};
    if (n >= 0)
        buffer_create(&p->send, form, n, false);
    for (int i = 0; i < n; i++)
        buffer_set(&p->send, i, value_of(inter_id(call->side, call->comm->rank), 0, i));
    if (results >= 0)
        buffer_create(&p->receive, form, results, true);
    buffer_seal(&p->send);
    r->send = buffer_at(&p->send);
    r->receive = buffer_at(&p->receive);
}

static void inter_expect(call_t *call, const op_t *op, int first, int n)
{
    for (int i = 0; i < n; i++)
        buffer_expect(&call->pending->receive, i,
                      fold(op, inter_id(!call->side, 0), call->peers, first + i));
}

void inter_reduce(call_t *call)
{
    bool is_of_root = call->side == call->root_side, is_root = call->root == MPI_ROOT;
    int n = draw_elements(&shared_random, call->limit);
    reduction_t r;

    inter_create(call, is_of_root ? -1 : n, is_root ? n : -1, &r);
    if (is_root)
        inter_expect(call, r.op, 0, n);
    COLLECTIVE(call, Reduce, Ireduce, r.send, r.receive, n, r.type, r.op->handle, call->root,
               call->handle);
}

void inter_allreduce(call_t *call)
{
    int n = draw_elements(&shared_random, call->limit);
    reduction_t r;

    inter_create(call, n, n, &r);
    inter_expect(call, r.op, 0, n);
    COLLECTIVE(call, Allreduce, Iallreduce, r.send, r.receive, n, r.type, r.op->handle,
               call->handle);
}

/* Both groups have vectors of the same length, and share the other's out among themselves. */
void inter_reduce_scatter(call_t *call)
{
    int own = call->comm->size, total = draw_elements(&shared_random, call->limit), first = 0;
    int *counts = malloc((size_t)own * sizeof(*counts));
    reduction_t r;

    if (counts == NULL)
        fail("no memory for counts");
    call->pending->arrays = counts;
    for (int o = 0, left = total; o < own; o++) {
        uint64_t drawn = hash((uint64_t)step, 13, (uint64_t)o, (uint64_t)call->side);

        counts[o] = o == own - 1 ? left : (int)(drawn % (uint64_t)(left + 1));
        left -= counts[o];
        first += o < call->comm->rank ? counts[o] : 0;
    }
    inter_create(call, total, counts[call->comm->rank], &r);
    inter_expect(call, r.op, first, counts[call->comm->rank]);
    COLLECTIVE(call, Reduce_scatter, Ireduce_scatter, r.send, r.receive, counts, r.type,
               r.op->handle, call->handle);
}

void inter_reduce_scatter_block(call_t *call)
{
    int own = call->comm->size;
    int n = draw_elements(&shared_random, call->limit / own / call->peers) * call->peers;
    reduction_t r;

    inter_create(call, n * own, n, &r);
    inter_expect(call, r.op, call->comm->rank * n, n);
    COLLECTIVE(call, Reduce_scatter_block, Ireduce_scatter_block, r.send, r.receive, n, r.type,
               r.op->handle, call->handle);
}
