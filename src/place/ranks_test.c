/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include "place/core_list.h"
#include "place/strategy_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char said[512];

static void listen(void *arg, xy_status_t status, const char *message)
{
    (void)arg;
    (void)status;
    snprintf(said, sizeof(said), "%s", message);
}

static xy_cores_t cores_of(const char *synthetic)
{
    xy_machine_t *machine;
    xy_cores_t cores;

    assert_int_equal(xy_machine_synthetic(synthetic, &machine), XY_OK);
    assert_int_equal(xy_cores_init(&cores, machine), XY_OK);
    xy_machine_destroy(machine);
    return cores;
}

static void check(const char *synthetic, const char *strategy, int ranks, const int *expected)
{
    xy_cores_t cores = cores_of(synthetic);
    int *core_of = malloc((size_t)ranks * sizeof(int));

    assert_int_equal(xy_place_ranks(strategy, &cores, ranks, core_of), XY_OK);
    for (int r = 0; r < ranks; r++)
        assert_int_equal(core_of[r], expected[r]);
    free(core_of);
    xy_cores_cleanup(&cores);
}

static void test_known_placements(void **state)
{
    (void)state;
    check("numa:2 core:4", "scatter_numa", 3, (int[]){0, 2, 4});
    check("numa:2 core:4", "scatter_numa", 6, (int[]){0, 1, 2, 4, 5, 6});
    check("numa:2 core:4", "scatter_numa", 7, (int[]){0, 1, 2, 3, 4, 5, 6});
    check("numa:2 core:4", "scatter_numa", 1, (int[]){0});
    check("numa:2 core:4", "scatter", 3, (int[]){0, 2, 5});
    check("numa:1 core:4", "packed", 3, (int[]){0, 1, 2});
    check("numa:1 core:4", "packed", 6, (int[]){0, 0, 1, 2, 2, 3});
    check("numa:1 core:4", "round-robin", 6, (int[]){0, 1, 2, 3, 0, 1});
}

/* The formula as it is published, for nodes of equal size. */
static int published(int r, int ranks, int nodes, int per_node)
{
    int node = r * nodes / ranks;
    int first = (node * ranks + nodes - 1) / nodes;
    int local = ((node + 1) * ranks + nodes - 1) / nodes - first;

    return (r - first) * per_node / local + node * per_node;
}

static void test_scatter_numa_is_the_formula(void **state)
{
    (void)state;
    for (int nodes = 1; nodes <= 4; nodes++)
        for (int per_node = 1; per_node <= 8; per_node++)
            for (int ranks = 1; ranks <= 3 * nodes * per_node; ranks++) {
                int core_of[96];
                char text[64];
                xy_cores_t cores;

                snprintf(text, sizeof(text), "numa:%d core:%d", nodes, per_node);
                cores = cores_of(text);
                assert_int_equal(xy_place_ranks("scatter_numa", &cores, ranks, core_of), XY_OK);
                for (int r = 0; r < ranks; r++)
                    assert_int_equal(core_of[r], published(r, ranks, nodes, per_node));
                xy_cores_cleanup(&cores);
            }
}

/* Every strategy: on existing cores; evenly when there are more ranks than cores, one each when
 * there are fewer. */
static void test_loads_are_even(void **state)
{
    static const char *const machines[] = {"core:1", "core:5", "numa:3 core:4",
                                           "numa:2 core:3 pu:2"};

    (void)state;
    for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++)
        for (int ranks = 1; ranks <= 40; ranks++)
            for (int s = 0; xy_strategies[s] != NULL; s++) {
                xy_cores_t cores;
                int core_of[40], load[64] = {0}, least = 1000, most = 0;

                if (xy_strategies[s]->needs_matrix)
                    continue;
                cores = cores_of(machines[m]);
                assert_int_equal(xy_place_ranks(xy_strategies[s]->name, &cores, ranks, core_of),
                                 XY_OK);
                for (int r = 0; r < ranks; r++) {
                    assert_in_range(core_of[r], 0, cores.count - 1);
                    load[core_of[r]]++;
                }
                for (int c = 0; c < cores.count; c++) {
                    least = load[c] < least ? load[c] : least;
                    most = load[c] > most ? load[c] : most;
                }
                assert_true(most - least <= 1);
                xy_cores_cleanup(&cores);
            }
}

static void test_hardware_threads_count_once(void **state)
{
    xy_cores_t cores = cores_of("numa:2 core:3 pu:2");

    (void)state;
    assert_int_equal(cores.count, 6);
    assert_int_equal(cores.numa_count, 2);
    assert_int_equal(cores.numa[2], 0);
    assert_int_equal(cores.numa[3], 1);
    xy_cores_cleanup(&cores);
}

static void test_restrict_and_thin(void **state)
{
    xy_cores_t cores = cores_of("numa:2 core:4"), thin;
    xy_bitset_t set;

    (void)state;
    assert_int_equal(xy_cores_thin(&cores, 2, &thin), XY_OK);
    assert_int_equal(thin.count, 4);
    assert_int_equal(thin.cpu[1], 2);
    assert_int_equal(thin.numa_first[1], 2);
    xy_cores_cleanup(&thin);
    assert_int_equal(xy_cores_thin(&cores, 3, &thin), XY_OK);
    assert_int_equal(thin.count, 2);
    xy_cores_cleanup(&thin);

    assert_int_equal(xy_bitset_init(&set, 64), XY_OK);
    xy_bitset_set(&set, 1);
    xy_bitset_set(&set, 6);
    assert_int_equal(xy_cores_restrict(&cores, &set), XY_OK);
    assert_int_equal(cores.count, 2);
    assert_int_equal(cores.cpu[1], 6);
    assert_int_equal(cores.numa_count, 2);
    xy_bitset_clear(&set, 1);
    xy_bitset_clear(&set, 6);
    assert_int_equal(xy_cores_restrict(&cores, &set), XY_EINVAL);
    assert_non_null(strstr(said, "none of the listed cores"));
    xy_bitset_cleanup(&set);
    xy_cores_cleanup(&cores);
}

static void put(const char *root, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "mkdir -p $(dirname %s/devices/system/%s)", root, name);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof(path), "%s/devices/system/%s", root, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

/* Two nodes whose cores alternate, two hardware threads per core (i and i + 4). */
static void test_files_of_linux(void **state)
{
    char root[] = "/tmp/xylem_sys_XXXXXX", text[64];
    xy_bitset_t allowed;
    xy_cores_t cores;

    (void)state;
    assert_non_null(mkdtemp(root));
    put(root, "node/online", "0-1");
    put(root, "node/node0/cpulist", "0,2,4,6");
    put(root, "node/node1/cpulist", "1,3,5,7");
    for (int i = 0; i < 8; i++) {
        char name[64];

        snprintf(name, sizeof(name), "cpu/cpu%d/topology/thread_siblings_list", i);
        snprintf(text, sizeof(text), "%d,%d", i % 4, i % 4 + 4);
        put(root, name, text);
    }
    assert_int_equal(xy_bitset_init(&allowed, 64), XY_OK);
    for (size_t i = 1; i < 9; i++) /* not 0: core 0 has its second thread only; 8 is unknown */
        xy_bitset_set(&allowed, i);
    assert_int_equal(place_cores_read(root, &allowed, false, &cores), XY_OK);
    assert_int_equal(cores.count, 5);
    assert_int_equal(cores.numa_count, 3);
    for (int i = 0; i < 5; i++)
        assert_int_equal(cores.cpu[i], ((int[]){2, 4, 1, 3, 8})[i]);
    assert_int_equal(cores.numa_first[1], 2);
    assert_int_equal(cores.numa_first[2], 4);
    xy_cores_cleanup(&cores);
    xy_bitset_cleanup(&allowed);
    snprintf(text, sizeof(text), "rm -r %s", root);
    assert_int_equal(system(text), 0);
}

/* The short way and the whole machine agree. */
static void test_live_cores(void **state)
{
    xy_machine_t *machine;
    xy_cores_t cores, other;

    (void)state;
    assert_int_equal(xy_machine_live(&machine), XY_OK);
    assert_int_equal(xy_cores_init(&cores, machine), XY_OK);
    assert_int_equal(xy_cores_live(&other), XY_OK);
    assert_int_equal(cores.count, other.count);
    assert_memory_equal(cores.cpu, other.cpu, (size_t)cores.count * sizeof(int));
    assert_int_equal(cores.numa_count, other.numa_count);
    xy_cores_cleanup(&cores);
    xy_cores_cleanup(&other);
    xy_machine_destroy(machine);
}

static void read_as(const char *text, xy_status_t expected, const char *message)
{
    char path[] = "/tmp/xylem_place_XXXXXX";
    xy_cores_t cores = cores_of("core:4");
    int fd = mkstemp(path), core_of[3];

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    said[0] = '\0';
    assert_int_equal(xy_place_read(path, &cores, 3, core_of), expected);
    if (message != NULL)
        assert_non_null(strstr(said, message));
    else
        assert_true(core_of[0] == 3 && core_of[1] == 0 && core_of[2] == 3);
    unlink(path);
    xy_cores_cleanup(&cores);
}

static void test_file(void **state)
{
    (void)state;
    read_as("# where\n0 3\n2 3 # the same\n\n1 0\n", XY_OK, NULL);
    read_as("0 3\n1 0\n* unknown\n", XY_EINVAL, ":3: 'unknown' is not a strategy");
    read_as("* treematch\n", XY_EINVAL, ":1: 'treematch' is not a strategy that works without");
    read_as("* packed\n\n* packed\n", XY_EINVAL, ":3: line 1 names a strategy already");
    read_as("0 3\n0 1\n", XY_EINVAL, ":2: rank 0 has a core already");
    read_as("0 x\n", XY_EPARSE, ":1: a line must be");
    read_as("0 1 2\n", XY_EPARSE, ":1: a line must be");
    read_as("7 1\n", XY_EINVAL, "there is no rank 7");
    read_as("0 9\n", XY_EINVAL, "core 9 does not exist");
}

/* Files that fix some ranks: the strategy places the others, on the cores that have room left. */
static void test_partial_file(void **state)
{
    static const struct {
        const char *machine, *text;
        int ranks, core_of[8];
    } cases[] = {
        {"core:4", "", 4, {0, 1, 2, 3}},
        {"core:4", "1 0\n", 4, {1, 0, 2, 3}},
        {"core:4", "2 1\n* packed\n", 2 + 1, {0, 2, 1}},
        {"core:4", "0 1 # fixed\n* scatter\n", 3, {1, 0, 2}},
        {"numa:2 core:2", "0 0\n", 3, {0, 1, 2}},
        /* Two ranks for each core: one place is left on core 1, and two on core 0. */
        {"core:2", "3 1\n* packed\n", 4, {0, 0, 1, 1}},
        /* More ranks on a core than its share. */
        {"core:2", "0 0\n1 0\n2 0\n", 4, {0, 0, 0, 1}},
        {"core:2", "0 1\n* round-robin\n", 2, {1, 0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        xy_cores_t cores = cores_of(cases[i].machine);
        char *text = strdup(cases[i].text);
        int core_of[8];

        assert_int_equal(place_file_parse(text, "f", &cores, cases[i].ranks, core_of), XY_OK);
        for (int r = 0; r < cases[i].ranks; r++)
            assert_int_equal(core_of[r], cases[i].core_of[r]);
        free(text);
        xy_cores_cleanup(&cores);
    }
}

static void loads_as(const char *text, const char *message)
{
    char copy[64];
    double load[3];

    said[0] = '\0';
    strcpy(copy, text);
    assert_int_equal(xy_loads_parse(copy, "loads", 3, load), message ? XY_EPARSE : XY_OK);
    if (message != NULL)
        assert_non_null(strstr(said, message));
    else
        assert_true(load[0] == 7 && load[1] == 0.5 && load[2] == 1000);
}

static void test_loads(void **state)
{
    (void)state;
    loads_as("7\n.5\n1e3\n", NULL);
    loads_as("# of each\n 7 # first\r\n\n.5\n1e3", NULL);
    loads_as("7\n1\n", "2 loads for 3 processes");
    loads_as("7\n1\n1\n1\n", "loads:4: more than 3 loads");
    loads_as("7\nx\n1\n", "loads:2: 'x' is not a load");
    loads_as("7\n-1\n1\n", "loads:2: '-1' is not a load");
    loads_as("7\n1e101\n1\n", "loads:2: '1e101' is not a load");
    loads_as("7 1 1\n", "loads:1: a line must be one load");
}

static void test_unknown_strategy(void **state)
{
    xy_cores_t cores = cores_of("core:4");
    int core_of[1];

    (void)state;
    assert_int_equal(xy_place_ranks("scater", &cores, 1, core_of), XY_EUSAGE);
    assert_non_null(strstr(said, "did you mean 'scatter'?"));
    xy_cores_cleanup(&cores);
}

static void test_memory(void **state)
{
    xy_machine_t *machine;
    long k;

    (void)state;
    assert_int_equal(xy_machine_synthetic("numa:2 core:2", &machine), XY_OK);
    for (k = 1;; k++) {
        xy_cores_t cores, thin;
        xy_status_t st;

        xy_memory_fail_at(k);
        st = xy_cores_init(&cores, machine);
        if (st == XY_OK) {
            st = xy_cores_thin(&cores, 2, &thin);
            if (st == XY_OK)
                xy_cores_cleanup(&thin);
            xy_cores_cleanup(&cores);
        }
        if (!xy_memory_fail_hit())
            break;
        assert_int_equal(st, XY_ENOMEM);
    }
    xy_memory_fail_at(0);
    assert_int_equal(k, 7);
    xy_machine_destroy(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_placements),
        cmocka_unit_test(test_scatter_numa_is_the_formula),
        cmocka_unit_test(test_loads_are_even),
        cmocka_unit_test(test_hardware_threads_count_once),
        cmocka_unit_test(test_restrict_and_thin),
        cmocka_unit_test(test_files_of_linux),
        cmocka_unit_test(test_live_cores),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_partial_file),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_unknown_strategy),
        cmocka_unit_test(test_memory),
    };

    xy_error_handler_set(listen, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
