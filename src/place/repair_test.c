/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/repair.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "place/place.h"
#include "testing/base.h"

enum { LEAVES_MAX = 24, PROCESSES_MAX = 3 * LEAVES_MAX };

/* A problem, a wrong answer, and the answer repaired. */
typedef struct {
    xy_problem_t q;
    xy_target_t *target;
    place_graph_t graph;
    uint32_t capacity[LEAVES_MAX], count[LEAVES_MAX];
    uint32_t before[PROCESSES_MAX], after[PROCESSES_MAX];
} case_t;

static void graph_of(xy_matrix_entry_t *entries, size_t count, uint32_t n, place_graph_t *g)
{
    xy_matrix_t *m;

    assert_int_equal(xy_matrix_build(n, entries, count, false, &m), XY_OK);
    assert_int_equal(place_graph_build(m, XY_METRIC_SIZE, g), XY_OK);
    xy_matrix_destroy(m);
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

static void repair(case_t *c)
{
    c->q = (xy_problem_t){
        .n = c->graph.n, .graph = &c->graph, .target = c->target, .capacity = c->capacity};
    memset(c->count, 0, sizeof(c->count));
    for (uint32_t v = 0; v < c->graph.n; v++)
        c->count[c->before[v]]++;
    memcpy(c->after, c->before, sizeof(c->after));
    assert_int_equal(place_repair(&c->q, c->after), XY_OK);
}

static void cleanup(case_t *c)
{
    xy_target_destroy(c->target);
    place_graph_cleanup(&c->graph);
}

/* Up to three processes per leaf on average, and room for all of them. Weights are whole numbers,
 * some of them 0. */
static void random_case(uint64_t *seed, case_t *c)
{
    static const char *const trees[] = {"2x3x4", "4x4", "24", "2x2x2x3", "1x5"};
    xy_matrix_entry_t e[3 * PROCESSES_MAX];
    uint32_t n, room = 0, count = 0;

    c->target = tree(trees[testing_random(seed) % 5]);
    n = 1 + (uint32_t)(testing_random(seed) % (3 * c->target->leaves));
    for (; count < 3 * n; count++)
        e[count] = (xy_matrix_entry_t){(uint32_t)(testing_random(seed) % n),
                                       (uint32_t)(testing_random(seed) % n),
                                       (double)(testing_random(seed) % 1000), 1};
    graph_of(e, count, n, &c->graph);
    for (uint32_t v = 0; v < n; v++)
        c->before[v] = (uint32_t)(testing_random(seed) % c->target->leaves);
    memset(c->capacity, 0, sizeof(c->capacity));
    for (; room < n + testing_random(seed) % 4; room++)
        c->capacity[testing_random(seed) % c->target->leaves]++;
}

/* The traffic between v and the others of its leaf. */
static double inside(const case_t *c, uint32_t v)
{
    const place_graph_t *g = &c->graph;
    double sum = 0;

    for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
        sum += c->before[g->to[k]] == c->before[v] ? g->w[k] : 0;
    return sum;
}

/* No leaf holds too many, and leaves that did not keep what they had. */
static void check_legal(const case_t *c)
{
    uint32_t count[LEAVES_MAX] = {0};

    for (uint32_t v = 0; v < c->graph.n; v++)
        count[c->after[v]]++;
    for (uint32_t leaf = 0; leaf < c->target->leaves; leaf++)
        assert_true(count[leaf] <= c->capacity[leaf]);
    for (uint32_t v = 0; v < c->graph.n; v++)
        if (c->count[c->before[v]] <= c->capacity[c->before[v]])
            assert_int_equal(c->after[v], c->before[v]);
}

/* A leaf that held too many is full now, and one of those that left talked least with the rest:
 * the first. Where it was the only one nothing else can be. */
static void check_least(const case_t *c, uint32_t leaf)
{
    uint32_t left = 0;
    double least = INFINITY, least_left = INFINITY;

    for (uint32_t v = 0; v < c->graph.n; v++) {
        if (c->before[v] != leaf)
            continue;
        least = inside(c, v) < least ? inside(c, v) : least;
        if (c->after[v] == leaf)
            continue;
        left++;
        least_left = inside(c, v) < least_left ? inside(c, v) : least_left;
    }
    assert_int_equal(left, c->count[leaf] - c->capacity[leaf]);
    assert_true(least_left == least);
}

/* The only one that had to move went to the nearest leaf that had room. */
static void check_nearest(const case_t *c)
{
    uint32_t moved = UINT32_MAX, number = 0;

    for (uint32_t v = 0; v < c->graph.n; v++)
        if (c->after[v] != c->before[v]) {
            moved = v;
            number++;
        }
    if (number != 1)
        return;
    for (uint32_t leaf = 0; leaf < c->target->leaves; leaf++)
        if (c->count[leaf] < c->capacity[leaf])
            assert_true(xy_target_hops(c->target, c->before[moved], c->after[moved]) <=
                        xy_target_hops(c->target, c->before[moved], leaf));
}

static void test_what_talks_least_with_its_leaf_is_moved_to_the_nearest(void **state)
{
    uint64_t seed = testing_seed();

    (void)state;
    for (int i = 0; i < 2000; i++) {
        case_t c;

        random_case(&seed, &c);
        repair(&c);
        check_legal(&c);
        for (uint32_t leaf = 0; leaf < c.target->leaves; leaf++)
            if (c.count[leaf] > c.capacity[leaf])
                check_least(&c, leaf);
        check_nearest(&c);
        cleanup(&c);
    }
}

/* Two that talk stay, in whatever order the three are numbered; how much the third talks with
 * others far away does not matter. */
static void test_traffic_with_other_leaves_does_not_hold(void **state)
{
    static const uint32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        const uint32_t *o = orders[i];
        xy_matrix_entry_t e[] = {{o[0], o[1], 10, 1}, {o[2], 3, 100, 1}};
        case_t c = {.target = tree("2x1"), .capacity = {2, 2}, .before = {0, 0, 0, 1}};

        graph_of(e, 2, 4, &c.graph);
        repair(&c);
        assert_int_equal(c.after[o[0]], 0);
        assert_int_equal(c.after[o[1]], 0);
        assert_int_equal(c.after[o[2]], 1);
        cleanup(&c);
    }
}

static void test_parts_get_their_sizes(void **state)
{
    uint64_t seed = testing_seed();

    (void)state;
    for (int i = 0; i < 500; i++) {
        uint64_t room[LEAVES_MAX], count[LEAVES_MAX] = {0};
        case_t c;

        random_case(&seed, &c);
        repair(&c);
        for (uint32_t p = 0; p < c.target->leaves; p++)
            room[p] = c.capacity[p];
        memcpy(c.after, c.before, sizeof(c.after));
        assert_int_equal(place_repair_parts(&c.graph, c.target->leaves, room, c.after), XY_OK);
        check_legal(&c);
        for (uint32_t v = 0; v < c.graph.n; v++)
            count[c.after[v]]++;
        for (uint32_t p = 0; p < c.target->leaves; p++)
            if (c.count[p] > c.capacity[p])
                assert_int_equal(count[p], c.capacity[p]);
        cleanup(&c);
    }
}

/* The vertex that loses least leaves, for the part that it has most to do with. */
static void test_parts_lose_what_costs_least(void **state)
{
    const uint64_t room[] = {2, 2, 2};
    xy_matrix_entry_t e[] = {{0, 1, 10, 1}, {1, 2, 1, 1}, {2, 3, 5, 1}, {0, 4, 3, 1}};
    uint32_t part_of[] = {0, 0, 0, 2, 1};
    place_graph_t g;

    (void)state;
    graph_of(e, 4, 5, &g);
    assert_int_equal(place_repair_parts(&g, 3, room, part_of), XY_OK);
    assert_int_equal(part_of[0], 0);
    assert_int_equal(part_of[1], 0);
    assert_int_equal(part_of[2], 2);
    place_graph_cleanup(&g);
}

static void test_memory_runs_out(void **state)
{
    uint64_t seed = testing_seed();
    const uint64_t room[LEAVES_MAX] = {PROCESSES_MAX};
    case_t c;

    (void)state;
    random_case(&seed, &c);
    repair(&c);
    for (int at = 1; at <= 3; at++) {
        memcpy(c.after, c.before, sizeof(c.after));
        xy_memory_fail_at(at);
        assert_int_equal(place_repair(&c.q, c.after), XY_ENOMEM);
        assert_memory_equal(c.after, c.before, sizeof(c.after));
    }
    for (int at = 1; at <= 2; at++) {
        xy_memory_fail_at(at);
        assert_int_equal(place_repair_parts(&c.graph, c.target->leaves, room, c.after), XY_ENOMEM);
    }
    xy_memory_fail_at(0);
    cleanup(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_talks_least_with_its_leaf_is_moved_to_the_nearest),
        cmocka_unit_test(test_traffic_with_other_leaves_does_not_hold),
        cmocka_unit_test(test_parts_get_their_sizes),
        cmocka_unit_test(test_parts_lose_what_costs_least),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
