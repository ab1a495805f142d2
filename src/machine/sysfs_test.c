/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include "machine/sysfs.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "testing/base.h"

static char root[] = "/tmp/xylem_sysfs_XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/devices/system/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Processor 2: node 1, second thread 6, the second level shared with 0, no third level. */
static int make_files(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    put("cpu/online", "0-3,6\n");
    put("cpu/cpu2/node1/cpumap", "");
    put("cpu/cpu2/topology/thread_siblings_list", "2,6\n");
    put("cpu/cpu2/topology/core_id", "-1\n");
    put("cpu/cpu2/cache/index0/level", "2\n");
    put("cpu/cpu2/cache/index0/type", "Instruction\n");
    put("cpu/cpu2/cache/index0/shared_cpu_list", "2\n");
    put("cpu/cpu2/cache/index1/level", "2\n");
    put("cpu/cpu2/cache/index1/type", "Unified\n");
    put("cpu/cpu2/cache/index1/shared_cpu_list", "0-2,4\n");
    put("node/online", "\n");
    return 0;
}

static int remove_files(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", root);
    return system(command);
}

static void test_files(void **state)
{
    char text[XY_SYSFS_TEXT_MAX];
    xy_bitset_t set;

    (void)state;
    assert_int_equal(xy_bitset_init(&set, 64), XY_OK);
    xy_bitset_set(&set, 9); /* forgotten */
    assert_true(xy_sysfs_list(root, &set, "cpu/online"));
    assert_int_equal(xy_bitset_count(&set), 5);
    assert_true(xy_bitset_has(&set, 6) && !xy_bitset_has(&set, 9));
    assert_false(xy_sysfs_list(root, &set, "node/online"));
    assert_int_equal(xy_bitset_count(&set), 0);
    assert_false(xy_sysfs_list(root, &set, "cpu/cpu%d/absent", 2));
    assert_true(xy_sysfs_text(root, text, "cpu/cpu%d/cache/index%d/type", 2, 1));
    assert_string_equal(text, "Unified");
    assert_false(xy_sysfs_text(root, text, "cpu/cpu3/cache/index1/type"));
    assert_int_equal(xy_sysfs_number(root, 7, "cpu/cpu2/cache/index1/level"), 2);
    assert_int_equal(xy_sysfs_number(root, 7, "cpu/cpu2/topology/core_id"), 7);
    assert_int_equal(xy_sysfs_number(root, 7, "cpu/cpu2/cache/index1/type"), 7);
    assert_int_equal(xy_sysfs_number(root, 7, "cpu/cpu3/absent"), 7);
    xy_bitset_cleanup(&set);
}

static void test_processors(void **state)
{
    xy_bitset_t allowed;

    (void)state;
    assert_int_equal(xy_sysfs_node(root, 2), 1);
    assert_int_equal(xy_sysfs_node(root, 3), 0);
    assert_int_equal(xy_sysfs_cache(root, 2, 2), 0);
    put("cpu/cpu2/cache/index1/shared_cpu_list", "1-2\n");
    assert_int_equal(xy_sysfs_cache(root, 2, 2), 1);
    assert_int_equal(xy_sysfs_cache(root, 2, 3), 0);
    assert_int_equal(xy_bitset_init(&allowed, 64), XY_OK);
    xy_bitset_set(&allowed, 2);
    assert_int_equal(xy_sysfs_sibling(root, 2, &allowed), -1);
    xy_bitset_set(&allowed, 6);
    assert_int_equal(xy_sysfs_sibling(root, 2, &allowed), 6);
    assert_int_equal(xy_sysfs_sibling(root, 3, &allowed), -1);
    xy_bitset_cleanup(&allowed);
}

static void test_allowed(void **state)
{
    xy_bitset_t set;
    cpu_set_t mask;

    (void)state;
    assert_int_equal(xy_sysfs_allowed(&set), XY_OK);
    assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        assert_int_equal(xy_bitset_has(&set, i), CPU_ISSET(i, &mask) != 0);
    xy_bitset_cleanup(&set);
    testing_listen();
    for (long k = 1; k <= 2; k++) {
        xy_memory_fail_at(k);
        assert_int_equal(xy_sysfs_allowed(&set), XY_ENOMEM);
    }
    xy_memory_fail_at(0);
    xy_error_handler_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_processors),
        cmocka_unit_test(test_allowed),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
