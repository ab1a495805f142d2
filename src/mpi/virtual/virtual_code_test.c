/* SPDX-License-Identifier: BSD-3-Clause */
/* The time counted for code between two calls, by clocks that the test sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpi/virtual/virtual_code.h"

static int64_t wall, processor;
static int processor_reads;

static int64_t read_clock(clockid_t clock)
{
    if (clock == CLOCK_MONOTONIC)
        return wall;
    processor_reads++;
    return processor;
}

/* Code that the wall clock and the processor's show so long, of which looks take 30 and 300 ns. */
static int64_t counted(int64_t wall_ns, int64_t processor_ns)
{
    const virtual_looks_t looks = {.wall = 30, .processor = 300};
    virtual_since_t since;

    wall = 5000000;
    processor = 70000;
    since = virtual_code_begin(read_clock);
    wall += wall_ns;
    processor += processor_ns;
    processor_reads = 0;
    return virtual_code_ns(read_clock, since, looks);
}

static void short_code_counts_by_the_wall_clock(void **state)
{
    (void)state;
    assert_int_equal(counted(1531, 4000), 1501);
    assert_int_equal(processor_reads, 0); /* a system call that is not needed */
    assert_int_equal(counted(20030, 9000), 20000);
}

/* Another process may have had the core meanwhile. */
static void long_code_counts_by_the_processor(void **state)
{
    (void)state;
    assert_int_equal(counted(20031, 9300), 9000);
    assert_int_equal(counted(8000000, 25300), 25000);
}

static void less_than_a_microsecond_is_none(void **state)
{
    (void)state;
    assert_int_equal(counted(1030, 1300), 0);
    assert_int_equal(counted(1031, 1300), 1001);
    assert_int_equal(counted(20, 300), 0);
    assert_int_equal(counted(50000, 1200), 0); /* it waited for the core, and did nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_code_counts_by_the_wall_clock),
        cmocka_unit_test(long_code_counts_by_the_processor),
        cmocka_unit_test(less_than_a_microsecond_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
