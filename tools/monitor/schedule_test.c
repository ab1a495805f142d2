/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of a collective equal those of the graph of its algorithm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "schedule.h"

enum { RANKS = 33, BLOCK = 24 };

typedef struct {
    uint64_t bytes[RANKS][RANKS];
    int messages[RANKS][RANKS];
} matrix_t;

/* All ranks of a collective, as the monitor counts them. */
static void count_schedules(xy_collective_t collective, int size, int root, matrix_t *m)
{
    memset(m, 0, sizeof(*m));
    for (int rank = 0; rank < size; rank++) {
        const monitor_schedule_t *s =
            monitor_schedule(collective, size, (rank - root + size) % size);

        assert_non_null(s);
        for (int i = 0; i < s->count; i++) {
            int to = (s->sends[i].to + root) % size;

            m->bytes[rank][to] += s->sends[i].blocks * BLOCK;
            m->messages[rank][to] += s->sends[i].messages;
        }
    }
}

/* Do all messages have levels, so that split-tree can cut the graph? */
static bool has_levels(const xy_graph_t *graph)
{
    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++) {
        const xy_op_t *op = xy_graph_op(graph, i);

        if (op->level == 0 && op->from.rank != op->to.rank)
            return false;
    }
    return xy_graph_ops(graph) > 0;
}

/* The same from the graph. Blocks that wrap around at the root are several operations of one
 * message there. */
static void count_graph(const xy_coll_request_t *q, const char *name, matrix_t *m)
{
    const xy_coll_algorithm_t *algorithm;
    xy_graph_t *graph;
    bool is_tree;

    memset(m, 0, sizeof(*m));
    assert_int_equal(xy_coll_choose(q, &xy_coll_link_default, name, &algorithm), XY_OK);
    assert_int_equal(xy_coll_build(q, &xy_coll_link_default, algorithm, &graph), XY_OK);
    is_tree = has_levels(graph);
    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++) {
        const xy_op_t *op = xy_graph_op(graph, i);
        int from = op->from.rank, to = op->to.rank;

        if (from == to)
            continue;
        m->bytes[from][to] += op->bytes;
        m->messages[from][to] = is_tree ? 1 : m->messages[from][to] + 1;
    }
    xy_graph_destroy(graph);
}

static void compare(const xy_coll_request_t *q, xy_collective_t counted, const char *name)
{
    static matrix_t a, b;

    count_schedules(counted, q->procs, q->root, &a);
    count_graph(q, name, &b);
    assert_memory_equal(&a, &b, sizeof(a));
}

/* Rooted ones, with every root. */
static void test_rooted(void **state)
{
    static const struct {
        xy_collective_t asked, counted;
        const char *name;
    } list[] = {
        {XY_COLL_BCAST, XY_COLL_BCAST, "binomial"},
        {XY_COLL_REDUCE, XY_COLL_REDUCE, "binomial"},
        {XY_COLL_GATHER, XY_COLL_GATHER, "binomial"},
        {XY_COLL_GATHERV, XY_COLL_GATHERV, "linear"},
        {XY_COLL_SCATTER, XY_COLL_SCATTER, "binomial"},
        {XY_COLL_SCATTERV, XY_COLL_SCATTERV, "linear"},
    };
    uint64_t counts[RANKS];

    (void)state;
    for (int i = 0; i < RANKS; i++)
        counts[i] = 3;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        for (int size = 1; size <= RANKS; size++)
            for (int root = 0; root < size; root++)
                compare(&(xy_coll_request_t){.collective = list[i].asked,
                                             .procs = size,
                                             .root = root,
                                             .count = 3,
                                             .counts = counts,
                                             .element = 8,
                                             .is_commutative = true},
                        list[i].counted, list[i].name);
}

static void test_rootless(void **state)
{
    static const struct {
        xy_collective_t collective;
        const char *name;
    } list[] = {
        {XY_COLL_BARRIER, "dissemination"},
        {XY_COLL_ALLGATHER, "ring"},
        {XY_COLL_ALLGATHERV, "ring"},
        {XY_COLL_ALLTOALL, "pairwise"},
        {XY_COLL_REDUCE_SCATTER, "pairwise"},
        {XY_COLL_REDUCE_SCATTER_BLOCK, "pairwise"},
        {XY_COLL_SCAN, "chain"},
        {XY_COLL_EXSCAN, "chain"},
    };
    uint64_t counts[RANKS];

    (void)state;
    for (int i = 0; i < RANKS; i++)
        counts[i] = 3;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        for (int size = 1; size <= RANKS; size++)
            compare(&(xy_coll_request_t){.collective = list[i].collective,
                                         .procs = size,
                                         .count = 3,
                                         .counts = counts,
                                         .element = 8,
                                         .is_commutative = true},
                    list[i].collective, list[i].name);
}

/* Recursive doubling: the odd rank of a pair that folds continues, as in Open MPI and MPICH. */
static void test_allreduce(void **state)
{
    static matrix_t a;

    (void)state;
    for (int size = 1; size <= RANKS; size++)
        compare(&(xy_coll_request_t){.collective = XY_COLL_ALLREDUCE,
                                     .procs = size,
                                     .count = 1,
                                     .element = BLOCK,
                                     .is_commutative = true},
                XY_COLL_ALLREDUCE, "recursive-doubling");
    /* Of six, 0 and 2 hand over to 1 and 3 and get the result back; 1, 3, 4 and 5 exchange. */
    count_schedules(XY_COLL_ALLREDUCE, 6, 0, &a);
    assert_int_equal(a.messages[0][1], 1);
    assert_int_equal(a.messages[1][0], 1);
    assert_int_equal(a.messages[1][3], 1);
    assert_int_equal(a.messages[1][4], 1);
    assert_int_equal(a.messages[0][2] + a.messages[0][3] + a.messages[0][4], 0);
}

/* A ring is one entry, however many messages go around. */
static void test_short(void **state)
{
    const monitor_schedule_t *s = monitor_schedule(XY_COLL_ALLGATHER, 1000, 999);

    (void)state;
    assert_int_equal(s->count, 1);
    assert_int_equal(s->sends[0].to, 0);
    assert_int_equal(s->sends[0].messages, 999);
    assert_int_equal(s->sends[0].blocks, 999);
    assert_ptr_equal(s, monitor_schedule(XY_COLL_ALLGATHER, 1000, 999));
}

static void *ask_all(void *arg)
{
    (void)arg;
    for (int size = 100; size < 130; size++)
        for (int rank = 0; rank < size; rank++) {
            const monitor_schedule_t *s = monitor_schedule(XY_COLL_SCAN, size, rank);

            if (s == NULL || s->count != (rank + 1 < size))
                return (void *)1;
        }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong = NULL;

        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rooted),    cmocka_unit_test(test_rootless),
        cmocka_unit_test(test_allreduce), cmocka_unit_test(test_short),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
