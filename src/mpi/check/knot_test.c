/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <string.h>

#include "mpi/check/knot.h"

enum { RANKS = 6 };

static knot_rank_t ranks[RANKS];
static knot_wait_t waits[RANKS][2];
static bool stuck[RANKS];

static int clear(void **state)
{
    (void)state;
    memset(ranks, 0, sizeof(ranks));
    memset(waits, 0, sizeof(waits));
    return 0;
}

static void add(int rank, knot_wait_t wait)
{
    ranks[rank].is_parked = true;
    ranks[rank].waits = waits[rank];
    waits[rank][ranks[rank].count++] = wait;
}

static void waits_for(int rank, int partner)
{
    add(rank, (knot_wait_t){.kind = KNOT_RANK, .rank = partner});
}

/* The members as digits. */
static void assert_knot(const char *members)
{
    char found[RANKS + 1] = "";
    int n = check_knot_find(ranks, RANKS, stuck), length = 0;

    for (int r = 0; r < RANKS; r++)
        if (stuck[r])
            found[length++] = (char)('0' + r);
    assert_string_equal(found, members);
    assert_int_equal(n, length);
}

static void test_circle(void **state)
{
    (void)state;
    waits_for(0, 1);
    waits_for(1, 2);
    waits_for(2, 0);
    assert_knot("012");
}

/* 3 waits for the circle, 4 for a rank that runs. */
static void test_who_waits_for_a_circle(void **state)
{
    (void)state;
    waits_for(0, 1);
    waits_for(1, 0);
    waits_for(3, 0);
    waits_for(4, 5);
    assert_knot("013");
    assert_int_equal(check_knot_partner(ranks, stuck, 3, &waits[3][0]), 0);
}

static void test_chain_ends_at_one_that_runs(void **state)
{
    (void)state;
    for (int r = 0; r < RANKS - 1; r++)
        waits_for(r, r + 1);
    assert_knot("");
}

static void test_all_must_end(void **state)
{
    (void)state;
    waits_for(0, 5);
    waits_for(0, 1);
    waits_for(1, 0);
    assert_knot("01");
    assert_true(check_knot_is_open(ranks, stuck, 0, &waits[0][0]));
    assert_false(check_knot_is_open(ranks, stuck, 0, &waits[0][1]));
}

static void test_one_is_enough(void **state)
{
    (void)state;
    waits_for(0, 5);
    waits_for(0, 1);
    ranks[0].is_any = true;
    waits_for(1, 0);
    assert_knot("");
    waits_for(5, 0);
    assert_knot("015");
}

static void test_any_of(void **state)
{
    static const int group[] = {0, 2, 4};

    (void)state;
    add(0, (knot_wait_t){.kind = KNOT_ANY_OF, .ranks = group, .count = 3});
    waits_for(2, 0);
    assert_knot("");
    add(4, (knot_wait_t){.kind = KNOT_ANY_OF, .ranks = group, .count = 3});
    assert_knot("024");
    assert_int_equal(check_knot_partner(ranks, stuck, 0, &waits[0][0]), -1);
    add(5, (knot_wait_t){.kind = KNOT_ANY_OF, .count = RANKS});
    assert_knot("024");
}

/* A collective lacks 1 and 3. */
static void test_all_of(void **state)
{
    static const int lacking[] = {1, 3};

    (void)state;
    add(0, (knot_wait_t){.kind = KNOT_ALL_OF, .ranks = lacking, .count = 2});
    assert_knot("");
    waits_for(3, 0);
    assert_knot("03");
    assert_int_equal(check_knot_partner(ranks, stuck, 0, &waits[0][0]), 3);
}

/* None is missing: it ends by itself. */
static void test_all_have_come(void **state)
{
    (void)state;
    add(0, (knot_wait_t){.kind = KNOT_ALL_OF});
    waits_for(1, 0);
    assert_knot("");
}

/* A send whose message is not with the receiver is under way, or being received. */
static void test_sends(void **state)
{
    static const char message;
    static const void *const kept[] = {&message};

    (void)state;
    add(0, (knot_wait_t){.kind = KNOT_SEND, .rank = 1, .message = &message});
    waits_for(1, 0);
    assert_knot("");
    ranks[1].messages = kept;
    ranks[1].messages_count = 1;
    assert_knot("01");
}

static void test_what_may_end(void **state)
{
    (void)state;
    add(0, (knot_wait_t){.kind = KNOT_OPEN});
    waits_for(1, 0);
    assert_knot("");
    ranks[0].is_any = true;
    ranks[0].count = 0; /* nothing is known */
    assert_knot("");
}

static void test_itself(void **state)
{
    (void)state;
    waits_for(2, 2);
    assert_knot("2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_circle, clear),
        cmocka_unit_test_setup(test_who_waits_for_a_circle, clear),
        cmocka_unit_test_setup(test_chain_ends_at_one_that_runs, clear),
        cmocka_unit_test_setup(test_all_must_end, clear),
        cmocka_unit_test_setup(test_one_is_enough, clear),
        cmocka_unit_test_setup(test_any_of, clear),
        cmocka_unit_test_setup(test_all_of, clear),
        cmocka_unit_test_setup(test_all_have_come, clear),
        cmocka_unit_test_setup(test_sends, clear),
        cmocka_unit_test_setup(test_what_may_end, clear),
        cmocka_unit_test_setup(test_itself, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
