/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "place/place.h"
#include "place/target_internal.h"
#include "testing/base.h"

static void put(const char *root, int cpu, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "mkdir -p $(dirname %s/devices/system/cpu/cpu%d/%s)", root, cpu,
             name);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d/%s", root, cpu, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

/* Two packages with one node each, which the numbers of processors alternate between; in each two
 * caches of two cores, and each core has two hardware threads (i and i + 8). */
static void make_files(const char *root)
{
    for (int cpu = 0; cpu < 16; cpu++) {
        int core = cpu % 8, package = core % 2, cache = core % 4;
        char text[64];

        snprintf(text, sizeof(text), "%d", package);
        put(root, cpu, "topology/physical_package_id", text);
        put(root, cpu, package ? "node1/cpumap" : "node0/cpumap", "");
        snprintf(text, sizeof(text), "%d,%d", core, core + 8);
        put(root, cpu, "topology/thread_siblings_list", text);
        put(root, cpu, "cache/index0/level", "1");
        put(root, cpu, "cache/index1/level", "3");
        put(root, cpu, "cache/index1/type", "Instruction");
        put(root, cpu, "cache/index2/level", "3");
        put(root, cpu, "cache/index2/type", "Unified");
        snprintf(text, sizeof(text), "%d,%d,%d,%d", cache, cache + 4, cache + 8, cache + 12);
        put(root, cpu, "cache/index2/shared_cpu_list", text);
    }
}

static double distance(const xy_target_t *t, int a, int b)
{
    uint32_t leaf[2] = {0, 0};

    for (uint32_t i = 0; i < t->leaves; i++) {
        if (t->physical[i] == (uint32_t)a)
            leaf[0] = i;
        if (t->physical[i] == (uint32_t)b)
            leaf[1] = i;
    }
    return xy_target_weighted(t, leaf[0], leaf[1]);
}

static void test_files_of_linux(void **state)
{
    char root[] = "/tmp/xylem_target_XXXXXX", command[64];
    int cpus[16];
    xy_target_t *t;

    (void)state;
    assert_non_null(mkdtemp(root));
    make_files(root);
    for (int i = 0; i < 16; i++)
        cpus[i] = 15 - i;
    assert_int_equal(place_target_read(root, cpus, 16, &t), XY_OK);
    assert_int_equal(t->leaves, 16);
    assert_int_equal(t->nodes, 1 + 2 + 4 + 8 + 16);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(t->physical[i], 15 - t->logical[i]);
    assert_true(distance(t, 3, 11) == 2);        /* threads of a core */
    assert_true(distance(t, 3, 7) == 2 * 11);    /* of a cache */
    assert_true(distance(t, 3, 1) == 2 * 111);   /* of a package */
    assert_true(distance(t, 3, 12) == 2 * 1111); /* of the machine */
    xy_target_destroy(t);
    /* One thread of each core, and of one package one core only. */
    assert_int_equal(place_target_read(root, (int[]){0, 1, 3, 5, 7}, 5, &t), XY_OK);
    assert_int_equal(t->nodes, 1 + 2 + 2 + 4);
    assert_true(distance(t, 1, 5) == 2);
    assert_true(distance(t, 1, 3) == 22);
    assert_true(distance(t, 0, 3) == 222);
    xy_target_destroy(t);
    assert_int_equal(place_target_read(root, (int[]){6}, 1, &t), XY_OK);
    assert_int_equal(t->nodes, 1);
    xy_target_destroy(t);
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void test_unknown_processors_are_alike(void **state)
{
    xy_target_t *t;

    (void)state;
    assert_int_equal(xy_target_live(NULL, 7, &t), XY_OK);
    assert_int_equal(t->nodes, 8);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(t->logical[i], i);
    xy_target_destroy(t);
    assert_int_equal(xy_target_live((int[]){0}, 1, &t), XY_OK);
    assert_int_equal(t->leaves, 1);
    xy_target_destroy(t);
}

/* Three cores of one host, one of which is named twice, and two of another, in any order. */
static void test_hosts_are_a_level(void **state)
{
    const xy_target_cpu_t cpus[] = {
        {.host = 1, .cpu = 4, .shares = {0, 0, 0, 4, 4}}, {.host = 0, .cpu = 0, .shares = {0}},
        {.host = 0, .cpu = 8, .shares = {1, 1, 8, 8, 8}}, {.host = 1, .cpu = 0, .shares = {0}},
        {.host = 0, .cpu = 8, .shares = {1, 1, 8, 8, 8}},
    };
    xy_target_t *t;

    (void)state;
    assert_int_equal(xy_target_hosts(cpus, 5, &t), XY_OK);
    assert_int_equal(t->leaves, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(t->host[i], i >= 3);
        assert_int_equal(t->host[i], cpus[t->logical[i]].host);
        assert_int_equal(t->physical[i], cpus[t->logical[i]].cpu);
    }
    /* The same core, the same host, another host. */
    assert_int_equal(t->physical[1], 8);
    assert_int_equal(t->physical[2], 8);
    assert_true(xy_target_hops(t, 1, 2) < xy_target_hops(t, 0, 1));
    assert_true(xy_target_hops(t, 0, 1) < xy_target_hops(t, 0, 3));
    assert_true(xy_target_weighted(t, 3, 4) < xy_target_weighted(t, 2, 3));
    assert_int_equal(t->numa[0], 0);
    assert_int_equal(t->numa[2], 1);
    assert_int_equal(t->numa[4], 2);
    xy_target_destroy(t);
    assert_int_equal(xy_target_cpu(0).host, 0);
    assert_int_equal(xy_target_cpu(0).cpu, 0);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    testing_listen();
    for (long k = 1;; k++) {
        xy_target_t *t = NULL;
        xy_status_t st;

        xy_memory_fail_at(k);
        st = xy_target_live(NULL, 3, &t);
        if (!xy_memory_fail_hit()) {
            xy_target_destroy(t);
            break;
        }
        assert_int_equal(st, XY_ENOMEM);
        assert_null(t);
    }
    xy_memory_fail_at(0);
}

/* Leaves that may run none, one or several: none runs more, and the documented properties of costs
 * hold. */
static void check_capacities(uint64_t seed)
{
    xy_matrix_entry_t e[600];
    uint32_t capacity[24], used[24] = {0}, n = 0;
    xy_place_options_t o = {.capacity = capacity, .seed = seed};
    xy_machine_t *machine;
    xy_target_t *t;
    xy_matrix_t *m;
    xy_place_t *p;
    uint64_t random = seed;

    for (int i = 0; i < 24; i++)
        n += capacity[i] = (uint32_t)(testing_random(&random) % 5);
    if (n == 0)
        n = capacity[3] = 1;
    if (seed % 3 == 0 && n > 5) /* more room than processes */
        n -= 4;
    for (int i = 0; i < 600; i++)
        e[i] = (xy_matrix_entry_t){(uint32_t)(testing_random(&random) % n),
                                   (uint32_t)(testing_random(&random) % n), 1, 1};
    assert_int_equal(xy_matrix_build(n, e, 200 + seed % 400, false, &m), XY_OK);
    assert_int_equal(xy_machine_synthetic("node:2 package:3 core:4", &machine), XY_OK);
    assert_int_equal(xy_target_create(machine, NULL, &t), XY_OK);
    assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
    for (uint32_t i = 0; i < n; i++)
        used[p->leaf_of[i]]++;
    for (int i = 0; i < 24; i++)
        assert_true(used[i] <= capacity[i]);
    xy_place_destroy(p);
    xy_target_destroy(t);
    xy_machine_destroy(machine);
    xy_matrix_destroy(m);
}

static void test_capacities_are_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 8 : 60); seed++)
        check_capacities(seed);
}

static void test_too_little_room_is_said(void **state)
{
    uint32_t capacity[3] = {1, 0, 1};
    xy_place_options_t o = {.capacity = capacity};
    xy_matrix_t *m;
    xy_target_t *t;
    xy_place_t *p;

    (void)state;
    testing_listen();
    assert_int_equal(xy_matrix_build(3, NULL, 0, false, &m), XY_OK);
    assert_int_equal(xy_target_live(NULL, 3, &t), XY_OK);
    assert_int_equal(xy_place_compute(m, t, &o, &p), XY_EINVAL);
    assert_string_equal(testing_said, "3 processes do not fit on leaves that may run 2");
    xy_target_destroy(t);
    xy_matrix_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_linux),
        cmocka_unit_test(test_unknown_processors_are_alike),
        cmocka_unit_test(test_hosts_are_a_level),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_capacities_are_kept),
        cmocka_unit_test(test_too_little_room_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
