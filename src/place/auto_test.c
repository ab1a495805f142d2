/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "place/place.h"
#include "testing/base.h"

/* A regular tree of one to four levels without some leaves; every third tree is whole. */
static xy_target_t *random_tree(uint64_t *seed, uint32_t most)
{
    uint64_t levels = 1 + testing_random(seed) % 4, kept = 1 + testing_random(seed) % 3;
    char text[64] = "";
    uint32_t leaves = 1;
    xy_machine_t *whole, *m;
    xy_bitset_t set;
    xy_target_t *t;

    for (uint64_t l = 0; l < levels; l++) {
        uint32_t arity = 2 + (uint32_t)(testing_random(seed) % 6);

        if ((leaves *= arity) > most)
            leaves /= arity, arity = 1;
        sprintf(text + strlen(text), "%s%u", l > 0 ? "x" : "", arity);
    }
    assert_int_equal(xy_machine_load(text, &whole), XY_OK);
    assert_int_equal(xy_bitset_init(&set, whole->leaves), XY_OK);
    for (uint32_t i = 0; i < whole->leaves; i++)
        if (i == 0 || kept == 3 || testing_random(seed) % (1 + kept) != 0)
            xy_bitset_set(&set, i);
    assert_int_equal(xy_machine_restrict(whole, &set, &m), XY_OK);
    assert_int_equal(xy_target_create(m, NULL, &t), XY_OK);
    xy_bitset_cleanup(&set);
    xy_machine_destroy(whole);
    xy_machine_destroy(m);
    return t;
}

static uint32_t below(uint64_t *seed, uint32_t n)
{
    return (uint32_t)(testing_random(seed) % n);
}

/* Blocks that talk among themselves, a grid with its faces, or anything; relabelled or not. */
static xy_matrix_t *random_pattern(uint64_t *seed, uint32_t n)
{
    uint32_t kind = below(seed, 4), block = 2 + below(seed, 5), wide = 1 + below(seed, 8);
    uint32_t *label = malloc((size_t)n * sizeof(*label)), count = 0;
    xy_matrix_entry_t *e = malloc((size_t)n * 10 * sizeof(*e));
    uint64_t shuffle = testing_random(seed);
    xy_matrix_t *m;

    assert_true(label != NULL && e != NULL);
    for (uint32_t i = 0; i < n; i++)
        label[i] = i;
    if (below(seed, 2) == 0)
        place_shuffle(label, n, &shuffle);
    for (uint32_t i = 0; i < n; i++) {
        if (kind <= 1)
            for (uint32_t j = i + 1; j < n && j / block == i / block; j++)
                e[count++] = (xy_matrix_entry_t){label[i], label[j], 1000, 1};
        if (kind == 1)
            e[count++] = (xy_matrix_entry_t){label[i], label[(i + 1) % n], 1 + below(seed, 100), 1};
        if (kind == 2 && i % wide + 1 < wide && i + 1 < n)
            e[count++] = (xy_matrix_entry_t){label[i], label[i + 1], 100, 1};
        if (kind == 2 && i + wide < n)
            e[count++] = (xy_matrix_entry_t){label[i], label[i + wide], 100, 1};
        for (uint32_t k = 0; kind == 3 && k < wide; k++)
            e[count++] = (xy_matrix_entry_t){i, below(seed, n), below(seed, 1000), 1};
    }
    assert_int_equal(xy_matrix_build(n, e, count, false, &m), XY_OK);
    free(label);
    free(e);
    return m;
}

static double cost_by(const char *strategy, const xy_matrix_t *m, const xy_target_t *t,
                      xy_objective_t objective)
{
    xy_place_options_t o = {.strategy = strategy, .objective = objective, .seed = 1};
    xy_place_t *p;
    double cost;

    assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
    cost = objective == XY_OBJECTIVE_HOPS ? p->cost.hop_bytes : p->cost.weighted;
    xy_place_destroy(p);
    return cost;
}

/* Fewer processes than leaves, as many, or more. */
static uint32_t random_count(uint64_t *seed, uint32_t leaves)
{
    switch (below(seed, 4)) {
    case 0:
        return leaves;
    case 1:
        return leaves + 1 + below(seed, 2 * leaves);
    default:
        return 1 + below(seed, leaves);
    }
}

/* Up to so many processes all strategies of the table are asked, those of the libraries where they
 * are there. */
enum { ALL_MAX = 4096 };

/* Returns whether the default is better than each of them: by its exchanges. */
static bool check_all(const xy_matrix_t *m, const xy_target_t *t, xy_objective_t objective)
{
    double cost = cost_by(NULL, m, t, objective), best = INFINITY;

    for (int s = 1; xy_strategies[s] != NULL; s++)
        if (xy_strategy_is_available(xy_strategies[s]) &&
            (xy_strategies[s]->limit == 0 || m->n <= xy_strategies[s]->limit))
            best = fmin(best, cost_by(xy_strategies[s]->name, m, t, objective));
    assert_true(cost <= best * (1 + 1e-12));
    return cost < best * (1 - 1e-9);
}

static void check_large(const xy_matrix_t *m, const xy_target_t *t)
{
    static const char *const never[] = {"packed", "round-robin", "treematch", "bisection"};
    static const char *const hardly[] = {"scotch", "metis"};
    double cost = cost_by(NULL, m, t, XY_OBJECTIVE_WEIGHTED);

    for (int i = 0; i < 4; i++)
        assert_true(cost <= cost_by(never[i], m, t, XY_OBJECTIVE_WEIGHTED) * (1 + 1e-12));
    for (int i = 0; i < 2; i++) {
        const xy_strategy_t *s;

        assert_int_equal(xy_strategy_find(hardly[i], &s), XY_OK);
        if (xy_strategy_is_available(s))
            assert_true(cost <= 1.02 * cost_by(hardly[i], m, t, XY_OBJECTIVE_WEIGHTED));
    }
}

/* How many leaves case i may have. */
static uint32_t most_leaves(uint64_t i)
{
    if (testing_is_soak() && i % 500 == 0)
        return 3000;
    return i % 50 > 0 ? 36 : testing_is_soak() ? 500 : 200;
}

static void test_no_strategy_is_better_than_the_default(void **state)
{
    uint64_t cases = testing_is_soak() ? 20000 : XYLEM_SANITIZED ? 30 : 300;

    (void)state;
    for (uint64_t i = 1; i <= cases; i++) {
        uint64_t seed = i * 7919;
        xy_target_t *t = random_tree(&seed, most_leaves(i));
        xy_matrix_t *m = random_pattern(&seed, random_count(&seed, t->leaves));

        if (m->n > ALL_MAX)
            check_large(m, t);
        else
            check_all(m, t, i % 2 == 0 ? XY_OBJECTIVE_HOPS : XY_OBJECTIVE_WEIGHTED);
        xy_matrix_destroy(m);
        xy_target_destroy(t);
    }
}

static xy_target_t *tree(const char *text)
{
    xy_machine_t *machine;
    xy_target_t *t;

    assert_int_equal(xy_machine_load(text, &machine), XY_OK);
    assert_int_equal(xy_target_create(machine, NULL, &t), XY_OK);
    xy_machine_destroy(machine);
    return t;
}

/* Processes that all talk to two others at random, several on each core: what no strategy cuts well
 * is made cheaper by the last exchanges, in about four of five cases. */
static void test_exchanges_make_the_best_answer_cheaper(void **state)
{
    enum { CASES = XYLEM_SANITIZED ? 5 : 10, N = 90 };
    xy_target_t *t = tree("4x3x3");
    int better = 0;

    (void)state;
    for (uint64_t i = 1; i <= CASES; i++) {
        uint64_t seed = i * 7919;
        xy_matrix_entry_t e[2 * N];
        xy_matrix_t *m;

        for (uint32_t k = 0; k < 2 * N; k++)
            e[k] = (xy_matrix_entry_t){k / 2, below(&seed, N), 1 + below(&seed, 1000), 1};
        assert_int_equal(xy_matrix_build(N, e, 2 * N, false, &m), XY_OK);
        better += check_all(m, t, i % 2 == 0 ? XY_OBJECTIVE_HOPS : XY_OBJECTIVE_WEIGHTED);
        xy_matrix_destroy(m);
    }
    assert_true(better >= CASES / 2);
    xy_target_destroy(t);
}

/* Full trees, trees with room to spare, and cores that are shared. */
static void check_large_case(uint64_t i)
{
    static const struct {
        const char *tree;
        uint32_t n;
    } cases[] = {{"17x2x128", 4352}, {"100x2x25", 4500}, {"8x6x50", 5000},  {"90x60", 5400},
                 {"40x3x40", 4700},  {"7x7x7x14", 4802}, {"30x50x2", 4200}, {"25x4x20", 4600}};
    size_t k = i % (sizeof(cases) / sizeof(cases[0]));
    uint64_t seed = i * 104729;
    xy_target_t *t = tree(cases[k].tree);
    xy_matrix_t *m = random_pattern(&seed, cases[k].n);

    check_large(m, t);
    xy_matrix_destroy(m);
    xy_target_destroy(t);
}

static void test_large_ones_are_nearly_the_best(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= (testing_is_soak() ? 100 : XYLEM_SANITIZED ? 0 : 3); i++)
        check_large_case(i);
}

/* Processes in a strip, `wide` of them abreast, relabelled. */
static xy_matrix_t *strip(uint32_t n, uint32_t wide)
{
    uint32_t *label = malloc((size_t)n * sizeof(*label)), count = 0;
    xy_matrix_entry_t *e = malloc((size_t)n * 2 * sizeof(*e));
    uint64_t seed = 3;
    xy_matrix_t *m;

    if (label == NULL || e == NULL)
        abort();
    place_shuffle(label, n, &seed);
    for (uint32_t i = 0; i < n; i++) {
        if (i % wide + 1 < wide && i + 1 < n)
            e[count++] = (xy_matrix_entry_t){label[i], label[i + 1], 100, 1};
        if (i + wide < n)
            e[count++] = (xy_matrix_entry_t){label[i], label[i + wide], 100, 1};
    }
    assert_int_equal(xy_matrix_build(n, e, count, false, &m), XY_OK);
    free(label);
    free(e);
    return m;
}

/* A strip that is cut across costs no more than what its ends cost in every group: at most `wide`
 * edges and one more, twice where a group is the end of two of the tree's cuts. */
static void test_what_is_long_and_thin_is_cut_across(void **state)
{
    static const struct {
        const char *tree;
        uint32_t n, wide;
        double most;
    } cases[] = {{"40x3x40", 4700, 1, 1957800}, {"17x2x128", 4352, 5, 4000000}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        xy_target_t *t = tree(cases[i].tree);
        xy_matrix_t *m = strip(cases[i].n, cases[i].wide);

        assert_true(cost_by("multisection", m, t, XY_OBJECTIVE_WEIGHTED) <= cases[i].most);
        xy_matrix_destroy(m);
        xy_target_destroy(t);
    }
}

/* Scotch by several threads finds other placements from one time to the next. */
static void test_scotch_finds_the_same_again(void **state)
{
    const xy_strategy_t *s;
    xy_target_t *t = tree("17x2x128");
    xy_matrix_t *m = strip(4352, 5);
    double cost;

    (void)state;
    assert_int_equal(xy_strategy_find("scotch", &s), XY_OK);
    if (xy_strategy_is_available(s) && !XYLEM_SANITIZED) {
        cost = cost_by("scotch", m, t, XY_OBJECTIVE_WEIGHTED);
        for (int i = 0; i < 3; i++)
            assert_true(cost_by("scotch", m, t, XY_OBJECTIVE_WEIGHTED) == cost);
    }
    xy_matrix_destroy(m);
    xy_target_destroy(t);
}

/* Three pairs on three groups of three cores: each pair has a group for itself. */
static void test_cores_are_left_empty_where_that_helps(void **state)
{
    static const char *const strategies[] = {"auto", "multisection"};
    xy_target_t *t = tree("3x3");
    xy_matrix_entry_t e[] = {{0, 1, 1, 1}, {1, 0, 1, 1}, {2, 3, 1, 1},
                             {3, 2, 1, 1}, {4, 5, 1, 1}, {5, 4, 1, 1}};
    xy_matrix_t *m;

    (void)state;
    assert_int_equal(xy_matrix_build(6, e, 6, false, &m), XY_OK);
    for (int i = 0; i < 2; i++)
        assert_true(cost_by(strategies[i], m, t, XY_OBJECTIVE_WEIGHTED) == 12);
    xy_matrix_destroy(m);
    xy_target_destroy(t);
}

static void test_the_winner_is_named(void **state)
{
    xy_target_t *t = tree("3x3");
    xy_matrix_entry_t e[] = {{0, 1, 1, 1}};
    xy_place_options_t o = {.seed = 1};
    xy_matrix_t *m;
    xy_place_t *p;

    (void)state;
    assert_int_equal(xy_matrix_build(2, e, 1, false, &m), XY_OK);
    assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
    assert_string_equal(p->strategy, "auto");
    assert_string_equal(p->winner, "multisection"); /* the first of equals */
    xy_place_destroy(p);
    o.strategy = "packed";
    assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
    assert_string_equal(p->winner, "packed");
    xy_place_destroy(p);
    xy_matrix_destroy(m);
    xy_target_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_strategy_is_better_than_the_default),
        cmocka_unit_test(test_exchanges_make_the_best_answer_cheaper),
        cmocka_unit_test(test_large_ones_are_nearly_the_best),
        cmocka_unit_test(test_what_is_long_and_thin_is_cut_across),
        cmocka_unit_test(test_scotch_finds_the_same_again),
        cmocka_unit_test(test_cores_are_left_empty_where_that_helps),
        cmocka_unit_test(test_the_winner_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
