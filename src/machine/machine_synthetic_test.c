/* SPDX-License-Identifier: BSD-3-Clause */
/* Synthetic strings: shapes, numbers as hwloc gives them, and bad ones. */
#include <stdio.h>
#include <string.h>

#include "testing/machine.h"

#if XYLEM_HAVE_HWLOC
#include <hwloc.h>
#endif

static void test_shapes(void **state)
{
    static const struct {
        const char *text;
        uint32_t nodes, packages, cores, leaves, depth;
    } shapes[] = {
        {"numa:2 core:24 pu:2", 0, 0, 48, 96, 4},
        {"node:64 package:2 core:8", 64, 128, 1024, 1024, 4},
        {"64x2x8", 64, 128, 1024, 1024, 4},
        {"64 2 8", 64, 128, 1024, 1024, 4},
        {"8", 0, 0, 8, 8, 2},
        {"2x3x4x5", 6, 24, 120, 120, 5},
        {"site:2 cluster:2 switch:3 switch:2 node:2 socket:1 NUMANode:1 L3Cache:1 L2:2 l1d:1 "
         "Core:1 PU:2",
         48, 48, 96, 192, 13},
        {"  package:2\tcore:3  ", 0, 2, 6, 6, 3},
        {"pack:2 [numa(memory=1GB)][numa] core:2", 0, 2, 4, 4, 5},
        {"Group0:2 die:2 core:1", 0, 0, 4, 4, 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        xy_machine_t *m;

        assert_int_equal(xy_machine_synthetic(shapes[i].text, &m), XY_OK);
        assert_int_equal(xy_machine_count(m, XY_OBJ_NODE), shapes[i].nodes);
        assert_int_equal(xy_machine_count(m, XY_OBJ_PACKAGE), shapes[i].packages);
        assert_int_equal(xy_machine_count(m, XY_OBJ_CORE), shapes[i].cores);
        assert_int_equal(m->leaves, shapes[i].leaves);
        assert_int_equal(m->depth, shapes[i].depth);
        xy_machine_destroy(m);
    }
}

static void test_attributes(void **state)
{
    xy_machine_t *m;
    xy_link_t link;

    (void)state;
    assert_int_equal(xy_machine_synthetic("node:2(latency=1us bandwidth=12.5GB/s) "
                                          "[numa(memory=2GiB)] l3:1(size=20MiB) core:2 "
                                          "pu:2(indexes=0,2,1,3)",
                                          &m),
                     XY_OK);
    link = xy_machine_path(m, m->leaf[0], m->leaf[7]);
    assert_true(link.latency == 2e-6 && link.bandwidth == 12.5e9);
    assert_int_equal(m->bytes[xy_machine_object(m, XY_OBJ_NUMA, 1)], 2ull << 30);
    assert_int_equal(m->bytes[xy_machine_object(m, XY_OBJ_L3, 0)], 20 << 20);
    /* Numbers start again in each node. */
    assert_int_equal(m->physical[m->leaf[1]], 2);
    assert_int_equal(m->physical[m->leaf[5]], 2);
    assert_true(xy_machine_memory(m, 0) == 4ull << 30);
    xy_machine_destroy(m);
}

static void test_bad(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "empty"},
        {"   ", "empty"},
        {"core:1000000000", "1000000000"},
        {"99999999999999999999", "99999999999999999999"},
        {"node:10000 core:10000", "100010001 objects"},
        {"core:0", "above 0"},
        {"core:-1", "above 0"},
        {"core:nan", "above 0"},
        {"core:2.5", "a level ends before"},
        {"core", "above 0"},
        {"cor:2", "did you mean 'core'?"},
        {"machine:2", "no level is called"},
        {"core:2 node:2", "a core cannot hold a node"},
        {"pu:2 pu:2", "a pu cannot hold a pu"},
        {"core:2(memory=)", "no valid value"},
        {"core:2(memory=-1)", "no valid value"},
        {"core:2(latency=nan)", "no valid value"},
        {"core:2(colour=red)", "attributes are"},
        {"core:2(memory", "key=value"},
        {"core:2(", "no ')' closes"},
        {"[core]", "only numa"},
        {"[numa", "no ']' closes"},
        {"core:2 [numa]", "a core cannot hold a numa"},
        {"2 core:2", "some levels have a type"},
        {"core:2 pu:2(indexes=0,1)", "4 numbers"},
        {"core:2 pu:2(indexes=0,1,2,3,4)", "4 numbers"},
        {"core:2 pu:2(indexes=2*3:1*2)", "4 numbers"},
        {"core:4(indexes=)", "4 numbers"},
        {"2xx3", "a level ends before"},
        {"torus:4x", "written 8x8x8"},
        {"torus:0x4", "written 8x8x8"},
        {"mesh:2x2x2x2x2x2x2x2x2", "written 8x8x8"},
        {"torus:4096x4096x2", "written 8x8x8"},
        {"torus:4x4y", "a level ends before"},
        {"torus:4x4(links=2)", "links=2 of a node"},
        {"core:2(links=2)", "links=2 of a core"},
        {"node:2(links=0)", "no valid value"},
        {"core:2 torus:2x2", "a core cannot hold a node"},
        {"toru:2x2", "did you mean 'torus'?"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        xy_machine_t *m = NULL;
        xy_status_t st;

        testing_listen();
        st = xy_machine_synthetic(bad[i].text, &m);
        if (st == XY_OK || strstr(testing_said, bad[i].says) == NULL || testing_said_count != 1)
            fail_msg("%s: status %d, %d messages: %s", bad[i].text, st, testing_said_count,
                     testing_said);
        assert_null(m);
    }
    xy_error_handler_set(NULL, NULL);
}

static void test_faults(void **state)
{
    xy_machine_t *m = NULL;

    (void)state;
    for (long k = 0; testing_fail_next(&k);) {
        assert_null(m);
        assert_null(testing_fail_fault(
            &k, xy_machine_synthetic("node:2(latency=1us) core:3 pu:2(indexes=0,2,4,1,3,5)", &m)));
    }
    xy_machine_destroy(m);
    xy_error_handler_set(NULL, NULL);
}

#if XYLEM_HAVE_HWLOC
static void compare_with_hwloc(const char *text)
{
    hwloc_topology_t t;
    xy_machine_t *m;

    assert_int_equal(hwloc_topology_init(&t), 0);
    assert_int_equal(hwloc_topology_set_synthetic(t, text), 0);
    assert_int_equal(hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL), 0);
    assert_int_equal(hwloc_topology_load(t), 0);
    assert_int_equal(xy_machine_synthetic(text, &m), XY_OK);
    assert_int_equal(m->leaves, hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU));
    for (uint32_t i = 0; i < m->leaves; i++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, i);

        assert_int_equal(m->physical[m->leaf[i]], pu->os_index);
    }
    assert_int_equal(xy_machine_count(m, XY_OBJ_CORE), hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE));
    if (xy_machine_count(m, XY_OBJ_NUMA) > 0) {
        hwloc_obj_t numa = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, 0);

        assert_int_equal(xy_machine_count(m, XY_OBJ_NUMA),
                         hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE));
        if (strstr(text, "memory") != NULL)
            assert_true(m->bytes[xy_machine_object(m, XY_OBJ_NUMA, 0)] ==
                        numa->attr->numanode.local_memory);
    }
    xy_machine_destroy(m);
    hwloc_topology_destroy(t);
}

static void test_like_hwloc(void **state)
{
    static const char *const texts[] = {
        "numa:2 core:24 pu:2",
        "pack:2 core:2 pu:2(indexes=2*4:1*2)",
        "pack:2 core:2 pu:2(indexes=1*4:4*2)",
        "pack:2 core:2 pu:2(indexes=0,2,4,6,1,3,5,7)",
        "pack:2 core:4 pu:2(indexes=8*2:2*4:1*2)",
        "numa:4(memory=1GB) core:2 pu:1",
        "numa:4(memory=3GiB) l2:1(size=256kB) core:2 pu:1",
        "pack:2 [numa(memory=512MB)] core:2 pu:2",
        "socket:2 L3:2 L2:2 L1d:1 Core:1 PU:2",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        compare_with_hwloc(texts[i]);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_faults),
#if XYLEM_HAVE_HWLOC
        cmocka_unit_test(test_like_hwloc),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
