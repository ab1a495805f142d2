/* SPDX-License-Identifier: BSD-3-Clause */
/* The split-tree model against the values published for it, and against a tree that is counted. */
#include "coll/split.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coll/coll.h"

static xy_split_t split(int cores, int ranks, bool is_doubling)
{
    return (xy_split_t){.cores = cores, .ranks = ranks, .base = 2, .is_doubling = is_doubling};
}

/* The best S for every number of ranks from 2 on: 0 up to the first switch point, and so on. */
static void check_switches(int cores, bool is_doubling, const int *at, int n)
{
    for (int ranks = 2; ranks < cores; ranks++) {
        xy_split_t s = split(cores, ranks, is_doubling);
        int expected = 0;

        while (expected < n && ranks >= at[expected])
            expected++;
        assert_int_equal(xy_split_best(&s), expected);
    }
}

static void test_switches(void **state)
{
    (void)state;
    check_switches(64, false, (const int[]){52, 58, 62}, 3);
    check_switches(48, false, (const int[]){39, 44, 47}, 3);
    check_switches(64, true, (const int[]){58, 60, 61, 63}, 4);
    check_switches(48, true, (const int[]){44, 45, 46}, 3);
}

static void test_least_without_split(void **state)
{
    double least = INFINITY;
    int at = 0;

    (void)state;
    for (int ranks = 2; ranks < 64; ranks++) {
        xy_split_t s = split(64, ranks, false);

        if (xy_split_overlapped(&s, 0) < least) {
            least = xy_split_overlapped(&s, 0);
            at = ranks;
        }
    }
    assert_int_equal(at, 51);
    assert_true(fabs(least - 7.529) < 0.0005);
}

/* Without computation: the time of the collective alone. */
static double alone(const xy_split_t *split, int levels)
{
    xy_split_t s = *split;

    s.has_compute = true;
    s.compute = 0;
    return xy_split_overlapped(&s, levels);
}

/* All levels on the computing cores. */
static double blocking(const xy_split_t *s)
{
    return alone(s, xy_split_height(s->ranks, s->base));
}

static void test_parts(void **state)
{
    xy_split_t s = split(64, 48, false);

    (void)state;
    assert_int_equal(xy_split_height(1, 2), 0);
    assert_int_equal(xy_split_height(2, 2), 1);
    assert_int_equal(xy_split_height(64, 2), 6);
    assert_int_equal(xy_split_height(65, 2), 7);
    assert_true(blocking(&s) == 6.0);
    assert_true(xy_split_compute(&s) == 8.0); /* 6 * 64 / 48 */
    /* 16 communication cores: levels of 24, 12, 6, 3, 1, 1 messages */
    assert_true(alone(&s, 0) == 2 + 1 + 1 + 1 + 1 + 1);
    assert_true(xy_split_overlapped(&s, 0) == 8.0);
    assert_true(alone(&s, 1) == 6.0);
    assert_true(xy_split_overlapped(&s, 2) == 10.0);
    assert_true(alone(&s, 99) == 6.0);
    s.is_doubling = true;
    assert_true(blocking(&s) == 63.0);
    assert_true(xy_split_compute(&s) == 84.0);
    assert_true(alone(&s, 0) == 2 + 2 + 4 + 8 + 16 + 32);
    assert_true(xy_split_overlapped(&s, 3) == 7 + 84.0);
    s.has_compute = true;
    s.compute = 1.0;
    assert_true(xy_split_overlapped(&s, 3) == 63.0);
    s = split(64, 64, false);
    assert_true(isinf(alone(&s, 5)));
    assert_int_equal(xy_split_best(&s), 6);
}

/* Several ranks on a core: the messages of a level take turns there. */
static void test_shared_cores(void **state)
{
    xy_split_t s = {.cores = 3, .ranks = 8, .compute_cores = 2, .base = 2};

    (void)state;
    /* 4, 2, 1 messages on two cores; 3 cores would compute 2 transfers, 2 cores 3 */
    assert_true(blocking(&s) == 2 + 1 + 1);
    assert_true(xy_split_compute(&s) == 3.0);
    assert_true(alone(&s, 0) == 7.0);
    assert_true(alone(&s, 1) == 2 + 3);
    assert_true(xy_split_overlapped(&s, 1) == 2 + 3.0);
    assert_int_equal(xy_split_best(&s), 1);
    s.compute_cores = s.cores = 8;
    assert_true(blocking(&s) == 3.0);
}

/* Messages and the width of levels, counted node by node. */
static void test_levels(void **state)
{
    (void)state;
    for (int base = 2; base <= 5; base++)
        for (int ranks = 1; ranks <= 200; ranks++) {
            xy_split_t s = {.cores = 256, .ranks = ranks, .base = base};
            int messages[10] = {0}, sum = 0, root = 0;

            for (int r = 1; r < ranks; r++) {
                int level = 1, rest = r, reach = base;

                for (; rest % base == 0; rest /= base)
                    level++;
                messages[level]++;
                for (int i = 1; i < level; i++)
                    reach *= base;
                root += r < reach && rest < base; /* its parent is the root */
            }
            for (int level = 1; level <= xy_split_height(ranks, base); level++) {
                assert_int_equal(xy_split_messages(ranks, level, base), messages[level]);
                sum += messages[level];
            }
            assert_int_equal(sum, ranks - 1);
            assert_true(blocking(&s) == root);
        }
}

static int levels_of(const xy_coll_algorithm_t *a, xy_collective_t c, int procs)
{
    xy_coll_request_t q = {
        .collective = c, .procs = procs, .count = 64, .element = 8, .is_commutative = true};
    xy_graph_t *graph;
    int levels = 0;

    assert_int_equal(xy_coll_build(&q, &xy_coll_link_default, a, &graph), XY_OK);
    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++)
        if (xy_graph_op(graph, i)->level > levels)
            levels = xy_graph_op(graph, i)->level;
    xy_graph_destroy(graph);
    return levels;
}

/* Algorithms that say so have the levels of one tree; knomial trees those of base 4. */
static void test_algorithms(void **state)
{
    static const xy_collective_t trees[] = {XY_COLL_BCAST, XY_COLL_REDUCE, XY_COLL_GATHER,
                                            XY_COLL_SCATTER, XY_COLL_ALLREDUCE};
    int found = 0;

    (void)state;
    for (int i = 0; xy_coll_algorithms()[i] != NULL; i++) {
        const xy_coll_algorithm_t *a = xy_coll_algorithms()[i];
        int base = strcmp(a->name, "knomial") == 0 ? 4 : 2;

        for (int t = 0; t < 5; t++) {
            if ((a->collectives >> trees[t] & 1) == 0 || a->is_direct)
                continue;
            if (!a->has_levels)
                continue;
            assert_int_equal(levels_of(a, trees[t], 20), xy_split_height(20, base));
            found++;
        }
    }
    assert_int_equal(found, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switches), cmocka_unit_test(test_least_without_split),
        cmocka_unit_test(test_parts),    cmocka_unit_test(test_shared_cores),
        cmocka_unit_test(test_levels),   cmocka_unit_test(test_algorithms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
