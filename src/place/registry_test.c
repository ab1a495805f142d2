/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One name, one meaning: 'xylem place' works on the tree of a machine, the launcher on the list of
 * its cores and on what /sys says of them; every strategy must give both the same placement.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "place/place.h"
#include "place/target_internal.h"
#include "testing/base.h"

enum { CPUS_MAX = 256, RANKS_MAX = 3 * CPUS_MAX };

/* Packages of one NUMA node each, caches, cores. Operating systems number the cores one after the
 * other, or the packages in turn. */
typedef struct {
    int packages, caches, cores;
    bool alternates;
} shape_t;

static shape_t random_shape(uint64_t *seed)
{
    return (shape_t){.packages = 1 + (int)(testing_random(seed) % 3),
                     .caches = 1 + (int)(testing_random(seed) % 3),
                     .cores = 1 + (int)(testing_random(seed) % 4),
                     .alternates = testing_random(seed) % 2};
}

static int count_of(const shape_t *s)
{
    return s->packages * s->caches * s->cores;
}

/* The operating system's number of core i of the tree. */
static int cpu_of(const shape_t *s, int i)
{
    int per_package = s->caches * s->cores;

    return s->alternates ? i % per_package * s->packages + i / per_package : i;
}

static xy_machine_t *machine_of(const shape_t *s)
{
    char text[2048];
    xy_machine_t *m;
    size_t used;

    used = (size_t)snprintf(text, sizeof(text),
                            "package:%d numa:1 l3:%d core:%d(indexes=", s->packages, s->caches,
                            s->cores);
    for (int i = 0; i < count_of(s); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", i > 0 ? "," : "",
                                 cpu_of(s, i));
    snprintf(text + used, sizeof(text) - used, ")");
    assert_int_equal(xy_machine_synthetic(text, &m), XY_OK);
    return m;
}

/* The same machine with some of its cores taken away. */
static xy_machine_t *random_rest(const shape_t *s, uint64_t *seed)
{
    xy_machine_t *whole = machine_of(s), *m;
    xy_bitset_t leaves;

    assert_int_equal(xy_bitset_init(&leaves, whole->leaves), XY_OK);
    xy_bitset_set(&leaves, testing_random(seed) % whole->leaves);
    for (uint32_t i = 0; i < whole->leaves; i++)
        if (testing_random(seed) % 3 != 0)
            xy_bitset_set(&leaves, i);
    assert_int_equal(xy_machine_restrict(whole, &leaves, &m), XY_OK);
    xy_bitset_cleanup(&leaves);
    xy_machine_destroy(whole);
    return m;
}

static xy_matrix_t *random_matrix(uint64_t *seed, uint32_t n)
{
    xy_matrix_entry_t *e = malloc((size_t)4 * n * sizeof(*e));
    xy_matrix_t *m;

    assert_non_null(e);
    for (uint32_t i = 0; i < 4 * n; i++)
        e[i] = (xy_matrix_entry_t){(uint32_t)(testing_random(seed) % n),
                                   (uint32_t)(testing_random(seed) % n),
                                   (double)(testing_random(seed) % 1000), 1};
    assert_int_equal(xy_matrix_build(n, e, 4 * n, false, &m), XY_OK);
    free(e);
    return m;
}

/* The processor of each rank, by the tree of the machine. */
static void place_by_tree(const char *strategy, const xy_matrix_t *m, const xy_target_t *t,
                          int *cpu_of_rank)
{
    xy_place_options_t o = {.strategy = strategy, .seed = 1};
    xy_place_t *p;

    assert_int_equal(xy_place_compute(m, t, &o, &p), XY_OK);
    for (uint32_t r = 0; r < m->n; r++)
        cpu_of_rank[r] = (int)t->physical[p->leaf_of[r]];
    xy_place_destroy(p);
}

static void check_orders(const xy_machine_t *machine, const xy_matrix_t *m)
{
    int by_tree[RANKS_MAX], core_of[RANKS_MAX], ranks = (int)m->n;
    xy_cores_t cores;
    xy_target_t *t;

    assert_int_equal(xy_cores_init(&cores, machine), XY_OK);
    assert_int_equal(xy_target_create(machine, NULL, &t), XY_OK);
    for (int s = 0; xy_strategies[s] != NULL; s++) {
        if (xy_strategies[s]->needs_matrix)
            continue;
        place_by_tree(xy_strategies[s]->name, m, t, by_tree);
        assert_int_equal(xy_place_ranks(xy_strategies[s]->name, &cores, ranks, core_of), XY_OK);
        for (int r = 0; r < ranks; r++)
            assert_int_equal(cores.cpu[core_of[r]], by_tree[r]);
    }
    xy_target_destroy(t);
    xy_cores_cleanup(&cores);
}

static void test_orders_are_the_same_on_trees_and_cores(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        uint64_t random = seed;
        shape_t shape = random_shape(&random);
        xy_machine_t *machine = random_rest(&shape, &random);
        uint32_t n = 1 + (uint32_t)(testing_random(&random) % (3 * machine->leaves));
        xy_matrix_t *m = random_matrix(&random, n);

        check_orders(machine, m);
        xy_matrix_destroy(m);
        xy_machine_destroy(machine);
    }
}

static void put(const char *root, int cpu, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d/%s", root, cpu, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

/* Write the files of Linux for this shape; sharing is given by the first processor that shares. */
static void write_sys(const shape_t *s, const char *root)
{
    for (int i = 0; i < count_of(s); i++) {
        int cpu = cpu_of(s, i), package = i / (s->caches * s->cores);
        char text[32];

        snprintf(text, sizeof(text), "%d", package);
        put(root, cpu, "topology/physical_package_id", text);
        snprintf(text, sizeof(text), "node%d/cpumap", package);
        put(root, cpu, text, "");
        snprintf(text, sizeof(text), "%d", cpu);
        put(root, cpu, "topology/thread_siblings_list", text);
        put(root, cpu, "cache/index0/level", "3");
        put(root, cpu, "cache/index0/type", "Unified");
        snprintf(text, sizeof(text), "%d", cpu_of(s, i / s->cores * s->cores));
        put(root, cpu, "cache/index0/shared_cpu_list", text);
    }
}

static void check_files(const shape_t *shape, const xy_machine_t *machine, const xy_matrix_t *m)
{
    char root[] = "/tmp/xylem_registry_XXXXXX", command[64];
    int by_tree[RANKS_MAX], by_files[RANKS_MAX];
    xy_target_t *tree, *files;
    xy_cores_t cores;

    assert_non_null(mkdtemp(root));
    write_sys(shape, root);
    assert_int_equal(xy_cores_init(&cores, machine), XY_OK);
    assert_int_equal(xy_target_create(machine, NULL, &tree), XY_OK);
    assert_int_equal(place_target_read(root, cores.cpu, (uint32_t)cores.count, &files), XY_OK);
    for (int s = 0; xy_strategies[s] != NULL; s++) {
        if (!xy_strategy_is_available(xy_strategies[s]))
            continue;
        place_by_tree(xy_strategies[s]->name, m, tree, by_tree);
        place_by_tree(xy_strategies[s]->name, m, files, by_files);
        assert_memory_equal(by_tree, by_files, m->n * sizeof(*by_tree));
    }
    xy_target_destroy(tree);
    xy_target_destroy(files);
    xy_cores_cleanup(&cores);
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void test_all_are_the_same_on_trees_and_files_of_linux(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 10 : 40); seed++) {
        uint64_t random = seed;
        shape_t shape = random_shape(&random);
        xy_machine_t *machine = random_rest(&shape, &random);
        uint32_t n = 1 + (uint32_t)(testing_random(&random) % (2 * machine->leaves));
        xy_matrix_t *m = random_matrix(&random, n);

        check_files(&shape, machine, m);
        xy_matrix_destroy(m);
        xy_machine_destroy(machine);
    }
}

/* Rank r on core r modulo cores, as the operating system numbers them. */
static void test_round_robin_goes_round(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        uint64_t random = seed;
        shape_t shape = random_shape(&random);
        xy_machine_t *machine = machine_of(&shape);
        xy_target_t *t;
        xy_matrix_t *m = random_matrix(&random, 2 * machine->leaves + 1);
        int cpus[RANKS_MAX];

        assert_int_equal(xy_target_create(machine, NULL, &t), XY_OK);
        place_by_tree("round-robin", m, t, cpus);
        for (uint32_t r = 0; r < m->n; r++)
            assert_int_equal(cpus[r], r % machine->leaves);
        xy_target_destroy(t);
        xy_matrix_destroy(m);
        xy_machine_destroy(machine);
    }
}

static void test_strategies_that_need_a_matrix_say_so(void **state)
{
    xy_machine_t *machine;
    xy_cores_t cores;
    int core_of[2];

    (void)state;
    testing_listen();
    assert_int_equal(xy_machine_synthetic("core:4", &machine), XY_OK);
    assert_int_equal(xy_cores_init(&cores, machine), XY_OK);
    assert_int_equal(xy_place_ranks("treematch", &cores, 2, core_of), XY_EUSAGE);
    assert_non_null(strstr(testing_said, "--matrix FILE"));
    xy_error_handler_set(NULL, NULL);
    xy_cores_cleanup(&cores);
    xy_machine_destroy(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_are_the_same_on_trees_and_cores),
        cmocka_unit_test(test_all_are_the_same_on_trees_and_files_of_linux),
        cmocka_unit_test(test_round_robin_goes_round),
        cmocka_unit_test(test_strategies_that_need_a_matrix_say_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
