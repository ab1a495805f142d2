/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithms between processes: which one is chosen, and each of them. */
#include "testing/mpi_coll.h"

#include <math.h>
#include <xylem_mpi.h>

#include "mpi/coll/interprocess.h"

/* ---- The choice ---- */

static const interprocess_cost_t ethernet = {
    .latency = 20e-6, .bandwidth = 1.2e9, .eager = 16 << 10};

static interprocess_way_t way_of(xy_collective_t collective, int parts, uint64_t bytes)
{
    return interprocess_choose_by(&ethernet, collective, parts, bytes).way;
}

static void test_examples(void **state)
{
    (void)state;
    assert_int_equal(way_of(XY_COLL_BCAST, 2, 8 << 20), INTERPROCESS_BINOMIAL);
    assert_int_equal(way_of(XY_COLL_BCAST, 16, 8), INTERPROCESS_BINOMIAL);
    assert_int_equal(way_of(XY_COLL_BCAST, 4, 8 << 20), INTERPROCESS_CHAIN);
    assert_int_equal(way_of(XY_COLL_BCAST, 1000, 1 << 20), INTERPROCESS_SCATTER);
    assert_int_equal(way_of(XY_COLL_REDUCE, 16, 8), INTERPROCESS_BINOMIAL);
    assert_int_equal(way_of(XY_COLL_REDUCE, 4, 8 << 20), INTERPROCESS_CHAIN);
    assert_int_equal(way_of(XY_COLL_ALLREDUCE, 16, 8), INTERPROCESS_DOUBLING);
    assert_int_equal(way_of(XY_COLL_ALLREDUCE, 16, 8 << 20), INTERPROCESS_HALVING);
    assert_int_equal(way_of(XY_COLL_ALLREDUCE, 7, 8 << 20), INTERPROCESS_RING);
    assert_int_equal(way_of(XY_COLL_ALLGATHER, 16, 8), INTERPROCESS_BRUCK);
    assert_int_equal(way_of(XY_COLL_ALLGATHER, 16, 8 << 20), INTERPROCESS_LINEAR);
}

/* Where the formulas of src/coll are of the same algorithm, none of theirs is cheaper. */
static void test_cost(void **state)
{
    static const char *const of_bcast[] = {"binomial", "chain", "scatter-doubling"};
    static const char *const of_allreduce[] = {"recursive-doubling", "ring", "rabenseifner"};

    (void)state;
    for (int parts = 2; parts <= 256; parts *= 2)
        for (uint64_t bytes = 1; bytes <= 64 << 20; bytes *= 4) {
            interprocess_choice_t bcast =
                interprocess_choose_by(&ethernet, XY_COLL_BCAST, parts, bytes);
            interprocess_choice_t sum =
                interprocess_choose_by(&ethernet, XY_COLL_ALLREDUCE, parts, bytes);
            xy_coll_link_t link = xy_coll_link_default;
            xy_coll_request_t q = {.procs = parts,
                                   .count = bytes,
                                   .element = 1,
                                   .is_commutative = true,
                                   .segment = 256 << 10};

            link.alpha = bytes > ethernet.eager ? 60e-6 : 20e-6;
            link.beta = 1 / 1.2e9;
            for (int i = 0; i < 3; i++) {
                q.collective = XY_COLL_BCAST;
                assert_true(bcast.seconds <=
                            xy_coll_find(q.collective, of_bcast[i])->cost(&q, &link) * 1.0001);
                q.collective = XY_COLL_ALLREDUCE;
                assert_true(sum.seconds <=
                            xy_coll_find(q.collective, of_allreduce[i])->cost(&q, &link) * 1.0001);
            }
        }
}

/* More bytes never take less time, and pieces stay within their bounds. */
static void test_order(void **state)
{
    static const xy_collective_t all[] = {XY_COLL_BCAST, XY_COLL_REDUCE, XY_COLL_ALLREDUCE,
                                          XY_COLL_ALLGATHER};

    (void)state;
    for (size_t c = 0; c < sizeof(all) / sizeof(*all); c++)
        for (int parts = 2; parts < 70; parts++) {
            double before = 0;

            for (uint64_t bytes = 0; bytes < 1 << 27; bytes = 2 * bytes + 1) {
                interprocess_choice_t choice =
                    interprocess_choose_by(&ethernet, all[c], parts, bytes);

                assert_true(isfinite(choice.seconds) && choice.seconds >= before * 0.999);
                assert_in_range(choice.piece, 16 << 10, 256 << 10);
                before = choice.seconds;
            }
        }
}

/* ---- Each of them ---- */

/* 2 x 2 matrices modulo a prime: their product depends on the order. */
static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    (void)type;
    for (int i = 0; i < *count; i++, a += 4, b += 4) {
        int p[4] = {(a[0] * b[0] + a[1] * b[2]) % 9973, (a[0] * b[1] + a[1] * b[3]) % 9973,
                    (a[2] * b[0] + a[3] * b[2]) % 9973, (a[2] * b[1] + a[3] * b[3]) % 9973};

        memcpy(b, p, sizeof(p));
    }
}

static int number(int rank, int i)
{
    return (int)(xy_hash_u64((uint64_t)rank << 32 | (uint64_t)i) % 9973);
}

static int *numbers(int rank, int n)
{
    int *data = malloc((size_t)(n + 1) * sizeof(int));

    for (int i = 0; i < n; i++)
        data[i] = number(rank, i);
    return data;
}

static void check_bcasts(int rank, int size, int n)
{
    for (int root = 0; root<size; root += size> 3 ? size / 3 : 1) {
        int *data = numbers(rank == root ? root : -1, n);

        MPI_Bcast(data, n, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            CHECK(data[i] == number(root, i));
        free(data);
    }
}

/* The product of all, by one after the other. */
static int *product(int size, int n)
{
    int *all = numbers(size - 1, 4 * n);

    for (int r = size - 2; r >= 0; r--) {
        int *one = numbers(r, 4 * n);

        multiply(one, all, &n, NULL);
        free(one);
    }
    return all;
}

static void check_products(int rank, int size, int n)
{
    int *own = numbers(rank, 4 * n), *got = numbers(-2, 4 * n), *wanted = product(size, n);
    MPI_Datatype matrix;
    MPI_Op op;

    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &op);
    MPI_Allreduce(own, got, n, matrix, op, MPI_COMM_WORLD);
    CHECK(memcmp(got, wanted, (size_t)n * 16) == 0);
    memset(got, 0, (size_t)n * 16);
    MPI_Reduce(own, got, n, matrix, op, size - 1, MPI_COMM_WORLD);
    CHECK(rank != size - 1 || memcmp(got, wanted, (size_t)n * 16) == 0);
    MPI_Op_free(&op);
    MPI_Type_free(&matrix);
    free(own);
    free(got);
    free(wanted);
}

static void check_sums(int rank, int size, int n)
{
    int *own = numbers(rank, n), *got = numbers(-2, n);

    MPI_Allreduce(own, got, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        int sum = 0;

        for (int r = 0; r < size; r++)
            sum += number(r, i);
        CHECK(got[i] == sum);
        own[i] = sum;
    }
    for (int i = 0; i < n; i++)
        got[i] = number(rank, i);
    MPI_Reduce(rank == 1 ? MPI_IN_PLACE : got, got, n, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    CHECK(rank != 1 || memcmp(got, own, (size_t)n * sizeof(int)) == 0);
    free(own);
    free(got);
}

/* Blocks of rank r have n + r numbers. */
static void check_gathers(int rank, int size, int n)
{
    int counts[PROCESSES_RANKS], offsets[PROCESSES_RANKS], total = 0;
    int *own = numbers(rank, n + rank), *all;

    for (int r = 0; r < size; r++) {
        counts[r] = n + r;
        offsets[r] = total;
        total += counts[r];
    }
    all = numbers(-2, total);
    MPI_Allgatherv(own, n + rank, MPI_INT, all, counts, offsets, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            CHECK(all[offsets[r] + i] == number(r, i));
    MPI_Allgather(own, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n * size; i++)
        CHECK(all[i] == number(i / n, i % n));
    free(own);
    free(all);
}

static void all_of_them(int rank, int size)
{
    static const int counts[] = {1, 3, 1000, 40000};

    for (int c = 0; c < (XYLEM_SANITIZED ? 3 : 4); c++) {
        check_bcasts(rank, size, counts[c]);
        check_sums(rank, size, counts[c]);
        check_products(rank, size, counts[c] / 4 + 1);
        check_gathers(rank, size, counts[c]);
    }
}

/* Networks of which each makes other algorithms the cheapest. */
static const struct {
    double latency, bandwidth;
} networks[] = {{1, 1e12}, {1e-9, 1e3}, {20e-6, 1.2e9}, {1e-4, 1e8}};

static void test_ways(void **state)
{
    uint64_t seen[XY_COLL_COUNT] = {0};

    (void)state;
    for (int processes = 3; processes <= (XYLEM_SANITIZED ? 5 : 7); processes++) {
        size_t n = (size_t)(processes + 1) % 4;
        processes_t c = {.processes = processes,
                         .ranks = processes + processes % 3,
                         .workers = 1 + processes % 2,
                         .eager = 1024,
                         .latency = networks[n].latency,
                         .bandwidth = networks[n].bandwidth};

        run_processes(&c, all_of_them);
        for (uint64_t bytes = 4; bytes < 1 << 20; bytes *= 2) {
            interprocess_cost_t cost = {c.latency, c.bandwidth, c.eager};

            seen[XY_COLL_BCAST] |=
                1u << interprocess_choose_by(&cost, XY_COLL_BCAST, processes, bytes).way;
            seen[XY_COLL_ALLREDUCE] |=
                1u << interprocess_choose_by(&cost, XY_COLL_ALLREDUCE, processes, bytes).way;
        }
    }
    assert_int_equal(seen[XY_COLL_BCAST], 1u << INTERPROCESS_BINOMIAL | 1u << INTERPROCESS_CHAIN |
                                              1u << INTERPROCESS_SCATTER);
    assert_int_equal(seen[XY_COLL_ALLREDUCE], 1u << INTERPROCESS_DOUBLING |
                                                  1u << INTERPROCESS_RING |
                                                  1u << INTERPROCESS_HALVING);
}

/* ---- Reconsidered while a job runs ---- */

bool __real_xy_reconsider_add(xy_reconsider_t *r, double seconds);
bool __wrap_xy_reconsider_add(xy_reconsider_t *r, double seconds);

static uint64_t heard; /* a hash of all medians */
static int changes;

/* Candidate 0 takes 1 s, later 3 s; candidates 1 and 2 take 2 s and 3 s. */
bool __wrap_xy_reconsider_add(xy_reconsider_t *r, double seconds)
{
    bool is_slow = r->spent >= 2 * XY_RECONSIDER_WINDOW;
    uint64_t bits;

    memcpy(&bits, &seconds, sizeof(bits));
    heard = xy_hash_u64(heard ^ bits);
    if (!(seconds > 0 && isfinite(seconds)))
        heard = 0;
    return __real_xy_reconsider_add(r, r->current == 0 && is_slow ? 3 : 1 + r->current);
}

static void changed(const xy_coll_pick_t *pick, double before, double now)
{
    changes += pick->algorithm != NULL && before == 3 && now == 2;
}

static const xy_coll_reconsider_t reconsider = {1, changed};

/* All processes measure the same, and go on with the same algorithm: results are right, and the
 * first process tells each change once. */
static void change_in_between(int rank, int size)
{
    enum { CALLS = 5 * XY_RECONSIDER_WINDOW + 4 * XY_RECONSIDER_TRIAL, KINDS = 4 };
    uint64_t all[PROCESSES_RANKS];

    for (int i = 0; i < CALLS; i++) {
        check_sums(rank, size, 300);
        check_gathers(rank, size, 300);
        check_bcasts(rank, size, 300);
    }
    CHECK(heard != 0);
    CHECK(changes == (mpi_job->process == 0 ? KINDS : 0));
    MPI_Allgather(&heard, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        CHECK(all[r] == heard);
}

static void test_reconsidered(void **state)
{
    (void)state;
    ranks_settings.reconsider = &reconsider;
    run_processes(&(processes_t){.processes = 3, .ranks = 7, .workers = 2}, change_in_between);
    run_processes(&(processes_t){.processes = 4, .ranks = 4, .workers = 1}, change_in_between);
    ranks_settings.reconsider = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),     cmocka_unit_test(test_cost),
        cmocka_unit_test(test_order),        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_reconsidered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
