/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of libraries: exactly one holds for any call, and what it names can be built. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "coll/coll.h"
#include "testing/coll.h"

enum { PROCS_MAX = 4200 };

static uint64_t counts[PROCS_MAX], row[PROCS_MAX], offsets[PROCS_MAX];
static const uint64_t *rows[PROCS_MAX], *offset_rows[PROCS_MAX];
static int nodes[PROCS_MAX];
static bool in_place[PROCS_MAX];

/* Blocks of equal size, but for `more` elements of rank 0. */
static xy_coll_request_t ask(int collective, int procs, uint64_t count, uint64_t element,
                             uint64_t more)
{
    xy_coll_request_t q = {.collective = (xy_collective_t)collective,
                           .procs = procs,
                           .count = count,
                           .element = element,
                           .is_commutative = true,
                           .counts = counts};

    for (int i = 0; i < procs; i++) {
        counts[i] = row[i] = count;
        offsets[i] = count * (uint64_t)i;
        rows[i] = row;
        offset_rows[i] = offsets;
    }
    counts[0] += more;
    if (collective == XY_COLL_ALLTOALLV || collective == XY_COLL_ALLTOALLW) {
        q.matrix = rows;
        q.send_offsets = q.receive_offsets = offset_rows;
    }
    return q;
}

static void share_nodes(xy_coll_request_t *q, int per_node, bool is_round_robin)
{
    int count = (q->procs + per_node - 1) / per_node;

    for (int i = 0; i < q->procs; i++)
        nodes[i] = is_round_robin ? i % count : i / per_node;
    q->nodes = nodes;
}

static void fail_at(const xy_coll_library_t *l, const xy_coll_request_t *q, int n)
{
    fail_msg("%s: %d rules hold for %s%s of %d ranks, %llu x %llu bytes%s%s%s%s", l->name, n,
             q->is_nonblocking ? "nonblocking " : "", xy_coll_name(q->collective), q->procs,
             (unsigned long long)q->count, (unsigned long long)q->element,
             q->is_commutative ? "" : ", not commutative", q->is_user_op ? ", user's" : "",
             q->in_place != NULL ? ", in place" : "", q->nodes != NULL ? ", on nodes" : "");
}

/* With data and two ranks or more, one rule and one only. */
static void check_one(const xy_coll_library_t *l, const xy_coll_request_t *q)
{
    const xy_coll_rule_t *rule;
    int n = xy_coll_library_rules(l, q, &rule, 1);
    bool has_counts = q->collective == XY_COLL_GATHERV || q->collective == XY_COLL_SCATTERV ||
                      q->collective == XY_COLL_ALLGATHERV ||
                      q->collective == XY_COLL_REDUCE_SCATTER;
    bool is_empty = q->count == 0 && (!has_counts || counts[0] == 0) && /* else rank 0's block */
                    q->collective != XY_COLL_BARRIER;

    if (is_empty ? n > 1 : n != 1)
        fail_at(l, q, n);
}

/* All properties that rules use besides the sizes. */
static void check_conditions(const xy_coll_library_t *l, xy_coll_request_t q)
{
    for (int k = 0; k < 64; k++) {
        q.is_nonblocking = k % 2 == 1;
        q.is_commutative = k / 2 % 2 == 0;
        q.is_user_op = k / 4 % 2 == 1;
        q.in_place = k / 8 % 2 == 1 ? in_place : NULL;
        q.nodes = NULL;
        if (k / 16 > 0)
            share_nodes(&q, k / 16 == 1 ? 4 : k / 16 == 2 ? 2 : q.procs, k / 16 == 2);
        check_one(l, &q);
    }
}

/* At the bounds of every rule, and next to them. */
static void test_one_rule(void **state)
{
    (void)state;
    memset(in_place, true, sizeof(in_place));
    for (int i = 1; xy_coll_libraries()[i] != NULL; i++) {
        const xy_coll_library_t *l = xy_coll_libraries()[i];

        for (const xy_coll_rule_t *r = l->rules; r->algorithm != NULL; r++)
            for (int k = 0; k < 8; k++) {
                int p = k % 2 == 0 || r->procs_max == INT_MAX ? r->procs_min : r->procs_max;
                uint64_t bytes =
                    k / 2 % 2 == 0 || r->bytes_max == UINT64_MAX ? r->bytes_min : r->bytes_max;
                uint64_t element = k / 4 == 0 ? 1 : 8;
                bool is_sum = strncmp(r->measured, "sum", 3) == 0;
                uint64_t each = bytes / element / (is_sum ? (uint64_t)p : 1);

                if (p < 2 || (XYLEM_SANITIZED && p > 64))
                    continue;
                check_conditions(l, ask(r->collective, p, each, element,
                                        is_sum ? bytes / element - each * (uint64_t)p : 0));
                check_conditions(l, ask(r->collective, p, each + 1, element, 0));
            }
    }
}

/* Every choice can be built; a fallback is marked as one. */
static void test_builds(void **state)
{
    static const uint64_t sizes[] = {0, 1, 3, 40, 5000, 70000};

    (void)state;
    for (int i = 0; xy_coll_libraries()[i] != NULL; i++)
        for (int c = 0; c < XY_COLL_COUNT; c++)
            for (int p = 1; p <= 20; p += XYLEM_SANITIZED ? 6 : 1)
                for (int k = 0; k < 24; k++) {
                    xy_coll_request_t q = ask(c, p, sizes[k % 6], 8, 0);
                    xy_coll_choice_t choice;
                    xy_graph_t *g;

                    q.root = p / 2;
                    q.is_commutative = k / 6 % 2 == 0;
                    q.is_nonblocking = k / 12 == 1;
                    if (k % 2 == 0)
                        share_nodes(&q, 3, false);
                    assert_int_equal(xy_coll_library_choose(xy_coll_libraries()[i], &q,
                                                            &xy_coll_link_default, &choice),
                                     XY_OK);
                    assert_true(xy_coll_is_applicable(choice.algorithm, &q));
                    assert_true(choice.rule != NULL || !choice.is_fallback);
                    assert_ptr_equal(q.library, xy_coll_libraries()[i]);
                    assert_int_equal(xy_coll_build(&q, &xy_coll_link_default, choice.algorithm, &g),
                                     XY_OK);
                    if (sizes[k % 6] == 0 && c != XY_COLL_BARRIER && !choice.algorithm->is_direct)
                        assert_int_equal(xy_graph_ops(g), 0);
                    xy_graph_destroy(g);
                }
}

/* Cases that are easily missed. */
static void test_surprises(void **state)
{
    static const struct {
        const char *library;
        xy_collective_t collective;
        int procs;
        uint64_t count, element;
        bool is_nonblocking, is_ordered;
        const char *expected;
        bool is_fallback;
        uint64_t segment;
    } cases[] = {
        /* The ring needs an element for each rank. */
        {"openmpi", XY_COLL_ALLREDUCE, 20, 4, 8, 0, 0, "recursive-doubling", true, XY_COLL_WHOLE},
        {"openmpi", XY_COLL_ALLREDUCE, 20, 40, 1, 0, 0, "ring", false, XY_COLL_WHOLE},
        /* Rabenseifner needs one for each rank of the power of two. */
        {"openmpi", XY_COLL_ALLREDUCE, 40, 31, 8, 0, 0, "linear", true, XY_COLL_WHOLE},
        {"openmpi", XY_COLL_ALLREDUCE, 40, 32, 8, 0, 0, "rabenseifner-halves", false,
         XY_COLL_WHOLE},
        /* Its binomial broadcast is the tree of the highest bit; nothing is cut. */
        {"openmpi", XY_COLL_BCAST, 16, 4096, 1, 0, 0, "binomial-high", false, XY_COLL_WHOLE},
        {"openmpi", XY_COLL_BCAST, 4, 1 << 20, 1, 0, 0, "chain", false, XY_COLL_WHOLE},
        {"openmpi", XY_COLL_BCAST, 16, 8, 1 << 20, 0, 0, "linear", true, XY_COLL_WHOLE},
        {"openmpi", XY_COLL_BCAST, 256, 1, 16384, 0, 0, "chain", true, XY_COLL_WHOLE},
        {"openmpi", XY_COLL_ALLGATHER, 33, 2048, 1, 0, 0, "ring", true, XY_COLL_WHOLE},
        {"openmpi", XY_COLL_ALLGATHER, 5, 8, 1, 0, 0, "bruck", true, XY_COLL_WHOLE},
        /* Nonblocking calls have rules of their own, and pieces. */
        {"openmpi", XY_COLL_REDUCE, 2, 1 << 17, 1, 1, 0, "chain", false, 8192},
        {"openmpi", XY_COLL_ALLREDUCE, 8, 64, 8, 1, 0, "reduce-bcast-high", false, XY_COLL_WHOLE},
        /* MPICH leaves recursive doubling above 8 bytes, nonblocking above 2048. */
        {"mpich", XY_COLL_ALLREDUCE, 8, 8, 1, 0, 0, "recursive-doubling", false, XY_COLL_WHOLE},
        {"mpich", XY_COLL_ALLREDUCE, 8, 9, 1, 0, 0, "rabenseifner", false, XY_COLL_WHOLE},
        {"mpich", XY_COLL_REDUCE, 8, 4096, 1, 0, 0, "rabenseifner-even", false, XY_COLL_WHOLE},
        {"mpich", XY_COLL_ALLREDUCE, 8, 2048, 1, 1, 0, "recursive-doubling", false, XY_COLL_WHOLE},
        /* Its tuning file says p < 8, and means 8 too. */
        {"mpich", XY_COLL_ALLTOALL, 8, 8, 1, 0, 0, "linear", false, XY_COLL_WHOLE},
        {"mpich", XY_COLL_ALLTOALL, 9, 8, 1, 0, 0, "bruck", false, XY_COLL_WHOLE},
        {"mpich", XY_COLL_ALLTOALL, 16, 1 << 16, 1, 0, 0, "pairwise-xor", false, XY_COLL_WHOLE},
        {"mpich", XY_COLL_ALLTOALL, 12, 1 << 16, 1, 0, 0, "pairwise", false, XY_COLL_WHOLE},
        /* The nonblocking reduce_scatter_block compares elements, not bytes. */
        {"mpich", XY_COLL_REDUCE_SCATTER_BLOCK, 4, 1 << 16, 8, 1, 0, "halving", false,
         XY_COLL_WHOLE},
        {"mpich", XY_COLL_REDUCE_SCATTER_BLOCK, 4, 1 << 16, 8, 0, 0, "pairwise", false,
         XY_COLL_WHOLE},
        {"mpich", XY_COLL_REDUCE_SCATTER_BLOCK, 8, 4, 8, 0, 1, "mirrored", false, XY_COLL_WHOLE},
        {"mpich", XY_COLL_ALLGATHERV, 4, 1 << 18, 1, 0, 0, "ring", false, 32768},
        {"mpich", XY_COLL_ALLGATHERV, 4, 1 << 18, 1, 1, 0, "ring", false, XY_COLL_WHOLE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        xy_coll_request_t q =
            ask(cases[i].collective, cases[i].procs, cases[i].count, cases[i].element, 0);
        xy_coll_choice_t choice;

        q.is_nonblocking = cases[i].is_nonblocking;
        q.is_commutative = !cases[i].is_ordered;
        assert_int_equal(xy_coll_library_choose(xy_coll_library_find(cases[i].library), &q,
                                                &xy_coll_link_default, &choice),
                         XY_OK);
        if (strcmp(choice.algorithm->name, cases[i].expected) != 0)
            fail_msg("case %zu: %s, not %s", i, choice.algorithm->name, cases[i].expected);
        assert_int_equal(choice.is_fallback, cases[i].is_fallback);
        assert_true(q.segment == cases[i].segment);
    }
}

static void count_op(const xy_op_t *op, void *arg)
{
    (void)arg;
    row[op->from.rank] += op->from.rank != op->to.rank;
}

static void expect_two_level(xy_collective_t collective, uint64_t bytes, int root,
                             const char *expected, const uint64_t sent[8])
{
    xy_coll_request_t q = ask(collective, 8, bytes, 1, 0);
    xy_coll_choice_t choice;

    share_nodes(&q, 4, false);
    q.root = root;
    assert_int_equal(
        xy_coll_library_choose(xy_coll_library_find("mpich"), &q, &xy_coll_link_default, &choice),
        XY_OK);
    assert_string_equal(choice.algorithm->name, expected);
    memset(row, 0, sizeof(row));
    assert_int_equal(xy_coll_walk(&q, &xy_coll_link_default, choice.algorithm, count_op, NULL),
                     XY_OK);
    for (int i = 0; i < 8; i++)
        assert_int_equal(row[i], sent[i]);
}

/* Eight ranks on two nodes under MPICH: the messages that each rank sends. */
static void test_two_level(void **state)
{
    (void)state;
    /* 5 to its leader 4; 4 to 0; in the nodes 0 to 2 and 1, 2 to 3 and 4 to 6 and 5, 6 to 7. */
    expect_two_level(XY_COLL_BCAST, 8, 5, "two-level", (const uint64_t[]){2, 0, 1, 0, 3, 1, 1, 0});
    /* 5 in its node: 5 to 7 and 6, 7 to 4; 4 to 0; then the other node. */
    expect_two_level(XY_COLL_BCAST, 1 << 14, 5, "two-level-root",
                     (const uint64_t[]){2, 0, 1, 0, 1, 2, 0, 1});
    /* Node 0 to 0: 1 to 0, 3 to 2, 2 to 0; 0 to 4; node 1 to 5: 6 to 5, 4 to 7, 7 to 5. */
    expect_two_level(XY_COLL_REDUCE, 8, 5, "two-level", (const uint64_t[]){1, 1, 1, 1, 1, 0, 1, 1});
    /* Both nodes to 0 and 4; 4 to 0; 0 to 5. Parts go both ways: halving, then a gather. */
    expect_two_level(XY_COLL_REDUCE, 4096, 5, "two-level-zero",
                     (const uint64_t[]){4, 3, 3, 3, 4, 3, 3, 3});
    expect_two_level(XY_COLL_ALLREDUCE, 8, 0, "two-level",
                     (const uint64_t[]){3, 1, 2, 1, 3, 1, 2, 1});
    expect_two_level(XY_COLL_BARRIER, 0, 0, "two-level",
                     (const uint64_t[]){5, 2, 3, 2, 5, 2, 3, 2});
}

/* Xylem's own: direct inside a node, on two levels between nodes of several ranks where there is
 * such an algorithm, else scheduled. */
static void test_own(void **state)
{
    const xy_coll_library_t *l = xy_coll_library_find("xylem");

    (void)state;
    assert_null(xy_coll_library_find("lam"));
    for (int c = 0; c < XY_COLL_COUNT; c++)
        for (int k = 0; k < 3; k++) {
            xy_coll_request_t q = ask(c, 12, 100, 8, 0);
            xy_coll_choice_t choice;

            if (k > 0)
                share_nodes(&q, k == 1 ? 12 : 6, false);
            assert_int_equal(xy_coll_library_choose(l, &q, &xy_coll_link_default, &choice), XY_OK);
            assert_null(choice.rule);
            assert_int_equal(choice.algorithm->is_direct, k == 1);
            assert_int_equal(strncmp(choice.algorithm->name, "two-level", 9) == 0,
                             k == 2 && (c == XY_COLL_BARRIER || c == XY_COLL_BCAST ||
                                        c == XY_COLL_REDUCE || c == XY_COLL_ALLREDUCE));
            assert_int_equal(choice.algorithm->is_foreign,
                             strncmp(choice.algorithm->name, "two-level", 9) == 0);
            assert_int_equal(q.segment, 0);
        }
}

static void look_inside(const xy_op_t *op, void *arg)
{
    uint64_t *bytes = arg; /* inside nodes: by messages, directly */

    if (op->from.rank != op->to.rank && nodes[op->from.rank] == nodes[op->to.rank])
        bytes[op->is_direct] += op->bytes;
}

/* As the runtime does it: long vectors are never sent inside nodes, short ones are. Among many
 * leaders a long one is scattered, so that none sends all of it to several. */
static void test_inside(void **state)
{
    static const xy_collective_t all[] = {XY_COLL_BCAST, XY_COLL_REDUCE, XY_COLL_ALLREDUCE};

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int is_long = 0; is_long < 2; is_long++) {
            xy_coll_request_t q = ask(all[i], 64, is_long ? 1 << 17 : 1 << 9, 8, 0);
            uint64_t bytes[2] = {0};

            share_nodes(&q, 4, false);
            q.root = 5;
            q.between = &xy_coll_link_default;
            assert_int_equal(
                xy_coll_walk(&q, &xy_coll_link_default, xy_coll_levels(&q), look_inside, bytes),
                XY_OK);
            assert_true(bytes[is_long] > 0);
            assert_int_equal(bytes[!is_long], 0);
            memset(row, 0, sizeof(row));
            assert_int_equal(
                xy_coll_walk(&q, &xy_coll_link_default, xy_coll_levels(&q), count_op, NULL), XY_OK);
            if (all[i] == XY_COLL_BCAST && is_long)
                assert_true(row[8] >= 8); /* ... 4 to scatter, 4 to gather */
        }
}

/* Nodes are numbered in the order of their first ranks. */
static void test_nodes(void **state)
{
    static const int good[] = {0, 1, 0, 2}, gap[] = {0, 2, 1, 0}, late[] = {1, 0, 0, 0};
    xy_coll_request_t q = ask(XY_COLL_BCAST, 4, 1, 1, 0);

    (void)state;
    q.nodes = good;
    assert_int_equal(xy_coll_check(&q), XY_OK);
    testing_listen();
    q.nodes = gap;
    assert_int_equal(xy_coll_check(&q), XY_EINVAL);
    q.nodes = late;
    assert_int_equal(xy_coll_check(&q), XY_EINVAL);
    assert_int_equal(testing_said_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rule),  cmocka_unit_test(test_builds),
        cmocka_unit_test(test_surprises), cmocka_unit_test(test_two_level),
        cmocka_unit_test(test_own),       cmocka_unit_test(test_inside),
        cmocka_unit_test(test_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
