/* SPDX-License-Identifier: BSD-3-Clause */
/* The executor itself: arrivals, splits, runs again, ends, and errors. */
#include "exec/exec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "testing/exec.h"

static testing_case_t reduce_of(int procs)
{
    return (testing_case_t){.q = {.collective = XY_COLL_REDUCE,
                                  .procs = procs,
                                  .count = 10,
                                  .element = 4,
                                  .is_commutative = true},
                            .type = TESTING_SUM};
}

static xy_graph_t *build(const testing_case_t *c, const char *name)
{
    const xy_coll_algorithm_t *a;
    xy_graph_t *g;

    assert_int_equal(xy_coll_choose(&c->q, &xy_coll_link_default, name, &a), XY_OK);
    assert_int_equal(xy_coll_build(&c->q, &xy_coll_link_default, a, &g), XY_OK);
    return g;
}

static void count_call(void *arg)
{
    testing_case_t *c = arg;

    atomic_fetch_add(&c->arrived, 1000);
}

/* An operation that touches a rank begins only after its arrival; others do not wait for it. */
static void test_arrivals(void **state)
{
    testing_case_t c = reduce_of(4);
    xy_graph_t *g = build(&c, "binomial");
    xy_exec_options_t o = {.reduce = testing_reduce,
                           .on_rank = testing_case_rank_over,
                           .on_over = count_call,
                           .arg = &c};
    xy_exec_t *e;
    xy_op_id_t op;

    (void)state;
    testing_case_open(&c);
    assert_int_equal(xy_exec_create(g, 4, &o, &e), XY_OK);
    assert_false(xy_exec_take(e, &op));
    assert_int_equal(xy_exec_arrive(e, 3, c.send[3], NULL), 0);
    assert_false(xy_exec_take(e, &op));
    assert_int_equal(xy_exec_arrive(e, 2, c.send[2], NULL), 1);
    assert_true(xy_exec_take(e, &op)); /* 3 -> 2 */
    assert_int_equal(xy_graph_op(g, op)->actor, 2);
    assert_false(testing_is_rank_over(e, 3));
    assert_int_equal(xy_exec_do(e, op), 0);
    /* Both are complete: the sum is in a temporary. */
    assert_true(testing_is_rank_over(e, 3));
    assert_true(testing_is_rank_over(e, 2));
    assert_int_equal(xy_exec_arrive(e, 1, c.send[1], NULL), 0);
    assert_int_equal(xy_exec_arrive(e, 0, c.send[0], c.receive[0]), 1);
    assert_true(xy_exec_take(e, &op));
    assert_int_equal(xy_exec_do(e, op), 1);
    assert_true(xy_exec_take(e, &op));
    assert_int_equal(c.arrived, 0);
    assert_int_equal(xy_exec_do(e, op), 0);
    assert_int_equal(c.arrived, 1000);
    assert_true(testing_is_over(e));
    assert_int_equal(c.over, 4);
    assert_int_equal(c.wrong, 0);
    xy_exec_destroy(e);
    xy_graph_destroy(g);
    testing_case_close(&c);
}

/* Levels up to S are for their actors alone, the rest for all threads. */
static void test_split(void **state)
{
    (void)state;
    for (int split = 0; split <= 4; split++) {
        testing_case_t c = reduce_of(16);
        xy_graph_t *g = build(&c, "binomial");
        xy_exec_options_t o = {.reduce = testing_reduce,
                               .on_rank = testing_case_rank_over,
                               .arg = &c,
                               .queue = testing_queue,
                               .queues = 16};
        int own = 0, common = 0, expected = 0;
        xy_exec_t *e;
        xy_op_id_t op;

        c.split = split;
        testing_case_open(&c);
        assert_int_equal(xy_exec_create(g, 16, &o, &e), XY_OK);
        for (int r = 0; r < 16; r++)
            xy_exec_arrive(e, r, c.send[r], c.receive[r]);
        while (!testing_is_over(e)) {
            for (; xy_exec_take(e, &op); common++) {
                assert_true(xy_graph_op(g, op)->level > split);
                xy_exec_do(e, op);
            }
            for (int r = 0; r < 16; r++)
                for (; xy_exec_take_own(e, r, &op); own++) {
                    assert_int_equal(xy_graph_op(g, op)->actor, r);
                    assert_true(xy_graph_op(g, op)->level <= split);
                    xy_exec_do(e, op);
                }
        }
        for (int level = 1; level <= split; level++)
            expected += xy_split_messages(16, level, 2);
        assert_int_equal(own, expected);
        assert_int_equal(common, 15 - expected);
        assert_int_equal(c.wrong, 0);
        xy_exec_destroy(e);
        xy_graph_destroy(g);
        testing_case_close(&c);
    }
}

/* The same executor, again and again, with other buffers. */
static void test_again(void **state)
{
    testing_case_t first = reduce_of(7);
    xy_graph_t *g = build(&first, "rabenseifner");
    xy_exec_options_t o = {.reduce = testing_reduce, .on_rank = testing_case_rank_over};
    xy_exec_t *e;

    (void)state;
    assert_int_equal(xy_exec_create(g, 7, &o, &e), XY_OK);
    for (int round = 0; round < 5; round++) {
        testing_case_t c = reduce_of(7);
        xy_op_id_t op;

        testing_case_open(&c);
        xy_exec_reset(e, &c);
        for (int r = 0; r < 7; r++)
            xy_exec_arrive(e, r, c.send[r], c.receive[r]);
        while (xy_exec_take(e, &op))
            xy_exec_do(e, op);
        assert_true(testing_is_over(e));
        assert_int_equal(c.over, 7);
        assert_int_equal(c.wrong, 0);
        testing_case_close(&c);
    }
    xy_exec_destroy(e);
    xy_graph_destroy(g);
}

static void count_copy(void *arg, const xy_op_t *op, void *to, const void *from)
{
    testing_case_t *c = arg;

    atomic_fetch_add(&c->arrived, (int)op->bytes);
    memcpy(to, from, op->bytes);
}

/* Copies of the caller's own; points in the order; ranks that nothing touches. */
static void test_points(void **state)
{
    testing_case_t c = {0};
    xy_exec_options_t o = {.copy = count_copy, .arg = &c};
    char from[] = "abcd", to[] = "....";
    xy_graph_t *g;
    xy_exec_t *e;
    xy_op_id_t op;

    (void)state;
    assert_int_equal(xy_graph_create(&g), XY_OK);
    xy_graph_add(g, &(xy_op_t){.kind = XY_OP_NONE});
    xy_graph_add_op(g, &(xy_op_t){.kind = XY_OP_MOVE,
                                  .from = {0, XY_BUFFER_SEND, 1},
                                  .to = {0, XY_BUFFER_RECEIVE, 2},
                                  .bytes = 2});
    xy_graph_add_edge(g, 0, 1);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_exec_create(g, 2, &o, &e), XY_OK);
    assert_true(xy_exec_take(e, &op));
    assert_int_equal(xy_exec_do(e, op), 0);
    assert_int_equal(xy_exec_arrive(e, 0, from, to), 1);
    assert_int_equal(xy_exec_arrive(e, 1, NULL, NULL), 0);
    assert_true(testing_is_rank_over(e, 1));
    assert_false(testing_is_rank_over(e, 0));
    assert_true(xy_exec_take(e, &op));
    xy_exec_do(e, op);
    assert_true(testing_is_over(e));
    assert_string_equal(to, "..bc");
    assert_int_equal(c.arrived, 2);
    xy_exec_destroy(e);
    xy_exec_destroy(NULL);
    xy_graph_destroy(g);
}

static void test_wrong(void **state)
{
    testing_case_t c = reduce_of(4);
    xy_graph_t *g = build(&c, NULL);
    xy_exec_options_t o = {.arg = &c};
    xy_exec_t *e = NULL;

    (void)state;
    testing_listen();
    assert_int_equal(xy_exec_create(g, 4, &o, &e), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    o.reduce = testing_reduce;
    assert_int_equal(xy_exec_create(g, 3, &o, &e), XY_EINVAL);
    assert_int_equal(testing_said_count, 2);
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_exec_create(g, 4, &o, &e)));
    xy_exec_destroy(e);
    xy_graph_destroy(g);
}

/* Queues of the caller's: what it says about operations holds, and it hears of each. */
static int queue_by_sender(void *arg, const xy_op_t *op)
{
    (void)arg;
    return op->from.rank == 3 ? -1 : op->from.rank;
}

static void note_ready(void *arg, int queue)
{
    testing_case_t *c = arg;

    atomic_fetch_add(&c->arrived, 1 << 4 * queue);
}

/* The executor whose operations are looked at by the callback below. */
static const xy_exec_t *looked_at;

/* It is counted by the time anyone could take it. */
static void note_counted(void *arg, int queue)
{
    assert_true(xy_exec_has_own(looked_at));
    note_ready(arg, queue);
}

static void test_queues(void **state)
{
    testing_case_t c = reduce_of(4);
    xy_graph_t *g = build(&c, "binomial");
    xy_exec_options_t o = {.reduce = testing_reduce,
                           .on_rank = testing_case_rank_over,
                           .arg = &c,
                           .queue = queue_by_sender,
                           .queues = 3,
                           .on_ready = note_counted};
    xy_exec_t *e;
    xy_op_id_t op;

    (void)state;
    testing_case_open(&c);
    assert_int_equal(xy_exec_create(g, 4, &o, &e), XY_OK);
    assert_int_equal(xy_exec_queue_ops(e, 0), 0);
    assert_int_equal(xy_exec_queue_ops(e, 1), 1);
    assert_false(xy_exec_has_own(e));
    looked_at = e;
    for (int r = 0; r < 4; r++)
        assert_int_equal(xy_exec_arrive(e, r, c.send[r], c.receive[r]), r == 3);
    assert_int_equal(c.arrived, 1 << 4);
    assert_false(xy_exec_take_own(e, 2, &op));
    assert_true(xy_exec_take_own(e, 1, &op)); /* 1 -> 0 */
    assert_false(xy_exec_has_own(e));
    xy_exec_do(e, op);
    assert_true(xy_exec_take(e, &op)); /* 3 -> 2 */
    xy_exec_do(e, op);
    assert_int_equal(c.arrived, 1 << 4 | 1 << 8);
    assert_true(xy_exec_take_own(e, 2, &op)); /* 2 -> 0 */
    xy_exec_do(e, op);
    assert_true(testing_is_over(e));
    assert_int_equal(c.wrong, 0);
    xy_exec_destroy(e);
    xy_graph_destroy(g);
    testing_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrivals), cmocka_unit_test(test_split),
        cmocka_unit_test(test_again),    cmocka_unit_test(test_points),
        cmocka_unit_test(test_wrong),    cmocka_unit_test(test_queues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
