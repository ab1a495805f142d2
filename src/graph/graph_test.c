/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "testing/graph.h"

static xy_graph_t *create(void)
{
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    return g;
}

/* ---- Order given by hand ---- */

static void test_empty(void **state)
{
    xy_graph_t *g = create();

    (void)state;
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_graph_ops(g), 0);
    assert_int_equal(xy_graph_buffers(g), 0);
    assert_int_equal(xy_graph_buffer_bytes(g, 0, 0), 0);
    xy_graph_destroy(g);
    xy_graph_destroy(NULL);
}

/* A random order among `n` operations that follows a random permutation, hence has no cycle. */
static void random_order(xy_graph_t *g, int n, bool given[64][64])
{
    int position[64] = {0};

    memset(given, 0, 64 * sizeof(given[0]));
    for (int i = 0; i < n; i++) {
        int j = testing_below(i + 1);

        position[i] = position[j];
        position[j] = i;
        xy_graph_add(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1 + testing_below(5)});
    }
    for (int k = testing_below(3 * n + 1); k > 0; k--) {
        int a = testing_below(n), b = testing_below(n);

        if (position[a] == position[b])
            continue;
        if (position[a] > position[b]) {
            int t = a;

            a = b;
            b = t;
        }
        given[a][b] = true;
        xy_graph_add_edge(g, a, b);
        if (testing_below(3) == 0)
            xy_graph_add_edge(g, a, b); /* twice counts once */
    }
}

static void check_order(const xy_graph_t *g, int n, bool given[64][64])
{
    const xy_op_id_t *order = xy_graph_topological(g);
    int place[64], depth[64] = {0}, edges = 0, predecessors = 0;

    for (int k = 0; k < n; k++)
        place[order[k]] = k;
    for (int k = 0; k < n; k++) {
        const xy_op_id_t *after;
        int a = order[k], count = xy_graph_successors(g, a, &after);

        predecessors += xy_graph_predecessors(g, a);
        edges += count;
        for (int s = 0; s < count; s++) {
            assert_true(given[a][after[s]]);
            assert_true(place[after[s]] > k);
            if (depth[after[s]] < depth[a] + 1)
                depth[after[s]] = depth[a] + 1;
        }
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            edges -= given[a][b];
    assert_int_equal(edges, 0);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            predecessors -= given[a][b];
    assert_int_equal(predecessors, 0);
    for (int k = 1; k < n; k++)
        assert_true(depth[order[k - 1]] < depth[order[k]] ||
                    (depth[order[k - 1]] == depth[order[k]] && order[k - 1] < order[k]));
}

static void test_random_orders(void **state)
{
    static bool given[64][64];

    (void)state;
    for (int round = 0; round < 300; round++) {
        int n = 1 + testing_below(60);
        xy_graph_t *g = create();

        random_order(g, n, given);
        assert_int_equal(xy_graph_finalize(g), XY_OK);
        assert_int_equal(xy_graph_ops(g), n);
        check_order(g, n, given);
        xy_graph_destroy(g);
    }
}

static void test_cycles(void **state)
{
    (void)state;
    for (int round = 0; round < 100; round++) {
        int n = 1 + testing_below(40), length = 1 + testing_below(n),
            first = testing_below(n - length + 1);
        xy_graph_t *g = create();

        for (int i = 0; i < n; i++)
            xy_graph_add(g, &(xy_op_t){0});
        for (int i = 1; i < n; i++)
            xy_graph_add_edge(g, testing_below(i), i);
        for (int i = 0; i < length; i++)
            xy_graph_add_edge(g, first + i, first + (i + 1) % length);
        testing_listen();
        assert_int_equal(xy_graph_finalize(g), XY_EINVAL);
        assert_int_equal(testing_said_count, 1);
        assert_non_null(strstr(testing_said, "cycle"));
        xy_graph_destroy(g);
    }
}

/* Mistakes in building are reported when the graph is finalized. */
static void expect_wrong(xy_graph_t *g, const char *said)
{
    testing_listen();
    assert_int_equal(xy_graph_finalize(g), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, said));
    xy_graph_destroy(g);
}

static void test_wrong(void **state)
{
    xy_spot_t nowhere = {0, XY_BUFFERS_MAX, 0}, no_rank = {-1, 0, 0}, end = {0, 0, UINT64_MAX};
    xy_graph_t *g = create();

    (void)state;
    xy_graph_add(g, &(xy_op_t){0});
    xy_graph_add_edge(g, 0, 1);
    xy_graph_add_edge(g, 0, 0);
    expect_wrong(g, "an operation that does not exist");
    g = create();
    xy_graph_add_task(g, &(xy_op_t){0}, &(xy_access_t){0, XY_ACCESS_READ}, 1);
    expect_wrong(g, "data that does not exist");
    g = create();
    xy_graph_add_op(g, &(xy_op_t){.kind = XY_OP_MOVE, .from = nowhere, .bytes = 1});
    expect_wrong(g, "buffer");
    g = create();
    xy_graph_add(g, &(xy_op_t){.kind = XY_OP_MOVE, .from = no_rank});
    expect_wrong(g, "buffer 0 of rank -1");
    g = create();
    xy_graph_add_op(g, &(xy_op_t){.kind = XY_OP_MOVE, .to = end, .bytes = 8});
    expect_wrong(g, "beyond the end");
}

/* ---- Order from accesses and from places ---- */

/* Conflicting pairs are ordered as they were added; nothing else is. */
static void check_consistent(const xy_graph_t *g, bool (*conflict)(const xy_graph_t *, int, int))
{
    static testing_reach_t reach;
    int n = xy_graph_ops(g);

    testing_reach(g, &reach);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++) {
            assert_false(testing_is_before(&reach, j, i));
            if (conflict(g, i, j))
                assert_true(testing_is_before(&reach, i, j));
        }
    for (int i = 0; i < n; i++) {
        const xy_op_id_t *after;
        int count = xy_graph_successors(g, i, &after);

        for (int s = 0; s < count; s++)
            assert_true(conflict(g, i, after[s]));
    }
}

static bool is_data_conflict(const xy_graph_t *g, int i, int j)
{
    const xy_access_t *a, *b;
    int na = xy_graph_accesses(g, i, &a), nb = xy_graph_accesses(g, j, &b);

    for (int x = 0; x < na; x++)
        for (int y = 0; y < nb; y++)
            if (a[x].data == b[y].data && ((a[x].mode | b[y].mode) & XY_ACCESS_WRITE) != 0)
                return true;
    return false;
}

static void test_tasks(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        int n = 1 + testing_below(TESTING_OPS - 1), handles = 1 + testing_below(12), total = 0,
            kept = 0;
        xy_graph_t *g = create();

        for (int i = 0; i < handles; i++)
            assert_int_equal(xy_graph_add_data(g, &(xy_data_t){.bytes = (uint64_t)i}), i);
        for (int i = 0; i < n; i++) {
            xy_access_t accesses[4];
            int k = testing_below(5);

            for (int a = 0; a < k; a++)
                accesses[a] =
                    (xy_access_t){testing_below(handles), (xy_access_mode_t)(1 + testing_below(3))};
            total += k;
            if (k == 0 && testing_below(2) == 0)
                assert_int_equal(xy_graph_add(g, &(xy_op_t){0}), i);
            else
                assert_int_equal(xy_graph_add_task(g, &(xy_op_t){.actor = i}, accesses, k), i);
        }
        assert_int_equal(xy_graph_finalize(g), XY_OK);
        assert_int_equal(xy_graph_data_count(g), handles);
        assert_int_equal(xy_graph_data_at(g, handles - 1)->bytes, handles - 1);
        for (int i = 0; i < n; i++) {
            const xy_access_t *list;

            kept += xy_graph_accesses(g, i, &list);
        }
        assert_int_equal(kept, total);
        check_consistent(g, is_data_conflict);
        xy_graph_destroy(g);
    }
}

static bool is_place_conflict(const xy_graph_t *g, int i, int j)
{
    return testing_conflict(xy_graph_op(g, i), xy_graph_op(g, j));
}

static xy_spot_t random_place(void)
{
    return (xy_spot_t){testing_below(2), testing_below(2), (uint64_t)testing_below(40)};
}

static void test_places(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        int n = 1 + testing_below(round < 150 ? 20 : TESTING_OPS - 1);
        uint64_t most[2][2] = {{0}};
        xy_graph_t *g = create();

        for (int i = 0; i < n; i++) {
            xy_op_t op = {.kind = (xy_op_kind_t)(XY_OP_MOVE + testing_below(3)),
                          .from = random_place(),
                          .to = random_place(),
                          .other = random_place(),
                          .bytes = (uint64_t)testing_below(20)};
            xy_spot_t *p[] = {&op.from, &op.to, op.kind == XY_OP_COMBINE ? &op.other : &op.to};

            for (int k = 0; k < 3 && op.bytes > 0; k++)
                if (p[k]->offset + op.bytes > most[p[k]->rank][p[k]->buffer])
                    most[p[k]->rank][p[k]->buffer] = p[k]->offset + op.bytes;
            assert_int_equal(xy_graph_add_op(g, &op), i);
        }
        assert_int_equal(xy_graph_finalize(g), XY_OK);
        for (int k = 0; k < 4; k++)
            assert_int_equal(xy_graph_buffer_bytes(g, k / 2, k % 2), most[k / 2][k % 2]);
        check_consistent(g, is_place_conflict);
        xy_graph_destroy(g);
    }
}

/* ---- Memory ---- */

static xy_status_t build_some(void)
{
    xy_graph_t *g;
    xy_status_t st = xy_graph_create(&g);

    if (st != XY_OK)
        return st;
    xy_graph_add_data(g, &(xy_data_t){0});
    for (int i = 0; i < 20; i++) {
        xy_spot_t a = {i % 3, 0, (uint64_t)i}, b = {i % 2, 1, (uint64_t)(7 * i % 5)};
        xy_op_id_t op =
            xy_graph_add_op(g, &(xy_op_t){.kind = XY_OP_MOVE, .from = a, .to = b, .bytes = 4});
        xy_op_id_t task =
            xy_graph_add_task(g, &(xy_op_t){0}, &(xy_access_t){0, XY_ACCESS_READ_WRITE}, 1);

        xy_graph_add_edge(g, op, task);
    }
    st = xy_graph_finalize(g);
    xy_graph_destroy(g);
    return st;
}

static void test_memory(void **state)
{
    (void)state;
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, build_some()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),  cmocka_unit_test(test_random_orders),
        cmocka_unit_test(test_cycles), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_tasks),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
