/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <sys/resource.h>

#include "launch/launch.h"

static const size_t mib = 1 << 20;

/* The answer with this limit of the shell. */
static size_t size_with(rlim_t limit, int ranks)
{
    struct rlimit now;

    assert_int_equal(getrlimit(RLIMIT_STACK, &now), 0);
    if (now.rlim_max != RLIM_INFINITY && limit > now.rlim_max)
        skip();
    now.rlim_cur = limit;
    assert_int_equal(setrlimit(RLIMIT_STACK, &now), 0);
    return mpi_launch_stack_size(&(mpi_launch_values_t){0}, ranks);
}

static void test_limit_is_taken(void **state)
{
    (void)state;
    assert_int_equal(size_with(8 * mib, 2), 8 * mib);
    assert_int_equal(size_with(64 * mib, 2), 64 * mib);
    assert_int_equal(size_with(64 << 10, 2), 256 << 10);
    assert_int_equal(size_with(RLIM_INFINITY, 2), 1024 * mib);
}

/* 256 GiB for all, but never less than 8 MiB, or the limit, for that. */
static void test_many_ranks(void **state)
{
    (void)state;
    assert_int_equal(size_with(RLIM_INFINITY, 256), 1024 * mib);
    assert_int_equal(size_with(RLIM_INFINITY, 1024), 256 * mib);
    assert_int_equal(size_with(RLIM_INFINITY, 10000), 26 * mib);
    assert_int_equal(size_with(RLIM_INFINITY, 1 << 20), 8 * mib);
    assert_int_equal(size_with(2 * mib, 1 << 20), 2 * mib);
}

static void test_option_wins(void **state)
{
    mpi_launch_values_t values = {.stack_size = (uint64_t)5 << 30};

    (void)state;
    assert_int_equal(mpi_launch_stack_size(&values, 1000), (size_t)5 << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_is_taken),
        cmocka_unit_test(test_many_ranks),
        cmocka_unit_test(test_option_wins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
