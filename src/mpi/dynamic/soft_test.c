/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers of processes: beside a list of all that they name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/dynamic/dynamic.h"
#include "testing/base.h"

static void test_examples(void **state)
{
    (void)state;
    assert_int_equal(dynamic_soft("4", 9), 4);
    assert_int_equal(dynamic_soft("4", 3), -1);
    assert_int_equal(dynamic_soft("1,3,5:9", 4), 3);
    assert_int_equal(dynamic_soft("1:10:4", 100), 9);
    assert_int_equal(dynamic_soft("10:1:-4", 9), 6);
    assert_int_equal(dynamic_soft(" 2 , 4 : 8 : 2 ", 7), 6);
    assert_int_equal(dynamic_soft("-3:0", 5), -1);
    assert_int_equal(dynamic_soft("5:3", 5), -1);
    assert_int_equal(dynamic_soft("0:2147483647", 2147483647), 2147483647);
}

static void test_refused(void **state)
{
    static const char *const texts[] = {
        "",           ",",   "1,",   "1:",   "1:2:0",  "1:2:3:4", "one", "1 2", "1;2",
        "2147483648", "--1", "1:2:", "1,,2", ":1:2:3", "1e3",     "\t",  "1.5", NULL};

    (void)state;
    for (int i = 0; texts[i] != NULL; i++)
        assert_int_equal(dynamic_soft(texts[i], 100), -2);
}

/* The largest of the numbers that are written out one by one. */
static int largest(const int (*ranges)[3], int count, int most)
{
    int best = -1;

    for (int i = 0; i < count; i++)
        for (int n = ranges[i][0]; ranges[i][2] > 0 ? n <= ranges[i][1] : n >= ranges[i][1];
             n += ranges[i][2])
            if (n >= 1 && n <= most && n > best)
                best = n;
    return best;
}

static void test_random(void **state)
{
    unsigned seed = 5;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        int ranges[4][3], count = 1 + (int)(rand_r(&seed) % 4), most = (int)(rand_r(&seed) % 40);
        char text[200] = "";

        for (int i = 0; i < count; i++) {
            ranges[i][0] = (int)(rand_r(&seed) % 50) - 10;
            ranges[i][1] = (int)(rand_r(&seed) % 50) - 10;
            ranges[i][2] = 1 + (int)(rand_r(&seed) % 7);
            if (rand_r(&seed) % 2 == 0)
                ranges[i][2] = -ranges[i][2];
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d:%d:%d",
                     i > 0 ? "," : "", ranges[i][0], ranges[i][1], ranges[i][2]);
        }
        assert_int_equal(dynamic_soft(text, most), largest(ranges, count, most));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
