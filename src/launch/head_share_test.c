/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "launch/head.h"
#include "testing/base.h"

enum { MOST = 8 };

static head_process_t processes[MOST];
static mpi_launch_values_t values;

/* `slots` and `cores` of each, ended by -1; the ranks that each gets, or the size that comes out.
 */
static head_t make(int size, long ppn, const long *slots, const long *cores)
{
    head_t h = {.values = &values, .size = size, .processes = processes};

    memset(processes, 0, sizeof(processes));
    values.ppn = ppn;
    for (; slots[h.count] >= 0; h.count++) {
        processes[h.count].slots = slots[h.count];
        processes[h.count].cores_there = cores[h.count];
    }
    return h;
}

static void check(const head_t *h, const int *expected)
{
    for (int i = 0; i < h->count; i++)
        assert_int_equal(h->processes[i].ranks, expected[i]);
}

static void slots_are_filled_in_order(void **state)
{
    head_t h = make(6, 0, (long[]){4, 4, 4, -1}, (long[]){2, 2, 2});

    (void)state;
    head_leave_out(&h);
    assert_int_equal(h.count, 2);
    head_share_ranks(&h);
    check(&h, (int[]){4, 2});
    h = make(0, 0, (long[]){4, 1, -1}, (long[]){2, 2});
    head_leave_out(&h);
    head_share_ranks(&h);
    assert_int_equal(h.size, 5);
    check(&h, (int[]){4, 1});
}

static void ppn_is_for_each(void **state)
{
    head_t h = make(5, 2, (long[]){4, 4, 4, 4, -1}, (long[]){9, 9, 9, 9});

    (void)state;
    head_leave_out(&h);
    assert_int_equal(h.count, 3);
    head_share_ranks(&h);
    check(&h, (int[]){2, 2, 1});
}

/* More ranks than slots share the slots; without slots cores count. */
static void the_rest_is_in_proportion(void **state)
{
    head_t h = make(9, 0, (long[]){2, 1, -1}, (long[]){7, 7});

    (void)state;
    head_share_ranks(&h);
    check(&h, (int[]){6, 3});
    h = make(16, 0, (long[]){0, 0, 0, -1}, (long[]){2, 4, 2});
    head_share_ranks(&h);
    check(&h, (int[]){4, 8, 4});
    h = make(2, 0, (long[]){0, 0, 0, 0, -1}, (long[]){1, 1, 1, 1});
    head_leave_out(&h);
    assert_int_equal(h.count, 2);
}

/* On any machines, each process has a rank and all ranks are given out. */
static void every_process_has_a_rank(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        long slots[MOST + 1], cores[MOST];
        int n = 1 + testing_below(MOST), size = n + testing_below(40), sum = 0;
        head_t h;

        for (int i = 0; i < n; i++) {
            slots[i] = 0;
            cores[i] = 1 + testing_below(64);
        }
        slots[n] = -1;
        h = make(size, 0, slots, cores);
        head_leave_out(&h);
        assert_int_equal(h.count, n);
        head_share_ranks(&h);
        for (int i = 0; i < n; i++) {
            assert_true(processes[i].ranks >= 1);
            sum += processes[i].ranks;
        }
        assert_int_equal(sum, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_filled_in_order),
        cmocka_unit_test(ppn_is_for_each),
        cmocka_unit_test(the_rest_is_in_proportion),
        cmocka_unit_test(every_process_has_a_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
