/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The evictions of a full memory, by counting loads: one worker runs tasks that read one datum
 * each, in the order in which they were added, and a plain list that is kept by hand says how often
 * a memory of this size must load.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tasks/exec/exec.h"
#include "testing/base.h"

enum { READS = 300, DATA = 9, BYTES = 64, ROUNDS = 20 };

static void nothing(void *arg, const xy_task_turn_t *turn)
{
    (void)arg, (void)turn;
}

static int below(uint64_t *seed, int n)
{
    return (int)((testing_random(seed) >> 33) % (uint64_t)n);
}

/* ---- Counting by hand ---- */

static int next_read(const int *reads, int from, int datum)
{
    while (from < READS && reads[from] != datum)
        from++;
    return from;
}

static int last_read(const int *reads, int before, int datum)
{
    while (--before >= 0 && reads[before] != datum)
        ;
    return before;
}

/* The datum that is evicted before read number `at`. */
static int victim(const int *reads, const bool *is_here, int at, bool is_by_next_use)
{
    int best = -1;

    for (int d = 0; d < DATA; d++) {
        if (!is_here[d])
            continue;
        if (best < 0 || (is_by_next_use ? next_read(reads, at, d) > next_read(reads, at, best)
                                        : last_read(reads, at, d) < last_read(reads, at, best)))
            best = d;
    }
    return best;
}

static uint64_t loads_by_hand(const int *reads, int capacity, bool is_by_next_use)
{
    bool is_here[DATA] = {false};
    uint64_t loads = 0;

    for (int i = 0, used = 0; i < READS; i++) {
        if (is_here[reads[i]])
            continue;
        loads++;
        if (used == capacity)
            is_here[victim(reads, is_here, i, is_by_next_use)] = false;
        else
            used++;
        is_here[reads[i]] = true;
    }
    return loads;
}

/* ---- The engine ---- */

static xy_task_result_t execute(const int *reads, int capacity, const char *eviction)
{
    xy_task_exec_t how = {.policy = "eager",
                          .eviction = eviction,
                          .workers = 1,
                          .capacity = (uint64_t)capacity * BYTES,
                          .run = nothing};
    xy_task_result_t r;
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int d = 0; d < DATA; d++)
        xy_graph_add_data(g, &(xy_data_t){.bytes = BYTES});
    for (int i = 0; i < READS; i++)
        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-6},
                          &(xy_access_t){reads[i], XY_ACCESS_READ}, 1);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_task_execute(g, &how, &r), XY_OK);
    xy_graph_destroy(g);
    return r;
}

static void check(const int *reads, int capacity, const char *eviction, bool is_by_next_use)
{
    xy_task_result_t r = execute(reads, capacity, eviction);
    uint64_t resident = r.loads < (uint64_t)capacity ? r.loads : (uint64_t)capacity;

    assert_int_equal(r.loads, loads_by_hand(reads, capacity, is_by_next_use));
    assert_int_equal(r.bytes_loaded, r.loads * BYTES);
    assert_int_equal(r.evictions, r.loads - resident); /* nothing goes before it must */
    assert_int_equal(r.stores, 0);
}

static void test_loads_are_as_counted(void **state)
{
    uint64_t seed = 17;
    int reads[READS];

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < READS; i++)
            reads[i] = below(&seed, DATA);
        for (int capacity = 1; capacity <= DATA; capacity++) {
            check(reads, capacity, "lru", false);
            check(reads, capacity, "clean-first", false); /* all are clean */
            check(reads, capacity, "belady-plan", true);
        }
    }
}

/* Round and round over one datum more than fits: the least recently used is always the next. */
static void test_round_and_round(void **state)
{
    int reads[READS];

    (void)state;
    for (int i = 0; i < READS; i++)
        reads[i] = i % DATA;
    assert_int_equal(execute(reads, DATA - 1, "lru").loads, READS);
    assert_true(execute(reads, DATA - 1, "belady-plan").loads < READS / 4);
    assert_int_equal(execute(reads, DATA, "lru").loads, DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads_are_as_counted),
        cmocka_unit_test(test_round_and_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
