/* SPDX-License-Identifier: BSD-3-Clause */
/* Cut graphs: the same bytes in the end, whatever the order of the pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "testing/graph.h"

enum { RANKS = 3, BUFFERS = 2, BYTES = 64 };

/* A move takes bytes, a reduction adds them up in a way that distinguishes left from right. */
static void apply(unsigned char memory[RANKS][BUFFERS][BYTES], const xy_op_t *op)
{
    unsigned char *from = &memory[op->from.rank][op->from.buffer][op->from.offset];
    unsigned char *to = &memory[op->to.rank][op->to.buffer][op->to.offset];
    unsigned char *with = op->kind == XY_OP_COMBINE
                              ? &memory[op->other.rank][op->other.buffer][op->other.offset]
                              : to;

    for (uint64_t i = 0; i < op->bytes && op->kind >= XY_OP_MOVE; i++)
        if (op->kind == XY_OP_MOVE)
            to[i] = from[i];
        else
            to[i] = (unsigned char)(op->is_left ? 3 * from[i] + with[i] : from[i] + 3 * with[i]);
}

/* Run in a random order that the graph allows. */
static void run(const xy_graph_t *g, unsigned char memory[RANKS][BUFFERS][BYTES])
{
    int n = xy_graph_ops(g), ready = 0;
    int *waits = calloc((size_t)n + 1, sizeof(*waits)),
        *list = calloc((size_t)n + 1, sizeof(*list));

    for (int i = 0; i < n; i++) {
        waits[i] = xy_graph_predecessors(g, i);
        if (waits[i] == 0)
            list[ready++] = i;
    }
    while (ready > 0) {
        const xy_op_id_t *after;
        int k = testing_below(ready), id = list[k];

        list[k] = list[--ready];
        apply(memory, xy_graph_op(g, id));
        for (int s = xy_graph_successors(g, id, &after); s > 0; s--)
            if (--waits[after[s - 1]] == 0)
                list[ready++] = after[s - 1];
    }
    free(waits);
    free(list);
}

static xy_spot_t random_place(uint64_t bytes)
{
    return (xy_spot_t){testing_below(RANKS), testing_below(BUFFERS),
                       (uint64_t)testing_below(BYTES - (int)bytes + 1)};
}

/* Operations whose own places do not overlap: a copy onto itself means nothing. */
static void add_random(xy_graph_t *g)
{
    xy_op_t op = {.kind = (xy_op_kind_t)(XY_OP_MOVE + testing_below(3)),
                  .is_left = testing_below(2) == 0};

    op.bytes = (uint64_t)testing_below(BYTES / 2);
    do {
        op.from = random_place(op.bytes);
        op.to = random_place(op.bytes);
        op.other = testing_below(2) == 0 ? op.to : random_place(op.bytes);
    } while (testing_overlap(op.from, op.bytes, op.to, op.bytes) ||
             (memcmp(&op.other, &op.to, sizeof(op.to)) != 0 &&
              testing_overlap(op.other, op.bytes, op.to, op.bytes)));
    xy_graph_add_op(g, &op);
}

static void test_same_result(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        unsigned char expected[RANKS][BUFFERS][BYTES], got[RANKS][BUFFERS][BYTES];
        xy_graph_t *g, *cut;
        uint64_t piece = 1 + (uint64_t)testing_below(20);

        assert_int_equal(xy_graph_create(&g), XY_OK);
        for (int i = testing_below(30); i >= 0; i--)
            add_random(g);
        assert_int_equal(xy_graph_finalize(g), XY_OK);
        assert_int_equal(xy_graph_cut(g, piece, &cut), XY_OK);
        for (size_t i = 0; i < sizeof(got); i++)
            (&got[0][0][0])[i] = (unsigned char)testing_below(256);
        memcpy(expected, got, sizeof(got));
        for (int i = 0; i < xy_graph_ops(g); i++)
            apply(expected, xy_graph_op(g, i));
        for (int i = 0; i < xy_graph_ops(cut); i++)
            assert_true(xy_graph_op(cut, i)->bytes <= piece);
        run(cut, got);
        assert_memory_equal(got, expected, sizeof(got));
        xy_graph_destroy(cut);
        xy_graph_destroy(g);
    }
}

/* A chain becomes a pipeline: 4 hops of 10 pieces take 13 steps, not 40. */
static double one(const xy_op_t *op)
{
    (void)op;
    return 1.0;
}

static void test_pipeline(void **state)
{
    xy_graph_t *g, *cut;

    (void)state;
    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int r = 1; r <= 4; r++)
        xy_graph_add_op(g, &(xy_op_t){.kind = XY_OP_MOVE,
                                      .from = {r - 1, 1, 0},
                                      .to = {r, 1, 0},
                                      .actor = r,
                                      .level = 2,
                                      .bytes = 100});
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_graph_cut(g, 10, &cut), XY_OK);
    assert_int_equal(xy_graph_ops(cut), 40);
    assert_int_equal(xy_graph_op(cut, 39)->level, 2);
    /* Each piece waits for its own piece only; that a rank does one at a time is not in the order.
     */
    assert_true(testing_longest_path(cut, one) == 4.0);
    xy_graph_destroy(cut);
    xy_graph_destroy(g);
}

/* Operations that are ordered for a reason other than bytes stay so, for all pieces. */
static void test_points(void **state)
{
    static testing_reach_t reach;
    xy_graph_t *g, *cut;

    (void)state;
    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int r = 0; r < 2; r++)
        xy_graph_add_op(
            g,
            &(xy_op_t){
                .kind = XY_OP_MOVE, .from = {r, 0, 0}, .to = {r, 1, 0}, .actor = r, .bytes = 30});
    xy_graph_add_edge(g, 0, 1);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_graph_cut(g, 10, &cut), XY_OK);
    testing_reach(cut, &reach);
    for (int i = 0; i < 3; i++)
        for (int j = 3; j < 6; j++)
            assert_true(testing_is_before(&reach, i, j));
    xy_graph_destroy(cut);
    testing_listen();
    assert_int_equal(xy_graph_cut(g, 0, &cut), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    xy_graph_destroy(g);
}

static void test_memory(void **state)
{
    xy_graph_t *g, *cut;

    (void)state;
    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int i = 0; i < 10; i++)
        add_random(g);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    for (long k = 1;; k++) {
        xy_status_t st;

        testing_listen();
        xy_memory_fail_at(k);
        st = xy_graph_cut(g, 3, &cut);
        if (!xy_memory_fail_hit()) {
            assert_int_equal(st, XY_OK);
            xy_graph_destroy(cut);
            break;
        }
        assert_int_equal(st, XY_ENOMEM);
        assert_int_equal(testing_said_count, 1);
    }
    xy_memory_fail_at(0);
    xy_graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_result),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
