/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <string.h>

#include "launch/rankfile.h"
#include "testing/base.h"

enum { CORES = 6, RANKS = 3 };
static int cpu[CORES] = {0, 2, 4, 6, 8, 10}, core_of[RANKS];
static const xy_cores_t cores = {.count = CORES, .cpu = cpu};
static const long socket_of[CORES] = {0, 0, 0, 1, 1, 1};

static xy_status_t parse(const char *text)
{
    char copy[400];

    assert_true(strlen(text) < sizeof(copy));
    return mpi_rankfile_parse(strcpy(copy, text), "f", &cores, socket_of, RANKS, core_of);
}

static void check_cores(int a, int b, int c)
{
    assert_int_equal(core_of[0], a);
    assert_int_equal(core_of[1], b);
    assert_int_equal(core_of[2], c);
}

static void test_slots(void **state)
{
    (void)state;
    assert_int_equal(parse("rank 0=localhost slot=5\nrank 1=localhost slot=0:2\n"
                           "# a comment\n\nrank 2=+n0 slot=1:1 # another\n"),
                     XY_OK);
    check_cores(5, 2, 4);
    assert_int_equal(parse("rank 2=localhost slot=0:1-2\nrank 1=localhost slot=3-5\n"
                           "rank 0=localhost slot=1:*"),
                     XY_OK);
    check_cores(3, 3, 1);
}

/* One message, with the line. */
static void refuse(const char *text, const char *message)
{
    testing_listen();
    assert_int_not_equal(parse(text), XY_OK);
    assert_int_equal(testing_said_count, 1);
    if (strstr(testing_said, message) == NULL)
        fail_msg("'%s' is not in '%s'", message, testing_said);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("rank 0=localhost slot=0\nrank 0=localhost slot=1\n", "f:2: rank 0 has a core already");
    refuse("rank 0=localhost slot=0\n", "rank 1 has no line");
    refuse("rank 3=localhost slot=0\n", "f:1: there is no rank 3; the job has 3");
    refuse("\nrank 0=localhost slot=6\n", "f:2: there is no core '6'");
    refuse("rank 0=localhost slot=2:0\n", "f:1: there is no core '2:0'");
    refuse("rank 0=elsewhere.invalid slot=0\n", "'elsewhere.invalid' is another host");
    refuse("rank 0=localhost\n", "f:1: expected slot=CORE");
    refuse("rank 0=localhost slot=-1\n", "f:1: expected slot=CORE");
    refuse("rank 0=localhost slot=0 more\n", "f:1: expected slot=CORE");
    refuse("0=localhost slot=0\n", "f:1: a line must be 'rank N=HOST slot=CORE'");
    refuse("rank =localhost slot=0\n", "f:1: a line must be 'rank N=HOST slot=CORE'");
}

static void test_list_of_user(void **state)
{
    (void)state;
    assert_int_equal(mpi_rankfile_user("4,0", &cores, RANKS, core_of), XY_OK);
    check_cores(2, 0, 2);
    testing_listen();
    assert_int_not_equal(mpi_rankfile_user("4,1", &cores, RANKS, core_of), XY_OK);
    assert_int_equal(testing_said_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_list_of_user),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
