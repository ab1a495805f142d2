/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective once more as programs use them: in private images under the launcher, blocking
 * and not, in place and not, on the world, on a part of it and on a duplicate, with derived types,
 * for messages on both sides of every limit. src/mpi/coll/coll_test.c has all numbers of ranks and
 * roots.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* A global: private to a rank, or these tests find out. */
static int rank, size, nonblocking;
static MPI_Comm comm;

static long value(int from, int to, int i)
{
    return from * 1000003L + to * 1009L + i;
}

static long *longs(int count)
{
    long *memory = malloc(((size_t)count + 1) * sizeof(long));

    CHECK(memory != NULL);
    memset(memory, 0xff, ((size_t)count + 1) * sizeof(long));
    return memory;
}

/* One call, blocking or started and waited for. */
#define RUN(Name, name, ...)                                                                       \
    do {                                                                                           \
        MPI_Request request_;                                                                      \
        if (!nonblocking) {                                                                        \
            CHECK(MPI_##Name(__VA_ARGS__, comm) == MPI_SUCCESS);                                   \
        } else {                                                                                   \
            CHECK(MPI_I##name(__VA_ARGS__, comm, &request_) == MPI_SUCCESS);                       \
            CHECK(MPI_Wait(&request_, MPI_STATUS_IGNORE) == MPI_SUCCESS);                          \
            CHECK(request_ == MPI_REQUEST_NULL);                                                   \
        }                                                                                          \
    } while (0)

static void test_bcast(int count, int root)
{
    long *v = longs(count);

    for (int i = 0; i < count && rank == root; i++)
        v[i] = value(root, 0, i);
    RUN(Bcast, bcast, v, count, MPI_LONG, root);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(v[i], value(root, 0, i));
    CHECK_EQUAL(v[count], -1);
    free(v);
}

static void test_gather_scatter(int count, int root)
{
    long *mine = longs(count), *all = longs(count * size);

    for (int i = 0; i < count; i++)
        mine[i] = value(rank, root, i);
    RUN(Gather, gather, mine, count, MPI_LONG, all, count, MPI_LONG, root);
    for (int r = 0; r < size && rank == root; r++)
        for (int i = 0; i < count; i++)
            CHECK_EQUAL(all[r * count + i], value(r, root, i));
    CHECK_EQUAL(all[count * size], -1);
    memset(mine, 0, (size_t)count * sizeof(long));
    RUN(Scatter, scatter, all, count, MPI_LONG, mine, count, MPI_LONG, root);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(mine[i], value(rank, root, i));
    CHECK_EQUAL(mine[count], -1);
    free(mine);
    free(all);
}

/* Rank r contributes count + r % 3 elements; one element of room between the shares. */
static int layout(int count, int *counts, int *starts)
{
    int at = 0;

    for (int r = 0; r < size; r++) {
        counts[r] = count + r % 3;
        starts[r] = at;
        at += counts[r] + 1;
    }
    return at;
}

static void check_shares(const long *all, const int *counts, const int *starts)
{
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            CHECK_EQUAL(all[starts[r] + i], value(r, 7, i));
        CHECK_EQUAL(all[starts[r] + counts[r]], -1);
    }
}

static void test_vectors(int count, int root)
{
    int *counts = malloc(2 * (size_t)size * sizeof(int)), *starts = counts + size;
    int total = layout(count, counts, starts);
    long *mine = longs(counts[rank]), *all = longs(total);

    for (int i = 0; i < counts[rank]; i++)
        mine[i] = value(rank, 7, i);
    RUN(Gatherv, gatherv, mine, counts[rank], MPI_LONG, all, counts, starts, MPI_LONG, root);
    if (rank == root)
        check_shares(all, counts, starts);
    memset(mine, 0, (size_t)counts[rank] * sizeof(long));
    RUN(Scatterv, scatterv, all, counts, starts, MPI_LONG, mine, counts[rank], MPI_LONG, root);
    for (int i = 0; i < counts[rank]; i++)
        CHECK_EQUAL(mine[i], value(rank, 7, i));
    memset(all, 0xff, (size_t)total * sizeof(long));
    RUN(Allgatherv, allgatherv, mine, counts[rank], MPI_LONG, all, counts, starts, MPI_LONG);
    check_shares(all, counts, starts);
    free(mine);
    free(all);
    free(counts);
}

/* In place and not; a column of a matrix on one side, a row on the other. */
static void test_allgather(int count)
{
    long *all = longs(count * size), *columns = longs(2 * count);
    MPI_Datatype every_second;

    MPI_Type_vector(count, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    for (int in_place = 0; in_place < 2; in_place++) {
        memset(all, 0, (size_t)(count * size) * sizeof(long));
        for (int i = 0; i < count; i++)
            columns[2 * i] = all[rank * count + i] = value(rank, 0, i);
        RUN(Allgather, allgather, in_place ? MPI_IN_PLACE : (void *)columns, 1, every_second, all,
            count, MPI_LONG);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < count; i++)
                CHECK_EQUAL(all[r * count + i], value(r, 0, i));
    }
    MPI_Type_free(&every_second);
    free(all);
    free(columns);
}

static void check_exchanged(const long *in, int count)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            CHECK_EQUAL(in[r * count + i], value(r, rank, i));
    CHECK_EQUAL(in[size * count], -1);
}

static void test_alltoall(int count)
{
    int *counts = malloc(3 * (size_t)size * sizeof(int)), *starts = counts + size;
    int *bytes = starts + size;
    MPI_Datatype *types = malloc((size_t)size * sizeof(MPI_Datatype));
    long *out = longs(count * size), *in = longs(count * size);

    for (int r = 0; r < size; r++) {
        counts[r] = count;
        starts[r] = r * count;
        bytes[r] = r * count * (int)sizeof(long);
        types[r] = MPI_LONG;
    }
    for (int kind = 0; kind < 6; kind++) {
        const void *send = kind % 2 ? MPI_IN_PLACE : (void *)out;

        for (int r = 0; r < size; r++)
            for (int i = 0; i < count; i++)
                out[r * count + i] = in[r * count + i] = value(rank, r, i);
        if (kind / 2 == 0)
            RUN(Alltoall, alltoall, send, count, MPI_LONG, in, count, MPI_LONG);
        else if (kind / 2 == 1)
            RUN(Alltoallv, alltoallv, send, counts, starts, MPI_LONG, in, counts, starts, MPI_LONG);
        else
            RUN(Alltoallw, alltoallw, send, counts, bytes, types, in, counts, bytes, types);
        check_exchanged(in, count);
    }
    free(out);
    free(in);
    free(types);
    free(counts);
}

/* Of value(r, 0, i) over the first ranks. */
static long sum_of(int ranks, int i)
{
    return 1000003L * ranks * (ranks - 1) / 2 + (long)ranks * i;
}

static void test_reductions(int count, int root)
{
    long *mine = longs(count), *out = longs(count);

    for (int i = 0; i < count; i++)
        mine[i] = value(rank, 0, i);
    RUN(Reduce, reduce, mine, out, count, MPI_LONG, MPI_SUM, root);
    for (int i = 0; i < count && rank == root; i++)
        CHECK_EQUAL(out[i], sum_of(size, i));
    RUN(Allreduce, allreduce, mine, out, count, MPI_LONG, MPI_SUM);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], sum_of(size, i));
    RUN(Scan, scan, mine, out, count, MPI_LONG, MPI_SUM);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], sum_of(rank + 1, i));
    RUN(Exscan, exscan, mine, out, count, MPI_LONG, MPI_SUM);
    for (int i = 0; i < count && rank > 0; i++)
        CHECK_EQUAL(out[i], sum_of(rank, i));
    memcpy(out, mine, (size_t)count * sizeof(long));
    RUN(Allreduce, allreduce, MPI_IN_PLACE, out, count, MPI_LONG, MPI_MAX);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], value(size - 1, 0, i));
    CHECK_EQUAL(out[count], -1);
    free(mine);
    free(out);
}

static void test_reduce_scatter(int count)
{
    int *counts = malloc((size_t)size * sizeof(int)), total = 0, first = 0;
    long *all, *out;

    for (int r = 0; r < size; r++) {
        counts[r] = count + r % 3;
        first += r < rank ? counts[r] : 0;
        total += counts[r];
    }
    all = longs(total);
    out = longs(total);
    for (int i = 0; i < total; i++)
        all[i] = value(rank, 0, i);
    RUN(Reduce_scatter, reduce_scatter, all, out, counts, MPI_LONG, MPI_SUM);
    for (int i = 0; i < counts[rank]; i++)
        CHECK_EQUAL(out[i], sum_of(size, first + i));
    CHECK_EQUAL(out[counts[rank]], -1);
    RUN(Reduce_scatter_block, reduce_scatter_block, all, out, count, MPI_LONG, MPI_SUM);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], sum_of(size, rank * count + i));
    free(all);
    free(out);
    free(counts);
}

/* Before and after: numbers of a user's type, composed in the order of the ranks. */
typedef struct {
    long first, last;
} span_t;

static void join(void *a, void *b, int *n, MPI_Datatype *type)
{
    const span_t *left = a;
    span_t *right = b;

    (void)type;
    for (int i = 0; i < *n; i++) {
        if (left[i].last + 1 != right[i].first)
            right[i].last = -1000000; /* not neighbours: never right again */
        right[i].first = left[i].first;
    }
}

static void test_order(int count)
{
    span_t *mine = malloc(2 * ((size_t)count + 1) * sizeof(span_t)), *out = mine + count;
    MPI_Datatype span;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_LONG, &span);
    MPI_Type_commit(&span);
    MPI_Op_create(join, 0, &op);
    for (int i = 0; i < count; i++)
        mine[i] = (span_t){rank, rank};
    RUN(Allreduce, allreduce, mine, out, count, span, op);
    for (int i = 0; i < count; i++)
        CHECK(out[i].first == 0 && out[i].last == size - 1);
    RUN(Scan, scan, mine, out, count, span, op);
    for (int i = 0; i < count; i++)
        CHECK(out[i].first == 0 && out[i].last == rank);
    MPI_Op_free(&op);
    MPI_Type_free(&span);
    free(mine);
}

static void test_barrier(void)
{
    MPI_Request request;

    if (nonblocking) {
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(comm);
    }
}

static void test_all(int count)
{
    int roots[3] = {size / 2, 0, size - 1};

    for (nonblocking = 0; nonblocking < 2; nonblocking++) {
        for (int r = 0; r < (XYLEM_SANITIZED ? 1 : 3); r++) {
            test_bcast(count, roots[r]);
            test_gather_scatter(count, roots[r]);
            test_vectors(count, roots[r]);
            test_reductions(count, roots[r]);
        }
        test_allgather(count);
        test_alltoall(count);
        test_reduce_scatter(count);
        test_order(count);
        test_barrier();
    }
}

static void test_on(MPI_Comm where)
{
    static const int counts[] = {0, 1, 7, 200, 3000};

    comm = where;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
        if ((long)counts[c] * size * size <= 1000000) /* exchanged by all ranks */
            test_all(counts[c]);
}

int main(int argc, char **argv)
{
    MPI_Comm part, twin;
    int world_rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    test_on(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3, -world_rank, &part);
    test_on(part);
    MPI_Comm_dup(part, &twin);
    MPI_Comm_free(&part);
    test_on(twin);
    MPI_Comm_free(&twin);
    test_on(MPI_COMM_SELF);
    MPI_Finalize();
    return 0;
}
