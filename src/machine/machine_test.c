/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree: its invariants and its answers, against plain references on random machines. */
#include <string.h>

#include "testing/machine.h"

enum { SEEDS = 150 };

static void check_order(const xy_machine_t *m, xy_obj_t o)
{
    uint32_t leaves = 0;

    for (uint32_t i = 0; i < m->child_count[o]; i++) {
        xy_obj_t c = m->first_child[o] + i;

        assert_int_equal(m->parent[c], o);
        assert_true(c > o);
        assert_int_equal(m->level[c], m->level[o] + 1);
        assert_true(machine_type_fits(m->type[o], m->type[c]));
        assert_int_equal(m->first_leaf[c], m->first_leaf[o] + leaves);
        leaves += m->leaf_count[c];
        assert_int_equal(m->flags[o] & XY_EXCLUDED & ~m->flags[c], 0);
    }
    assert_int_equal(m->leaf_count[o], m->child_count[o] == 0 ? 1 : leaves);
    if (m->child_count[o] == 0)
        assert_int_equal(m->leaf[m->first_leaf[o]], o);
    assert_int_equal(xy_machine_object(m, m->type[o], m->logical[o]), o);
    assert_true((m->physical[o] == XY_OBJ_NONE) == !machine_type_is_numbered(m->type[o]));
}

static void test_invariants(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        xy_machine_t *m = random_machine(seed);
        uint32_t walked = 0, usable = 0, next[XY_OBJ_TYPES] = {0};

        for (xy_obj_t o = 0; o < m->count; o++)
            check_order(m, o);
        /* Logical numbers follow tree order, which machine_next walks. */
        for (xy_obj_t o = 0; o != XY_OBJ_NONE; o = machine_next(m, 0, o), walked++)
            assert_int_equal(m->logical[o], next[m->type[o]]++);
        assert_int_equal(walked, m->count);
        for (uint32_t i = 0; i < m->leaves; i++)
            usable += !(m->flags[m->leaf[i]] & XY_EXCLUDED);
        assert_int_equal(usable, xy_machine_usable(m, 0));
        xy_machine_destroy(m);
    }
}

/* Slow and sure: all ancestors of a, then the first of b's among them. */
static xy_obj_t slow_common(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    for (xy_obj_t y = b;; y = m->parent[y])
        for (xy_obj_t x = a; x != XY_OBJ_NONE; x = m->parent[x])
            if (x == y)
                return x;
}

static void check_pair(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    xy_obj_t top = slow_common(m, a, b);
    double latency = 0;
    uint32_t hops = 0;
    xy_link_t path = xy_machine_path(m, a, b), back = xy_machine_path(m, b, a);

    for (int side = 0; side < 2; side++)
        for (xy_obj_t o = side ? b : a; o != top; o = m->parent[o], hops++)
            latency += xy_machine_link(m, o).latency;
    assert_int_equal(xy_machine_common_ancestor(m, a, b), top);
    assert_int_equal(xy_machine_hops(m, a, b), hops);
    assert_true(path.bandwidth == back.bandwidth);
    if (m->route_count == 0)
        assert_true(path.latency > latency * 0.999999 - 1e-15 &&
                    path.latency < latency * 1.000001 + 1e-15);
}

static void test_distances(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        xy_machine_t *m = random_machine(seed);
        uint64_t s = seed;

        for (int i = 0; i < 50; i++)
            check_pair(m, random_below(&s, m->count), random_below(&s, m->count));
        xy_machine_destroy(m);
    }
}

/* The remaining leaves keep their numbers, and two leaves their distance. */
static void check_restriction(const xy_machine_t *m, const xy_bitset_t *set)
{
    xy_machine_t *part;
    size_t from = xy_bitset_next(set, 0), last = from;

    assert_int_equal(xy_machine_restrict(m, set, &part), XY_OK);
    assert_int_equal(part->leaves, xy_bitset_count(set));
    for (uint32_t i = 0; i < part->leaves; i++) {
        xy_obj_t was = m->leaf[from], is = part->leaf[i];

        assert_int_equal(part->type[is], m->type[was]);
        assert_int_equal(part->physical[is], m->physical[was]);
        assert_int_equal(part->flags[is] & XY_EXCLUDED, m->flags[was] & XY_EXCLUDED);
        assert_string_equal(xy_machine_object_name(part, is), xy_machine_object_name(m, was));
        assert_int_equal(xy_machine_hops(part, is, part->leaf[i > 0 ? i - 1 : 0]),
                         xy_machine_hops(m, was, m->leaf[last]));
        last = from;
        from = xy_bitset_next(set, from + 1);
    }
    xy_machine_destroy(part);
}

static void test_restriction(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        xy_machine_t *m = random_machine(seed), *all;
        uint64_t s = seed;
        xy_bitset_t set;

        assert_int_equal(xy_bitset_init(&set, m->leaves), XY_OK);
        for (uint32_t i = 0; i < m->leaves; i++)
            if (random_below(&s, 2))
                xy_bitset_set(&set, i);
        xy_bitset_set(&set, random_below(&s, m->leaves));
        check_restriction(m, &set);
        xy_bitset_cleanup(&set);
        assert_int_equal(xy_machine_subtree(m, 0, &all), XY_OK);
        assert_true(testing_machine_equal(m, all));
        xy_machine_destroy(all);
        xy_machine_destroy(m);
    }
}

static void test_subtree(void **state)
{
    xy_machine_t *m, *part;
    xy_obj_t package;

    (void)state;
    assert_int_equal(xy_machine_synthetic("node:2 package:2 numa:2 core:4 pu:2", &m), XY_OK);
    package = xy_machine_object(m, XY_OBJ_PACKAGE, 3);
    assert_int_equal(xy_machine_subtree(m, package, &part), XY_OK);
    assert_int_equal(part->leaves, 16);
    assert_int_equal(xy_machine_count(part, XY_OBJ_NODE), 0);
    assert_int_equal(part->physical[xy_machine_object(part, XY_OBJ_PACKAGE, 0)], 1);
    assert_int_equal(part->physical[part->leaf[0]], 16);
    assert_int_equal(part->physical[part->leaf[1]], 17);
    assert_int_equal(xy_machine_above(m, m->leaf[63], XY_OBJ_NODE),
                     xy_machine_object(m, XY_OBJ_NODE, 1));
    assert_int_equal(xy_machine_object(m, XY_OBJ_NODE, 2), XY_OBJ_NONE);
    xy_machine_destroy(part);
    xy_machine_destroy(m);
}

/* Identical subtrees have one class; a difference anywhere below separates. */
static void test_fold(void **state)
{
    xy_machine_t *m;
    uint32_t *classes;
    machine_builder_t b;

    (void)state;
    assert_int_equal(machine_builder_init(&b, "m", "test"), XY_OK);
    for (uint32_t i = 0; i < 6; i++) {
        machine_draft_t node = {.type = XY_OBJ_NODE, .physical = XY_OBJ_NONE};
        machine_draft_t core = {.type = XY_OBJ_CORE, .physical = i == 5 ? 7 : XY_OBJ_NONE};
        uint32_t index;

        assert_int_equal(machine_builder_open(&b, &node, &index), XY_OK);
        assert_int_equal(machine_builder_open(&b, &core, &index), XY_OK);
        machine_builder_close(&b);
        assert_int_equal(machine_builder_repeat(&b, index, i == 3 ? 2 : 1), XY_OK);
        machine_builder_close(&b);
    }
    assert_int_equal(machine_builder_finish(&b, &m), XY_OK);
    machine_builder_cleanup(&b);
    assert_int_equal(machine_fold(m, false, &classes), XY_OK);
    assert_int_equal(machine_fold_run(m, classes, 1), 3);
    assert_int_equal(machine_fold_run(m, classes, 4), 1);
    assert_int_equal(machine_fold_run(m, classes, 5), 2);
    xy_free(classes);
    assert_int_equal(machine_fold(m, true, &classes), XY_OK);
    assert_int_equal(machine_fold_run(m, classes, 5), 1);
    xy_free(classes);
    xy_machine_destroy(m);
}

static void test_units(void **state)
{
    char text[48];
    double v;
    uint64_t s = 7;

    (void)state;
    assert_true(machine_parse_bandwidth("10 GB/s", &v) && v == 1e10);
    assert_true(machine_parse_bandwidth("100Gbit/s", &v) && v == 12.5e9);
    assert_true(machine_parse_bandwidth("100Gb/s", &v) && v == 12.5e9);
    assert_true(machine_parse_bandwidth("8 Mb/s", &v) && v == 1e6);
    assert_true(machine_parse_bandwidth("1Tbit/s", &v) && v == 125e9);
    assert_true(machine_parse_bandwidth("10Gbps", &v) && v == 1.25e9);
    assert_true(machine_parse_bandwidth("1KiB/s", &v) && v == 1024);
    assert_true(machine_parse_bandwidth("5B/s", &v) && v == 5);
    assert_true(machine_parse_latency("9.5us", &v) && v > 9.4e-6 && v < 9.6e-6);
    assert_false(machine_parse_bandwidth("0", &v));
    assert_false(machine_parse_bandwidth("-1GB/s", &v));
    assert_false(machine_parse_bandwidth("nan", &v));
    assert_false(machine_parse_bandwidth("inf", &v));
    assert_false(machine_parse_bandwidth("GB/s", &v));
    assert_false(machine_parse_latency("-1us", &v));
    assert_false(machine_parse_latency("nan", &v));
    for (int i = 0; i < 10000; i++) {
        xy_link_t link = random_link(&s);

        assert_true(machine_parse_latency(machine_format_latency(link.latency, text), &v));
        assert_true(v == link.latency);
        if (link.bandwidth > 0) {
            assert_true(
                machine_parse_bandwidth(machine_format_bandwidth(link.bandwidth, text), &v));
            assert_true(v == link.bandwidth);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invariants),  cmocka_unit_test(test_distances),
        cmocka_unit_test(test_restriction), cmocka_unit_test(test_subtree),
        cmocka_unit_test(test_fold),        cmocka_unit_test(test_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
