/* SPDX-License-Identifier: BSD-3-Clause */
/* Placements of progress threads: the published examples, and that they only use free cores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/sched.h"
#include "testing/base.h"

enum { CORES_MAX = 128 };

typedef struct {
    xy_machine_t *machine;
    xy_cores_t cores;
    int core_of[CORES_MAX], comm[CORES_MAX], thread_of[CORES_MAX];
    xy_threads_query_t query;
} node_t;

static void open_node(node_t *node, const char *machine, const char *ranks_by, int ranks)
{
    assert_int_equal(xy_machine_synthetic(machine, &node->machine), XY_OK);
    assert_int_equal(xy_cores_init(&node->cores, node->machine), XY_OK);
    assert_int_equal(xy_place_ranks(ranks_by, &node->cores, ranks, node->core_of), XY_OK);
    node->query = (xy_threads_query_t){
        .cores = &node->cores,
        .ranks = ranks,
        .core_of = node->core_of,
        .comm = node->comm,
        .comm_count = xy_threads_free_cores(&node->cores, ranks, node->core_of, -1, node->comm),
        .pus = 1,
    };
}

static void close_node(node_t *node)
{
    xy_cores_cleanup(&node->cores);
    xy_machine_destroy(node->machine);
}

static xy_status_t place(node_t *node, const char *name)
{
    const xy_threads_t *threads;

    assert_int_equal(xy_threads_find(name, &threads), XY_OK);
    return threads->place(&node->query, node->thread_of);
}

static void test_examples(void **state)
{
    node_t node;

    (void)state;
    open_node(&node, "core:64", "scatter", 62);
    assert_int_equal(node.query.comm_count, 2);
    assert_int_equal(place(&node, "numa"), XY_OK);
    for (int r = 0; r < 62; r++)
        assert_int_equal(node.thread_of[r], r <= 30 ? 31 : 63);
    assert_int_equal(place(&node, "odd-even"), XY_OK);
    for (int r = 0; r < 62; r++)
        assert_int_equal(node.thread_of[r], r % 2 == 0 ? 31 : 63);
    assert_int_equal(place(&node, "bind"), XY_OK);
    assert_memory_equal(node.thread_of, node.core_of, 62 * sizeof(int));
    close_node(&node);
}

/* Both formulas give free cores only, of the same NUMA node, and all of them are used. */
static void check_free(const char *machine, const char *ranks_by, int cores)
{
    for (int n = 1; n < cores; n++) {
        node_t node;

        open_node(&node, machine, ranks_by, n);
        assert_int_equal(node.query.comm_count, cores - n);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(place(&node, i == 0 ? "numa" : "odd-even"), XY_OK);
            for (int r = 0; r < n; r++) {
                bool is_free = false;

                for (int c = 0; c < node.query.comm_count; c++)
                    is_free |= node.comm[c] == node.thread_of[r];
                if (i == 0 && !is_free)
                    assert_int_equal(node.thread_of[r], node.core_of[r]);
                else
                    assert_true(is_free);
                if (i == 0)
                    assert_int_equal(node.cores.numa[node.thread_of[r]],
                                     node.cores.numa[node.core_of[r]]);
                if (i == 1 && r > 0 && node.query.comm_count > 1)
                    assert_int_not_equal(node.thread_of[r], node.thread_of[r - 1]);
            }
        }
        close_node(&node);
    }
}

static void test_only_free_cores(void **state)
{
    (void)state;
    for (int p = 2; p <= 68; p += 3) {
        char machine[32];

        snprintf(machine, sizeof(machine), "core:%d", p);
        check_free(machine, "scatter", p);
        check_free(machine, "packed", p);
    }
    check_free("numa:2 core:24", "scatter_numa", 48);
    check_free("numa:4 core:8", "scatter_numa", 32);
    check_free("numa:4 core:8", "packed", 32);
}

/* numa is the nearest free core at or above the rank's, with ranks placed by scatter. */
static void test_numa_is_near(void **state)
{
    (void)state;
    for (int n = 1; n < 64; n++) {
        node_t node;

        open_node(&node, "core:64", "scatter", n);
        assert_int_equal(place(&node, "numa"), XY_OK);
        for (int r = 0; r < n; r++) {
            int c = 0;

            while (node.comm[c] < node.core_of[r])
                c++;
            assert_int_equal(node.thread_of[r], node.comm[c]);
        }
        close_node(&node);
    }
}

static void test_odd_even_formula(void **state)
{
    (void)state;
    for (int p = 2; p <= 68; p += 2)
        for (int n = 1; n < p; n++) {
            char machine[32];
            node_t node;

            snprintf(machine, sizeof(machine), "core:%d", p);
            open_node(&node, machine, "scatter", n);
            assert_int_equal(place(&node, "odd-even"), XY_OK);
            for (int r = 0; r < n; r++) {
                int k = (r % (p - n) + 1) * p;

                assert_int_equal(node.thread_of[r], (k + p - n - 1) / (p - n) - 1);
            }
            close_node(&node);
        }
}

static void test_dedicated(void **state)
{
    node_t node;

    (void)state;
    open_node(&node, "core:8", "scatter", 4);
    assert_int_equal(place(&node, "dedicated"), XY_OK);
    for (int r = 0; r < 4; r++)
        assert_int_equal(node.thread_of[r], 2 * r + 1);
    close_node(&node);
    open_node(&node, "core:8", "scatter", 5);
    testing_listen();
    assert_int_equal(place(&node, "dedicated"), XY_EUNSUPPORTED);
    assert_string_equal(testing_said, "placement 'dedicated' needs a free core for each of the 5 "
                                      "ranks and there are 3; run 4 ranks, or choose 'numa'");
    close_node(&node);
}

static void test_smt(void **state)
{
    node_t node;
    const xy_threads_t *threads;

    (void)state;
    open_node(&node, "core:8", "scatter", 4);
    testing_listen();
    assert_int_equal(place(&node, "smt"), XY_EUNSUPPORTED);
    assert_non_null(strstr(testing_said, "this machine has one"));
    node.query.pus = 2;
    assert_int_equal(place(&node, "smt"), XY_OK);
    assert_memory_equal(node.thread_of, node.core_of, 4 * sizeof(int));
    close_node(&node);
    assert_int_equal(xy_threads_find("nume", &threads), XY_EUSAGE);
    assert_non_null(strstr(testing_said, "did you mean 'numa'?"));
}

static int place_one(node_t *node, const char *name)
{
    const xy_threads_t *threads;
    int core = -1;

    assert_int_equal(xy_threads_find(name, &threads), XY_OK);
    assert_int_equal(xy_threads_place_one(threads, &node->query, &core), XY_OK);
    return core;
}

/* A thread for all ranks, on machines of all sorts: where the first rank's would be, or a free core
 * as near as there is one. */
static void test_one(void **state)
{
    static const char *const machines[] = {"core:2", "core:8", "numa:2 core:4", "numa:4 core:6"};
    const xy_threads_t *dedicated;
    node_t node;
    int core;

    (void)state;
    assert_int_equal(xy_threads_find("dedicated", &dedicated), XY_OK);
    for (size_t m = 0; m < sizeof(machines) / sizeof(*machines); m++)
        for (int n = 1, cores = n + 1; n < cores; n++) {
            open_node(&node, machines[m], n % 2 ? "packed" : "scatter_numa", n);
            cores = node.cores.count;
            assert_int_equal(place_one(&node, "bind"), node.core_of[0]);
            assert_int_equal(place(&node, "numa"), XY_OK);
            assert_int_equal(place_one(&node, "numa"), node.thread_of[0]);
            core = place_one(&node, "dedicated");
            for (int r = 0; r < n; r++)
                assert_int_not_equal(core, node.core_of[r]);
            for (int c = 0; c < node.query.comm_count; c++)
                if (node.cores.numa[node.comm[c]] == node.cores.numa[node.core_of[0]])
                    assert_int_equal(node.cores.numa[core], node.cores.numa[node.core_of[0]]);
            node.query.pus = 2;
            assert_int_equal(place_one(&node, "smt"), node.core_of[0]);
            close_node(&node);
        }
    open_node(&node, "core:4", "packed", 4);
    testing_listen();
    assert_int_equal(xy_threads_place_one(dedicated, &node.query, &core), XY_EUNSUPPORTED);
    assert_non_null(strstr(testing_said, "run fewer ranks"));
    close_node(&node);
}

static void test_free_cores_limited(void **state)
{
    node_t node;

    (void)state;
    open_node(&node, "numa:2 core:8", "scatter_numa", 8);
    for (int k = 0; k <= 8; k++) {
        int comm[CORES_MAX], low = 0;

        assert_int_equal(xy_threads_free_cores(&node.cores, 8, node.core_of, k, comm), k);
        for (int i = 0; i < k; i++)
            low += node.cores.numa[comm[i]] == 0;
        assert_in_range(low, k / 2, (k + 1) / 2);
    }
    close_node(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_only_free_cores),
        cmocka_unit_test(test_numa_is_near),
        cmocka_unit_test(test_dedicated),
        cmocka_unit_test(test_odd_even_formula),
        cmocka_unit_test(test_smt),
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_free_cores_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
