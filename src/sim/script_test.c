/* SPDX-License-Identifier: BSD-3-Clause */
/* Scripts by the functions of xylem.h: what they take, and what is wrong with some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <xylem.h>

#include "sim/script.h"
#include "testing/base.h"

static const char two_nodes[] = "node:2(latency=2us bandwidth=10GB/s) core:1";

static xylem_platform *platform(const char *machine)
{
    xylem_platform *p = NULL;

    assert_int_equal(xylem_platform_create(machine, "", &p), 0);
    return p;
}

static xylem_script *script(int ranks)
{
    xylem_script *s = NULL;

    assert_int_equal(xylem_script_create(ranks, &s), 0);
    return s;
}

static double run(xylem_script *s, xylem_platform *p)
{
    double seconds = -1;

    assert_int_equal(xylem_script_run(s, p, &seconds), 0);
    xylem_script_free(s);
    xylem_platform_free(p);
    return seconds;
}

static bool is_near(double a, double b)
{
    return a > b * (1 - 1e-9) && a < b * (1 + 1e-9);
}

/* The formula of job.h: overheads, copies, latency of two links, bandwidth. */
static void test_a_message(void **state)
{
    xylem_script *s = script(2);
    double copy = 8000 / 8e9;

    (void)state;
    xylem_script_isend(s, 0, 1, 7, 8000);
    xylem_script_wait(s, 0);
    xylem_script_irecv(s, 1, 0, 7, 8000);
    xylem_script_wait(s, 1);
    xylem_script_compute(s, 1, 1e-3);
    assert_true(is_near(run(s, platform(two_nodes)), 2e-7 + 2 * copy + 4e-6 + 8000 / 10e9 + 1e-3));
}

/* Both nodes have a core and four ranks: each computes in its turn. */
static void test_ranks_share_cores(void **state)
{
    xylem_script *s = script(8);
    double seconds;

    (void)state;
    for (int r = 0; r < 8; r++)
        xylem_script_compute(s, r, 1);
    seconds = run(s, platform(two_nodes));
    assert_true(seconds >= 4 && seconds < 4.001);
}

/* Collectives of a group are those of its members, and the same on all of them. */
static void test_groups(void **state)
{
    static const char machine[] = "node:4(latency=100us bandwidth=1GB/s) core:1";
    int odd[] = {1, 3};
    double seconds[2]; /* of a pair, of all */

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        xylem_script *s = script(4);
        int group = turn == 0 ? xylem_script_group(s, odd, 2) : 0;

        for (int r = 1 - turn; r < 4; r += 2 - turn)
            xylem_script_bcast(s, r, group, 0, 4096);
        seconds[turn] = run(s, platform(machine));
    }
    assert_true(seconds[0] > 2e-4 && seconds[0] < 2.1e-4); /* one message */
    assert_true(seconds[1] > 4e-4 && seconds[1] < 4.2e-4); /* a tree of two levels */
}

static void test_scripts_run_often(void **state)
{
    xylem_platform *p = platform(two_nodes);
    xylem_script *s = script(2);
    double first, second;

    (void)state;
    for (int r = 0; r < 2; r++) {
        xylem_script_agree(s, r, 0);
        xylem_script_allreduce(s, r, 0, 1000);
    }
    assert_int_equal(xylem_script_run(s, p, &first), 0);
    assert_int_equal(xylem_script_run(s, p, &second), 0);
    assert_memory_equal(&first, &second, sizeof(first));
    run(s, p);
}

static void test_what_is_wrong_is_said(void **state)
{
    xylem_platform *p = platform(two_nodes);
    xylem_script *s = NULL;
    double seconds = -1;

    (void)state;
    assert_int_equal(xylem_script_create(0, &s), XY_EINVAL);
    for (int wrong = 0; wrong < 5; wrong++) {
        s = script(2);
        if (wrong == 0)
            xylem_script_isend(s, 0, 2, 0, 8);
        if (wrong == 1)
            xylem_script_compute(s, -1, 1);
        if (wrong == 2)
            xylem_script_bcast(s, 0, 1, 0, 8);
        if (wrong == 3)
            xylem_script_group(s, (int[]){0, 5}, 2);
        if (wrong == 4) { /* of which nothing is sent */
            xylem_script_irecv(s, 1, 0, 0, 8);
            xylem_script_wait(s, 1);
        }
        assert_int_equal(xylem_script_run(s, p, &seconds), XY_EINVAL);
        assert_true(seconds == -1);
        xylem_script_free(s);
    }
    xylem_platform_free(p);
    p = NULL;
    assert_int_not_equal(xylem_platform_create("no-such-machine", NULL, &p), 0);
    assert_int_not_equal(xylem_platform_create(two_nodes, "/no/such/costs", &p), 0);
    assert_null(p);
}

static void test_kernels_of_the_store(void **state)
{
    static const char costs[] = XYLEM_SOURCE_DIR "/tests/data/cost/costs.xml";
    double sizes[] = {200, 200, 200};
    xylem_platform *p = platform(two_nodes);

    (void)state;
    assert_int_equal(xylem_platform_cores(p), 2);
    assert_int_equal(xylem_platform_nodes(p), 2);
    assert_true(xylem_platform_kernel(p, "dgemm", sizes, 3) == 0);
    xylem_platform_free(p);
    assert_int_equal(xylem_platform_create(two_nodes, costs, &p), 0);
    assert_true(xylem_platform_kernel(p, "dgemm", sizes, 3) > 0);
    assert_true(xylem_platform_kernel(p, "no_such_kernel", sizes, 3) == 0);
    xylem_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_message),
        cmocka_unit_test(test_ranks_share_cores),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_scripts_run_often),
        cmocka_unit_test(test_what_is_wrong_is_said),
        cmocka_unit_test(test_kernels_of_the_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
