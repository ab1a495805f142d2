/* SPDX-License-Identifier: BSD-3-Clause */
/* The live machine through hwloc and through /sys, and hwloc's files. */
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/machine.h"

static bool has_pu(const xy_machine_t *m, uint32_t physical)
{
    for (uint32_t i = 0; i < m->leaves; i++)
        if (m->physical[m->leaf[i]] == physical)
            return true;
    return false;
}

static void test_same_pus(void **state)
{
    xy_machine_t *m, *flat;

    (void)state;
    assert_int_equal(xy_machine_live(&m), XY_OK);
    assert_int_equal(machine_sysfs_live("/sys", true, &flat), XY_OK);
    assert_int_equal(m->leaves, flat->leaves);
    assert_int_equal(xy_machine_usable(m, 0), xy_machine_usable(flat, 0));
    assert_int_equal(xy_machine_count(m, XY_OBJ_NODE), 1);
    for (uint32_t i = 0; i < m->leaves; i++)
        assert_true(has_pu(flat, m->physical[m->leaf[i]]));
    xy_machine_destroy(flat);
    xy_machine_destroy(m);
}

/* Bound to one PU, one leaf is usable and the others say why. */
static void test_affinity(void **state)
{
    cpu_set_t before, one;
    xy_machine_t *m;
    int cpu = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(xy_machine_live(&m), XY_OK);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(xy_machine_usable(m, 0), 1);
    for (uint32_t i = 0; i < m->leaves; i++)
        assert_int_equal((m->flags[m->leaf[i]] & XY_EXCLUDED) != 0,
                         m->physical[m->leaf[i]] != (uint32_t)cpu);
    xy_machine_destroy(m);
}

static void put(const char *root, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Two packages, two cores, two threads; one processor is offline. */
static void make_sys(const char *root)
{
    put(root, "devices/system/cpu/online", "0-6\n");
    for (int cpu = 0; cpu < 8; cpu++) {
        char name[128], value[16];

        snprintf(name, sizeof(name), "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        snprintf(value, sizeof(value), "%d\n", cpu % 2);
        put(root, name, value);
        snprintf(name, sizeof(name), "devices/system/cpu/cpu%d/topology/core_id", cpu);
        snprintf(value, sizeof(value), "%d\n", cpu / 2 % 2);
        put(root, name, value);
    }
}

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *where)
{
    (void)info, (void)flag, (void)where;
    return remove(path);
}

static void test_sysfs(void **state)
{
    static const uint32_t order[] = {0, 4, 2, 6, 1, 5, 3};
    char root[] = "/tmp/xylem-sys-XXXXXX";
    xy_machine_t *m = NULL;
    xy_status_t st = XY_OK;

    (void)state;
    assert_non_null(mkdtemp(root));
    make_sys(root);
    assert_int_equal(machine_sysfs_live(root, false, &m), XY_OK);
    assert_int_equal(xy_machine_count(m, XY_OBJ_PACKAGE), 2);
    assert_int_equal(xy_machine_count(m, XY_OBJ_CORE), 4);
    assert_int_equal(m->leaves, 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(m->physical[m->leaf[i]], order[i]);
    xy_machine_destroy(m);
    testing_listen();
    for (long k = 1;; k++) {
        m = NULL;
        xy_memory_fail_at(k);
        st = machine_sysfs_live(root, false, &m);
        if (!xy_memory_fail_hit())
            break;
        /* A file that cannot be read is like one that is not there. */
        assert_true(st == XY_ENOMEM || (st == XY_OK && m != NULL));
        xy_machine_destroy(m);
    }
    xy_memory_fail_at(0);
    xy_error_handler_set(NULL, NULL);
    xy_machine_destroy(m);
    assert_int_equal(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Nothing there: still a machine. */
static void test_no_sysfs(void **state)
{
    xy_machine_t *m;

    (void)state;
    assert_int_equal(machine_sysfs_live("/nonexistent", false, &m), XY_OK);
    assert_int_equal(m->leaves, sysconf(_SC_NPROCESSORS_ONLN));
    xy_machine_destroy(m);
}

#if XYLEM_HAVE_HWLOC
static xy_machine_t *read_data(const char *name)
{
    char path[512];
    xy_machine_t *m = NULL;

    snprintf(path, sizeof(path), "%s/tests/data/machine/%s", XYLEM_SOURCE_DIR, name);
    assert_int_equal(xy_machine_read(path, &m), XY_OK);
    return m;
}

/* NUMA nodes become a level; two memories of the same cores are nested. */
static void test_hwloc_files(void **state)
{
    xy_machine_t *m = read_data("hwloc-2numa.xml");
    xy_obj_t numa = xy_machine_object(m, XY_OBJ_NUMA, 1);

    (void)state;
    assert_int_equal(xy_machine_count(m, XY_OBJ_NUMA), 2);
    assert_int_equal(m->leaf_count[numa], 8);
    assert_int_equal(m->type[m->parent[numa]], XY_OBJ_PACKAGE);
    xy_machine_destroy(m);
    m = read_data("hwloc-2memories.xml");
    numa = xy_machine_object(m, XY_OBJ_NUMA, 1);
    assert_int_equal(m->type[m->parent[numa]], XY_OBJ_NUMA);
    assert_int_equal(m->leaf_count[numa], m->leaves);
    assert_true(xy_machine_memory(m, 0) == (96ull << 30) + (16ull << 30));
    xy_machine_destroy(m);
    m = read_data("hwloc-gpu.xml");
    assert_int_equal(m->gpu_count, 1);
    assert_string_equal(m->names[m->gpus[0].name], "cuda0");
    assert_true(m->gpus[0].memory == 1024ull * 146800640);
    assert_float_equal(m->gpus[0].in.bandwidth, 63.0e9, 1e6);
    assert_int_equal(m->type[m->gpu_groups[0].host], XY_OBJ_NODE);
    xy_machine_destroy(m);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_pus),
        cmocka_unit_test(test_affinity),
        cmocka_unit_test(test_sysfs),
        cmocka_unit_test(test_no_sysfs),
#if XYLEM_HAVE_HWLOC
        cmocka_unit_test(test_hwloc_files),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
