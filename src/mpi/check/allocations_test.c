/* SPDX-License-Identifier: BSD-3-Clause */
/* Known blocks against a plain list, for random allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "mpi/check/allocations.h"
#include "testing/base.h"

enum { BLOCKS = 64, STEPS = 4000, SITES = 1000 };

static char sites[SITES]; /* addresses to tell calls apart */

typedef struct {
    char *memory; /* NULL: none */
    size_t size;
    const void *site;
} known_t;

static void compare(const known_t *known)
{
    size_t inside = known->size > 1 ? (size_t)testing_below((int)known->size) : 0;
    check_block_t block;

    assert_true(check_allocations_find(known->memory + inside, &block));
    assert_ptr_equal(block.low, known->memory);
    assert_int_equal(block.size, known->size);
    assert_ptr_equal(block.allocated, known->site);
    assert_null(block.freed);
}

static void allocate(known_t *known)
{
    known->size = (size_t)testing_below(testing_below(8) == 0 ? 100000 : 200);
    known->memory = malloc(known->size);
    known->site = &sites[testing_below(SITES)];
    assert_non_null(known->memory);
    check_allocations_add(known->memory, known->size, known->site);
}

static void release(known_t *known)
{
    const void *site = &sites[testing_below(SITES)];
    check_block_t block;

    if (testing_below(4) == 0) { /* by the C library itself */
        assert_true(check_allocations_remove(known->memory));
        assert_false(check_allocations_find(known->memory, &block));
        free(known->memory);
    } else {
        assert_true(check_allocations_free(known->memory, site)); /* it waits in the queue */
        assert_true(check_allocations_find(known->memory, &block));
        assert_ptr_equal(block.freed, site);
        assert_false(check_allocations_remove(known->memory));
    }
    known->memory = NULL;
}

static void add_at(char *memory, size_t at, size_t size)
{
    check_allocations_add(memory + at, size, &sites[at % SITES]);
}

/* The start of the block that has a byte; NULL: none is known. */
static const char *block_at(const char *byte)
{
    check_block_t block;

    return check_allocations_find(byte, &block) ? block.low : NULL;
}

/* Blocks that the C library has freed by itself, and used again. */
static void test_overlap(void **state)
{
    enum { LARGE = 4096, SMALL = 64, AT = 256, OTHER = 1024 };
    char *memory = calloc(1, LARGE);

    (void)state;
    assert_non_null(memory);
    add_at(memory, AT, SMALL);
    add_at(memory, OTHER, SMALL);
    add_at(memory, 0, LARGE);
    assert_ptr_equal(block_at(memory + AT), memory);
    assert_ptr_equal(block_at(memory + OTHER + SMALL - 1), memory);
    add_at(memory, AT, SMALL);
    assert_ptr_equal(block_at(memory + AT), memory + AT);
    assert_null(block_at(memory + OTHER));
    assert_null(block_at(memory + LARGE - 1));
    assert_true(check_allocations_remove(memory + AT));
    free(memory);
}

static void test_random(void **state)
{
    known_t known[BLOCKS] = {{NULL, 0, NULL}};

    (void)state;
    for (int step = 0; step < STEPS; step++) {
        known_t *one = &known[testing_below(BLOCKS)];

        if (one->memory == NULL)
            allocate(one);
        else if (testing_below(2) == 0)
            release(one);
        if (one->memory != NULL)
            compare(one);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (known[i].memory != NULL)
            release(&known[i]);
}

/* Large blocks go back at once, and nothing is known of their addresses then. */
static void test_large(void **state)
{
    size_t size = 2 << 20;
    char *memory = malloc(size);
    check_block_t block;

    (void)state;
    assert_non_null(memory);
    check_allocations_add(memory, size, &sites[0]);
    assert_true(check_allocations_find(memory + size - 1, &block));
    assert_false(check_allocations_find(memory + size, &block) && block.low == memory);
    assert_false(check_allocations_free(memory, &sites[1]));
    assert_false(check_allocations_find(memory, &block));
    free(memory);
    assert_false(check_allocations_free(sites, &sites[1])); /* no block */
}

/* A block may reach into several of the parts that have a lock each. */
static void test_spread(void **state)
{
    const size_t size = (size_t)150 << 20, step = (size_t)10 << 20;
    char *memory = malloc(size), *small = malloc(10);
    check_block_t block;

    (void)state;
    assert_non_null(memory);
    assert_non_null(small);
    check_allocations_add(memory, size, &sites[0]);
    check_allocations_add(small, 10, &sites[1]);
    for (size_t at = 0; at < size; at += step) {
        assert_true(check_allocations_find(memory + at, &block));
        assert_ptr_equal(block.low, memory);
    }
    assert_true(check_allocations_find(small + 9, &block));
    assert_ptr_equal(block.low, small);
    assert_true(check_allocations_remove(memory));
    assert_false(check_allocations_find(memory + step, &block));
    assert_true(check_allocations_remove(small));
    free(memory);
    free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_spread),
                                       cmocka_unit_test(test_overlap)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
