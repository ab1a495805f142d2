/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in a memory, against a list kept the slow way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tasks/memory/memory.h"
#include "testing/base.h"

enum { DATA = 20, STEPS = 20000 };

/* The expected state: data by use, the least recently used first. */
typedef struct {
    int32_t order[DATA];
    int count;
    uint64_t used, leaving;
    bool is_leaving[DATA], is_dirty[DATA];
    int64_t use[DATA];
} plain_t;

static uint64_t bytes_of(int32_t data)
{
    return 10 + (uint64_t)data;
}

static int find(const plain_t *p, int32_t data)
{
    for (int i = 0; i < p->count; i++)
        if (p->order[i] == data)
            return i;
    return -1;
}

static void drop(plain_t *p, int at)
{
    memmove(&p->order[at], &p->order[at + 1], (size_t)(p->count - at - 1) * sizeof(*p->order));
    p->count--;
}

static bool is_dirty(const void *arg, int32_t data)
{
    return ((const plain_t *)arg)->is_dirty[data];
}

static int64_t next_use(const void *arg, int32_t data)
{
    return ((const plain_t *)arg)->use[data];
}

static int32_t expected_victim(const plain_t *p, const xy_task_memory_t *memory, int eviction)
{
    int32_t best = -1;

    for (int i = 0; i < p->count; i++) {
        int32_t d = p->order[i];

        if (memory->copies[d].pins > 0 || p->is_leaving[d] || memory->states[d] != XY_TASK_HERE)
            continue;
        if (eviction == 2) {
            best = best < 0 || p->use[d] > p->use[best] ? d : best;
            continue;
        }
        if (eviction == 0 || !p->is_dirty[d])
            return d;
        best = best < 0 ? d : best;
    }
    return best;
}

static void step(plain_t *p, xy_task_memory_t *memory, int what, int32_t d)
{
    int at = find(p, d);

    switch (what) {
    case 0:
        assert_true(xy_task_memory_take(memory, d, bytes_of(d)) == (at < 0));
        memory->states[d] = XY_TASK_HERE;
        if (at < 0) {
            p->order[p->count++] = d;
            p->used += bytes_of(d);
        }
        break;
    case 1:
        assert_true(xy_task_memory_give(memory, d, bytes_of(d)) == (at >= 0));
        if (at >= 0) {
            drop(p, at);
            p->used -= bytes_of(d);
        }
        p->leaving -= p->is_leaving[d] ? bytes_of(d) : 0;
        p->is_leaving[d] = false;
        break;
    case 2:
        xy_task_memory_touch(memory, d);
        if (at >= 0) {
            drop(p, at);
            p->order[p->count++] = d;
        }
        break;
    case 3:
        if (at < 0 || p->is_leaving[d])
            break;
        xy_task_memory_leave(memory, d, bytes_of(d));
        p->is_leaving[d] = true;
        p->leaving += bytes_of(d);
        break;
    default:
        p->is_dirty[d] = what == 4;
        p->use[d] = what * 7 + d % 5;
    }
}

static void assert_same(const plain_t *p, const xy_task_memory_t *memory)
{
    int i = 0;

    for (int32_t d = memory->oldest; d >= 0; d = memory->copies[d].next) {
        assert_true(i < p->count);
        assert_int_equal(d, p->order[i++]);
    }
    assert_int_equal(i, p->count);
    assert_int_equal(memory->newest, p->count > 0 ? p->order[p->count - 1] : -1);
    assert_int_equal(memory->used, p->used);
    assert_int_equal(memory->leaving, p->leaving);
}

static void test_list(void **state)
{
    plain_t p = {.count = 0};
    xy_task_memory_t memory;
    uint64_t seed = 1;

    (void)state;
    assert_int_equal(xy_task_memory_init(&memory, DATA, 1000, 0), XY_OK);
    for (int i = 0; i < STEPS; i++) {
        uint64_t r = testing_random(&seed) >> 33;

        step(&p, &memory, (int)(r % 6), (int32_t)(r / 6 % DATA));
        assert_same(&p, &memory);
        for (int e = 0; e < 3; e++)
            assert_int_equal(
                xy_task_memory_victim(&memory, &xy_task_evictions[e], is_dirty, next_use, &p),
                expected_victim(&p, &memory, e));
    }
    xy_task_memory_cleanup(&memory);
}

/* A task that takes hold of what was leaving keeps it, and no other task gets it meanwhile. */
static void test_hold(void **state)
{
    plain_t p = {.count = 0};
    xy_task_memory_t memory;
    xy_graph_t *g;

    (void)state;
    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int d = 0; d < 2; d++)
        xy_graph_add_data(g, &(xy_data_t){.bytes = bytes_of(d)});
    xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE}, &(xy_access_t){0, XY_ACCESS_READ}, 1);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_task_memory_init(&memory, 2, 1000, 0), XY_OK);
    for (int32_t d = 0; d < 2; d++)
        step(&p, &memory, 0, d);
    xy_task_memory_leave(&memory, 0, bytes_of(0));
    assert_int_equal(memory.leaving, bytes_of(0));
    xy_task_memory_hold(&memory, g, 0);
    assert_int_equal(memory.leaving, 0);
    assert_int_equal(xy_task_memory_victim(&memory, &xy_task_evictions[0], is_dirty, next_use, &p),
                     1);
    xy_task_memory_let_go(&memory, g, 0);
    assert_int_equal(xy_task_memory_victim(&memory, &xy_task_evictions[0], is_dirty, next_use, &p),
                     0);
    assert_int_equal(xy_task_memory_pop_final(&memory), -1);
    xy_task_memory_push_final(&memory, 1);
    xy_task_memory_push_final(&memory, 0);
    assert_int_equal(xy_task_memory_pop_final(&memory), 1);
    assert_int_equal(xy_task_memory_pop_final(&memory), 0);
    assert_int_equal(xy_task_memory_pop_final(&memory), -1);
    xy_task_memory_cleanup(&memory);
    xy_graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_list), cmocka_unit_test(test_hold)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
