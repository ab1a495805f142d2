/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts by the addresses of names, also of more names than there is room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "mpi/check/facts.h"
#include "testing/base.h"

static const struct {
    const char *call;
    check_facts_t facts;
} known[] = {
    {"MPI_Put", {.hears = CHECK_HEARS_NOTHING, .what = CHECK_WRITE}},
    {"MPI_Rput_c", {.hears = CHECK_HEARS_ALL, .what = CHECK_WRITE, .has_request = true}},
    {"MPI_Get", {.hears = CHECK_HEARS_ALL, .what = CHECK_READ, .returns = true}},
    {"MPI_Rget",
     {.hears = CHECK_HEARS_ALL,
      .what = CHECK_READ,
      .has_request = true,
      .is_rget = true,
      .returns = true}},
    {"MPI_Rget_accumulate",
     {.hears = CHECK_HEARS_ALL,
      .what = CHECK_UPDATE,
      .has_request = true,
      .is_rget = true,
      .returns = true}},
    {"MPI_Get_accumulate", {.hears = CHECK_HEARS_ALL, .what = CHECK_UPDATE, .returns = true}},
    {"MPI_Accumulate", {.hears = CHECK_HEARS_NOTHING, .what = CHECK_UPDATE}},
    {"MPI_Raccumulate", {.hears = CHECK_HEARS_NOTHING, .what = CHECK_UPDATE, .has_request = true}},
    {"MPI_Send",
     {.hears = CHECK_HEARS_NOTHING, .what = CHECK_UPDATE, .returns = true, .is_standard = true}},
    {"MPI_Ssend", {.hears = CHECK_HEARS_ALL, .what = CHECK_UPDATE, .returns = true}},
    {"MPI_Isend",
     {.hears = CHECK_HEARS_NOTHING,
      .what = CHECK_UPDATE,
      .returns = true,
      .is_standard = true,
      .starts = true}},
    {"MPI_Irecv",
     {.hears = CHECK_HEARS_NOTHING, .what = CHECK_UPDATE, .returns = true, .starts = true}},
    {"MPI_File_read_all", {.hears = CHECK_HEARS_MEMBERS, .what = CHECK_UPDATE, .returns = true}},
    {"MPI_Win_allocate_shared",
     {.hears = CHECK_HEARS_ALL,
      .what = CHECK_UPDATE,
      .returns = true,
      .is_window = true,
      .is_hidden = true}},
};
enum { KNOWN = sizeof(known) / sizeof(known[0]) };

static void compare(const char *call, const check_facts_t *expected)
{
    const check_facts_t *found = check_facts_of(call);

    assert_int_equal(found->hears, expected->hears);
    assert_int_equal(found->what, expected->what);
    assert_int_equal(found->has_request, expected->has_request);
    assert_int_equal(found->is_rget, expected->is_rget);
    assert_int_equal(found->returns, expected->returns);
    assert_int_equal(found->is_standard, expected->is_standard);
    assert_int_equal(found->starts, expected->starts);
    assert_int_equal(found->is_window, expected->is_window);
    assert_int_equal(found->is_hidden, expected->is_hidden);
}

static void test_names(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < KNOWN; i++)
            compare(known[i].call, &known[i].facts);
}

/* Copies of names at other addresses, in any order. */
static void test_many(void **state)
{
    enum { COPIES = CHECK_FACT_SLOTS + 100 };
    static char *copies[COPIES];

    (void)state;
    for (int i = 0; i < COPIES; i++) {
        copies[i] = strdup(known[i % KNOWN].call);
        assert_non_null(copies[i]);
    }
    for (int i = 0; i < 4 * COPIES; i++) {
        int which = testing_below(COPIES);

        compare(copies[which], &known[which % KNOWN].facts);
    }
    for (int i = 0; i < COPIES; i++)
        free(copies[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_many)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
