/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests only: one collective with real buffers, and their expected contents by the plain
 * definition of the collective.
 *
 *   testing_case_t c = {.q = {.collective = ..., .procs = ..., ...}, .type = TESTING_AFFINE};
 *   testing_case_open(&c);
 *   ... run it, calling testing_case_rank_over for each rank that is complete
 *   testing_case_close(&c);
 */
#ifndef XY_TESTING_EXEC_H
#define XY_TESTING_EXEC_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "exec/exec_private.h"
#include "testing/base.h"

typedef enum {
    TESTING_SUM,    /* uint32_t */
    TESTING_XOR,    /* uint8_t */
    TESTING_MAX,    /* double */
    TESTING_AFFINE, /* x -> a x + b on uint32_t: composition does not commute */
    TESTING_TYPES
} testing_type_t;

typedef struct {
    uint32_t a, b;
} testing_affine_t;

static inline uint64_t testing_element(testing_type_t type)
{
    static const uint64_t sizes[] = {4, 1, 8, sizeof(testing_affine_t)};

    return sizes[type];
}

typedef struct {
    xy_coll_request_t q;
    testing_type_t type;
    unsigned char **input;    /* [p]: the contribution, laid out as in the send buffer */
    unsigned char **send;     /* [p]: NULL where in place */
    unsigned char **receive;  /* [p] */
    unsigned char **expected; /* [p]: of receive */
    uint64_t *input_bytes, *receive_bytes;
    int split; /* levels that are kept for their actors, by testing_queue */
    _Atomic int arrived, over, wrong;
} testing_case_t;

/* Operations of the levels 1 .. split are for their actors alone. */
static inline int testing_queue(void *arg, const xy_op_t *op)
{
    const testing_case_t *c = arg;

    return op->level >= 1 && op->level <= c->split ? op->actor : -1;
}

static inline bool testing_is_over(const xy_exec_t *e)
{
    return atomic_load_explicit(&e->left, memory_order_acquire) == 0;
}

static inline bool testing_is_rank_over(const xy_exec_t *e, int rank)
{
    return atomic_load_explicit(&e->rank_left[rank], memory_order_acquire) == 0;
}

/* ---- The operation ---- */

static inline void testing_reduce(void *arg, const void *left, const void *right, void *out,
                                  uint64_t bytes)
{
    const testing_case_t *c = arg;
    uint64_t n = bytes / testing_element(c->type);

    for (uint64_t i = 0; i < n; i++)
        switch (c->type) {
        case TESTING_SUM:
            ((uint32_t *)out)[i] = ((const uint32_t *)left)[i] + ((const uint32_t *)right)[i];
            break;
        case TESTING_XOR:
            ((uint8_t *)out)[i] = ((const uint8_t *)left)[i] ^ ((const uint8_t *)right)[i];
            break;
        case TESTING_MAX:
            ((double *)out)[i] = ((const double *)left)[i] > ((const double *)right)[i]
                                     ? ((const double *)left)[i]
                                     : ((const double *)right)[i];
            break;
        default: {
            testing_affine_t x = ((const testing_affine_t *)left)[i];
            testing_affine_t y = ((const testing_affine_t *)right)[i];

            ((testing_affine_t *)out)[i] = (testing_affine_t){x.a * y.a, x.a * y.b + x.b};
        }
        }
}

static inline void testing_fill(testing_type_t type, unsigned char *to, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)testing_below(256);
    for (uint64_t i = 0; type == TESTING_MAX && i < bytes / sizeof(double); i++)
        ((double *)(void *)to)[i] = testing_below(1 << 20);
}

/* ---- Where blocks are, in bytes ---- */

static inline uint64_t testing_block(const testing_case_t *c, int rank)
{
    return (c->q.counts != NULL ? c->q.counts[rank] : c->q.count) * c->q.element;
}

static inline uint64_t testing_pair(const testing_case_t *c, int from, int to)
{
    return (c->q.matrix != NULL ? c->q.matrix[from][to] : c->q.count) * c->q.element;
}

/* Block `i` of a buffer of `row`, by its offsets or one after the other. */
static inline uint64_t testing_offset(const testing_case_t *c, const uint64_t *const *rows, int row,
                                      int i)
{
    uint64_t at = 0;

    if (rows != NULL && rows[row] != NULL)
        return rows[row][i] * c->q.element;
    if (c->q.counts == NULL)
        return (uint64_t)i * testing_block(c, 0);
    for (int k = 0; k < i; k++)
        at += testing_block(c, k);
    return at;
}

static inline bool testing_in_place(const testing_case_t *c, int rank)
{
    return c->q.in_place != NULL && c->q.in_place[rank];
}

static inline uint64_t testing_sent(const testing_case_t *c, int row, int i)
{
    bool is_alltoall = c->q.collective >= XY_COLL_ALLTOALL && c->q.collective <= XY_COLL_ALLTOALLW;

    return testing_offset(
        c, is_alltoall && testing_in_place(c, row) ? c->q.receive_offsets : c->q.send_offsets, row,
        i);
}

static inline uint64_t testing_received(const testing_case_t *c, int row, int i)
{
    return testing_offset(c, c->q.receive_offsets, row, i);
}

static inline uint64_t testing_end(uint64_t end, uint64_t offset, uint64_t bytes)
{
    return bytes > 0 && offset + bytes > end ? offset + bytes : end;
}

static inline void testing_sizes(testing_case_t *c, int r)
{
    uint64_t n = c->q.count * c->q.element, *in = &c->input_bytes[r], *out = &c->receive_bytes[r];
    bool is_root = r == c->q.root;

    *in = *out = n;
    switch (c->q.collective) {
    case XY_COLL_BARRIER:
        *in = *out = 0;
        break;
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
        *in = testing_block(c, r);
        *out = 0;
        for (int i = 0; i < c->q.procs && (is_root || c->q.collective >= XY_COLL_ALLGATHER); i++)
            *out = testing_end(*out, testing_received(c, r, i), testing_block(c, i));
        break;
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        *out = testing_block(c, r);
        *in = 0;
        for (int i = 0; i < c->q.procs && is_root; i++)
            *in = testing_end(*in, testing_sent(c, r, i), testing_block(c, i));
        break;
    case XY_COLL_ALLTOALL:
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        *in = *out = 0;
        for (int i = 0; i < c->q.procs; i++) {
            *in = testing_end(*in, testing_sent(c, r, i), testing_pair(c, r, i));
            *out = testing_end(*out, testing_received(c, r, i), testing_pair(c, i, r));
        }
        break;
    case XY_COLL_REDUCE:
        *out = is_root ? n : 0;
        break;
    case XY_COLL_REDUCE_SCATTER:
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        *in = 0;
        for (int i = 0; i < c->q.procs; i++)
            *in += testing_block(c, i);
        *out = testing_in_place(c, r) ? *in : testing_block(c, r);
        break;
    default:
        break;
    }
}

/* ---- What must come out ---- */

static inline void testing_expect_moves(testing_case_t *c)
{
    xy_collective_t k = c->q.collective;
    int root = c->q.root;

    for (int r = 0; r < c->q.procs; r++)
        for (int i = 0; i < c->q.procs; i++) {
            if (k == XY_COLL_BCAST && i == root)
                memcpy(c->expected[r], c->input[root], c->receive_bytes[r]);
            else if (k >= XY_COLL_GATHER && k <= XY_COLL_ALLGATHERV &&
                     (k >= XY_COLL_ALLGATHER || (k <= XY_COLL_GATHERV && r == root)))
                memcpy(c->expected[r] + testing_received(c, r, i), c->input[i],
                       testing_block(c, i));
            else if ((k == XY_COLL_SCATTER || k == XY_COLL_SCATTERV) && i == root &&
                     !(r == root && testing_in_place(c, r)))
                memcpy(c->expected[r], c->input[root] + testing_sent(c, root, r),
                       testing_block(c, r));
            else if (k >= XY_COLL_ALLTOALL && k <= XY_COLL_ALLTOALLW)
                memcpy(c->expected[r] + testing_received(c, r, i),
                       c->input[i] + testing_sent(c, i, r), testing_pair(c, i, r));
        }
}

static inline void testing_expect_sums(testing_case_t *c)
{
    xy_collective_t k = c->q.collective;
    uint64_t n = c->input_bytes[0], at = 0;
    unsigned char *sum = calloc(1, n + 1);

    for (int r = 0; r < c->q.procs; r++) {
        if (k == XY_COLL_EXSCAN && r > 0)
            memcpy(c->expected[r], sum, n);
        if (r == 0)
            memcpy(sum, c->input[0], n);
        else
            testing_reduce(c, sum, c->input[r], sum, n);
        if (k == XY_COLL_SCAN)
            memcpy(c->expected[r], sum, n);
    }
    for (int r = 0; r < c->q.procs; r++) {
        if (k == XY_COLL_ALLREDUCE || (k == XY_COLL_REDUCE && r == c->q.root))
            memcpy(c->expected[r], sum, n);
        if (k == XY_COLL_REDUCE_SCATTER || k == XY_COLL_REDUCE_SCATTER_BLOCK)
            memcpy(c->expected[r], sum + at, testing_block(c, r));
        at += testing_block(c, r);
    }
    free(sum);
}

/* ---- Buffers ---- */

/* Input in place lies in the receive buffer, and where the collective puts nothing there it stays
 * (reduce_scatter writes the first block only; the bytes after it are not defined, see below). */
static inline void testing_place_input(testing_case_t *c, int r)
{
    xy_collective_t k = c->q.collective;

    if (k == XY_COLL_BCAST) {
        if (r == c->q.root)
            memcpy(c->receive[r], c->input[r], c->receive_bytes[r]);
    } else if (!testing_in_place(c, r) || k == XY_COLL_SCATTER || k == XY_COLL_SCATTERV) {
        c->send[r] = malloc(c->input_bytes[r] + 1);
        memcpy(c->send[r], c->input[r], c->input_bytes[r]);
    } else if (k >= XY_COLL_GATHER && k <= XY_COLL_ALLGATHERV) {
        memcpy(c->receive[r] + testing_received(c, r, r), c->input[r], c->input_bytes[r]);
    } else {
        memcpy(c->receive[r], c->input[r], c->input_bytes[r]);
    }
}

static inline void testing_case_open(testing_case_t *c)
{
    size_t p = (size_t)c->q.procs;

    c->input = calloc(p, sizeof(*c->input));
    c->send = calloc(p, sizeof(*c->send));
    c->receive = calloc(p, sizeof(*c->receive));
    c->expected = calloc(p, sizeof(*c->expected));
    c->input_bytes = calloc(p, sizeof(*c->input_bytes));
    c->receive_bytes = calloc(p, sizeof(*c->receive_bytes));
    atomic_init(&c->arrived, 0);
    atomic_init(&c->over, 0);
    atomic_init(&c->wrong, 0);
    for (int r = 0; r < c->q.procs; r++) {
        testing_sizes(c, r);
        c->input[r] = malloc(c->input_bytes[r] + 1);
        c->receive[r] = malloc(c->receive_bytes[r] + 1);
        c->expected[r] = malloc(c->receive_bytes[r] + 1);
        testing_fill(c->type, c->input[r], c->input_bytes[r]);
        memset(c->receive[r], 0xa5, c->receive_bytes[r] + 1);
        testing_place_input(c, r);
        memcpy(c->expected[r], c->receive[r], c->receive_bytes[r] + 1);
    }
    testing_expect_moves(c);
    if (c->q.collective >= XY_COLL_REDUCE)
        testing_expect_sums(c);
}

static inline void testing_case_close(testing_case_t *c)
{
    for (int r = 0; r < c->q.procs; r++) {
        free(c->input[r]);
        free(c->send[r]);
        free(c->receive[r]);
        free(c->expected[r]);
    }
    free(c->input);
    free(c->send);
    free(c->receive);
    free(c->expected);
    free(c->input_bytes);
    free(c->receive_bytes);
}

/* In place, only the result counts where the input was longer. */
static inline uint64_t testing_result_bytes(const testing_case_t *c, int rank)
{
    if (testing_in_place(c, rank) && (c->q.collective == XY_COLL_REDUCE_SCATTER ||
                                      c->q.collective == XY_COLL_REDUCE_SCATTER_BLOCK))
        return testing_block(c, rank);
    return c->receive_bytes[rank];
}

/* `on_rank`: its buffers have their final values and are not read again: they are overwritten, so
 * that a late read would be noticed. A rank leaves a barrier only when all came. */
static inline void testing_case_rank_over(void *arg, int rank)
{
    testing_case_t *c = arg;
    bool is_early = c->q.collective == XY_COLL_BARRIER && atomic_load(&c->arrived) < c->q.procs;

    if (is_early ||
        memcmp(c->receive[rank], c->expected[rank], testing_result_bytes(c, rank)) != 0 ||
        (c->send[rank] != NULL && memcmp(c->send[rank], c->input[rank], c->input_bytes[rank]) != 0))
        atomic_fetch_add(&c->wrong, 1);
    if (c->send[rank] != NULL)
        memset(c->send[rank], 0x5a, c->input_bytes[rank]);
    memset(c->receive[rank], 0x5a, c->receive_bytes[rank]);
    atomic_fetch_add(&c->over, 1);
}

#endif
