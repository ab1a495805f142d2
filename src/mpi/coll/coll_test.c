/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective, blocking and not, for every number of ranks from 1 to 33 and every root,
 * against plain loops; commutative and other operations; one to three workers, dealt in blocks and
 * round robin; sizes on both sides of what travels through the slots.
 */
#include "testing/mpi_p2p.h"

#include <string.h>

#include "coll/coll.h"
#include "mpi/coll/star.h"
#include "testing/base.h"

static int count;  /* elements of each contribution, set by the test */
static int stride; /* roots 0, stride, 2 * stride, ... are tried */

static long value(int rank, int i, int salt)
{
    return (long)rank * 1009 + (long)i * 31 + salt * 7 + 1;
}

static long *vector(size_t n)
{
    long *v = malloc((n + 1) * sizeof(long));

    for (size_t i = 0; i <= n; i++)
        v[i] = -1;
    return v;
}

/* Blocking or started and waited for, from one call. */
#define RUN(nonblocking, Name, name, ...)                                                          \
    do {                                                                                           \
        if (nonblocking) {                                                                         \
            MPI_Request request_;                                                                  \
            MPI_I##name(__VA_ARGS__, MPI_COMM_WORLD, &request_);                                   \
            MPI_Wait(&request_, MPI_STATUS_IGNORE);                                                \
        } else {                                                                                   \
            MPI_##Name(__VA_ARGS__, MPI_COMM_WORLD);                                               \
        }                                                                                          \
    } while (0)

static void bcast(int rank, int size)
{
    long *v = vector((size_t)count);

    for (int root = 0; root < size; root += stride)
        for (int nb = 0; nb < 2; nb++) {
            for (int i = 0; i < count; i++)
                v[i] = rank == root ? value(root, i, nb) : -1;
            RUN(nb, Bcast, bcast, v, count, MPI_LONG, root);
            for (int i = 0; i < count; i++)
                CHECK(v[i] == value(root, i, nb));
        }
    free(v);
}

static void gather_scatter(int rank, int size)
{
    long *own = vector((size_t)count), *all = vector((size_t)count * (size_t)size);

    for (int root = 0; root < size; root += stride)
        for (int nb = 0; nb < 2; nb++) {
            for (int i = 0; i < count; i++)
                own[i] = value(rank, i, root);
            memset(all, 0, (size_t)count * (size_t)size * sizeof(long));
            RUN(nb, Gather, gather, own, count, MPI_LONG, all, count, MPI_LONG, root);
            for (int r = 0; r < size && rank == root; r++)
                for (int i = 0; i < count; i++)
                    CHECK(all[r * count + i] == value(r, i, root));
            memset(own, 0, (size_t)count * sizeof(long));
            RUN(nb, Scatter, scatter, all, count, MPI_LONG, own, count, MPI_LONG, root);
            for (int i = 0; i < count; i++)
                CHECK(own[i] == value(rank, i, root));
            /* in place at the root */
            if (rank == root)
                for (int i = 0; i < count; i++)
                    all[rank * count + i] = value(rank, i, root);
            RUN(nb, Gather, gather, rank == root ? MPI_IN_PLACE : own, count, MPI_LONG, all, count,
                MPI_LONG, root);
            RUN(nb, Scatter, scatter, all, count, MPI_LONG, rank == root ? MPI_IN_PLACE : own,
                count, MPI_LONG, root);
            for (int i = 0; i < count; i++)
                CHECK(own[i] == value(rank, i, root));
            /* nothing meaningful where an argument is not significant */
            if (rank == root)
                RUN(nb, Gather, gather, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, count, MPI_LONG,
                    root);
            else
                RUN(nb, Gather, gather, own, count, MPI_LONG, NULL, -1, MPI_DATATYPE_NULL, root);
            if (rank == root)
                RUN(nb, Scatter, scatter, all, count, MPI_LONG, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL,
                    root);
            else
                RUN(nb, Scatter, scatter, NULL, -1, MPI_DATATYPE_NULL, own, count, MPI_LONG, root);
            for (int i = 0; i < count; i++)
                CHECK(own[i] == value(rank, i, root));
        }
    free(own);
    free(all);
}

/* Rank r gives r % 3 + (count > 1) elements, laid out with gaps of one. */
static int share(int r)
{
    return count == 0 ? 0 : r % 3 + count / 2;
}

static void layout(int size, int *counts, int *displs)
{
    int at = 0;

    for (int r = 0; r < size; r++) {
        counts[r] = share(r);
        displs[r] = at;
        at += counts[r] + 1;
    }
    displs[size] = at;
}

static void check_layout(const long *all, int size, const int *counts, const int *displs, int salt)
{
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            CHECK(all[displs[r] + i] == value(r, i, salt));
        CHECK(all[displs[r] + counts[r]] == -1);
    }
}

static void vectors(int rank, int size)
{
    int *counts = malloc(2 * ((size_t)size + 1) * sizeof(int)), *displs = counts + size + 1;
    long *own = vector((size_t)count + 3), *all;

    layout(size, counts, displs);
    for (int root = 0; root < size; root += stride)
        for (int nb = 0; nb < 2; nb++) {
            all = vector((size_t)displs[size]);
            for (int i = 0; i < counts[rank]; i++)
                own[i] = value(rank, i, nb);
            RUN(nb, Gatherv, gatherv, own, counts[rank], MPI_LONG, all, counts, displs, MPI_LONG,
                root);
            if (rank == root)
                check_layout(all, size, counts, displs, nb);
            memset(own, 0, (size_t)counts[rank] * sizeof(long));
            RUN(nb, Scatterv, scatterv, all, counts, displs, MPI_LONG, own, counts[rank], MPI_LONG,
                root);
            for (int i = 0; i < counts[rank]; i++)
                CHECK(own[i] == value(rank, i, nb));
            free(all);
            all = vector((size_t)displs[size]);
            RUN(nb, Allgatherv, allgatherv, own, counts[rank], MPI_LONG, all, counts, displs,
                MPI_LONG);
            check_layout(all, size, counts, displs, nb);
            for (int r = 0; r < size; r++)
                if (r != rank)
                    memset(all + displs[r], 0, (size_t)counts[r] * sizeof(long));
            RUN(nb, Allgatherv, allgatherv, MPI_IN_PLACE, 0, MPI_LONG, all, counts, displs,
                MPI_LONG);
            check_layout(all, size, counts, displs, nb);
            free(all);
        }
    free(own);
    free(counts);
}

static void allgather(int rank, int size)
{
    long *own = vector((size_t)count), *all = vector((size_t)count * (size_t)size);

    for (int nb = 0; nb < 2; nb++)
        for (int in_place = 0; in_place < 2; in_place++) {
            memset(all, 0, (size_t)count * (size_t)size * sizeof(long));
            for (int i = 0; i < count; i++)
                own[i] = all[rank * count + i] = value(rank, i, nb);
            RUN(nb, Allgather, allgather, in_place ? MPI_IN_PLACE : own, count, MPI_LONG, all,
                count, MPI_LONG);
            for (int r = 0; r < size; r++)
                for (int i = 0; i < count; i++)
                    CHECK(all[r * count + i] == value(r, i, nb));
        }
    free(own);
    free(all);
}

static long pair_value(int from, int to, int i)
{
    return (long)from * 100003 + (long)to * 1009 + i;
}

static void alltoall(int rank, int size)
{
    size_t n = (size_t)count * (size_t)size;
    long *out = vector(n), *in = vector(n);

    for (int nb = 0; nb < 2; nb++)
        for (int in_place = 0; in_place < 2; in_place++) {
            for (int p = 0; p < size; p++)
                for (int i = 0; i < count; i++)
                    out[p * count + i] = in[p * count + i] = pair_value(rank, p, i);
            RUN(nb, Alltoall, alltoall, in_place ? MPI_IN_PLACE : out, count, MPI_LONG, in, count,
                MPI_LONG);
            for (int p = 0; p < size; p++)
                for (int i = 0; i < count; i++)
                    CHECK(in[p * count + i] == pair_value(p, rank, i));
        }
    free(out);
    free(in);
}

/* The counts of the pair (a, b) are symmetric, so that in place is possible too. */
static int pair_count(int a, int b)
{
    return count == 0 ? 0 : (a + b) % 3 + count / 3;
}

static void alltoallv_w(int rank, int size)
{
    int *counts = malloc(4 * (size_t)size * sizeof(int)), *displs = counts + size;
    int *bytes = displs + size;
    MPI_Datatype *types = malloc((size_t)size * sizeof(*types));
    int at = 0;
    long *out, *in;

    for (int p = 0; p < size; p++) {
        counts[p] = pair_count(rank, p);
        displs[p] = at;
        bytes[p] = at * (int)sizeof(long);
        types[p] = p % 2 ? MPI_LONG : MPI_INT64_T;
        at += counts[p] + 2;
    }
    out = vector((size_t)at);
    in = vector((size_t)at);
    for (int mode = 0; mode < 4; mode++)
        for (int nb = 0; nb < 2; nb++) {
            for (int p = 0; p < size; p++)
                for (int i = 0; i < counts[p]; i++)
                    out[displs[p] + i] = in[displs[p] + i] = pair_value(rank, p, i);
            const void *send = mode % 2 ? MPI_IN_PLACE : (void *)out;
            if (mode < 2)
                RUN(nb, Alltoallv, alltoallv, send, counts, displs, MPI_LONG, in, counts, displs,
                    MPI_LONG);
            else
                RUN(nb, Alltoallw, alltoallw, send, counts, bytes, types, in, counts, bytes, types);
            for (int p = 0; p < size; p++) {
                for (int i = 0; i < counts[p]; i++)
                    CHECK(in[displs[p] + i] == pair_value(p, rank, i));
                CHECK(in[displs[p] + counts[p]] == -1);
            }
        }
    free(out);
    free(in);
    free(counts);
    free(types);
}

/* x -> a*x + b modulo a prime, composed: associative, and order matters. */
typedef struct {
    long a, b;
} affine_t;

enum { PRIME = 1000003 };

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    affine_t *f = in, *g = inout;

    (void)type;
    for (int i = 0; i < *n; i++) {
        affine_t h = {f[i].a * g[i].a % PRIME, (f[i].a * g[i].b + f[i].b) % PRIME};

        g[i] = h;
    }
}

static affine_t affine(int rank, int i)
{
    return (affine_t){(rank * 17 + i * 3 + 2) % PRIME, (rank * 5 + i + 1) % PRIME};
}

static affine_t composed(int first, int end, int i)
{
    affine_t f = affine(first, i);
    int one = 1;

    for (int r = first + 1; r < end; r++) {
        affine_t g = affine(r, i);

        compose(&f, &g, &one, NULL);
        f = g;
    }
    return f;
}

static void noncommutative(int rank, int size)
{
    affine_t *own = malloc(((size_t)count + 1) * sizeof(*own));
    affine_t *all = malloc(((size_t)count * (size_t)size + 1) * sizeof(*all));
    affine_t *out = malloc(((size_t)count * (size_t)size + 1) * sizeof(*out));
    MPI_Datatype pair;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    for (int nb = 0; nb < 2; nb++) {
        for (int i = 0; i < count; i++)
            own[i] = affine(rank, i);
        RUN(nb, Allreduce, allreduce, own, out, count, pair, op);
        for (int i = 0; i < count; i++)
            CHECK(out[i].a == composed(0, size, i).a && out[i].b == composed(0, size, i).b);
        for (int root = 0; root < size; root += stride) {
            RUN(nb, Reduce, reduce, own, out, count, pair, op, root);
            for (int i = 0; i < count && rank == root; i++)
                CHECK(out[i].a == composed(0, size, i).a && out[i].b == composed(0, size, i).b);
        }
        RUN(nb, Scan, scan, own, out, count, pair, op);
        for (int i = 0; i < count; i++)
            CHECK(out[i].b == composed(0, rank + 1, i).b);
        memcpy(out, own, (size_t)count * sizeof(*out));
        RUN(nb, Exscan, exscan, MPI_IN_PLACE, out, count, pair, op);
        for (int i = 0; i < count && rank > 0; i++)
            CHECK(out[i].a == composed(0, rank, i).a && out[i].b == composed(0, rank, i).b);
        for (int i = 0; i < count * size; i++)
            all[i] = affine(rank, i);
        RUN(nb, Reduce_scatter_block, reduce_scatter_block, all, out, count, pair, op);
        for (int i = 0; i < count; i++)
            CHECK(out[i].b == composed(0, size, rank * count + i).b);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(own);
    free(all);
    free(out);
}

static long sum_over(int end, int i, int salt)
{
    long sum = 0;

    for (int r = 0; r < end; r++)
        sum += value(r, i, salt);
    return sum;
}

static void sums(int rank, int size)
{
    long *own = vector((size_t)count), *out = vector((size_t)count);

    for (int nb = 0; nb < 2; nb++)
        for (int in_place = 0; in_place < 2; in_place++) {
            const void *send = in_place ? MPI_IN_PLACE : (void *)own;

            for (int i = 0; i < count; i++)
                own[i] = out[i] = value(rank, i, nb);
            RUN(nb, Allreduce, allreduce, send, out, count, MPI_LONG, MPI_SUM);
            for (int i = 0; i < count; i++) {
                CHECK(out[i] == sum_over(size, i, nb));
                out[i] = own[i];
            }
            RUN(nb, Scan, scan, send, out, count, MPI_LONG, MPI_SUM);
            for (int i = 0; i < count; i++) {
                CHECK(out[i] == sum_over(rank + 1, i, nb));
                out[i] = own[i];
            }
            RUN(nb, Exscan, exscan, send, out, count, MPI_LONG, MPI_SUM);
            for (int i = 0; i < count; i++) {
                CHECK(rank == 0 || out[i] == sum_over(rank, i, nb));
                out[i] = own[i];
            }
            for (int root = 0; root < size; root += stride) {
                for (int i = 0; i < count; i++)
                    out[i] = own[i];
                RUN(nb, Reduce, reduce, in_place && rank == root ? MPI_IN_PLACE : own, out, count,
                    MPI_LONG, MPI_MAX, root);
                for (int i = 0; i < count && rank == root; i++)
                    CHECK(out[i] == value(size - 1, i, nb));
            }
        }
    free(own);
    free(out);
}

static void reduce_scatter(int rank, int size)
{
    int *counts = malloc((size_t)size * sizeof(int)), total = 0, begin = 0;
    long *own, *out;

    for (int r = 0; r < size; r++) {
        begin += r < rank ? share(r) : 0;
        total += counts[r] = share(r);
    }
    own = vector((size_t)total);
    out = vector((size_t)total);
    for (int nb = 0; nb < 2; nb++)
        for (int in_place = 0; in_place < 2; in_place++) {
            for (int i = 0; i < total; i++)
                own[i] = out[i] = value(rank, i, nb);
            RUN(nb, Reduce_scatter, reduce_scatter, in_place ? MPI_IN_PLACE : own, out, counts,
                MPI_LONG, MPI_SUM);
            for (int i = 0; i < counts[rank]; i++)
                CHECK(out[i] == sum_over(size, begin + i, nb));
        }
    free(counts);
    free(own);
    free(out);
}

/* No rank leaves a barrier before all have come. */
static void barrier(int rank, int size)
{
    static _Atomic int come;

    for (int round = 0; round < 10; round++) {
        atomic_fetch_add(&come, 1);
        if (round % 2) {
            MPI_Request request;

            MPI_Ibarrier(MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        CHECK(atomic_load(&come) >= (round + 1) * size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        atomic_store(&come, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many at once, on two communicators, completed in another order. */
static void many_at_once(int rank, int size)
{
    enum { N = 50 };
    MPI_Request requests[2 * N];
    long in[2 * N], out[2 * N];
    MPI_Comm twin;

    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    for (int k = 0; k < N; k++) {
        in[2 * k] = value(rank, k, 0);
        in[2 * k + 1] = value(rank, k, 1);
        MPI_Iallreduce(&in[2 * k], &out[2 * k], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD,
                       &requests[2 * k]);
        MPI_Iallreduce(&in[2 * k + 1], &out[2 * k + 1], 1, MPI_LONG, MPI_SUM, twin,
                       &requests[2 * k + 1]);
        if (k % 7 == rank % 7)
            MPI_Wait(&requests[2 * k], MPI_STATUS_IGNORE);
    }
    for (int k = 2 * N - 1; k >= 0; k--)
        MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    for (int k = 0; k < 2 * N; k++)
        CHECK(out[k] == sum_over(size, k / 2, k % 2));
    MPI_Comm_free(&twin);
}

/* Halves, and halves of halves, by split, in the reverse order of ranks. */
static void split(int rank, int size)
{
    MPI_Comm half, quarter;
    int r, n;
    long one = 1, total;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &r);
    MPI_Comm_size(half, &n);
    CHECK(n == (size + 1 - rank % 2) / 2);
    CHECK(r == n - 1 - rank / 2);
    MPI_Allreduce(&one, &total, 1, MPI_LONG, MPI_SUM, half);
    CHECK(total == n);
    MPI_Comm_split(half, r < n / 2 ? 0 : MPI_UNDEFINED, 0, &quarter);
    CHECK((quarter == MPI_COMM_NULL) == (r >= n / 2));
    if (quarter != MPI_COMM_NULL) {
        MPI_Allreduce(&one, &total, 1, MPI_LONG, MPI_SUM, quarter);
        CHECK(total == n / 2);
        MPI_Comm_free(&quarter);
    }
    MPI_Comm_free(&half);
}

/* Sanitizers make each switch and each access dear: fewer ranks show the same faults. */
#if defined(__SANITIZE_THREAD__)
enum { RANKS_STEP = 16, THOUSANDS = 128, RANKS_MOST = 20 };
#elif XYLEM_SANITIZED
enum { RANKS_STEP = 12, THOUSANDS = 512, RANKS_MOST = 33 };
#else
enum { RANKS_STEP = 4, THOUSANDS = 4096, RANKS_MOST = 33 };
#endif
enum { SHARE = 2 };

/* Members that leave a broadcast early free the communicator at once. */
static void short_lived(int rank, int size)
{
    long *v = vector(5000);

    for (int k = 0; k < 20; k++) {
        MPI_Comm twin;

        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        v[4999] = rank == k % size ? k : -1;
        MPI_Bcast(v, 5000, MPI_LONG, k % size, twin);
        CHECK(v[4999] == k);
        MPI_Comm_free(&twin);
    }
    free(v);
}

static void everywhere(void (*body)(int, int))
{
    static const int counts[] = {0, 1, 7, 300};

    for (int n = 1; n <= RANKS_MOST; n += RANKS_STEP)
        for (int c = 0; c < 4; c++) {
            int workers = 1 + (n + c) % 3;

            count = counts[c];
            stride = counts[c] == 1 || n < 9 ? 1 : n / 4;
            if (testing_is_chosen((unsigned)(n / 3 + c), SHARE))
                run_ranks(n, workers > n ? n : workers, (n / 3 + c) % 2, 1024, body);
        }
}

#define TEST(name)                                                                                 \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        everywhere(name);                                                                          \
    }

TEST(bcast)
TEST(gather_scatter)
TEST(vectors)
TEST(allgather)
TEST(alltoall)
TEST(alltoallv_w)
TEST(noncommutative)
TEST(sums)
TEST(reduce_scatter)
TEST(barrier)
TEST(split)

static void test_short_lived(void **state)
{
    (void)state;
    for (int n = 2; n <= 17; n += 5)
        for (int workers = 2; workers <= 3; workers++)
            if (testing_is_chosen((unsigned)(n + workers), SHARE))
                run_ranks(n, workers > n ? n : workers, 0, 1024, short_lived);
}

static void test_many_at_once(void **state)
{
    (void)state;
    for (int n = 1; n <= 17; n += XYLEM_SANITIZED ? 8 : 4)
        for (int workers = 1; workers <= 3; workers++)
            if (testing_is_chosen((unsigned)(n / 8 + workers), SHARE))
                run_ranks(n, workers > n ? n : workers, 0, 1024, many_at_once);
}

static void large_reductions(int rank, int size)
{
    bcast(rank, size);
    sums(rank, size);
    noncommutative(rank, size);
}

static void large_exchanges(int rank, int size)
{
    alltoall(rank, size);
    allgather(rank, size);
}

static void test_large(void **state)
{
    (void)state;
    stride = 5;
    for (int workers = 1; workers <= 3; workers++) {
        count = XYLEM_SANITIZED ? 20000 : 100000;
        if (testing_is_chosen((unsigned)workers, SHARE))
            run_ranks(6, workers, 0, 1024, large_reductions);
        count = XYLEM_SANITIZED ? 5000 : 20000;
        if (testing_is_chosen((unsigned)workers + 1, SHARE))
            run_ranks(6, workers, 0, 1024, large_exchanges);
    }
}

static void test_thousands(void **state)
{
    (void)state;
    count = 1;
    stride = THOUSANDS / 3;
    run_ranks(THOUSANDS, 2, 0, 1024, sums);
    run_ranks(THOUSANDS, 2, 0, 1024, split);
}

static void test_progress(void **state)
{
    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        if (!testing_is_chosen(mode == 1, 2)) /* ThreadSanitizer sees mode 1 */
            continue;
        ranks_comm_workers = mode;
        ranks_settings.progress = mode == 3 ? XMPI_PROGRESS_NONE : XMPI_PROGRESS_TASKS;
        if (mode == 3)
            ranks_comm_workers = 0;
        count = 3000;
        stride = 3;
        for (int n = XYLEM_SANITIZED ? 5 : 1; n <= (XYLEM_SANITIZED ? 5 : 9); n += 4)
            for (int workers = 1; workers <= 2; workers++) {
                int w = workers > n ? n : workers;

                run_ranks(n, w, 0, 1024, bcast);
                run_ranks(n, w, 1, 1024, gather_scatter);
                run_ranks(n, w, 0, 1024, vectors);
                run_ranks(n, w, 1, 1024, allgather);
                run_ranks(n, w, 0, 1024, alltoall);
                run_ranks(n, w, 1, 1024, alltoallv_w);
                run_ranks(n, w, 0, 1024, noncommutative);
                run_ranks(n, w, 1, 1024, sums);
                run_ranks(n, w, 0, 1024, reduce_scatter);
                run_ranks(n, w, 1, 1024, barrier);
                run_ranks(n, w, 0, 1024, many_at_once);
            }
    }
    ranks_comm_workers = 0;
    ranks_settings.progress = XMPI_PROGRESS_TASKS;
}

/* The last but one goes through a broadcast from each of those before it while the last one has not
 * called the first: that one is behind by more than its local group has slots. Each rank is a group
 * of its own; a root that waits for the last one's slot waits in one of these broadcasts. */
static void far_behind(int rank, int size)
{
    int late = size - 1, last_leaver = size - 2;

    for (int turn = 0; turn < 2; turn++) {
        if (rank == late)
            MPI_Recv(NULL, 0, MPI_BYTE, last_leaver, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int root = 0; root < last_leaver; root++) {
            long v = rank == root ? value(root, turn, 3) : -1;

            MPI_Bcast(&v, 1, MPI_LONG, root, MPI_COMM_WORLD);
            CHECK(v == value(root, turn, 3));
        }
        if (rank == last_leaver)
            MPI_Send(NULL, 0, MPI_BYTE, late, 0, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &(long){rank}, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void test_far_behind(void **state)
{
    (void)state;
    run_ranks(STAR_SLOTS + 3, STAR_SLOTS + 3, 0, 1024, far_behind);
}

/* More local groups than one core notifies of the end of an offloaded collective. */
static void test_many_groups(void **state)
{
    enum { WORKERS = XY_DIRECT_NOTICES + 2 };

    (void)state;
    count = 40;
    stride = WORKERS - 1;
    ranks_comm_workers = 1;
    run_ranks(WORKERS, WORKERS, 0, 1024, bcast);
    run_ranks(WORKERS, WORKERS, 0, 1024, gather_scatter);
    ranks_comm_workers = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier),        cmocka_unit_test(test_bcast),
        cmocka_unit_test(test_gather_scatter), cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_allgather),      cmocka_unit_test(test_alltoall),
        cmocka_unit_test(test_alltoallv_w),    cmocka_unit_test(test_noncommutative),
        cmocka_unit_test(test_sums),           cmocka_unit_test(test_reduce_scatter),
        cmocka_unit_test(test_split),          cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_large),          cmocka_unit_test(test_thousands),
        cmocka_unit_test(test_progress),       cmocka_unit_test(test_short_lived),
        cmocka_unit_test(test_many_groups),    cmocka_unit_test(test_far_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
