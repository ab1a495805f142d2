/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways through fat trees, tori and random machines: properties of all pairs. */
#include <string.h>

#include "testing/machine.h"

typedef struct {
    xy_wire_t wires[256];
    uint32_t count;
} way_t;

static void add_wire(void *context, const xy_wire_t *wire)
{
    way_t *way = context;

    assert_true(way->count < 256);
    way->wires[way->count++] = *wire;
}

static way_t way_between(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    way_t way = {.count = 0};

    xy_machine_route(m, a, b, add_wire, &way);
    return way;
}

static xy_machine_t *load(const char *text)
{
    xy_machine_t *m;

    assert_int_equal(xy_machine_synthetic(text, &m), XY_OK);
    return m;
}

static xy_obj_t node(const xy_machine_t *m, uint32_t i)
{
    return xy_machine_object(m, XY_OBJ_NODE, i);
}

/* Latency and bandwidth of a way are those of the path, and both directions are as long. */
static void check_way(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    way_t way = way_between(m, a, b), back = way_between(m, b, a);
    xy_link_t path = xy_machine_path(m, a, b);
    double latency = 0, bandwidth = 0;

    assert_int_equal(way.count, back.count);
    assert_int_equal(xy_machine_hops(m, a, b), xy_machine_hops(m, b, a));
    for (uint32_t i = 0; i < way.count; i++) {
        xy_link_t link = way.wires[i].link;

        latency += link.latency;
        if (link.bandwidth > 0 && (bandwidth == 0 || link.bandwidth < bandwidth))
            bandwidth = link.bandwidth;
    }
    if (m->route_count > 0)
        return;
    assert_true(latency >= path.latency * 0.999999 && latency <= path.latency * 1.000001);
    assert_true(bandwidth == path.bandwidth);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        xy_machine_t *m = random_machine(seed);
        uint64_t s = seed;

        for (int i = 0; i < 50; i++)
            check_way(m, random_below(&s, m->count), random_below(&s, m->count));
        xy_machine_destroy(m);
    }
}

/* The way up and down: one link per level, by the number of the destination modulo its links. */
static void test_tree(void **state)
{
    xy_machine_t *m = load("switch:3(links=4 latency=2us bandwidth=5GB/s) "
                           "switch:2(links=2 latency=1us bandwidth=5GB/s) "
                           "node:4(latency=1us bandwidth=10GB/s) core:2");
    way_t way = way_between(m, m->leaf[2 * 1], m->leaf[2 * 15 + 1]);

    (void)state;
    assert_int_equal(way.count, 2 * 4); /* core, node, two switches on each side */
    for (uint32_t i = 0; i < way.count; i++) {
        const xy_wire_t *w = &way.wires[i];

        assert_int_equal(w->kind, XY_WIRE_LINK);
        assert_int_equal(w->direction, i >= 4);
        assert_int_equal(w->number, 15 % xy_machine_parallel(m, w->owner));
    }
    assert_int_equal(way.wires[1].owner, node(m, 1));
    assert_int_equal(way.wires[6].owner, node(m, 15));
    for (uint32_t a = 0; a < 24; a++)
        for (uint32_t b = 0; b < 24; b++)
            check_way(m, node(m, a), node(m, b));
    xy_machine_destroy(m);
}

/* How many of the messages i -> (i + shift) mod n cross each link. */
static uint32_t busiest(const xy_machine_t *m, uint32_t shift)
{
    uint32_t n = xy_machine_count(m, XY_OBJ_NODE), most = 0;
    uint32_t *load = xy_calloc((size_t)m->count * 64 * 2, sizeof(*load));

    for (uint32_t i = 0; i < n; i++) {
        way_t way = way_between(m, node(m, i), node(m, (i + shift) % n));

        for (uint32_t k = 0; k < way.count; k++) {
            const xy_wire_t *w = &way.wires[k];
            uint32_t *l = &load[(w->owner * 64 + w->number) * 2 + w->direction];

            most = ++*l > most ? *l : most;
        }
    }
    xy_free(load);
    return most;
}

/* A full fat tree carries every shift without a collision; one with half of its links, which has
 * two messages for each, does not carry a third; and parallel links get equal shares of all pairs.
 */
static void test_balance(void **state)
{
    xy_machine_t *full = load("switch:4(links=16 bandwidth=1GB/s) "
                              "switch:4(links=4 bandwidth=1GB/s) node:4(bandwidth=1GB/s)"),
                 *half = load("switch:4(links=8 bandwidth=1GB/s) node:16(bandwidth=1GB/s)");
    uint32_t load_of[8] = {0};

    (void)state;
    for (uint32_t shift = 1; shift < 64; shift++) {
        assert_int_equal(busiest(full, shift), 1);
        assert_true(busiest(half, shift) <= 2);
    }
    for (uint32_t a = 0; a < 16; a++)
        for (uint32_t b = 16; b < 64; b++)
            load_of[way_between(half, node(half, a), node(half, b)).wires[1].number]++;
    for (int i = 0; i < 8; i++)
        assert_int_equal(load_of[i], 16 * 48 / 8);
    xy_machine_destroy(full);
    xy_machine_destroy(half);
}

/* Steps between two cells, dimension by dimension, as coordinates say. */
static uint32_t distance(const uint32_t *size, int dimensions, bool is_torus, uint32_t a,
                         uint32_t b)
{
    uint32_t sum = 0;

    for (int d = 0; d < dimensions; d++) {
        uint32_t x = a % size[d], y = b % size[d], gap = x > y ? x - y : y - x;

        sum += is_torus && size[d] - gap < gap ? size[d] - gap : gap;
        a /= size[d];
        b /= size[d];
    }
    return sum;
}

/* Every way is a shortest one, of neighbours, in the order of dimensions, and ends where it should.
 */
static void check_grid(const char *text, const uint32_t *size, int dimensions, bool is_torus)
{
    xy_machine_t *m = load(text);
    uint32_t n = xy_machine_count(m, XY_OBJ_NODE);

    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            way_t way = way_between(m, node(m, a), node(m, b));
            uint32_t at = a, last = 0, steps = 0;

            for (uint32_t i = 0; i < way.count; i++) {
                const xy_wire_t *w = &way.wires[i];
                uint32_t cell = w->number / (uint32_t)dimensions, stride = 1, x, next;
                uint32_t d = w->number % (uint32_t)dimensions;

                if (w->kind != XY_WIRE_GRID)
                    continue; /* the node's own link, of which nothing is known */
                for (uint32_t k = 0; k < d; k++)
                    stride *= size[k];
                x = cell / stride % size[d];
                next = cell - x * stride + (x + 1) % size[d] * stride;
                assert_true(d >= last);
                assert_true(is_torus || x + 1 < size[d]);
                assert_int_equal(at, w->direction ? next : cell);
                at = w->direction ? cell : next;
                last = d;
                steps++;
            }
            assert_int_equal(at, b);
            assert_int_equal(steps, distance(size, dimensions, is_torus, a, b));
            assert_int_equal(xy_machine_hops(m, node(m, a), node(m, b)), steps);
            check_way(m, node(m, a), node(m, b));
        }
    xy_machine_destroy(m);
}

static void test_grids(void **state)
{
    (void)state;
    check_grid("torus:5x3x2(latency=1us bandwidth=1GB/s)", (uint32_t[]){5, 3, 2}, 3, true);
    check_grid("torus:4x4(latency=1us bandwidth=1GB/s)", (uint32_t[]){4, 4}, 2, true);
    check_grid("mesh:3x4x2(latency=1us bandwidth=1GB/s)", (uint32_t[]){3, 4, 2}, 3, false);
    check_grid("torus:1x7(latency=1us bandwidth=1GB/s)", (uint32_t[]){1, 7}, 2, true);
}

/* A part of a torus keeps its cells, and a part of a tree the numbers of its nodes: the ways that
 * are left are the same. */
static void check_part(const char *text)
{
    xy_machine_t *m = load(text), *part, *again;
    uint64_t s = 7;
    xy_bitset_t set;
    char *xml = NULL;
    size_t size;
    FILE *file = open_memstream(&xml, &size);

    assert_int_equal(xy_bitset_init(&set, m->leaves), XY_OK);
    for (uint32_t i = 0; i < m->leaves; i++)
        if (random_below(&s, 2))
            xy_bitset_set(&set, i);
    assert_int_equal(xy_machine_restrict(m, &set, &part), XY_OK);
    assert_int_equal(xy_machine_print_xml(part, file), XY_OK);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(xy_machine_parse(xml, size, "part", &again), XY_OK);
    assert_true(testing_machine_equal(part, again));
    for (uint32_t i = 0, a = (uint32_t)xy_bitset_next(&set, 0); i + 1 < part->leaves; i++) {
        uint32_t b = (uint32_t)xy_bitset_next(&set, a + 1);
        way_t was = way_between(m, m->leaf[a], m->leaf[b]);
        way_t is = way_between(again, again->leaf[i], again->leaf[i + 1]);

        assert_int_equal(was.count, is.count);
        for (uint32_t k = 0; k < is.count; k++)
            assert_true(was.wires[k].kind == is.wires[k].kind &&
                        was.wires[k].number == is.wires[k].number &&
                        was.wires[k].direction == is.wires[k].direction);
        a = b;
    }
    free(xml);
    xy_bitset_cleanup(&set);
    xy_machine_destroy(m);
    xy_machine_destroy(part);
    xy_machine_destroy(again);
}

static void test_parts(void **state)
{
    (void)state;
    check_part("torus:4x4x2(latency=1us bandwidth=1GB/s) core:2");
    check_part("cluster:2 mesh:3x3(latency=1us bandwidth=1GB/s) core:2");
    check_part("switch:4(links=3 latency=1us bandwidth=1GB/s) node:5(latency=1us) core:1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_tree),  cmocka_unit_test(test_balance),
        cmocka_unit_test(test_grids),  cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
