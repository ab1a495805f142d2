/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives: random ones of all kinds, with counts of both widths, in place, with
 * types that have gaps, started again and again with new data and checked against what each element
 * must be. And what a program may do with their requests: start them together with persistent
 * messages, test and wait for those that are not active, free them while they are active, free what
 * they were made from.
 */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { OPS = XYLEM_SANITIZED ? 12 : 24, ROUNDS = XYLEM_SANITIZED ? 2 : 4, MOST = 6, LARGE = 30000 };

typedef enum {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    KINDS
} kind_t;

typedef struct {
    kind_t kind;
    int n, root, stride; /* elements of a block (v: at most); longs between elements */
    bool in_place, is_wide;
    long *send, *recv;
    size_t longs;
    int *counts, *displs;
    MPI_Count *wide_counts;
    MPI_Aint *wide_displs;
    MPI_Datatype *types;
    MPI_Request request;
} op_t;

static int rank, size;
static unsigned state;
static MPI_Comm comm;
static MPI_Datatype gaps; /* a long and a gap of the same size */

static int below(int n)
{
    state = state * 1103515245u + 12345u;
    return (int)((state >> 8) % (unsigned)n);
}

/* Element i of what `from` gives to `to`. */
static long value(int round, int from, int to, int i)
{
    return round * 1000003L + from * 10007L + to * 101L + i;
}

static bool is_vector(kind_t k)
{
    return k == GATHERV || k == SCATTERV || k == ALLGATHERV || k == ALLTOALLV || k == ALLTOALLW;
}

/* Elements that go from one to another: of a vector they depend on both, where both can know. */
static int count_of(const op_t *o, int from, int to)
{
    switch (o->kind) {
    case GATHERV:
    case ALLGATHERV:
        return (o->n + from) % (o->n + 1);
    case SCATTERV:
    case REDUCE_SCATTER:
        return (o->n + to) % (o->n + 1);
    case ALLTOALLV:
    case ALLTOALLW:
        return (o->n + from + to) % (o->n + 1); /* symmetric: it may be in place */
    default:
        return o->n;
    }
}

static bool may_be_in_place(const op_t *o)
{
    if (o->kind == REDUCE || o->kind == GATHER || o->kind == GATHERV || o->kind == SCATTER ||
        o->kind == SCATTERV)
        return rank == o->root;
    return o->kind >= ALLGATHER;
}

/* All ranks make the same choices. */
static void op_init(op_t *o)
{
    bool in_place;

    *o = (op_t){.kind = (kind_t)below(KINDS)};
    o->n = below(8) == 0 ? LARGE / size + 1 : 1 + below(MOST);
    o->root = below(size);
    o->is_wide = below(2) == 0;
    o->stride = o->kind < REDUCE ? 1 + below(2) : 1;
    in_place = below(2) == 0;
    o->in_place = in_place && may_be_in_place(o);
    o->longs = (size_t)o->n * (size_t)size * (size_t)o->stride + 1;
    o->send = malloc(o->longs * sizeof(long));
    o->recv = malloc(o->longs * sizeof(long));
    o->counts = malloc((size_t)size * sizeof(int));
    o->displs = malloc((size_t)size * sizeof(int));
    o->wide_counts = malloc((size_t)size * sizeof(MPI_Count));
    o->wide_displs = malloc((size_t)size * sizeof(MPI_Aint));
    o->types = malloc((size_t)size * sizeof(MPI_Datatype));
    for (int r = 0; r < size; r++) {
        bool gathers = o->kind == GATHERV || o->kind == ALLGATHERV;
        int from = gathers ? r : rank, to = gathers ? rank : r;
        int unit = o->kind == ALLTOALLW ? o->stride * (int)sizeof(long) : 1;

        o->counts[r] = count_of(o, from, to);
        o->displs[r] = r * o->n * unit;
        o->wide_counts[r] = o->counts[r];
        o->wide_displs[r] = o->displs[r];
        o->types[r] = o->stride == 1 ? MPI_LONG : gaps;
    }
}

static void op_free(op_t *o)
{
    free(o->send);
    free(o->recv);
    free(o->counts);
    free(o->displs);
    free(o->wide_counts);
    free(o->wide_displs);
    free(o->types);
}

#define EITHER(call, call_c) (o->is_wide ? (call_c) : (call))

static int make_vector(op_t *o, const void *s, MPI_Datatype t, MPI_Info info)
{
    MPI_Request *q = &o->request;
    int own = count_of(o, rank, rank), root = o->root;
    void *r = s == MPI_IN_PLACE && o->kind == SCATTERV ? MPI_IN_PLACE : o->recv;

    switch (o->kind) {
    case GATHERV:
        return EITHER(
            MPI_Gatherv_init(s, own, t, o->recv, o->counts, o->displs, t, root, comm, info, q),
            MPI_Gatherv_init_c(s, own, t, o->recv, o->wide_counts, o->wide_displs, t, root, comm,
                               info, q));
    case SCATTERV:
        return EITHER(
            MPI_Scatterv_init(o->send, o->counts, o->displs, t, r, own, t, root, comm, info, q),
            MPI_Scatterv_init_c(o->send, o->wide_counts, o->wide_displs, t, r, own, t, root, comm,
                                info, q));
    case ALLGATHERV:
        return EITHER(
            MPI_Allgatherv_init(s, own, t, o->recv, o->counts, o->displs, t, comm, info, q),
            MPI_Allgatherv_init_c(s, own, t, o->recv, o->wide_counts, o->wide_displs, t, comm, info,
                                  q));
    case ALLTOALLV:
        return EITHER(MPI_Alltoallv_init(s, o->counts, o->displs, t, o->recv, o->counts, o->displs,
                                         t, comm, info, q),
                      MPI_Alltoallv_init_c(s, o->wide_counts, o->wide_displs, t, o->recv,
                                           o->wide_counts, o->wide_displs, t, comm, info, q));
    default:
        return EITHER(MPI_Alltoallw_init(s, o->counts, o->displs, o->types, o->recv, o->counts,
                                         o->displs, o->types, comm, info, q),
                      MPI_Alltoallw_init_c(s, o->wide_counts, o->wide_displs, o->types, o->recv,
                                           o->wide_counts, o->wide_displs, o->types, comm, info,
                                           q));
    }
}

static int make_regular(op_t *o, const void *s, MPI_Datatype t, MPI_Info info)
{
    MPI_Request *q = &o->request;
    int n = o->n, root = o->root;
    void *r = s == MPI_IN_PLACE && o->kind == SCATTER ? MPI_IN_PLACE : o->recv;

    switch (o->kind) {
    case BARRIER:
        return MPI_Barrier_init(comm, info, q);
    case BCAST:
        return EITHER(MPI_Bcast_init(o->recv, n, t, root, comm, info, q),
                      MPI_Bcast_init_c(o->recv, n, t, root, comm, info, q));
    case GATHER:
        return EITHER(MPI_Gather_init(s, n, t, r, n, t, root, comm, info, q),
                      MPI_Gather_init_c(s, n, t, r, n, t, root, comm, info, q));
    case SCATTER:
        return EITHER(MPI_Scatter_init(o->send, n, t, r, n, t, root, comm, info, q),
                      MPI_Scatter_init_c(o->send, n, t, r, n, t, root, comm, info, q));
    case ALLGATHER:
        return EITHER(MPI_Allgather_init(s, n, t, r, n, t, comm, info, q),
                      MPI_Allgather_init_c(s, n, t, r, n, t, comm, info, q));
    case ALLTOALL:
        return EITHER(MPI_Alltoall_init(s, n, t, r, n, t, comm, info, q),
                      MPI_Alltoall_init_c(s, n, t, r, n, t, comm, info, q));
    case REDUCE:
        return EITHER(MPI_Reduce_init(s, r, n, t, MPI_SUM, root, comm, info, q),
                      MPI_Reduce_init_c(s, r, n, t, MPI_SUM, root, comm, info, q));
    case ALLREDUCE:
        return EITHER(MPI_Allreduce_init(s, r, n, t, MPI_SUM, comm, info, q),
                      MPI_Allreduce_init_c(s, r, n, t, MPI_SUM, comm, info, q));
    case REDUCE_SCATTER:
        return EITHER(MPI_Reduce_scatter_init(s, r, o->counts, t, MPI_SUM, comm, info, q),
                      MPI_Reduce_scatter_init_c(s, r, o->wide_counts, t, MPI_SUM, comm, info, q));
    case REDUCE_SCATTER_BLOCK:
        return EITHER(MPI_Reduce_scatter_block_init(s, r, n, t, MPI_SUM, comm, info, q),
                      MPI_Reduce_scatter_block_init_c(s, r, n, t, MPI_SUM, comm, info, q));
    case SCAN:
        return EITHER(MPI_Scan_init(s, r, n, t, MPI_SUM, comm, info, q),
                      MPI_Scan_init_c(s, r, n, t, MPI_SUM, comm, info, q));
    default:
        return EITHER(MPI_Exscan_init(s, r, n, t, MPI_SUM, comm, info, q),
                      MPI_Exscan_init_c(s, r, n, t, MPI_SUM, comm, info, q));
    }
}

static void op_make(op_t *o)
{
    const void *s = o->in_place ? MPI_IN_PLACE : (void *)o->send;
    MPI_Datatype t = o->stride == 1 ? MPI_LONG : gaps;

    CHECK((is_vector(o->kind) ? make_vector : make_regular)(o, s, t, MPI_INFO_NULL) == MPI_SUCCESS);
}

/* ---- Data ---- */

static long *at(const op_t *o, long *buffer, int block, int i)
{
    return &buffer[((size_t)block * (size_t)o->n + (size_t)i) * (size_t)o->stride];
}

/* Where the vector of a reduction begins for member r; reduce_scatter has no gaps between shares.
 */
static int share_first(const op_t *o, int r)
{
    int first = 0;

    for (int i = 0; i < r; i++)
        first += count_of(o, rank, i);
    return first;
}

static int vector_length(const op_t *o)
{
    return o->kind == REDUCE_SCATTER         ? share_first(o, size)
           : o->kind == REDUCE_SCATTER_BLOCK ? o->n * size
                                             : o->n;
}

static void fill_blocks(op_t *o, int round)
{
    long *in = o->in_place ? o->recv : o->send;

    for (int r = 0; r < size; r++)
        for (int i = 0; i < count_of(o, rank, r); i++)
            switch (o->kind) {
            case BCAST:
                if (r == 0 && rank == o->root)
                    *at(o, o->recv, 0, i) = value(round, rank, 0, i);
                break;
            case GATHER:
            case GATHERV:
            case ALLGATHER:
            case ALLGATHERV:
                if (r == rank)
                    *at(o, in, o->in_place ? rank : 0, i) = value(round, rank, 0, i);
                break;
            case SCATTER:
            case SCATTERV:
                *at(o, o->send, r, i) = value(round, rank, r, i);
                break;
            default:
                *at(o, in, r, i) = value(round, rank, r, i);
            }
}

static void fill(op_t *o, int round)
{
    for (size_t i = 0; i < o->longs; i++)
        o->send[i] = o->recv[i] = -1;
    if (o->kind < REDUCE) {
        fill_blocks(o, round);
        return;
    }
    for (int i = 0; i < vector_length(o); i++)
        (o->in_place ? o->recv : o->send)[i] = value(round, rank, 0, i);
}

static void check_block(op_t *o, int round, int block, int from, int to, int count)
{
    for (int i = 0; i < count; i += 1 + count / 50) {
        CHECK(*at(o, o->recv, block, i) == value(round, from, to, i));
        CHECK(o->stride == 1 || at(o, o->recv, block, i)[1] == -1);
    }
}

static void check_blocks(op_t *o, int round)
{
    switch (o->kind) {
    case BARRIER:
        break;
    case BCAST:
        check_block(o, round, 0, o->root, 0, o->n);
        break;
    case SCATTER:
    case SCATTERV:
        if (!o->in_place)
            check_block(o, round, 0, o->root, rank, count_of(o, o->root, rank));
        break;
    case GATHER:
    case GATHERV:
        for (int r = 0; rank == o->root && r < size; r++)
            check_block(o, round, r, r, 0, count_of(o, r, rank));
        break;
    case ALLGATHER:
    case ALLGATHERV:
        for (int r = 0; r < size; r++)
            check_block(o, round, r, r, 0, count_of(o, r, rank));
        break;
    default:
        for (int r = 0; r < size; r++)
            check_block(o, round, r, r, rank, count_of(o, r, rank));
    }
}

static long sum(int round, int first, int end, int i)
{
    long s = 0;

    for (int r = first; r < end; r++)
        s += value(round, r, 0, i);
    return s;
}

static void check_reduction(const op_t *o, int round)
{
    int n = o->n, first = 0, end = size;

    if (o->kind == REDUCE && rank != o->root)
        return;
    if (o->kind == REDUCE_SCATTER) {
        first = share_first(o, rank);
        n = count_of(o, rank, rank);
    } else if (o->kind == REDUCE_SCATTER_BLOCK) {
        first = rank * n;
    } else if (o->kind == SCAN) {
        end = rank + 1;
    } else if (o->kind == EXSCAN) {
        end = rank;
    }
    for (int i = 0; i < n && end > 0; i += 1 + n / 50)
        CHECK(o->recv[i] == sum(round, 0, end, first + i));
}

static void check_op(op_t *o, int round)
{
    if (o->kind < REDUCE)
        check_blocks(o, round);
    else
        check_reduction(o, round);
}

/* ---- Programs ---- */

/* Several persistent collectives, started in one order and finished in another. */
static void test_random(void)
{
    static op_t ops[OPS];
    MPI_Request all[OPS];
    MPI_Datatype kept = gaps;

    MPI_Type_dup(kept, &gaps); /* freed while the requests live */
    for (int i = 0; i < OPS; i++) {
        op_init(&ops[i]);
        op_make(&ops[i]);
    }
    MPI_Type_free(&gaps);
    for (int round = 0; round < ROUNDS; round++) {
        bool at_once = below(2) == 0;

        for (int i = 0; i < OPS; i++) {
            fill(&ops[i], round);
            all[i] = ops[i].request;
        }
        /* Each rank has an order of its own. */
        for (int i = 0; i < OPS && !at_once; i++)
            CHECK(MPI_Start(&all[(i * 5 + rank * 7 + round) % OPS]) == MPI_SUCCESS);
        if (at_once)
            CHECK(MPI_Startall(OPS, all) == MPI_SUCCESS);
        for (int i = OPS - 1; i >= 0 && round % 2 == 0; i--)
            MPI_Wait(&all[i], MPI_STATUS_IGNORE);
        if (round % 2 == 1)
            MPI_Waitall(OPS, all, MPI_STATUSES_IGNORE);
        for (int i = 0; i < OPS; i++) {
            CHECK(all[i] == ops[i].request); /* still there */
            check_op(&ops[i], round);
        }
    }
    for (int i = 0; i < OPS; i++) {
        CHECK(MPI_Request_free(&ops[i].request) == MPI_SUCCESS);
        CHECK(ops[i].request == MPI_REQUEST_NULL);
        op_free(&ops[i]);
    }
    gaps = kept;
}

/* Persistent messages and collectives in one MPI_Startall. */
static void test_mixed(void)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, out, in;
    long mine, total;
    MPI_Request r[3];

    MPI_Recv_init(&in, 1, MPI_INT, left, 5, comm, &r[0]);
    MPI_Allreduce_init(&mine, &total, 1, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &r[1]);
    MPI_Send_init(&out, 1, MPI_INT, right, 5, comm, &r[2]);
    for (int round = 0; round < 5; round++) {
        out = rank * 10 + round;
        mine = rank + round;
        in = -1;
        total = -1;
        MPI_Startall(3, r);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        CHECK(in == left * 10 + round);
        CHECK(total == (long)size * (size - 1) / 2 + (long)size * round);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&r[i]);
}

static void test_inactive(void)
{
    MPI_Request r, s;
    MPI_Status status;
    static long v, w; /* one that is freed while it is active may be over after the function is */
    int flag = 0, index = 7;

    v = rank;
    MPI_Allreduce_init(&v, &w, 1, MPI_LONG, MPI_MAX, comm, MPI_INFO_NULL, &r);
    CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS && r != MPI_REQUEST_NULL);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Test(&r, &flag, &status);
    CHECK(flag == 1);
    MPI_Request_get_status(r, &flag, &status);
    CHECK(flag == 1);
    MPI_Waitany(1, &r, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    MPI_Start(&r);
    for (flag = 0; !flag;)
        MPI_Request_get_status(r, &flag, &status);
    for (flag = 0; !flag;)
        MPI_Test(&r, &flag, &status);
    CHECK(w == size - 1);
    /* A second one of the same kind, finished first; then both freed, one while it is active. */
    MPI_Allreduce_init(&v, &w, 1, MPI_LONG, MPI_MIN, comm, MPI_INFO_NULL, &s);
    MPI_Start(&s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    CHECK(w == 0);
    MPI_Start(&r);
    MPI_Request_free(&r);
    MPI_Barrier(comm);
    MPI_Request_free(&s);
}

static void test_errors(void)
{
    MPI_Request r;
    int code, class;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    code = MPI_Start(&r); /* it is active */
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_REQUEST);
    code = MPI_Cancel(&r);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_REQUEST);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    code = MPI_Bcast_init(NULL, 1, MPI_INT, size, comm, MPI_INFO_NULL, &r);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_ROOT);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

/* More requests than schedules are kept for, made and freed many times: nothing grows. */
static void test_many(void)
{
    enum { MANY = 40 };
    MPI_Request r[MANY];
    int v[MANY];

    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < MANY; i++)
            MPI_Bcast_init(&v[i], 1, MPI_INT, i % size, comm, MPI_INFO_NULL, &r[i]);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < MANY; i++)
                v[i] = rank == i % size ? 100 * i + round : -1;
            MPI_Startall(MANY, r);
            MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
            for (int i = 0; i < MANY; i++)
                CHECK(v[i] == 100 * i + round);
        }
        for (int i = 0; i < MANY; i++)
            MPI_Request_free(&r[i]);
    }
}

/* ---- Neighbours ---- */

enum { NEIGHBORS = 5 };

static void make_neighbors(MPI_Comm ring, const long *out, long *in, MPI_Request r[NEIGHBORS])
{
    static const int ones[2] = {1, 1}, places[2] = {0, 1};
    static const MPI_Aint bytes[2] = {0, sizeof(long)};
    static const MPI_Count wide[2] = {1, 1};
    MPI_Datatype types[2] = {MPI_LONG, MPI_LONG};

    MPI_Neighbor_allgather_init(out, 1, MPI_LONG, in, 1, MPI_LONG, ring, MPI_INFO_NULL, &r[0]);
    MPI_Neighbor_allgatherv_init(out, 1, MPI_LONG, in + 2, ones, places, MPI_LONG, ring,
                                 MPI_INFO_NULL, &r[1]);
    MPI_Neighbor_alltoall_init_c(out, 1, MPI_LONG, in + 4, 1, MPI_LONG, ring, MPI_INFO_NULL, &r[2]);
    MPI_Neighbor_alltoallv_init(out, ones, places, MPI_LONG, in + 6, ones, places, MPI_LONG, ring,
                                MPI_INFO_NULL, &r[3]);
    MPI_Neighbor_alltoallw_init_c(out, wide, bytes, types, in + 8, wide, bytes, types, ring,
                                  MPI_INFO_NULL, &r[4]);
}

static void test_neighbors(void)
{
    int dims[1] = {size}, periods[1] = {1}, left = (rank + size - 1) % size;
    int right = (rank + 1) % size;
    static long out[2], in[2 * NEIGHBORS];
    MPI_Request r[NEIGHBORS];
    MPI_Comm ring;

    MPI_Cart_create(comm, 1, dims, periods, 0, &ring);
    make_neighbors(ring, out, in, r);
    for (int round = 0; round < ROUNDS; round++) {
        out[0] = 100 * rank + round;
        out[1] = -out[0];
        memset(in, -1, sizeof in);
        MPI_Startall(NEIGHBORS, r);
        MPI_Waitall(NEIGHBORS, r, MPI_STATUSES_IGNORE);
        for (int k = 0; k < NEIGHBORS; k++) {
            long from_left = 100 * left + round, from_right = 100 * right + round;

            CHECK(in[2 * k] == (k < 2 ? from_left : -from_left));
            CHECK(in[2 * k + 1] == from_right);
        }
    }
    MPI_Start(&r[0]);
    MPI_Request_free(&r[0]); /* active */
    MPI_Barrier(comm);
    for (int k = 1; k < NEIGHBORS; k++)
        MPI_Request_free(&r[k]);
    MPI_Comm_free(&ring);
}

/* Ranks may start them in different orders; blocks of different sizes would not fit. A nonblocking
 * one matches none of them. */
static void test_neighbors_in_any_order(void)
{
    enum { REQUESTS = 3 };
    int periods[1] = {1}, sum = 0;
    long send[REQUESTS], recv[REQUESTS][2 * REQUESTS], plain[2];
    MPI_Request requests[REQUESTS], other;
    MPI_Comm ring;

    MPI_Cart_create(comm, 1, &size, periods, 0, &ring);
    for (int q = 0; q < REQUESTS; q++)
        MPI_Neighbor_allgather_init(send, q + 1, MPI_LONG, recv[q], q + 1, MPI_LONG, ring,
                                    MPI_INFO_NULL, &requests[q]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < REQUESTS; i++)
            send[i] = value(round, rank, 0, i);
        for (int k = 0; k < REQUESTS; k++)
            MPI_Start(&requests[(k + round + rank) % REQUESTS]);
        MPI_Ineighbor_allgather(&send[0], 1, MPI_LONG, plain, 1, MPI_LONG, ring, &other);
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
        MPI_Wait(&other, MPI_STATUS_IGNORE);
        for (int side = 0; side < 2; side++) {
            int from = (rank + (side == 0 ? size - 1 : 1)) % size;

            for (int q = 0; q < REQUESTS; q++)
                for (int i = 0; i <= q; i++)
                    sum += recv[q][side * (q + 1) + i] != value(round, from, 0, i);
            sum += plain[side] != value(round, from, 0, 0);
        }
        CHECK_EQUAL(sum, 0);
    }
    for (int q = 0; q < REQUESTS; q++)
        MPI_Request_free(&requests[q]);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    MPI_Datatype type = MPI_LONG;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_create_resized(type, 0, 2 * (MPI_Aint)sizeof(long), &gaps);
    MPI_Type_commit(&gaps);
    for (unsigned seed = 1; seed <= 6; seed++) {
        state = seed + 100u * (argc > 1 ? (unsigned)atoi(argv[1]) : 0);
        test_random();
    }
    test_mixed();
    test_inactive();
    test_errors();
    test_many();
    test_neighbors();
    test_neighbors_in_any_order();
    MPI_Type_free(&gaps);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
