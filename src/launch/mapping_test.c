/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <string.h>

#include "launch/mapping.h"
#include "launch/virtual_time.h"
#include "machine/machine.h"
#include "testing/base.h"

/* Two packages of two L2 caches with two cores each. */
enum { CORES = 8, MOST = 16 };
static int cpu[CORES] = {0, 1, 2, 3, 4, 5, 6, 7}, numa[CORES] = {0, 0, 0, 0, 1, 1, 1, 1};
static const xy_cores_t cores = {.count = CORES, .cpu = cpu, .numa = numa, .numa_count = 2};
static xy_machine_t *machine;

/* The rest of the launcher, for mpi_mapping_default_count. */
xy_status_t mpi_placement_cores(const mpi_launch_values_t *values, xy_cores_t *cores_p)
{
    (void)values;
    return xy_cores_init(cores_p, machine);
}

xy_status_t mpi_virtual_cores(const mpi_launch_values_t *values, int *count_p)
{
    (void)values;
    *count_p = CORES;
    return XY_OK;
}

xy_status_t mpi_virtual_target(const mpi_launch_values_t *values, const xy_machine_t **machine_p,
                               const xy_cores_t **cores_p)
{
    (void)values;
    *machine_p = machine;
    *cores_p = &cores;
    return XY_OK;
}

static int set_up(void **state)
{
    (void)state;
    return xy_machine_load("package:2 l2:2 core:2", &machine) == XY_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    xy_machine_destroy(machine);
    return 0;
}

/* `expected`: the core of each rank, a digit each. */
static void places(const char *map_by, const char *rank_by, const char *expected)
{
    mpi_launch_values_t values = {.map_by = map_by, .rank_by = rank_by};
    int ranks = (int)strlen(expected), core_of[MOST];
    char found[MOST + 1] = "";

    assert_int_equal(mpi_mapping_read(&values, false), XY_OK);
    assert_true(mpi_mapping_is_given(&values));
    assert_int_equal(mpi_mapping_place(&values, &cores, machine, ranks, core_of), XY_OK);
    for (int r = 0; r < ranks; r++)
        found[r] = (char)('0' + core_of[r]);
    assert_string_equal(found, expected);
}

static void test_places(void **state)
{
    (void)state;
    places("core", NULL, "0123456701");
    places("slot", NULL, "01234567");
    places("hwthread", NULL, "0123");
    places("l2cache", NULL, "024613");
    places("L2Cache", NULL, "0246");
    places("socket", NULL, "041526");
    places("package", NULL, "041526");
    places("node", NULL, "0123");
    places("socket:OVERSUBSCRIBE", NULL, "0415263704");
    places("ppr:1:socket", NULL, "04");
    places("ppr:2:l2cache", NULL, "01234567");
    places("ppr:3:l2cache", NULL, "010232");
    places("ppr:3:node", NULL, "012");
}

static void test_numbers(void **state)
{
    (void)state;
    places("socket", "core", "012456");
    places("socket", "socket", "041526");
    places("core", "socket", "04152637");
    places("socket", "slot", "041526");
    places("core", "l2cache", "02461357");
}

static void test_translated(void **state)
{
    mpi_launch_values_t values = {.map_by = "ppr:2:node:PE=3,HWTCPUS:NOOVERSUBSCRIBE"};

    (void)state;
    assert_int_equal(mpi_mapping_read(&values, false), XY_OK);
    assert_int_equal(values.ppn, 2);
    assert_int_equal(values.threads_per_rank, 3);
    assert_true(values.each_thread && values.no_oversubscribe);
    assert_int_equal(mpi_mapping_check_several(&values), XY_OK);
    assert_false(mpi_mapping_is_by_node(&values));

    values = (mpi_launch_values_t){.map_by = "rankfile:file=f", .bind_to = "core:4"};
    assert_int_equal(mpi_mapping_read(&values, false), XY_OK);
    assert_null(values.map_by);
    assert_string_equal(values.rankfile, "f");
    assert_int_equal(values.threads_per_rank, 4);

    values = (mpi_launch_values_t){.bind_to = "cpu-list:ordered", .cpu_set = "0-3"};
    assert_int_equal(mpi_mapping_read(&values, false), XY_OK);
    assert_string_equal(values.map_by, "core");

    values = (mpi_launch_values_t){.map_by = "node"};
    assert_true(mpi_mapping_is_by_node(&values));
    values = (mpi_launch_values_t){.bind_to = "none"};
    assert_int_equal(mpi_mapping_read(&values, false), XY_OK);
    assert_false(mpi_mapping_is_given(&values));
}

/* One message, which begins with the option. */
static void refuse(mpi_launch_values_t values, const char *message)
{
    xy_status_t st;

    testing_listen();
    st = mpi_mapping_read(&values, false);
    assert_int_equal(st, XY_EUSAGE);
    assert_int_equal(testing_said_count, 1);
    if (strstr(testing_said, message) == NULL)
        fail_msg("'%s' is not in '%s'", message, testing_said);
}

static void test_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "rack",
        "socket:PE=0",
        "socket:PE=x",
        "socket:more",
        "ppr:0:socket",
        "ppr:2",
        "ppr::core",
        "a-word-of-more-than-thirty-one-characters",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        refuse((mpi_launch_values_t){.map_by = wrong[i]}, "--map-by ");
    refuse((mpi_launch_values_t){.map_by = "core", .rank_by = "rack"}, "--rank-by rack");
    refuse((mpi_launch_values_t){.bind_to = "rack"}, "--bind-to rack");
    refuse((mpi_launch_values_t){.bind_to = "core:-2"}, "--bind-to core:-2");
    refuse((mpi_launch_values_t){.bind_to = "core:x"}, "--bind-to core:x");
    refuse((mpi_launch_values_t){.bind_to = "user:"}, "--bind-to user:");
    refuse((mpi_launch_values_t){.bind_to = "cpu-list"}, "with --cpu-list");
    refuse((mpi_launch_values_t){.map_by = "core:PE=2", .bind_to = "core:3"}, "gives each rank 2");
    refuse((mpi_launch_values_t){.map_by = "core:PE=2", .virtual_machine = "core:8"}, "--virtual");
}

static void test_warned(void **state)
{
    mpi_launch_values_t values = {.bind_to = "socket:if-supported"};

    (void)state;
    testing_listen();
    assert_int_equal(mpi_mapping_read(&values, true), XY_OK);
    assert_int_equal(testing_said_count, 0);
    assert_int_equal(mpi_mapping_read(&values, false), XY_OK);
    assert_int_equal(testing_said_count, 1);
}

static void test_full(void **state)
{
    mpi_launch_values_t values = {.map_by = "ppr:2:socket"};
    int core_of[MOST];

    (void)state;
    testing_listen();
    assert_int_equal(mpi_mapping_place(&values, &cores, machine, 5, core_of), XY_EUSAGE);
    assert_int_equal(mpi_mapping_check_several(&values), XY_EUNSUPPORTED);
    assert_int_equal(testing_said_count, 2);
}

static void test_counted(void **state)
{
    mpi_launch_values_t values = {.map_by = "ppr:3:l2cache", .virtual_machine = "a machine"};
    int count = 0;

    (void)state;
    assert_int_equal(mpi_mapping_default_count(&values, &count), XY_OK);
    assert_int_equal(count, 12);
    values.map_by = "socket";
    assert_int_equal(mpi_mapping_default_count(&values, &count), XY_OK);
    assert_int_equal(count, CORES);
    values = (mpi_launch_values_t){.map_by = "ppr:5:node"};
    assert_int_equal(mpi_mapping_default_count(&values, &count), XY_OK);
    assert_int_equal(count, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),     cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_translated), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_warned),     cmocka_unit_test(test_full),
        cmocka_unit_test(test_counted),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
