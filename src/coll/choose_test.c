/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry, the chooser, and what requests may not be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "coll/coll.h"
#include "testing/coll.h"

static void test_names(void **state)
{
    xy_collective_t c = XY_COLL_COUNT;

    (void)state;
    for (int i = 0; i < XY_COLL_COUNT; i++) {
        assert_true(xy_coll_parse(xy_coll_name((xy_collective_t)i), &c));
        assert_int_equal(c, i);
    }
    assert_false(xy_coll_parse("allreduc", &c));
    assert_null(xy_coll_names()[XY_COLL_COUNT]);
}

/* Every collective has an algorithm for every number of ranks, whether or not operations commute;
 * the cheapest one is chosen; names are words and unique. */
static void test_always_one(void **state)
{
    (void)state;
    for (int c = 0; c < XY_COLL_COUNT; c++)
        for (int p = 1; p <= 40; p++)
            for (int k = 0; k < 8; k++) {
                static uint64_t cells[40 * 40];
                const uint64_t **rows = testing_rows(cells, p);
                xy_coll_request_t q = {.collective = (xy_collective_t)c,
                                       .procs = p,
                                       .element = 4,
                                       .counts = cells,
                                       .matrix = rows,
                                       .send_offsets = rows,
                                       .receive_offsets = rows,
                                       .is_commutative = k % 2 == 0,
                                       .count = (const uint64_t[]){0, 1, 4096, 1 << 22}[k / 2]};
                xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];
                const xy_coll_algorithm_t *a;
                int n = xy_coll_candidates(&q, &xy_coll_link_default, list);

                assert_true(n > 0);
                assert_int_equal(xy_coll_choose(&q, &xy_coll_link_default, NULL, &a), XY_OK);
                for (int i = 0; list[i].algorithm != a; i++)
                    assert_true(list[i].algorithm->is_direct || list[i].algorithm->is_foreign);
                assert_false(a->is_direct || a->is_foreign);
                assert_true(xy_coll_direct(q.collective)->is_direct);
                for (int i = 1; i < n; i++) {
                    assert_true(!list[i].is_applicable || list[i - 1].is_applicable);
                    assert_true(!list[i].is_applicable || list[i - 1].seconds <= list[i].seconds);
                    for (int j = 0; j < i; j++)
                        assert_string_not_equal(list[i].algorithm->name, list[j].algorithm->name);
                }
                free(rows);
            }
}

/* Short vectors take few rounds, long ones move few bytes. */
static void test_choices(void **state)
{
    static const struct {
        xy_collective_t collective;
        int procs;
        uint64_t count;
        const char *expected;
    } cases[] = {
        {XY_COLL_ALLREDUCE, 64, 1, "recursive-doubling"},
        {XY_COLL_ALLREDUCE, 64, 1 << 17, "rabenseifner"},
        {XY_COLL_ALLREDUCE, 63, 1 << 20, "ring"},
        {XY_COLL_BCAST, 64, 1, "binomial"},
        {XY_COLL_BCAST, 64, 1 << 13, "scatter-allgather"},
        {XY_COLL_BCAST, 64, 1 << 20, "chain"},
        {XY_COLL_ALLTOALL, 64, 1, "bruck"},
        {XY_COLL_ALLTOALL, 64, 1 << 17, "pairwise"},
        {XY_COLL_ALLGATHER, 63, 1, "bruck"},
        {XY_COLL_ALLGATHER, 63, 1 << 17, "ring"},
        {XY_COLL_SCAN, 64, 1, "binomial"},
        {XY_COLL_SCAN, 3, 1, "chain"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        xy_coll_request_t q = {.collective = cases[i].collective,
                               .procs = cases[i].procs,
                               .count = cases[i].count,
                               .element = 8,
                               .is_commutative = true};
        const xy_coll_algorithm_t *a;

        assert_int_equal(xy_coll_choose(&q, &xy_coll_link_default, NULL, &a), XY_OK);
        assert_string_equal(a->name, cases[i].expected);
    }
}

static void expect_no(const xy_coll_request_t *q, const char *name, const char *said)
{
    const xy_coll_algorithm_t *a = NULL;

    testing_listen();
    assert_int_equal(xy_coll_choose(q, &xy_coll_link_default, name, &a), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, said));
    assert_null(a);
}

static void test_forced(void **state)
{
    xy_coll_request_t q = {.collective = XY_COLL_ALLREDUCE, .procs = 5, .count = 100, .element = 8};
    const xy_coll_algorithm_t *a;
    xy_graph_t *g = NULL;

    (void)state;
    assert_int_equal(xy_coll_choose(&q, &xy_coll_link_default, "reduce-bcast", &a), XY_OK);
    assert_string_equal(a->name, "reduce-bcast");
    assert_int_equal(xy_coll_choose(&q, &xy_coll_link_default, "direct", &a), XY_OK);
    assert_ptr_equal(a, xy_coll_direct(XY_COLL_ALLREDUCE));
    expect_no(&q, "rign", "did you mean 'ring'?");
    expect_no(&q, "quicksort", "there are: ");
    expect_no(&q, "ring", "needs an operation that commutes");
    q.is_commutative = true;
    assert_int_equal(xy_coll_choose(&q, &xy_coll_link_default, "ring", &a), XY_OK);
    q.is_commutative = false;
    testing_listen();
    assert_int_equal(xy_coll_build(&q, &xy_coll_link_default, a, &g), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    assert_null(g);
}

static void expect_wrong(xy_coll_request_t q)
{
    testing_listen();
    assert_int_equal(xy_coll_check(&q), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
}

static void test_wrong(void **state)
{
    const xy_coll_request_t good = {
        .collective = XY_COLL_BCAST, .procs = 4, .count = 1, .element = 8};
    xy_coll_request_t q = good;

    (void)state;
    assert_int_equal(xy_coll_check(&q), XY_OK);
    q.procs = 0;
    expect_wrong(q);
    q = good, q.root = 4;
    expect_wrong(q);
    q = good, q.root = -1;
    expect_wrong(q);
    q = good, q.element = 0;
    expect_wrong(q);
    q = good, q.collective = XY_COLL_GATHERV;
    expect_wrong(q);
    q = good, q.collective = XY_COLL_ALLTOALLW;
    expect_wrong(q);
    q = good, q.collective = XY_COLL_COUNT;
    expect_wrong(q);
    q = good, q.count = UINT64_MAX / 8;
    expect_wrong(q);
    q = good, q.collective = XY_COLL_ALLGATHER, q.count = UINT64_C(1) << 58;
    expect_wrong(q);
}

/* A failed allocation anywhere is reported once and leaks nothing. */
static void test_memory(void **state)
{
    const bool in_place[5] = {true, true, true, true, true};

    (void)state;
    for (const xy_coll_algorithm_t *const *a = xy_coll_algorithms(); *a != NULL; a++) {
        int c = __builtin_ctz((*a)->collectives);
        uint64_t counts[5] = {1, 2, 3, 4, 5};
        xy_graph_t *g;
        xy_coll_request_t q = {.collective = (xy_collective_t)c,
                               .procs = 5,
                               .count = 100,
                               .element = 8,
                               .is_commutative = true,
                               .counts = counts,
                               .in_place = in_place};

        q.procs = xy_coll_is_applicable(*a, &q) ? 5 : 4;
        for (int i = 0; i < 5 && !xy_coll_is_applicable(*a, &q); i++)
            counts[i] = 3; /* equal blocks */
        for (long k = 0; testing_fail_next(&k);)
            assert_null(testing_fail_fault(&k, xy_coll_build(&q, &xy_coll_link_default, *a, &g)));
        xy_graph_destroy(g);
    }
}

typedef struct {
    const xy_graph_t *graph;
    int seen;
} walk_t;

static bool is_same_spot(xy_spot_t a, xy_spot_t b)
{
    return a.rank == b.rank && a.buffer == b.buffer && a.offset == b.offset;
}

static void compare_op(const xy_op_t *op, void *arg)
{
    walk_t *w = arg;
    const xy_op_t *same;

    assert_true(w->seen < xy_graph_ops(w->graph));
    same = xy_graph_op(w->graph, w->seen++);
    assert_int_equal(op->kind, same->kind);
    assert_int_equal(op->actor, same->actor);
    assert_int_equal(op->level, same->level);
    assert_int_equal(op->bytes, same->bytes);
    assert_true(is_same_spot(op->from, same->from) && is_same_spot(op->to, same->to));
}

/* Walking a scheduled algorithm shows the operations of its graph in their order; a direct one
 * cannot be walked. */
static void test_walk(void **state)
{
    uint64_t counts[20];

    (void)state;
    for (int i = 0; i < 20; i++)
        counts[i] = (uint64_t)i % 4;
    for (const xy_coll_algorithm_t *const *a = xy_coll_algorithms(); *a != NULL; a++)
        for (int p = 1; p <= 20; p++) {
            xy_coll_request_t q = {.collective = (xy_collective_t)__builtin_ctz((*a)->collectives),
                                   .procs = p,
                                   .root = p / 2,
                                   .count = 100,
                                   .element = 8,
                                   .is_commutative = true,
                                   .counts = counts};
            xy_graph_t *g;
            walk_t w = {0};

            testing_listen();
            if (!xy_coll_is_applicable(*a, &q) || (*a)->is_direct) {
                assert_int_equal(xy_coll_walk(&q, &xy_coll_link_default, *a, compare_op, &w),
                                 XY_EINVAL);
                assert_int_equal(testing_said_count, 1);
                continue;
            }
            assert_int_equal(xy_coll_build(&q, &xy_coll_link_default, *a, &g), XY_OK);
            w.graph = g;
            assert_int_equal(xy_coll_walk(&q, &xy_coll_link_default, *a, compare_op, &w), XY_OK);
            assert_int_equal(w.seen, xy_graph_ops(g));
            xy_graph_destroy(g);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_always_one),
        cmocka_unit_test(test_choices), cmocka_unit_test(test_forced),
        cmocka_unit_test(test_wrong),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_walk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
