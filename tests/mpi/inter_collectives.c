/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives between two groups: random ones of all kinds on intercommunicators whose groups have
 * 1 to 8 members in any order, blocking, nonblocking and persistent, with counts of both widths,
 * other sizes in each direction, types with gaps on one side, operations that are not commutative.
 * Each element is checked against what it must be, and what must stay as it was.
 */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5, GROUP = 8, LARGE = 20000, CALLS = XYLEM_SANITIZED ? 15 : 60 };

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
    KINDS
} kind_t;

typedef struct {
    MPI_Comm comm;
    int rank, size, peers;
    bool is_high;
    unsigned state;
    MPI_Datatype gaps; /* a long and a gap of the same size */
    MPI_Op first;      /* of two, the left one: not commutative */
    /* The call: elements of a block to the high and to the low group. */
    kind_t kind;
    int form, n[2], turn;
    bool is_wide, root_is_high;
    int root; /* rank in its group */
    int send_stride, receive_stride;
    long *send, *receive;
    int counts[2][GROUP], displs[2][GROUP]; /* of what is sent, received */
    MPI_Count wide_counts[2][GROUP];
    MPI_Aint wide_displs[2][GROUP];
    int bytes[2][GROUP]; /* the displacements of alltoallw */
    MPI_Aint wide_bytes[2][GROUP];
    MPI_Datatype types[2][GROUP];
} test_t;

static int below(test_t *t, int n)
{
    return (int)(next_random(&t->state) % (unsigned)n);
}

static void keep_first(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, (size_t)*n * sizeof(long));
}

static long value(const test_t *t, bool from_high, int from, int to, int i)
{
    return t->turn * 1000003L + from_high * 500009L + from * 10007L + to * 101L + i;
}

/* Elements of the block from one member to another of the other group. */
static int count_of(const test_t *t, bool to_high, int from, int to)
{
    int n = t->n[to_high];

    switch (t->kind) {
    case GATHERV:
    case ALLGATHERV:
        return (n + from) % (n + 1);
    case SCATTERV:
        return (n + to) % (n + 1);
    case ALLTOALLV:
    case ALLTOALLW:
        return (n + from + 2 * to) % (n + 1);
    default:
        return n;
    }
}

static bool is_rooted(const test_t *t)
{
    return (t->kind >= BCAST && t->kind <= SCATTERV) || t->kind == REDUCE;
}

static bool is_root(const test_t *t)
{
    return t->root_is_high == t->is_high && t->root == t->rank;
}

/* The root argument of the program. */
static int root_argument(const test_t *t)
{
    if (t->root_is_high != t->is_high)
        return t->root;
    return is_root(t) ? MPI_ROOT : MPI_PROC_NULL;
}

static bool gets(const test_t *t)
{
    if (!is_rooted(t))
        return true;
    return t->kind == BCAST || t->kind == SCATTER || t->kind == SCATTERV
               ? t->root_is_high != t->is_high
               : is_root(t);
}

static bool sends_one(const test_t *t)
{
    return t->kind == BCAST || t->kind == GATHER || t->kind == GATHERV || t->kind == ALLGATHER ||
           t->kind == ALLGATHERV;
}

static bool gets_one(const test_t *t)
{
    return t->kind == BCAST || t->kind == SCATTER || t->kind == SCATTERV;
}

/* ---- Reductions: the vectors of both groups have the same length ---- */

static int vector_length(const test_t *t)
{
    int low = t->is_high ? t->peers : t->size, high = t->is_high ? t->size : t->peers;

    return t->kind == REDUCE || t->kind == ALLREDUCE ? t->n[0] : t->n[0] * low * high;
}

static int share(const test_t *t, int rank)
{
    int length = vector_length(t), rest = length % t->size;

    if (t->kind != REDUCE_SCATTER)
        return t->kind == REDUCE_SCATTER_BLOCK ? length / t->size : length;
    /* Not equal: the last one has what the others lack. */
    if (t->size > 1 && rank == 0)
        return 0;
    if (t->size > 1 && rank == 1)
        return 2 * (length / t->size) + rest;
    return length / t->size + (t->size == 1 ? rest : 0);
}

static long reduced(const test_t *t, int i)
{
    long sum = 0;

    if (t->form % 2 == 0)
        return value(t, !t->is_high, 0, 0, i); /* the first */
    for (int r = 0; r < t->peers; r++)
        sum += value(t, !t->is_high, r, 0, i);
    return sum;
}

static void check_reduction(const test_t *t)
{
    int first = 0, n = share(t, t->rank);

    for (int r = 0; r < t->rank && t->kind >= REDUCE_SCATTER; r++)
        first += share(t, r);
    for (int i = 0; i < n && gets(t); i += 1 + n / 40)
        CHECK_EQUAL(t->receive[i], reduced(t, first + i));
    CHECK(t->receive[gets(t) ? n : 0] == -1);
}

/* ---- Blocks ---- */

static long *at(long *buffer, int stride, int place, int i)
{
    return &buffer[((size_t)place + (size_t)i) * (size_t)stride];
}

static void fill(test_t *t)
{
    bool is_one = sends_one(t);

    for (int i = 0; t->kind >= REDUCE && i < vector_length(t); i++)
        t->send[i] = value(t, t->is_high, t->rank, 0, i);
    for (int p = 0; p < (is_one ? 1 : t->peers) && t->kind < REDUCE; p++)
        for (int i = 0; i < count_of(t, !t->is_high, t->rank, p); i++)
            *at(t->send, t->send_stride, is_one ? 0 : t->displs[0][p], i) =
                value(t, t->is_high, t->rank, is_one ? 0 : p, i);
}

static void check_block(test_t *t, int place, int from, int n)
{
    for (int i = 0; i < n; i += 1 + n / 40) {
        long *got = at(t->receive, t->receive_stride, place, i);

        CHECK_EQUAL(*got, value(t, !t->is_high, from, sends_one(t) ? 0 : t->rank, i));
        CHECK(t->receive_stride == 1 || got[1] == -1);
    }
}

static void check_blocks(test_t *t)
{
    bool is_one = gets_one(t);

    if (t->kind == BARRIER)
        return;
    if (!gets(t))
        CHECK(t->receive[0] == -1);
    for (int p = 0; gets(t) && p < t->peers; p++)
        if (!is_rooted(t) || !is_one || p == t->root)
            check_block(t, is_one ? 0 : t->displs[1][p], p, count_of(t, t->is_high, p, t->rank));
}

/* ---- The calls ---- */

/* Blocking, nonblocking, persistent; `call` and so on are lists of names and arguments. */
#define FORMS(call, icall, init, ...)                                                              \
    do {                                                                                           \
        if (t->form < 2)                                                                           \
            CHECK(call(__VA_ARGS__, t->comm) == MPI_SUCCESS);                                      \
        else if (t->form < 4)                                                                      \
            CHECK(icall(__VA_ARGS__, t->comm, request) == MPI_SUCCESS);                            \
        else                                                                                       \
            CHECK(init(__VA_ARGS__, t->comm, MPI_INFO_NULL, request) == MPI_SUCCESS);              \
    } while (0)
#define EITHER(name, iname, ...)                                                                   \
    do {                                                                                           \
        if (t->is_wide)                                                                            \
            FORMS(MPI_##name##_c, MPI_##iname##_c, MPI_##name##_init_c, __VA_ARGS__);              \
        else                                                                                       \
            FORMS(MPI_##name, MPI_##iname, MPI_##name##_init, __VA_ARGS__);                        \
    } while (0)
#define VECTORS(name, iname, narrow, wide)                                                         \
    do {                                                                                           \
        if (t->is_wide)                                                                            \
            FORMS(MPI_##name##_c, MPI_##iname##_c, MPI_##name##_init_c, EXPAND wide);              \
        else                                                                                       \
            FORMS(MPI_##name, MPI_##iname, MPI_##name##_init, EXPAND narrow);                      \
    } while (0)
#define EXPAND(...) __VA_ARGS__

static void call_vectors(test_t *t, MPI_Request *request)
{
    long *s = t->send, *r = t->receive;
    int root = root_argument(t), give = count_of(t, !t->is_high, t->rank, 0);
    int get = count_of(t, t->is_high, 0, t->rank), *sc = t->counts[0], *sd = t->displs[0];
    int *rc = t->counts[1], *rd = t->displs[1];
    MPI_Count *SC = t->wide_counts[0], *RC = t->wide_counts[1];
    MPI_Aint *SD = t->wide_displs[0], *RD = t->wide_displs[1];
    MPI_Datatype st = t->types[0][0], rt = t->types[1][0];

    switch (t->kind) {
    case GATHERV:
        VECTORS(Gatherv, Igatherv, (s, give, st, r, rc, rd, rt, root),
                (s, give, st, r, RC, RD, rt, root));
        break;
    case SCATTERV:
        VECTORS(Scatterv, Iscatterv, (s, sc, sd, st, r, get, rt, root),
                (s, SC, SD, st, r, get, rt, root));
        break;
    case ALLGATHERV:
        VECTORS(Allgatherv, Iallgatherv, (s, give, st, r, rc, rd, rt),
                (s, give, st, r, RC, RD, rt));
        break;
    case ALLTOALLV:
        VECTORS(Alltoallv, Ialltoallv, (s, sc, sd, st, r, rc, rd, rt),
                (s, SC, SD, st, r, RC, RD, rt));
        break;
    default:
        VECTORS(Alltoallw, Ialltoallw,
                (s, sc, t->bytes[0], t->types[0], r, rc, t->bytes[1], t->types[1]),
                (s, SC, t->wide_bytes[0], t->types[0], r, RC, t->wide_bytes[1], t->types[1]));
    }
}

static void call_regular(test_t *t, MPI_Request *request)
{
    long *s = t->send, *r = t->receive;
    int root = root_argument(t), give = count_of(t, !t->is_high, t->rank, 0);
    int get = count_of(t, t->is_high, 0, t->rank);
    MPI_Datatype st = t->types[0][0], rt = t->types[1][0];

    switch (t->kind) {
    case BARRIER:
        if (t->form < 2)
            MPI_Barrier(t->comm);
        else if (t->form < 4)
            MPI_Ibarrier(t->comm, request);
        else
            MPI_Barrier_init(t->comm, MPI_INFO_NULL, request);
        break;
    case BCAST:
        EITHER(Bcast, Ibcast, is_root(t) ? s : r, is_root(t) ? give : get, is_root(t) ? st : rt,
               root);
        break;
    case GATHER:
        EITHER(Gather, Igather, s, give, st, r, get, rt, root);
        break;
    case SCATTER:
        EITHER(Scatter, Iscatter, s, give, st, r, get, rt, root);
        break;
    case ALLGATHER:
        EITHER(Allgather, Iallgather, s, give, st, r, get, rt);
        break;
    default:
        EITHER(Alltoall, Ialltoall, s, give, st, r, get, rt);
    }
}

static void call_reduction(test_t *t, MPI_Request *request)
{
    long *s = t->send, *r = t->receive;
    MPI_Op op = t->form % 2 == 0 ? t->first : MPI_SUM;
    int n = vector_length(t), *counts = t->counts[1];
    MPI_Count *wide = t->wide_counts[1];

    switch (t->kind) {
    case REDUCE:
        EITHER(Reduce, Ireduce, s, r, n, MPI_LONG, op, root_argument(t));
        break;
    case ALLREDUCE:
        EITHER(Allreduce, Iallreduce, s, r, n, MPI_LONG, op);
        break;
    case REDUCE_SCATTER:
        for (int i = 0; i < t->size; i++)
            wide[i] = counts[i] = share(t, i);
        VECTORS(Reduce_scatter, Ireduce_scatter, (s, r, counts, MPI_LONG, op),
                (s, r, wide, MPI_LONG, op));
        break;
    default:
        EITHER(Reduce_scatter_block, Ireduce_scatter_block, s, r, share(t, 0), MPI_LONG, op);
    }
}

static void call(test_t *t, MPI_Request *request)
{
    if (t->kind >= REDUCE)
        call_reduction(t, request);
    else if (t->kind == GATHERV || t->kind == SCATTERV || t->kind == ALLGATHERV ||
             t->kind >= ALLTOALLV)
        call_vectors(t, request);
    else
        call_regular(t, request);
}

/* The same on all members, but for what is asked of their side. */
static void choose(test_t *t)
{
    int low_size = t->is_high ? t->peers : t->size, high_size = t->is_high ? t->size : t->peers;
    bool low_has_gaps, high_has_gaps;

    t->kind = (kind_t)below(t, KINDS);
    t->form = below(t, 6);
    t->n[0] = below(t, 6) == 0 ? LARGE / (low_size * high_size) + 1 : below(t, MOST + 1);
    t->n[1] = t->kind >= BCAST && t->kind <= SCATTERV ? t->n[0] : below(t, MOST + 1);
    t->is_wide = below(t, 2) == 0;
    t->root_is_high = below(t, 2) == 0;
    t->root = below(t, t->root_is_high ? high_size : low_size);
    low_has_gaps = below(t, 2) == 0 && t->kind < REDUCE;
    high_has_gaps = below(t, 2) == 0 && t->kind < REDUCE;
    t->send_stride = 1 + (t->is_high ? high_has_gaps : low_has_gaps);
    t->receive_stride = 1 + (t->is_high ? low_has_gaps : high_has_gaps);
}

static void prepare(test_t *t)
{
    int n = t->n[0] > t->n[1] ? t->n[0] : t->n[1];
    size_t longs = 2 * ((size_t)n * GROUP * (t->kind >= REDUCE ? GROUP : 1) + 2);

    t->send = malloc(longs * sizeof(long));
    t->receive = malloc(longs * sizeof(long));
    memset(t->send, -1, longs * sizeof(long));
    memset(t->receive, -1, longs * sizeof(long));
    for (int p = 0; p < t->peers; p++) {
        t->counts[0][p] = count_of(t, !t->is_high, t->rank, p);
        t->counts[1][p] = count_of(t, t->is_high, p, t->rank);
        t->displs[0][p] = p * t->n[!t->is_high];
        t->displs[1][p] = p * t->n[t->is_high];
    }
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < GROUP; p++) {
            t->wide_counts[s][p] = t->counts[s][p];
            t->wide_displs[s][p] = t->displs[s][p];
            t->bytes[s][p] =
                t->displs[s][p] * (int)sizeof(long) * (s == 0 ? t->send_stride : t->receive_stride);
            t->wide_bytes[s][p] = t->bytes[s][p];
            t->types[s][p] =
                (s == 0 ? t->send_stride : t->receive_stride) == 1 ? MPI_LONG : t->gaps;
        }
}

static void finish(test_t *t)
{
    if (t->kind >= REDUCE)
        check_reduction(t);
    else
        check_blocks(t);
}

static void one_call(test_t *t)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int turns = 1;

    choose(t);
    prepare(t);
    if (t->form >= 4) { /* made once, started three times */
        turns = 3;
        call(t, &request);
    }
    for (int i = 0; i < turns; i++) {
        t->turn++;
        fill(t);
        if (t->form >= 4)
            MPI_Start(&request);
        else
            call(t, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        finish(t);
    }
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
    free(t->send);
    free(t->receive);
}

/* Groups of `low` and `high` members, in an order that has nothing to do with the world's. */
static void two_groups(test_t *t, int low, int high, int shift)
{
    int rank, size, place, leaders[2];
    MPI_Comm group;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    place = (rank + shift) % size;
    leaders[0] = (size - shift) % size;
    leaders[1] = (low + size - shift) % size;
    MPI_Comm_split(MPI_COMM_WORLD,
                   place < low          ? 0
                   : place < low + high ? 1
                                        : MPI_UNDEFINED,
                   place, &group);
    if (group == MPI_COMM_NULL)
        return;
    t->is_high = place >= low;
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, leaders[place < low], 3, &t->comm);
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->size);
    MPI_Comm_remote_size(t->comm, &t->peers);
    for (int i = 0; i < CALLS; i++)
        one_call(t);
    MPI_Comm_free(&t->comm);
    MPI_Comm_free(&group);
}

static void expect(int code, int expected)
{
    int class;

    MPI_Error_class(code, &class);
    CHECK_EQUAL(class, expected);
}

/* Calls that are not defined between groups, and invalid roots. */
static void test_errors(void)
{
    int rank, size, root, value_in = 1, value_out = 0;
    MPI_Comm half, inter;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2)
        return;
    root = rank == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 4, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    expect(MPI_Scan(&value_in, &value_out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    expect(MPI_Exscan(&value_in, &value_out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    expect(MPI_Bcast(&value_in, 1, MPI_INT, size, inter), MPI_ERR_ROOT);
    expect(MPI_Allreduce(MPI_IN_PLACE, &value_out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    expect(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, &value_out, 1, MPI_INT, inter), MPI_ERR_BUFFER);
    expect(MPI_Neighbor_allgather(&value_in, 1, MPI_INT, &value_out, 1, MPI_INT, inter),
           MPI_ERR_TOPOLOGY);
    /* The others of the root's group may pass anything else. */
    expect(MPI_Reduce(&value_in, &value_out, rank > 1 ? -1 : 1,
                      rank > 1 ? MPI_DATATYPE_NULL : MPI_INT, rank > 1 ? MPI_OP_NULL : MPI_SUM,
                      root, inter),
           MPI_SUCCESS);
    CHECK_EQUAL(value_out, rank == 1 ? 1 : 0);
    expect(MPI_Bcast(rank > 1    ? NULL
                     : rank == 1 ? &value_in
                                 : &value_out,
                     rank > 1 ? -1 : 1, MPI_INT, root, inter),
           MPI_SUCCESS);
    CHECK_EQUAL(value_out, rank > 1 ? 0 : 1);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int size;
    test_t t = {.state = 1};

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_resized(MPI_LONG, 0, 2 * (MPI_Aint)sizeof(long), &t.gaps);
    MPI_Type_commit(&t.gaps);
    MPI_Op_create(keep_first, 0, &t.first);
    for (int i = 0; size > 1 && i < (XYLEM_SANITIZED ? 4 : 8); i++) {
        unsigned seed = 17u * (unsigned)i + (argc > 1 ? (unsigned)atoi(argv[1]) : 0);
        int low, high, shift;

        t.state = seed;
        t.turn = 0;
        low = 1 + below(&t, size - 1 < GROUP ? size - 1 : GROUP);
        high = 1 + below(&t, size - low < GROUP ? size - low : GROUP);
        shift = below(&t, size);
        two_groups(&t, low, high, shift);
    }
    test_errors();
    MPI_Op_free(&t.first);
    MPI_Type_free(&t.gaps);
    MPI_Finalize();
    return 0;
}
