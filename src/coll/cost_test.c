/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost that an algorithm states equals the count of its graph. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "coll/coll.h"
#include "testing/coll.h"

static const xy_coll_link_t links[] = {
    {300e-9, 1.0 / 8e9, 1.0 / 16e9, 1.0 / 8e9},
    {1.0, 0.0, 0.0, 0.0},     /* messages only */
    {0.0, 1.0, 0.25, 0.5},    /* bytes only */
    {20e-6, 1e-10, 3e-10, 0}, /* slow reductions */
    {0, 0, 0, 0},
};

static void fail_at(const xy_coll_algorithm_t *a, const xy_coll_request_t *q, double cost,
                    double count)
{
    fail_msg("%s %s, %d ranks, root %d, %llu elements%s: states %g, counts %g",
             xy_coll_name(q->collective), a->name, q->procs, q->root, (unsigned long long)q->count,
             q->is_commutative ? "" : ", not commutative", cost, count);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* With unequal blocks the statement is a bound, and not a wild one. */
static void check_link(const xy_coll_algorithm_t *a, const xy_coll_request_t *q,
                       const xy_graph_t *g, const xy_coll_link_t *link, bool is_equal)
{
    double cost = a->cost(q, link), count = xy_coll_count(g, link);

    if (is_equal ? !is_near(cost, count) : count > cost * (1 + 1e-9) || cost > 12 * count)
        fail_at(a, q, cost, count);
}

/* Only the pieces of chains, and the parts of compositions, depend on the link that a graph is
 * built for. */
static void check(const xy_coll_algorithm_t *a, const xy_coll_request_t *q, bool is_equal)
{
    bool depends = q->collective == XY_COLL_BCAST || strstr(a->name, "-then-") != NULL ||
                   strstr(a->name, "two-level") != NULL;
    xy_graph_t *g = NULL;

    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        if (g == NULL || depends) {
            xy_graph_destroy(g);
            assert_int_equal(xy_coll_build(q, &links[i], a, &g), XY_OK);
        }
        check_link(a, q, g, &links[i], is_equal);
    }
    xy_graph_destroy(g);
}

/* So many elements make a long vector; direct algorithms, whose graphs are of pieces, have some of
 * each size with less. */
static uint64_t long_factor(const xy_coll_algorithm_t *a, uint64_t unit)
{
    uint64_t wanted = unit <= 16 * 16 ? 1 << 17 : 1 << 15;

    return !a->is_direct ? 512 : wanted > unit ? wanted / unit : 1;
}

static void check_regular(const xy_coll_algorithm_t *a, xy_coll_request_t *q)
{
    int p = q->procs, roots[] = {0, p - 1, p / 2, p / 3};
    /* Multiples of p cut into equal parts, and of the power of two below it too. */
    uint64_t power = 1;
    int step = p > 20 ? 3 : 1;

    while (power * 2 <= (uint64_t)p)
        power *= 2;
    for (int k = 0; k < 8; k += step) {
        q->root = roots[k % 4];
        q->is_commutative = k < 4;
        q->count = (uint64_t)p * power * (k % 2 == 0 ? 1 : long_factor(a, (uint64_t)p * power));
        if (xy_coll_is_applicable(a, q))
            check(a, q, true);
    }
}

/* The vectors of counts that some collectives have: equal ones, then others. */
static void check_counts(const xy_coll_algorithm_t *a, xy_coll_request_t *q)
{
    static uint64_t counts[100], cells[100 * 100], offsets[100 * 100];
    int p = q->procs;

    for (int round = 0; round < 2; round++) {
        const uint64_t **matrix = testing_rows(cells, p), **rows = testing_rows(offsets, p);

        for (int i = 0; i < p; i++)
            counts[i] = round == 0 ? 24 : (uint64_t)(1 + i * 7 % 5);
        for (int i = 0; i < p * p; i++) {
            cells[i] = round == 0 ? 24 : (uint64_t)(1 + i * 7 % 5);
            offsets[i] = (uint64_t)(i % p) * 24;
        }
        q->counts = counts;
        if (q->collective == XY_COLL_ALLTOALLV || q->collective == XY_COLL_ALLTOALLW) {
            q->matrix = matrix;
            q->send_offsets = q->receive_offsets = rows;
        }
        q->root = p / 2;
        q->is_commutative = true;
        if (xy_coll_is_applicable(a, q))
            check(a, q, round == 0);
        free(matrix);
        free(rows);
    }
}

/* Sanitizers are slow: 1, 14, 27 ranks and so on. */
enum { PROCS_STEP = XYLEM_SANITIZED ? 13 : 1 };

/* Of what only other libraries do, many of which are counted, not all numbers of ranks. */
static bool is_left_out(const xy_coll_algorithm_t *a, int procs)
{
    return a->is_foreign && procs > 17 && procs != 24 && procs != 33 && procs != 64;
}

static void test_cost_is_count(void **state)
{
    (void)state;
    for (const xy_coll_algorithm_t *const *a = xy_coll_algorithms(); *a != NULL; a++)
        for (int c = 0; c < XY_COLL_COUNT; c++)
            for (int i = 0; testing_procs(i) != 0; i += PROCS_STEP) {
                xy_coll_request_t q = {
                    .collective = (xy_collective_t)c, .element = 8, .procs = testing_procs(i)};
                bool has_counts = c == XY_COLL_GATHERV || c == XY_COLL_SCATTERV ||
                                  c == XY_COLL_ALLGATHERV || c == XY_COLL_ALLTOALLV ||
                                  c == XY_COLL_ALLTOALLW || c == XY_COLL_REDUCE_SCATTER;

                if (((*a)->collectives >> c & 1) == 0 || is_left_out(*a, q.procs))
                    continue;
                if (has_counts)
                    check_counts(*a, &q);
                else
                    check_regular(*a, &q);
            }
}

/* Sizes that do not divide: at most one element more in every message. */
static void test_uneven(void **state)
{
    const xy_coll_link_t *link = &xy_coll_link_default;

    (void)state;
    for (const xy_coll_algorithm_t *const *a = xy_coll_algorithms(); *a != NULL; a++)
        for (int c = 0; c < XY_COLL_COUNT; c++)
            for (int i = 0; testing_procs(i) != 0; i += PROCS_STEP) {
                xy_coll_request_t q = {.collective = (xy_collective_t)c,
                                       .element = 8,
                                       .procs = testing_procs(i),
                                       .count = (*a)->is_direct ? 100003 : 1000003,
                                       .is_commutative = true};
                double cost, count;
                xy_graph_t *g;

                if (((*a)->collectives >> c & 1) == 0 || is_left_out(*a, q.procs) ||
                    c == XY_COLL_ALLTOALLV || c == XY_COLL_ALLTOALLW || c == XY_COLL_GATHERV ||
                    c == XY_COLL_SCATTERV || c == XY_COLL_ALLGATHERV ||
                    c == XY_COLL_REDUCE_SCATTER || !xy_coll_is_applicable(*a, &q))
                    continue;
                assert_int_equal(xy_coll_build(&q, link, *a, &g), XY_OK);
                count = xy_coll_count(g, link);
                cost = (*a)->cost(&q, link);
                if (fabs(cost - count) > 1e-3 * count)
                    fail_at(*a, &q, cost, count);
                xy_graph_destroy(g);
            }
}

/* Trees and chains in pieces, and of other radices: the same holds. */
static void test_pieces(void **state)
{
    (void)state;
    for (const xy_coll_algorithm_t *const *a = xy_coll_algorithms(); *a != NULL; a++)
        for (int k = 0; k < 60; k++) {
            xy_coll_request_t q = {.collective = k % 2 == 0 ? XY_COLL_BCAST : XY_COLL_REDUCE,
                                   .procs = 1 + k * 7 % 40,
                                   .count = (uint64_t)(1 + k * 13 % 97),
                                   .element = 8,
                                   .segment = (uint64_t)(1 + k * 29 % 200),
                                   .radix = k % 7,
                                   .is_commutative = true};

            if (xy_coll_is_applicable(*a, &q) &&
                (strcmp((*a)->name, "chain") == 0 || strcmp((*a)->name, "binary") == 0 ||
                 strcmp((*a)->name, "knomial") == 0 || strcmp((*a)->name, "binomial-high") == 0))
                check(*a, &q, true);
        }
}

/* Messages of trees have the levels of the split-tree model. */
static void test_levels(void **state)
{
    const int trees[] = {XY_COLL_BCAST, XY_COLL_REDUCE, XY_COLL_GATHER, XY_COLL_SCATTER};

    (void)state;
    for (int t = 0; t < 4; t++)
        for (int i = 1; testing_procs(i) != 0; i++) {
            xy_coll_request_t q = {.collective = (xy_collective_t)trees[t],
                                   .element = 1,
                                   .procs = testing_procs(i),
                                   .count = 5,
                                   .is_commutative = true};
            int messages[16] = {0};
            const xy_coll_algorithm_t *a;
            xy_graph_t *g;

            assert_int_equal(xy_coll_choose(&q, links, "binomial", &a), XY_OK);
            assert_int_equal(xy_coll_build(&q, links, a, &g), XY_OK);
            for (int k = 0; k < xy_graph_ops(g); k++) {
                const xy_op_t *op = xy_graph_op(g, k);

                assert_true(op->level > 0 || op->from.rank == op->to.rank);
                messages[op->level]++;
            }
            for (int level = 1; level <= xy_split_height(q.procs, 2); level++)
                assert_int_equal(messages[level], xy_split_messages(q.procs, level, 2));
            xy_graph_destroy(g);
        }
}

static void test_levels_knomial(void **state)
{
    (void)state;
    for (int k = 0; k < 200; k++) {
        xy_coll_request_t q = {.collective = k % 2 == 0 ? XY_COLL_BCAST : XY_COLL_REDUCE,
                               .element = 1,
                               .procs = 2 + k,
                               .count = 5,
                               .radix = 2 + k % 7,
                               .is_commutative = true};
        int messages[16] = {0};
        const xy_coll_algorithm_t *a;
        xy_graph_t *g;

        assert_int_equal(xy_coll_choose(&q, links, "knomial", &a), XY_OK);
        assert_int_equal(xy_coll_build(&q, links, a, &g), XY_OK);
        for (int i = 0; i < xy_graph_ops(g); i++)
            messages[xy_graph_op(g, i)->level]++;
        for (int level = 1; level <= xy_split_height(q.procs, q.radix); level++)
            assert_int_equal(messages[level], xy_split_messages(q.procs, level, q.radix));
        assert_int_equal(messages[0], 0);
        xy_graph_destroy(g);
    }
}

static double bytes_of(const xy_coll_request_t *q)
{
    xy_graph_t *g;
    double bytes = 0;

    assert_int_equal(xy_coll_build(q, &xy_coll_link_default, xy_coll_direct(q->collective), &g),
                     XY_OK);
    for (int32_t id = 0; id < xy_graph_ops(g); id++)
        bytes += (double)xy_graph_op(g, id)->bytes;
    xy_graph_destroy(g);
    return bytes;
}

/* Offloaded, with each rank on a core of its own, nothing goes through what ranks leave: known
 * cores change nothing. */
static void test_spread(void **state)
{
    enum { RANKS = 12 };
    int groups[RANKS];

    (void)state;
    for (int r = 0; r < RANKS; r++)
        groups[r] = r;
    for (int c = 0; c < XY_COLL_COUNT; c++)
        for (uint64_t count = 1; count <= 1 << 16 && xy_coll_is_sized((xy_collective_t)c);
             count *= 4) {
            xy_coll_request_t q = {.collective = (xy_collective_t)c,
                                   .procs = RANKS,
                                   .count = count,
                                   .element = 8,
                                   .is_commutative = true,
                                   .is_offloaded = true};
            double expected = bytes_of(&q);

            q.groups = groups;
            assert_true(bytes_of(&q) == expected);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_is_count),  cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_pieces),         cmocka_unit_test(test_levels),
        cmocka_unit_test(test_levels_knomial), cmocka_unit_test(test_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
